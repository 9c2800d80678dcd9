/* Options of the PC type gpuamg: defaults, checks, the options database, reset. */
#include "pc/impls/gpuamg/gpuamg.h"

const char *const PCGPUAMGCycles[]      = {"v", "w", "PCGPUAMGCycle", "PC_GPUAMG_CYCLE_", NULL};
const char *const PCGPUAMGSmoothers[]   = {"chebyshev", "l1jacobi", "gpufsai", "sor", "PCGPUAMGSmoother", "PC_GPUAMG_SMOOTHER_", NULL};
const char *const PCGPUAMGHierarchies[] = {"auto", "device", "matrices", "PCGPUAMGHierarchy", "PC_GPUAMG_HIERARCHY_", NULL};
const char *const PCGPUAMGReuses[]      = {"none", "interpolation", "PCGPUAMGReuse", "PC_GPUAMG_REUSE_", NULL};

PetscErrorCode PCGPUAMGSetDefaults_Private(PCGPUAMGOptions *o)
{
  PetscFunctionBegin;
  o->threshold = 0.02;
  o->levels    = 20;
  o->limit     = 200;
  o->sweeps    = 2;
  o->ratio     = 10;
  o->steps     = 10;
  o->damping   = 4. / 3;
  o->storage   = MAT_GPUCSR_STORAGE_SINGLE;
  o->reuse     = PC_GPUAMG_REUSE_INTERPOLATION;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees everything that PCSetUp() has created. */
PetscErrorCode PCReset_GPUAMG(PC pc)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCDestroy(&amg->mg));
  PetscCall(PCGPUAMGDestroyLevels_Private(amg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the values and stores them.  If they differ from the former ones, the next PCSetUp() starts anew. */
PetscErrorCode PCGPUAMGSetOptions_Private(PC pc, const PCGPUAMGOptions *o)
{
  PC_GPUAMG  *amg    = (PC_GPUAMG *)pc->data;
  MPI_Comm    comm   = PetscObjectComm((PetscObject)pc);
  const char *prefix = ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "";
  PetscBool   same;

  PetscFunctionBegin;
  PetscCheck(o->threshold >= 0 && o->threshold < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_threshold %g: must be at least 0 and less than 1", prefix, (double)o->threshold);
  PetscCheck(o->levels >= 1 && o->levels <= PC_GPUAMG_MOST_LEVELS, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_levels %" PetscInt_FMT ": must be from 1 to %d", prefix, o->levels, PC_GPUAMG_MOST_LEVELS);
  PetscCheck(o->limit >= 0 && o->limit <= 5000, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_coarse_limit %" PetscInt_FMT ": must be from 0 to 5000", prefix, o->limit);
  PetscCheck(o->sweeps >= 1 && o->sweeps <= 100, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_sweeps %" PetscInt_FMT ": must be from 1 to 100", prefix, o->sweeps);
  PetscCheck(o->ratio > 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_ratio %g: must be above 1", prefix, (double)o->ratio);
  PetscCheck(o->steps >= 2 && o->steps <= 100, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_lanczos_steps %" PetscInt_FMT ": must be from 2 to 100", prefix, o->steps);
  PetscCheck(o->damping >= 0 && o->damping < 2, comm, PETSC_ERR_ARG_OUTOFRANGE, "-%spc_gpuamg_damping %g: must be at least 0 and less than 2", prefix, (double)o->damping);
  PetscCheck(o->cycle >= PC_GPUAMG_CYCLE_V && o->cycle <= PC_GPUAMG_CYCLE_W, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown cycle %d; use one of PCGPUAMGCycle", (int)o->cycle);
  PetscCheck(o->smoother >= PC_GPUAMG_SMOOTHER_CHEBYSHEV && o->smoother <= PC_GPUAMG_SMOOTHER_SOR, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown smoother %d; use one of PCGPUAMGSmoother", (int)o->smoother);
  PetscCheck(o->storage >= MAT_GPUCSR_STORAGE_SINGLE && o->storage <= MAT_GPUCSR_STORAGE_AUTO, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown storage %d; use one of MatGPUCSRStorage", (int)o->storage);
  PetscCheck(o->reuse >= PC_GPUAMG_REUSE_NONE && o->reuse <= PC_GPUAMG_REUSE_INTERPOLATION, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown reuse %d; use one of PCGPUAMGReuse", (int)o->reuse);
  PetscCheck(o->hierarchy >= PC_GPUAMG_HIERARCHY_AUTO && o->hierarchy <= PC_GPUAMG_HIERARCHY_MATRICES, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown hierarchy %d; use one of PCGPUAMGHierarchy", (int)o->hierarchy);
  PetscCall(PetscMemcmp(&amg->options, o, sizeof(*o), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  amg->options = *o;
  PetscCall(PCReset_GPUAMG(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_GPUAMG(PC pc, GpOptionItems PetscOptionsObject)
{
  PCGPUAMGOptions o = ((PC_GPUAMG *)pc->data)->options;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "gpuamg options");
  PetscCall(PetscOptionsReal("-pc_gpuamg_threshold", "Connections of at most this strength are ignored on the finest level, half of it on the next, and so on", "PCGPUAMGSetThreshold", o.threshold, &o.threshold, NULL));
  PetscCall(PetscOptionsInt("-pc_gpuamg_levels", "Maximum number of levels", "PCGPUAMGSetLevels", o.levels, &o.levels, NULL));
  PetscCall(PetscOptionsInt("-pc_gpuamg_coarse_limit", "A level with at most this number of rows is solved by its inverse", "PCGPUAMGSetCoarseLimit", o.limit, &o.limit, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpuamg_cycle", "The cycle", "PCGPUAMGSetCycle", PCGPUAMGCycles, (PetscEnum)o.cycle, (PetscEnum *)&o.cycle, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpuamg_smoother", "The smoother", "PCGPUAMGSetSmoother", PCGPUAMGSmoothers, (PetscEnum)o.smoother, (PetscEnum *)&o.smoother, NULL));
  PetscCall(PetscOptionsInt("-pc_gpuamg_sweeps", "Number of iterations, or degree of the Chebyshev polynomial, before and after each coarse-grid correction", "PCGPUAMGSetSweeps", o.sweeps, &o.sweeps, NULL));
  PetscCall(PetscOptionsReal("-pc_gpuamg_ratio", "Quotient of the largest and smallest eigenvalue that a Chebyshev smoother damps", "PCGPUAMGSetRatio", o.ratio, &o.ratio, NULL));
  PetscCall(PetscOptionsInt("-pc_gpuamg_lanczos_steps", "Maximum number of Lanczos steps that estimate the largest eigenvalue of a level", "None", o.steps, &o.steps, NULL));
  PetscCall(PetscOptionsReal("-pc_gpuamg_damping", "Factor w of the prolongator (I - w/h D^-1 A) P0, where h bounds the eigenvalues of D^-1 A; 0: the prolongator is not smoothed", "None", o.damping, &o.damping, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_gpuamg_storage", "Precision of prolongators, coarse operators, the coarsest inverse and, for levels on the device, the vectors", "PCGPUAMGSetStorage", MatGPUCSRStorages, (PetscEnum)o.storage, (PetscEnum *)&o.storage, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpuamg_hierarchy", "Whether the levels are on the device only, or matrices of PETSc", "PCGPUAMGSetHierarchy", PCGPUAMGHierarchies, (PetscEnum)o.hierarchy, (PetscEnum *)&o.hierarchy, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpuamg_reuse", "What is kept for new values with the same nonzero pattern", "PCGPUAMGSetReuse", PCGPUAMGReuses, (PetscEnum)o.reuse, (PetscEnum *)&o.reuse, NULL));
  PetscOptionsHeadEnd();
  PetscCall(PCGPUAMGSetOptions_Private(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
