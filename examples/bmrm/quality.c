/* Details of the quality of predicted classes: their computation. */
#include "quality.h"
#include <gpucsrbmrmpredict.h>
#include <gpucsrcompat.h>
#include <math.h>

/* Counts the examples of every true class by predicted class. */
static PetscErrorCode BMRMDetailsCount(BMRMDetails *de, PetscBool signs, Vec f, Vec y)
{
  const PetscScalar *ya, *ca;
  PetscInt           m;
  Vec                c;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(de->k * de->k, &de->confusion));
  if (signs) PetscCall(PetscObjectReference((PetscObject)(c = f)));
  else PetscCall(BMRMFindClasses(f, de->k, &c));
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(VecGetArrayRead(c, &ca));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt is = signs ? PetscRealPart(ya[i]) > 0 : (PetscInt)PetscRealPart(ya[i]), as = signs ? PetscRealPart(ca[i]) >= 0 : (PetscInt)PetscRealPart(ca[i]);

    de->confusion[is * de->k + as]++;
  }
  PetscCall(VecRestoreArrayRead(c, &ca));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecDestroy(&c));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, de->confusion, (PetscMPIInt)(de->k * de->k), MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares probabilities with the labels: mean negative logarithm of that of the true class, mean square error, and bins. */
static PetscErrorCode BMRMDetailsCalibrate(BMRMDetails *de, PetscBool signs, Vec p, Vec y)
{
  const PetscInt     k      = signs ? 1 : de->k;
  PetscReal          sum[2] = {0, 0};
  const PetscScalar *ya, *pa;
  PetscInt           m, M;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetSize(y, &M));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(VecGetArrayRead(p, &pa));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt is  = signs ? PetscRealPart(ya[i]) > 0 : (PetscInt)PetscRealPart(ya[i]);
    PetscInt       top = 0, bin;
    PetscReal      of  = PetscRealPart(pa[i]), one;

    for (PetscInt c = 1; c < k; c++) top = PetscRealPart(pa[c * m + i]) > PetscRealPart(pa[top * m + i]) ? c : top;
    one = signs ? (is ? of : 1 - of) : PetscRealPart(pa[is * m + i]); /* the probability of the true class */
    sum[0] -= PetscLogReal(PetscMax(one, PETSC_MACHINE_EPSILON));
    for (PetscInt c = 0; !signs && c < k; c++) sum[1] += PetscSqr(PetscRealPart(pa[c * m + i]) - (c == is));
    if (signs) sum[1] += PetscSqr(1 - one);
    else of = PetscRealPart(pa[top * m + i]);
    bin = PetscMax(0, PetscMin(BMRM_BINS - 1, (PetscInt)(BMRM_BINS * of)));
    de->bin[bin].count++;
    de->bin[bin].probability += of;
    de->bin[bin].right += signs ? is : top == is;
  }
  PetscCall(VecRestoreArrayRead(p, &pa));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, de->bin, 3 * BMRM_BINS, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  de->likely            = PETSC_TRUE;
  de->log_loss          = sum[0] / M;
  de->brier             = sum[1] / M;
  de->calibration_error = 0;
  for (PetscInt b = 0; b < BMRM_BINS; b++) de->calibration_error += PetscAbsReal(de->bin[b].probability - de->bin[b].right) / M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers a vector on the first rank. */
static PetscErrorCode BMRMDetailsGather(Vec v, Vec *all)
{
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(v, &scatter, all));
  PetscCall(VecScatterBegin(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscReal score, label;
} BMRMDetailsExample;

static int BMRMDetailsCompare(const void *a, const void *b, void *context)
{
  const PetscReal x = ((const BMRMDetailsExample *)a)->score, y = ((const BMRMDetailsExample *)b)->score;

  return (x < y) - (x > y);
}

/* Computes the curves of two classes on the first rank: one point for each different score, in descending order. */
static PetscErrorCode BMRMDetailsCurves(BMRMDetails *de, Vec f, Vec y)
{
  const PetscReal     plus = (PetscReal)(de->confusion[2] + de->confusion[3]), minus = (PetscReal)(de->confusion[0] + de->confusion[1]);
  const PetscScalar  *fa, *ya;
  BMRMDetailsExample *ex;
  PetscReal           tp = 0, fp = 0, recall = 0, rate = 0, area = 0;
  PetscInt            n;
  Vec                 all[2];

  PetscFunctionBegin;
  PetscCall(BMRMDetailsGather(f, &all[0]));
  PetscCall(BMRMDetailsGather(y, &all[1]));
  PetscCall(VecGetLocalSize(all[0], &n));
  PetscCall(PetscMalloc1(n, &ex));
  PetscCall(PetscMalloc1(n, &de->point));
  PetscCall(VecGetArrayRead(all[0], &fa));
  PetscCall(VecGetArrayRead(all[1], &ya));
  for (PetscInt i = 0; i < n; i++) ex[i] = (BMRMDetailsExample){PetscRealPart(fa[i]), PetscRealPart(ya[i])};
  PetscCall(VecRestoreArrayRead(all[1], &ya));
  PetscCall(VecRestoreArrayRead(all[0], &fa));
  if (n) PetscCall(PetscTimSort(n, ex, sizeof(*ex), BMRMDetailsCompare, NULL));
  for (PetscInt i = 0; i < n; i++) {
    if (ex[i].label > 0) tp++;
    else fp++;
    if (i + 1 < n && ex[i + 1].score == ex[i].score) continue;
    de->point[de->npoint++] = (BMRMCurvePoint){ex[i].score, tp / plus, fp / minus, tp / (tp + fp)};
    area += (tp / plus - recall) * tp / (tp + fp);
    de->auc += (fp / minus - rate) * (tp / plus + recall) / 2;
    recall = tp / plus;
    rate   = fp / minus;
  }
  de->average_precision = area;
  PetscCall(PetscFree(ex));
  PetscCall(VecDestroy(&all[1]));
  PetscCall(VecDestroy(&all[0]));
  PetscCallMPI(MPI_Bcast(&de->average_precision, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the details for the examples of a file. signs: there are two classes with one score, and labels +1 and -1; else k scores, and labels 0 to k - 1. f: the scores.
   p: the probabilities, or NULL. y: the labels, all known. */
PetscErrorCode BMRMDetailsCreate(const char file[], PetscBool signs, PetscInt k, Vec f, Vec p, Vec y, BMRMDetails *de)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(de, sizeof(*de)));
  PetscCall(PetscStrncpy(de->file, file, sizeof(de->file)));
  de->k        = k;
  de->log_loss = de->brier = de->calibration_error = de->average_precision = (PetscReal)NAN;
  PetscCall(BMRMDetailsCount(de, signs, f, y));
  if (p) PetscCall(BMRMDetailsCalibrate(de, signs, p, y));
  if (signs) PetscCall(BMRMDetailsCurves(de, f, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMDetailsDestroy(BMRMDetails *de)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(de->confusion));
  PetscCall(PetscFree(de->point));
  de->k = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
