/* Update by sorting on the host: a counting sort of the points by label, then the sums of one cluster after another. */
#include "kmeansadd.h"

GpErr KMeansUpdate_sort_Host(const KMeansData *A)
{
  const size_t starts = ((size_t)A->k + 1) * sizeof(int32_t), points = (size_t)A->n * sizeof(int32_t);
  int32_t     *start = NULL, *point = NULL;
  GpErr        err = GpDevAlloc(A->dev, starts, &start);

  if (!err) err = GpDevAlloc(A->dev, points, &point);
  if (!err) {
    memset(start, 0, starts);
    for (int32_t i = 0; i < A->n; i++) start[A->label[i] + 1]++;
    for (int32_t c = 0; c < A->k; c++) start[c + 1] += start[c];
    for (int32_t i = 0; i < A->n; i++) point[start[A->label[i]]++] = i;
    for (int32_t p = 0; p < A->n; p++) KMeansAddPoint(A, point[p]);
  }
  GpDevFree(A->dev, &point, points);
  GpDevFree(A->dev, &start, starts);
  return err;
}
