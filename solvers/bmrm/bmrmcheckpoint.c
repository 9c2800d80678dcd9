/* Checkpoints: the whole state between two passes, so that a restart goes on as if nothing had happened, to the last bit. */
#include "bmrmimpl.h"
#include "app/appcheckpoint.h"
#include "model.h"
#include <string.h>

#define LARGEST 1e150 /* of values that a training can have left: larger ones have no finite square */

static const GpAppCheckpointKind Kind = {"bmrm", 4};

/* The state but for the arrays and vectors, and what tells whose it is. Without padding, since it is written as it is. */
typedef struct {
  int64_t m, N, outputs, ranks, nblock, groupsize, n, it, matmults, stalled, peak, known;
  char    loss[BMRM_NAME_LEN], regularizer[BMRM_NAME_LEN];
  double  parameter[BMRM_LOSS_PARAMETERS], ratio, lambda, print[BMRM_PRINTS];
  double  J, risk, lower, mu, step, rho, free;
} State;

/* Reads or writes a vector; one that is read must have finite values, of at most LARGEST. */
static PetscErrorCode Transfer(GpAppCheckpoint *ck, Vec v)
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
  The product of the best point's slopes, which the next ones start from; these slopes follow from the scores. Where cuts are taken otherwise it is
  read for nothing.
*/
static PetscErrorCode TransferBest(BMRM b, GpAppCheckpoint *ck)
{
  Vec g = b->gbest;

  PetscFunctionBegin;
  if (!g) PetscCall(VecDuplicate(b->w, &g));
  PetscCall(Transfer(ck, g));
  if (!b->gbest) PetscCall(VecDestroy(&g));
  else b->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransferVectors(BMRM b, GpAppCheckpoint *ck, PetscBool best)
{
  PetscFunctionBegin;
  PetscCall(Transfer(ck, b->w));
  PetscCall(Transfer(ck, b->d));
  PetscCall(Transfer(ck, b->f));
  for (PetscInt i = b->bundle.nblock; i < b->bundle.n; i++) PetscCall(Transfer(ck, b->bundle.a[i]));
  if (best) PetscCall(TransferBest(b, ck));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills an array with factors that no permutation of the indices keeps. */
static void Scramble(PetscScalar a[], PetscInt n, PetscInt start)
{
  for (PetscInt i = 0; i < n; i++) {
    const double t = (double)(start + i) * 0.6180339887498949;

    a[i] = 1 + t - PetscFloorReal(t);
  }
}

/* e = r times the label of the example, or of the score where every score has one */
static PetscErrorCode TimesLabels(Vec r, Vec labels, Vec e)
{
  const PetscScalar *ra, *ya;
  PetscScalar       *ea;
  PetscInt           n, m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(e, &n));
  PetscCall(VecGetLocalSize(labels, &m));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArrayRead(labels, &ya));
  PetscCall(VecGetArrayWrite(e, &ea));
  for (PetscInt i = 0; i < n; i++) ea[i] = ra[i] * ya[i % m];
  PetscCall(VecRestoreArrayWrite(e, &ea));
  PetscCall(VecRestoreArrayRead(labels, &ya));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the sum of r times v to a number; where v is shorter it counts for every class. */
static PetscErrorCode AddDot(Vec r, Vec v, double *print)
{
  const PetscScalar *ra, *va;
  PetscReal          mine = 0, sum;
  PetscInt           n, m;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetLocalSize(v, &m));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArrayRead(v, &va));
  for (PetscInt i = 0; i < n; i++) mine += PetscRealPart(ra[i] * va[i % m]);
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCallMPI(MPI_Allreduce(&mine, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)r)));
  *print += sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three numbers that other examples, labels, queries, factors or groups, or another order of them would hardly share. Uses d, e and r. */
static PetscErrorCode FingerPrint(BMRM b, double print[BMRM_PRINTS])
{
  PetscScalar *a, dot;
  PetscInt     n, start;

  PetscFunctionBegin;
  for (int rows = 0; rows < 2; rows++) {
    Vec v = rows ? b->r[0] : b->d;

    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetOwnershipRange(v, &start, NULL));
    PetscCall(VecGetArrayWrite(v, &a));
    Scramble(a, n, start);
    PetscCall(VecRestoreArrayWrite(v, &a));
  }
  PetscCall(MatMult(b->A, b->d, b->e));
  PetscCall(VecDot(b->r[0], b->e, &dot));
  print[1] = PetscRealPart(dot);
  print[0] = 0;
  PetscCall(AddDot(b->r[0], b->labels, &print[0]));
  PetscCall(AddDot(b->r[0], b->queries, &print[0]));
  PetscCall(AddDot(b->d, b->factor, &print[0]));
  PetscCall(AddDot(b->d, b->groups, &print[0]));
  PetscCall(TimesLabels(b->r[0], b->labels, b->e));
  PetscCall(MatMultTranspose(b->A, b->e, b->d));
  PetscCall(VecNorm(b->d, NORM_2, &print[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known before anything is read or written. */
static PetscErrorCode Describe(BMRM b, State *st)
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
  st->nblock = b->ncut;
  PetscCall(PetscStrncpy(st->loss, b->losstype, sizeof(st->loss)));
  PetscCall(PetscStrncpy(st->regularizer, b->regtype, sizeof(st->regularizer)));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) st->parameter[k] = b->loss->value[k];
  st->groupsize = b->reg->groupsize;
  st->ratio     = b->reg->ratio;
  st->lambda    = b->lambda;
  for (int k = 0; k < BMRM_PRINTS; k++) st->print[k] = b->print[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before the first pass: data are told apart by their fingerprint. */
PetscErrorCode BMRMCheckpointSetUp_Private(BMRM b)
{
  PetscFunctionBegin;
  if (!b->checkpoint[0] && !b->restart[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FingerPrint(b, b->print));
  if (b->checkpoint[0]) PetscCall(GpAppOutputProbe(PetscObjectComm((PetscObject)b), b->checkpoint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the state after a pass, when it is time to. A failure is a warning: the training goes on. */
PetscErrorCode BMRMCheckpointSave_Private(BMRM b)
{
  const BMRMBundle *bu = &b->bundle;
  GpAppCheckpoint   ck;
  State             st;

  PetscFunctionBegin;
  if (!b->checkpoint[0] || b->it % b->checkpoint_every) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Describe(b, &st));
  st.n        = bu->n;
  st.it       = b->it;
  st.matmults = b->matmults;
  st.stalled  = b->stalled;
  st.peak     = bu->peak;
  st.known    = b->known;
  st.J        = b->J;
  st.risk     = b->risk;
  st.lower    = b->lower;
  st.mu       = b->mu_now;
  st.step     = b->step;
  st.rho      = b->rho;
  st.free     = b->free;
  PetscCall(GpAppCheckpointCreate(PetscObjectComm((PetscObject)b), b->checkpoint, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &st, sizeof(st)));
  for (PetscInt i = 0; i < bu->n; i++) {
    double line[] = {(double)bu->block[i], (double)bu->idle[i], bu->b[i], bu->z[i], bu->alpha[i]};

    PetscCall(GpAppCheckpointReplicated(&ck, line, sizeof(line)));
    PetscCall(GpAppCheckpointReplicated(&ck, bu->G + (size_t)i * bu->cap, (size_t)bu->n * sizeof(*bu->G)));
  }
  PetscCall(TransferVectors(b, &ck, b->known));
  PetscCall(GpAppCheckpointCommit(&ck, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the checkpoint is not one of this training, or NULL. */
static const char *Differs(const State *is, const State *want)
{
  if (is->m != want->m || is->N != want->N || is->outputs != want->outputs) return "belongs to other data: the number of examples, features or classes differs";
  if (memcmp(is->loss, want->loss, sizeof(is->loss)) || memcmp(is->regularizer, want->regularizer, sizeof(is->regularizer)) || is->parameter[0] != want->parameter[0] || is->parameter[1] != want->parameter[1] || is->ratio != want->ratio ||
      is->groupsize != want->groupsize)
    return "was made with another loss or regulariser";
  if (is->outputs > 1 && is->ranks != want->ranks) return "was made on another number of ranks, which have other parts of the weights of the classes";
  if (is->lambda != want->lambda || is->nblock != want->nblock) return "was made with another lambda or number of cuts a pass";
  for (int k = 0; k < BMRM_PRINTS; k++) {
    if (!(PetscAbsReal(is->print[k] - want->print[k]) <= 1e-10 * (1 + PetscAbsReal(want->print[k])))) return "belongs to other data: their checksum differs";
  }
  return NULL;
}

/* What no training can have left in its state, or NULL; bytes are those of the arrays and vectors that follow. */
static const char *Impossible(const State *st, PetscInt64 bytes)
{
  const int64_t count[] = {st->it, st->matmults, st->stalled, st->peak};
  const double  value[] = {st->J, st->risk, st->lower, st->mu, st->step, st->rho, st->free};
  const int64_t each    = (int64_t)sizeof(double);
  int64_t       left    = bytes / each;

  for (size_t k = 0; k < sizeof(count) / sizeof(count[0]); k++)
    if (count[k] < 0 || count[k] > PETSC_MAX_INT) return "holds a number of passes, products or cuts that cannot be";
  for (size_t k = 0; k < sizeof(value) / sizeof(value[0]); k++)
    if (!(PetscAbsReal(value[k]) <= LARGEST)) return "holds a value that is not finite, or too large";
  if (st->mu < 0 || st->mu > 1 || st->step < 0 || st->lower > st->J + 1e-7 * PetscMax(1, PetscAbsReal(st->J))) return "holds a step or a bound that cannot be";
  if ((st->known != 0 && st->known != 1) || st->n < st->nblock || st->n > st->peak) return "holds a number of cuts that cannot be";
  if (bytes % each || st->n > left / 5 || (left -= 5 * st->n) / st->n < st->n) return "holds fewer cuts than it says";
  left -= st->n * st->n + st->m * st->outputs;
  if (left < 0 || st->N < 1 || left % st->N || left / st->N != 2 + st->n - st->nblock + st->known) return "holds another number of values than its sizes say";
  return NULL;
}

/* What is wrong with the cuts of a checkpoint, or NULL: of every cut block, age, offset, free entry, weight and its row of the Gram matrix. */
static const char *ImpossibleCuts(const State *st, const double lines[])
{
  const int64_t width                  = 5 + st->n;
  double        total[BMRM_MAX_BLOCKS] = {0};

  for (int64_t i = 0; i < st->n; i++) {
    const double *line = lines + i * width;

    for (int64_t k = 0; k < width; k++)
      if (!(PetscAbsReal(line[k]) <= LARGEST)) return "holds a cut with a value that is not finite, or too large";
    if (!(line[0] >= 0 && line[0] < st->nblock && line[0] == PetscFloorReal(line[0])) || (i < st->nblock && line[0] != i)) return "holds a cut of examples that do not exist";
    if (!(line[1] >= 0 && line[1] <= PETSC_MAX_INT && line[1] == PetscFloorReal(line[1]))) return "holds a cut with an age that cannot be";
    if (line[4] < 0) return "holds a cut with a negative weight";
    total[(int)line[0]] += line[4];
  }
  for (int64_t k = 0; k < st->nblock; k++)
    if (PetscAbsReal(total[k] - 1) > 1e-6) return "holds cuts whose weights do not add up to 1";
  return NULL;
}

/* Reads the cuts but for their vectors. */
static PetscErrorCode LoadCuts(BMRM b, GpAppCheckpoint *ck, const State *st)
{
  const size_t bytes = (size_t)st->n * (size_t)(5 + st->n) * sizeof(double);
  const char  *wrong;
  double      *lines;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, &lines));
  PetscCall(GpAppCheckpointReplicated(ck, lines, bytes));
  wrong = ImpossibleCuts(st, lines);
  if (!wrong) PetscCall(BMRMBundleRefill(&b->bundle, b->w, (PetscInt)st->n, lines));
  PetscCall(PetscFree(lines));
  if (wrong) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint %s", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of a checkpoint takes the place of BMRMStart()'s; the bundle is new and holds the least risks only. */
PetscErrorCode BMRMCheckpointLoad_Private(BMRM b)
{
  GpAppCheckpoint ck;
  State           st, want;
  const char     *wrong;

  PetscFunctionBegin;
  PetscCall(Describe(b, &want));
  PetscCall(GpAppCheckpointOpen(PetscObjectComm((PetscObject)b), b->restart, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, &st, sizeof(st)));
  wrong = Differs(&st, &want);
  if (!wrong) wrong = Impossible(&st, ck.left);
  if (wrong) PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_FILE_UNEXPECTED, "the checkpoint %s", wrong));
  PetscCall(LoadCuts(b, &ck, &st));
  PetscCall(TransferVectors(b, &ck, (PetscBool)st.known));
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
  b->free        = st.free;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetCheckpoint - Makes `BMRMSolve()` save its state now and then

  Logically Collective

  Input Parameters:
+ b     - the solver
. file  - where to; it is replaced as a whole, and holds a complete checkpoint at every moment. `NULL` for none
- every - save after so many passes

  Options Database Keys:
+ -bmrm_checkpoint <file>     - where to
- -bmrm_checkpoint_every <10> - after so many passes

  Level: intermediate

.seealso: `BMRMSetRestart()`
@*/
PetscErrorCode BMRMSetCheckpoint(BMRM b, const char file[], PetscInt every)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, every, 3);
  PetscCheck(every >= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "A checkpoint every %" PetscInt_FMT " passes, it must be one or more", every);
  PetscCall(PetscStrncpy(b->checkpoint, file ? file : "", sizeof(b->checkpoint)));
  b->checkpoint_every = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetRestart - Makes the next `BMRMSolve()` go on where a checkpoint was written

  Logically Collective

  Input Parameters:
+ b    - the solver, with the same data and settings
- file - the checkpoint, `NULL` for none

  Options Database Key:
. -bmrm_restart <file> - the checkpoint

  Level: intermediate

  Note:
  On as many ranks it goes on to the last bit as if it had not been interrupted. A checkpoint of other data, another loss, regulariser or lambda,
  and one that is damaged, is refused.

.seealso: `BMRMSetCheckpoint()`
@*/
PetscErrorCode BMRMSetRestart(BMRM b, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(PetscStrncpy(b->restart, file ? file : "", sizeof(b->restart)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
