/* Incomplete factorisations on the host backend. */
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A factorisation in progress. */
typedef struct {
  GpTriFactor       *F;
  const void        *values;
  int                single;
  const GpTriPivots *pivots;
  GpTriStatus        status;
  double            *row; /* [n] the row that is computed; entries outside its pattern are arbitrary */
} GpTriWork;

static double GpTriGather(const GpTriWork *w, int64_t k)
{
  const int32_t from = w->F->from[k];

  return from < 0 ? 0 : w->single ? (double)((const float *)w->values)[from] : ((const double *)w->values)[from];
}

/* Loads row i of A. */
static void GpTriLoadRow(const GpTriWork *w, int32_t i)
{
  const GpTriFactor *F = w->F;

  for (int32_t k = F->first[i]; k < F->first[i + 1] && !F->icc; k++) w->row[F->col[k]] = GpTriGather(w, k);
  for (int32_t k = F->upper[2 * i]; k <= F->upper[2 * i + 1]; k++) w->row[F->col[k]] = GpTriGather(w, k);
  w->row[i] += w->pivots->shift;
}

/* Subtracts the multiples of the rows on which row i depends. */
static void GpTriEliminate(const GpTriWork *w, int32_t i)
{
  const GpTriFactor *F = w->F;

  for (int32_t k = F->first[i]; k < F->first[i + 1]; k++) {
    const int32_t other = F->dep[k], begin = F->icc ? F->segment[k] : F->upper[2 * other], end = F->upper[2 * other + 1];
    double        multiplier;

    if (F->icc) { /* the first entry of the segment is that in column i */
      multiplier = -F->val[begin] * F->pivot[other];
      for (int32_t e = begin; e < end; e++) w->row[F->col[e]] += multiplier * F->val[e];
    } else if (w->row[other] != 0) {
      multiplier = w->row[other] * F->pivot[other];
      for (int32_t e = begin; e < end; e++) w->row[F->col[e]] -= multiplier * F->val[e];
      w->row[other] = multiplier;
    }
  }
}

/* Tells whether a pivot is too small. sum: sum of the absolute values of the other entries of its row */
static int GpTriIsSmall(const GpTriPivots *p, double pivot, double sum)
{
  if (p->rule == GP_TRI_PIVOT_POSITIVE) return pivot <= p->zero * sum;
  return fabs(pivot) <= (p->rule == GP_TRI_PIVOT_NONZERO ? p->zero * sum : p->zero);
}

/* Stores row i. Returns 1 if its pivot makes the factor useless. */
static int GpTriStoreRow(GpTriWork *w, int32_t i)
{
  GpTriFactor  *F   = w->F;
  const int32_t end = F->upper[2 * i + 1];
  double        sum = 0, pivot = w->row[i];
  int           small;

  for (int32_t k = F->first[i]; k < F->first[i + 1] && !F->icc; k++) sum += fabs(F->val[k] = w->row[F->col[k]]);
  for (int32_t k = F->upper[2 * i]; k < end; k++) sum += fabs(F->val[k] = w->row[F->col[k]]);
  small = GpTriIsSmall(w->pivots, pivot, sum);
  if (small) {
    if (!w->status.count++) w->status.first = i;
    w->status.last = i;
    if (w->pivots->rule == GP_TRI_PIVOT_INBLOCKS) pivot += w->pivots->amount;
  }
  F->pivot[i] = 1 / pivot;
  F->val[end] = small && w->pivots->rule != GP_TRI_PIVOT_INBLOCKS ? pivot : F->pivot[i];
  if (pivot < 0) w->status.negative = 1;
  for (int32_t k = F->upper[2 * i]; k < end && !F->icc; k++) {
    if (fabs(F->val[k]) < FLT_MIN && fabs(F->val[k]) * fabs(F->pivot[i]) > FLT_EPSILON) w->status.tiny = 1;
  }
  return small && (w->pivots->rule == GP_TRI_PIVOT_NONZERO || w->pivots->rule == GP_TRI_PIVOT_POSITIVE);
}

GpErr GpTriFactorCompute_Host(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots)
{
  GpTriWork w       = {F, values, single, pivots, {F->n, -1, 0, 0, 0, 0}, (double *)calloc((size_t)F->n + 1, sizeof(double))};
  int       useless = 0;

  if (!w.row) return GpDevFail(F->dev, GP_ERR_MEMORY, "out of host memory for a row of %d entries", (int)F->n);
  for (int32_t i = 0; i < F->n && !useless; i++) {
    GpTriLoadRow(&w, i);
    GpTriEliminate(&w, i);
    useless = GpTriStoreRow(&w, i);
  }
  for (int32_t i = 0; i < F->n && F->icc && !useless; i++) {
    for (int32_t k = F->upper[2 * i]; k < F->upper[2 * i + 1]; k++) F->val[k] = -F->val[k] * F->pivot[i];
  }
  *F->status = w.status;
  free(w.row);
  return GP_SUCCESS;
}
