/* Linear models: creation, the text file, and the scores of examples. */
#include "model.h"
#include <string.h>

/*@C
  BMRMModelCreate - Creates a model from trained weights; the caller sets the other members

  Collective

  Input Parameters:
+ w - the weights
- n - number of weights of features; a further weight is the bias

  Output Parameter:
. model - the model, the same on all ranks

  Level: developer

.seealso: `BMRMModelWrite()`, `BMRMModelScore()`, `BMRMModelDestroy()`
@*/
PetscErrorCode BMRMModelCreate(Vec w, PetscInt n, BMRMModel *model)
{
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *a;
  PetscInt           N;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(model, sizeof(*model)));
  PetscCall(VecGetSize(w, &N));
  model->n = n;
  PetscCall(PetscMalloc1(model->n, &model->w));
  PetscCall(VecScatterCreateToAll(w, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < n; i++) model->w[i] = PetscRealPart(a[i]);
  if (n < N) model->offset = PetscRealPart(a[n]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelDestroy - Frees a model

  Not Collective

  Input Parameter:
. model - the model

  Level: developer

.seealso: `BMRMModelCreate()`, `BMRMModelRead()`
@*/
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
static void BMRMModelPutNames_Private(FILE *fp, const char section[], const char names[], PetscInt n)
{
  if (!names) return;
  (void)fprintf(fp, "%s\n", section);
  for (PetscInt k = 0; k < n; k++, names += strlen(names) + 1) (void)fprintf(fp, "%s\n", names);
}

/*@C
  BMRMModelWrite - Writes a model as text, with all digits of its values

  Collective

  Input Parameters:
+ comm  - the communicator
. model - the model
- file  - the file; it is created or replaced only when the model has been written completely

  Level: developer

.seealso: `BMRMModelRead()`
@*/
PetscErrorCode BMRMModelWrite(MPI_Comm comm, const BMRMModel *model, const char file[])
{
  GpAppOutput out;
  PetscInt    nonzeros = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < model->n * PetscMax(1, model->nclass); i++) nonzeros += model->w[i] != 0;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "%s\nloss %s\nlambda %.17g\nfeatures %lld\n", model->class_names || model->feature_names ? BMRM_MODEL_MAGIC_NAMES : BMRM_MODEL_MAGIC, model->loss, (double)model->lambda, (long long)model->n);
    if (model->nclass) BMRMModelPutClasses_Private(out.fp, model);
    else if (model->classify) (void)fprintf(out.fp, "labels %.17g %.17g\n", (double)model->classes[0], (double)model->classes[1]);
    else (void)fprintf(out.fp, "labels %s\n", model->order ? "order" : "any");
    BMRMModelPutNames_Private(out.fp, "class names", model->class_names, model->nclass ? model->nclass : 2);
    BMRMModelPutNames_Private(out.fp, "feature names", model->feature_names, model->n);
    if (model->unit_rows) (void)fprintf(out.fp, "rows unit\n");
    if (model->probable) (void)fprintf(out.fp, "platt %.17g %.17g\n", (double)model->platt[0], (double)model->platt[1]);
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

/*@C
  BMRMModelScore - Multiplies data by the weights of a model

  Collective

  Input Parameters:
+ model - the model
- X     - one example a row, with as many columns as the model has features

  Output Parameter:
. f - the scores. With two classes, a score of zero or more predicts the second class. With more classes, the vector has on each rank the scores of its examples for the first class, then
      for the second class, and so on.

  Level: developer

.seealso: `BMRMModelRead()`, `BMRMScoreClasses()`, `BMRMPredictionsWrite()`
@*/
PetscErrorCode BMRMModelScore(const BMRMModel *model, Mat X, Vec *f)
{
  Vec          w;
  PetscScalar *a;
  PetscInt     n, start, end;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCheck(n == model->n, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " columns but the model has %" PetscInt_FMT " features", n, model->n);
  if (model->nclass) {
    PetscCall(BMRMModelScoreClasses_Private(model, X, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(X, &w, f));
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  PetscCall(VecGetArrayWrite(w, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = model->w[i];
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscCall(MatMult(X, w, *f));
  if (model->offset != 0) PetscCall(VecShift(*f, model->offset));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
