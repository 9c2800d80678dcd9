/* Layout of a triangle: slots and slices. Several threads run the loops; the results do not depend on their number. */
#include "device/gpfillers.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include <stdlib.h>
#include <string.h>

void GpTriFreeLayout(GpTriLayout *L)
{
  free(L->row);
  free(L->slice);
  free(L->col);
  free(L->source);
  *L = (GpTriLayout){0};
}

typedef struct {
  const GpTriRows *rows;
  const int32_t   *slot; /* [n] slot of each row; NULL: rows keep their order */
  int32_t         *in;   /* [n] slice of each slot */
  GpTriLayout     *L;
  GpTriSlice      *slice; /* arrays of the layout */
  int32_t         *col;
} GpTriFiller;

/* --- layout of the host ---------------------------------------------------------------------------------------------------------- */

static void GpTriKeepEntries(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriFiller *f    = (const GpTriFiller *)context;
  const GpTriRows   *rows = f->rows;
  const int32_t      last = rows->n - 1;

  (void)part;
  for (int64_t k = begin; k < end; k++) {
    const GpTriSlice *c    = &f->slice[k];
    const int32_t     from = rows->begin[f->L->row[k]];

    for (int32_t e = 0; e < c->width; e++) {
      const int32_t other = rows->col[from + e];

      f->col[c->start + e]       = rows->reverse ? last - other : other;
      f->L->source[c->start + e] = (uint32_t)(rows->source ? rows->source[from + e] : from + e);
    }
  }
}

void GpTriKeepRows(const GpTriRows *rows, GpTriLayout *L, GpTriSlice slice[], int32_t col[])
{
  GpTriFiller f      = {rows, NULL, NULL, L, slice, col};
  int32_t     stored = 0;

  for (int32_t k = 0; k < rows->n; k++) {
    const int32_t i = rows->reverse ? rows->n - 1 - k : k, width = rows->end[i] - rows->begin[i];

    L->row[k] = i;
    slice[k]  = (GpTriSlice){stored, k, 1, width};
    stored += width;
  }
  GpFillersRun(GpFillersParts(rows->n, GP_TRI_GRAIN), rows->n, GpTriKeepEntries, &f);
}

/* --- layout of a GPU ------------------------------------------------------------------------------------------------------------- */

/* Computes the width of a slice. The rows of a level are sorted by descending length, except very long ones. */
static int32_t GpTriGetWidth(const GpTriRows *rows, const GpTriLayout *L, int32_t slot, int32_t count)
{
  int32_t longest = 0;

  for (int32_t r = 0; r < count && (!r || longest >= GP_TRI_LONG); r++) {
    const int32_t i = L->row[slot + r], length = rows->end[i] - rows->begin[i];

    if (length > longest) longest = length;
  }
  return (int32_t)(((int64_t)longest + L->lanes - 1) / L->lanes);
}

/* Divides the rows of each level into slices. */
static void GpTriCut(const GpTriRows *rows, const GpTriOrder *order, int32_t in[], GpTriLayout *L)
{
  const int32_t most   = 32 / L->lanes;
  int64_t       stored = 0;
  int32_t       slices = 0;

  for (int32_t l = 0; l < order->levels; l++) {
    for (int32_t s = order->levelptr[l]; s < order->levelptr[l + 1]; s += most) {
      const int32_t left = order->levelptr[l + 1] - s, count = left < most ? left : most, width = GpTriGetWidth(rows, L, s, count);

      for (int32_t r = 0; r < count; r++) in[s + r] = slices;
      L->slice[slices++] = (GpTriSlice){(int32_t)(stored / L->align), s, count, width};
      stored += ((int64_t)width * count * L->lanes + L->align - 1) / L->align * L->align;
    }
  }
  L->stored = stored;
}

/* Writes the slot of each column and the source of each value of some rows, and their padding. The rows are read in their order: neighbours are in different levels, and the writes to
   each level are contiguous. */
static void GpTriSetEntries(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriFiller *f    = (const GpTriFiller *)context;
  const GpTriRows   *rows = f->rows;
  const int32_t      T    = f->L->lanes;

  (void)part;
  for (int64_t i = begin; i < end; i++) {
    const int32_t     slot = f->slot[i], from = rows->begin[i], length = rows->end[i] - from;
    const GpTriSlice *c    = &f->slice[f->in[slot]];
    const int64_t     step = (int64_t)c->rows * T;
    int64_t           to   = (int64_t)c->start * f->L->align + (int64_t)(slot - c->slot) * T;

    for (int32_t q = 0; q < c->width; q++, to += step) {
      for (int32_t t = 0; t < T; t++) {
        const int32_t e = q * T + t;

        f->col[to + t]       = e < length ? f->slot[rows->col[from + e]] : -1;
        f->L->source[to + t] = e < length ? (uint32_t)(rows->source ? rows->source[from + e] : from + e) : GP_TRI_NONE;
      }
    }
  }
}

/* Fills the padding behind the slices. */
static void GpTriSetPadding(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriFiller *f = (const GpTriFiller *)context;
  const GpTriLayout *L = f->L;

  (void)part;
  for (int64_t s = begin; s < end; s++) {
    const GpTriSlice *c    = &f->slice[s];
    const int64_t     next = s + 1 < L->slices ? (int64_t)f->slice[s + 1].start * L->align : L->stored;

    for (int64_t to = (int64_t)c->start * L->align + (int64_t)c->width * c->rows * L->lanes; to < next; to++) {
      f->col[to]    = -1;
      L->source[to] = GP_TRI_NONE;
    }
  }
}

/* Sets slices and entries of the layout, whose rows have been sorted. Returns 1 if host memory is exhausted. */
static int GpTriBuild(const GpTriRows *rows, const GpTriOrder *order, GpTriLayout *L)
{
  const int     parts = GpFillersParts(rows->n, GP_TRI_GRAIN);
  const int32_t most  = 32 / L->lanes;
  GpTriFiller   f     = {rows, order->slot, GpTriAllocate((size_t)rows->n), L, NULL, NULL};
  int           failed;

  L->levels = order->levels;
  for (int32_t l = 0; l < order->levels; l++) L->slices += (order->levelptr[l + 1] - order->levelptr[l] + most - 1) / most;
  L->slice = f.slice = (GpTriSlice *)malloc(((size_t)L->slices + 1) * sizeof(GpTriSlice));
  failed             = !f.in || !L->slice;
  if (!failed) {
    GpTriCut(rows, order, f.in, L);
    L->col = f.col = GpTriAllocate((size_t)L->stored);
    L->source      = (uint32_t *)GpTriAllocate((size_t)L->stored);
    failed         = !L->col || !L->source;
  }
  if (!failed) {
    GpFillersRun(parts, rows->n, GpTriSetEntries, &f);
    GpFillersRun(parts, L->slices, GpTriSetPadding, &f);
  }
  free(f.in);
  return failed;
}

int GpTriAnalyse(const GpTriRows *rows, GpTriLayout *L)
{
  const size_t bytes = (size_t)rows->n * sizeof(int32_t);
  GpTriOrder   own   = {0};
  int          failed;

  if (!rows->order && GpTriOrderRows(rows, &own)) failed = 1;
  else {
    L->row = rows->order ? GpTriAllocate((size_t)rows->n) : own.row;
    if (rows->order && L->row) memcpy(L->row, rows->order->row, bytes);
    own.row = NULL; /* the layout has taken it */
    failed  = !L->row || GpTriBuild(rows, rows->order ? rows->order : &own, L);
  }
  GpTriFreeOrder(&own);
  if (failed) GpTriFreeLayout(L);
  return failed;
}
