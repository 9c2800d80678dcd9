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
} SMACOFHeader;

typedef struct {
  int64_t start, it, rejected, step, extrapolated, converged;
  double  last, below;
} SMACOFSavedProgress;

typedef struct {
  int64_t have, newest, any;
} SMACOFSavedHistory;

/* Returns a weight for index i in the sums of a fingerprint, so that permuted data give another sum. */
static double SMACOFCheckpointGetFactor(PetscInt i, double irrational)
{
  const double t = (double)i * irrational;

  return 1 + t - PetscFloorReal(t);
}

/* Computes a fingerprint of dissimilarities, weights, features and fixed points, which also depends on their order. */
static PetscErrorCode SMACOFCheckpointComputeFingerprint(SMACOF s, double print[PRINTS])
{
  const SMACOFPairs *D      = &s->D;
  const double       golden = 0.6180339887498949, root = 0.4142135623730951;
  double             mine[2] = {0, 0}, *delta, *weight;

  PetscFunctionBegin;
  print[2] = 0;
  for (PetscInt f = 0; f < s->fixed.n; f++)
    for (PetscInt c = 0; c < s->dim; c++) print[2] += SMACOFCheckpointGetFactor(s->fixed.point[f], golden) * SMACOFCheckpointGetFactor(c, root) * (2 + s->fixed.x[f * s->dim + c]);
  if (D->feature) { /* features are replicated, so no reduction is needed */
    print[0] = print[1] = 0;
    for (PetscInt c = 0; c < D->nfeature; c++)
      for (PetscInt i = 0; i < D->N; i++) {
        print[0] += SMACOFCheckpointGetFactor(i, golden) * SMACOFCheckpointGetFactor(c, root) * D->feature[(size_t)c * D->N + i];
        print[1] += SMACOFCheckpointGetFactor(i, root) * SMACOFCheckpointGetFactor(c, golden) * PetscAbsReal(D->feature[(size_t)c * D->N + i]);
      }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < D->last - D->first; i++) {
    double     sum[2] = {0, 0};
    const int *column;
    PetscInt   n;

    PetscCall(SMACOFPairsGetRow_Private(D, i, &n, &column, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      const double factor = SMACOFCheckpointGetFactor(column ? column[k] : k, root);

      sum[0] += factor * delta[k];
      sum[1] += factor * weight[k];
    }
    for (int k = 0; k < 2; k++) mine[k] += SMACOFCheckpointGetFactor(D->first + i, golden) * sum[k];
  }
  PetscCall(PetscFree2(delta, weight));
  PetscCallMPI(MPI_Allreduce(mine, print, 2, MPI_DOUBLE, MPI_SUM, D->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFCheckpointSetHeader(SMACOF s, PetscInt first, PetscInt n, SMACOFHeader *h)
{
  const SMACOFPairs *D = &s->D;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(h, sizeof(*h)));
  h->N            = D->N;
  h->dim          = s->dim;
  h->pairs        = D->npairs;
  h->history      = s->history;
  h->acceleration = s->acceleration;
  h->disparity    = s->disparity;
  h->ties         = s->ties;
  h->degree       = s->degree;
  h->knots        = s->knots;
  h->metric       = D->metric;
  h->first        = first;
  h->n            = n;
  h->sumsquares   = D->sumsquares;
  if (!s->printed) PetscCall(SMACOFCheckpointComputeFingerprint(s, s->print));
  s->printed = PETSC_TRUE;
  PetscCall(PetscArraycpy(h->print, s->print, PRINTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error for a checkpoint with a value that no run can have written. */
static PetscErrorCode SMACOFCheckpointRefuse(GpAppCheckpoint *ck, const char what[])
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint holds %s that is not valid; restart from another checkpoint", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads replicated numbers.  Numbers that are read must be finite and at most LARGEST. */
static PetscErrorCode SMACOFCheckpointMoveReals(GpAppCheckpoint *ck, PetscScalar a[], size_t n)
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, a, n * sizeof(*a)));
  for (size_t i = 0; !ck->writing && i < n; i++)
    if (!(PetscAbsScalar(a[i]) <= LARGEST)) PetscCall(SMACOFCheckpointRefuse(ck, "a coordinate or stress"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFCheckpointMoveVec(GpAppCheckpoint *ck, Vec v)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(ck->writing ? VecGetArrayRead(v, (const PetscScalar **)&a) : VecGetArrayWrite(v, &a));
  PetscCall(SMACOFCheckpointMoveReals(ck, a, (size_t)n));
  PetscCall(ck->writing ? VecRestoreArrayRead(v, (const PetscScalar **)&a) : VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFCheckpointMoveConfiguration(GpAppCheckpoint *ck, SMACOFConfiguration *c)
{
  PetscFunctionBegin;
  PetscCall(SMACOFCheckpointMoveReals(ck, &c->sigma, 1));
  PetscCall(SMACOFCheckpointMoveReals(ck, &c->xfactor, 1));
  PetscCall(SMACOFCheckpointMoveReals(ck, &c->gfactor, 1));
  if (!ck->writing && c->sigma < -1e-6) PetscCall(SMACOFCheckpointRefuse(ck, "a stress"));
  PetscCall(SMACOFCheckpointMoveVec(ck, c->x));
  PetscCall(SMACOFCheckpointMoveVec(ck, c->g));
  PetscCall(SMACOFCheckpointMoveVec(ck, c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads the state of one start, whose number must be in [first, last]. */
static PetscErrorCode SMACOFCheckpointMoveProgress(GpAppCheckpoint *ck, SMACOF s, PetscInt first, PetscInt last, SMACOFProgress *at)
{
  const PetscBool     accelerated = (PetscBool)(s->acceleration != SMACOF_ACCELERATION_NONE);
  SMACOFSavedProgress p           = {at->start, at->it, at->rejected, at->step, at->extrapolated, at->converged, at->last, at->below};

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, &p, sizeof(p)));
  if (ck->writing) PetscFunctionReturn(PETSC_SUCCESS);
  if (p.start < first || p.start > last) PetscCall(SMACOFCheckpointRefuse(ck, "the number of a start"));
  if (p.start < 0) PetscFunctionReturn(PETSC_SUCCESS); /* no start has stopped yet */
  if (p.it < 0 || p.it > PETSC_MAX_INT || p.rejected < 0 || p.rejected > p.it) PetscCall(SMACOFCheckpointRefuse(ck, "a number of iterations"));
  if (p.step <= SMACOF_STEP_START || p.step > SMACOF_STEP_NONE || (!accelerated && p.step != SMACOF_STEP_PLAIN && p.step != SMACOF_STEP_NONE) || (p.step == SMACOF_STEP_ANDERSON && s->acceleration != SMACOF_ACCELERATION_ANDERSON))
    PetscCall(SMACOFCheckpointRefuse(ck, "a step"));
  if ((p.extrapolated != 0 && p.extrapolated != 1) || (p.converged != 0 && p.converged != 1)) PetscCall(SMACOFCheckpointRefuse(ck, "a mark"));
  if (PetscIsInfOrNanReal(p.last) || PetscIsInfOrNanReal(p.below)) PetscCall(SMACOFCheckpointRefuse(ck, "a stress"));
  *at = (SMACOFProgress){(PetscInt)p.start, (PetscInt)p.it, (PetscInt)p.rejected, (SMACOFStep)p.step, p.last, p.below, (PetscBool)p.extrapolated, (PetscBool)p.converged};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads the history with the differences that are in use. */
static PetscErrorCode SMACOFCheckpointMoveHistory(GpAppCheckpoint *ck, SMACOFHistory *H)
{
  SMACOFSavedHistory h = {H->have, H->newest, H->any};

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, &h, sizeof(h)));
  if (!ck->writing) {
    if (h.have < 0 || h.have > H->most || h.newest < (h.have ? 0 : -1) || h.newest >= h.have || (h.have < H->most && h.newest != h.have - 1)) PetscCall(SMACOFCheckpointRefuse(ck, "a number of differences"));
    if ((h.any != 0 && h.any != 1) || (h.have && !h.any)) PetscCall(SMACOFCheckpointRefuse(ck, "a mark"));
    H->have   = (PetscInt)h.have;
    H->newest = (PetscInt)h.newest;
    H->any    = (PetscBool)h.any;
  }
  if (H->any) {
    PetscCall(SMACOFCheckpointMoveVec(ck, H->latest[0]));
    PetscCall(SMACOFCheckpointMoveVec(ck, H->latest[1]));
  }
  PetscCall(SMACOFCheckpointMoveReals(ck, H->fx, (size_t)H->have));
  for (PetscInt k = 0; k < H->have; k++) {
    PetscCall(SMACOFCheckpointMoveReals(ck, H->xx + k * H->most, (size_t)H->have));
    PetscCall(SMACOFCheckpointMoveReals(ck, H->xf + k * H->most, (size_t)H->have));
    PetscCall(SMACOFCheckpointMoveVec(ck, H->dx[k]));
    PetscCall(SMACOFCheckpointMoveVec(ck, H->df[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads n paths, and the best result of the starts that have stopped. */
static PetscErrorCode SMACOFCheckpointMoveState(GpAppCheckpoint *ck, SMACOF s, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(SMACOFCheckpointMoveProgress(ck, s, -1, first - 1, &s->outcome));
  if (s->outcome.start >= 0) PetscCall(SMACOFCheckpointMoveConfiguration(ck, &s->best));
  for (PetscInt k = 0; k < n; k++) {
    SMACOFPath *P = &s->path[k];

    PetscCall(SMACOFCheckpointMoveProgress(ck, s, first + k, first + k, &P->at));
    PetscCall(SMACOFCheckpointMoveConfiguration(ck, &P->now));
    if (s->acceleration != SMACOF_ACCELERATION_ANDERSON) continue;
    PetscCall(SMACOFCheckpointMoveHistory(ck, &P->history));
    if (!ck->writing && P->at.step == SMACOF_STEP_ANDERSON && !P->history.have) PetscCall(SMACOFCheckpointRefuse(ck, "a step"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the state of the n starts that iterate together before their next pass.  A failure is a warning, and the iterations continue.  Collective. */
PetscErrorCode SMACOFCheckpointWrite_Private(SMACOF s, PetscInt n)
{
  GpAppCheckpoint ck;
  SMACOFHeader    h;

  PetscFunctionBegin;
  PetscCall(SMACOFCheckpointSetHeader(s, s->path[0].at.start, n, &h));
  PetscCall(GpAppCheckpointCreate(s->D.comm, s->checkpoint, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &h, sizeof(h)));
  PetscCall(SMACOFCheckpointMoveState(&ck, s, (PetscInt)h.first, n));
  PetscCall(GpAppCheckpointCommit(&ck, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a checkpoint belongs to these data and options.  Sums may differ by rounding if the number of ranks differs. */
static PetscBool SMACOFCheckpointIsCompatible(const SMACOFHeader *is, const SMACOFHeader *want)
{
  SMACOFHeader h = *is;

  if (PetscAbsReal(h.sumsquares - want->sumsquares) <= 1e-12 * want->sumsquares) h.sumsquares = want->sumsquares;
  for (int k = 0; k < PRINTS; k++)
    if (PetscAbsReal(h.print[k] - want->print[k]) <= 1e-10 * (1 + PetscAbsReal(want->print[k]))) h.print[k] = want->print[k];
  h.first = want->first;
  h.n     = want->n;
  return (PetscBool)!memcmp(&h, want, sizeof(h));
}

/* Restores the state of n starts before their next pass.  Collective. */
PetscErrorCode SMACOFCheckpointRead_Private(SMACOF s, PetscInt *n)
{
  GpAppCheckpoint ck;
  SMACOFHeader    h, want;

  PetscFunctionBegin;
  PetscCall(SMACOFCheckpointSetHeader(s, 0, 0, &want));
  PetscCall(GpAppCheckpointOpen(s->D.comm, s->restart, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &h, sizeof(h)));
  if (!SMACOFCheckpointIsCompatible(&h, &want)) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_FILE_UNEXPECTED, "this is a checkpoint of other dissimilarities or other options; use the input and the options of the run that wrote it"));
  if (h.first < 0 || h.first > PETSC_MAX_INT || h.n < 1 || h.n > PETSC_MAX_INT) PetscCall(SMACOFCheckpointRefuse(&ck, "a number of starts"));
  if (h.first + h.n > s->starts)
    PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_USER_INPUT, "a checkpoint of start %" PetscInt64_FMT " (counted from 0), for which -smacof_starts %" PetscInt_FMT " is too small", (PetscInt64)(h.first + h.n - 1), s->starts));
  if (h.n > s->npaths) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_USER_INPUT, "a checkpoint of %" PetscInt64_FMT " starts at once, for which -smacof_batch %" PetscInt_FMT " is too small", (PetscInt64)h.n, s->npaths));
  *n = (PetscInt)h.n;
  PetscCall(SMACOFCheckpointMoveState(&ck, s, (PetscInt)h.first, *n));
  PetscCall(GpAppCheckpointClose(&ck));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFSetCheckpoint - Lets the solver write checkpoints

  Logically Collective

  Input Parameters:
+ s     - the solver
. file  - the file; an empty name stops the writing
- every - number of passes between two checkpoints

  Level: intermediate

  Note:
  A failure to write a checkpoint is a warning, and the iteration continues.

.seealso: `SMACOFSetRestart()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFSetCheckpoint(SMACOF s, const char file[], PetscInt every)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(file, 2);
  PetscValidLogicalCollectiveInt(s, every, 3);
  PetscCheck(every >= 1, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " passes between checkpoints: the number must be positive", every);
  PetscCall(PetscStrncpy(s->checkpoint, file, sizeof(s->checkpoint)));
  s->checkpoint_every = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFSetRestart - Lets the next solves continue from a checkpoint

  Logically Collective

  Input Parameters:
+ s    - the solver
- file - a checkpoint of the same data and settings; an empty name: start anew

  Level: intermediate

  Note:
  The result has the same bits as that of a run without interruption on the same number of ranks.

.seealso: `SMACOFSetCheckpoint()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFSetRestart(SMACOF s, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(file, 2);
  PetscCall(PetscStrncpy(s->restart, file, sizeof(s->restart)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
