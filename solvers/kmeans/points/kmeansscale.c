/* The scales of fixed-point sums: the largest values on all ranks determine them. */
#include "kmeansrows.h"

#include <float.h>

#define KMEANS_MOST_EXPONENT 960 /* the second word of a scale, at most 2^61 times the first, does not overflow */

/* Returns a power of 2, the scale. If N values of at most `largest` are multiplied by the scale and rounded, their sum fits 64 bits. `bits` receives the number of bits of the integer that
   `largest` becomes. */
static double KMeansScale(PetscInt N, double largest, int *bits)
{
  int exponent, count = 0; /* count: the least number of bits with 2^count >= N */

  while (((PetscInt64)1 << count) < (PetscInt64)N) count++;
  (void)frexp(largest, &exponent);
  *bits = 61 - count;
  return largest > 0 ? ldexp(1.0, PetscMin(*bits - exponent, KMEANS_MOST_EXPONENT)) : 1.0;
}

/* Bounds on the values of one feature of all points. MPI_MAX combines those of all ranks, so each is a largest value. */
typedef struct {
  double least, most; /* least: the largest value of -x, which is -1 times the least value x; most: the largest value */
  double weighted;    /* the largest absolute value times the weight of its point */
} KMeansLargest;

/* Finds the bounds of each feature on this rank. single: the values of rows->X will be stored in single precision. */
static void KMeansFindLargest(const KMeansRows *rows, int single, const double weight[], KMeansLargest L[])
{
  for (PetscInt j = 0; j < rows->d; j++) {
    L[j] = (KMeansLargest){rows->dense ? -DBL_MAX : 0, rows->dense ? -DBL_MAX : 0, 0}; /* sparse points have zeros that are not stored */
    if (!rows->X) continue;
    L[j].least = rows->range[2 * j];
    L[j].most  = rows->range[2 * j + 1];
    if (!weight && rows->n) L[j].weighted = PetscMax(fabs(L[j].least), fabs(L[j].most));
    for (PetscInt i = 0; i < rows->n && weight; i++) {
      const double value = KMeansRowsGet_Private(rows, i, j);

      L[j].weighted = PetscMax(L[j].weighted, fabs((single ? (double)(float)value : value) * weight[i]));
    }
  }
  for (PetscInt i = 0; i < rows->n && !rows->X; i++) {
    const size_t from = rows->dense ? (size_t)i * rows->d : (size_t)rows->row[i], to = rows->dense ? from + rows->d : (size_t)rows->row[i + 1];

    for (size_t k = from; k < to; k++) {
      KMeansLargest *l = &L[rows->dense ? (PetscInt)(k - from) : rows->col[k]];

      l->least    = PetscMax(l->least, -rows->value[k]);
      l->most     = PetscMax(l->most, rows->value[k]);
      l->weighted = PetscMax(l->weighted, fabs(rows->value[k] * (weight ? weight[i] : 1.0)));
    }
  }
}

/* Returns an upper bound on the error of a coordinate of a centroid, relative to the largest absolute value of the feature. spread: the largest weight divided by the least positive weight; 0 without
   weights. bits: number of bits of the integer that the largest value becomes. A coordinate is a sum of weighted values divided by a sum of weights, which is the number of points without weights.
   Rounding changes a weighted value by at most 2^-bits or 2^-40 times the largest one, and a weight by at most 2^-bits times the largest weight. */
static double KMeansMeanError(KMeans km, double spread, int bits)
{
  if (km->update != KMEANS_AUTO && (KMeansUpdateTable[km->update].properties & KMEANS_FLOAT)) return 1; /* sums in single precision have no such bound */
  return spread > 0 ? PetscMin(1, ldexp(spread, 4 - bits)) : 0x1p-36;
}

/* Returns an upper bound on the distance in one feature between a point and a centroid. A centroid is a mean of values, so it lies in their range, up to a rounding error of at most `error` times the
   largest absolute value. */
static double KMeansReach(const KMeansLargest *l, double error)
{
  const double large = PetscMax(fabs(l->least), fabs(l->most));

  return l->most < -l->least ? 0 : PetscMin(l->most + l->least + error * large, 2 * large); /* if there are no points, most is less than the least value, and the bound is 0 */
}

/* Sets the scales of features, weights and inertia from the bounds on all ranks. outside: [many][d] start centroids, which may lie outside the bounding box of the points. */
PetscErrorCode KMeansPointsScale_Private(KMeans km, const KMeansRows *rows, const double weight[], PetscInt many, const double outside[], KMeansPoints *P, KMeansFixed feature[])
{
  KMeansData    *A        = &P->data;
  KMeansLargest *L        = NULL;
  double         farthest = 0, mass, error;
  int            bits;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(rows->d + 1, &L)); /* the last element has -1 times the least positive weight, and the largest weight */
  KMeansFindLargest(rows, A->single, weight, L);
  L[rows->d].least = L[rows->d].most = weight ? -DBL_MAX : 1;
  for (PetscInt i = 0; i < rows->n && weight; i++) {
    if (weight[i] > 0) L[rows->d].least = PetscMax(L[rows->d].least, -weight[i]);
    L[rows->d].most = PetscMax(L[rows->d].most, weight[i]);
  }
  for (PetscInt k = 0; k < many * rows->d; k++) {
    L[k % rows->d].least = PetscMax(L[k % rows->d].least, -outside[k]);
    L[k % rows->d].most  = PetscMax(L[k % rows->d].most, outside[k]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, L, (PetscMPIInt)(3 * (rows->d + 1)), MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)km)));
  mass = L[rows->d].most;
  (void)KMeansScale(P->N, 1, &bits); /* bits depends on the number of points alone */
  P->bits = bits;
  error   = KMeansMeanError(km, weight ? -mass / L[rows->d].least : 0, bits);
  for (PetscInt j = 0; j < rows->d; j++) {
    const double reach = KMeansReach(&L[j], error);

    feature[j].first  = KMeansScale(P->N, L[j].weighted, &bits);
    feature[j].second = bits < 40 ? feature[j].first * ldexp(1.0, bits) : 0;
    farthest += reach * reach;
  }
  A->words = bits < 40 ? 2 : 1;
  if (A->cosine) farthest = 2;
  PetscCall(PetscFree(L));
  PetscCheck(PetscIsNormalReal(farthest * mass) || farthest == 0, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "Points: squared distances of up to %g exceed the range of double precision; scale the columns of the points", farthest * mass);
  A->mass = (KMeansFixed){weight ? KMeansScale(P->N, mass, &bits) : 1.0, 0};
  A->cost = (KMeansFixed){KMeansScale(P->N, farthest * mass, &bits), 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
