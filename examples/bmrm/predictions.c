/* The file of predictions: one line an example. */
#include "model.h"
#include <math.h>
#include <string.h>

/* Writes the prediction of one example. score: its scores; best: the class of the highest one. scores, probabilities: what the line shows besides. */
static void BMRMPredictionsWriteLine(FILE *fp, const BMRMModel *model, PetscBool scores, PetscBool probabilities, const PetscReal score[], PetscInt best)
{
  const char    *name    = model->class_names;
  const PetscInt k       = model->nclass ? best : score[0] >= 0;
  const PetscBool class  = (PetscBool)(model->nclass || model->classify);
  const PetscReal *label = model->nclass ? model->label : model->classes;

  for (PetscInt c = 0; class && name && c < k; c++) name += strlen(name) + 1;
  if (class && name) (void)fprintf(fp, "%s", name);
  else (void)fprintf(fp, "%.17g", (double)(class ? label[k] : score[0]));
  for (PetscInt c = 0; class && scores && c < PetscMax(1, model->nclass); c++) (void)fprintf(fp, " %.17g", (double)score[c]);
  if (probabilities && !model->nclass) (void)fprintf(fp, " %.17g", 1 / (1 + exp((double)(model->platt[0] * score[0] + model->platt[1]))));
  (void)fprintf(fp, "\n");
}

/* Writes one prediction a line, in the order of the examples. f: the scores of BMRMModelComputeScores(). scores: adds the scores after the label.
   probabilities: adds the probability of the model's second label as the last column. The ranks send their scores to the first rank in blocks of examples. */
PetscErrorCode BMRMPredictionsWrite(Vec f, const BMRMModel *model, PetscBool scores, PetscBool probabilities, const char file[])
{
  const PetscInt     k = PetscMax(1, model->nclass), width = k + 1, block = PetscMax(1, 65536 / width); /* examples in a message */
  const MPI_Comm     comm = PetscObjectComm((PetscObject)f);
  const PetscInt    *range;
  const PetscScalar *fa, *ba;
  PetscReal         *line; /* for each example of a block the class of the highest score, and the scores */
  PetscMPIInt        rank, size;
  GpAppOutput        out;
  Vec                best;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(BMRMFindClasses(f, k, &best));
  PetscCall(VecGetOwnershipRanges(best, &range));
  PetscCall(PetscMalloc1(width * block, &line));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(best, &ba));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  for (PetscMPIInt from = 0; from < size; from++) {
    const PetscInt m = range[from + 1] - range[from];

    for (PetscInt start = 0, n; start < m && (!rank || rank == from); start += n) {
      n = PetscMin(block, m - start);
      for (PetscInt i = 0; rank == from && i < n; i++) {
        line[i * width] = PetscRealPart(ba[start + i]);
        for (PetscInt c = 0; c < k; c++) line[i * width + 1 + c] = PetscRealPart(fa[c * m + start + i]);
      }
      if (from && rank) PetscCallMPI(MPI_Send(line, (PetscMPIInt)(n * width), MPIU_REAL, 0, 0, comm));
      if (from && !rank) PetscCallMPI(MPI_Recv(line, (PetscMPIInt)(n * width), MPIU_REAL, from, 0, comm, MPI_STATUS_IGNORE));
      for (PetscInt i = 0; out.fp && i < n; i++) BMRMPredictionsWriteLine(out.fp, model, scores, probabilities, line + i * width + 1, (PetscInt)line[i * width]);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(best, &ba));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCall(PetscFree(line));
  PetscCall(VecDestroy(&best));
  PetscFunctionReturn(PETSC_SUCCESS);
}
