/* The PageRank object: viewer and monitors. */
#include "pagerankimpl.h"
#include <petscviewer.h>

const char *const PageRankDanglingTypes[] = {"teleport", "uniform", "vector", "self", "drop", "PageRankDanglingType", "PAGERANK_DANGLING_", NULL};

static const char *const PageRankConvergedReasons_Shifted[] = {"DIVERGED_STAGNATION", "DIVERGED_ITS", "", "", "CONVERGED_ITERATING", "", "CONVERGED_ERROR_BOUND"};

const char *const *const PageRankConvergedReasons = PageRankConvergedReasons_Shifted + 4;

/*@C
  PageRankMonitorSet - Adds a monitor, which is called after every iteration

  Logically Collective

  Input Parameters:
+ pr      - the solver
. monitor - called with the solver, the number of the iteration, the 1-norm of the residual, that of the change of the ranks, and ctx. A norm that the
            iteration does not compute is -1
. ctx     - context of the monitor, or `NULL`
- destroy - frees the context, or `NULL`

  Options Database Key:
. -pagerank_monitor - print one line per iteration

  Level: intermediate

  Note:
  With a monitor the host controls the iteration, see `PageRankSetDeviceLoop()`. A solver has at most 5 monitors.

.seealso: `PageRankMonitorDefault()`, `PageRankMonitorCancel()`, `PageRankSolve()`
@*/
PetscErrorCode PageRankMonitorSet(PageRank pr, PageRankMonitorFn monitor, void *ctx, PetscErrorCode (*destroy)(void **))
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(monitor, 2);
  PetscCheck(pr->nmonitors < PAGERANK_MAX_MONITORS, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "The solver has %d monitors, which is the maximum; PageRankMonitorCancel() removes them", PAGERANK_MAX_MONITORS);
  pr->monitor[pr->nmonitors]          = monitor;
  pr->monitorctx[pr->nmonitors]       = ctx;
  pr->monitordestroy[pr->nmonitors++] = destroy;
  pr->setup                           = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankMonitorCancel - Removes all monitors

  Logically Collective

  Input Parameter:
. pr - the solver

  Level: intermediate

.seealso: `PageRankMonitorSet()`
@*/
PetscErrorCode PageRankMonitorCancel(PageRank pr)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  for (; pr->nmonitors; pr->nmonitors--)
    if (pr->monitordestroy[pr->nmonitors - 1]) PetscCall((*pr->monitordestroy[pr->nmonitors - 1])(&pr->monitorctx[pr->nmonitors - 1]));
  pr->print = pr->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankMonitor_Private(PageRank pr, PetscReal residual, PetscReal change)
{
  PetscFunctionBegin;
  if (pr->initial == 0) pr->initial = residual < 0 ? change : residual;
  for (PetscInt k = 0; k < pr->nmonitors; k++) PetscCall((*pr->monitor[k])(pr, pr->it, residual, change, pr->monitorctx[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankMonitorDefault - Prints the number of the iteration, the residual, the bound on the error and the progress

  Collective

  Input Parameters:
+ pr       - the solver
. it       - number of the iteration
. residual - 1-norm of the residual, or -1
. change   - 1-norm of the change of the ranks, or -1
- ctx      - not used

  Level: intermediate

  Note:
  The progress goes from the first bound to the tolerance on a logarithmic scale, because convergence is linear.

.seealso: `PageRankMonitorSet()`
@*/
PetscErrorCode PageRankMonitorDefault(PageRank pr, PetscInt it, PetscReal residual, PetscReal change, void *ctx)
{
  const MPI_Comm  comm  = PetscObjectComm((PetscObject)pr);
  const PetscReal bound = residual / (1 - pr->damping), initial = pr->initial / (1 - pr->damping);
  PetscReal       progress = 0;

  PetscFunctionBegin;
  if (bound <= pr->tolerance) progress = 100;
  else if (bound < initial) progress = 100 * PetscLogReal(initial / bound) / PetscLogReal(initial / pr->tolerance);
  if (residual < 0) PetscCall(PetscPrintf(comm, "%4" PetscInt_FMT " change %.6e\n", it, (double)change));
  else PetscCall(PetscPrintf(comm, "%4" PetscInt_FMT " residual %.6e error bound %.6e %5.1f %%\n", it, (double)residual, (double)bound, (double)progress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankView - Prints the settings of the solver and, after a solve, its result

  Collective

  Input Parameters:
+ pr     - the solver
- viewer - an ASCII viewer, or `NULL` for the standard output stream

  Options Database Key:
. -pagerank_view [viewer] - view after the solve

  Level: beginner

.seealso: `PageRankSolve()`
@*/
PetscErrorCode PageRankView(PageRank pr, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)pr), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)pr, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "damping=%g, dangling=%s, personalisations=%" PetscInt_FMT "\n", (double)pr->damping, PageRankDanglingTypes[pr->dangling], pr->npersonal));
  PetscCall(PetscViewerASCIIPrintf(viewer, "tolerance=%g, maximum iterations=%" PetscInt_FMT "\n", (double)pr->tolerance, pr->max_it));
  if (pr->nblocks) PetscCall(PetscViewerASCIIPrintf(viewer, "graph: %" PetscInt_FMT " nodes, %" PetscInt_FMT " dangling, row blocks of a process=%" PetscInt_FMT "\n", pr->N, pr->ndangling, pr->nblocks));
  if (pr->reason) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products\n", PageRankConvergedReasons[pr->reason], pr->it, pr->matmults));
    PetscCall(PetscViewerASCIIPrintf(viewer, "residual=%g, bound on the error=%g (1-norms)\n", (double)pr->residual, (double)(pr->residual / (1 - pr->solvedamping))));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
