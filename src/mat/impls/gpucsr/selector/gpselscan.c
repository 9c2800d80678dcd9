/* The scan that counts the features, host implementation: one pass over the rows, one pass over the nonzeros in tiles. Host and CUDA implementation
   count the same integers.

   A set (values, patterns, diagonals) is no longer filled once it has passed its limit, because formats that depend on it refuse the matrix then. If
   a set stays below its limit, its few keys stay in the cache. */
#include "mat/impls/gpucsr/selector/gpselscan.h"

#include <string.h>

static const int64_t Limits[GP_SETS] = {GP_SEL_VALUES, GP_SEL_PATTERNS};

static void Insert(GpSelWork *W, int which, int64_t *count, uint64_t key)
{
  uint64_t *set = W->set[which];
  uint64_t  slot;

  if (*count > Limits[which]) return;
  for (slot = key % GP_SET_SLOTS; set[slot] && set[slot] != key; slot = (slot + 1) % GP_SET_SLOTS) {}
  if (set[slot]) return;
  set[slot] = key;
  (*count)++;
}

/* inserts the pattern of a row: column offsets from the diagonal, and values */
static void CountPattern(const GpCsr *A, int32_t i, GpSelWork *W)
{
  GpSelCounts  *C     = W->counts;
  const int32_t begin = A->rowptr[i], end = A->rowptr[i + 1];
  uint64_t      key = 0;

  if (end - begin > GP_SEL_ROW) {
    C->valuepatterns = GP_SEL_PATTERNS + 1;
    return;
  }
  if (C->valuepatterns > GP_SEL_PATTERNS) return;
  for (int32_t k = begin; k < end; k++) key = GpSelChain(key, A->col[k] - i, GpSelBits(A->val, A->prec, k));
  Insert(W, GP_SET_PATTERNS, &C->valuepatterns, GpSelKey(key));
}

/* number of distinct sectors, n <= GP_SEL_TILE, by a hash table with at least twice as many slots */
static int64_t Distinct(int32_t n, const int32_t sector[])
{
  const int32_t slots = n > 32 ? 2 * GP_SEL_TILE : 64;
  int32_t       table[2 * GP_SEL_TILE];
  int64_t       distinct = 0;

  memset(table, -1, (size_t)slots * sizeof(int32_t));
  for (int32_t i = 0; i < n; i++) {
    int32_t slot = sector[i] % slots;

    while (table[slot] >= 0 && table[slot] != sector[i]) slot = (slot + 1) % slots;
    distinct += table[slot] < 0;
    table[slot] = sector[i];
  }
  return distinct;
}

static void CountSliceSectors(const GpCsr *A, int32_t first, int32_t last, int32_t longest, GpSelCounts *C)
{
  for (int32_t step = 0; step < longest && step < GP_SEL_SLICE; step++) {
    int32_t sector[GP_SEL_SLICE], n = 0;

    for (int32_t i = first; i < last; i++)
      if (A->rowptr[i] + step < A->rowptr[i + 1]) sector[n++] = A->col[A->rowptr[i] + step] / 4;
    C->steps++;
    C->slicesectors += Distinct(n, sector);
  }
}

static void ScanRows(const GpCsr *A, GpSelWork *W)
{
  GpSelCounts  *C      = W->counts;
  const int64_t slices = ((int64_t)A->m + GP_SEL_SLICE - 1) / GP_SEL_SLICE, stride = GpSelStride(slices);

  for (int64_t s = 0; s < slices; s++) {
    const int32_t first = (int32_t)(s * GP_SEL_SLICE), last = A->m - first > GP_SEL_SLICE ? first + GP_SEL_SLICE : A->m;
    int32_t       longest = 0;

    for (int32_t i = first; i < last; i++) {
      const int32_t begin = A->rowptr[i], length = A->rowptr[i + 1] - begin;

      CountPattern(A, i, W);
      if (!length) continue;
      C->rows[GpSelBin(length)]++;
      C->entries[GpSelBin(length)] += length;
      if (length > longest) longest = length;
    }
    if (longest > C->longest) C->longest = longest;
    C->padded += (int64_t)longest * GP_SEL_SLICE;
    if (s % stride == 0) CountSliceSectors(A, first, last, longest, C);
  }
}

/* counts the nonzeros begin, ..., end-1 of a sampled tile; nonzero begin lies in row i */
static void LookClosely(const GpCsr *A, int32_t i, int32_t begin, int32_t end, GpSelWork *W)
{
  GpSelCounts *C = W->counts;
  int32_t      sector[GP_SEL_TILE];

  for (int32_t k = begin; k < end; k++) {
    const int32_t j = A->col[k];

    while (k >= A->rowptr[i + 1]) i++;
    sector[k - begin] = j / 4;
    C->hubs += GpSelHubs(W->hits[j] + 1) - GpSelHubs(W->hits[j]);
    W->hits[j]++;
    if (k % GP_SEL_SPARSE) continue;
    C->lookups++;
    for (int b = 0; b < GP_SEL_BLOCKS; b++) C->blocks[b] += GpSelFirstOfBlock(A->rowptr, A->col, i, k, GpSelBlockSizes[b]);
  }
  for (int32_t k = begin; k < end; k += 32) {
    C->groups++;
    C->sectors += Distinct(end - k < 32 ? end - k : 32, sector + k - begin);
  }
  C->sampled += end - begin;
  C->tilesectors += Distinct(end - begin, sector);
}

static void ScanTiles(const GpCsr *A, GpSelWork *W)
{
  GpSelCounts  *C     = W->counts;
  const int64_t tiles = ((int64_t)A->nnz + GP_SEL_TILE - 1) / GP_SEL_TILE, stride = GpSelStride(tiles);
  int32_t       i = 0;

  for (int64_t t = 0; t < tiles; t++) {
    const int32_t begin = (int32_t)(t * GP_SEL_TILE), end = A->nnz - begin > GP_SEL_TILE ? begin + GP_SEL_TILE : A->nnz;

    while (A->rowptr[i + 1] <= begin) i++;
    if (t % stride == 0) LookClosely(A, i, begin, end, W);
    for (int32_t k = begin; k < end; k++) {
      const int32_t j = A->col[k];

      while (k >= A->rowptr[i + 1]) i++;
      C->near += GpSelIsNear(i, j, A->m, A->n);
      if (k > A->rowptr[i]) {
        const int64_t delta = (int64_t)j - A->col[k - 1];

        C->unsorted += delta < 0;
        C->adjoining += delta == 1;
      }
      Insert(W, GP_SET_VALUES, &C->values, GpSelKey(GpSelMix(GpSelBits(A->val, A->prec, k))));
      if (C->diagonals <= GP_SEL_DIAGONALS) {
        const int64_t  d   = (int64_t)j - i + A->m - 1;
        const uint32_t bit = (uint32_t)1 << (d % 32);

        C->diagonals += !(W->diagonal[d / 32] & bit);
        W->diagonal[d / 32] |= bit;
      }
    }
  }
}

GpErr GpSelScan_Host(const GpCsr *A, GpSelWork *W)
{
  ScanRows(A, W);
  ScanTiles(A, W);
  return GP_SUCCESS;
}
