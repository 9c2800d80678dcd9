/* The object Network: viewer and monitors. */
#include "networkimpl.h"
#include <petscviewer.h>

const char *const NetworkScales[] = {"auto", "none", "sum", "norm", "max", "NetworkScale", "NETWORK_SCALE_", NULL};

static const char *const NetworkConvergedReasons_Shifted[] = {"DIVERGED_ALPHA",     "DIVERGED_ZERO",         "DIVERGED_STAGNATION", "DIVERGED_ITS",    "", "", "CONVERGED_ITERATING",
                                                              "CONVERGED_RESIDUAL", "CONVERGED_ERROR_BOUND", "CONVERGED_EXACT",     "CONVERGED_STABLE"};

const char *const *const NetworkConvergedReasons = NetworkConvergedReasons_Shifted + 6;

/*@C
  NetworkMonitorSet - Adds a monitor, which is called at every restart (hits, eigenvector), after every linear solve (katz), or after every sweep (labels)

  Logically Collective

  Input Parameters:
+ nw      - the solver
. monitor - called with the solver, the number of the iteration, a value, and ctx. The value is the relative residual of the eigenpair (hits, eigenvector), the largest entry of
            the residual (katz), or the number of nodes whose label changed (labels)
. ctx     - context of the monitor, or `NULL`
- destroy - function that frees the context, or `NULL`

  Options Database Key:
. -network_monitor - print one line for each call of a monitor

  Level: intermediate

  Note:
  A solver has at most 5 monitors. The measures salsa, components and core call none.

.seealso: `NetworkMonitorDefault()`, `NetworkMonitorCancel()`, `NetworkSolve()`
@*/
PetscErrorCode NetworkMonitorSet(Network nw, NetworkMonitorFn monitor, void *ctx, PetscErrorCode (*destroy)(void **))
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(monitor, 2);
  PetscCheck(nw->nmonitors < NETWORK_MAX_MONITORS, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "The solver has %d monitors, which is the maximum; NetworkMonitorCancel() removes them", NETWORK_MAX_MONITORS);
  nw->monitor[nw->nmonitors]          = monitor;
  nw->monitorctx[nw->nmonitors]       = ctx;
  nw->monitordestroy[nw->nmonitors++] = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkMonitorCancel - Removes all monitors

  Logically Collective

  Input Parameter:
. nw - the solver

  Level: intermediate

.seealso: `NetworkMonitorSet()`
@*/
PetscErrorCode NetworkMonitorCancel(Network nw)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  for (; nw->nmonitors; nw->nmonitors--)
    if (nw->monitordestroy[nw->nmonitors - 1]) PetscCall((*nw->monitordestroy[nw->nmonitors - 1])(&nw->monitorctx[nw->nmonitors - 1]));
  nw->print = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkMonitor_Private(Network nw, PetscInt it, PetscReal value)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < nw->nmonitors; k++) PetscCall((*nw->monitor[k])(nw, it, value, nw->monitorctx[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkMonitorDefault - Prints the number of the iteration and the residual, or the number of labels that changed

  Collective

  Input Parameters:
+ nw    - the solver
. it    - number of the iteration
. value - the residual, or the number of labels that changed
- ctx   - not used

  Level: intermediate

.seealso: `NetworkMonitorSet()`
@*/
PetscErrorCode NetworkMonitorDefault(Network nw, PetscInt it, PetscReal value, void *ctx)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)nw);

  PetscFunctionBegin;
  if (nw->measure->type == NETWORK_RESULT_GROUP) PetscCall(PetscPrintf(comm, "%4" PetscInt_FMT " changed labels %.0f\n", it, (double)value));
  else PetscCall(PetscPrintf(comm, "%4" PetscInt_FMT " residual %.6e\n", it, (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkView - Prints the settings of the solver and, after a solve, its result

  Collective

  Input Parameters:
+ nw     - the solver
- viewer - an ASCII viewer, or `NULL` for the standard output stream

  Options Database Key:
. -network_view [viewer] - view after the solve

  Level: beginner

.seealso: `NetworkSolve()`
@*/
PetscErrorCode NetworkView(Network nw, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)nw), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)nw, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "scale=%s, tolerance=%g, maximum iterations=%" PetscInt_FMT "\n", NetworkScales[nw->scale], (double)nw->tolerance, nw->max_it));
  if (!strcmp(nw->measure->name, NETWORKKATZ)) PetscCall(PetscViewerASCIIPrintf(viewer, "alpha=%g (0: from the largest eigenvalue), damping=%g\n", (double)nw->alpha, (double)nw->damping));
  if (nw->setup) PetscCall(PetscViewerASCIIPrintf(viewer, "graph: %" PetscInt_FMT " nodes%s\n", nw->N, nw->symmetric ? ", undirected" : ""));
  if (nw->reason) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products\n", NetworkConvergedReasons[nw->reason], nw->it, nw->matmults));
    if (nw->residual >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "residual=%g\n", (double)nw->residual));
    if (nw->bound >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "bound on the relative error=%g\n", (double)nw->bound));
    for (PetscInt k = 0; k < nw->nquantities; k++) PetscCall(PetscViewerASCIIPrintf(viewer, "%s=%g\n", nw->quantityname[k], (double)nw->quantity[k]));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
