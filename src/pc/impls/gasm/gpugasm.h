/* Generalised additive Schwarz for gpu vectors, see gpugasm.c. */
#ifndef GPUGASM_H
#define GPUGASM_H

#include <petscpc.h>

PETSC_INTERN PetscErrorCode PCGPURegisterGASM_Private(void);

#endif
