/* The iteration of several starts: plain, relaxed and extrapolated steps.  A step is accepted only if the stress does not increase. */
#include "solvers/smacof/smacofimpl.h"
#include <petsctime.h>

/* increase of the normalised stress that is attributed to rounding and to the tolerance of a KSP */
#define SMACOF_SLACK       1e-9
#define SMACOF_SLACK_MIXED 1e-7 /* the same for mixed arithmetic */

/* Scales the configuration to its best scale.  The Guttman transform does not depend on the scale.  Relaxed steps would reverse an error of the
   scale in each step and never reduce it. */
static void SMACOFPathRescale(SMACOF s, const SMACOFPath *P, SMACOFConfiguration *c)
{
  if (!SMACOFRescales(s) || P->at.step == SMACOF_STEP_LAST) return;
  c->xfactor = SMACOFComputeScale(c->sigma, c->rho);
  if (c->xfactor != 1) c->sigma = PetscMax(0, 1 - c->rho * c->xfactor);
}

/* Sets the linear combination that the next step proposes. */
static PetscErrorCode SMACOFPathProposeStep(SMACOFPath *P)
{
  SMACOFCombination *form = &P->form;

  PetscFunctionBegin;
  P->next.xfactor = 1;
  switch (P->at.step) {
  case SMACOF_STEP_ANDERSON:
    PetscCall(SMACOFHistoryExtrapolate_Private(&P->history, form));
    break;
  case SMACOF_STEP_RELAXED:
    *form = (SMACOFCombination){2, {-P->now.xfactor, 2 * P->now.gfactor}, {P->now.x, P->now.g}};
    break;
  case SMACOF_STEP_PLAIN:
  case SMACOF_STEP_LAST:
    *form = (SMACOFCombination){1, {P->now.gfactor}, {P->now.g}};
    break;
  default: /* SMACOF_STEP_START: next.x holds the start */
    form->n = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the next step after an accepted one, or stops the path. */
static PetscErrorCode SMACOFPathSelectStep(SMACOF s, SMACOFPath *P)
{
  SMACOFProgress *at   = &P->at;
  const PetscReal fall = at->last - P->now.sigma;

  PetscFunctionBegin;
  if (at->step == SMACOF_STEP_LAST) {
    at->step = SMACOF_STEP_NONE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  at->converged = (PetscBool)(fall < s->eps && !at->extrapolated); /* a small decrease by an extrapolation does not show convergence */
  if (at->converged || at->it >= s->max_it) {
    at->step = s->acceleration == SMACOF_ACCELERATION_NONE ? SMACOF_STEP_NONE : SMACOF_STEP_LAST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  at->step = s->acceleration == SMACOF_ACCELERATION_NONE ? SMACOF_STEP_PLAIN : SMACOF_STEP_RELAXED;
  if (s->acceleration == SMACOF_ACCELERATION_ANDERSON) {
    PetscCall(SMACOFHistoryAdd_Private(&P->history));
    if (P->history.have && fall < at->below && !(at->extrapolated && fall < s->eps)) at->step = SMACOF_STEP_ANDERSON;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Accepts the step if the stress does not increase.  Otherwise the next kind of step in the order of Step is tried. */
static PetscErrorCode SMACOFPathAcceptOrReject(SMACOF s, SMACOFPath *P)
{
  SMACOFProgress     *at    = &P->at;
  const PetscReal     slack = at->step == SMACOF_STEP_ANDERSON ? 0 : s->device.work.mixed ? SMACOF_SLACK_MIXED : SMACOF_SLACK;
  SMACOFConfiguration swap  = P->now;

  PetscFunctionBegin;
  SMACOFPathRescale(s, P, &P->next);
  if (at->step != SMACOF_STEP_START) {
    at->it++;
    if (P->next.sigma > P->now.sigma + slack) {
      PetscCheck(at->step != SMACOF_STEP_PLAIN, s->D.comm, PETSC_ERR_PLIB, "A plain step raised the normalised stress from %.17g to %.17g", (double)P->now.sigma, (double)P->next.sigma);
      at->rejected++;
      if (at->step == SMACOF_STEP_ANDERSON) { /* the linear model fails: extrapolate again only after a smaller decrease */
        PetscCall(SMACOFHistoryClear_Private(&P->history));
        at->below = at->last - P->now.sigma;
      }
      at->step = (SMACOFStep)(at->step + 1);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    at->last         = P->now.sigma;
    at->extrapolated = (PetscBool)(at->step == SMACOF_STEP_ANDERSON);
  }
  P->now  = P->next;
  P->next = swap;
  PetscCall(SMACOFMonitor_Private(s, P, SMACOF_CONVERGED_ITERATING));
  PetscCall(SMACOFPathSelectStep(s, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes start k and stores it in a vector.  Fixed points have their coordinates there. */
static PetscErrorCode SMACOFComputeStart(SMACOF s, PetscInt k, Vec start)
{
  const PetscInt     N     = s->D.N;
  const SMACOFStart  given = s->start == SMACOF_START_AUTO && s->given ? SMACOF_START_GIVEN : s->start;
  const PetscScalar *from;
  PetscScalar       *x;

  PetscFunctionBegin;
  PetscCheck(k || given != SMACOF_START_TORGERSON || s->D.complete, s->D.comm, PETSC_ERR_USER_INPUT, "-smacof_start torgerson needs all pairs with weight 1, but some pairs are missing or have weights; use -smacof_start random");
  PetscCall(VecGetArrayWrite(start, &x));
  if (!k && given == SMACOF_START_GIVEN) {
    PetscCall(VecGetArrayRead(s->given, &from));
    PetscCall(PetscArraycpy(x, from, (size_t)N * s->dim));
    PetscCall(VecRestoreArrayRead(s->given, &from));
  } else if (!k && given != SMACOF_START_RANDOM && s->D.complete) PetscCall(SMACOFTorgersonStart_Private(s, x));
  else PetscCall(SMACOFRandomStart_Private(s->seed + k, N, s->dim, x));
  for (PetscInt f = 0; f < s->fixed.n; f++)
    for (PetscInt c = 0; c < s->dim; c++) x[(size_t)c * N + s->fixed.point[f]] = s->fixed.x[f * s->dim + c];
  PetscCall(VecRestoreArrayWrite(start, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the state before the first pass of the n starts from `first` on. */
static PetscErrorCode SMACOFComputeStarts(SMACOF s, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    SMACOFPath *P = &s->path[k];

    PetscCall(SMACOFComputeStart(s, first + k, P->next.x));
    P->at          = (SMACOFProgress){.start = first + k, .step = SMACOF_STEP_START, .last = PETSC_MAX_REAL, .below = s->anderson_below};
    P->history.any = PETSC_FALSE;
    PetscCall(SMACOFHistoryClear_Private(&P->history));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the result of a path that has stopped, if it is the best so far. */
static PetscErrorCode SMACOFPathKeepBest(SMACOF s, SMACOFPath *P)
{
  const SMACOFConfiguration swap = s->best;

  PetscFunctionBegin;
  PetscCall(SMACOFMonitor_Private(s, P, P->at.converged ? SMACOF_CONVERGED_STRESS : SMACOF_DIVERGED_ITS));
  if (s->outcome.start >= 0 && P->now.sigma >= s->best.sigma) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(P->now.x, P->now.xfactor));
  P->now.xfactor = 1;
  s->outcome     = P->at;
  s->best        = P->now;
  P->now         = swap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates until the first n paths have stopped.  They take their steps together, so that they share one pass over the pairs, but do not depend on each other. */
static PetscErrorCode SMACOFIterate(SMACOF s, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt passes = 1;; passes++) {
    PetscInt active = 0;

    for (PetscInt k = 0; k < n; k++) {
      if (s->path[k].at.step == SMACOF_STEP_NONE) continue;
      PetscCall(SMACOFPathProposeStep(&s->path[k]));
      s->active[active++] = &s->path[k];
    }
    if (!active) break;
    PetscCall(SMACOFEvaluate_Private(s, active));
    for (PetscInt k = 0; k < active; k++) PetscCall(SMACOFPathAcceptOrReject(s, s->active[k]));
    if (s->checkpoint[0] && passes % s->checkpoint_every == 0) PetscCall(SMACOFCheckpointWrite_Private(s, n));
  }
  for (PetscInt k = 0; k < n; k++) PetscCall(SMACOFPathKeepBest(s, &s->path[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the bytes copied between host and device so far. */
static double SMACOFGetCopiedBytes(SMACOF s)
{
  return s->device.dev ? GpDevBytesIn(s->device.dev) + GpDevBytesOut(s->device.dev) : 0;
}

/*@
  SMACOFSolve - Finds the configuration: iterates from every start, and keeps the result with the least stress

  Collective

  Input Parameter:
. s - the solver

  Options Database Key:
. -smacof_view [viewer] - view the solver after the solve

  Level: beginner

  Notes:
  Every solve begins anew, from the starts or from the checkpoint of `SMACOFSetRestart()`.

  The relaxed step 2 G(X) - X, with G the Guttman transform, does not increase the stress, since the majorising function has the same value there as at X. Near the
  solution it needs half the steps. An extrapolation is accepted only if it does not increase the stress. Accelerated iterations stop with a plain step.

  References:
  J. de Leeuw, W. Heiser, "Multidimensional scaling with restrictions on the configuration", 1980 (relaxed steps).

.seealso: `SMACOFCreate()`, `SMACOFSetDissimilarities()`, `SMACOFGetConfiguration()`, `SMACOFGetStress()`, `SMACOFGetConvergedReason()`
@*/
PetscErrorCode SMACOFSolve(SMACOF s)
{
  PetscLogDouble t0, t1, t2;
  PetscInt       n = 0, length;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFSetUp(s));
  if (s->given) PetscCall(VecGetLocalSize(s->given, &length));
  PetscCheck(s->given || s->start != SMACOF_START_GIVEN, s->D.comm, PETSC_ERR_ORDER, "-smacof_start given needs a configuration: call SMACOFSetStartConfiguration()");
  PetscCheck(!s->given || s->start == SMACOF_START_TORGERSON || s->start == SMACOF_START_RANDOM || length == s->D.N * s->dim, s->D.comm, PETSC_ERR_ARG_SIZ,
             "The first configuration has %" PetscInt_FMT " coordinates on this process; %" PetscInt_FMT " points in dimension %" PetscInt_FMT " need %" PetscInt_FMT, length, s->D.N, s->dim, s->D.N * s->dim);
  PetscCall(PetscLogEventBegin(SMACOF_SolveEvent, s, 0, 0, 0));
  s->outcome       = (SMACOFProgress){.start = -1};
  s->reason        = SMACOF_CONVERGED_ITERATING;
  s->transform.its = 0;
  s->seconds_start = s->seconds_solve = s->bytes_copied = 0;
  if (s->restart[0]) PetscCall(SMACOFCheckpointRead_Private(s, &n));
  for (PetscInt first = n ? s->path[0].at.start : 0; first < s->starts; first += n) {
    PetscCall(PetscTime(&t0));
    if (!n || first != s->path[0].at.start) { /* these starts are not those of the checkpoint */
      n = PetscMin(s->npaths, s->starts - first);
      PetscCall(PetscLogEventBegin(SMACOF_StartEvent, s, 0, 0, 0));
      PetscCall(SMACOFComputeStarts(s, first, n));
      PetscCall(PetscLogEventEnd(SMACOF_StartEvent, s, 0, 0, 0));
    }
    PetscCall(PetscTime(&t1));
    s->bytes_copied -= SMACOFGetCopiedBytes(s);
    PetscCall(SMACOFIterate(s, n));
    s->bytes_copied += SMACOFGetCopiedBytes(s);
    PetscCall(PetscTime(&t2));
    s->seconds_start += t1 - t0;
    s->seconds_solve += t2 - t1;
  }
  s->reason = s->outcome.converged ? SMACOF_CONVERGED_STRESS : SMACOF_DIVERGED_ITS;
  PetscCall(PetscLogEventEnd(SMACOF_SolveEvent, s, 0, 0, 0));
  PetscCall(SMACOFViewFromOptions(s, NULL, "-smacof_view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
