/* Rows of a factorised sparse approximate inverse, computed by threads of the host.

   A is symmetric positive definite.  G is lower triangular, and G'G approximates the inverse of A.  Row i of G has the pattern J, whose last column is i.  It is the
   solution g of L'g = e, where A(J,J) = LL' and e is the last unit vector.  Hence the diagonal of GAG' is 1.

   The functions of this module call neither PETSc nor MPI, because threads run them.  Results do not depend on the number of threads. */
#ifndef FSAIROWS_H
#define FSAIROWS_H

#include <petscsys.h>
#include "device/gpfillers.h"

/* Rows of A.  Row and column numbers are local to this structure; their order is that of the global numbers. */
typedef struct {
  PetscInt           n;           /* number of rows and columns */
  PetscInt           first, rows; /* rows first to first + rows - 1 of G are computed */
  const PetscInt    *rowptr, *col;
  const PetscScalar *val;
  PetscReal         *diagonal; /* [n] */
  PetscReal         *root;     /* [n] square roots of the absolute values of the diagonal */
} GpFsaiMatrix;

typedef struct {
  PetscBool adaptive;  /* PETSC_FALSE: the static pattern of the lower triangle of a power of A */
  PetscInt  power;     /* static: the power */
  PetscInt  steps;     /* adaptive: maximum number of times that a row grows */
  PetscInt  step_size; /* adaptive: maximum number of entries by which a row grows each time */
  PetscReal tolerance; /* adaptive: a row stops growing when a step reduces its functional by less than this fraction */
  PetscReal threshold; /* static: entries of A that are not larger, relative to the diagonal, are not used for the pattern; 0: all entries are used */
  PetscReal filter;    /* entries of a row of G that are not larger, relative to its diagonal entry, are dropped; 0: none */
} GpFsaiOptions;

/* Compressed rows of G.  Columns have the numbers of GpFsaiMatrix and ascend within a row. */
typedef struct {
  PetscInt     rows;
  PetscInt    *rowptr; /* [rows + 1]; NULL: there is no factor */
  PetscInt    *col;
  PetscScalar *val;
} GpFsaiFactor;

/* What a computation reports. */
typedef struct {
  PetscInt  failed;    /* first row, counted from GpFsaiMatrix.first, whose matrix A(J,J) is not positive definite; -1: none */
  PetscReal pivot;     /* the pivot of that row that is not positive */
  double    flops;     /* number of floating-point operations */
  double    logarithm; /* sum over the rows of the logarithm of the squared diagonal entry of G times the diagonal entry of A */
} GpFsaiReport;

/* Memory of one thread.  position has one entry for each column of A: -1, or the index in list; every function restores -1 before it returns. */
typedef struct {
  const GpFsaiMatrix *A;
  PetscInt           *position; /* [n] */
  PetscInt           *list;     /* [n] columns of the current row */
  double             *sum;      /* [n] adaptive only: gradient */
  PetscInt           *touched;  /* [n] adaptive only: columns whose gradient was computed */
  size_t              length;   /* allocated length of g and, squared, of L */
  double             *g, *L;    /* values of the current row; dense matrix */
  PetscReal           pivot;    /* the pivot of the last failure */
  double              flops;
} GpFsaiScratch;

typedef enum {
  GP_FSAI_SUCCESS,
  GP_FSAI_MEMORY, /* out of host memory */
  GP_FSAI_RANGE,  /* the factor has more nonzeros than PetscInt can count */
  GP_FSAI_PIVOT   /* the matrix is not positive definite */
} GpFsaiCode;

/* fsairow.c: one row */
PETSC_INTERN GpFsaiCode GpFsaiReserve(GpFsaiScratch *, size_t length);                                 /* makes g and L at least that large */
PETSC_INTERN GpFsaiCode GpFsaiSolveRow(GpFsaiScratch *, PetscInt m, const PetscInt J[]);               /* computes g for the pattern J */
PETSC_INTERN GpFsaiCode GpFsaiFilterRow(GpFsaiScratch *, PetscReal filter, PetscInt *m, PetscInt J[]); /* drops small entries and scales the rest */
PETSC_INTERN PetscBool  GpFsaiIsPivot(PetscReal pivot, PetscInt m, PetscReal diagonal);                /* whether a pivot is positive beyond rounding */

/* fsaipattern.c: patterns.  Both write list; the second one also computes g. */
PETSC_INTERN GpFsaiCode GpFsaiStaticRow(GpFsaiScratch *, const GpFsaiOptions *, PetscInt row, PetscInt *m);
PETSC_INTERN GpFsaiCode GpFsaiAdaptiveRow(GpFsaiScratch *, const GpFsaiOptions *, PetscInt row, PetscInt *m);

/* fsairows.c: all rows.  If the factor has rows, its pattern is kept and only values are computed.  If a row fails, or on another error, the factor is freed. */
PETSC_INTERN GpFsaiCode GpFsaiCompute(const GpFsaiMatrix *, const GpFsaiOptions *, int threads, GpFsaiFactor *, GpFsaiReport *);
PETSC_INTERN void       GpFsaiFreeValues(GpFsaiFactor *); /* keeps the pattern, for another computation */
PETSC_INTERN void       GpFsaiFree(GpFsaiFactor *);

#endif
