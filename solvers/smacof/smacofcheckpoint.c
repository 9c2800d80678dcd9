/* Checkpoints.  They hold all state that the next pass depends on, so that a restarted run gives the same bits. */
#include "solvers/smacof/smacofimpl.h"
#include "app/checkpoint/appcheckpoint.h"
#include <string.h>

#define LARGEST 1e150 /* bound on the values of a checkpoint; the squares of larger values may overflow */
#define PRINTS  3     /* numbers of a fingerprint of the data */

static const GpAppCheckpointKind Kind = {"smacof", 5};

/* Description of the run that a checkpoint belongs to; the state follows it.  The structures have no padding, since they are written as bytes. */
typedef struct {
  int64_t N, dim, pairs, history, acceleration, disparity, ties, degree, knots, metric;
  int64_t first, n; /* the n starts from this one on iterate together */
  double  sumsquares, print[PRINTS];
} Header;

typedef struct {
  int64_t start, it, rejected, step, extrapolated, converged;
  double  last, below;
} SavedProgress;

typedef struct {
  int64_t have, newest, any;
} SavedHistory;

/* Returns a weight for index i in the sums of a fingerprint, so that permuted data give another sum. */
static double CheckpointGetFactor(PetscInt i, double irrational)
{
  const double t = (double)i * irrational;

  return 1 + t - PetscFloorReal(t);
}

/* Computes a fingerprint of dissimilarities, weights, features and fixed points, which also depends on their order. */
static PetscErrorCode CheckpointComputeFingerprint(const Scaler *S, double print[PRINTS])
{
  const Dissim *D      = S->D;
  const double  golden = 0.6180339887498949, root = 0.4142135623730951;
  double        mine[2] = {0, 0}, *delta, *weight;

  PetscFunctionBegin;
  print[2] = 0;
  for (PetscInt f = 0; S->fixed && f < S->fixed->n; f++)
    for (PetscInt c = 0; c < S->o.dim; c++) print[2] += CheckpointGetFactor(S->fixed->point[f], golden) * CheckpointGetFactor(c, root) * (2 + S->fixed->x[f * S->o.dim + c]);
  if (D->features.value) { /* features are replicated, so no reduction is needed */
    print[0] = print[1] = 0;
    for (PetscInt c = 0; c < D->features.n; c++)
      for (PetscInt i = 0; i < D->features.N; i++) {
        print[0] += CheckpointGetFactor(i, golden) * CheckpointGetFactor(c, root) * D->features.value[(size_t)c * D->features.N + i];
        print[1] += CheckpointGetFactor(i, root) * CheckpointGetFactor(c, golden) * PetscAbsReal(D->features.value[(size_t)c * D->features.N + i]);
      }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < D->last - D->first; i++) {
    double     sum[2] = {0, 0};
    const int *column;
    PetscInt   n;

    PetscCall(DissimRow(D, i, &n, &column, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      const double factor = CheckpointGetFactor(column ? column[k] : k, root);

      sum[0] += factor * delta[k];
      sum[1] += factor * weight[k];
    }
    for (int k = 0; k < 2; k++) mine[k] += CheckpointGetFactor(D->first + i, golden) * sum[k];
  }
  PetscCall(PetscFree2(delta, weight));
  PetscCallMPI(MPI_Allreduce(mine, print, 2, MPI_DOUBLE, MPI_SUM, D->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckpointSetHeader(Scaler *S, PetscInt first, PetscInt n, Header *h)
{
  const Dissim *D = S->D;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(h, sizeof(*h)));
  h->N            = D->N;
  h->dim          = S->o.dim;
  h->pairs        = D->npairs;
  h->history      = S->o.history;
  h->acceleration = S->o.acceleration;
  h->disparity    = S->o.disparity.type;
  h->ties         = S->o.disparity.ties;
  h->degree       = S->o.disparity.degree;
  h->knots        = S->o.disparity.knots;
  h->metric       = D->metric;
  h->first        = first;
  h->n            = n;
  h->sumsquares   = D->sumsquares;
  if (!S->printed) PetscCall(CheckpointComputeFingerprint(S, S->print));
  S->printed = PETSC_TRUE;
  PetscCall(PetscArraycpy(h->print, S->print, PRINTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error for a checkpoint with a value that no run can have written. */
static PetscErrorCode CheckpointRefuse(GpAppCheckpoint *ck, const char what[])
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint holds %s that is not valid; restart from another checkpoint", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads replicated numbers.  Numbers that are read must be finite and at most LARGEST. */
static PetscErrorCode CheckpointMoveReals(GpAppCheckpoint *ck, PetscScalar a[], size_t n)
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, a, n * sizeof(*a)));
  for (size_t i = 0; !ck->writing && i < n; i++)
    if (!(PetscAbsScalar(a[i]) <= LARGEST)) PetscCall(CheckpointRefuse(ck, "a coordinate or stress"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckpointMoveVec(GpAppCheckpoint *ck, Vec v)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(ck->writing ? VecGetArrayRead(v, (const PetscScalar **)&a) : VecGetArrayWrite(v, &a));
  PetscCall(CheckpointMoveReals(ck, a, (size_t)n));
  PetscCall(ck->writing ? VecRestoreArrayRead(v, (const PetscScalar **)&a) : VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckpointMoveConfiguration(GpAppCheckpoint *ck, Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(CheckpointMoveReals(ck, &c->sigma, 1));
  PetscCall(CheckpointMoveReals(ck, &c->xfactor, 1));
  PetscCall(CheckpointMoveReals(ck, &c->gfactor, 1));
  if (!ck->writing && c->sigma < -1e-6) PetscCall(CheckpointRefuse(ck, "a stress"));
  PetscCall(CheckpointMoveVec(ck, c->x));
  PetscCall(CheckpointMoveVec(ck, c->g));
  PetscCall(CheckpointMoveVec(ck, c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads the state of one start, whose number must be in [first, last]. */
static PetscErrorCode CheckpointMoveProgress(GpAppCheckpoint *ck, const Scaler *S, PetscInt first, PetscInt last, Progress *at)
{
  const PetscBool accelerated = (PetscBool)(S->o.acceleration != ACCELERATION_NONE);
  SavedProgress   p           = {at->start, at->it, at->rejected, at->step, at->extrapolated, at->converged, at->last, at->below};

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, &p, sizeof(p)));
  if (ck->writing) PetscFunctionReturn(PETSC_SUCCESS);
  if (p.start < first || p.start > last) PetscCall(CheckpointRefuse(ck, "the number of a start"));
  if (p.start < 0) PetscFunctionReturn(PETSC_SUCCESS); /* no start has stopped yet */
  if (p.it < 0 || p.it > PETSC_MAX_INT || p.rejected < 0 || p.rejected > p.it) PetscCall(CheckpointRefuse(ck, "a number of iterations"));
  if (p.step <= STEP_START || p.step > STEP_NONE || (!accelerated && p.step != STEP_PLAIN && p.step != STEP_NONE) || (p.step == STEP_ANDERSON && S->o.acceleration != ACCELERATION_ANDERSON)) PetscCall(CheckpointRefuse(ck, "a step"));
  if ((p.extrapolated != 0 && p.extrapolated != 1) || (p.converged != 0 && p.converged != 1)) PetscCall(CheckpointRefuse(ck, "a mark"));
  if (PetscIsInfOrNanReal(p.last) || PetscIsInfOrNanReal(p.below)) PetscCall(CheckpointRefuse(ck, "a stress"));
  *at = (Progress){(PetscInt)p.start, (PetscInt)p.it, (PetscInt)p.rejected, (Step)p.step, p.last, p.below, (PetscBool)p.extrapolated, (PetscBool)p.converged};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads the history with the differences that are in use. */
static PetscErrorCode CheckpointMoveHistory(GpAppCheckpoint *ck, History *H)
{
  SavedHistory h = {H->have, H->newest, H->any};

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, &h, sizeof(h)));
  if (!ck->writing) {
    if (h.have < 0 || h.have > H->most || h.newest < (h.have ? 0 : -1) || h.newest >= h.have || (h.have < H->most && h.newest != h.have - 1)) PetscCall(CheckpointRefuse(ck, "a number of differences"));
    if ((h.any != 0 && h.any != 1) || (h.have && !h.any)) PetscCall(CheckpointRefuse(ck, "a mark"));
    H->have   = (PetscInt)h.have;
    H->newest = (PetscInt)h.newest;
    H->any    = (PetscBool)h.any;
  }
  if (H->any) {
    PetscCall(CheckpointMoveVec(ck, H->x));
    PetscCall(CheckpointMoveVec(ck, H->f));
  }
  PetscCall(CheckpointMoveReals(ck, H->fx, (size_t)H->have));
  for (PetscInt k = 0; k < H->have; k++) {
    PetscCall(CheckpointMoveReals(ck, H->xx + k * H->most, (size_t)H->have));
    PetscCall(CheckpointMoveReals(ck, H->xf + k * H->most, (size_t)H->have));
    PetscCall(CheckpointMoveVec(ck, H->dx[k]));
    PetscCall(CheckpointMoveVec(ck, H->df[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads n paths, and the best result of the starts that have stopped. */
static PetscErrorCode CheckpointMoveState(GpAppCheckpoint *ck, Scaler *S, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(CheckpointMoveProgress(ck, S, -1, first - 1, &S->outcome));
  if (S->outcome.start >= 0) PetscCall(CheckpointMoveConfiguration(ck, &S->best));
  for (PetscInt k = 0; k < n; k++) {
    Path *P = &S->path[k];

    PetscCall(CheckpointMoveProgress(ck, S, first + k, first + k, &P->at));
    PetscCall(CheckpointMoveConfiguration(ck, &P->now));
    if (S->o.acceleration != ACCELERATION_ANDERSON) continue;
    PetscCall(CheckpointMoveHistory(ck, &P->history));
    if (!ck->writing && P->at.step == STEP_ANDERSON && !P->history.have) PetscCall(CheckpointRefuse(ck, "a step"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CheckpointWrite - Writes the state before the next pass. A failure is a warning, and the iterations continue

  Collective

  Input Parameters:
+ S    - the scaler
. n    - number of starts that iterate together
- file - name of the checkpoint
*/
PetscErrorCode CheckpointWrite(Scaler *S, PetscInt n, const char file[])
{
  GpAppCheckpoint ck;
  Header          h;

  PetscFunctionBegin;
  PetscCall(CheckpointSetHeader(S, S->path[0].at.start, n, &h));
  PetscCall(GpAppCheckpointCreate(S->D->comm, file, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &h, sizeof(h)));
  PetscCall(CheckpointMoveState(&ck, S, (PetscInt)h.first, n));
  PetscCall(GpAppCheckpointCommit(&ck, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a checkpoint belongs to these data and options.  Sums may differ by rounding if the number of ranks differs. */
static PetscBool CheckpointIsCompatible(const Header *is, const Header *want)
{
  Header h = *is;

  if (PetscAbsReal(h.sumsquares - want->sumsquares) <= 1e-12 * want->sumsquares) h.sumsquares = want->sumsquares;
  for (int k = 0; k < PRINTS; k++)
    if (PetscAbsReal(h.print[k] - want->print[k]) <= 1e-10 * (1 + PetscAbsReal(want->print[k]))) h.print[k] = want->print[k];
  h.first = want->first;
  h.n     = want->n;
  return (PetscBool)!memcmp(&h, want, sizeof(h));
}

/*
  CheckpointRead - Restores the state before the next pass

  Collective

  Input Parameters:
+ S    - the scaler
- file - the name of the checkpoint

  Output Parameter:
. n - number of starts that iterate together
*/
PetscErrorCode CheckpointRead(Scaler *S, PetscInt *n, const char file[])
{
  GpAppCheckpoint ck;
  Header          h, want;

  PetscFunctionBegin;
  PetscCall(CheckpointSetHeader(S, 0, 0, &want));
  PetscCall(GpAppCheckpointOpen(S->D->comm, file, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &h, sizeof(h)));
  if (!CheckpointIsCompatible(&h, &want)) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_FILE_UNEXPECTED, "this is a checkpoint of other dissimilarities or other options; use the input and the options of the run that wrote it"));
  if (h.first < 0 || h.first > PETSC_MAX_INT || h.n < 1 || h.n > PETSC_MAX_INT) PetscCall(CheckpointRefuse(&ck, "a number of starts"));
  if (h.first + h.n > S->o.starts)
    PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_USER_INPUT, "a checkpoint of start %" PetscInt64_FMT " (counted from 0), for which -smacof_starts %" PetscInt_FMT " is too small", (PetscInt64)(h.first + h.n - 1), S->o.starts));
  if (h.n > S->npaths) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_USER_INPUT, "a checkpoint of %" PetscInt64_FMT " starts at once, for which -smacof_batch %" PetscInt_FMT " is too small", (PetscInt64)h.n, S->npaths));
  *n = (PetscInt)h.n;
  PetscCall(CheckpointMoveState(&ck, S, (PetscInt)h.first, *n));
  PetscCall(GpAppCheckpointClose(&ck));
  PetscFunctionReturn(PETSC_SUCCESS);
}
