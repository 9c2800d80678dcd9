/* The PageRank object: creation, options, set-up, solve, reset and destruction. */
#include "pagerankimpl.h"
#include "app/text/appcollective.h"

PetscClassId         PAGERANK_CLASSID;
PetscFunctionList    PageRankMethodList = NULL;
static PetscLogEvent PAGERANK_SetUpEvent, PAGERANK_SolveEvent;
static PetscBool     PageRankPackageInitialized = PETSC_FALSE;

/*@C
  PageRankFinalizePackage - Destroys the list of methods; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `PageRankInitializePackage()`
@*/
PetscErrorCode PageRankFinalizePackage(void)
{
  PetscFunctionBegin;
  PageRankPackageInitialized = PETSC_FALSE;
  PetscCall(PetscFunctionListDestroy(&PageRankMethodList));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankInitializePackage - Registers the class, the log events and the methods; `PageRankCreate()` calls it

  Not Collective

  Level: developer

.seealso: `PageRankFinalizePackage()`, `PageRankCreate()`
@*/
PetscErrorCode PageRankInitializePackage(void)
{
  PetscFunctionBegin;
  if (PageRankPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  PageRankPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("PageRank", &PAGERANK_CLASSID));
  PetscCall(PetscLogEventRegister("PageRankSetUp", PAGERANK_CLASSID, &PAGERANK_SetUpEvent));
  PetscCall(PetscLogEventRegister("PageRankSolve", PAGERANK_CLASSID, &PAGERANK_SolveEvent));
  PetscCall(PageRankRegister(PAGERANKPOWER, PageRankSolve_Power));
  PetscCall(PageRankRegister(PAGERANKINNEROUTER, PageRankSolve_InnerOuter));
  PetscCall(PageRankRegister(PAGERANKGAUSSSEIDEL, PageRankSolve_GaussSeidel));
  PetscCall(PageRankRegister(PAGERANKJACOBI, PageRankSolve_KSP));
  PetscCall(PageRankRegister(PAGERANKKSP, PageRankSolve_KSP));
  PetscCall(PetscRegisterFinalize(PageRankFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankRegister - Adds a method, which `PageRankSetMethod()` then accepts

  Not Collective

  Input Parameters:
+ name  - name of the method
- solve - called with the solver and the initial ranks, which it replaces by the result

  Level: developer

  Note:
  The method calls `PageRankCheckRanks()` before its first iteration and after every group of iterations, and returns when this function sets stop.

.seealso: `PageRankMult()`, `PageRankGetTeleportation()`, `PageRankCheckRanks()`, `PageRankSetMethod()`
@*/
PetscErrorCode PageRankRegister(const char name[], PageRankSolveFn solve)
{
  PetscFunctionBegin;
  PetscCall(PageRankInitializePackage());
  PetscCall(PetscFunctionListAdd(&PageRankMethodList, name, solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankCreate - Creates a solver that ranks the nodes of a graph

  Collective

  Input Parameter:
. comm - the communicator, the same as that of the graph

  Output Parameter:
. newpr - the solver

  Level: beginner

.seealso: `PageRankSetGraph()`, `PageRankSetFromOptions()`, `PageRankSolve()`, `PageRankDestroy()`
@*/
PetscErrorCode PageRankCreate(MPI_Comm comm, PageRank *newpr)
{
  PageRank pr;

  PetscFunctionBegin;
  PageRankCheckPointer(newpr, 2);
  *newpr = NULL;
  PetscCall(PageRankInitializePackage());
  PetscCall(PetscHeaderCreate(pr, PAGERANK_CLASSID, "PageRank", "PageRank of the nodes of a graph", "PageRank", comm, PageRankDestroy, PageRankView));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)pr, "pagerank_"));
  pr->damping         = 0.85;
  pr->tolerance       = 1e-8;
  pr->max_it          = 10000;
  pr->blocks          = 2;
  pr->inner_damping   = 0.5;
  pr->inner_tolerance = 1e-2;
  pr->device_loop     = PETSC_TRUE;
  pr->residual        = -1;
  PetscCall(PageRankSetMethod(pr, PAGERANKGAUSSSEIDEL));
  *newpr = pr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetFromOptions - Sets the solver's settings from the options database

  Collective

  Input Parameter:
. pr - the solver

  Options Database Keys:
+ -pagerank_damping <0.85>         - probability of following a link
. -pagerank_dangling <teleport>    - where the walk continues from a dangling node
. -pagerank_method <gauss_seidel>  - method
. -pagerank_tol <1e-8>             - upper bound on the error in the 1-norm
. -pagerank_max_it <10000>         - maximum number of iterations
. -pagerank_extrapolate <0>        - power: iterations between two quadratic extrapolations, 0 for none
. -pagerank_blocks <2>             - gauss_seidel: number of row blocks of each process
. -pagerank_inner_damping <0.5>    - inner_outer: damping of the inner iteration
. -pagerank_inner_tol <0.01>       - inner_outer: tolerance of the inner iteration
. -pagerank_assemble <false>       - ksp: give the preconditioner the assembled matrix
. -pagerank_device_loop <true>     - power and gauss_seidel: keep scalars and the stopping test on the device
- -pagerank_monitor <false>        - print a line for each iteration

  Level: beginner

  Note:
  The options prefix pagerank_ is the default; `PageRankSetOptionsPrefix()` replaces it.

.seealso: `PageRankSetOptionsPrefix()`, `PageRankGetKSP()`
@*/
PetscErrorCode PageRankSetFromOptions(PageRank pr)
{
  PetscBool print = PETSC_FALSE, set;
  char      method[64];

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscObjectOptionsBegin((PetscObject)pr);
  PetscCall(PetscOptionsReal("-damping", "probability of following a link", "PageRankSetDamping", pr->damping, &pr->damping, NULL));
  PetscCall(PetscOptionsEnum("-dangling", "where the walk continues from a dangling node", "PageRankSetDangling", PageRankDanglingTypes, (PetscEnum)pr->dangling, (PetscEnum *)&pr->dangling, NULL));
  PetscCall(PetscOptionsFList("-method", "method", "PageRankSetMethod", PageRankMethodList, ((PetscObject)pr)->type_name, method, sizeof(method), &set));
  if (set) PetscCall(PageRankSetMethod(pr, method));
  PetscCall(PetscOptionsReal("-tol", "upper bound on the error in the 1-norm", "PageRankSetTolerances", pr->tolerance, &pr->tolerance, NULL));
  PetscCall(PetscOptionsInt("-max_it", "maximum number of iterations", "PageRankSetTolerances", pr->max_it, &pr->max_it, NULL));
  PetscCall(PetscOptionsInt("-extrapolate", "power: iterations between two quadratic extrapolations, 0 for none", "PageRankSetExtrapolation", pr->extrapolate, &pr->extrapolate, NULL));
  PetscCall(PetscOptionsInt("-blocks", "gauss_seidel: number of row blocks of each process", "PageRankSetBlocks", pr->blocks, &pr->blocks, NULL));
  PetscCall(PetscOptionsReal("-inner_damping", "inner_outer: damping of the inner iteration", "PageRankSetInnerIteration", pr->inner_damping, &pr->inner_damping, NULL));
  PetscCall(PetscOptionsReal("-inner_tol", "inner_outer: tolerance of the inner iteration", "PageRankSetInnerIteration", pr->inner_tolerance, &pr->inner_tolerance, NULL));
  PetscCall(PetscOptionsBool("-assemble", "ksp: give the preconditioner the assembled matrix", "PageRankSetAssemble", pr->assemble, &pr->assemble, &set));
  if (set) PetscCall(PageRankSetAssemble(pr, pr->assemble));
  PetscCall(PetscOptionsBool("-device_loop", "power and gauss_seidel: keep scalars and the stopping test on the device", "PageRankSetDeviceLoop", pr->device_loop, &pr->device_loop, NULL));
  PetscCall(PetscOptionsBool("-monitor", "print a line for each iteration", "PageRankMonitorSet", print, &print, NULL));
  PetscOptionsEnd();
  PetscCall(PageRankSetDamping(pr, pr->damping)); /* these functions check the values */
  PetscCall(PageRankSetTolerances(pr, pr->tolerance, pr->max_it));
  PetscCall(PageRankSetExtrapolation(pr, pr->extrapolate));
  PetscCall(PageRankSetBlocks(pr, pr->blocks));
  PetscCall(PageRankSetInnerIteration(pr, pr->inner_damping, pr->inner_tolerance));
  if (print && !pr->print) PetscCall(PageRankMonitorSet(pr, PageRankMonitorDefault, NULL, NULL)); /* options that are read twice add one monitor */
  pr->print = (PetscBool)(print || pr->print);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys what PageRankSetUp() creates, except the graph, and the results. */
static PetscErrorCode PageRankDestroyWork(PageRank pr)
{
  PetscFunctionBegin;
  PetscCall(PageRankLoopDestroy_Private(pr));
  PetscCall(VecDestroyVecs(pr->nranks, &pr->x));
  PetscCall(VecDestroyVecs(pr->nranks, &pr->z));
  PetscCall(PetscFree(pr->lost));
  PetscCall(VecDestroy(&pr->uniform));
  PetscCall(VecDestroy(&pr->inverse));
  PetscCall(VecDestroy(&pr->r));
  PetscCall(VecDestroy(&pr->v));
  PetscCall(VecDestroy(&pr->u));
  pr->isdangling = NULL;
  pr->nranks = pr->it = pr->matmults = 0;
  pr->residual                       = -1;
  pr->reason                         = PAGERANK_CONVERGED_ITERATING;
  pr->setup                          = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that a vector has an entry for each node, and that a distribution has entries of at least 0 and the sum 1. */
static PetscErrorCode PageRankCheckVec(PageRank pr, Vec v, PetscBool distribution, const char what[])
{
  PetscScalar sum   = 1;
  PetscReal   least = 0;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)pr), what, n, pr->n, "use a vector with the layout of the matrix of the links"));
  if (distribution) {
    PetscCall(VecSum(v, &sum));
    PetscCall(VecMin(v, NULL, &least));
  }
  PetscCheck(least >= 0 && PetscAbsScalar(sum - 1) < PETSC_SQRT_MACHINE_EPSILON, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "The %s has the sum %g and the smallest entry %g: expected the sum 1 and no negative entry", what,
             (double)sum, (double)least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PageRankCheckSettings(PageRank pr)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pr);

  PetscFunctionBegin;
  PetscCheck(pr->solve != PageRankSolve_InnerOuter || pr->inner_damping < pr->damping, comm, PETSC_ERR_ARG_OUTOFRANGE, "The inner damping %g must be less than the damping %g", (double)pr->inner_damping, (double)pr->damping);
  PetscCheck(pr->dangling != PAGERANK_DANGLING_VECTOR || pr->danglingvec, comm, PETSC_ERR_ORDER, "The distribution of the rank of dangling nodes is missing: call PageRankSetDangling()");
  PetscCheck(!pr->nstart || pr->nstart == PetscMax(pr->npersonal, 1), comm, PETSC_ERR_ARG_INCOMP, "There are %" PetscInt_FMT " vectors of initial ranks, but %" PetscInt_FMT " vectors of ranks are computed", pr->nstart, PetscMax(pr->npersonal, 1));
  if (pr->dangling == PAGERANK_DANGLING_VECTOR) PetscCall(PageRankCheckVec(pr, pr->danglingvec, PETSC_TRUE, "distribution of the rank of dangling nodes"));
  for (PetscInt k = 0; k < pr->npersonal; k++) PetscCall(PageRankCheckVec(pr, pr->personal[k], PETSC_TRUE, "personalisation"));
  for (PetscInt k = 0; k < pr->nstart; k++) PetscCall(PageRankCheckVec(pr, pr->start[k], PETSC_FALSE, "vector of initial ranks"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the teleportation vector of personalisation k, and creates the device loop if it can be used. */
static PetscErrorCode PageRankSelect(PageRank pr, PetscInt k)
{
  const PetscBool sweeps = (PetscBool)(pr->solve == PageRankSolve_GaussSeidel), power = (PetscBool)(pr->solve == PageRankSolve_Power && !pr->extrapolate && pr->nblocks == 1);
  Vec             v = pr->npersonal ? pr->personal[k] : pr->uniform, u = NULL;

  PetscFunctionBegin;
  PetscCall(PageRankLoopDestroy_Private(pr));
  if (pr->isdangling && pr->dangling != PAGERANK_DANGLING_SELF) u = pr->dangling == PAGERANK_DANGLING_VECTOR ? pr->danglingvec : pr->dangling == PAGERANK_DANGLING_UNIFORM ? pr->uniform : v;
  PetscCall(PetscObjectReference((PetscObject)v)); /* the device loop uses the vectors until it is destroyed */
  if (u) PetscCall(PetscObjectReference((PetscObject)u));
  PetscCall(VecDestroy(&pr->v));
  PetscCall(VecDestroy(&pr->u));
  pr->v = v;
  pr->u = u;
  if (sweeps && !pr->inverse) PetscCall(PageRankSetUp_GaussSeidel(pr));
  if ((sweeps || power) && pr->device_loop && !pr->nmonitors) PetscCall(PageRankLoopCreate_Private(pr, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all personalisations are computed at once. */
static PetscBool PageRankIsTogether(PageRank pr)
{
  return (PetscBool)(pr->npersonal > 1 && pr->solve == PageRankSolve_Power && !pr->extrapolate);
}

/*@
  PageRankSetUp - Sets up the solver; `PageRankSolve()` calls it

  Collective

  Input Parameter:
. pr - the solver

  Level: advanced

.seealso: `PageRankSetGraph()`, `PageRankSolve()`
@*/
PetscErrorCode PageRankSetUp(PageRank pr)
{
  PetscBool nest;
  PetscInt  blocks;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  if (pr->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(pr->links, PetscObjectComm((PetscObject)pr), PETSC_ERR_ORDER, "There is no graph: call PageRankSetGraph() first");
  PetscCall(PetscLogEventBegin(PAGERANK_SetUpEvent, pr, 0, 0, 0));
  PetscCall(PageRankDestroyWork(pr));
  PetscCall(PetscObjectTypeCompare((PetscObject)pr->links, MATNEST, &nest));
  blocks = pr->solve == PageRankSolve_GaussSeidel ? pr->blocks : 1;
  if (!pr->scale || (pr->nblocks != blocks && !nest)) { /* scale: the last vector of a graph that was set up without an error */
    PetscCall(PageRankGraphDestroy_Private(pr));
    PetscCall(PageRankGraphSetUp_Private(pr, blocks));
  }
  PetscCall(PageRankCheckSettings(pr));
  pr->nranks = PetscMax(pr->npersonal, 1);
  PetscCall(VecDuplicateVecs(pr->out, pr->nranks, &pr->x));
  PetscCall(VecDuplicateVecs(pr->out, pr->nranks, &pr->z));
  PetscCall(PetscCalloc1(pr->nranks, &pr->lost));
  PetscCall(VecDuplicate(pr->out, &pr->uniform));
  PetscCall(VecSet(pr->uniform, 1.0 / pr->N));
  if (pr->dangling != PAGERANK_DANGLING_DROP) pr->isdangling = pr->marks;
  if (pr->nranks == 1 || PageRankIsTogether(pr)) PetscCall(PageRankSelect(pr, 0));
  pr->setup = PETSC_TRUE;
  PetscCall(PetscLogEventEnd(PAGERANK_SetUpEvent, pr, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSolve - Computes the ranks for all personalisations

  Collective

  Input Parameter:
. pr - the solver

  Level: beginner

  Notes:
  Power iterations without extrapolation compute all personalisations at once. Other methods compute one after the other.

  The iteration starts from the ranks of `PageRankSetInitialRanks()`, or from the teleportation vectors. A solver may solve several times.

.seealso: `PageRankGetRanks()`, `PageRankGetResidual()`, `PageRankGetConvergedReason()`, `PageRankSetTolerances()`
@*/
PetscErrorCode PageRankSolve(PageRank pr)
{
  PageRankConvergedReason reason = PAGERANK_CONVERGED_ITERATING;
  PetscReal               worst  = 0;
  PetscInt                its    = 0;
  PetscBool               together;

  PetscFunctionBegin;
  PetscCall(PageRankSetUp(pr));
  PetscCall(PetscLogEventBegin(PAGERANK_SolveEvent, pr, 0, 0, 0));
  together         = PageRankIsTogether(pr);
  pr->matmults     = 0;
  pr->solvedamping = pr->damping;
  for (PetscInt k = 0; k < pr->nranks; k++) PetscCall(VecCopy(pr->nstart ? pr->start[k] : pr->npersonal ? pr->personal[k] : pr->uniform, pr->x[k]));
  for (PetscInt k = 0; k < (together ? 1 : pr->nranks); k++) {
    if (pr->nranks > 1 && !together) PetscCall(PageRankSelect(pr, k));
    pr->it       = 0;
    pr->initial  = 0;
    pr->residual = PETSC_MAX_REAL;
    pr->reason   = PAGERANK_CONVERGED_ITERATING;
    if (together) PetscCall(PageRankIteratePower_Private(pr, pr->nranks, pr->personal, pr->x));
    else PetscCall((*pr->solve)(pr, pr->x[k]));
    PetscCheck(pr->reason, PetscObjectComm((PetscObject)pr), PETSC_ERR_PLIB, "The method %s returned before PageRankCheckRanks() set stop", ((PetscObject)pr)->type_name);
    its = PetscMax(its, pr->it);
    if (k && pr->residual <= worst) continue;
    worst  = pr->residual;
    reason = pr->reason;
  }
  pr->it       = its;
  pr->residual = worst;
  pr->reason   = reason;
  PetscCall(PetscLogEventEnd(PAGERANK_SolveEvent, pr, 0, 0, 0));
  PetscCall(PetscObjectViewFromOptions((PetscObject)pr, NULL, "-view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankReset - Frees the ranks, drops the references to the graph and to the vectors of the user, and keeps the other settings

  Collective

  Input Parameter:
. pr - the solver

  Level: advanced

.seealso: `PageRankSetGraph()`, `PageRankDestroy()`
@*/
PetscErrorCode PageRankReset(PageRank pr)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscCall(PageRankDestroyWork(pr));
  PetscCall(PageRankGraphDestroy_Private(pr));
  PetscCall(PageRankSetPersonalizations(pr, 0, NULL));
  PetscCall(PageRankSetInitialRanks(pr, 0, NULL));
  PetscCall(VecDestroy(&pr->danglingvec));
  PetscCall(MatDestroy(&pr->links));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankDestroy - Destroys the solver

  Collective

  Input Parameter:
. pr - the solver; set to `NULL`

  Level: beginner

.seealso: `PageRankCreate()`
@*/
PetscErrorCode PageRankDestroy(PageRank *pr)
{
  PetscFunctionBegin;
  if (!*pr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(*pr, PAGERANK_CLASSID, 1);
  if (--((PetscObject)*pr)->refct > 0) {
    *pr = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PageRankReset(*pr));
  PetscCall(PageRankMonitorCancel(*pr));
  PetscCall(KSPDestroy(&(*pr)->ksp));
  PetscCall(PetscHeaderDestroy(pr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
