/* Checkpoints: the whole state between two passes, so that a restart goes on as if nothing had happened, to the last bit. */
#include "bmrmimpl.h"
#include "model.h"
#include <errno.h>
#include <string.h>

#define BMRM_CHECKPOINT_MAGIC "bmrm-checkpoint3"
#define BMRM_CHECKPOINT_ORDER 0x0102030405060708 /* tells the order of the bytes */

/* what the file begins with; the arrays, the vectors and a checksum of all that follow */
typedef struct {
  char    magic[16];
  int64_t order, m, N, outputs, ranks, nblock, groupsize, n, it, matmults, stalled, peak, known;
  char    loss[BMRM_NAME_LEN], regularizer[BMRM_NAME_LEN];
  double  parameter[BMRM_LOSS_PARAMETERS], ratio, lambda, print[BMRM_PRINTS];
  double  J, risk, lower, mu, step, rho, free;
} State;

/* the file, on the first rank */
typedef struct {
  FILE    *fp;
  uint64_t sum;
  int      bad; /* an errno, -1 when the file ends too early */
} Stream;

static void Sum(Stream *s, const void *data, size_t bytes)
{
  for (size_t k = 0; k < bytes; k++) s->sum = (s->sum ^ ((const unsigned char *)data)[k]) * 1099511628211u; /* FNV-1a */
}

static void Put(Stream *s, const void *data, size_t bytes)
{
  if (!s->fp) return;
  Sum(s, data, bytes);
  (void)fwrite(data, 1, bytes, s->fp); /* GpAppOutputCommit() looks at ferror() */
}

static void Get(Stream *s, void *data, size_t bytes)
{
  if (!s->fp || s->bad) return;
  if (fread(data, 1, bytes, s->fp) == bytes) Sum(s, data, bytes);
  else s->bad = ferror(s->fp) ? errno : -1;
}

/* A vector goes through the first rank. */
static PetscErrorCode Transfer(Stream *s, Vec v, PetscBool put)
{
  const ScatterMode mode = put ? SCATTER_FORWARD : SCATTER_REVERSE;
  VecScatter        scatter;
  Vec               all;
  PetscScalar      *a;
  PetscInt          n;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(v, &scatter, &all));
  PetscCall(VecGetLocalSize(all, &n));
  if (put) {
    PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, mode));
  }
  PetscCall(VecGetArray(all, &a));
  if (put) Put(s, a, (size_t)n * sizeof(*a));
  else Get(s, a, (size_t)n * sizeof(*a));
  PetscCall(VecRestoreArray(all, &a));
  if (!put) {
    PetscCall(VecScatterBegin(scatter, all, v, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(scatter, all, v, INSERT_VALUES, mode));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The product of the best point's slopes, which the next ones start from; these slopes follow from the scores. Where cuts are taken otherwise it is
  read for nothing.
*/
static PetscErrorCode TransferBest(BMRM b, Stream *s, PetscBool put)
{
  Vec       g = b->gbest;
  PetscReal offset;

  PetscFunctionBegin;
  if (!g) PetscCall(VecDuplicate(b->w, &g));
  PetscCall(Transfer(s, g, put));
  if (!b->gbest) PetscCall(VecDestroy(&g));
  else if (!put) {
    PetscCall((*b->loss->ops->cut)(b->loss, b->f, b->f, 0, b->labels, 1, 0, b->rbest, &offset));
    b->known = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransferVectors(BMRM b, Stream *s, PetscBool put, PetscBool best)
{
  PetscFunctionBegin;
  PetscCall(Transfer(s, b->w, put));
  PetscCall(Transfer(s, b->d, put));
  PetscCall(Transfer(s, b->f, put));
  for (PetscInt i = b->bundle.nblock; i < b->bundle.n; i++) PetscCall(Transfer(s, b->bundle.a[i], put));
  if (best) PetscCall(TransferBest(b, s, put));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Scramble(PetscScalar a[], PetscInt n, PetscInt start)
{
  for (PetscInt i = 0; i < n; i++) a[i] = 1 + (PetscScalar)(((uint64_t)(start + i) * 2654435761u) % 1000) / 1000;
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
  memcpy(st->magic, BMRM_CHECKPOINT_MAGIC, sizeof(st->magic));
  st->order   = BMRM_CHECKPOINT_ORDER;
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

/* Writes the state after a pass, when it is time to: aside, then renamed, so that there is a whole checkpoint at every moment. */
PetscErrorCode BMRMCheckpointSave_Private(BMRM b)
{
  const BMRMBundle *bu = &b->bundle;
  GpAppOutput       out;
  Stream            s = {NULL, 14695981039346656037u, 0};
  State             st;
  uint64_t          sum;

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
  PetscCall(GpAppOutputOpen(PetscObjectComm((PetscObject)b), b->checkpoint, &out));
  s.fp = out.fp;
  Put(&s, &st, sizeof(st));
  for (PetscInt i = 0; i < bu->n; i++) {
    const double line[] = {(double)bu->block[i], (double)bu->idle[i], bu->b[i], bu->z[i], bu->alpha[i]};

    Put(&s, line, sizeof(line));
    Put(&s, bu->G + (size_t)i * bu->cap, (size_t)bu->n * sizeof(*bu->G));
  }
  PetscCall(TransferVectors(b, &s, PETSC_TRUE, b->known));
  sum = s.sum;
  Put(&s, &sum, sizeof(sum));
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the checkpoint is not one of this training, or NULL. */
static const char *Differs(const State *is, const State *want)
{
  if (memcmp(is->magic, want->magic, sizeof(is->magic)) || is->order != want->order) return "is not a checkpoint of this version of bmrm on this kind of machine";
  if (is->m != want->m || is->N != want->N) return "belongs to other data: the number of examples or features differs";
  if (strcmp(is->loss, want->loss) || strcmp(is->regularizer, want->regularizer) || is->parameter[0] != want->parameter[0] || is->parameter[1] != want->parameter[1] || is->ratio != want->ratio || is->groupsize != want->groupsize)
    return "was made with another loss or regulariser";
  if (is->outputs > 1 && is->ranks != want->ranks) return "was made on another number of ranks, which have other parts of the weights of the classes";
  if (is->lambda != want->lambda || is->nblock != want->nblock) return "was made with another lambda or number of cuts a pass";
  for (int k = 0; k < BMRM_PRINTS; k++) {
    if (!(PetscAbsReal(is->print[k] - want->print[k]) <= 1e-10 * (1 + PetscAbsReal(want->print[k])))) return "belongs to other data: their checksum differs";
  }
  return NULL;
}

/* Raises on all ranks what the first one found. */
static PetscErrorCode Raise(BMRM b, const Stream *s, const char what[])
{
  char     text[256] = "";
  MPI_Comm comm      = PetscObjectComm((PetscObject)b);

  PetscFunctionBegin;
  if (what) PetscCall(PetscStrncpy(text, what, sizeof(text)));
  else if (s->bad > 0) PetscCall(PetscSNPrintf(text, sizeof(text), "cannot be read: %s", strerror(s->bad)));
  else if (s->bad) PetscCall(PetscStrncpy(text, "is damaged or cut off", sizeof(text)));
  PetscCallMPI(MPI_Bcast(text, (PetscMPIInt)sizeof(text), MPI_CHAR, 0, comm));
  PetscCheck(!text[0], comm, PETSC_ERR_FILE_UNEXPECTED, "The checkpoint %s %s", b->restart, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of a checkpoint takes the place of BMRMStart()'s; the bundle is new and holds the least risks only. */
PetscErrorCode BMRMCheckpointLoad_Private(BMRM b)
{
  BMRMBundle *bu   = &b->bundle;
  MPI_Comm    comm = PetscObjectComm((PetscObject)b);
  Stream      s    = {NULL, 14695981039346656037u, 0};
  State       st, want;
  double     *lines;
  uint64_t    sum, read = 0;
  PetscMPIInt rank, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(Describe(b, &want));
  if (!rank) {
    s.fp = fopen(b->restart, "rb");
    if (!s.fp) s.bad = errno;
  }
  Get(&s, &st, sizeof(st));
  PetscCall(Raise(b, &s, rank || s.bad ? NULL : Differs(&st, &want)));
  PetscCallMPI(MPI_Bcast(&st, (PetscMPIInt)sizeof(st), MPI_BYTE, 0, comm));
  PetscCall(PetscMalloc1((size_t)st.n * (5 + st.n), &lines));
  Get(&s, lines, (size_t)st.n * (5 + st.n) * sizeof(*lines));
  PetscCall(GpCompatMPIIntCast(st.n * (5 + st.n), &count));
  PetscCallMPI(MPI_Bcast(lines, count, MPI_DOUBLE, 0, comm));
  PetscCall(BMRMBundleRefill(bu, b->w, (PetscInt)st.n, lines));
  PetscCall(PetscFree(lines));
  PetscCall(TransferVectors(b, &s, PETSC_FALSE, (PetscBool)st.known));
  sum = s.sum;
  Get(&s, &read, sizeof(read));
  PetscCall(Raise(b, &s, !rank && !s.bad && read != sum ? "is damaged: its checksum is wrong" : NULL));
  if (s.fp) (void)fclose(s.fp);
  bu->peak    = (PetscInt)st.peak;
  b->it       = (PetscInt)st.it;
  b->matmults = (PetscInt)st.matmults;
  b->stalled  = (PetscInt)st.stalled;
  b->J        = st.J;
  b->risk     = st.risk;
  b->lower    = st.lower;
  b->mu_now   = st.mu;
  b->step     = st.step;
  b->rho      = st.rho;
  b->free     = st.free;
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
