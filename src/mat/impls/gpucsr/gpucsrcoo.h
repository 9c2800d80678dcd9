/* What MatSetPreallocationCOO() leaves for values that come from the device. */
#ifndef GPUCSRCOO_H
#define GPUCSRCOO_H

#include "mat/impls/gpucsr/gpucsrimpl.h"

/* the entries' indices, until values come from the device for the first time; from then on which entries make up which nonzero */
struct _n_MatGPUCSRCoo {
  PetscCount     n;
  PetscInt      *i, *j;
  PetscBool      ready, never; /* mpi: the exchange and the sums are set up; there are too many entries for that */
  GpCoo          coo[2];       /* of a sequential matrix, or of the two blocks of a parallel one */
  MatGPUCSRHalo *halo;         /* mpi: the entries of other ranks' rows; NULL: no rank has any */
};

PETSC_INTERN PetscErrorCode MatGPUCSRCooReset_Private(MatGPUCSRCoo); /* keeps the indices */
PETSC_INTERN PetscErrorCode MatGPUCSRCooSetUp_Private(Mat, PetscCount n, const PetscInt i[], const PetscInt j[], GpCoo *);
PETSC_INTERN PetscErrorCode MatGPUCSRCooAssemble_Private(Mat, const GpCoo *, PetscCount n, const PetscScalar entries[], const double more[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_MPIAIJGPUCSR_Device(Mat, const PetscScalar entries[]);

#endif
