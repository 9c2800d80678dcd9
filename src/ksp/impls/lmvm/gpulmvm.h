/* Registers PETSc's quasi-Newton matrices again so that they work with vectors of type gpu (gpulmvm.c). */
#ifndef GPULMVM_H
#define GPULMVM_H

#include <petscksp.h>

PETSC_INTERN PetscErrorCode MatLMVMGPURegister_Private(void);

#endif
