/* Predictions: scores of new examples, and their quality by comparison with labels. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsrbmrmpredict.h>
#include <math.h>

/*@
  BMRMComputeScores - Computes the scores of examples from trained weights

  Collective

  Input Parameters:
+ X - one example per row
. k - number of scores per example, see `BMRMGetClasses()`
- w - the weights, in the layout of `BMRMGetSolution()`

  Output Parameter:
. f - the scores; with k > 1 each rank holds those of its examples for the first class, then for the second class, and so on

  Level: beginner

  Note:
  With two classes a score of zero or more predicts +1. `BMRMFindClasses()` gives the predictions of several classes.

.seealso: `BMRMGetSolution()`, `BMRMFindClasses()`, `BMRMComputeQuality()`
@*/
PetscErrorCode BMRMComputeScores(Mat X, PetscInt k, Vec w, Vec *f)
{
  Mat A = X;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(X, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(w, VEC_CLASSID, 3);
  if (k > 1) PetscCall(BMRMBlocksCreate_Private(X, k, &A));
  PetscCall(MatCreateVecs(A, NULL, f));
  PetscCall(MatMult(A, w, *f));
  if (k > 1) PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMFindClasses - Finds the class of the highest score of every example

  Collective

  Input Parameters:
+ f - the scores of `BMRMComputeScores()`
- k - number of classes

  Output Parameter:
. c - the class of each example, counted from 0; of equal scores the first one wins, and a NaN is never the highest score

  Level: intermediate

.seealso: `BMRMComputeScores()`, `BMRMComputeQuality()`
@*/
PetscErrorCode BMRMFindClasses(Vec f, PetscInt k, Vec *c)
{
  const PetscScalar *fa;
  PetscScalar       *ca;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &m));
  m /= k;
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)f), m, PETSC_DETERMINE, c));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayWrite(*c, &ca));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt best = 0;

    for (PetscInt l = 1; l < k; l++) {
      if (PetscRealPart(fa[l * m + i]) > PetscRealPart(fa[best * m + i])) best = l;
    }
    ca[i] = best;
  }
  PetscCall(VecRestoreArrayWrite(*c, &ca));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An example for the computation of the ROC curve. */
typedef struct {
  PetscReal score, label;
} BMRMQualityExample;

static int BMRMQualityCompareExamples(const void *a, const void *b, void *ctx)
{
  const PetscReal x = ((const BMRMQualityExample *)a)->score, y = ((const BMRMQualityExample *)b)->score;

  return (x > y) - (x < y);
}

/* Gathers scores and labels on the first rank. The other ranks get an empty array. */
static PetscErrorCode BMRMQualityGather(Vec f, Vec y, PetscInt *n, BMRMQualityExample **example)
{
  VecScatter         scatter;
  Vec                all[2];
  const PetscScalar *fa, *ya;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(f, &scatter, &all[0]));
  PetscCall(VecDuplicate(all[0], &all[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecScatterBegin(scatter, k ? y : f, all[k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, k ? y : f, all[k], INSERT_VALUES, SCATTER_FORWARD));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecGetLocalSize(all[0], n));
  PetscCall(PetscMalloc1(*n, example));
  PetscCall(VecGetArrayRead(all[0], &fa));
  PetscCall(VecGetArrayRead(all[1], &ya));
  for (PetscInt i = 0; i < *n; i++) (*example)[i] = (BMRMQualityExample){PetscRealPart(fa[i]), PetscRealPart(ya[i])};
  PetscCall(VecRestoreArrayRead(all[1], &ya));
  PetscCall(VecRestoreArrayRead(all[0], &fa));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&all[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the probability that a positive example has a higher score than a negative one. Ties count as one half. PetscTimSort() is fast
   for many ties, for which PetscSortReal() needs n^2 comparisons. */
static PetscErrorCode BMRMQualityComputeArea(Vec f, Vec y, PetscReal *auc)
{
  PetscReal           pairs = 0, won = 0, negatives = 0;
  PetscInt            n;
  BMRMQualityExample *ex;

  PetscFunctionBegin;
  PetscCall(BMRMQualityGather(f, y, &n, &ex));
  if (n) PetscCall(PetscTimSort(n, ex, sizeof(*ex), BMRMQualityCompareExamples, NULL));
  for (PetscInt i = 0, end; i < n; i = end) {
    PetscReal plus = 0, minus = 0;

    for (end = i; end < n && ex[end].score == ex[i].score; end++) {
      if (ex[end].label > 0) plus++;
      else minus++;
    }
    won += plus * (negatives + 0.5 * minus);
    pairs += plus;
    negatives += minus;
    if (end == i) end++; /* a NaN is not equal to itself */
  }
  *auc = won / (pairs * negatives);
  PetscCall(PetscFree(ex));
  PetscCallMPI(MPI_Bcast(auc, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares scores with the labels +1 and -1. */
static PetscErrorCode BMRMQualityCompareSigns(Vec f, Vec y, BMRMQuality *q)
{
  const PetscScalar *fa, *ya;
  PetscInt           n, all[4] = {0, 0, 0, 0};
  PetscReal          tp, fp, tn, fn;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscBool plus = (PetscBool)(PetscRealPart(fa[i]) >= 0), right = (PetscBool)(plus == (PetscRealPart(ya[i]) > 0));

    all[plus ? (right ? 0 : 1) : (right ? 2 : 3)]++;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 4, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)f)));
  tp = q->tp = all[0];
  fp = q->fp = all[1];
  tn = q->tn = all[2];
  fn = q->fn = all[3];

  q->rows      = all[0] + all[1] + all[2] + all[3];
  q->accuracy  = (tp + tn) / q->rows;
  q->precision = tp / (tp + fp);
  q->recall    = tp / (tp + fn);
  q->f1        = 2 * tp / (2 * tp + fp + fn);
  q->mcc       = (tp * tn - fp * fn) / PetscSqrtReal((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  PetscCall(BMRMQualityComputeArea(f, y, &q->auc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the classes of the highest scores with the classes y, counted from 0. */
static PetscErrorCode BMRMQualityCompareClasses(Vec f, Vec y, PetscInt k, BMRMQuality *q)
{
  const PetscScalar *ca, *ya;
  PetscInt           m, right = 0;
  Vec                c;

  PetscFunctionBegin;
  q->tp = -1; /* there is no positive class */
  PetscCall(BMRMFindClasses(f, k, &c));
  PetscCall(VecGetLocalSize(c, &m));
  PetscCall(VecGetArrayRead(c, &ca));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; i++) right += ca[i] == ya[i];
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(c, &ca));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)f)));
  PetscCall(VecGetSize(c, &q->rows));
  q->accuracy = (PetscReal)right / q->rows;
  PetscCall(VecDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares predicted numbers with true ones. */
static PetscErrorCode BMRMQualityCompareNumbers(Vec f, Vec y, BMRMQuality *q)
{
  const PetscScalar *fa, *ya;
  PetscScalar        sum;
  PetscReal          all[3] = {0, 0, 0}, mean;
  PetscInt           n, m;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &m));
  PetscCall(VecSum(y, &sum));
  mean = PetscRealPart(sum) / m;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal e = PetscRealPart(fa[i] - ya[i]), v = PetscRealPart(ya[i]) - mean;

    all[0] += e * e;
    all[1] += PetscAbsReal(e);
    all[2] += v * v;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 3, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  q->rows = m;
  q->rmse = PetscSqrtReal(all[0] / m);
  q->mae  = all[1] / m;
  q->r2   = 1 - all[0] / all[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMInitializeQuality - Sets all values of a quality to unknown

  Not Collective

  Output Parameter:
. q - the quality

  Level: developer

.seealso: `BMRMComputeQuality()`
@*/
PetscErrorCode BMRMInitializeQuality(BMRMQuality *q)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  q->accuracy = q->precision = q->recall = q->f1 = q->mcc = q->auc = (PetscReal)NAN;
  q->rmse = q->mae = q->r2 = (PetscReal)NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMComputeQuality - Computes the quality of predictions by comparing scores with labels

  Collective

  Input Parameters:
+ task - what the labels mean, see `BMRMGetTask()`
. k    - number of scores per example, see `BMRMGetClasses()`
. f    - the scores of `BMRMComputeScores()` or `BMRMGetScores()`
- y    - the labels, as for `BMRMSetData()`

  Output Parameter:
. q - for two classes counts, accuracy, precision, recall, F1, Matthews' coefficient, area under the ROC curve; for several classes the accuracy; for numbers
      errors and R2. For other tasks all values are unknown

  Level: intermediate

.seealso: `BMRMComputeScores()`, `BMRMGetTask()`, `BMRMQuality`
@*/
PetscErrorCode BMRMComputeQuality(BMRMTask task, PetscInt k, Vec f, Vec y, BMRMQuality *q)
{
  PetscFunctionBegin;
  PetscCall(BMRMInitializeQuality(q));
  if (task == BMRM_TASK_CLASSIFICATION) PetscCall(BMRMQualityCompareSigns(f, y, q));
  if (task == BMRM_TASK_MULTICLASS) PetscCall(BMRMQualityCompareClasses(f, y, k, q));
  if (task == BMRM_TASK_REGRESSION) PetscCall(BMRMQualityCompareNumbers(f, y, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}
