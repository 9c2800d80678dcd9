/* Viewers and monitors of the solver. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petscdraw.h>
#include <petscviewer.h>

static const char *const KMeansConvergedReasons_Shifted[] = {"DIVERGED_MAX_IT", "CONVERGED_ITERATING", "CONVERGED_LABELS", "CONVERGED_INERTIA", "CONVERGED_SHIFT"};

const char *const *const KMeansConvergedReasons = KMeansConvergedReasons_Shifted + 1;

static PetscErrorCode KMeansMonitorPrint(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscViewer viewer = (PetscViewer)ctx;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIAddTab(viewer, ((PetscObject)km)->tablevel));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%4" PetscInt_FMT " KMeans inertia %.12g changed labels %" PetscInt64_FMT "\n", it, (double)inertia, changed));
  PetscCall(PetscViewerASCIISubtractTab(viewer, ((PetscObject)km)->tablevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plots the inertia over the iterations. Every restart begins a new plot. */
static PetscErrorCode KMeansMonitorPlot(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscReal     x = (PetscReal)it;
  PetscDrawLG   lg;
  PetscDrawAxis axis;

  PetscFunctionBegin;
  PetscCall(PetscViewerDrawGetDrawLG((PetscViewer)ctx, 0, &lg));
  if (it == 1) {
    PetscCall(PetscDrawLGReset(lg));
    PetscCall(PetscDrawLGSetDimension(lg, 1));
    PetscCall(PetscDrawLGGetAxis(lg, &axis));
    PetscCall(PetscDrawAxisSetLabels(axis, "k-means", "iteration", "inertia"));
  }
  PetscCall(PetscDrawLGAddPoint(lg, &x, &inertia));
  PetscCall(PetscDrawLGDraw(lg));
  PetscCall(PetscDrawLGSave(lg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansMonitorPrintDestroy(void **ctx)
{
  PetscViewer viewer = (PetscViewer)*ctx;

  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&viewer));
  *ctx = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). Options that are read twice add one monitor. */
PetscErrorCode KMeansMonitorSetFromOptions_Private(KMeans km, GpOptionItems PetscOptionsObject)
{
  PetscViewer viewer;
  PetscBool   set, ascii, draw;

  PetscFunctionBegin;
  PetscCall(PetscOptionsViewer("-kmeans_monitor", "print one line per iteration, or plot the inertia (draw)", "KMeansMonitorSet", &viewer, NULL, &set));
  for (PetscInt i = 0; i < km->nmonitors && set; i++) {
    if (km->monitor[i] != KMeansMonitorPrint && km->monitor[i] != KMeansMonitorPlot) continue;
    PetscCall(PetscViewerDestroy(&viewer));
    set = PETSC_FALSE;
  }
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERDRAW, &draw));
  PetscCheck(ascii || draw, PetscObjectComm((PetscObject)km), PETSC_ERR_SUP, "-kmeans_monitor needs a viewer for text (ascii) or pictures (draw)");
  PetscCall(KMeansMonitorSet(km, ascii ? KMeansMonitorPrint : KMeansMonitorPlot, viewer, KMeansMonitorPrintDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansMonitorSet - Adds a monitor, which is called after every assignment

  Logically Collective

  Input Parameters:
+ km      - the solver
. monitor - called with the solver, the iteration, the inertia, the number of labels that changed, and ctx
. ctx     - context of the monitor, or `NULL`
- destroy - frees the context, or `NULL`

  Options Database Key:
. -kmeans_monitor [viewer] - print one line per iteration, or plot the inertia (`draw`)

  Level: intermediate

.seealso: `KMeansMonitorCancel()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansMonitorSet(KMeans km, KMeansMonitorFn monitor, void *ctx, PetscErrorCode (*destroy)(void **))
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(monitor, 2);
  PetscCheck(km->nmonitors < KMEANS_MAX_MONITORS, PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_OUTOFRANGE, "The solver has %d monitors, which is the maximum; KMeansMonitorCancel() removes them", KMEANS_MAX_MONITORS);
  km->monitor[km->nmonitors]          = monitor;
  km->monitorctx[km->nmonitors]       = ctx;
  km->monitordestroy[km->nmonitors++] = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansMonitorCancel - Removes all monitors

  Logically Collective

  Input Parameter:
. km - the solver

  Level: intermediate

.seealso: `KMeansMonitorSet()`
@*/
PetscErrorCode KMeansMonitorCancel(KMeans km)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  for (PetscInt i = 0; i < km->nmonitors; i++)
    if (km->monitordestroy[i]) PetscCall((*km->monitordestroy[i])(&km->monitorctx[i]));
  km->nmonitors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls the monitors. */
PetscErrorCode KMeansMonitor_Private(KMeans km, PetscInt64 changed)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < km->nmonitors; i++) PetscCall((*km->monitor[i])(km, km->it, km->inertia, changed, km->monitorctx[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansView - Views the solver: settings, variants in use, result

  Collective

  Input Parameters:
+ km     - the solver
- viewer - an ASCII viewer; `NULL`: standard output

  Options Database Key:
. -kmeans_view [viewer] - view the solver after the solve

  Level: beginner

.seealso: `KMeansSolve()`
@*/
PetscErrorCode KMeansView(KMeans km, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)km), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)km, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "clusters=%" PetscInt_FMT ", metric=%s, start=%s, seed=%" PetscInt64_FMT ", restarts=%" PetscInt_FMT ", empty=%s\n", km->k, KMeansMetrics[km->metric], KMeansStarts[km->start], km->seed, km->restarts,
                                   KMeansEmpties[km->empty]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "tolerances: inertia %g, change of centroids %g, maximum iterations %" PetscInt_FMT "\n", (double)km->rtol, (double)km->stol, km->max_it));
  if (km->batch) PetscCall(PetscViewerASCIIPrintf(viewer, "batches of %" PetscInt_FMT " points\n", km->batch));
  if (km->setup) {
    const KMeansData *A = &km->points.data;

    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " %s points with %d features, %s precision, on %s\n", km->points.N, A->row ? "sparse" : "dense", (int)A->d, A->single ? "single" : "double", GpDevName(A->dev)));
    PetscCall(KMeansStreamView_Private(km, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "assignment %s: %s\n", KMeansAssignTable[km->now[0]].name, KMeansAssignTable[km->now[0]].help));
    if (km->change.before != KMEANS_AUTO) {
      const char *const before = KMeansAssignTable[km->change.before].name;

      PetscCall(PetscViewerASCIIPrintf(viewer, "  from iteration %" PetscInt_FMT " of restart %" PetscInt_FMT " on, because %s evaluated %" PetscInt64_FMT " distances again in %" PetscInt_FMT " iterations\n", km->change.it, km->change.restart,
                                       before, km->change.rechecked, km->change.passes));
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s was chosen because %s\n", before, km->why));
    } else if (km->assign == KMEANS_AUTO) PetscCall(PetscViewerASCIIPrintf(viewer, "  chosen because %s\n", km->why));
    PetscCall(PetscViewerASCIIPrintf(viewer, "update %s: %s\n", KMeansUpdateTable[km->now[1]].name, KMeansUpdateTable[km->now[1]].help));
    if (KMeansUpdateTable[km->now[1]].properties & KMEANS_FLOAT) PetscCall(PetscViewerASCIIPrintf(viewer, "  the centroids have rounding errors of single precision, and depend on the device and on the ranks\n"));
    if (km->points.ranks > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "sums over %d ranks by %s: %s\n", (int)km->points.ranks, KMeansReduces[km->reducing], km->reducewhy));
  }
  if (km->solved) PetscCall(PetscViewerASCIIPrintf(viewer, "%s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " clusters, inertia %.12g\n", KMeansConvergedReasons[km->reason], km->it, km->kept, (double)km->inertia));
  if (km->solved && km->done > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "best of %" PetscInt_FMT " restarts: number %" PetscInt_FMT ", counted from 0\n", km->done, km->outcome.restart));
  if (km->solved && km->ahead.most > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "restarts in batches of up to %" PetscInt_FMT ", which the GPU iterates together\n", km->ahead.most));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansViewFromOptions - Views the solver if an option asks for it

  Collective

  Input Parameters:
+ km   - the solver
. obj  - object whose prefix the option has; `NULL`: that of the solver
- name - the option

  Level: intermediate

.seealso: `KMeansView()`
@*/
PetscErrorCode KMeansViewFromOptions(KMeans km, PetscObject obj, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(PetscObjectViewFromOptions((PetscObject)km, obj, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
