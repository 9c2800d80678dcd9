/* Options of the preconditioner type PCGPUFSAI: the options database and the functions that set them. */
/* MANSEC = PC */
#include "pc/impls/gpufsai/gpufsai.h"

#define PC_GPUFSAI_MOST_THREADS 1024 /* upper bound of -pc_gpufsai_threads */

const char *const PCGPUFSAIPatterns[] = {"static", "adaptive", "PCGPUFSAIPattern", "PC_GPUFSAI_PATTERN_", NULL};

PetscErrorCode PCGPUFSAISetDefaults_Private(PCGPUFSAIOptions *o)
{
  PetscFunctionBegin;
  o->rows.power     = 1;
  o->rows.steps     = 5;
  o->rows.step_size = 3;
  o->rows.tolerance = 1e-3;
  o->local          = PETSC_TRUE;
  o->storage        = MAT_GPUCSR_STORAGE_SINGLE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees G and everything that depends on it. */
PetscErrorCode PCReset_GPUFSAI(PC pc)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseReset_Private(&fsai->inverse));
  PetscCall(VecDestroy(&fsai->work));
  if (fsai->between) PetscCall(PetscGPUCSRDeviceFree(fsai->dev, (size_t)fsai->entries * sizeof(double), &fsai->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a copy of the options.  If pc has another type, same becomes PETSC_FALSE.  Setters then do nothing, like PETSc's type-specific setters. */
static PetscErrorCode PCGPUFSAIGetOptions(PC pc, PCGPUFSAIOptions *options, PetscBool *same)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGPUFSAI, same));
  if (*same) *options = ((PC_GPUFSAI *)pc->data)->options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the values and stores them.  If they differ from the former ones, the next PCSetUp() starts anew. */
static PetscErrorCode PCGPUFSAISetOptions(PC pc, const PCGPUFSAIOptions *o)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscBool   same;

  PetscFunctionBegin;
  PetscCheck(o->rows.power >= 1 && o->rows.power <= 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_power %" PetscInt_FMT ": must be from 1 to 16", o->rows.power);
  PetscCheck(o->rows.steps >= 1 && o->rows.steps <= 1000, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_steps %" PetscInt_FMT ": must be from 1 to 1000", o->rows.steps);
  PetscCheck(o->rows.step_size >= 1 && o->rows.step_size <= 1000, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_step_size %" PetscInt_FMT ": must be from 1 to 1000", o->rows.step_size);
  PetscCheck(o->rows.tolerance >= 0 && o->rows.tolerance < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_tolerance %g: must be at least 0 and less than 1", (double)o->rows.tolerance);
  PetscCheck(o->rows.threshold >= 0 && o->rows.threshold < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_threshold %g: must be at least 0 and less than 1", (double)o->rows.threshold);
  PetscCheck(o->rows.filter >= 0 && o->rows.filter < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_filter %g: must be at least 0 and less than 1", (double)o->rows.filter);
  PetscCheck(o->threads >= 0 && o->threads <= PC_GPUFSAI_MOST_THREADS, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpufsai_threads %" PetscInt_FMT ": must be from 0 to %d", o->threads, PC_GPUFSAI_MOST_THREADS);
  PetscCheck(o->storage >= MAT_GPUCSR_STORAGE_SINGLE && o->storage <= MAT_GPUCSR_STORAGE_AUTO, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown storage %d; use one of MatGPUCSRStorage", (int)o->storage);
  PetscCall(PetscMemcmp(&fsai->options, o, sizeof(*o), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  fsai->options = *o;
  if (fsai->inverse.matrix) PetscCall(PCReset_GPUFSAI(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_GPUFSAI(PC pc, GpOptionItems PetscOptionsObject)
{
  PCGPUFSAIOptions o;
  PCGPUFSAIPattern pattern;

  PetscFunctionBegin;
  o       = ((PC_GPUFSAI *)pc->data)->options;
  pattern = o.rows.adaptive ? PC_GPUFSAI_PATTERN_ADAPTIVE : PC_GPUFSAI_PATTERN_STATIC;
  PetscOptionsHeadBegin(PetscOptionsObject, "gpufsai options");
  PetscCall(PetscOptionsEnum("-pc_gpufsai_pattern", "Pattern of the factor: that of a power of A, or one that grows with the values", "PCGPUFSAISetPattern", PCGPUFSAIPatterns, (PetscEnum)pattern, (PetscEnum *)&pattern, NULL));
  PetscCall(PetscOptionsInt("-pc_gpufsai_power", "Static pattern: the power of A whose lower triangle is the pattern", "PCGPUFSAISetPower", o.rows.power, &o.rows.power, NULL));
  PetscCall(PetscOptionsReal("-pc_gpufsai_threshold", "Static pattern: entries of A that are at most this fraction of sqrt(a(i,i) a(j,j)) are not used", "PCGPUFSAISetThreshold", o.rows.threshold, &o.rows.threshold, NULL));
  PetscCall(PetscOptionsInt("-pc_gpufsai_steps", "Adaptive pattern: maximum number of times that a row grows", "PCGPUFSAISetAdaptive", o.rows.steps, &o.rows.steps, NULL));
  PetscCall(PetscOptionsInt("-pc_gpufsai_step_size", "Adaptive pattern: maximum number of entries by which a row grows each time", "PCGPUFSAISetAdaptive", o.rows.step_size, &o.rows.step_size, NULL));
  PetscCall(PetscOptionsReal("-pc_gpufsai_tolerance", "Adaptive pattern: a row stops growing when a step reduces its functional by less than this fraction", "PCGPUFSAISetAdaptive", o.rows.tolerance, &o.rows.tolerance, NULL));
  PetscCall(PetscOptionsReal("-pc_gpufsai_filter", "Entries of the factor that are at most this fraction of the diagonal entry of their row, both scaled by the diagonal of A, are dropped", "PCGPUFSAISetFilter", o.rows.filter, &o.rows.filter, NULL));
  PetscCall(PetscOptionsBool("-pc_gpufsai_local", "On several ranks, the pattern of a row stays on its rank", "PCGPUFSAISetLocal", o.local, &o.local, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpufsai_storage", "Precision of the values of the factor on the device", "PCGPUFSAISetStorage", MatGPUCSRStorages, (PetscEnum)o.storage, (PetscEnum *)&o.storage, NULL));
  PetscCall(PetscOptionsBool("-pc_gpufsai_host", "The set-up runs on the host", "None", o.host, &o.host, NULL));
  PetscCall(PetscOptionsInt("-pc_gpufsai_threads", "Number of threads of the set-up on the host; 0: one for each core, at most 8", "None", o.threads, &o.threads, NULL));
  PetscOptionsHeadEnd();
  o.rows.adaptive = (PetscBool)(pattern == PC_GPUFSAI_PATTERN_ADAPTIVE);
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetPattern - Sets how `PCGPUFSAI` chooses the pattern of its factor

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- pattern - `PC_GPUFSAI_PATTERN_STATIC` (default) or `PC_GPUFSAI_PATTERN_ADAPTIVE`

  Options Database Key:
. -pc_gpufsai_pattern <static,adaptive> - the pattern

  Level: intermediate

.seealso: `PCGPUFSAI`, `PCGPUFSAISetPower()`, `PCGPUFSAISetAdaptive()`
@*/
PetscErrorCode PCGPUFSAISetPattern(PC pc, PCGPUFSAIPattern pattern)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, pattern, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(pattern == PC_GPUFSAI_PATTERN_STATIC || pattern == PC_GPUFSAI_PATTERN_ADAPTIVE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown pattern %d; use one of PCGPUFSAIPattern", (int)pattern);
  o.rows.adaptive = (PetscBool)(pattern == PC_GPUFSAI_PATTERN_ADAPTIVE);
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetPower - Sets the power of A whose lower triangle is the static pattern of the factor of `PCGPUFSAI`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- power - the power, from 1 to 16

  Options Database Key:
. -pc_gpufsai_power <power> - the power

  Level: intermediate

  Note:
  A higher power needs fewer iterations. Each iteration and the set-up take longer, because the factor has more nonzeros.

.seealso: `PCGPUFSAI`, `PCGPUFSAISetThreshold()`, `PCGPUFSAISetFilter()`
@*/
PetscErrorCode PCGPUFSAISetPower(PC pc, PetscInt power)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, power, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.power = power;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetThreshold - Sets which entries of A are used for the static pattern of the factor of `PCGPUFSAI`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- threshold - at least 0 and less than 1: entries a(i,j) with |a(i,j)| <= threshold sqrt(a(i,i) a(j,j)) are not used; 0 (default): all entries are used

  Options Database Key:
. -pc_gpufsai_threshold <threshold> - the threshold

  Level: intermediate

  Note:
  The values of the factor are computed from all entries of A.

.seealso: `PCGPUFSAI`, `PCGPUFSAISetPower()`, `PCGPUFSAISetFilter()`
@*/
PetscErrorCode PCGPUFSAISetThreshold(PC pc, PetscReal threshold)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, threshold, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.threshold = threshold;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetAdaptive - Sets how rows of the factor of `PCGPUFSAI` grow if the pattern is adaptive

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
. steps     - maximum number of times that a row grows, from 1 to 1000
. step_size - maximum number of entries by which a row grows each time, from 1 to 1000
- tolerance - a row stops growing when a step reduces its functional by less than this fraction, at least 0 and less than 1

  Options Database Keys:
+ -pc_gpufsai_steps <steps>         - maximum number of steps
. -pc_gpufsai_step_size <step_size> - maximum number of entries of a step
- -pc_gpufsai_tolerance <tolerance> - tolerance

  Level: intermediate

  Note:
  A row starts with its diagonal entry. Each step adds the entries with the largest gradient of the functional, which `PCGPUFSAI` defines. The smaller the functionals of the rows, the smaller is Kaporin's condition number.

.seealso: `PCGPUFSAI`, `PCGPUFSAISetPattern()`
@*/
PetscErrorCode PCGPUFSAISetAdaptive(PC pc, PetscInt steps, PetscInt step_size, PetscReal tolerance)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, steps, 2);
  PetscValidLogicalCollectiveInt(pc, step_size, 3);
  PetscValidLogicalCollectiveReal(pc, tolerance, 4);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.steps     = steps;
  o.rows.step_size = step_size;
  o.rows.tolerance = tolerance;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetFilter - Sets which entries of the factor of `PCGPUFSAI` are dropped

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- filter - at least 0 and less than 1: entries g(i,j) with |g(i,j)| sqrt(a(j,j)) <= filter g(i,i) sqrt(a(i,i)) are dropped; 0 (default): none

  Options Database Key:
. -pc_gpufsai_filter <filter> - the filter

  Level: intermediate

  Note:
  After entries were dropped, the row is scaled so that its diagonal entry of GAG' is 1 again.

.seealso: `PCGPUFSAI`, `PCGPUFSAISetPower()`, `PCGPUFSAISetThreshold()`
@*/
PetscErrorCode PCGPUFSAISetFilter(PC pc, PetscReal filter)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, filter, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.filter = filter;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetLocal - Sets whether the pattern of a row of the factor of `PCGPUFSAI` stays on the row's rank

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- local - `PETSC_TRUE` (default): a row has only columns of its own rank; `PETSC_FALSE`: the factor is the same on any number of ranks

  Options Database Key:
. -pc_gpufsai_local <bool> - whether the pattern is local

  Level: intermediate

  Note:
  A local pattern needs no communication, neither in the set-up nor when the preconditioner is applied. It needs more iterations.

.seealso: `PCGPUFSAI`
@*/
PetscErrorCode PCGPUFSAISetLocal(PC pc, PetscBool local)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveBool(pc, local, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.local = local;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUFSAISetStorage - Sets the precision of the values of the factor of `PCGPUFSAI` on the device

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default), `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`

  Options Database Key:
. -pc_gpufsai_storage <single,double,auto> - the precision

  Level: intermediate

  Note:
  The factor is computed in double precision. Rounding it changes the preconditioner, but not the solution to which the Krylov method converges.

.seealso: `PCGPUFSAI`, `MatGPUCSRSetStorage()`
@*/
PetscErrorCode PCGPUFSAISetStorage(PC pc, MatGPUCSRStorage storage)
{
  PCGPUFSAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.storage = storage;
  PetscCall(PCGPUFSAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
