/* Host implementation of `cells`. kmeanscells.h describes the method. */
#include "kmeanscells.h"

GpErr KMeansBox_Host(const KMeansData *A, double low[KMEANS_CELLS_FEATURES], double high[KMEANS_CELLS_FEATURES])
{
  for (int32_t j = 0; j < KMEANS_CELLS_FEATURES; j++) {
    low[j]  = HUGE_VAL;
    high[j] = -HUGE_VAL;
  }
  for (int64_t i = 0; i < A->n; i++)
    for (int32_t j = 0; j < A->d; j++) {
      const double x = KMeansValue(A, i * A->d + j);

      low[j]  = x < low[j] ? x : low[j];
      high[j] = x > high[j] ? x : high[j];
    }
  return GP_SUCCESS;
}

/* Lists the candidates of a cell. */
static void KMeansCellsList(const KMeansData *A, int32_t cell)
{
  KMeansCells  *cells = A->cells;
  double        centre[KMEANS_CELLS_FEATURES], width[KMEANS_CELLS_FEATURES], least = HUGE_VAL;
  const double  square = KMeansCellBox(A->grid, A->d, cell, centre, width), *z = NULL;
  const int32_t most = KMEANS_CELLS_FEW + KMEANS_CELLS_MORE;
  int32_t       many = 0;

  for (int32_t c = 0; c < A->k; c++) {
    const double *m = A->centroid + (int64_t)c * A->d, sum = KMeansCellSquare(A->d, centre, m);

    if (!(sum < least)) continue;
    least = sum;
    z     = m;
  }
  for (int32_t c = 0; z && c < A->k; c++) {
    const double *m = A->centroid + (int64_t)c * A->d;

    if (!KMeansCellKeeps(A->d, m, z, KMeansCellSquare(A->d, centre, m), least, width, square)) continue;
    if (many < KMEANS_CELLS_FEW) cells->few[cell][1 + many] = (uint16_t)c;
    else if (many < most) cells->more[cell][many - KMEANS_CELLS_FEW] = (uint16_t)c;
    many++;
  }
  cells->few[cell][0] = z && many <= most ? (uint16_t)many : KMEANS_CELLS_ALL;
}

GpErr KMeansAssign_cells_Host(const KMeansData *A)
{
  if (!A->n) return GP_SUCCESS;
  for (int32_t cell = 0; cell < KMEANS_CELLS; cell++) KMeansCellsList(A, cell);
  for (int64_t i = 0; i < A->n; i++) {
    const int32_t   cell = KMeansCellFind(A, A->grid, i), all = A->cells->few[cell][0] == KMEANS_CELLS_ALL, many = all ? A->k : A->cells->few[cell][0];
    const uint16_t *few = A->cells->few[cell] + 1, *more = A->cells->more[cell];
    int32_t         label    = -1;
    double          compared = 0;

    for (int32_t q = 0; q < many; q++) {
      const int32_t c   = all ? q : q < KMEANS_CELLS_FEW ? few[q] : more[q - KMEANS_CELLS_FEW];
      const double  now = KMeansCompare(A, i, c);

      if (label >= 0 && !(now < compared)) continue;
      compared = now;
      label    = c;
    }
    KMeansPut(A, i, label, compared, many);
  }
  return GP_SUCCESS;
}
