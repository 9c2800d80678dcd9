/* The object Network: the table of measures, creation, options, set-up, solve and destruction. */
#include "networkimpl.h"
#include "app/text/appcollective.h"

PetscClassId         NETWORK_CLASSID;
static PetscLogEvent NETWORK_SetUpEvent, NETWORK_SolveEvent;
static PetscBool     NetworkPackageInitialized = PETSC_FALSE;

static const NetworkMeasureRow NetworkMeasures[] = {
  {NETWORKHITS, NETWORK_RESULT_SCORE, NETWORK_SCALE_SUM, 2, {"authority", "hub"}, NetworkSolve_HITS},
  {NETWORKEIGENVECTOR, NETWORK_RESULT_SCORE, NETWORK_SCALE_SUM, 1, {"centrality"}, NetworkSolve_Eigenvector},
  {NETWORKKATZ, NETWORK_RESULT_SCORE, NETWORK_SCALE_NONE, 1, {"centrality"}, NetworkSolve_Katz},
  {NETWORKSALSA, NETWORK_RESULT_SCORE, NETWORK_SCALE_SUM, 2, {"authority", "hub"}, NetworkSolve_SALSA},
  {NETWORKCOMPONENTS, NETWORK_RESULT_GROUP, NETWORK_SCALE_NONE, 1, {"component"}, NetworkSolve_Components},
  {NETWORKCORE, NETWORK_RESULT_COUNT, NETWORK_SCALE_NONE, 1, {"core"}, NetworkSolve_Core},
  {NETWORKLABELS, NETWORK_RESULT_GROUP, NETWORK_SCALE_NONE, 1, {"community"}, NetworkSolve_Labels},
};

/*@C
  NetworkFinalizePackage - Resets the package; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `NetworkInitializePackage()`
@*/
PetscErrorCode NetworkFinalizePackage(void)
{
  PetscFunctionBegin;
  NetworkPackageInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkInitializePackage - Registers the class and the log events; `NetworkCreate()` calls it

  Not Collective

  Level: developer

.seealso: `NetworkFinalizePackage()`, `NetworkCreate()`
@*/
PetscErrorCode NetworkInitializePackage(void)
{
  PetscFunctionBegin;
  if (NetworkPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  NetworkPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("Network", &NETWORK_CLASSID));
  PetscCall(PetscLogEventRegister("NetworkSetUp", NETWORK_CLASSID, &NETWORK_SetUpEvent));
  PetscCall(PetscLogEventRegister("NetworkSolve", NETWORK_CLASSID, &NETWORK_SolveEvent));
  PetscCall(PetscRegisterFinalize(NetworkFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkCreate - Creates a solver that computes a measure of the nodes of a graph

  Collective

  Input Parameter:
. comm - the communicator, the same as that of the graph

  Output Parameter:
. newnw - the solver

  Level: beginner

.seealso: `NetworkSetGraph()`, `NetworkSetMeasure()`, `NetworkSetFromOptions()`, `NetworkSolve()`, `NetworkDestroy()`
@*/
PetscErrorCode NetworkCreate(MPI_Comm comm, Network *newnw)
{
  Network nw;

  PetscFunctionBegin;
  NetworkCheckPointer(newnw, 2);
  *newnw = NULL;
  PetscCall(NetworkInitializePackage());
  PetscCall(PetscHeaderCreate(nw, NETWORK_CLASSID, "Network", "Measures of the nodes of a graph", "Network", comm, NetworkDestroy, NetworkView));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)nw, "network_"));
  nw->tolerance = 1e-8;
  nw->max_it    = 10000;
  nw->basis     = 20;
  nw->damping   = 0.85;
  nw->residual  = -1;
  nw->bound     = -1;
  PetscCall(NetworkSetMeasure(nw, NETWORKHITS));
  *newnw = nw;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkSetMeasure - Selects the measure

  Logically Collective

  Input Parameters:
+ nw      - the solver
- measure - the name; default `NETWORKHITS`

  Options Database Key:
. -network_measure <hits> - hits, eigenvector, katz, salsa, components, core or labels

  Level: beginner

.seealso: `NetworkMeasure`, `NetworkGetMeasure()`, `NetworkSolve()`
@*/
PetscErrorCode NetworkSetMeasure(Network nw, NetworkMeasure measure)
{
  const NetworkMeasureRow *row = NULL;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(measure, 2);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(NetworkMeasures); k++)
    if (!strcmp(measure, NetworkMeasures[k].name)) row = &NetworkMeasures[k];
  PetscCheck(row, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown measure %s: expected hits, eigenvector, katz, salsa, components, core or labels", measure);
  if (row == nw->measure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectChangeTypeName((PetscObject)nw, row->name));
  nw->measure     = row;
  nw->setup       = PETSC_FALSE;
  nw->nquantities = 0;
  nw->residual = nw->bound = -1;
  nw->reason               = NETWORK_CONVERGED_ITERATING;
  PetscCall(NetworkGroupsDestroy_Private(nw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetFromOptions - Sets the solver's settings from the options database

  Collective

  Input Parameter:
. nw - the solver

  Options Database Keys:
+ -network_measure <hits>  - measure
. -network_scale <auto>    - how centralities are scaled
. -network_tol <1e-8>      - hits, eigenvector: relative residual; katz: bound on the relative error
. -network_max_it <10000>  - maximum number of iterations
. -network_basis <20>      - hits, eigenvector: number of basis vectors
. -network_alpha <0>       - katz: weight of a link in a walk; 0: damping divided by the largest eigenvalue
. -network_damping <0.85>  - katz: alpha times the largest eigenvalue
- -network_monitor <false> - print a line for each restart (hits, eigenvector), linear solve (katz) or sweep (labels)

  Level: beginner

  Note:
  network_ is the default options prefix; `NetworkSetOptionsPrefix()` replaces it.

.seealso: `NetworkSetOptionsPrefix()`, `NetworkGetKSP()`
@*/
PetscErrorCode NetworkSetFromOptions(Network nw)
{
  const char *names[PETSC_STATIC_ARRAY_LENGTH(NetworkMeasures)];
  PetscBool   print = PETSC_FALSE, set;
  PetscInt    which;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) names[k] = NetworkMeasures[k].name;
  which = (PetscInt)(nw->measure - NetworkMeasures);
  PetscObjectOptionsBegin((PetscObject)nw);
  PetscCall(PetscOptionsEList("-measure", "measure", "NetworkSetMeasure", names, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(names), names[which], &which, &set));
  if (set) PetscCall(NetworkSetMeasure(nw, names[which]));
  PetscCall(PetscOptionsEnum("-scale", "how centralities are scaled", "NetworkSetScale", NetworkScales, (PetscEnum)nw->scale, (PetscEnum *)&nw->scale, NULL));
  PetscCall(PetscOptionsReal("-tol", "hits, eigenvector: relative residual; katz: bound on the relative error", "NetworkSetTolerances", nw->tolerance, &nw->tolerance, NULL));
  PetscCall(PetscOptionsInt("-max_it", "maximum number of iterations", "NetworkSetTolerances", nw->max_it, &nw->max_it, NULL));
  PetscCall(PetscOptionsInt("-basis", "hits, eigenvector: number of basis vectors", "NetworkSetBasisSize", nw->basis, &nw->basis, NULL));
  PetscCall(PetscOptionsReal("-alpha", "katz: weight of a link in a walk; 0: damping divided by the largest eigenvalue", "NetworkSetAlpha", nw->alpha, &nw->alpha, NULL));
  PetscCall(PetscOptionsReal("-damping", "katz: alpha times the largest eigenvalue", "NetworkSetDamping", nw->damping, &nw->damping, NULL));
  PetscCall(PetscOptionsBool("-monitor", "print a line for each restart (hits, eigenvector), linear solve (katz) or sweep (labels)", "NetworkMonitorSet", print, &print, NULL));
  PetscOptionsEnd();
  PetscCall(NetworkSetTolerances(nw, nw->tolerance, nw->max_it)); /* these functions check the values */
  PetscCall(NetworkSetBasisSize(nw, nw->basis));
  PetscCall(NetworkSetAlpha(nw, nw->alpha));
  PetscCall(NetworkSetDamping(nw, nw->damping));
  if (print && !nw->print) PetscCall(NetworkMonitorSet(nw, NetworkMonitorDefault, NULL, NULL)); /* options that are read twice add one monitor */
  nw->print = (PetscBool)(print || nw->print);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the weights of the links: finite and not negative. */
static PetscErrorCode NetworkCheckWeights(Network nw)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)nw);
  PetscInt       bad[2] = {-1, -1};
  PetscScalar    weight = 0;
  PetscMPIInt    first;
  PetscBool      found;

  PetscFunctionBegin;
  for (PetscInt r = nw->first; r < nw->first + nw->n && bad[0] < 0; r++) {
    const PetscInt    *column;
    const PetscScalar *w;
    PetscInt           n;

    PetscCall(MatGetRow(nw->links, r, &n, &column, &w));
    for (PetscInt k = 0; k < n && bad[0] < 0; k++) {
      if (w[k] >= 0 && w[k] <= PETSC_MAX_REAL) continue;
      bad[0] = column[k];
      bad[1] = r;
      weight = w[k];
    }
    PetscCall(MatRestoreRow(nw->links, r, &n, &column, &w));
  }
  PetscCall(GpAppFindFirst(comm, (PetscBool)(bad[0] >= 0), &first, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(bad, 2, MPIU_INT, first, comm));
  PetscCallMPI(MPI_Bcast(&weight, 1, MPIU_SCALAR, first, comm));
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE, "The link from node %" PetscInt_FMT " to node %" PetscInt_FMT " has the weight %g: it must be finite and not negative", bad[0], bad[1], (double)weight);
}

/*@
  NetworkSetUp - Sets up the solver; `NetworkSolve()` calls it

  Collective

  Input Parameter:
. nw - the solver

  Level: advanced

.seealso: `NetworkSetGraph()`, `NetworkSolve()`
@*/
PetscErrorCode NetworkSetUp(Network nw)
{
  PetscBool known, symmetric;
  Vec       v;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (nw->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(nw->links, PetscObjectComm((PetscObject)nw), PETSC_ERR_ORDER, "There is no graph: call NetworkSetGraph() first");
  PetscCall(PetscLogEventBegin(NETWORK_SetUpEvent, nw, 0, 0, 0));
  PetscCall(VecDestroyVecs(nw->nresults, &nw->x));
  nw->nresults = 0;
  PetscCall(MatGetSize(nw->links, &nw->N, NULL));
  PetscCall(MatGetLocalSize(nw->links, &nw->n, NULL));
  PetscCall(MatGetOwnershipRange(nw->links, &nw->first, NULL));
  PetscCall(MatIsSymmetricKnown(nw->links, &known, &symmetric));
  nw->symmetric = (PetscBool)(known && symmetric);
  PetscCall(NetworkCheckWeights(nw));
  PetscCall(MatCreateVecs(nw->links, &v, NULL));
  PetscCall(VecDuplicateVecs(v, nw->measure->nresults, &nw->x));
  nw->nresults = nw->measure->nresults;
  PetscCall(VecDestroy(&v));
  nw->setup = PETSC_TRUE;
  PetscCall(PetscLogEventEnd(NETWORK_SetUpEvent, nw, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSolve - Computes the measure

  Collective

  Input Parameter:
. nw - the solver

  Options Database Key:
. -network_view [viewer] - view the solver after the solve

  Level: beginner

.seealso: `NetworkGetResults()`, `NetworkGetQuantities()`, `NetworkGetGroups()`, `NetworkGetResidual()`, `NetworkGetConvergedReason()`
@*/
PetscErrorCode NetworkSolve(Network nw)
{
  PetscFunctionBegin;
  PetscCall(NetworkSetUp(nw));
  PetscCall(PetscLogEventBegin(NETWORK_SolveEvent, nw, 0, 0, 0));
  nw->it = nw->matmults = nw->nquantities = 0;
  nw->residual = nw->bound = -1;
  nw->reason               = NETWORK_CONVERGED_ITERATING;
  PetscCall(NetworkGroupsDestroy_Private(nw));
  PetscCall((*nw->measure->solve)(nw));
  PetscCall(NetworkScaleResults_Private(nw));
  PetscCall(PetscLogEventEnd(NETWORK_SolveEvent, nw, 0, 0, 0));
  PetscCall(PetscObjectViewFromOptions((PetscObject)nw, NULL, "-view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkDestroy - Destroys the solver

  Collective

  Input Parameter:
. nw - the solver; set to `NULL`

  Level: beginner

.seealso: `NetworkCreate()`
@*/
PetscErrorCode NetworkDestroy(Network *nw)
{
  PetscFunctionBegin;
  if (!*nw) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(*nw, NETWORK_CLASSID, 1);
  if (--((PetscObject)*nw)->refct > 0) {
    *nw = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NetworkReset(*nw));
  PetscCall(NetworkMonitorCancel(*nw));
  PetscCall(KSPDestroy(&(*nw)->ksp));
  PetscCall(PetscHeaderDestroy(nw));
  PetscFunctionReturn(PETSC_SUCCESS);
}
