/* The iteration: plain, relaxed, extrapolated steps, each checked for descent. */
#include "smacof.h"

const char *const Accelerations[] = {"none", "relaxed", "anderson", "Acceleration", "", NULL};
const char *const Starts[]        = {"auto", "torgerson", "random", "given", "Start", "", NULL};

/* rounding, and what a KSP leaves of the right-hand side, may let the normalised stress rise by so much */
#define SLACK       1e-9
#define SLACK_MIXED 1e-7 /* that of pairs worked on in float, be they ever so few */

/* after an extrapolation that failed the next one waits until a step lowers the stress by this part only */
#define BACK_OFF 0.3

PetscErrorCode ConfigurationCreate(PetscInt N, PetscInt dim, Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc3((size_t)N * dim, &c->x, (size_t)N * dim, &c->g, N, &c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfigurationDestroy(Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(c->x, c->g, c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the pass over the dissimilarities of D, into S->mine and S->mystress */
static void PreparePass(const Dissim *D, Scaler *S)
{
  const size_t N = (size_t)D->N;

  S->pass          = (Pass){.N = (int)N, .rows = (int)(D->last - D->first), .dim = (int)S->o.dim, .square = 1, .first = (int)D->first, .single = D->single, .ldrow = N, .delta = D->delta, .ld = N};
  S->pass.feature  = D->features.value;
  S->pass.frow     = D->features.value ? D->features.value + D->first : NULL;
  S->pass.nfeature = (int)D->features.n;
  S->pass.metric   = (int)D->metric;
  S->pass.start    = D->start;
  S->pass.column   = D->column;
  S->pass.weight   = D->weight;
  S->pass.bx       = S->mine;
  S->pass.stress   = S->mystress;
}

/*
  ScalerCreate - Prepares the scaling of dissimilarities

  Collective

  Input Parameters:
+ D      - the dissimilarities, which must stay
. o      - how to scale
. fixed  - points that stay where they are, or NULL
- prefix - of the options of the KSP

  Output Parameter:
. S - the scaler
*/
PetscErrorCode ScalerCreate(const Dissim *D, const ScaleOptions *o, const Fixed *fixed, const char prefix[], Scaler *S)
{
  const PetscInt m = D->last - D->first;
  PetscClassId   id;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(S, sizeof(*S)));
  S->D     = D;
  S->o     = *o;
  S->fixed = fixed;
  S->unit  = D->sumsquares > 0 ? D->sumsquares : 1;
  PetscCall(PetscClassIdRegister("SMACOF", &id));
  PetscCall(PetscLogEventRegister("SMACOFPass", id, &S->event));
  PetscCall(GuttmanCreate(D, o->dim, fixed, prefix, &S->guttman));
  if (o->disparity.type != DISPARITY_RATIO) PetscCall(DisparityCreate(D, o->dim, &o->disparity, &S->disparity));
  PetscCall(ConfigurationCreate(D->N, o->dim, &S->now));
  PetscCall(ConfigurationCreate(D->N, o->dim, &S->next));
  PetscCall(PetscMalloc3((size_t)D->N * o->dim, &S->bx, (size_t)m * o->dim, &S->mine, m, &S->mystress));
  PreparePass(D, S);
  if (o->disparity.type == DISPARITY_RATIO) PetscCall(PassDeviceCreate(D, &S->pass, &o->device, &S->device));
  if (o->acceleration == ACCELERATION_ANDERSON) PetscCall(HistoryCreate((size_t)D->N * (size_t)o->dim, o->history, &S->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ScalerDestroy(Scaler *S)
{
  PetscFunctionBegin;
  PetscCall(PassDeviceDestroy(&S->device));
  PetscCall(GuttmanDestroy(&S->guttman));
  if (S->o.disparity.type != DISPARITY_RATIO) PetscCall(DisparityDestroy(&S->disparity));
  PetscCall(ConfigurationDestroy(&S->now));
  PetscCall(ConfigurationDestroy(&S->next));
  PetscCall(PetscFree3(S->bx, S->mine, S->mystress));
  PetscCall(HistoryDestroy(&S->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one pass: stress and Guttman transform of c->x */
static PetscErrorCode Evaluate(Scaler *S, Configuration *c)
{
  const Dissim *D = S->D;
  const size_t  N = (size_t)D->N, m = (size_t)(D->last - D->first);
  double        raw = 0;
  Pass         *p   = &S->pass;

  PetscFunctionBegin;
  p->x    = c->x;
  p->xrow = c->x + D->first;
  if (S->o.disparity.type != DISPARITY_RATIO) {
    PetscCall(DisparityUpdate(&S->disparity, c->x));
    p->delta = S->disparity.dhat;
  }
  PetscCall(PetscLogEventBegin(S->event, 0, 0, 0, 0));
  if (S->device.dev) PetscCall(PassDeviceRun(&S->device, c->x, S->mine, S->mystress));
  else Pass_Host(p);
  PetscCall(PetscLogFlops((double)(D->start ? D->start[m] : (int64_t)(m * (N - m / 2))) * (double)(6 * S->o.dim + 5)));
  PetscCall(PetscLogEventEnd(S->event, 0, 0, 0, 0));
  PetscCall(DissimGather(D, S->o.dim, S->mine, S->bx));
  PetscCall(DissimGather(D, 1, S->mystress, c->stress));
  for (size_t i = 0; i < N; i++) raw += 0.5 * c->stress[i];
  PetscCheck(PetscIsNormalReal(raw) || raw < 1, D->comm, PETSC_ERR_FP, "The stress of iteration %" PetscInt_FMT " is %g", S->it, raw);
  c->sigma = raw / S->unit;
  PetscCall(GuttmanApply(&S->guttman, S->bx, c->x, c->g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales the configuration as fits best, which neither its Guttman transform nor the fit of a plain step depends on.  Relaxed steps
   turn an error of the scale round and never lose it.
   stress(a X) = 1 - 2 a rho + a^2 eta^2 in units of the sum of squares, where rho = <X, B(X) X>. */
static PetscErrorCode Rescale(Scaler *S, Configuration *c)
{
  const size_t n   = (size_t)S->D->N * (size_t)S->o.dim;
  double       rho = 0, eta2;

  PetscFunctionBegin;
  if (S->fixed || S->o.acceleration == ACCELERATION_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < n; k++) rho += c->x[k] * S->bx[k];
  rho /= S->unit;
  eta2 = c->sigma - 1 + 2 * rho;
  if (!(rho > 0 && eta2 > 0)) PetscFunctionReturn(PETSC_SUCCESS); /* all points coincide */
  for (size_t k = 0; k < n; k++) c->x[k] *= rho / eta2;
  c->sigma = PetscMax(0, 1 - rho * rho / eta2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  STEP_START,
  STEP_PLAIN,
  STEP_RELAXED,
  STEP_ANDERSON,
  STEP_LAST /* a plain one, whose scale is left as it is: the stress of each point belongs to it */
} Step;
static const char *const Steps[] = {"start", "plain", "relaxed", "anderson", "plain, the last"};

/* tries a step; taken when the stress does not rise */
static PetscErrorCode Try(Scaler *S, Step step, PetscBool *taken)
{
  const size_t   n     = (size_t)S->D->N * (size_t)S->o.dim;
  const double   slack = step == STEP_ANDERSON ? 0 : S->device.work.mixed ? SLACK_MIXED : SLACK;
  Configuration *now = &S->now, *next = &S->next, swap;

  PetscFunctionBegin;
  if (step == STEP_ANDERSON) PetscCall(HistoryExtrapolate(&S->history, now->g, next->x));
  else if (step == STEP_RELAXED)
    for (size_t k = 0; k < n; k++) next->x[k] = 2 * now->g[k] - now->x[k];
  else PetscCall(PetscArraycpy(next->x, now->g, n));
  PetscCall(Evaluate(S, next));
  if (step != STEP_LAST) PetscCall(Rescale(S, next));
  S->it++;
  *taken = (PetscBool)(next->sigma <= now->sigma + slack);
  if (!*taken) {
    S->rejected++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  S->last         = now->sigma;
  S->extrapolated = (PetscBool)(step == STEP_ANDERSON);
  swap            = *now;
  *now            = *next;
  *next           = swap;
  if (S->o.monitor) PetscCall(PetscPrintf(S->D->comm, "%5" PetscInt_FMT " stress-1 %.10f normalised stress falls by %.3e, %s\n", S->it, (double)PetscSqrtReal(now->sigma), (double)(S->last - now->sigma), Steps[step]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the boldest step that lowers the stress */
static PetscErrorCode Advance(Scaler *S)
{
  PetscBool taken = PETSC_FALSE;

  PetscFunctionBegin;
  if (S->o.acceleration == ACCELERATION_ANDERSON) {
    PetscCall(HistoryAdd(&S->history, S->now.x, S->now.g));
    if (S->history.have && S->last - S->now.sigma < S->below && !(S->extrapolated && S->last - S->now.sigma < S->o.eps)) {
      PetscCall(Try(S, STEP_ANDERSON, &taken));
      if (!taken) { /* the map is not yet linear enough */
        PetscCall(HistoryForget(&S->history));
        S->below = BACK_OFF * (S->last - S->now.sigma);
      }
    }
  }
  if (!taken && S->o.acceleration != ACCELERATION_NONE) PetscCall(Try(S, STEP_RELAXED, &taken));
  if (!taken) PetscCall(Try(S, STEP_PLAIN, &taken));
  PetscCheck(taken, S->D->comm, PETSC_ERR_PLIB, "A plain step raised the normalised stress from %.17g to %.17g", (double)S->now.sigma, (double)S->next.sigma);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the state before the first step */
static PetscErrorCode Reset(Scaler *S)
{
  PetscFunctionBegin;
  S->it = S->rejected = 0;
  S->extrapolated     = PETSC_FALSE;
  S->below            = S->o.anderson_below;
  S->last             = PETSC_MAX_REAL;
  S->history.any      = PETSC_FALSE;
  PetscCall(HistoryForget(&S->history));
  PetscCall(Evaluate(S, &S->now));
  PetscCall(Rescale(S, &S->now));
  if (S->o.monitor) PetscCall(PetscPrintf(S->D->comm, "%5d stress-1 %.10f, %s\n", 0, (double)PetscSqrtReal(S->now.sigma), Steps[STEP_START]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerSolve - Iterates from now.x until the stress falls no more

  Collective

  Input Parameters:
+ S         - the scaler; now.x holds the start
. start     - its number, for checkpoints
- restarted - whether S comes from a checkpoint instead

  Output Parameters:
+ S - now holds the configuration, and the stress of each point
- R - what happened

  Notes:
  2 G(X) - X, with G the Guttman transform, has a stress as low as X at most, since the majorising function is as large there as at X;
  near the solution it needs half the steps. An extrapolation is taken only when it lowers the stress. Accelerated iterations end with
  a plain step.

  J. de Leeuw, W. Heiser, "Multidimensional scaling with restrictions on the configuration", 1980 (relaxed steps).
*/
PetscErrorCode ScalerSolve(Scaler *S, PetscInt start, PetscBool restarted, ScaleResult *R)
{
  PetscInt  since = 0;
  PetscBool taken;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  if (!restarted) PetscCall(Reset(S));
  while (!R->reason) {
    if (S->last - S->now.sigma < S->o.eps && !S->extrapolated) { /* a small step of an extrapolation may be no more than a bad one */
      R->converged = PETSC_TRUE;
      R->reason    = "CONVERGED_STRESS";
    } else if (S->it >= S->o.max_it) R->reason = "DIVERGED_ITS";
    else {
      PetscCall(Advance(S));
      if (S->o.checkpoint_every && ++since >= S->o.checkpoint_every) {
        PetscCall(CheckpointWrite(S, start, S->o.checkpoint));
        since = 0;
      }
    }
  }
  if (S->o.acceleration != ACCELERATION_NONE) PetscCall(Try(S, STEP_LAST, &taken));
  R->iterations = S->it;
  R->rejected   = S->rejected;
  R->sigma      = S->now.sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}
