/* Block Jacobi without copies of vectors. */
#ifndef GPUBJACOBI_H
#define GPUBJACOBI_H

#include <petscpc.h>

PETSC_INTERN PetscErrorCode PCGPURegisterBJacobi_Private(void);

#endif
