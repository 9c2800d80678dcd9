/* Checkpoints: the whole state between two passes, so that a restart on the same number of ranks gives the same bits as a run without
   interruption. */
#include "solvers/bmrm/bmrmimpl.h"
#include "app/checkpoint/appcheckpoint.h"
#include <string.h>

#define LARGEST 1e150 /* largest absolute value of the values in a valid checkpoint; the square of larger ones overflows */

static const GpAppCheckpointKind Kind = {"bmrm", 5};

/* The state except arrays and vectors, and what identifies the problem. It is written as it is in memory, and therefore has no padding. */
typedef struct {
  int64_t m, N, outputs, ranks, nblock, nfree, groupsize, n, it, matmults, stalled, peak, known;
  char    loss[BMRM_NAME_LEN], regularizer[BMRM_NAME_LEN];
  double  parameter[BMRM_LOSS_PARAMETERS], ratio, lambda, print[BMRM_PRINTS];
  double  J, risk, lower, mu, step, rho, freenoise;
} State;

/* Reads or writes a vector. Values that are read must be finite and at most LARGEST. */
static PetscErrorCode BMRMCheckpointTransferVec(GpAppCheckpoint *ck, Vec v)
{
  MPI_Comm     comm   = PetscObjectComm((PetscObject)v);
  PetscMPIInt  finite = 1, all;
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (ck->writing) {
    PetscCall(VecGetArrayRead(v, (const PetscScalar **)&a));
    PetscCall(GpAppCheckpointDistributed(ck, a, n, sizeof(*a)));
    PetscCall(VecRestoreArrayRead(v, (const PetscScalar **)&a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayWrite(v, &a));
  PetscCall(GpAppCheckpointDistributed(ck, a, n, sizeof(*a)));
  for (PetscInt i = 0; i < n; i++) finite = finite && PetscAbsScalar(a[i]) <= LARGEST;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscCallMPI(MPI_Allreduce(&finite, &all, 1, MPI_INT, MPI_LAND, comm));
  if (!all) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint holds a vector with a value that is not finite, or too large"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Reads or writes gbest, the subgradient at the previous best point. Its slopes rbest are recomputed from the scores. If the solver does not use
  gbest, the values are read and ignored.
*/
static PetscErrorCode BMRMCheckpointTransferBest(BMRM b, GpAppCheckpoint *ck)
{
  Vec g = b->gbest;

  PetscFunctionBegin;
  if (!g) PetscCall(VecDuplicate(b->w, &g));
  PetscCall(BMRMCheckpointTransferVec(ck, g));
  if (!b->gbest) PetscCall(VecDestroy(&g));
  else b->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMCheckpointTransferVecs(BMRM b, GpAppCheckpoint *ck, PetscBool best)
{
  PetscFunctionBegin;
  PetscCall(BMRMCheckpointTransferVec(ck, b->w));
  PetscCall(BMRMCheckpointTransferVec(ck, b->d));
  PetscCall(BMRMCheckpointTransferVec(ck, b->f));
  for (PetscInt i = b->bundle.nblock; i < b->bundle.n; i++) PetscCall(BMRMCheckpointTransferVec(ck, b->bundle.a[i]));
  if (best) PetscCall(BMRMCheckpointTransferBest(b, ck));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the dot product of r and v to *print. If v is shorter, its values are used again for each class. e: vector for the products of the entries, or NULL. */
static PetscErrorCode BMRMFingerprintAddDot(Vec r, Vec v, Vec e, double *print)
{
  const PetscScalar *ra, *va;
  PetscScalar       *ea   = NULL;
  PetscReal          mine = 0, sum;
  PetscInt           n, m;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetLocalSize(v, &m));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArrayRead(v, &va));
  if (e) PetscCall(VecGetArrayWrite(e, &ea));
  for (PetscInt i = 0; i < n; i++) {
    mine += PetscRealPart(ra[i] * va[i % m]);
    if (ea) ea[i] = ra[i] * va[i % m];
  }
  if (e) PetscCall(VecRestoreArrayWrite(e, &ea));
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCallMPI(MPI_Allreduce(&mine, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)r)));
  *print += sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes three numbers that identify the data: they change with the examples, labels, queries, weights, factors or groups, and with their order.
   Overwrites d, e and r[0]. */
static PetscErrorCode BMRMFingerprintCompute(BMRM b, double print[BMRM_PRINTS])
{
  PetscScalar *a, dot;
  PetscInt     n, start;

  PetscFunctionBegin;
  for (int rows = 0; rows < 2; rows++) {
    Vec v = rows ? b->r[0] : b->d;

    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetOwnershipRange(v, &start, NULL));
    PetscCall(VecGetArrayWrite(v, &a));
    for (PetscInt i = 0; i < n; i++) { /* the factors differ for all indices, so that a permutation of the data changes the fingerprint */
      const double t = (double)(start + i) * 0.6180339887498949;

      a[i] = 1 + t - PetscFloorReal(t);
    }
    PetscCall(VecRestoreArrayWrite(v, &a));
  }
  PetscCall(MatMult(b->A, b->d, b->e));
  PetscCall(VecDot(b->r[0], b->e, &dot));
  print[1] = PetscRealPart(dot);
  print[0] = 0;
  PetscCall(BMRMFingerprintAddDot(b->r[0], b->labels, b->e, &print[0]));
  PetscCall(BMRMFingerprintAddDot(b->r[0], b->queries, NULL, &print[0]));
  PetscCall(BMRMFingerprintAddDot(b->r[0], b->importance, NULL, &print[0]));
  PetscCall(BMRMFingerprintAddDot(b->d, b->factor, NULL, &print[0]));
  PetscCall(BMRMFingerprintAddDot(b->d, b->groups, NULL, &print[0]));
  PetscCall(MatMultTranspose(b->A, b->e, b->d));
  PetscCall(VecNorm(b->d, NORM_2, &print[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the members of the state that identify the problem. */
static PetscErrorCode BMRMCheckpointDescribe(BMRM b, State *st)
{
  PetscMPIInt size;
  PetscInt    N;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(st, sizeof(*st)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)b), &size));
  st->m       = b->m;
  st->ranks   = size;
  st->outputs = b->loss->outputs;
  PetscCall(VecGetSize(b->w, &N));
  st->N      = N;
  st->nblock = b->set.ncut;
  st->nfree  = b->reg->nfree;
  PetscCall(PetscStrncpy(st->loss, b->losstype, sizeof(st->loss)));
  PetscCall(PetscStrncpy(st->regularizer, b->regtype, sizeof(st->regularizer)));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) st->parameter[k] = b->loss->value[k];
  st->groupsize = b->reg->groupsize;
  st->ratio     = b->reg->ratio;
  st->lambda    = b->set.lambda;
  for (int k = 0; k < BMRM_PRINTS; k++) st->print[k] = b->print[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the fingerprint of the data and checks that the checkpoint file can be written. Called before the first pass. */
PetscErrorCode BMRMCheckpointSetUp_Private(BMRM b)
{
  PetscFunctionBegin;
  if (!b->checkpoint[0] && !b->restart[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMFingerprintCompute(b, b->print));
  if (b->checkpoint[0]) PetscCall(GpAppOutputProbe(PetscObjectComm((PetscObject)b), b->checkpoint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a checkpoint if one is due after this pass. If that fails, a warning is printed and the training continues. */
PetscErrorCode BMRMCheckpointSave_Private(BMRM b)
{
  const BMRMBundle *bu = &b->bundle;
  GpAppCheckpoint   ck;
  State             st;

  PetscFunctionBegin;
  if (!b->checkpoint[0] || b->it % b->checkpoint_every) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMCheckpointDescribe(b, &st));
  st.n         = bu->n;
  st.it        = b->it;
  st.matmults  = b->matmults;
  st.stalled   = b->stalled;
  st.peak      = bu->peak;
  st.known     = b->known;
  st.J         = b->J;
  st.risk      = b->risk;
  st.lower     = b->lower;
  st.mu        = b->mu_now;
  st.step      = b->step;
  st.rho       = b->rho;
  st.freenoise = b->freenoise;
  PetscCall(GpAppCheckpointCreate(PetscObjectComm((PetscObject)b), b->checkpoint, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &st, sizeof(st)));
  PetscCall(GpAppCheckpointReplicated(&ck, b->free, (size_t)bu->nfree * sizeof(*b->free)));
  for (PetscInt i = 0; i < bu->n; i++) {
    double line[] = {(double)bu->block[i], (double)bu->idle[i], bu->b[i], bu->alpha[i]};

    PetscCall(GpAppCheckpointReplicated(&ck, line, sizeof(line)));
    PetscCall(GpAppCheckpointReplicated(&ck, bu->z + (size_t)i * bu->nfree, (size_t)bu->nfree * sizeof(*bu->z)));
    PetscCall(GpAppCheckpointReplicated(&ck, bu->G + (size_t)i * bu->cap, (size_t)bu->n * sizeof(*bu->G)));
  }
  PetscCall(BMRMCheckpointTransferVecs(b, &ck, b->known));
  PetscCall(GpAppCheckpointCommit(&ck, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns why the checkpoint belongs to another problem, or NULL. */
static const char *BMRMCheckpointFindDifference(const State *is, const State *want)
{
  if (is->m != want->m || is->N != want->N || is->outputs != want->outputs) return "belongs to other data: the number of examples, features or classes differs";
  if (memcmp(is->loss, want->loss, sizeof(is->loss)) || memcmp(is->regularizer, want->regularizer, sizeof(is->regularizer)) || is->parameter[0] != want->parameter[0] || is->parameter[1] != want->parameter[1] || is->ratio != want->ratio ||
      is->groupsize != want->groupsize)
    return "was made with another loss or regulariser";
  if (is->nfree != want->nfree) return "was made with another number of free weights";
  if (is->outputs > 1 && is->ranks != want->ranks) return "was made on another number of ranks, on which the weights of the classes are distributed differently";
  if (is->lambda != want->lambda || is->nblock != want->nblock) return "was made with another lambda or number of cuts per pass";
  for (int k = 0; k < BMRM_PRINTS; k++) {
    if (!(PetscAbsReal(is->print[k] - want->print[k]) <= 1e-10 * (1 + PetscAbsReal(want->print[k])))) return "belongs to other data: their checksum differs";
  }
  return NULL;
}

/* Returns what is impossible in the state of a checkpoint, or NULL. bytes: size of the arrays and vectors that follow. */
static const char *BMRMCheckpointCheckState(const State *st, PetscInt64 bytes)
{
  const int64_t count[] = {st->it, st->matmults, st->stalled, st->peak};
  const double  value[] = {st->J, st->risk, st->lower, st->mu, st->step, st->rho, st->freenoise};
  const int64_t each    = (int64_t)sizeof(double);
  int64_t       left    = bytes / each;

  for (size_t k = 0; k < sizeof(count) / sizeof(count[0]); k++)
    if (count[k] < 0 || count[k] > PETSC_MAX_INT) return "holds an impossible number of passes, products or cuts";
  for (size_t k = 0; k < sizeof(value) / sizeof(value[0]); k++)
    if (!(PetscAbsReal(value[k]) <= LARGEST)) return "holds a value that is not finite, or too large";
  if (st->mu < 0 || st->mu > 1 || st->step < 0 || st->lower > st->J + 1e-7 * PetscMax(1, PetscAbsReal(st->J))) return "holds an impossible step or bound";
  if ((st->known != 0 && st->known != 1) || st->n < st->nblock || st->n > st->peak) return "holds an impossible number of cuts";
  left -= st->nfree;
  if (bytes % each || left < 0 || st->n > left / (4 + st->nfree) || (left -= (4 + st->nfree) * st->n) / st->n < st->n) return "holds fewer cuts than its header says";
  left -= st->n * st->n + st->m * st->outputs;
  if (left < 0 || st->N < 1 || left % st->N || left / st->N != 2 + st->n - st->nblock + st->known) return "holds another number of values than its header says";
  return NULL;
}

/* Returns what is wrong with the cuts of a checkpoint, or NULL. The line of a cut: block, age, offset, weight, entries at the free
   weights, row of the Gram matrix. */
static const char *BMRMCheckpointCheckCuts(const State *st, const double lines[])
{
  const int64_t width                  = 4 + st->nfree + st->n;
  double        total[BMRM_MAX_BLOCKS] = {0};

  for (int64_t i = 0; i < st->n; i++) {
    const double *line = lines + i * width;

    for (int64_t k = 0; k < width; k++)
      if (!(PetscAbsReal(line[k]) <= LARGEST)) return "holds a cut with a value that is not finite, or too large";
    if (!(line[0] >= 0 && line[0] < st->nblock && line[0] == PetscFloorReal(line[0])) || (i < st->nblock && line[0] != i)) return "holds a cut of a block of examples that does not exist";
    if (!(line[1] >= 0 && line[1] <= PETSC_MAX_INT && line[1] == PetscFloorReal(line[1]))) return "holds a cut with an impossible age";
    if (line[3] < 0) return "holds a cut with a negative weight";
    total[(int)line[0]] += line[3];
  }
  for (int64_t k = 0; k < st->nblock; k++)
    if (PetscAbsReal(total[k] - 1) > 1e-6) return "holds cuts whose weights do not add up to 1";
  return NULL;
}

/* Reads the cuts, except their vectors. */
static PetscErrorCode BMRMCheckpointLoadCuts(BMRM b, GpAppCheckpoint *ck, const State *st)
{
  const size_t bytes = (size_t)st->n * (size_t)(4 + st->nfree + st->n) * sizeof(double);
  const char  *wrong;
  double      *lines;
  PetscBool    finite = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscFree(b->free));
  PetscCall(PetscCalloc1(st->nfree, &b->free));
  PetscCall(GpAppCheckpointReplicated(ck, b->free, (size_t)st->nfree * sizeof(*b->free)));
  for (int64_t c = 0; c < st->nfree; c++) finite = (PetscBool)(finite && PetscAbsReal(b->free[c]) <= LARGEST);
  if (!finite) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint holds a free weight that is not finite, or too large"));
  PetscCall(PetscMalloc(bytes, &lines));
  PetscCall(GpAppCheckpointReplicated(ck, lines, bytes));
  wrong = BMRMCheckpointCheckCuts(st, lines);
  if (!wrong) PetscCall(BMRMBundleRefill(&b->bundle, b->w, (PetscInt)st->n, lines));
  PetscCall(PetscFree(lines));
  if (wrong) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint %s", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the state that BMRMStart() has initialised by that of the checkpoint. The bundle must hold only the constant cuts. */
PetscErrorCode BMRMCheckpointLoad_Private(BMRM b)
{
  GpAppCheckpoint ck;
  State           st, want;
  const char     *wrong;

  PetscFunctionBegin;
  PetscCall(BMRMCheckpointDescribe(b, &want));
  PetscCall(GpAppCheckpointOpen(PetscObjectComm((PetscObject)b), b->restart, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &st, sizeof(st)));
  wrong = BMRMCheckpointFindDifference(&st, &want);
  if (!wrong) wrong = BMRMCheckpointCheckState(&st, ck.left);
  if (wrong) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint %s", wrong));
  PetscCall(BMRMCheckpointLoadCuts(b, &ck, &st));
  PetscCall(BMRMCheckpointTransferVecs(b, &ck, (PetscBool)st.known));
  PetscCall(GpAppCheckpointClose(&ck));
  if (b->known) {
    PetscReal offset;

    PetscCall((*b->loss->ops->cut)(b->loss, b->f, b->f, 0, b->labels, 1, 0, b->rbest, &offset));
  }
  b->bundle.peak = (PetscInt)st.peak;
  b->it          = (PetscInt)st.it;
  b->matmults    = (PetscInt)st.matmults;
  b->stalled     = (PetscInt)st.stalled;
  b->J           = st.J;
  b->risk        = st.risk;
  b->lower       = st.lower;
  b->mu_now      = st.mu;
  b->step        = st.step;
  b->rho         = st.rho;
  b->freenoise   = st.freenoise;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetCheckpoint - Makes `BMRMSolve()` write checkpoints of its state

  Logically Collective

  Input Parameters:
+ b     - the solver
. file  - the file, or `NULL` for none. It is replaced atomically, so that it always holds a complete checkpoint
- every - number of passes between two checkpoints; 10 by default

  Options Database Keys:
+ -bmrm_checkpoint <file>     - the file
- -bmrm_checkpoint_every <10> - number of passes between two checkpoints

  Level: intermediate

.seealso: `BMRMSetRestart()`
@*/
PetscErrorCode BMRMSetCheckpoint(BMRM b, const char file[], PetscInt every)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, every, 3);
  PetscCheck(every >= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of passes between two checkpoints is %" PetscInt_FMT ", it must be one or more", every);
  PetscCall(PetscStrncpy(b->checkpoint, file ? file : "", sizeof(b->checkpoint)));
  b->checkpoint_every = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetRestart - Makes the next `BMRMSolve()` start from a checkpoint

  Logically Collective

  Input Parameters:
+ b    - the solver, with the same data and settings
- file - the checkpoint, or `NULL` for none

  Options Database Key:
. -bmrm_restart <file> - the checkpoint

  Level: intermediate

  Note:
  On the same number of ranks the result has the same bits as that of a solve without interruption. A checkpoint of other data, of another loss, regulariser or
  lambda, and a damaged checkpoint raise an error.

.seealso: `BMRMSetCheckpoint()`
@*/
PetscErrorCode BMRMSetRestart(BMRM b, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(PetscStrncpy(b->restart, file ? file : "", sizeof(b->restart)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
