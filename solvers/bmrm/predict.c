/* Predictions from scores: comparison with labels, and the file of predictions. */
#include "model.h"
#include <math.h>
#include <string.h>

/*@C
  BMRMScoreCreate - Initialises a score, all of whose values are unknown

  Not Collective

  Output Parameter:
. s - the score

  Level: developer

.seealso: `BMRMScoreClasses()`, `BMRMScoreNumbers()`
@*/
PetscErrorCode BMRMScoreCreate(BMRMScore *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->accuracy = s->precision = s->recall = s->f1 = s->mcc = s->auc = (PetscReal)NAN;
  s->rmse = s->mae = s->r2 = (PetscReal)NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers a vector in an array on the first rank. The other ranks get an empty array. */
static PetscErrorCode GatherToZero(Vec v, PetscInt *n, PetscReal **array)
{
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, n));
  PetscCall(PetscMalloc1(*n, array));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < *n; i++) (*array)[i] = PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An example for the computation of the ROC curve */
typedef struct {
  PetscReal score, label;
} Scored;

static int CompareScored(const void *a, const void *b, void *ctx)
{
  const PetscReal x = ((const Scored *)a)->score, y = ((const Scored *)b)->score;

  return (x > y) - (x < y);
}

/* Computes the probability that a positive example has a higher score than a negative one. Ties count as one half. PetscTimSort() is fast
   for many ties, for which PetscSortReal() needs n^2 comparisons. */
static PetscErrorCode AreaUnderCurve(Vec f, Vec y, PetscReal *auc)
{
  PetscReal *score, *label, pairs = 0, won = 0, negatives = 0;
  PetscInt   n;
  Scored    *ranked;

  PetscFunctionBegin;
  PetscCall(GatherToZero(f, &n, &score));
  PetscCall(GatherToZero(y, &n, &label));
  PetscCall(PetscMalloc1(n, &ranked));
  for (PetscInt i = 0; i < n; i++) {
    ranked[i].score = score[i];
    ranked[i].label = label[i];
  }
  PetscCall(PetscFree(score));
  PetscCall(PetscFree(label));
  if (n) PetscCall(PetscTimSort(n, ranked, sizeof(*ranked), CompareScored, NULL));
  for (PetscInt i = 0, end; i < n; i = end) {
    PetscReal plus = 0, minus = 0;

    for (end = i; end < n && ranked[end].score == ranked[i].score; end++) {
      if (ranked[end].label > 0) plus++;
      else minus++;
    }
    won += plus * (negatives + 0.5 * minus);
    pairs += plus;
    negatives += minus;
    if (end == i) end++; /* a NaN is not equal to itself */
  }
  *auc = won / (pairs * negatives);
  PetscCall(PetscFree(ranked));
  PetscCallMPI(MPI_Bcast(auc, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMScoreClasses - Compares scores with labels

  Collective

  Input Parameters:
+ f - scores; zero or more predicts +1
- y - labels, +1 or -1

  Output Parameter:
. s - counts, accuracy, precision, recall, F1, Matthews' coefficient, area under the ROC curve

  Level: developer

  Note:
  A value whose denominator is zero is NaN, for example the precision if no example is predicted positive.

.seealso: `BMRMScoreNumbers()`
@*/
PetscErrorCode BMRMScoreClasses(Vec f, Vec y, BMRMScore *s)
{
  const PetscScalar *fa, *ya;
  PetscInt           n, mine[4] = {0, 0, 0, 0}, all[4];
  PetscReal          tp, fp, tn, fn;

  PetscFunctionBegin;
  PetscCall(BMRMScoreCreate(s));
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscBool plus = (PetscBool)(PetscRealPart(fa[i]) >= 0), right = (PetscBool)(plus == (PetscRealPart(ya[i]) > 0));

    mine[plus ? (right ? 0 : 1) : (right ? 2 : 3)]++;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)f)));
  tp = s->tp = all[0];
  fp = s->fp = all[1];
  tn = s->tn = all[2];
  fn = s->fn = all[3];

  s->rows      = all[0] + all[1] + all[2] + all[3];
  s->accuracy  = (tp + tn) / s->rows;
  s->precision = tp / (tp + fp);
  s->recall    = tp / (tp + fn);
  s->f1        = 2 * tp / (2 * tp + fp + fn);
  s->mcc       = (tp * tn - fp * fn) / PetscSqrtReal((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  PetscCall(AreaUnderCurve(f, y, &s->auc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMScoreNumbers - Compares predicted numbers with true ones

  Collective

  Input Parameters:
+ f - predictions
- y - labels

  Output Parameter:
. s - root of the mean square error, mean absolute error, coefficient of determination R2

  Level: developer

.seealso: `BMRMScoreClasses()`
@*/
PetscErrorCode BMRMScoreNumbers(Vec f, Vec y, BMRMScore *s)
{
  const PetscScalar *fa, *ya;
  PetscScalar        sum;
  PetscReal          mine[3] = {0, 0, 0}, all[3], mean;
  PetscInt           n, m;

  PetscFunctionBegin;
  PetscCall(BMRMScoreCreate(s));
  PetscCall(VecGetSize(y, &m));
  PetscCall(VecSum(y, &sum));
  mean = PetscRealPart(sum) / m;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal e = PetscRealPart(fa[i] - ya[i]), v = PetscRealPart(ya[i]) - mean;

    mine[0] += e * e;
    mine[1] += PetscAbsReal(e);
    mine[2] += v * v;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(mine, all, 3, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  s->rows = m;
  s->rmse = PetscSqrtReal(all[0] / m);
  s->mae  = all[1] / m;
  s->r2   = 1 - all[0] / all[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMPredictionsWrite - Writes one prediction a line, in the order of the examples

  Collective

  Input Parameters:
+ f      - scores
. model  - the model, which defines the labels that scores predict
. scores - whether to write the score after the label
. probabilities - whether to write the probability of the model's second label as the last column
- file   - the file; it is created or replaced only when the predictions have been written completely

  Level: developer

.seealso: `BMRMModelScore()`
@*/
PetscErrorCode BMRMPredictionsWrite(Vec f, const BMRMModel *model, PetscBool scores, PetscBool probabilities, const char file[])
{
  GpAppOutput out;
  PetscInt    n;
  PetscReal  *a;

  PetscFunctionBegin;
  if (model->nclass) {
    PetscCall(BMRMPredictionsWriteClasses_Private(f, model, scores, file));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GatherToZero(f, &n, &a));
  PetscCall(GpAppOutputOpen(PetscObjectComm((PetscObject)f), file, &out));
  for (PetscInt i = 0; out.fp && i < n; i++) {
    if (model->classify && model->class_names) (void)fprintf(out.fp, "%s", a[i] >= 0 ? model->class_names + strlen(model->class_names) + 1 : model->class_names);
    else (void)fprintf(out.fp, "%.17g", (double)(model->classify ? model->classes[a[i] >= 0] : a[i]));
    if (scores && model->classify) (void)fprintf(out.fp, " %.17g", (double)a[i]);
    if (probabilities) (void)fprintf(out.fp, " %.17g", 1 / (1 + exp((double)(model->platt[0] * a[i] + model->platt[1]))));
    (void)fprintf(out.fp, "\n");
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
