/* Shared by both implementations of the scan: its workspace, and the keys of values and rows. */
#ifndef GPSELSCAN_H
#define GPSELSCAN_H

#include "mat/impls/gpucsr/selector/gpfeatures.h"

/* hash sets with open addressing in zeroed device memory; 0 marks a free slot and is never a key */
enum {
  GP_SET_VALUES,
  GP_SET_PATTERNS,
  GP_SETS
};
#define GP_SET_SLOTS 16384 /* four times the highest limit */

typedef struct {
  GpSelCounts *counts;
  uint64_t    *set[GP_SETS]; /* [GP_SET_SLOTS] slots of each set */
  int32_t     *hits;         /* [n] nonzeros of each column in the sampled tiles */
  uint32_t    *diagonal;     /* one bit per diagonal */
} GpSelWork;

GP_PAIR(GpSelScan, const GpCsr *A, GpSelWork *W);

GP_INLINE uint64_t GpSelMix(uint64_t x) /* the finaliser of MurmurHash3 (A. Appleby, public domain): a bijection */
{
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

GP_INLINE uint64_t GpSelKey(uint64_t x)
{
  return x ? x : 1;
}

/* values are compared by their bits, because a table of distinct values must reproduce them exactly */
GP_INLINE uint64_t GpSelBits(const void *val, GpPrec prec, int64_t k)
{
  return prec == GP_F32 ? (uint64_t)((const uint32_t *)val)[k] : ((const uint64_t *)val)[k];
}

/* Extends the key of a row by one nonzero. Only one of the two mixing steps depends on the previous key, so the other one overlaps it. */
GP_INLINE uint64_t GpSelChain(uint64_t key, int32_t offset, uint64_t bits)
{
  return GpSelMix(key + GpSelMix((uint64_t)(uint32_t)offset + 1) + bits);
}

GP_INLINE int GpSelBin(int32_t length)
{
  int bin = 0;

  while (bin < GP_SEL_BINS - 1 && (int64_t)1 << bin < length) bin++;
  return bin;
}

/* the stride that samples at least GP_SEL_CLOSE of `many` items, if there are as many */
#define GpSelStride(many) ((many) > GP_SEL_CLOSE ? (many) / GP_SEL_CLOSE : 1)

GP_INLINE int GpSelIsNear(int64_t row, int64_t col, int64_t m, int64_t n)
{
  const int64_t away = col - (m == n ? row : row * n / m); /* a 64-bit division is most of the work per nonzero on a GPU */

  return away <= GP_SEL_NEAR && -away <= GP_SEL_NEAR;
}

GP_INLINE int64_t GpSelHubs(int64_t hits)
{
  return hits >= GP_SEL_HUB ? hits : 0;
}

/* Returns whether nonzero k of row i is the first of its aligned block: no nonzero of the block precedes it in its row or lies in a row above. */
GP_INLINE int GpSelFirstOfBlock(const int32_t *rowptr, const int32_t *col, int32_t i, int32_t k, int32_t size)
{
  const int64_t left = (int64_t)(col[k] / size) * size;

  if (k > rowptr[i] && col[k - 1] >= left) return 0;
  for (int32_t above = i / size * size; above < i; above++) {
    int32_t lo = rowptr[above], hi = rowptr[above + 1];

    while (lo < hi) {
      const int32_t mid = lo + (hi - lo) / 2;

      if (col[mid] < left) lo = mid + 1;
      else hi = mid;
    }
    if (lo < rowptr[above + 1] && col[lo] < left + size) return 0;
  }
  return 1;
}

#endif
