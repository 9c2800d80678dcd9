/* Point block Jacobi on the device. */
#ifndef GPUPBJACOBI_H
#define GPUPBJACOBI_H

#include <petscpc.h>

PETSC_INTERN PetscErrorCode PCGPURegisterPBJacobi_Private(void);

#endif
