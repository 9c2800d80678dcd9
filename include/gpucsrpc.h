/* Public functions of the preconditioner type gpupoly.  Those of gpufsai and gpuspai are in gpucsr.h. */
#ifndef GPUCSRPC_H
#define GPUCSRPC_H

/* MANSEC = PC */

#include <petscpc.h>
#include "gpucsr.h"

/*E
  PCGPUPolyType - How `PCGPUPOLY` chooses its polynomial

  Values:
+ `PC_GPUPOLY_CHEBYSHEV`    - Chebyshev polynomial of an interval [a, b] with a > 0: the largest residual on the interval is smallest
- `PC_GPUPOLY_LEASTSQUARES` - least-squares polynomial of an interval [a, b], where a may be 0: a weighted mean square of the residual is smallest

  Level: intermediate

.seealso: `PCGPUPOLY`, `PCGPUPolySetType()`
E*/
typedef enum {
  PC_GPUPOLY_CHEBYSHEV,
  PC_GPUPOLY_LEASTSQUARES
} PCGPUPolyType;

/*E
  PCGPUPolyScale - The operator whose polynomial `PCGPUPOLY` applies

  Values:
+ `PC_GPUPOLY_SCALE_JACOBI` - the matrix, multiplied by the inverse of its diagonal
- `PC_GPUPOLY_SCALE_NONE`   - the matrix

  Level: intermediate

.seealso: `PCGPUPOLY`, `PCGPUPolySetScale()`
E*/
typedef enum {
  PC_GPUPOLY_SCALE_JACOBI,
  PC_GPUPOLY_SCALE_NONE
} PCGPUPolyScale;

/* Names of the values of the enumerations, for PetscOptionsEnum(). */
PETSC_EXTERN const char *const PCGPUPolyTypes[];
PETSC_EXTERN const char *const PCGPUPolyScales[];

PETSC_EXTERN PetscErrorCode PCGPUPolySetType(PC, PCGPUPolyType);
PETSC_EXTERN PetscErrorCode PCGPUPolySetDegree(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUPolySetScale(PC, PCGPUPolyScale);
PETSC_EXTERN PetscErrorCode PCGPUPolySetEigenvalues(PC, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUPolyGetEigenvalues(PC, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode PCGPUPolySetLanczosSteps(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUPolySetRatio(PC, PetscReal);

#endif
