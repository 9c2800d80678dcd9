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
PETSC_EXTERN PetscErrorCode PCGPUPolySetStorage(PC, MatGPUCSRStorage);

/*E
  PCGPUAMGCycle - The cycle of `PCGPUAMG`

  Values:
+ `PC_GPUAMG_CYCLE_V` - V cycle
- `PC_GPUAMG_CYCLE_W` - W cycle

  Level: intermediate

.seealso: `PCGPUAMG`, `PCGPUAMGSetCycle()`
E*/
typedef enum {
  PC_GPUAMG_CYCLE_V,
  PC_GPUAMG_CYCLE_W
} PCGPUAMGCycle;

/*E
  PCGPUAMGSmoother - The smoother of `PCGPUAMG`

  Values:
+ `PC_GPUAMG_SMOOTHER_CHEBYSHEV` - Chebyshev polynomial of the matrix scaled by its diagonal
. `PC_GPUAMG_SMOOTHER_L1JACOBI`  - Richardson iterations, with the sums of the absolute values of each row in place of the diagonal
. `PC_GPUAMG_SMOOTHER_GPUFSAI`   - Chebyshev polynomial with the preconditioner `PCGPUFSAI`
- `PC_GPUAMG_SMOOTHER_SOR`       - symmetric SOR on each process, by colours for matrices of type `MATGPUCSR`

  Level: intermediate

.seealso: `PCGPUAMG`, `PCGPUAMGSetSmoother()`
E*/
typedef enum {
  PC_GPUAMG_SMOOTHER_CHEBYSHEV,
  PC_GPUAMG_SMOOTHER_L1JACOBI,
  PC_GPUAMG_SMOOTHER_GPUFSAI,
  PC_GPUAMG_SMOOTHER_SOR
} PCGPUAMGSmoother;

/*E
  PCGPUAMGReuse - What `PCGPUAMG` keeps if the values of the matrix change, but not its nonzero pattern

  Values:
+ `PC_GPUAMG_REUSE_NONE`          - nothing
- `PC_GPUAMG_REUSE_INTERPOLATION` - the aggregates and the interpolation

  Level: intermediate

.seealso: `PCGPUAMG`, `PCGPUAMGSetReuse()`
E*/
typedef enum {
  PC_GPUAMG_REUSE_NONE,
  PC_GPUAMG_REUSE_INTERPOLATION
} PCGPUAMGReuse;

/*E
  PCGPUAMGHierarchy - Place of the levels of `PCGPUAMG`

  Values:
+ `PC_GPUAMG_HIERARCHY_AUTO`     - the device if that is possible
. `PC_GPUAMG_HIERARCHY_DEVICE`   - the device; an error if that is not possible
- `PC_GPUAMG_HIERARCHY_MATRICES` - the levels are matrices of PETSc, and the cycle is a `PCMG`

  Level: intermediate

.seealso: `PCGPUAMG`, `PCGPUAMGSetHierarchy()`
E*/
typedef enum {
  PC_GPUAMG_HIERARCHY_AUTO,
  PC_GPUAMG_HIERARCHY_DEVICE,
  PC_GPUAMG_HIERARCHY_MATRICES
} PCGPUAMGHierarchy;

PETSC_EXTERN const char *const PCGPUAMGCycles[];
PETSC_EXTERN const char *const PCGPUAMGSmoothers[];
PETSC_EXTERN const char *const PCGPUAMGReuses[];
PETSC_EXTERN const char *const PCGPUAMGHierarchies[];

PETSC_EXTERN PetscErrorCode PCGPUAMGSetThreshold(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetCoarseLimit(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetCycle(PC, PCGPUAMGCycle);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetSmoother(PC, PCGPUAMGSmoother);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetSweeps(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetRatio(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetStorage(PC, MatGPUCSRStorage);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetReuse(PC, PCGPUAMGReuse);
PETSC_EXTERN PetscErrorCode PCGPUAMGSetHierarchy(PC, PCGPUAMGHierarchy);

#endif
