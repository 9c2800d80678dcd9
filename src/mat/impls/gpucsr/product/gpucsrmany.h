/* Declarations shared by the files of products with several vectors: gpucsrmany.c, gpucsrdense.c, mpigpucsrmany.c. */
#ifndef GPUCSRMANY_H
#define GPUCSRMANY_H

#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "vec/kernels/gpveckernel.h"

#define MAT_GPUCSR_BATCH GP_VEC_ROWS /* number of columns of a batch, which is copied between host and device, and exchanged between ranks, at once */

/* Device buffers, kept from one product to the next. */
struct _n_MatGPUCSRMany {
  double *staged[2][2]; /* device memory for columns in host memory: first index 0: x, 1: y; second index: the batch, of which two alternate */
  size_t  nstaged[2];   /* number of entries of each buffer of x [0] and of y [1] */
};

PETSC_INTERN PetscErrorCode MatGPUCSRMultMany_Private(GpOp, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]); /* logs the device time */
PETSC_INTERN PetscErrorCode MatGPUCSRMultColumns_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], const MatGPUCSRVec y[]);

/* mpigpucsrmany.c: multiplies one batch.  dx and dy are device addresses of its columns; x has their host addresses, where the host holds the values. */
PETSC_INTERN PetscErrorCode MatGPUCSRMultMany_MPI_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[]);

#endif
