/* The iteration of several starts: plain, relaxed and extrapolated steps.  A step is accepted only if the stress does not increase. */
#include "solvers/smacof/smacofimpl.h"

const char *const        Accelerations[] = {"none", "relaxed", "anderson", "Acceleration", "", NULL};
const char *const        Starts[]        = {"auto", "torgerson", "random", "given", "Start", "", NULL};
static const char *const Steps[]         = {"start", "anderson", "relaxed", "plain", "plain, the last"};

/* increase of the normalised stress that is attributed to rounding and to the tolerance of a KSP */
#define SLACK       1e-9
#define SLACK_MIXED 1e-7 /* the same for mixed arithmetic */

const char *ProgressReason(const Progress *at)
{
  return at->converged ? "CONVERGED_STRESS" : "DIVERGED_ITS";
}

/* Scales the configuration to its best scale.  The Guttman transform does not depend on the scale.  Relaxed steps would reverse an error of the
   scale in each step and never reduce it. */
static void SolveRescale(const Scaler *S, const Path *P, Configuration *c)
{
  if (!ScalerRescales(S) || P->at.step == STEP_LAST) return;
  c->xfactor = LookScale(c->sigma, c->rho);
  if (c->xfactor != 1) c->sigma = PetscMax(0, 1 - c->rho * c->xfactor);
}

/* Sets the linear combination that the next step proposes. */
static PetscErrorCode SolveProposeStep(Path *P)
{
  Combination *form = &P->form;

  PetscFunctionBegin;
  P->next.xfactor = 1;
  switch (P->at.step) {
  case STEP_ANDERSON:
    PetscCall(HistoryExtrapolate(&P->history, form));
    break;
  case STEP_RELAXED:
    *form = (Combination){2, {-P->now.xfactor, 2 * P->now.gfactor}, {P->now.x, P->now.g}};
    break;
  case STEP_PLAIN:
  case STEP_LAST:
    *form = (Combination){1, {P->now.gfactor}, {P->now.g}};
    break;
  default: /* STEP_START: next.x holds the start */
    form->n = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the next step after an accepted one, or stops the path. */
static PetscErrorCode SolveSelectStep(const Scaler *S, Path *P)
{
  Progress       *at   = &P->at;
  const PetscReal fall = at->last - P->now.sigma;

  PetscFunctionBegin;
  if (at->step == STEP_LAST) {
    at->step = STEP_NONE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  at->converged = (PetscBool)(fall < S->o.eps && !at->extrapolated); /* a small decrease by an extrapolation does not show convergence */
  if (at->converged || at->it >= S->o.max_it) {
    at->step = S->o.acceleration == ACCELERATION_NONE ? STEP_NONE : STEP_LAST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  at->step = S->o.acceleration == ACCELERATION_NONE ? STEP_PLAIN : STEP_RELAXED;
  if (S->o.acceleration == ACCELERATION_ANDERSON) {
    PetscCall(HistoryAdd(&P->history));
    if (P->history.have && fall < at->below && !(at->extrapolated && fall < S->o.eps)) at->step = STEP_ANDERSON;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveMonitor(const Scaler *S, const Path *P)
{
  const Progress *at = &P->at;

  PetscFunctionBegin;
  if (!S->o.monitor) PetscFunctionReturn(PETSC_SUCCESS);
  if (S->o.starts > 1) PetscCall(PetscPrintf(S->D->comm, "start %" PetscInt_FMT ": ", at->start));
  PetscCall(PetscPrintf(S->D->comm, "%5" PetscInt_FMT " stress-1 %.10f", at->it, (double)PetscSqrtReal(P->now.sigma)));
  if (at->step != STEP_START) PetscCall(PetscPrintf(S->D->comm, " normalised stress falls by %.3e", (double)(at->last - P->now.sigma)));
  PetscCall(PetscPrintf(S->D->comm, ", %s\n", Steps[at->step]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Accepts the step if the stress does not increase.  Otherwise the next kind of step in the order of Step is tried. */
static PetscErrorCode SolveAcceptOrReject(const Scaler *S, Path *P)
{
  Progress       *at    = &P->at;
  const PetscReal slack = at->step == STEP_ANDERSON ? 0 : S->device.work.mixed ? SLACK_MIXED : SLACK;
  Configuration   swap  = P->now;

  PetscFunctionBegin;
  SolveRescale(S, P, &P->next);
  if (at->step != STEP_START) {
    at->it++;
    if (P->next.sigma > P->now.sigma + slack) {
      PetscCheck(at->step != STEP_PLAIN, S->D->comm, PETSC_ERR_PLIB, "A plain step raised the normalised stress from %.17g to %.17g", (double)P->now.sigma, (double)P->next.sigma);
      at->rejected++;
      if (at->step == STEP_ANDERSON) { /* the linear model fails: extrapolate again only after a smaller decrease */
        PetscCall(HistoryForget(&P->history));
        at->below = at->last - P->now.sigma;
      }
      at->step = (Step)(at->step + 1);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    at->last         = P->now.sigma;
    at->extrapolated = (PetscBool)(at->step == STEP_ANDERSON);
  }
  P->now  = P->next;
  P->next = swap;
  PetscCall(SolveMonitor(S, P));
  PetscCall(SolveSelectStep(S, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerBegin - Sets the state before the first pass of some starts

  Logically Collective

  Input Parameters:
+ S     - the scaler; next.x of its first n paths hold the starts
. first - number of the first start
- n     - number of starts
*/
PetscErrorCode ScalerBegin(Scaler *S, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    Path *P = &S->path[k];

    P->at          = (Progress){.start = first + k, .step = STEP_START, .last = PETSC_MAX_REAL, .below = S->o.anderson_below};
    P->history.any = PETSC_FALSE;
    PetscCall(HistoryForget(&P->history));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the result of a path that has stopped, if it is the best so far. */
static PetscErrorCode SolveKeepBest(Scaler *S, Path *P)
{
  Configuration swap = S->best;

  PetscFunctionBegin;
  if (S->o.starts > 1) PetscCall(PetscPrintf(S->D->comm, "start %" PetscInt_FMT ": stress-1 %.10f, %s after %" PetscInt_FMT " iterations\n", P->at.start, (double)PetscSqrtReal(P->now.sigma), ProgressReason(&P->at), P->at.it));
  if (S->outcome.start >= 0 && P->now.sigma >= S->best.sigma) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(P->now.x, P->now.xfactor));
  P->now.xfactor = 1;
  S->outcome     = P->at;
  S->best        = P->now;
  P->now         = swap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerSolve - Iterates until all starts have converged or reached the maximum number of iterations

  Collective

  Input Parameters:
+ S - the scaler; ScalerBegin() or CheckpointRead() has set the state of its paths
- n - number of starts

  Output Parameter:
. S - best and outcome are those of the best start so far, including the stress of each point

  Notes:
  All paths take their steps together, so that they share one pass over the dissimilarities. They do not depend on each other.

  The relaxed step 2 G(X) - X, with G the Guttman transform, does not increase the stress, since the majorising function has the same value there as at X. Near the
  solution it needs half the steps. An extrapolation is accepted only if it does not increase the stress. Accelerated iterations stop with a plain step.

  J. de Leeuw, W. Heiser, "Multidimensional scaling with restrictions on the configuration", 1980 (relaxed steps).
*/
PetscErrorCode ScalerSolve(Scaler *S, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt passes = 1;; passes++) {
    PetscInt live = 0;

    for (PetscInt k = 0; k < n; k++) {
      if (S->path[k].at.step == STEP_NONE) continue;
      PetscCall(SolveProposeStep(&S->path[k]));
      S->live[live++] = &S->path[k];
    }
    if (!live) break;
    PetscCall(ScalerEvaluate(S, live));
    for (PetscInt k = 0; k < live; k++) PetscCall(SolveAcceptOrReject(S, S->live[k]));
    if (S->o.checkpoint_every && passes % S->o.checkpoint_every == 0) PetscCall(CheckpointWrite(S, n, S->o.checkpoint));
  }
  for (PetscInt k = 0; k < n; k++) PetscCall(SolveKeepBest(S, &S->path[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
