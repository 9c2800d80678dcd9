/* The points on the host: copies of rows, samples, sums that do not depend on the ranks. */
#include "rows.h"
#include "app/program/apphash.h"
#include <math.h>

/* Scales a row to norm 1. Division by the largest value prevents overflow. */
static void PointRowsScaleRow(PetscInt n, double value[])
{
  double largest = 0, sum = 0;

  for (PetscInt e = 0; e < n; e++) largest = PetscMax(largest, fabs(value[e]));
  if (largest == 0) return;
  for (PetscInt e = 0; e < n; e++) {
    value[e] /= largest;
    sum += value[e] * value[e];
  }
  for (PetscInt e = 0; e < n; e++) value[e] /= sqrt(sum);
}

/* Copies the local rows of a matrix. */
PetscErrorCode PointRowsCreate(Mat X, KMeansMetric metric, PointRows *R)
{
  PetscBool  dense;
  PetscInt   end;
  PetscInt64 nnz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  PetscCall(PetscObjectGetComm((PetscObject)X, &R->comm));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(MatGetSize(X, &R->N, &R->d));
  PetscCall(MatGetOwnershipRange(X, &R->first, &end));
  R->n = end - R->first;
  PetscCall(PetscMalloc1((size_t)R->n + 1, &R->begin));
  for (PetscInt i = 0; i < R->n; i++) {
    PetscInt n = R->d;

    R->begin[i] = nnz;
    if (!dense) PetscCall(MatGetRow(X, R->first + i, &n, NULL, NULL));
    nnz += n;
    if (!dense) PetscCall(MatRestoreRow(X, R->first + i, &n, NULL, NULL));
  }
  R->begin[R->n] = nnz;
  PetscCall(PetscMalloc1(nnz, &R->value));
  if (!dense) PetscCall(PetscMalloc1(PetscMax(nnz, 1), &R->col));
  for (PetscInt i = 0; i < R->n; i++) {
    const PetscInt    *col;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(X, R->first + i, &n, &col, &value));
    PetscCall(PetscArraycpy(R->value + R->begin[i], value, n));
    if (!dense) PetscCall(PetscArraycpy(R->col + R->begin[i], col, n));
    if (metric == KMEANS_METRIC_COSINE) PointRowsScaleRow(n, R->value + R->begin[i]);
    PetscCall(MatRestoreRow(X, R->first + i, &n, &col, &value)); /* sets n to 0 */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the rows of m ascending numbers on all ranks. Collective. */
PetscErrorCode PointRowsGather(const PointRows *R, PetscInt m, const PetscInt number[], PointRows *S)
{
  PetscMPIInt count;
  PetscInt64 *length;

  PetscFunctionBegin;
  *S = (PointRows){.comm = PETSC_COMM_SELF, .N = m, .n = m, .d = R->d};
  PetscCall(PetscMalloc1((size_t)m + 1, &S->begin));
  PetscCall(PetscCalloc1(m, &length));
  for (PetscInt s = 0; s < m; s++) {
    const PetscInt i = number[s] - R->first;

    if (i >= 0 && i < R->n) length[s] = R->begin[i + 1] - R->begin[i];
  }
  PetscCall(PetscMPIIntCast(m, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, length, count, MPIU_INT64, MPI_SUM, R->comm));
  S->begin[0] = 0;
  for (PetscInt s = 0; s < m; s++) S->begin[s + 1] = S->begin[s] + length[s];
  PetscCall(PetscFree(length));
  PetscCheck(S->begin[m] < PETSC_MPI_INT_MAX, R->comm, PETSC_ERR_SUP, "%" PetscInt_FMT " points have %" PetscInt64_FMT " values, more than MPI can send at once", m, S->begin[m]);
  PetscCall(PetscCalloc1(S->begin[m], &S->value));
  if (R->col) PetscCall(PetscCalloc1(PetscMax(S->begin[m], 1), &S->col));
  for (PetscInt s = 0; s < m; s++) {
    const PetscInt i = number[s] - R->first;

    if (i < 0 || i >= R->n) continue;
    PetscCall(PetscArraycpy(S->value + S->begin[s], R->value + R->begin[i], (size_t)(S->begin[s + 1] - S->begin[s])));
    if (R->col) PetscCall(PetscArraycpy(S->col + S->begin[s], R->col + R->begin[i], (size_t)(S->begin[s + 1] - S->begin[s])));
  }
  count = (PetscMPIInt)S->begin[m]; /* one rank has each row, the others add zeros */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, S->value, count, MPI_DOUBLE, MPI_SUM, R->comm));
  if (R->col) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, S->col, count, MPIU_INT, MPI_SUM, R->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointRowsDestroy(PointRows *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(R->begin));
  PetscCall(PetscFree(R->col));
  PetscCall(PetscFree(R->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of point s of a sample of m of N points: one point of each of m parts of about N / m consecutive numbers. The sample depends on N and m alone. */
PetscInt PointRowsFindSample(PetscInt N, PetscInt m, PetscInt s)
{
  const PetscInt64 from = (PetscInt64)((double)N / m * s), to = s == m - 1 ? N : (PetscInt64)((double)N / m * (s + 1));

  return (PetscInt)(from + (PetscInt64)(GpAppHash64((uint64_t)s) % (uint64_t)PetscMax(to - from, 1)));
}

/* Returns a power of 2 by which N values of at most `largest` may be multiplied so that their sum fits 64 bits. */
double PointRowsGetScale(PetscInt N, double largest)
{
  int exponent, count = 0;

  while (((PetscInt64)1 << count) < (PetscInt64)N) count++;
  (void)frexp(largest, &exponent);
  return largest > 0 ? ldexp(1.0, PetscMin(61 - count - exponent, 1000)) : 1.0;
}

/* Sums factor times point, if sum is not NULL, and the factors, over the points of all ranks. The results have the same bits on any number of ranks. Collective. */
PetscErrorCode PointRowsSum(const PointRows *R, const double factor[], double sum[], double *total)
{
  const PetscInt d = sum ? R->d : 0;
  int64_t       *whole;
  double        *scale;
  PetscMPIInt    count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(d + 1, &count));
  PetscCall(PetscCalloc2((size_t)d + 1, &whole, (size_t)d + 1, &scale));
  for (PetscInt i = 0; i < R->n; i++) { /* entry d belongs to the factors */
    scale[d] = PetscMax(scale[d], fabs(factor[i]));
    for (PetscInt64 e = R->begin[i]; e < R->begin[i + 1] && d; e++) {
      const PetscInt j = R->col ? R->col[e] : (PetscInt)(e - R->begin[i]);

      scale[j] = PetscMax(scale[j], fabs(factor[i] * R->value[e]));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, scale, count, MPI_DOUBLE, MPI_MAX, R->comm));
  for (PetscInt j = 0; j <= d; j++) scale[j] = PointRowsGetScale(R->N, scale[j]);
  for (PetscInt i = 0; i < R->n; i++) {
    whole[d] += (int64_t)(factor[i] * scale[d]);
    for (PetscInt64 e = R->begin[i]; e < R->begin[i + 1] && d; e++) {
      const PetscInt j = R->col ? R->col[e] : (PetscInt)(e - R->begin[i]);

      whole[j] += (int64_t)(factor[i] * R->value[e] * scale[j]);
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, whole, count, MPIU_INT64, MPI_SUM, R->comm));
  for (PetscInt j = 0; j < d; j++) sum[j] = (double)whole[j] / scale[j];
  *total = (double)whole[d] / scale[d];
  PetscCall(PetscFree2(whole, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
