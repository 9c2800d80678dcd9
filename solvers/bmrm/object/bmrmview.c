/* The BMRM object: viewers and monitors. */
#include "solvers/bmrm/bmrmimpl.h"
#include <petscdraw.h>
#include <petscviewer.h>
#include <petsctime.h>

static const char *const BMRMConvergedReasons_Shifted[] = {"DIVERGED_NANORINF", "", "", "", "DIVERGED_USER", "DIVERGED_STAGNATED", "DIVERGED_MAX_IT", "", "", "CONVERGED_ITERATING", "", "CONVERGED_GAP_ATOL", "CONVERGED_GAP_RTOL", "CONVERGED_USER"};

const char *const *const BMRMConvergedReasons = BMRMConvergedReasons_Shifted + 9;

/* Context of the monitor of -bmrm_monitor: its viewer, and the time of pass 0. */
typedef struct {
  PetscViewer    viewer;
  PetscLogDouble start;
} BMRMMonitorDefault;

static PetscErrorCode BMRMMonitorDefaultDestroy(void **ctx)
{
  BMRMMonitorDefault *mon = (BMRMMonitorDefault *)*ctx;

  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&mon->viewer));
  PetscCall(PetscFree(*ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMMonitorDefaultPrint(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  BMRMMonitorDefault *mon = (BMRMMonitorDefault *)ctx;
  PetscLogDouble      now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (!it) mon->start = now;
  PetscCall(PetscViewerASCIIAddTab(mon->viewer, ((PetscObject)b)->tablevel));
  PetscCall(PetscViewerASCIIPrintf(mon->viewer, "%4" PetscInt_FMT " BMRM objective %.10f lower bound %.10f gap %.4e cuts %" PetscInt_FMT " seconds %.3f\n", it, (double)J, (double)lower, (double)(J - lower), b->bundle.n, now - mon->start));
  PetscCall(PetscViewerASCIISubtractTab(mon->viewer, ((PetscObject)b)->tablevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a line graph of the decimal logarithms of objective, bound and gap. Values below a hundredth of the tolerance are drawn at that height. */
static PetscErrorCode BMRMMonitorDefaultDraw(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  BMRMMonitorDefault *mon      = (BMRMMonitorDefault *)ctx;
  const char *const   legend[] = {"objective", "lower bound", "gap"};
  const PetscReal     floor    = PetscMax(PetscMax(b->set.eps, b->set.eps_rel * J) / 100, 1e-16);
  PetscReal           x[3], y[3];
  PetscDrawLG         lg;
  PetscDrawAxis       axis;

  PetscFunctionBegin;
  PetscCall(PetscViewerDrawGetDrawLG(mon->viewer, 0, &lg));
  if (!it) {
    PetscCall(PetscDrawLGReset(lg));
    PetscCall(PetscDrawLGSetDimension(lg, 3));
    PetscCall(PetscDrawLGSetLegend(lg, legend));
    PetscCall(PetscDrawLGGetAxis(lg, &axis));
    PetscCall(PetscDrawAxisSetLabels(axis, "BMRM", "pass", "log10"));
  }
  y[0] = J;
  y[1] = lower;
  y[2] = J - lower;
  for (int k = 0; k < 3; k++) {
    x[k] = it;
    y[k] = PetscLog10Real(PetscMax(y[k], floor));
  }
  PetscCall(PetscDrawLGAddPoint(lg, x, y));
  PetscCall(PetscDrawLGDraw(lg));
  PetscCall(PetscDrawLGSave(lg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
PetscErrorCode BMRMMonitorSetFromOptions_Private(BMRM b, GpOptionItems PetscOptionsObject)
{
  BMRMMonitorDefault *mon;
  PetscViewer         viewer;
  PetscBool           flg, ascii, draw;

  PetscFunctionBegin;
  PetscCall(PetscOptionsViewer("-bmrm_monitor", "print one line per pass, or draw them", "BMRMMonitorSet", &viewer, NULL, &flg));
  if (!flg) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < b->nmonitors; i++) { /* options that are read twice add one monitor */
    if (b->monitor[i] == BMRMMonitorDefaultPrint || b->monitor[i] == BMRMMonitorDefaultDraw) {
      PetscCall(PetscViewerDestroy(&viewer));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERDRAW, &draw));
  PetscCheck(ascii || draw, PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "-bmrm_monitor needs an ASCII or a draw viewer");
  PetscCall(PetscNew(&mon));
  mon->viewer = viewer;
  PetscCall(BMRMMonitorSet(b, draw ? BMRMMonitorDefaultDraw : BMRMMonitorDefaultPrint, mon, BMRMMonitorDefaultDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMMonitorSet - Adds a monitor, which is called before the first pass and after every pass

  Logically Collective

  Input Parameters:
+ b       - the solver
. monitor - called with the solver, the pass, the objective of the best point, the lower bound and ctx
. ctx     - context of the monitor, or `NULL`
- destroy - frees the context, or `NULL`

  Options Database Key:
. -bmrm_monitor [viewer] - print one line per pass; with the viewer draw, draw objective, lower bound and gap

  Level: intermediate

.seealso: `BMRMMonitorCancel()`, `BMRMSolve()`
@*/
PetscErrorCode BMRMMonitorSet(BMRM b, BMRMMonitorFn monitor, void *ctx, PetscErrorCode (*destroy)(void **))
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCheck(b->nmonitors < BMRM_MAX_MONITORS, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The solver has %d monitors, which is the maximum; BMRMMonitorCancel() removes them", BMRM_MAX_MONITORS);
  b->monitor[b->nmonitors]          = monitor;
  b->monitorctx[b->nmonitors]       = ctx;
  b->monitordestroy[b->nmonitors++] = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMMonitorCancel - Removes all monitors

  Logically Collective

  Input Parameter:
. b - the solver

  Level: intermediate

.seealso: `BMRMMonitorSet()`
@*/
PetscErrorCode BMRMMonitorCancel(BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  while (b->nmonitors) {
    const PetscInt i = --b->nmonitors;

    if (b->monitordestroy[i]) PetscCall((*b->monitordestroy[i])(&b->monitorctx[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMMonitor_Private(BMRM b)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < b->nmonitors; i++) PetscCall((*b->monitor[i])(b, b->it, b->J, b->lower, b->monitorctx[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMView - Prints the settings of the solver and, after a solve, its result

  Collective

  Input Parameters:
+ b      - the solver
- viewer - an ASCII viewer

  Options Database Key:
. -bmrm_view [viewer] - view after the solve

  Level: beginner

.seealso: `BMRMViewFromOptions()`, `BMRMSolve()`
@*/
PetscErrorCode BMRMView(BMRM b, PetscViewer viewer)
{
  PetscBool ascii;
  PetscInt  n;
  MatType   type;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)b), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)b, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "loss=%s, regulariser=%s, lambda=%g\n", b->losstype, b->regtype, (double)b->set.lambda));
  PetscCall(PetscViewerASCIIPrintf(viewer, "tolerances: absolute=%g, relative=%g; maximum passes=%" PetscInt_FMT "\n", (double)b->set.eps, (double)b->set.eps_rel, b->set.max_it));
  if (b->set.line_search) PetscCall(PetscViewerASCIIPrintf(viewer, "line search, mu=%g%s\n", (double)b->set.mu, b->set.mu_adapt ? " at first, adapted" : ""));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "no line search\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "cuts a pass=%" PetscInt_FMT "%s\n", b->set.ncut, b->pair ? ", and one at the best point" : ""));
  if (b->set.idle_age) PetscCall(PetscViewerASCIIPrintf(viewer, "cuts idle for %" PetscInt_FMT " solutions are dropped; QP tolerance=%g of the gap\n", b->set.idle_age, (double)b->set.qp_rtol));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "all cuts are kept; QP tolerance=%g of the gap\n", (double)b->set.qp_rtol));
  if (b->X) {
    PetscCall(MatGetSize(b->X, NULL, &n));
    PetscCall(MatGetType(b->X, &type));
    PetscCall(PetscViewerASCIIPrintf(viewer, "data: %" PetscInt_FMT " examples, %" PetscInt_FMT " features, Mat type %s\n", b->m, n, type));
  }
  if (b->reason) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s after %" PetscInt_FMT " passes, %" PetscInt_FMT " products\n", BMRMConvergedReasons[b->reason], b->it, b->matmults));
    PetscCall(PetscViewerASCIIPrintf(viewer, "objective=%.10g, lower bound=%.10g, gap=%.4g\n", (double)b->J, (double)b->lower, (double)(b->J - b->lower)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "cuts=%" PetscInt_FMT ", at most %" PetscInt_FMT "\n", b->bundle.n, b->bundle.peak));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMViewFromOptions - Views the solver if an option asks for it

  Collective

  Input Parameters:
+ b    - the solver
. obj  - object whose options prefix is used, or `NULL` for the solver
- name - the option

  Level: intermediate

.seealso: `BMRMView()`
@*/
PetscErrorCode BMRMViewFromOptions(BMRM b, PetscObject obj, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(PetscObjectViewFromOptions((PetscObject)b, obj, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMConvergedReasonViewFromOptions_Private(BMRM b)
{
  PetscViewer viewer;
  PetscBool   flg;

  PetscFunctionBegin;
  PetscCall(GpCompatOptionsViewer(PetscObjectComm((PetscObject)b), ((PetscObject)b)->options, ((PetscObject)b)->prefix, "-bmrm_converged_reason", &viewer, NULL, &flg));
  if (!flg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "BMRM %s due to %s passes %" PetscInt_FMT "\n", b->reason > 0 ? "converged" : "did not converge", BMRMConvergedReasons[b->reason], b->it));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
