/* Options of the preconditioner type PCGPUSPAI: the options database and the functions that set them. */
/* MANSEC = PC */
#include "pc/impls/gpuspai/gpuspai.h"

#define PC_GPUSPAI_MOST_THREADS 1024 /* upper bound of -pc_gpuspai_threads */

/* Frees M. */
PetscErrorCode PCReset_GPUSPAI(PC pc)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseReset_Private(&spai->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a copy of the options.  If pc has another type, same becomes PETSC_FALSE.  Setters then do nothing, like PETSc's type-specific setters. */
static PetscErrorCode PCGPUSPAIGetOptions(PC pc, PCGPUSPAIOptions *options, PetscBool *same)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGPUSPAI, same));
  if (*same) *options = ((PC_GPUSPAI *)pc->data)->options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the values and stores them.  If they differ from the former ones, the next PCSetUp() starts anew. */
static PetscErrorCode PCGPUSPAISetOptions(PC pc, const PCGPUSPAIOptions *o)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscBool   same;

  PetscFunctionBegin;
  PetscCheck(o->rows.power >= 1 && o->rows.power <= 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpuspai_power %" PetscInt_FMT ": must be from 1 to 16", o->rows.power);
  PetscCheck(o->rows.threshold >= 0 && o->rows.threshold < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpuspai_threshold %g: must be at least 0 and less than 1", (double)o->rows.threshold);
  PetscCheck(o->rows.filter >= 0 && o->rows.filter < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpuspai_filter %g: must be at least 0 and less than 1", (double)o->rows.filter);
  PetscCheck(o->threads >= 0 && o->threads <= PC_GPUSPAI_MOST_THREADS, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gpuspai_threads %" PetscInt_FMT ": must be from 0 to %d", o->threads, PC_GPUSPAI_MOST_THREADS);
  PetscCheck(o->storage >= MAT_GPUCSR_STORAGE_SINGLE && o->storage <= MAT_GPUCSR_STORAGE_AUTO, comm, PETSC_ERR_ARG_OUTOFRANGE, "Unknown storage %d; use one of MatGPUCSRStorage", (int)o->storage);
  PetscCall(PetscMemcmp(&spai->options, o, sizeof(*o), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  spai->options = *o;
  if (spai->inverse.matrix) PetscCall(PCReset_GPUSPAI(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_GPUSPAI(PC pc, GpOptionItems PetscOptionsObject)
{
  PCGPUSPAIOptions o;

  PetscFunctionBegin;
  o = ((PC_GPUSPAI *)pc->data)->options;
  PetscOptionsHeadBegin(PetscOptionsObject, "gpuspai options");
  PetscCall(PetscOptionsInt("-pc_gpuspai_power", "The power of A whose pattern the inverse has", "PCGPUSPAISetPower", o.rows.power, &o.rows.power, NULL));
  PetscCall(PetscOptionsReal("-pc_gpuspai_threshold", "Entries of A that are at most this fraction of sqrt(|a(i,i) a(j,j)|) are not used for the pattern", "PCGPUSPAISetThreshold", o.rows.threshold, &o.rows.threshold, NULL));
  PetscCall(PetscOptionsReal("-pc_gpuspai_filter", "Entries of the inverse that are at most this fraction of the largest entry of their row are dropped", "PCGPUSPAISetFilter", o.rows.filter, &o.rows.filter, NULL));
  PetscCall(PetscOptionsBool("-pc_gpuspai_local", "On several ranks, the inverse is computed from the diagonal block of each rank", "PCGPUSPAISetLocal", o.local, &o.local, NULL));
  PetscCall(PetscOptionsEnum("-pc_gpuspai_storage", "Precision of the values of the inverse on the device", "PCGPUSPAISetStorage", MatGPUCSRStorages, (PetscEnum)o.storage, (PetscEnum *)&o.storage, NULL));
  PetscCall(PetscOptionsBool("-pc_gpuspai_host", "The set-up runs on the host", "None", o.host, &o.host, NULL));
  PetscCall(PetscOptionsInt("-pc_gpuspai_threads", "Number of threads of the set-up on the host; 0: one for each core, at most 8", "None", o.threads, &o.threads, NULL));
  PetscOptionsHeadEnd();
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUSPAISetPower - Sets the power of A whose pattern the approximate inverse of `PCGPUSPAI` has

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- power - the power, from 1 to 16

  Options Database Key:
. -pc_gpuspai_power <power> - the power

  Level: intermediate

  Note:
  A higher power needs fewer iterations. Each iteration and the set-up take longer, because the approximate inverse has more nonzeros.

.seealso: `PCGPUSPAI`, `PCGPUSPAISetThreshold()`, `PCGPUSPAISetFilter()`
@*/
PetscErrorCode PCGPUSPAISetPower(PC pc, PetscInt power)
{
  PCGPUSPAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUSPAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveInt(pc, power, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.power = power;
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUSPAISetThreshold - Sets which entries of A are used for the pattern of the approximate inverse of `PCGPUSPAI`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- threshold - at least 0 and less than 1: entries a(i,j) with |a(i,j)| <= threshold sqrt(|a(i,i) a(j,j)|) are not used; 0 (default): all entries are used

  Options Database Key:
. -pc_gpuspai_threshold <threshold> - the threshold

  Level: intermediate

  Note:
  The values are computed from all entries of A.

.seealso: `PCGPUSPAI`, `PCGPUSPAISetPower()`, `PCGPUSPAISetFilter()`
@*/
PetscErrorCode PCGPUSPAISetThreshold(PC pc, PetscReal threshold)
{
  PCGPUSPAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUSPAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, threshold, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.threshold = threshold;
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUSPAISetFilter - Sets which entries of the approximate inverse of `PCGPUSPAI` are dropped

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- filter - at least 0 and less than 1: entries that are at most this fraction of the largest one of their row are dropped; 0 (default): none

  Options Database Key:
. -pc_gpuspai_filter <filter> - the filter

  Level: intermediate

.seealso: `PCGPUSPAI`, `PCGPUSPAISetPower()`, `PCGPUSPAISetThreshold()`
@*/
PetscErrorCode PCGPUSPAISetFilter(PC pc, PetscReal filter)
{
  PCGPUSPAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUSPAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveReal(pc, filter, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.rows.filter = filter;
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUSPAISetLocal - Sets whether the approximate inverse of `PCGPUSPAI` is computed from the diagonal block of each rank

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- local - `PETSC_TRUE` (default): rows have columns of their own rank only; `PETSC_FALSE`: the inverse is the same on any number of ranks

  Options Database Key:
. -pc_gpuspai_local <bool> - whether the inverse is local

  Level: intermediate

  Note:
  A local inverse needs no communication, neither in the set-up nor when the preconditioner is applied. It needs more iterations.

.seealso: `PCGPUSPAI`
@*/
PetscErrorCode PCGPUSPAISetLocal(PC pc, PetscBool local)
{
  PCGPUSPAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUSPAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveBool(pc, local, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.local = local;
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUSPAISetStorage - Sets the precision of the values of the approximate inverse of `PCGPUSPAI` on the device

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default), `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`

  Options Database Key:
. -pc_gpuspai_storage <single,double,auto> - the precision

  Level: intermediate

  Note:
  The inverse is computed in double precision. Rounding it changes the preconditioner, but not the solution to which the Krylov method converges.

.seealso: `PCGPUSPAI`, `MatGPUCSRSetStorage()`
@*/
PetscErrorCode PCGPUSPAISetStorage(PC pc, MatGPUCSRStorage storage)
{
  PCGPUSPAIOptions o;
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(PCGPUSPAIGetOptions(pc, &o, &same));
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  o.storage = storage;
  PetscCall(PCGPUSPAISetOptions(pc, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
