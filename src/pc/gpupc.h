/* The preconditioner types of the library. */
#ifndef GPUPC_H
#define GPUPC_H

#include <petscpc.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"

PETSC_INTERN PetscErrorCode PCGPURegister_Private(void);

#endif
