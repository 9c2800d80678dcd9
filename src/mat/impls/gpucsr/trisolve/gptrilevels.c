/* Analysis of a triangle: levels, slots and slices. */
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include <stdlib.h>

#define GP_TRI_LONG 1024 /* rows with at least this many entries count as equally long when a level is sorted */

void GpTriFreeLayout(GpTriLayout *L)
{
  free(L->row);
  free(L->slice);
  free(L->col);
  free(L->source);
  *L = (GpTriLayout){0};
}

/* Computes the level of each row. Returns the number of levels. */
static int32_t GpTriFindLevels(const GpTriRows *rows, int32_t level[])
{
  int32_t levels = 0;

  for (int32_t k = 0; k < rows->n; k++) {
    const int32_t i    = rows->reverse ? rows->n - 1 - k : k;
    int32_t       mine = 0;

    for (int64_t e = rows->begin[i]; e < rows->end[i]; e++) {
      const int32_t other = level[rows->col[e]] + 1;

      if (other > mine) mine = other;
    }
    level[i] = mine;
    if (mine >= levels) levels = mine + 1;
  }
  return levels;
}

/* Sorts the rows in `from` stably by their keys. count: [keys + 1] zeros; receives the position of the first row with each key. */
static void GpTriSort(int32_t n, const int32_t from[], const int32_t key[], int32_t keys, int32_t count[], int32_t to[])
{
  int32_t sum = 0;

  for (int32_t k = 0; k < n; k++) count[key[from[k]]]++;
  for (int32_t k = 0; k <= keys; k++) {
    const int32_t c = count[k];

    count[k] = sum;
    sum += c;
  }
  for (int32_t k = 0; k < n; k++) to[count[key[from[k]]]++] = from[k];
  for (int32_t k = keys; k > 0; k--) count[k] = count[k - 1];
  count[0] = 0;
}

/* Sorts the rows by level. Within a level, sorts them by descending length, so that the rows of a slice have similar lengths. levelptr: [levels + 1] receives the first slot of each
   level. */
static int GpTriSortRows(const GpTriRows *rows, const int32_t level[], int32_t levels, int32_t levelptr[], int32_t row[])
{
  const int32_t n = rows->n, first = rows->reverse ? n - 1 : 0, step = rows->reverse ? -1 : 1;
  int32_t      *key = (int32_t *)malloc(((size_t)n + 1) * sizeof(int32_t)), *other = (int32_t *)malloc(((size_t)n + 1) * sizeof(int32_t));
  int32_t       count[GP_TRI_LONG + 2] = {0};
  const int     failed                 = !key || !other;

  if (!failed) {
    for (int32_t i = 0; i < n; i++) {
      const int64_t length = rows->end[i] - rows->begin[i];

      key[i] = length < GP_TRI_LONG ? (int32_t)(GP_TRI_LONG - length) : 0;
      row[i] = first + step * i;
    }
    GpTriSort(n, row, key, GP_TRI_LONG + 1, count, other);
    GpTriSort(n, other, level, levels, levelptr, row);
  }
  free(key);
  free(other);
  return failed;
}

int GpTriSortByLevel(const GpTriRows *rows, int32_t *levels, int32_t **levelptr, int32_t row[])
{
  int32_t *level = (int32_t *)malloc(((size_t)rows->n + 1) * sizeof(int32_t));
  int      failed;

  *levels   = level ? GpTriFindLevels(rows, level) : 0;
  *levelptr = (int32_t *)calloc((size_t)*levels + 2, sizeof(int32_t));
  failed    = !level || !*levelptr || GpTriSortRows(rows, level, *levels, *levelptr, row);
  free(level);
  if (failed) {
    free(*levelptr);
    *levelptr = NULL;
  }
  return failed;
}

/* Divides the rows of each level into slices. With slice NULL only counts them. */
static void GpTriCut(const GpTriRows *rows, int32_t levels, const int32_t levelptr[], int32_t most, GpTriLayout *L)
{
  int64_t stored = 0;

  L->slices = 0;
  for (int32_t l = 0; l < levels; l++) {
    for (int32_t s = levelptr[l]; s < levelptr[l + 1]; s += most) {
      const int32_t left = levelptr[l + 1] - s, count = left < most ? left : most;
      int64_t       width = 0;

      for (int32_t r = s; r < s + count && L->slice; r++) {
        const int64_t length = (rows->end[L->row[r]] - rows->begin[L->row[r]] + L->lanes - 1) / L->lanes;

        if (length > width) width = length;
      }
      if (L->slice) L->slice[L->slices] = (GpTriSlice){(int32_t)(stored / L->align), s, count, (int32_t)width};
      stored += (width * count * L->lanes + L->align - 1) / L->align * L->align;
      L->slices++;
    }
  }
  L->stored = stored;
}

/* Writes the slot of each column and the source of each value to their stored positions. slot: [n] slot of each row */
static void GpTriFill(const GpTriRows *rows, const int32_t slot[], GpTriLayout *L)
{
  const int T = L->lanes;

  for (int64_t k = 0; k < L->stored; k++) {
    L->col[k]    = -1;
    L->source[k] = GP_TRI_NONE;
  }
  for (int32_t s = 0; s < L->slices; s++) {
    const GpTriSlice *c = &L->slice[s];

    for (int32_t r = 0; r < c->rows; r++) {
      const int32_t i = L->row[c->slot + r];

      for (int64_t e = 0; e < rows->end[i] - rows->begin[i]; e++) {
        const int64_t from = rows->begin[i] + e, to = (int64_t)c->start * L->align + e / T * c->rows * T + r * T + e % T;

        L->col[to]    = slot[rows->col[from]];
        L->source[to] = (uint32_t)(rows->source ? rows->source[from] : from);
      }
    }
  }
}

int GpTriAnalyse(const GpTriRows *rows, int lanes, int keep, GpTriLayout *L)
{
  const size_t n     = (size_t)rows->n;
  int32_t     *level = (int32_t *)malloc((n + 1) * sizeof(int32_t)), *levelptr = (int32_t *)calloc(n + 2, sizeof(int32_t));
  int          failed;

  *L     = (GpTriLayout){.n = rows->n, .lanes = lanes, .align = keep ? 1 : GP_TRI_ALIGN, .row = (int32_t *)malloc((n + 1) * sizeof(int32_t))};
  failed = !level || !levelptr || !L->row;
  for (int32_t i = 0; i < rows->n; i++) L->nnz += rows->end[i] - rows->begin[i];
  if (!failed) {
    int32_t groups = L->levels = GpTriFindLevels(rows, level);

    if (keep) { /* each row counts as a level */
      groups = rows->n;
      for (int32_t i = 0; i < rows->n; i++) L->row[i] = rows->reverse ? rows->n - 1 - i : i;
      for (int32_t i = 0; i <= rows->n; i++) levelptr[i] = i;
    } else failed = GpTriSortRows(rows, level, groups, levelptr, L->row);
    if (!failed) {
      GpTriCut(rows, groups, levelptr, keep ? 1 : 32 / lanes, L);
      L->slice = (GpTriSlice *)malloc(((size_t)L->slices + 1) * sizeof(GpTriSlice));
      failed   = !L->slice;
    }
    if (!failed) {
      GpTriCut(rows, groups, levelptr, keep ? 1 : 32 / lanes, L);
      L->col    = (int32_t *)malloc(((size_t)L->stored + 1) * sizeof(int32_t));
      L->source = (uint32_t *)malloc(((size_t)L->stored + 1) * sizeof(uint32_t));
      failed    = !L->col || !L->source;
    }
  }
  if (!failed) {
    for (int32_t k = 0; k < rows->n; k++) level[L->row[k]] = k;
    GpTriFill(rows, level, L);
  }
  free(level);
  free(levelptr);
  if (failed) GpTriFreeLayout(L);
  return failed;
}
