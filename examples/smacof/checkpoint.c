/* Checkpoints: all that the next pass depends on, so that a restart goes on to the last bit. */
#include "smacof.h"
#include <string.h>

/* what a checkpoint belongs to; the state follows */
typedef struct {
  char       magic[8];
  PetscInt64 bytes, N, dim, history, pairs, acceleration, disparity, first, n; /* starts from first on, n of them */
  PetscReal  sumsquares;
} Header;
static const char magic[8] = "smacof4";

/* a way through all values of the state: to count their bytes, to write or to read them */
typedef struct {
  MPI_Comm comm;
  enum {
    COUNT,
    WRITE,
    READ
  } what;
  FILE      *fp; /* on the first rank */
  PetscInt64 bytes;
} Tape;

static PetscErrorCode Move(Tape *t, void *a, size_t bytes)
{
  PetscFunctionBegin;
  t->bytes += (PetscInt64)bytes;
  if (t->what == WRITE && t->fp) (void)fwrite(a, 1, bytes, t->fp); /* the commit looks for errors */
  if (t->what != READ) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->fp) PetscCheck(fread(a, 1, bytes, t->fp) == bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "A checkpoint that was whole cannot be read");
  for (size_t at = 0; at < bytes; at += PETSC_MPI_INT_MAX) PetscCallMPI(MPI_Bcast((char *)a + at, (PetscMPIInt)PetscMin(bytes - at, PETSC_MPI_INT_MAX), MPI_BYTE, 0, t->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveVec(Tape *t, Vec v)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(t->what == READ ? VecGetArrayWrite(v, &a) : VecGetArrayRead(v, (const PetscScalar **)&a));
  PetscCall(Move(t, a, sizeof(*a) * (size_t)n));
  PetscCall(t->what == READ ? VecRestoreArrayWrite(v, &a) : VecRestoreArrayRead(v, (const PetscScalar **)&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveConfiguration(Tape *t, Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(Move(t, &c->sigma, sizeof(c->sigma)));
  PetscCall(Move(t, &c->xfactor, sizeof(c->xfactor)));
  PetscCall(Move(t, &c->gfactor, sizeof(c->gfactor)));
  PetscCall(MoveVec(t, c->x));
  PetscCall(MoveVec(t, c->g));
  PetscCall(MoveVec(t, c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveHistory(Tape *t, History *H)
{
  PetscFunctionBegin;
  PetscCall(Move(t, &H->have, sizeof(H->have)));
  PetscCall(Move(t, &H->newest, sizeof(H->newest)));
  PetscCall(Move(t, &H->any, sizeof(H->any)));
  PetscCall(Move(t, H->xx, sizeof(*H->xx) * (size_t)(H->most * H->most)));
  PetscCall(Move(t, H->xf, sizeof(*H->xf) * (size_t)(H->most * H->most)));
  PetscCall(Move(t, H->fx, sizeof(*H->fx) * (size_t)H->most));
  PetscCall(MoveVec(t, H->x));
  PetscCall(MoveVec(t, H->f));
  for (PetscInt k = 0; k < H->most; k++) {
    PetscCall(MoveVec(t, H->dx[k]));
    PetscCall(MoveVec(t, H->df[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n paths, and the best of all starts that have ended; vectors that hold nothing yet are moved like others */
static PetscErrorCode MoveAll(Tape *t, Scaler *S, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(Move(t, &S->outcome, sizeof(S->outcome)));
  PetscCall(MoveConfiguration(t, &S->best));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(Move(t, &S->path[k].at, sizeof(S->path[k].at)));
    PetscCall(MoveConfiguration(t, &S->path[k].now));
    if (S->o.acceleration == ACCELERATION_ANDERSON) PetscCall(MoveHistory(t, &S->path[k].history));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Describe(Scaler *S, PetscInt n, Header *h)
{
  Tape t = {S->D->comm, COUNT, NULL, sizeof(*h)};

  PetscFunctionBegin;
  PetscCall(MoveAll(&t, S, n));
  PetscCall(PetscMemzero(h, sizeof(*h)));
  memcpy(h->magic, magic, sizeof(magic));
  h->bytes        = t.bytes;
  h->N            = S->D->N;
  h->dim          = S->o.dim;
  h->history      = S->o.history;
  h->pairs        = S->D->npairs;
  h->acceleration = S->o.acceleration;
  h->disparity    = S->o.disparity.type;
  h->first        = S->path[0].at.start;
  h->n            = n;
  h->sumsquares   = S->D->sumsquares;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CheckpointWrite - Writes the state before the next pass, aside and renamed

  Collective

  Input Parameters:
+ S    - the scaler
. n    - how many starts are under way
- file - its name
*/
PetscErrorCode CheckpointWrite(Scaler *S, PetscInt n, const char file[])
{
  GpAppOutput out;
  Header      h;
  Tape        t = {S->D->comm, WRITE, NULL, 0};

  PetscFunctionBegin;
  PetscCall(Describe(S, n, &h));
  PetscCall(GpAppOutputOpen(S->D->comm, file, &out));
  t.fp = out.fp;
  PetscCall(Move(&t, &h, sizeof(h)));
  PetscCall(MoveAll(&t, S, n));
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the header of a file, on the first rank; what is wrong with it */
static int ReadHeader(FILE *fp, Header *h)
{
  if (!fp) return 1;
  if (fread(h, sizeof(*h), 1, fp) != 1 || memcmp(h->magic, magic, sizeof(magic))) return 2;
  if (fseek(fp, 0, SEEK_END) || ftell(fp) != h->bytes || fseek(fp, sizeof(*h), SEEK_SET)) return 2;
  return 0;
}

/*
  CheckpointRead - Back to the state before the next pass

  Collective

  Input Parameters:
+ S    - the scaler
- file - the name of the checkpoint

  Output Parameter:
. n - how many starts are under way
*/
PetscErrorCode CheckpointRead(Scaler *S, PetscInt *n, const char file[])
{
  Tape        t = {S->D->comm, READ, NULL, 0};
  Header      h = {.n = 0}, mine = {.n = 0};
  PetscMPIInt rank;
  int         failed = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(S->D->comm, &rank));
  if (!rank) {
    t.fp   = fopen(file, "rb");
    failed = ReadHeader(t.fp, &h);
  }
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, S->D->comm));
  PetscCheck(failed != 1, S->D->comm, PETSC_ERR_FILE_OPEN, "%s: cannot be opened", file);
  PetscCheck(failed != 2, S->D->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no checkpoint of smacof, or not the whole of one", file);
  PetscCallMPI(MPI_Bcast(&h, (PetscMPIInt)sizeof(h), MPI_BYTE, 0, S->D->comm));
  PetscCheck(h.first + h.n <= S->o.starts, S->D->comm, PETSC_ERR_USER_INPUT, "-restart %s: a checkpoint of start %" PetscInt64_FMT " (counted from 0), for which -smacof_starts %" PetscInt_FMT " is too few", file, h.first + h.n - 1, S->o.starts);
  PetscCheck(h.n <= S->npaths, S->D->comm, PETSC_ERR_USER_INPUT, "-restart %s: a checkpoint of %" PetscInt64_FMT " starts at once, for which -smacof_batch %" PetscInt_FMT " is too few", file, h.n, S->npaths);
  *n = (PetscInt)h.n;
  PetscCall(Describe(S, *n, &mine));
  mine.first = h.first;
  if (PetscAbsReal(h.sumsquares - mine.sumsquares) <= 1e-12 * mine.sumsquares) mine.sumsquares = h.sumsquares; /* of other ranks */
  PetscCheck(!memcmp(&h, &mine, sizeof(h)), S->D->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a checkpoint of other dissimilarities or other options", file);
  PetscCall(MoveAll(&t, S, *n));
  if (t.fp) (void)fclose(t.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}
