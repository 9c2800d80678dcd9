/* Models with one score for each of several classes. The class of the highest score is the prediction. */
#include "bmrmimpl.h"
#include "model.h"
#include <string.h>

/* Finds the class of the highest score of every example, the first one of equal scores. A NaN is never the highest score. */
static PetscErrorCode Highest(Vec f, PetscInt k, Vec *best)
{
  const PetscScalar *fa;
  PetscScalar       *ba;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &m));
  m /= k;
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)f), m, PETSC_DETERMINE, best));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayWrite(*best, &ba));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt at = 0;

    for (PetscInt c = 1; c < k; c++) {
      if (PetscRealPart(fa[c * m + i]) > PetscRealPart(fa[at * m + i])) at = c;
    }
    ba[i] = at;
  }
  PetscCall(VecRestoreArrayWrite(*best, &ba));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMScoreMany - Compares the classes of the highest scores with labels

  Collective

  Input Parameters:
+ f - scores of the first class, of the second, and so on, on every rank
. y - the numbers of the true classes, counted from 0
- k - number of classes

  Output Parameter:
. s - the accuracy

  Level: developer

.seealso: `BMRMScoreClasses()`, `BMRMModelScore()`
@*/
PetscErrorCode BMRMScoreMany(Vec f, Vec y, PetscInt k, BMRMScore *s)
{
  const PetscScalar *ba, *ya;
  PetscInt           m, right = 0, all;
  Vec                best;

  PetscFunctionBegin;
  PetscCall(BMRMScoreCreate(s));
  s->tp = -1; /* there is no positive class */
  PetscCall(Highest(f, k, &best));
  PetscCall(VecGetLocalSize(best, &m));
  PetscCall(VecGetArrayRead(best, &ba));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; i++) right += ba[i] == ya[i];
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(best, &ba));
  PetscCallMPI(MPI_Allreduce(&right, &all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)f)));
  PetscCall(VecGetSize(best, &s->rows));
  s->accuracy = (PetscReal)all / s->rows;
  PetscCall(VecDestroy(&best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelCreateClasses - Creates a model from trained weights of several classes; the caller sets the other members

  Collective

  Input Parameters:
+ w     - the weights; each rank holds the weights of its features for the first class, then for the second class, and so on
. n     - number of weights of features for each class; a further weight is the bias
. k     - number of classes
- label - labels of the classes, in ascending order

  Output Parameter:
. model - the model, the same on all ranks; the offsets of its scores are the weights of the bias

  Level: developer

.seealso: `BMRMModelCreate()`
@*/
PetscErrorCode BMRMModelCreateClasses(Vec w, PetscInt n, PetscInt k, const PetscReal label[], BMRMModel *model)
{
  const PetscScalar *wa;
  PetscInt           local, start;
  PetscMPIInt        count;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(model, sizeof(*model)));
  model->n      = n;
  model->nclass = k;
  PetscCall(PetscCalloc1(n * k, &model->w));
  PetscCall(PetscCalloc1(k, &model->label));
  PetscCall(PetscCalloc1(k, &model->shift));
  PetscCall(PetscArraycpy(model->label, label, k));
  PetscCall(VecGetLocalSize(w, &local));
  PetscCall(VecGetOwnershipRange(w, &start, NULL));
  local /= k;
  start /= k;
  PetscCall(VecGetArrayRead(w, &wa));
  for (PetscInt c = 0; c < k; c++) {
    for (PetscInt j = 0; j < local; j++) {
      if (start + j < n) model->w[c * n + start + j] = PetscRealPart(wa[c * local + j]);
      else model->shift[c] = PetscRealPart(wa[c * local + j]);
    }
  }
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(GpCompatMPIIntCast((PetscInt64)n * k, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, model->w, count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, model->shift, (PetscMPIInt)k, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the lines of the model's file that describe the classes. */
void BMRMModelPutClasses_Private(FILE *fp, const BMRMModel *model)
{
  (void)fprintf(fp, "classes %lld\n", (long long)model->nclass);
  for (PetscInt c = 0; c < model->nclass; c++) (void)fprintf(fp, "%.17g %.17g\n", (double)model->label[c], (double)model->shift[c]);
}

PetscErrorCode BMRMModelScoreClasses_Private(const BMRMModel *model, Mat X, Vec *f)
{
  PetscInt     n, m, start;
  PetscScalar *a;
  Mat          A;
  Vec          w;

  PetscFunctionBegin;
  PetscCall(BMRMBlocksCreate_Private(X, model->nclass, &A));
  PetscCall(MatCreateVecs(A, &w, f));
  PetscCall(MatGetLocalSize(X, &m, &n));
  PetscCall(MatGetOwnershipRangeColumn(X, &start, NULL));
  PetscCall(VecGetArrayWrite(w, &a));
  for (PetscInt c = 0; c < model->nclass; c++) {
    for (PetscInt j = 0; j < n; j++) a[c * n + j] = model->w[c * model->n + start + j];
  }
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscCall(MatMult(A, w, *f));
  PetscCall(VecGetArray(*f, &a));
  for (PetscInt c = 0; c < model->nclass; c++) {
    for (PetscInt i = 0; i < m; i++) a[c * m + i] += model->shift[c];
  }
  PetscCall(VecRestoreArray(*f, &a));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the name of a class, or its label. */
static void PutClass(FILE *fp, const BMRMModel *model, PetscInt k)
{
  const char *name = model->class_names;

  for (PetscInt c = 0; name && c < k; c++) name += strlen(name) + 1;
  if (name) (void)fprintf(fp, "%s", name);
  else (void)fprintf(fp, "%.17g", (double)model->label[k]);
}

/* Sends the scores of each rank to the first rank, example by example. The class of the highest score comes before the scores of an example. */
PetscErrorCode BMRMPredictionsWriteClasses_Private(Vec f, const BMRMModel *model, PetscBool scores, const char file[])
{
  const PetscInt     k    = model->nclass;
  const MPI_Comm     comm = PetscObjectComm((PetscObject)f);
  const PetscScalar *fa, *ba;
  PetscReal         *line;
  PetscInt           m;
  PetscMPIInt        rank, size, count;
  GpAppOutput        out;
  Vec                best;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(Highest(f, k, &best));
  PetscCall(VecGetLocalSize(best, &m));
  PetscCall(PetscMalloc1(k + 1, &line));
  PetscCall(PetscMPIIntCast(k + 1, &count));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(best, &ba));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  for (PetscMPIInt from = 0; from < size; from++) {
    PetscInt n = m;

    if (rank && rank != from) continue;
    if (from && rank) PetscCallMPI(MPI_Send(&n, 1, MPIU_INT, 0, 0, comm));
    if (from && !rank) PetscCallMPI(MPI_Recv(&n, 1, MPIU_INT, from, 0, comm, MPI_STATUS_IGNORE));
    for (PetscInt i = 0; i < n; i++) {
      if (rank == from) {
        line[0] = PetscRealPart(ba[i]);
        for (PetscInt c = 0; c < k; c++) line[c + 1] = PetscRealPart(fa[c * m + i]);
      }
      if (from && rank) PetscCallMPI(MPI_Send(line, count, MPIU_REAL, 0, 0, comm));
      if (from && !rank) PetscCallMPI(MPI_Recv(line, count, MPIU_REAL, from, 0, comm, MPI_STATUS_IGNORE));
      if (!out.fp) continue;
      PutClass(out.fp, model, (PetscInt)line[0]);
      for (PetscInt c = 0; c < k && scores; c++) (void)fprintf(out.fp, " %.17g", (double)line[c + 1]);
      (void)fprintf(out.fp, "\n");
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(best, &ba));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCall(PetscFree(line));
  PetscCall(VecDestroy(&best));
  PetscFunctionReturn(PETSC_SUCCESS);
}
