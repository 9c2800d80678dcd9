/* The file of predictions: one line an example. */
#include "model.h"
#include <string.h>

/* Writes the prediction of one example. value: the class of its highest score, its scores, and with L->likely its probabilities. */
void BMRMPredictionsWriteLine(FILE *fp, const BMRMPredictionLine *L, const PetscReal value[])
{
  const BMRMModel *model = L->model;
  const PetscReal *score = value + 1;
  const char      *name  = model->class_names;
  const PetscInt   k     = model->nclass ? (PetscInt)value[0] : score[0] >= 0;
  const PetscBool class  = (PetscBool)(model->nclass || model->classify);
  const PetscReal *label = model->nclass ? model->label : model->classes;

  for (PetscInt c = 0; class && name && c < k; c++) name += strlen(name) + 1;
  if (class && name) (void)fprintf(fp, "%s", name);
  else (void)fprintf(fp, "%.17g", (double)(class ? label[k] : score[0]));
  for (PetscInt c = 0; class && L->scores && c < L->k; c++) (void)fprintf(fp, " %.17g", (double)score[c]);
  for (PetscInt c = 0; L->likely && c < L->k; c++) (void)fprintf(fp, " %.17g", (double)score[L->k + c]);
  (void)fprintf(fp, "\n");
}

/* Writes one prediction a line, in the order of the examples. f: the scores of BMRMModelComputeScores(). p: the probabilities to add as the last columns, or
   NULL. scores: adds the scores after the label. The ranks send their values to the first rank in blocks of examples. */
PetscErrorCode BMRMPredictionsWrite(Vec f, Vec p, const BMRMModel *model, PetscBool scores, const char file[])
{
  const PetscInt           k = PetscMax(1, model->nclass), width = 1 + (p ? 2 * k : k), block = PetscMax(1, 65536 / width); /* examples in a message */
  const BMRMPredictionLine L    = {model, k, width, scores, (PetscBool)(p != NULL)};
  const MPI_Comm           comm = PetscObjectComm((PetscObject)f);
  const PetscInt          *range;
  const PetscScalar       *fa, *ba, *pa = NULL;
  PetscReal               *line; /* the values of the examples of a block */
  PetscMPIInt              rank, size;
  GpAppOutput              out;
  Vec                      best;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(BMRMFindClasses(f, k, &best));
  PetscCall(VecGetOwnershipRanges(best, &range));
  PetscCall(PetscMalloc1(width * block, &line));
  PetscCall(VecGetArrayRead(f, &fa));
  if (p) PetscCall(VecGetArrayRead(p, &pa));
  PetscCall(VecGetArrayRead(best, &ba));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  for (PetscMPIInt from = 0; from < size; from++) {
    const PetscInt m = range[from + 1] - range[from];

    for (PetscInt start = 0, n; start < m && (!rank || rank == from); start += n) {
      n = PetscMin(block, m - start);
      for (PetscInt i = 0; rank == from && i < n; i++) {
        line[i * width] = PetscRealPart(ba[start + i]);
        for (PetscInt c = 0; c < k; c++) line[i * width + 1 + c] = PetscRealPart(fa[c * m + start + i]);
        for (PetscInt c = 0; p && c < k; c++) line[i * width + 1 + k + c] = PetscRealPart(pa[c * m + start + i]);
      }
      if (from && rank) PetscCallMPI(MPI_Send(line, (PetscMPIInt)(n * width), MPIU_REAL, 0, 0, comm));
      if (from && !rank) PetscCallMPI(MPI_Recv(line, (PetscMPIInt)(n * width), MPIU_REAL, from, 0, comm, MPI_STATUS_IGNORE));
      for (PetscInt i = 0; out.fp && i < n; i++) BMRMPredictionsWriteLine(out.fp, &L, line + i * width);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(best, &ba));
  if (p) PetscCall(VecRestoreArrayRead(p, &pa));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCall(PetscFree(line));
  PetscCall(VecDestroy(&best));
  PetscFunctionReturn(PETSC_SUCCESS);
}
