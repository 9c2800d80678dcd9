/* Data of multicolour SOR sweeps, shared by the files that build and use them. */
#ifndef GPUCSRSOR_H
#define GPUCSRSOR_H

#include "mat/impls/gpucsr/product/gpucsrproduct.h"

#define MAT_GPUCSR_SOR_COLORS 128 /* maximum number of colours */

/* The nonzeros of the rows of one colour in columns of smaller ([0]) or of larger ([1]) colours, with the opposite sign. */
typedef struct {
  GpOp      op;     /* NULL: there are no nonzeros */
  PetscInt *rowptr; /* [rows + 1] */
  PetscInt *col;    /* [nnz] columns, which are positions */
  PetscInt *source; /* [nnz] index of the nonzero in the arrays of the matrix */
} MatGPUCSRSORPart;

/* Rows with equal colours are not coupled.  Position k holds row order[k]; the rows of colour c are at the positions start[c] to start[c + 1] - 1. */
struct _n_MatGPUCSRSOR {
  MatGPUCSRKey key; /* host arrays from which the parts were built and filled */
  GpDev        dev;
  GpPrec       prec; /* precision of the values of the parts; diagonals are in double precision */
  PetscInt     n, colors;
  PetscInt    *start;          /* [colors + 1] */
  PetscInt    *order;          /* [n] */
  PetscInt    *diagonal;       /* [n] index of the diagonal entry of the row at each position, -1 if it is missing */
  MatGPUCSRSORPart (*part)[2]; /* [colors] */
  int32_t  *index;             /* [n] device memory: order */
  double   *work;              /* [5 n] device memory: x, b, b - L x, workspace, and the factors omega / diagonal, by positions */
  PetscBool scaled;            /* the factors are those of omega and shift */
  PetscReal omega, shift;
};

/* gpucsrsorcolor.c */
PETSC_INTERN PetscErrorCode MatGPUCSRSORGet_Private(Mat, MatGPUCSRSOR *); /* builds it, or fills in new values, if necessary */

#endif
