/* Rows of an approximate inverse, computed by threads of the host.

   The functions of this file call neither PETSc nor MPI, because threads run them.  Results do not depend on the number of threads. */
#ifndef INVERSEROWS_H
#define INVERSEROWS_H

#include <petscsys.h>
#include "device/gpfillers.h"

/* Rows of A.  Row and column numbers are local to this structure; their order is that of the global numbers. */
typedef struct {
  PetscInt           n;           /* number of rows and columns */
  PetscInt           first, rows; /* rows first to first + rows - 1 of the inverse are computed */
  const PetscInt    *rowptr, *col;
  const PetscScalar *val;
  PetscReal         *diagonal; /* [n] */
  PetscReal         *root;     /* [n] square roots of the absolute values of the diagonal */
} GpInvMatrix;

/* Compressed rows of the approximate inverse, or of its factor.  Columns have the numbers of GpInvMatrix and ascend within a row. */
typedef struct {
  PetscInt     rows;
  PetscInt    *rowptr; /* [rows + 1]; NULL: there are no rows */
  PetscInt    *col;
  PetscScalar *val;
} GpInvRows;

/* What a computation reports. */
typedef struct {
  PetscInt  failed;  /* first row, counted from GpInvMatrix.first, that cannot be computed; -1: none */
  PetscInt  range;   /* first row whose largest value single precision cannot store; -1: none */
  PetscReal pivot;   /* the pivot of row `failed` that is too small */
  double    flops;   /* number of floating-point operations */
  double    measure; /* sum of GpInvScratch.measure over the threads */
} GpInvReport;

/* Memory of one thread.  position has one entry for each column of A: -1, or the index in a list; every function restores -1 before it returns. */
typedef struct {
  const GpInvMatrix *A;
  PetscInt          *position; /* [n] */
  PetscInt          *list;     /* [n] columns of the current row */
  double            *sum;      /* [n] after GpInvReserveSums(), for row functions */
  PetscInt          *touched;  /* [n] after GpInvReserveSums(), for row functions */
  size_t             length;   /* allocated length of g */
  double            *g;        /* values of the current row */
  size_t             area;     /* allocated length of L */
  double            *L;        /* dense matrix */
  PetscReal          pivot;    /* the pivot of the last failure */
  double             flops;    /* number of floating-point operations */
  double             measure;  /* sum over the rows of a number that measures the quality of the inverse; the row function defines it */
} GpInvScratch;

typedef enum {
  GP_INV_SUCCESS,
  GP_INV_MEMORY, /* out of host memory */
  GP_INV_RANGE,  /* there are more nonzeros than PetscInt can count */
  GP_INV_PIVOT   /* a pivot is too small */
} GpInvCode;

/* Computes one row and writes its values to g.  If keep is true, list and m are input: the pattern and its length.  Otherwise they are output, and the columns in list ascend. */
typedef GpInvCode GpInvRowFn(GpInvScratch *, const void *options, PetscBool keep, PetscInt row, PetscInt *m);

/* inversepattern.c: for row functions */
PETSC_INTERN GpInvCode GpInvReserve(GpInvScratch *, size_t length, size_t area); /* makes g and L at least that large */
PETSC_INTERN GpInvCode GpInvReserveSums(GpInvScratch *);
PETSC_INTERN PetscInt  GpInvStaticPattern(GpInvScratch *, PetscInt power, PetscReal threshold, PetscBool lower, PetscInt row); /* writes list, and returns its length */

/* inverserows.c: computes all rows.  If GpInvRows already has a pattern, only values are computed.  After an error, GpInvRows is empty. */
PETSC_INTERN GpInvCode GpInvCompute(const GpInvMatrix *, GpInvRowFn *, const void *options, int threads, GpInvRows *, GpInvReport *);
PETSC_INTERN void      GpInvFreeValues(GpInvRows *); /* keeps the pattern, for another computation */
PETSC_INTERN void      GpInvFree(GpInvRows *);

#endif
