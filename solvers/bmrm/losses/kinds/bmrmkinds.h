/* What the kinds of losses share: the place where kernels run, and means over the examples. */
#ifndef BMRM_KINDS_H
#define BMRM_KINDS_H

#include "solvers/bmrm/bmrmimpl.h"

/* The arrays that the kernels of a loss use, valid between Get and Restore. */
typedef struct {
  PetscInt           n, start;    /* number of labels on this rank; index of the first one */
  PetscBool          device, gpu; /* whether the arrays are in the memory of a GpDev; whether that device is a GPU */
  const PetscScalar *f, *e, *y;
  BMRMWork           work;
  double             result[2 * BMRM_SLOPES]; /* results of kernels on host arrays that belong to no GpDev */
} BMRMPlace;

PETSC_INTERN PetscErrorCode BMRMPlaceGet_Private(BMRMPlace *, PetscBool, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode BMRMPlaceRestore_Private(BMRMPlace *, Vec, Vec, Vec, PetscLogDouble);
PETSC_INTERN PetscErrorCode BMRMPlaceGetWrite_Private(const BMRMPlace *, Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode BMRMPlaceRestoreWrite_Private(const BMRMPlace *, Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode BMRMPlaceDestroy_Private(BMRMPlace *);

PETSC_INTERN PetscErrorCode BMRMLossLeastZero_Private(BMRMLoss, Vec, PetscInt, PetscReal[]);

/* The data of a loss that is a mean over the examples */
typedef struct {
  const void           *of;          /* the BMRMPointwise or BMRMClasses */
  const BMRMKernels    *host, *cuda; /* cuda: NULL if there are no CUDA kernels */
  const PetscLogDouble *flops;       /* of risk, cut and slopes for one score */
  BMRMPlace             at;
} BMRMMean;

PETSC_INTERN PetscErrorCode BMRMLossSetMean_Private(BMRMLoss, const void *, const BMRMKernels *, const BMRMKernels *, const PetscLogDouble[]);

#endif
