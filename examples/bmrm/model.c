/* Linear models: creation, the text file, and the scores of examples. */
#include "model.h"
#include <string.h>

/* Creates a model from trained weights w, the same on all ranks; the caller sets the other members. The weights belong to n features; a further weight is that
   of the bias, and becomes the offset of the scores. k is the number of classes, whose labels ascend; 0: there is one score. */
PetscErrorCode BMRMModelCreate(Vec w, PetscInt n, PetscInt k, const PetscReal label[], BMRMModel *model)
{
  const PetscInt     outputs = PetscMax(1, k), *range;
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *a;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(model, sizeof(*model)));
  model->n      = n;
  model->nclass = k;
  PetscCall(PetscMalloc1(n * outputs, &model->w));
  PetscCall(PetscMalloc1(k, &model->label));
  PetscCall(PetscCalloc1(k, &model->shift));
  PetscCall(PetscArraycpy(model->label, label, k));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)w), &size));
  PetscCall(VecGetOwnershipRanges(w, &range));
  PetscCall(VecScatterCreateToAll(w, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscMPIInt r = 0; r < size; r++) { /* each rank has the weights of its features for the first class, then for the second class, and so on */
    const PetscInt start = range[r] / outputs, local = range[r + 1] / outputs - start;

    for (PetscInt c = 0; c < outputs; c++) {
      for (PetscInt j = 0; j < local; j++) {
        PetscReal *to = start + j < n ? &model->w[c * n + start + j] : k ? &model->shift[c] : &model->offset;

        *to = PetscRealPart(a[range[r] + c * local + j]);
      }
    }
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMModelDestroy(BMRMModel *model)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(model->w));
  PetscCall(PetscFree(model->label));
  PetscCall(PetscFree(model->shift));
  PetscCall(PetscFree(model->class_names));
  PetscCall(PetscFree(model->feature_names));
  model->n = model->nclass = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a section of names, one a line. The names are zero-terminated strings, one after another. */
static void BMRMModelWriteNames(FILE *fp, const char section[], const char names[], PetscInt n)
{
  if (!names) return;
  (void)fprintf(fp, "%s\n", section);
  for (PetscInt k = 0; k < n; k++, names += strlen(names) + 1) (void)fprintf(fp, "%s\n", names);
}

/* Writes a model as text, with all digits of its values. */
PetscErrorCode BMRMModelWrite(MPI_Comm comm, const BMRMModel *model, const char file[])
{
  GpAppOutput out;
  PetscInt    nonzeros = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < model->n * PetscMax(1, model->nclass); i++) nonzeros += model->w[i] != 0;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "%s\nloss %s\nlambda %.17g\nfeatures %lld\n", model->class_names || model->feature_names ? BMRM_MODEL_MAGIC_NAMES : BMRM_MODEL_MAGIC, model->loss, (double)model->lambda, (long long)model->n);
    if (model->nclass) (void)fprintf(out.fp, "classes %lld\n", (long long)model->nclass);
    for (PetscInt c = 0; c < model->nclass; c++) (void)fprintf(out.fp, "%.17g %.17g\n", (double)model->label[c], (double)model->shift[c]);
    if (model->classify) (void)fprintf(out.fp, "labels %.17g %.17g\n", (double)model->classes[0], (double)model->classes[1]);
    else if (!model->nclass) (void)fprintf(out.fp, "labels %s\n", model->order ? "order" : "any");
    BMRMModelWriteNames(out.fp, "class names", model->class_names, model->nclass ? model->nclass : 2);
    BMRMModelWriteNames(out.fp, "feature names", model->feature_names, model->n);
    if (model->unit_rows) (void)fprintf(out.fp, "rows unit\n");
    if (model->probable && model->nclass) (void)fprintf(out.fp, "temperature %.17g\n", (double)model->temperature);
    else if (model->probable) (void)fprintf(out.fp, "platt %.17g %.17g\n", (double)model->platt[0], (double)model->platt[1]);
    if (model->offset != 0) (void)fprintf(out.fp, "offset %.17g\n", (double)model->offset);
    (void)fprintf(out.fp, "weights %lld\n", (long long)nonzeros);
    for (PetscInt i = 0; i < model->n; i++) {
      if (!model->nclass && model->w[i] != 0) (void)fprintf(out.fp, "%lld %.17g\n", (long long)i + 1, (double)model->w[i]);
      for (PetscInt c = 0; c < model->nclass; c++) {
        const PetscReal w = model->w[c * model->n + i];

        if (w != 0) (void)fprintf(out.fp, "%lld %lld %.17g\n", (long long)i + 1, (long long)c + 1, (double)w);
      }
    }
    (void)fprintf(out.fp, "end\n");
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the scores of examples, as BMRMComputeScores() does, and adds the offsets of the model. */
PetscErrorCode BMRMModelComputeScores(const BMRMModel *model, Mat X, Vec *f)
{
  const PetscInt   k     = PetscMax(1, model->nclass);
  const PetscReal *shift = model->nclass ? model->shift : &model->offset;
  PetscInt         N, n, m, start;
  PetscScalar     *a;
  Vec              x, w;
  VecType          type;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &N));
  PetscCheck(N == model->n, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " columns but the model has %" PetscInt_FMT " features", N, model->n);
  PetscCall(MatGetLocalSize(X, &m, &n));
  PetscCall(MatGetOwnershipRangeColumn(X, &start, NULL));
  PetscCall(MatCreateVecs(X, &x, NULL));
  PetscCall(VecGetType(x, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)X), &w));
  PetscCall(VecSetSizes(w, k * n, PETSC_DETERMINE));
  PetscCall(VecSetType(w, type));
  PetscCall(VecGetArrayWrite(w, &a));
  for (PetscInt c = 0; c < k; c++) {
    for (PetscInt j = 0; j < n; j++) a[c * n + j] = model->w[c * model->n + start + j];
  }
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscCall(BMRMComputeScores(X, k, w, f));
  if (model->nclass || model->offset != 0) {
    PetscCall(VecGetArray(*f, &a));
    for (PetscInt c = 0; c < k; c++) {
      for (PetscInt i = 0; i < m; i++) a[c * m + i] += shift[c];
    }
    PetscCall(VecRestoreArray(*f, &a));
  }
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether the model gives probabilities of its classes: by a fit (-platt), or because its loss is a negative log-likelihood. */
PetscBool BMRMModelHasProbabilities(const BMRMModel *model)
{
  const PetscBool likely = (PetscBool)(model->nclass ? !strcmp(model->loss, "softmax") : model->classify && !strcmp(model->loss, "logistic"));

  return (PetscBool)(model->probable || likely);
}

/* Refuses probabilities that are wanted of the model of a file that gives none. */
PetscErrorCode BMRMModelCheckProbabilities(MPI_Comm comm, const BMRMModel *model, PetscBool wanted, const char file[])
{
  PetscFunctionBegin;
  PetscCheck(BMRMModelHasProbabilities(model) || !wanted, comm, PETSC_ERR_USER_INPUT, "-probabilities: the model %s gives no probabilities; train it with -platt, or with -bmrm_loss logistic or softmax", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the probabilities of the classes from the scores of BMRMModelComputeScores(): that of the second label, or those of all classes of a model with a
   score for each. Fitted probabilities take precedence. *p is NULL if the model gives none. */
PetscErrorCode BMRMModelComputeProbabilities(const BMRMModel *model, Vec f, Vec *p)
{
  PetscFunctionBegin;
  *p = NULL;
  if (BMRMModelHasProbabilities(model)) {
    const PetscReal hot[2] = {model->nclass && model->probable ? -1 / model->temperature : -1, 0};

    PetscCall(BMRMComputeProbabilities(PetscMax(1, model->nclass), f, model->probable && !model->nclass ? model->platt : hot, p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
