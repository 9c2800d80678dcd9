/* Preconditioner types that derive from a type of PETSc and have its name.  PETSc's functions set up, view and destroy the preconditioner, and
   they read its options.  After PETSc's set-up, a derived type may replace operations, for example by products on the device. */
#ifndef GPUPCDERIVED_H
#define GPUPCDERIVED_H

#include <petsc/private/pcimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"

typedef struct {
  PetscErrorCode (*setup)(PC, void *data); /* called after PETSc's set-up; may replace operations in pc->ops */
  PetscErrorCode (*reset)(void *data);     /* frees what setup and the replaced operations have created */
  size_t size;                             /* bytes of data, which are zero at first */
} PCGPUDerivedOps;

/* Finds PETSc's constructor of the type, and registers ours instead. */
PETSC_INTERN PetscErrorCode PCGPURegisterDerived_Private(const char type[], PetscErrorCode (**petscs)(PC), PetscErrorCode (*ours)(PC));

/* Called by a constructor after PETSc's: makes pc a derived preconditioner. */
PETSC_INTERN PetscErrorCode PCGPUDerive_Private(PC, const PCGPUDerivedOps *);

/* Gets the data of the derived type, and PETSc's operations as of the last set-up. */
PETSC_INTERN PetscErrorCode PCGPUDerivedGet_Private(PC, void *data, const struct _PCOps **petscs);

#endif
