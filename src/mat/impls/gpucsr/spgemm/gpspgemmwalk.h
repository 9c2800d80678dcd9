/* Device functions of sparse products: hash tables of columns in shared memory, and loops over the products of a row. */
#ifndef GPSPGEMMWALK_H
#define GPSPGEMMWALK_H

#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"

#define GP_SPGEMM_EMPTY (-1) /* entry of a hash table without a column */
#define GP_SPGEMM_ALL   0xffffffffu

/* The patterns of the operands, and the rows that a kernel computes. */
struct GpSpgemmRows {
  const int32_t *arow, *acol, *brow, *bcol;
  const int32_t *list; /* rows that the kernel computes; NULL: row r is the r-th */
  int32_t        n;    /* number of rows that the kernel computes */
  int32_t        lanes;

  __device__ int32_t Get(int32_t r) const { return list ? list[r] : r; }
};

static inline GpSpgemmRows GpSpgemmGetRows(const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, int lanes)
{
  return GpSpgemmRows{A->rowptr, A->col, B->rowptr, B->col, list, n, (int32_t)lanes};
}

/* Returns the first row of the group of rows with equal patterns that has row i. */
__device__ static inline int32_t GpSpgemmGetLeader(const uint8_t *follows, int32_t i)
{
  while (follows && follows[i]) i--;
  return i;
}

/* Returns the first row of the group that has row i, and sets *rows to the number of rows of this group. m: number of rows of A. */
__device__ static inline int32_t GpSpgemmGetGroup(const uint8_t *follows, int32_t i, int32_t m, int32_t *rows)
{
  const int32_t leader = GpSpgemmGetLeader(follows, i);

  *rows = i - leader + 1;
  while (follows && leader + *rows < m && follows[leader + *rows]) ++*rows;
  return leader;
}

/* Returns the size in bytes of the map of a row of C; 0: the row has no map. rows: number of rows that share the map. */
__device__ static inline int64_t GpSpgemmGetMapBytes(int64_t products, int32_t c, int32_t rows)
{
  const int64_t bytes = c > 256 ? 2 * products : products + (products & 1); /* even: maps of 2 bytes are aligned */

  return c > GP_SPGEMM_HASHED || products > GP_SPGEMM_MANY || bytes > (int64_t)GP_SPGEMM_RATIO * c * rows ? 0 : bytes;
}

/* A hash table with linear probing. SIZE is a power of two and larger than the number of columns, so that every search ends. */
template <int SIZE>
struct GpSpgemmTable {
  __host__ __device__ static constexpr int Bits(int size) { return size <= 1 ? 0 : 1 + Bits(size / 2); }

  __device__ static int Hash(int32_t j) { return (int)(((uint32_t)j * 2654435769u) >> (32 - Bits(SIZE))); }

  /* Inserts a column. Returns whether this thread added it. */
  __device__ static bool Insert(int32_t *table, int32_t j)
  {
    for (int s = Hash(j);; s = (s + 1) & (SIZE - 1)) {
      int32_t found = ((volatile int32_t *)table)[s];

      if (found == GP_SPGEMM_EMPTY) {
        found = atomicCAS(table + s, GP_SPGEMM_EMPTY, j);
        if (found == GP_SPGEMM_EMPTY) return true;
      }
      if (found == j) return false;
    }
  }

  /* Returns the place of a column that the table contains. */
  __device__ static int Find(const int32_t *table, int32_t j)
  {
    int s = Hash(j);

    while (table[s] != j) s = (s + 1) & (SIZE - 1);
    return s;
  }
};

/* Loops in which all threads of a warp take the same number of steps, so that the groups of T threads do not diverge: a warp executes diverged groups one after the other. */
template <int T>
__device__ static bool GpSpgemmAny(bool mine)
{
  return T == 32 ? mine : __any_sync(GP_SPGEMM_ALL, mine);
}

template <int T>
__device__ static int GpSpgemmMax(int mine)
{
#pragma unroll
  for (int d = 16; d >= T; d /= 2) {
    const int other = __shfl_xor_sync(GP_SPGEMM_ALL, mine, d);

    mine = other > mine ? other : mine;
  }
  return mine;
}

/* Returns the first of the positions begin to end - 1 whose column is at least j; end if there is none. */
__device__ static inline int32_t GpSpgemmSearch(const int32_t *col, int32_t begin, int32_t end, int32_t j)
{
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;

    if (__ldg(col + middle) < j) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/* Calls f(q, b) for each product of the entries `begin` to end - 1 of A: q is the number of the product, b the position of the entry of B. All threads of a warp call this function; T threads
   have the same entries. They process T entries of A at once; `lanes` threads process one row of B. f must not synchronise. */
template <int T, class F>
__device__ static void GpSpgemmEach(const GpSpgemmRows &R, int32_t begin, int32_t end, F f)
{
  const int lane = threadIdx.x % T, group = lane / R.lanes, first = lane % R.lanes;
  int32_t   before = 0;

  for (int32_t k0 = begin; GpSpgemmAny<T>(k0 < end); k0 += T) {
    const int count = end - k0 < 0 ? 0 : end - k0 < T ? end - k0 : T, most = GpSpgemmMax<T>(count);
    int32_t   start = 0, length = 0, sum;

    if (lane < count) {
      const int32_t k = R.acol[k0 + lane];

      start  = R.brow[k];
      length = R.brow[k + 1] - start;
    }
    sum = length;
#pragma unroll
    for (int d = 1; d < T; d *= 2) {
      const int32_t other = __shfl_up_sync(GP_SPGEMM_ALL, sum, d, T);

      if (lane >= d) sum += other;
    }
    for (int e0 = 0; e0 < most; e0 += T / R.lanes) {
      const int     e  = e0 + group;
      const int32_t eb = __shfl_sync(GP_SPGEMM_ALL, start, e, T), el = __shfl_sync(GP_SPGEMM_ALL, length, e, T), eq = before + __shfl_sync(GP_SPGEMM_ALL, sum, e, T) - el;

      for (int32_t x = first; x < el; x += R.lanes) f(eq + x, eb + x);
    }
    before += __shfl_sync(GP_SPGEMM_ALL, sum, T - 1, T);
  }
}

#endif
