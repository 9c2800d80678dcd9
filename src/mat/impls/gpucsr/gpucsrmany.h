/* What the files of products with several vectors share. */
#ifndef GPUCSRMANY_H
#define GPUCSRMANY_H

#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/kernels/gpveckernel.h"

#define MAT_GPUCSR_BATCH GP_VEC_ROWS /* columns that travel together, between host and device and between ranks */

/* kept from one product to the next */
struct _n_MatGPUCSRMany {
  double *staged[2][2]; /* device memory for columns that live on the host: of x, of y; two batches of each */
  size_t  nstaged[2];   /* entries of each */
};

PETSC_INTERN PetscErrorCode MatGPUCSRMultMany_Private(GpOp, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]); /* with its time */
PETSC_INTERN PetscErrorCode MatGPUCSRMultColumns_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], const MatGPUCSRVec y[]);

/* mpigpucsrmany.c: a batch; dx and dy are device memory, x tells what of it is on the host too */
PETSC_INTERN PetscErrorCode MatGPUCSRMultMany_MPI_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[]);

#endif
