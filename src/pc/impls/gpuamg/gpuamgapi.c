/* Functions that set the options of the PC type gpuamg. */
/* MANSEC = PC */
#include "pc/impls/gpuamg/gpuamg.h"

/* Gets a copy of the options.  If pc has another type, same becomes PETSC_FALSE.  Setters then do nothing, like PETSc's type-specific setters. */
static PetscErrorCode PCGPUAMGGetOptions(PC pc, PCGPUAMGOptions *options, PetscBool *same)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGPUAMG, same));
  if (*same) *options = ((PC_GPUAMG *)pc->data)->options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetThreshold - Sets the threshold of strong connections of `PCGPUAMG`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- threshold - a number of at least 0 and less than 1; default 0.02

  Options Database Key:
. -pc_gpuamg_threshold <0.02> - the threshold

  Level: intermediate

  Notes:
  On the finest level, the unknowns i and j are connected if |a(i,j)| > threshold sqrt(|a(i,i)| |a(j,j)|). With a block size above 1, the Frobenius norms of blocks are compared. Each coarser level has
  half the threshold of the level before.

  If all connections of an unknown are below the threshold, those above half the largest one are used. If in addition its row is dominated by the diagonal, the unknown is not interpolated from coarser levels.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetThreshold(PC pc, PetscReal threshold)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, threshold, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.threshold = threshold;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetLevels - Sets the maximum number of levels of `PCGPUAMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - a number from 1 to 30; default 20

  Options Database Key:
. -pc_gpuamg_levels <20> - the number of levels

  Level: intermediate

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetLevels(PC pc, PetscInt levels)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.levels = levels;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetCoarseLimit - Sets the size below which `PCGPUAMG` solves a level exactly

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- limit - number of rows, from 0 to 5000; default 200

  Options Database Key:
. -pc_gpuamg_coarse_limit <200> - the number of rows

  Level: intermediate

  Note:
  A level with at most that many rows is the coarsest one. Each rank computes its inverse as a dense matrix. If coarsening stops at more rows, the smoother is applied to the coarsest level.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetCoarseLimit(PC pc, PetscInt limit)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, limit, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.limit = limit;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetCycle - Sets the cycle of `PCGPUAMG`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- cycle - `PC_GPUAMG_CYCLE_V` (default) or `PC_GPUAMG_CYCLE_W`

  Options Database Key:
. -pc_gpuamg_cycle <v,w> - the cycle

  Level: intermediate

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetCycle(PC pc, PCGPUAMGCycle cycle)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, cycle, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.cycle = cycle;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetSmoother - Sets the smoother of `PCGPUAMG`

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- smoother - one of `PCGPUAMGSmoother`; default `PC_GPUAMG_SMOOTHER_CHEBYSHEV`

  Options Database Key:
. -pc_gpuamg_smoother <chebyshev,l1jacobi,gpufsai,sor> - the smoother

  Level: intermediate

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetSmoother(PC pc, PCGPUAMGSmoother smoother)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, smoother, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.smoother = smoother;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetSweeps - Sets the number of iterations of the smoother of `PCGPUAMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - a number from 1 to 100; default 2

  Options Database Key:
. -pc_gpuamg_sweeps <2> - the number of iterations

  Level: intermediate

  Note:
  The smoother runs before and after each coarse correction. For the smoothers chebyshev and gpufsai the number is the degree of a Chebyshev polynomial.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetSweeps(PC pc, PetscInt sweeps)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.sweeps = sweeps;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetRatio - Sets the interval of eigenvalues that a Chebyshev smoother of `PCGPUAMG` damps

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- ratio - the largest eigenvalue of the interval divided by the smallest one, above 1; default 10

  Options Database Key:
. -pc_gpuamg_ratio <10> - the quotient

  Level: intermediate

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetRatio(PC pc, PetscReal ratio)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, ratio, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.ratio = ratio;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetStorage - Sets the precision of the matrices of `PCGPUAMG` on the device

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default), `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`

  Options Database Key:
. -pc_gpuamg_storage <single,double,auto> - the precision

  Level: intermediate

  Note:
  This holds for prolongators, coarse operators and the inverse on the coarsest level, if the operator has type `MATGPUCSR`. The finest level uses the operator itself with its own storage. Coarse operators are computed in
  double precision. Vectors are always in double precision.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetStorage(PC pc, MatGPUCSRStorage storage)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.storage = storage;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUAMGSetReuse - Sets what `PCGPUAMG` keeps if the values of the matrix change, but not its nonzero pattern

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- reuse - `PC_GPUAMG_REUSE_INTERPOLATION` (default) or `PC_GPUAMG_REUSE_NONE`

  Options Database Key:
. -pc_gpuamg_reuse <none,interpolation> - what is kept

  Level: intermediate

  Note:
  With interpolation, aggregates and prolongators are kept, and the coarse operators get new values. A near-null space that is set after the first set-up then has no effect. `PCSetReusePreconditioner()` keeps everything.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetReuse(PC pc, PCGPUAMGReuse reuse)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, reuse, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.reuse = reuse;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
