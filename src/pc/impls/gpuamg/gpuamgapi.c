/* Functions that set the options of the PC type gpuamg. */
/* MANSEC = PC */
#include "pc/impls/gpuamg/gpuamg.h"

/* Gets a copy of the options.  If pc has another type, same becomes PETSC_FALSE and options is not set.  Setters then do nothing, as PETSc's setters for one type do. */
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
  On the finest level, the unknowns i and j are connected if |a(i,j)| > threshold sqrt(|a(i,i)| |a(j,j)|). With a block size above 1, the Frobenius norms of blocks replace the absolute values. Each level has
  half the threshold of the next finer one.

  The strength of an entry is |a(i,j)| / sqrt(|a(i,i)| |a(j,j)|). If no strength in a row is above the threshold, the entries with more than half of the largest strength are connections. However, if the other entries of the row add up to at most 0.2 times
  its diagonal entry, the row adds no connections. An unknown without connections is not interpolated from coarser levels, because the smoother solves its equation.

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
. -pc_gpuamg_levels <20> - the maximum number of levels

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
  PCGPUAMGSetCoarseLimit - Sets the size up to which `PCGPUAMG` solves a level exactly

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- limit - number of rows, from 0 to 5000; default 200

  Options Database Key:
. -pc_gpuamg_coarse_limit <200> - the number of rows

  Level: intermediate

  Note:
  A level with at most this number of rows is the coarsest one. Each rank computes its inverse as a dense matrix. If coarsening stops at more rows, the smoother is applied to the coarsest level.

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
  The smoother runs before and after each coarse-grid correction. For the smoothers chebyshev and gpufsai the number is the degree of a Chebyshev polynomial.

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
  PCGPUAMGSetRatio - Sets the quotient of the largest and the smallest eigenvalue that a Chebyshev smoother of `PCGPUAMG` damps

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- ratio - the quotient, above 1; default 10

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
  The precision is that of prolongators, coarse operators and the inverse on the coarsest level, if the operator has type `MATGPUCSR`. The finest level uses the operator itself with its own storage. Coarse operators are
  computed in double precision and then converted. For levels on the device, the vectors of the cycle have this precision too, except those of the finest level if the kernel of the matrix multiplies there, and `MAT_GPUCSR_STORAGE_AUTO` means
  double precision. For levels that are matrices of PETSc, all vectors are in double precision.

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
  `PC_GPUAMG_REUSE_INTERPOLATION` keeps aggregates and prolongators, and computes new coarse operators. A near-null space that is set after the first set-up then has no effect. `PCSetReusePreconditioner()` keeps the whole
  preconditioner.

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

/*@
  PCGPUAMGSetHierarchy - Sets whether the levels of `PCGPUAMG` are on the device only, or matrices of PETSc

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- hierarchy - `PC_GPUAMG_HIERARCHY_AUTO` (default), `PC_GPUAMG_HIERARCHY_DEVICE` or `PC_GPUAMG_HIERARCHY_MATRICES`

  Options Database Key:
. -pc_gpuamg_hierarchy <auto,device,matrices> - the place of the levels

  Level: intermediate

  Note:
  The set-up is much faster if the levels are on the device. This requires one process, a matrix of type `MATSEQAIJGPUCSR` that is not streamed and whose rows have ascending columns, the smoother `PC_GPUAMG_SMOOTHER_CHEBYSHEV` or
  `PC_GPUAMG_SMOOTHER_L1JACOBI`, blocks of at most 8 unknowns, at most 8 vectors of the near-null space, at most 4,096 strong connections of a node, and no options that begin with -pc_gpuamg_mg_.
  `PC_GPUAMG_HIERARCHY_AUTO` puts the levels on the device if all these conditions hold. With `PC_GPUAMG_HIERARCHY_DEVICE`, the set-up stops with an error otherwise. -ksp_view prints the place of the levels.

.seealso: `PCGPUAMG`
@*/
PetscErrorCode PCGPUAMGSetHierarchy(PC pc, PCGPUAMGHierarchy hierarchy)
{
  PCGPUAMGOptions o;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, hierarchy, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.hierarchy = hierarchy;
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
