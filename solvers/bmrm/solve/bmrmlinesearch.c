/* Line searches: the root of the monotone derivative along a line. For a piecewise linear derivative the root is exact and needs no sort;
   otherwise the search is safeguarded. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsr.h>

#define BMRM_REACH      4    /* upper end of the first search interval, as a multiple of the last step */
#define BMRM_LEAST_STEP 0.01 /* lower limit of the last step in this estimate */
#define BMRM_LITTLE     1e-4 /* fraction of the gap: a search on a device stops if less can be gained. Each round costs a kernel and a synchronisation */

/* A search interval: the derivative right of t is slope + curve t plus the gains of the kinks in (lo, t]. The root lies in [lo, hi]. */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;
  PetscReal   slope, curve, lo, hi;
  PetscInt    n; /* number of kinks of this rank strictly between lo and hi */
  BMRMKink   *kink;
  PetscMPIInt nsample;                         /* number of candidates that each rank proposes in a round */
  PetscReal  *mine, *candidate, *gain, *gains; /* workspace: own candidates, all candidates, gains of this rank, gains of all ranks. A gain is a pair (slope, curve) */
} BMRMBracket;

/* Every rank proposes some of its kinks as candidates. Returns their positions on all ranks, sorted and without duplicates. */
static PetscErrorCode BMRMBracketGatherCandidates(BMRMBracket *br, PetscInt *ncandidate)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < br->nsample; k++) {
    const PetscInt at = (PetscInt)((2 * k + 1) * (PetscReal)br->n / (2 * br->nsample));

    br->mine[k] = br->n ? br->kink[PetscMin(at, br->n - 1)].t : PETSC_INFINITY;
  }
  PetscCallMPI(MPI_Allgather(br->mine, br->nsample, MPIU_REAL, br->candidate, br->nsample, MPIU_REAL, br->comm));
  for (PetscInt k = 0; k < (PetscInt)br->nsample * br->size; k++) {
    if (br->candidate[k] < PETSC_INFINITY) br->candidate[n++] = br->candidate[k];
  }
  PetscCall(PetscSortRemoveDupsReal(&n, br->candidate));
  *ncandidate = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Sums the gains of all ranks before, at, between and after the candidates: 2 n + 1 pairs in their order on the line.

  The candidates are padded to one less than a power of two, for a binary search without branches.
*/
static PetscErrorCode BMRMBracketSumGains(BMRMBracket *br, PetscInt n)
{
  PetscInt width = 1;

  PetscFunctionBegin;
  while (width <= n) width *= 2;
  for (PetscInt k = n; k < width; k++) br->candidate[k] = PETSC_INFINITY;
  PetscCall(PetscArrayzero(br->gain, 4 * n + 2));
  for (PetscInt i = 0; i < br->n; i++) {
    const BMRMKink q = br->kink[i];
    PetscInt       a = 0; /* number of candidates below q.t */

    for (PetscInt half = width / 2; half; half /= 2) a += half * (br->candidate[a + half - 1] < q.t);
    a = 4 * a + 2 * (br->candidate[a] == q.t);
    br->gain[a] += q.jump - q.bend * q.t;
    br->gain[a + 1] += q.bend;
  }
  PetscCallMPI(MPI_Allreduce(br->gain, br->gains, (PetscMPIInt)(4 * n + 2), MPIU_REAL, MPIU_SUM, br->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shrinks the interval to the part between two candidates that holds the root, or to the candidate that is the root. */
static PetscErrorCode BMRMBracketShrink(BMRMBracket *br, PetscInt n)
{
  PetscInt k = 0;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; j++) {
    const PetscReal t = br->candidate[j], *g = br->gains + 4 * j;
    const PetscReal s = br->slope + g[0], c = br->curve + g[1];

    if (s + c * t >= 0) {
      br->hi = t;
      break;
    }
    br->slope = s + g[2];
    br->curve = c + g[3];
    br->lo    = t;
    if (br->slope + br->curve * t >= 0) {
      br->hi = t;
      break;
    }
  }
  for (PetscInt i = 0; i < br->n; i++) {
    if (br->kink[i].t > br->lo && br->kink[i].t < br->hi) br->kink[k++] = br->kink[i];
  }
  br->n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMBracketFindRoot(BMRMBracket *br, PetscReal *t)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  while (br->lo < br->hi) {
    PetscCall(BMRMBracketGatherCandidates(br, &n));
    if (!n) { /* no kink is left: the derivative is linear from lo to hi */
      const PetscReal flat = br->slope < 0 && br->hi < PETSC_INFINITY ? br->hi : br->lo, root = br->curve > 0 ? -br->slope / br->curve : flat;

      br->lo = br->hi = PetscMax(br->lo, PetscMin(br->hi, root));
      break;
    }
    PetscCall(BMRMBracketSumGains(br, n));
    PetscCall(BMRMBracketShrink(br, n));
  }
  *t = br->lo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grows the capacity to n kinks; losses and regularisers call this. */
PetscErrorCode BMRMPiecesReserve(BMRMPieces *p, PetscInt n)
{
  PetscFunctionBegin;
  if (n <= p->cap) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRealloc((size_t)n * sizeof(*p->kink), &p->kink));
  p->cap = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMPiecesDestroy_Private(BMRMPieces *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(p->kink));
  p->n = p->cap = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BMRMPiecesMinimize - minimises A t + B t^2/2 + the sum of the pieces of all ranks over t >= 0

  Collective

  Input Parameters:
+ comm - the communicator
. p    - the pieces of this rank; they are reordered
. A    - derivative at 0 of a quadratic part that all ranks know
- B    - curvature of that part, not negative

  Output Parameter:
. t - the minimiser, the same on all ranks; p->end if the minimiser lies beyond it

  Notes:
  The derivative is piecewise linear and increasing. Each round evaluates it by one reduction at some tens of kinks that the ranks propose, and keeps the interval
  between two of them that holds the root. The number of kinks decreases by about the same factor. The work is a few passes over the kinks, less than the sort of
  the textbook method, and the kinks are not gathered.
*/
PetscErrorCode BMRMPiecesMinimize(MPI_Comm comm, BMRMPieces *p, PetscReal A, PetscReal B, PetscReal *t)
{
  BMRMBracket br;
  PetscInt    nall, k = 0;
  PetscReal   all[2] = {p->slope, p->curve};

  PetscFunctionBegin;
  *t = 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_REAL, MPIU_SUM, comm));
  br.slope = all[0] + A;
  br.curve = all[1] + B;
  if (!(br.slope < 0)) PetscFunctionReturn(PETSC_SUCCESS);
  br.comm = comm;
  br.lo   = 0;
  br.hi   = PetscMin(p->end, B > 0 ? -br.slope / B : PETSC_INFINITY); /* the pieces only increase the derivative */
  br.kink = p->kink;
  for (PetscInt i = 0; i < p->n; i++) {
    if (p->kink[i].t > 0 && p->kink[i].t < br.hi) p->kink[k++] = p->kink[i];
  }
  br.n = k;
  PetscCallMPI(MPI_Comm_size(comm, &br.size));
  br.nsample = PetscMax(1, 31 / br.size);
  nall       = (PetscInt)br.nsample * br.size;
  PetscCall(PetscMalloc4(br.nsample, &br.mine, 2 * nall + 1, &br.candidate, 4 * nall + 2, &br.gain, 4 * nall + 2, &br.gains));
  PetscCall(BMRMBracketFindRoot(&br, t));
  PetscCall(PetscFree4(br.mine, br.candidate, br.gain, br.gains));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* First and second derivatives of the objective right of w + t[k] d, summed over all ranks, in pairs. */
static PetscErrorCode BMRMEvaluateAlong(BMRM b, PetscInt nt, const PetscReal t[], PetscReal d[])
{
  PetscReal mine[2 * BMRM_SLOPES], of[2];

  PetscFunctionBegin;
  PetscCall((*b->loss->ops->slopes)(b->loss, b->f, b->e, nt, t, b->labels, mine));
  for (PetscInt k = 0; k < nt && !b->reg->ops->solve; k++) {
    PetscCall((*b->reg->ops->derivative)(b->reg, b->set.lambda, b->w, b->d, t[k], of));
    mine[2 * k] += of[0];
    mine[2 * k + 1] += of[1];
  }
  PetscCallMPI(MPI_Allreduce(mine, d, (PetscMPIInt)(2 * nt), MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)b)));
  for (PetscInt k = 0; k < nt && b->reg->ops->solve; k++) { /* a quadratic part, known on all ranks */
    d[2 * k] += b->set.lambda * (b->along[0] + t[k] * b->along[1]);
    d[2 * k + 1] += b->set.lambda * b->along[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Newton's method, safeguarded by a bracket of the root. Each step uses the first of these rules that applies:
    - the Newton step, if it stays inside the bracket;
    - the secant of the derivative between the ends; the value at an end that has stayed twice or more is halved (Illinois method);
    - bisection;
    - if there is no upper end yet: the last step, or four times the lower end.
  Bisection is also used if the bracket has not been halved by four evaluations. The search stops if the derivative vanishes, or if the possible
  gain, at most the width of the bracket times the slope at its lower end, is small compared with the gap.
*/
static PetscErrorCode BMRMLineSearchSafeguarded(BMRM b, PetscReal last, PetscReal *t)
{
  const PetscReal little = 1e-3 * PetscMax(0, b->J - b->lower);
  PetscReal       d[2], first, lo = 0, hi = PETSC_INFINITY, dlo, clo, chi = 0, at = 0, width = PETSC_INFINITY;
  PetscInt        wide  = 0; /* number of evaluations since the width of the bracket was last halved */
  PetscInt        stays = 0; /* positive: number of consecutive steps in which the lower end stayed; negative: those in which the upper end stayed */

  PetscFunctionBegin;
  *t = 0;
  PetscCall(BMRMEvaluateAlong(b, 1, &at, d));
  dlo = clo = d[0];
  first     = -d[0];
  if (!(first > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt it = 0; it < 200; it++) {
    const PetscReal newton = at - d[0] / d[1], chord = lo - clo * (hi - lo) / (chi - clo);

    if (wide < 4 && newton > lo && newton < hi && (it || newton < 1)) at = newton;
    else if (wide < 4 && hi < PETSC_INFINITY && chord > lo && chord < hi) at = chord;
    else if (hi < PETSC_INFINITY) at = lo + 0.5 * (hi - lo);
    else at = lo > 0 ? 4 * lo : PetscMax(last, BMRM_LEAST_STEP);
    PetscCall(BMRMEvaluateAlong(b, 1, &at, d));
    if (d[0] < 0) {
      lo  = at;
      dlo = clo = d[0];
      stays     = PetscMin(stays, 0) - 1;
      if (stays < -1) chi *= 0.5;
    } else { /* also if the derivative is not a number */
      hi    = at;
      chi   = d[0];
      stays = PetscMax(stays, 0) + 1;
      if (stays > 1) clo *= 0.5;
    }
    if (PetscAbsReal(d[0]) <= 1e-10 * first || hi - lo <= 4 * PETSC_MACHINE_EPSILON * hi || lo > 1e100) break;
    if (lo > 0 && -dlo * (hi - lo) <= little) break;
    wide = hi - lo <= 0.5 * width ? 0 : wide + 1;
    if (!wide) width = hi - lo;
  }
  *t = PetscAbsReal(d[0]) <= 1e-10 * first ? at : lo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses points between lo and hi in ascending order: equidistant ones, and some that cluster around the estimated root. */
static PetscErrorCode BMRMLineSearchChoosePoints(PetscReal lo, const PetscReal dlo[2], PetscReal hi, PetscReal dhi, PetscInt *n, PetscReal t[])
{
  const PetscReal near[] = {0, 1e-2, 1e-4, 1e-7}, width = hi - lo;
  const PetscReal guess[] = {lo - width * dlo[0] / (dhi - dlo[0]), lo - dlo[0] / dlo[1]}; /* by the secant, by the tangent */
  PetscInt        all = 0, k = 0;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < 6; i++) t[all++] = lo + width * i / 6;
  t[all++] = guess[1];
  for (int i = 0; i < 4; i++) {
    t[all++] = guess[0] + near[i] * width;
    t[all++] = guess[0] - near[i] * width;
  }
  for (PetscInt i = 0; i < all; i++) {
    if (t[i] > lo && t[i] < hi) t[k++] = t[i];
  }
  PetscCall(PetscSortRemoveDupsReal(&k, t));
  *n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The line search for scores on a device, for all losses. Each round computes the derivative at up to BMRM_SLOPES points in one kernel, and keeps
  the interval between two of them that holds the root. The points of the first round lie around the last step. Later points cluster around the
  root that is estimated from the ends of the interval.

  The search stops at the root, or if the ends of the interval are neighbouring numbers, or if the possible gain, at most the width of the
  interval times the slope at its lower end, is small compared with the gap of the solver. Most searches take two rounds.
*/
static PetscErrorCode BMRMLineSearchMultisection(BMRM b, PetscReal last, PetscReal *root)
{
  const PetscReal little = BMRM_LITTLE * PetscMax(0, b->J - b->lower);
  PetscReal       t[BMRM_SLOPES], d[2 * BMRM_SLOPES], lo = 0, hi = PETSC_INFINITY, dlo[2] = {0, 0}, dhi = 0, first = 0;
  PetscInt        n = BMRM_SLOPES;

  PetscFunctionBegin;
  t[0] = 0;
  for (PetscInt k = 1; k < n; k++) t[k] = PetscMax(last, BMRM_LEAST_STEP) * PetscPowRealInt(1.5, k - n + 5);
  for (PetscInt round = 0; n > 0 && round < 60; round++) {
    PetscInt k = 0;

    PetscCall(BMRMEvaluateAlong(b, n, t, d));
    if (!round) first = -d[0];
    while (k < n && d[2 * k] < 0) k++;
    if (k > 0) {
      lo     = t[k - 1];
      dlo[0] = d[2 * k - 2];
      dlo[1] = d[2 * k - 1];
    }
    if (k < n) { /* a derivative that is not a number also ends the interval */
      hi  = t[k];
      dhi = d[2 * k];
      if (hi == 0 || PetscAbsReal(dhi) <= 1e-15 * first) {
        lo = hi;
        break;
      }
    }
    if (-dlo[0] <= 1e-15 * first || lo > 1e100) break;
    if (lo > 0 && -dlo[0] * (hi - lo) <= little) break;
    if (hi == PETSC_INFINITY) {
      for (n = 0; n < BMRM_SLOPES; n++) t[n] = lo * PetscPowRealInt(4, n + 1);
    } else PetscCall(BMRMLineSearchChoosePoints(lo, dlo, hi, dhi, &n, t)); /* no points if lo and hi are neighbouring numbers */
  }
  *root = lo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The exact step. It changes little from pass to pass. Therefore only kinks up to BMRM_REACH times the last step are used at first; if the root is
  not among them, all kinks.
*/
static PetscErrorCode BMRMLineSearchExact(BMRM b, PetscReal last, PetscReal *t)
{
  BMRMPieces *p = &b->pieces;

  PetscFunctionBegin;
  for (p->end = BMRM_REACH * PetscMax(last, BMRM_LEAST_STEP);; p->end = PETSC_INFINITY) {
    p->slope = p->curve = 0;
    p->n                = 0;
    PetscCall((*b->reg->ops->pieces)(b->reg, b->set.lambda, b->w, b->d, &b->along[0], &b->along[1], p));
    PetscCall((*b->loss->ops->pieces)(b->loss, b->f, b->e, b->labels, p));
    PetscCall(BMRMPiecesMinimize(PetscObjectComm((PetscObject)b), p, b->set.lambda * b->along[0], b->set.lambda * b->along[1], t));
    if (*t < p->end || p->end == PETSC_INFINITY) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the step along d from the best point to the smallest objective, the same on all ranks. */
PetscErrorCode BMRMLineSearch_Private(BMRM b, PetscReal *t)
{
  struct GpDev_ *dev;
  PetscBool      exact;

  PetscFunctionBegin;
  PetscCall(VecGPUGetRuntime(b->f, &dev));
  if (b->loss->onebyone || b->loss->weight) dev = NULL; /* the loss is evaluated on the host */
  exact = (PetscBool)(!dev && b->loss->ops->pieces && b->reg->ops->pieces);
  if (exact) {
    PetscCall(BMRMLineSearchExact(b, b->step, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->reg->ops->solve) PetscCall((*b->reg->ops->pieces)(b->reg, b->set.lambda, b->w, b->d, &b->along[0], &b->along[1], &b->pieces));
  if (dev) PetscCall(BMRMLineSearchMultisection(b, b->step, t));
  else PetscCall(BMRMLineSearchSafeguarded(b, b->step, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
