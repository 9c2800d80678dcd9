/* Checkpoints: all that the next step depends on, so that a restart goes on to the last bit. */
#include "smacof.h"
#include <string.h>

/* what a checkpoint belongs to, and where the iteration is; the arrays follow */
typedef struct {
  char       magic[8];
  PetscInt64 N, dim, history, pairs, start, it, rejected, have, newest, any, extrapolated, acceleration, disparity;
  PetscReal  sumsquares, last, below, sigma;
} Header;
static const char magic[8] = "smacof1";

typedef struct {
  double *a;
  size_t  n;
} Part;

/* the arrays of a checkpoint, in their order; how many */
static int Parts(const Scaler *S, Part part[6])
{
  const History *H = &S->history;
  const size_t   n = (size_t)S->D->N * (size_t)S->o.dim;

  part[0] = (Part){S->now.x, n};
  part[1] = (Part){S->now.g, n};
  if (S->o.acceleration != ACCELERATION_ANDERSON) return 2;
  part[2] = (Part){H->x, n};
  part[3] = (Part){H->f, n};
  part[4] = (Part){H->dx, n * (size_t)H->most};
  part[5] = (Part){H->df, n * (size_t)H->most};
  return 6;
}

static void Describe(const Scaler *S, Header *h)
{
  memset(h, 0, sizeof(*h));
  memcpy(h->magic, magic, sizeof(magic));
  h->N            = S->D->N;
  h->dim          = S->o.dim;
  h->history      = S->o.history;
  h->pairs        = S->D->npairs;
  h->acceleration = S->o.acceleration;
  h->disparity    = S->o.disparity.type;
  h->sumsquares   = S->D->sumsquares;
}

/* the state before the next step of a start, written aside and renamed; collective */
PetscErrorCode CheckpointWrite(const Scaler *S, PetscInt start, const char file[])
{
  GpAppOutput out;
  Header      h;
  Part        part[6];

  PetscFunctionBegin;
  PetscCall(GpAppOutputOpen(S->D->comm, file, &out));
  if (out.fp) {
    Describe(S, &h);
    h.start        = start;
    h.it           = S->it;
    h.rejected     = S->rejected;
    h.have         = S->history.have;
    h.newest       = S->history.newest;
    h.any          = S->history.any;
    h.extrapolated = S->extrapolated;
    h.last         = S->last;
    h.below        = S->below;
    h.sigma        = S->now.sigma;
    (void)fwrite(&h, sizeof(h), 1, out.fp); /* the commit looks for errors */
    for (int k = 0, n = Parts(S, part); k < n; k++) (void)fwrite(part[k].a, sizeof(double), part[k].n, out.fp);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* back to the state before the next step; collective */
PetscErrorCode CheckpointRead(Scaler *S, PetscInt *start, const char file[])
{
  Header      h, mine;
  PetscMPIInt rank;
  FILE       *fp     = NULL;
  int         failed = 0;
  Part        part[6];
  const int   n = Parts(S, part);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(S->D->comm, &rank));
  Describe(S, &mine);
  if (!rank) {
    fp = fopen(file, "rb");
    if (!fp) failed = 1;
    else if (fread(&h, sizeof(h), 1, fp) != 1 || memcmp(h.magic, magic, sizeof(magic))) failed = 2;
    else if (h.N != mine.N || h.dim != mine.dim || h.history != mine.history || h.pairs != mine.pairs || h.acceleration != mine.acceleration || h.disparity != mine.disparity || PetscAbsReal(h.sumsquares - mine.sumsquares) > 1e-12 * mine.sumsquares)
      failed = 3;
    for (int k = 0; k < n && !failed; k++)
      if (fread(part[k].a, sizeof(double), part[k].n, fp) != part[k].n) failed = 2;
    if (fp) (void)fclose(fp);
  }
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, S->D->comm));
  PetscCheck(failed != 1, S->D->comm, PETSC_ERR_FILE_OPEN, "%s: cannot be opened", file);
  PetscCheck(failed != 2, S->D->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no checkpoint of smacof, or not the whole of one", file);
  PetscCheck(failed != 3, S->D->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a checkpoint of other dissimilarities or other options", file);
  PetscCallMPI(MPI_Bcast(&h, (PetscMPIInt)sizeof(h), MPI_BYTE, 0, S->D->comm));
  for (int k = 0; k < n; k++)
    for (size_t at = 0; at < part[k].n; at += PETSC_MPI_INT_MAX / 2) PetscCallMPI(MPI_Bcast(part[k].a + at, (PetscMPIInt)PetscMin(part[k].n - at, PETSC_MPI_INT_MAX / 2), MPI_DOUBLE, 0, S->D->comm));
  *start            = (PetscInt)h.start;
  S->it             = (PetscInt)h.it;
  S->rejected       = (PetscInt)h.rejected;
  S->history.have   = (PetscInt)h.have;
  S->history.newest = (PetscInt)h.newest;
  S->history.any    = (PetscBool)h.any;
  S->extrapolated   = (PetscBool)h.extrapolated;
  S->last           = h.last;
  S->below          = h.below;
  S->now.sigma      = h.sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}
