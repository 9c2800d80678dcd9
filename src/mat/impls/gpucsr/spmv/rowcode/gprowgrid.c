/* Finds the grid stencil that a pattern of format rowcode represents. */
#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"

#include <string.h>

#define APART 64 /* minimum distance of the planes in rows, so that lanes of a warp read neighbouring entries */

/* Sorts the entries of a pattern into planes with the given stride. Returns 0 if the result is none of the known grids. */
static int GpRowGridMatch(const GpRowEntry entry[], int32_t n, int32_t stride, GpRowGrid *G)
{
  int32_t column[GP_ROWGRID_COLUMNS], at[GP_ROWGRID_ENTRIES], plane[GP_ROWGRID_ENTRIES] = {0}, k = 0;

  for (int32_t e = 0; e < n; e++) {
    const int64_t shifted = (int64_t)entry[e].offset + stride / 2, p = (shifted - (shifted < 0 ? stride - 1 : 0)) / stride;
    int32_t       c = 0;

    if (p < -GP_ROWGRID_PLANES || p > GP_ROWGRID_PLANES) return 0;
    plane[e] = (int32_t)p;
    at[e]    = (int32_t)(entry[e].offset - p * stride);
    while (c < k && column[c] < at[e]) c++;
    if (c < k && column[c] == at[e]) continue;
    if (k == GP_ROWGRID_COLUMNS) return 0;
    for (int32_t b = k++; b > c; b--) column[b] = column[b - 1];
    column[c] = at[e];
  }
  G->columns = k;
  G->planes  = plane[n - 1] - plane[0] + 1; /* offsets ascend, so planes ascend too */
  G->stride  = stride;
  G->full    = 0;
  if (G->planes > GP_ROWGRID_PLANES) return 0;
  for (int32_t c = 0; c < k; c++) G->offset[c] = column[c] + plane[0] * stride;
  for (int32_t e = 0; e < n; e++) {
    int32_t bit = k * (plane[e] - plane[0]);

    while (column[bit % k] != at[e]) bit++;
    G->full |= (uint64_t)1 << bit;
    G->value[bit] = entry[e].value;
  }
#define GRID(c, p, bits) \
  if (G->columns == c && G->planes == p && G->full == bits) return 1;
  GP_ROWGRIDS(GRID)
#undef GRID
  return 0;
}

int GpRowGridFind(const GpRowEntry entry[], int32_t n, GpRowGrid *G)
{
  if (n > GP_ROWGRID_ENTRIES) return 0;
  for (int32_t e = 1; e < n; e++)
    if (entry[e].offset <= entry[e - 1].offset) return 0;
  for (int32_t e = 1; e < n; e++) {
    for (int32_t b = 0; b < e; b++) {
      const int64_t stride = (int64_t)entry[e].offset - entry[b].offset;

      if (stride >= APART && stride <= INT32_MAX / (2 * GP_ROWGRID_PLANES) && GpRowGridMatch(entry, n, (int32_t)stride, G)) return 1;
    }
  }
  return 0;
}

uint64_t GpRowGridMask(const GpRowGrid *G, const GpRowEntry entry[], int32_t n, double value[])
{
  uint64_t mask = 0;
  int32_t  e    = 0;

  for (int32_t bit = 0; bit < G->columns * G->planes && e < n; bit++) {
    if (!(G->full >> bit & 1) || entry[e].offset != G->offset[bit % G->columns] + bit / G->columns * G->stride) continue;
    if (memcmp(&entry[e].value, &G->value[bit], sizeof(double))) mask |= GP_ROWGRID_VALUES;
    mask |= (uint64_t)1 << bit;
    value[bit] = entry[e++].value;
  }
  return e == n ? mask : GP_ROWGRID_OTHER;
}
