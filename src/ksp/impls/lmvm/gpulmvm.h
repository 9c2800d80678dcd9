/* Quasi-Newton matrices that are used with vectors of type gpu. */
#ifndef GPULMVM_H
#define GPULMVM_H

#include <petscksp.h>

PETSC_INTERN PetscErrorCode MatLMVMGPURegister_Private(void);

#endif
