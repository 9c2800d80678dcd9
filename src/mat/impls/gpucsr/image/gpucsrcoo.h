/* Data of MatSetValuesCOO() for values in device memory; shared by gpucsrcoo.c and mpigpucsrcoo.c. */
#ifndef GPUCSRCOO_H
#define GPUCSRCOO_H

#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Created by MatSetPreallocationCOO().  Holds the indices of the entries until values in device memory are set for the first time, and from
   then on the lists of the entries of each nonzero. */
struct _n_MatGPUCSRCoo {
  PetscCount     n;            /* number of entries of this rank */
  PetscInt      *i, *j;        /* [n] global rows and columns of the entries, NULL once coo is set up */
  PetscBool      ready, never; /* mpi only: exchange and sums are set up; there are too many entries for 32-bit indices, so the host assembles */
  GpCoo          coo[2];       /* sums of a sequential matrix ([0]), or of the diagonal [0] and off-diagonal [1] block */
  MatGPUCSRHalo *halo;         /* mpi only: exchange of entries in rows of other ranks; NULL if no rank has any */
};

PETSC_INTERN PetscErrorCode MatGPUCSRCooReset_Private(MatGPUCSRCoo); /* frees everything except the indices */
PETSC_INTERN PetscErrorCode MatGPUCSRCooSetUp_Private(Mat, PetscCount n, const PetscInt i[], const PetscInt j[], GpCoo *);
PETSC_INTERN PetscErrorCode MatGPUCSRCooAssemble_Private(Mat, const GpCoo *, PetscCount n, const PetscScalar entries[], const double more[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_MPIAIJGPUCSR_Device(Mat, const PetscScalar entries[]);

#endif
