/* Products: functions of the files in this directory that other files use. */
#ifndef GPUCSRPRODUCT_H
#define GPUCSRPRODUCT_H

#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "vec/kernels/gpveckernel.h"

#define MAT_GPUCSR_BATCH GP_VEC_ROWS /* number of columns of a batch, which is copied between host and device, and exchanged between ranks, at once */

/* gpucsrmult.c: products with one vector */
PETSC_INTERN PetscErrorCode MatGPUCSRSetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatBindToCPU_GPUCSR(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatGPUCSRMultOperator_Private(GpOp, PetscBool transpose, const double *x, const double *z, double *y); /* logs the device time */

/* gpucsrmany.c: products with several vectors */
PETSC_INTERN PetscErrorCode MatSeqGPUCSRMultBatch_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[]);
PETSC_INTERN PetscErrorCode MatGPUCSRMultOperatorMany_Private(GpOp, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]); /* logs the device time */
PETSC_INTERN PetscErrorCode MatGPUCSRMultColumns_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], const MatGPUCSRVec y[]);

/* gpucsrdense.c: products with dense matrices */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_Dense(Mat, PetscBool *found);

/* gpucsrsparse.c, gpucsrsparseselect.c: products of sequential sparse matrices */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_Sparse(Mat, PetscBool *found);
PETSC_INTERN const char    *MatGPUCSRSparseGetName_Private(MatProductType);
PETSC_INTERN PetscErrorCode MatGPUCSRSparseUsesHost_Private(Mat C, PetscBool *host);     /* whether an option selects the host */
PETSC_INTERN PetscErrorCode MatGPUCSRSparseTakes_Private(Mat operand, PetscBool *takes); /* whether the device can take a sequential operand */

/* gpucsrdiagonal.c: diagonal and diagonal blocks of a sequential matrix */
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonals_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonalBlock_Private(Mat); /* replaces MatMultDiagonalBlock() after PETSc has set it */
PETSC_INTERN PetscErrorCode MatGPUCSRResetDiagonalBlock_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRNodesDestroy_Private(GpDev, MatGPUCSRNodes *);

/* gpucsrsor.c, gpucsrsorcolor.c: SOR sweeps of a sequential matrix */
PETSC_INTERN PetscErrorCode MatGPUCSRSetSOROperation_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRSORDestroy_Private(MatGPUCSRSOR *);

#endif
