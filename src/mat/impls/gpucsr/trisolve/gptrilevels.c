/* Order of the rows of a triangle by levels, and transposes of triangles. Several threads run the loops; the results do not depend on their number. */
#include "device/gpfillers.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include <stdlib.h>
#include <string.h>

/* --- levels ---------------------------------------------------------------------------------------------------------------------- */

/* Computes the level of each row, and the length of the longest row. Returns the number of levels. */
static int32_t GpTriFindLevels(const GpTriRows *rows, int32_t level[], int32_t *longest)
{
  int32_t levels = 0;

  for (int32_t k = 0; k < rows->n; k++) {
    const int32_t i = rows->reverse ? rows->n - 1 - k : k, end = rows->end[i];
    int32_t       mine = 0;

    if (end - rows->begin[i] > *longest) *longest = end - rows->begin[i];
    for (int32_t e = rows->begin[i]; e < end; e++) {
      const int32_t other = level[rows->col[e]] + 1;

      if (other > mine) mine = other;
    }
    level[i] = mine;
    if (mine >= levels) levels = mine + 1;
  }
  return levels;
}

/* --- sorting --------------------------------------------------------------------------------------------------------------------- */

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

/* The key of a row among those of its level: long rows come first. */
static int32_t GpTriLengthKey(const GpTriRows *rows, int32_t longest, int32_t i)
{
  const int32_t length = rows->end[i] - rows->begin[i];

  return length < longest ? longest - length : 0;
}

/* Sorts by length and then by level.  order->slot: the levels; receives the slots */
static int GpTriSortTwice(const GpTriRows *rows, int32_t longest, GpTriOrder *order)
{
  const int32_t n   = rows->n;
  int32_t      *key = (int32_t *)calloc((size_t)n + 1, sizeof(int32_t)), *other = GpTriAllocate((size_t)n);
  int32_t       count[GP_TRI_LONG + 2] = {0};
  const int     failed                 = !key || !other;

  if (!failed) {
    for (int32_t i = 0; i < n; i++) {
      key[i]        = GpTriLengthKey(rows, longest, i);
      order->row[i] = rows->reverse ? n - 1 - i : i;
    }
    GpTriSort(n, order->row, key, longest + 1, count, other);
    GpTriSort(n, other, order->slot, order->levels, order->levelptr, order->row);
    for (int32_t s = 0; s < n; s++) order->slot[order->row[s]] = s;
  }
  free(key);
  free(other);
  return failed;
}

/* A sort by one key that combines level and length. */
typedef struct {
  const GpTriRows *rows;
  int32_t         *key; /* [n] level of each row; receives the key, and then the slot */
  int32_t          longest;
  int64_t          keys;
  int32_t         *count; /* [parts][keys] number of rows with each key in each part, and then the next slot for them */
  int32_t         *row;
} GpTriSorter;

static void GpTriCountKeys(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriSorter *s     = (const GpTriSorter *)context;
  int32_t           *count = s->count + part * s->keys;

  for (int64_t k = begin; k < end; k++) {
    const int32_t i = s->rows->reverse ? s->rows->n - 1 - (int32_t)k : (int32_t)k;

    s->key[i] = s->key[i] * (s->longest + 1) + GpTriLengthKey(s->rows, s->longest, i);
    count[s->key[i]]++;
  }
}

static void GpTriPlaceRows(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriSorter *s    = (const GpTriSorter *)context;
  int32_t           *next = s->count + part * s->keys;

  for (int64_t k = begin; k < end; k++) {
    const int32_t i = s->rows->reverse ? s->rows->n - 1 - (int32_t)k : (int32_t)k;

    s->key[i]         = next[s->key[i]]++;
    s->row[s->key[i]] = i;
  }
}

/* Sorts by level and length at once, if there are few keys.  order->slot: as above */
static int GpTriSortOnce(const GpTriRows *rows, int32_t longest, GpTriOrder *order)
{
  const int   parts = GpFillersParts(rows->n, GP_TRI_GRAIN);
  GpTriSorter s     = {rows, order->slot, longest, (int64_t)order->levels * (longest + 1), NULL, order->row};
  int32_t     sum   = 0;

  s.count = (int32_t *)calloc((size_t)(parts * s.keys) + 1, sizeof(int32_t));
  if (!s.count) return 1;
  GpFillersRun(parts, rows->n, GpTriCountKeys, &s);
  for (int64_t key = 0; key < s.keys; key++) {
    if (key % (longest + 1) == 0) order->levelptr[key / (longest + 1)] = sum;
    for (int part = 0; part < parts; part++) {
      const int32_t c = s.count[part * s.keys + key];

      s.count[part * s.keys + key] = sum;
      sum += c;
    }
  }
  order->levelptr[order->levels] = sum;
  GpFillersRun(parts, rows->n, GpTriPlaceRows, &s);
  free(s.count);
  return 0;
}

int GpTriOrderRows(const GpTriRows *rows, GpTriOrder *order)
{
  int32_t longest = 0;
  int     failed;

  *order        = (GpTriOrder){.row = GpTriAllocate((size_t)rows->n), .slot = GpTriAllocate((size_t)rows->n)};
  order->levels = order->slot ? GpTriFindLevels(rows, order->slot, &longest) : 0;
  if (longest > GP_TRI_LONG) longest = GP_TRI_LONG;
  order->levelptr = (int32_t *)calloc((size_t)order->levels + 2, sizeof(int32_t));
  failed          = !order->row || !order->slot || !order->levelptr;
  if (!failed) failed = (int64_t)order->levels * (longest + 1) <= rows->n / 8 ? GpTriSortOnce(rows, longest, order) : GpTriSortTwice(rows, longest, order);
  if (failed) GpTriFreeOrder(order);
  return failed;
}

void GpTriFreeOrder(GpTriOrder *order)
{
  free(order->levelptr);
  free(order->row);
  free(order->slot);
  *order = (GpTriOrder){0};
}

/* --- transposes ------------------------------------------------------------------------------------------------------------------ */

/* A transpose in progress. Each part of the rows counts its entries in the range of columns that it uses. */
typedef struct {
  const GpTriRows *rows;
  GpTriTransposed *t;
  int32_t          low[GP_FILLERS_PARTS], high[GP_FILLERS_PARTS]; /* first column of each part, and the one behind its last */
  int32_t         *count[GP_FILLERS_PARTS];                       /* [high - low] number of entries, and then the next free place in the column */
  int32_t          sum[GP_FILLERS_PARTS];                         /* entries in each part of the columns, and then their first position */
  int              parts;
} GpTriTransposer;

static void GpTriFindColumns(void *context, int part, int64_t begin, int64_t end)
{
  GpTriTransposer *s    = (GpTriTransposer *)context;
  const GpTriRows *rows = s->rows;
  int32_t          low = rows->n, high = 0;

  for (int64_t i = begin; i < end; i++) {
    for (int32_t k = rows->begin[i]; k < rows->end[i]; k++) {
      if (rows->col[k] < low) low = rows->col[k];
      if (rows->col[k] >= high) high = rows->col[k] + 1;
    }
  }
  s->low[part]  = low < high ? low : 0;
  s->high[part] = high;
}

static void GpTriCountColumns(void *context, int part, int64_t begin, int64_t end)
{
  GpTriTransposer *s     = (GpTriTransposer *)context;
  const GpTriRows *rows  = s->rows;
  int32_t         *count = s->count[part];

  memset(count, 0, (size_t)(s->high[part] - s->low[part]) * sizeof(int32_t));
  for (int64_t i = begin; i < end; i++) {
    for (int32_t k = rows->begin[i]; k < rows->end[i]; k++) count[rows->col[k] - s->low[part]]++;
  }
}

/* Adds the counts of all parts of the rows, for a part of the columns. */
static void GpTriAddCounts(void *context, int part, int64_t begin, int64_t end)
{
  GpTriTransposer *s     = (GpTriTransposer *)context;
  int32_t         *total = s->t->begin, sum = 0;

  memset(total + begin, 0, (size_t)(end - begin) * sizeof(int32_t));
  for (int p = 0; p < s->parts; p++) {
    const int64_t first = begin > s->low[p] ? begin : s->low[p], last = end < s->high[p] ? end : s->high[p];

    for (int64_t c = first; c < last; c++) {
      const int32_t mine = s->count[p][c - s->low[p]];

      s->count[p][c - s->low[p]] = total[c];
      total[c] += mine;
    }
  }
  for (int64_t c = begin; c < end; c++) sum += total[c];
  s->sum[part] = sum;
}

static void GpTriSetBegins(void *context, int part, int64_t begin, int64_t end)
{
  GpTriTransposer *s   = (GpTriTransposer *)context;
  int32_t          sum = s->sum[part];

  for (int64_t c = begin; c < end; c++) {
    const int32_t mine = s->t->begin[c];

    s->t->begin[c] = sum;
    sum += mine;
  }
}

static void GpTriPlaceEntries(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriTransposer *s    = (const GpTriTransposer *)context;
  const GpTriRows       *rows = s->rows;

  for (int64_t i = begin; i < end; i++) {
    for (int32_t k = rows->begin[i]; k < rows->end[i]; k++) {
      const int32_t c = rows->col[k], to = s->t->begin[c] + s->count[part][c - s->low[part]]++;

      s->t->col[to]    = (int32_t)i;
      s->t->source[to] = k;
    }
  }
}

/* Allocates the counts. If the parts use many columns in common, one part remains. Returns 1 if host memory is exhausted. */
static int GpTriAllocateCounts(GpTriTransposer *s)
{
  int64_t  sum = 0;
  int32_t *count;

  for (int p = 0; p < s->parts; p++) sum += s->high[p] - s->low[p];
  if (s->parts > 1 && sum > 3 * (int64_t)s->rows->n) {
    s->parts   = 1;
    s->low[0]  = 0;
    s->high[0] = s->rows->n;
    sum        = s->rows->n;
  }
  s->count[0] = count = GpTriAllocate((size_t)sum);
  for (int p = 1; p < s->parts && count; p++) s->count[p] = count += s->high[p - 1] - s->low[p - 1];
  return !s->count[0];
}

int GpTriTranspose(const GpTriRows *rows, GpTriTransposed *t)
{
  const int32_t   n = rows->n;
  GpTriTransposer s = {.rows = rows, .t = t, .parts = GpFillersParts(n, GP_TRI_GRAIN)};
  int             failed;
  int32_t         sum = 0;

  *t = (GpTriTransposed){.begin = GpTriAllocate((size_t)n)};
  GpFillersRun(s.parts, n, GpTriFindColumns, &s);
  failed = !t->begin || GpTriAllocateCounts(&s);
  if (!failed) {
    GpFillersRun(s.parts, n, GpTriCountColumns, &s);
    GpFillersRun(s.parts, n, GpTriAddCounts, &s);
    for (int p = 0; p < s.parts; p++) {
      const int32_t mine = s.sum[p];

      s.sum[p] = sum;
      sum += mine;
    }
    t->begin[n] = sum;
    t->col      = GpTriAllocate((size_t)sum);
    t->source   = GpTriAllocate((size_t)sum);
    failed      = !t->col || !t->source;
  }
  if (!failed) {
    GpFillersRun(s.parts, n, GpTriSetBegins, &s);
    GpFillersRun(s.parts, n, GpTriPlaceEntries, &s);
  }
  free(s.count[0]);
  if (failed) GpTriFreeTransposed(t);
  return failed;
}

void GpTriFreeTransposed(GpTriTransposed *t)
{
  free(t->begin);
  free(t->col);
  free(t->source);
  *t = (GpTriTransposed){0};
}
