/* The SMACOF object: creation, reset, destruction and results. */
#include "solvers/smacof/smacofimpl.h"

PetscClassId  SMACOF_CLASSID;
PetscLogEvent SMACOF_SolveEvent, SMACOF_StartEvent, SMACOF_PassEvent;

static PetscBool SMACOFPackageInitialized = PETSC_FALSE;

/*@C
  SMACOFFinalizePackage - Destroys the list of eigensolvers; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `SMACOFInitializePackage()`
@*/
PetscErrorCode SMACOFFinalizePackage(void)
{
  PetscFunctionBegin;
  SMACOFPackageInitialized = PETSC_FALSE;
  PetscCall(PetscFunctionListDestroy(&SMACOFEigensolverList));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFInitializePackage - Registers the class, the log events and the eigensolvers; `SMACOFCreate()` calls it

  Not Collective

  Level: developer

.seealso: `SMACOFFinalizePackage()`, `SMACOFCreate()`
@*/
PetscErrorCode SMACOFInitializePackage(void)
{
  PetscFunctionBegin;
  if (SMACOFPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  SMACOFPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("SMACOF", &SMACOF_CLASSID));
  PetscCall(PetscLogEventRegister("SMACOFSolve", SMACOF_CLASSID, &SMACOF_SolveEvent));
  PetscCall(PetscLogEventRegister("SMACOFStart", SMACOF_CLASSID, &SMACOF_StartEvent));
  PetscCall(PetscLogEventRegister("SMACOFPass", SMACOF_CLASSID, &SMACOF_PassEvent));
  PetscCall(SMACOFEigensolverRegister("block", SMACOFEigensolveBlock_Private));
  PetscCall(PetscRegisterFinalize(SMACOFFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFEigensolverRegister - Adds an eigensolver of classical scaling

  Not Collective

  Input Parameters:
+ name  - name for `SMACOFSetEigensolver()`
- solve - the function; gpucsrsmacof.h describes its arguments

  Level: developer

.seealso: `SMACOFSetEigensolver()`
@*/
PetscErrorCode SMACOFEigensolverRegister(const char name[], SMACOFEigensolverFn solve)
{
  PetscFunctionBegin;
  PetscCall(SMACOFInitializePackage());
  PetscCall(PetscFunctionListAdd(&SMACOFEigensolverList, name, solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFCreate - Creates a solver for multidimensional scaling

  Collective

  Input Parameter:
. comm - the communicator, the same as that of the data

  Output Parameter:
. news - the solver

  Level: beginner

  Note:
  Dissimilarities or features are distributed over the ranks of the communicator; configurations are replicated on every rank.

.seealso: `SMACOFSetDissimilarities()`, `SMACOFSetFeatures()`, `SMACOFSetFromOptions()`, `SMACOFSolve()`, `SMACOFDestroy()`
@*/
PetscErrorCode SMACOFCreate(MPI_Comm comm, SMACOF *news)
{
  SMACOF s;

  PetscFunctionBegin;
  SMACOFCheckPointer(news, 2);
  *news = NULL;
  PetscCall(SMACOFInitializePackage());
  PetscCall(PetscHeaderCreate(s, SMACOF_CLASSID, "SMACOF", "Multidimensional scaling by majorisation", "SMACOF", comm, SMACOFDestroy, SMACOFView));
  s->D.comm           = MPI_COMM_NULL;
  s->dim              = 2;
  s->max_it           = 1000;
  s->starts           = 1;
  s->batch            = 8;
  s->history          = 5;
  s->degree           = 2;
  s->knots            = 4;
  s->eps              = 1e-6;
  s->anderson_below   = 1e-2;
  s->acceleration     = SMACOF_ACCELERATION_ANDERSON;
  s->stream           = (SMACOFStreamOptions){.chunk = -1, .resident = -1};
  s->checkpoint_every = 100;
  s->outcome.start    = -1;
  PetscCall(PetscObjectChangeTypeName((PetscObject)s, "smacof"));
  PetscCall(SMACOFSetEigensolver(s, "block"));
  *news = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFReset - Frees the data, the fixed points, the first configuration and the results; keeps the settings

  Collective

  Input Parameter:
. s - the solver

  Level: advanced

.seealso: `SMACOFSetDissimilarities()`, `SMACOFDestroy()`
@*/
PetscErrorCode SMACOFReset(SMACOF s)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFWorkDestroy_Private(s));
  PetscCall(SMACOFPairsDestroy_Private(&s->D));
  PetscCall(MatDestroy(&s->dissimilarities));
  PetscCall(MatDestroy(&s->weights));
  PetscCall(MatDestroy(&s->features));
  PetscCall(VecDestroy(&s->given));
  PetscCall(PetscFree2(s->fixed.point, s->fixed.x));
  s->fixed.n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFDestroy - Destroys the solver

  Collective

  Input Parameter:
. s - the solver; set to `NULL`

  Level: beginner

.seealso: `SMACOFCreate()`
@*/
PetscErrorCode SMACOFDestroy(SMACOF *s)
{
  PetscFunctionBegin;
  if (!*s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(*s, SMACOF_CLASSID, 1);
  if (--((PetscObject)*s)->refct > 0) {
    *s = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SMACOFReset(*s));
  PetscCall(SMACOFMonitorCancel(*s));
  PetscCall(PetscHeaderDestroy(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SMACOFCheckSolved(s) PetscCheck((s)->outcome.start >= 0, PetscObjectComm((PetscObject)(s)), PETSC_ERR_ORDER, "There is no result yet: call SMACOFSolve() first")

/*@
  SMACOFGetConfiguration - Gets the configuration with the least stress

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. x - a sequential vector, the same on every rank, with coordinate c of point i at position c N + i; the solver owns it, do not destroy it

  Level: beginner

.seealso: `SMACOFSolve()`, `SMACOFGetStress()`
@*/
PetscErrorCode SMACOFGetConfiguration(SMACOF s, Vec *x)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(x, 2);
  SMACOFCheckSolved(s);
  *x = s->best.x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetStress - Gets the stress of the configuration

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameters:
+ normalised - the raw stress divided by the weighted sum of squares of the disparities, or `NULL`; its square root is stress-1
- raw        - sum over the pairs of weight times (disparity - distance)^2, or `NULL`

  Level: beginner

.seealso: `SMACOFGetConfiguration()`, `SMACOFGetPointStress()`
@*/
PetscErrorCode SMACOFGetStress(SMACOF s, PetscReal *normalised, PetscReal *raw)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckSolved(s);
  if (normalised) *normalised = s->best.sigma;
  if (raw) *raw = s->best.sigma * s->unit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetPointStress - Gets the raw stress of each point: the sum over its pairs

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. stress - a sequential vector with an entry for each point; the solver owns it, do not destroy it

  Level: intermediate

.seealso: `SMACOFGetStress()`
@*/
PetscErrorCode SMACOFGetPointStress(SMACOF s, Vec *stress)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(stress, 2);
  SMACOFCheckSolved(s);
  *stress = s->best.stress;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetIterationNumber - Gets the number of iterations of the best start, including rejected steps

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. it - the number of iterations; 0 before a solve

  Level: beginner

.seealso: `SMACOFSolve()`, `SMACOFSetTolerances()`
@*/
PetscErrorCode SMACOFGetIterationNumber(SMACOF s, PetscInt *it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(it, 2);
  *it = s->outcome.it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetConvergedReason - Gets the reason why the best start stopped

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. reason - positive if it converged, negative if it did not, zero before a solve; `SMACOFConvergedReasons` holds the names

  Level: beginner

.seealso: `SMACOFSolve()`, `SMACOFSetTolerances()`
@*/
PetscErrorCode SMACOFGetConvergedReason(SMACOF s, SMACOFConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(reason, 2);
  *reason = s->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetInfo - Gets settings, a description of the data, and statistics of the last solve

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. info - the fields on the data are set after `SMACOFSetUp()`

  Level: intermediate

.seealso: `SMACOFSolve()`, `SMACOFView()`
@*/
PetscErrorCode SMACOFGetInfo(SMACOF s, SMACOFInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(info, 2);
  *info = (SMACOFInfo){.dim           = s->dim,
                       .max_it        = s->max_it,
                       .starts        = s->starts,
                       .eps           = s->eps,
                       .acceleration  = s->acceleration,
                       .disparity     = s->disparity,
                       .start         = s->start,
                       .storage       = s->D.single ? SMACOF_STORAGE_SINGLE : SMACOF_STORAGE_DOUBLE,
                       .stored        = s->D.stored,
                       .points        = s->D.N,
                       .pairs         = s->D.npairs,
                       .complete      = s->D.complete,
                       .weighted      = (PetscBool)(s->D.weight != NULL),
                       .sum_squares   = s->D.sumsquares,
                       .pass          = SMACOFIsOnGPU(s->device.dev) ? (s->device.work.mixed ? "cuda, mixed" : "cuda") : "host",
                       .best_start    = s->outcome.start,
                       .rejected      = s->outcome.rejected,
                       .ksp_its       = s->transform.its,
                       .seconds_start = s->seconds_start,
                       .seconds_solve = s->seconds_solve,
                       .bytes_copied  = s->bytes_copied};
  PetscCall(SMACOFStreamedGetInfo_Private(s->device.streamed, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFGetKSP - Gets the KSP that solves with the Laplacian of the weights

  Not Collective

  Input Parameter:
. s - the solver

  Output Parameter:
. ksp - the KSP; the solver owns it, do not destroy it. `NULL` before `SMACOFSetUp()`, and for complete data without weights, which need no KSP

  Level: advanced

  Note:
  The initial guess is the configuration. Every CG iteration lowers the majorising function, so the stress decreases even if the tolerance is large.

.seealso: `SMACOFSetUp()`
@*/
PetscErrorCode SMACOFGetKSP(SMACOF s, KSP *ksp)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(ksp, 2);
  *ksp = s->transform.ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}
