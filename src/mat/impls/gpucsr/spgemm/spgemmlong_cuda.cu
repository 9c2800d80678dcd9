/* Values of long rows of C. A thread block computes an item: up to GP_SPGEMM_LONG consecutive entries of a row.

   The block finds the position of a column by its rank in a bitmap of the columns of the item: the number of entries before the word of the column, and the bits of this word. If the columns are too far
   apart for the bitmap, the block computes the item in several passes.

   All threads process one row of B after the other, with a barrier after each. This fixes the order of the additions. The loads of several rows of B are in flight while the products of earlier
   rows are added. */
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"
#include <cub/block/block_scan.cuh>

static constexpr int BLOCK = 256, WORDS = 6144, AHEAD = 6; /* WORDS: size of the bitmap; AHEAD: number of rows of B that are loaded at once */

struct GpSpgemmLongMemory {
  double                                               sum[GP_SPGEMM_LONG];
  uint32_t                                             bitmap[WORDS];
  typename cub::BlockScan<int32_t, BLOCK>::TempStorage scan;
  double                                               value[BLOCK]; /* entries of A whose rows of B have entries in the pass */
  int32_t                                              start[BLOCK], length[BLOCK];
  uint16_t                                             before[WORDS]; /* number of entries before the first column of a word that has any */
};

/* A pass: the entries `begin` to end - 1 of C, with the columns from lowest to highest. */
struct GpSpgemmPass {
  int32_t begin, end, lowest, highest;
  bool    search; /* the pass has only a part of the row of C, so rows of B must be searched for its columns */
};

/* Entries of the rows of B that a thread has loaded. */
struct GpSpgemmLoads {
  int32_t col[AHEAD];
  double  value[AHEAD];
};

__device__ static int GpSpgemmGetRank(const GpSpgemmLongMemory &S, int32_t lowest, int32_t j)
{
  const uint32_t at = (uint32_t)(j - lowest);

  return S.before[at / 32] + __popc(S.bitmap[at / 32] & ((1u << (at % 32)) - 1));
}

/* Fills the bitmap and clears the sums. */
__device__ static void GpSpgemmMarkPass(const GpSpgemmPass &pass, const int32_t *col, GpSpgemmLongMemory &S)
{
  const int t = (int)threadIdx.x, words = (pass.highest - pass.lowest) / 32 + 1, n = pass.end - pass.begin;

  for (int w = t; w < words; w += BLOCK) S.bitmap[w] = 0;
  __syncthreads();
  for (int s = t; s < n; s += BLOCK) {
    const int32_t at = col[pass.begin + s] - pass.lowest;

    atomicOr(&S.bitmap[at / 32], 1u << (at % 32));
    if (!s || (col[pass.begin + s - 1] - pass.lowest) / 32 != at / 32) S.before[at / 32] = (uint16_t)s;
    S.sum[s] = 0;
  }
}

/* Lists the next entries of A whose rows of B have entries in the pass, from entry k0 on. Returns their number. */
__device__ static int GpSpgemmListEntries(const GpSpgemmRows &R, const double *a, int32_t k0, int32_t end, const GpSpgemmPass &pass, GpSpgemmLongMemory &S)
{
  const int t     = (int)threadIdx.x;
  int32_t   start = 0, length = 0, at, total;
  double    value = 0;

  if (k0 + t < end) {
    const int32_t k    = R.acol[k0 + t];
    int32_t       stop = R.brow[k + 1];

    value = a[k0 + t];
    start = R.brow[k];
    if (pass.search) {
      start = GpSpgemmSearch(R.bcol, start, stop, pass.lowest);
      stop  = GpSpgemmSearch(R.bcol, start, stop, pass.highest + 1);
    }
    length = stop - start;
  }
  __syncthreads(); /* the previous list has been used, and the bitmap is complete */
  cub::BlockScan<int32_t, BLOCK>(S.scan).ExclusiveSum((int32_t)(length > 0), at, total);
  if (length) {
    S.start[at]  = start;
    S.length[at] = length;
    S.value[at]  = value;
  }
  __syncthreads();
  return total;
}

__device__ static void GpSpgemmLoadEntries(const GpSpgemmRows &R, const double *b, const GpSpgemmLongMemory &S, int e0, int count, GpSpgemmLoads *loads)
{
#pragma unroll
  for (int u = 0; u < AHEAD; u++) {
    loads->col[u] = -1;
    if (e0 + u < count && (int32_t)threadIdx.x < S.length[e0 + u]) {
      const int32_t at = S.start[e0 + u] + (int32_t)threadIdx.x;

      loads->col[u]   = __ldg(R.bcol + at);
      loads->value[u] = __ldg(b + at);
    }
  }
}

/* Adds the products of the listed entries, whose number is count, in their order. */
__device__ static void GpSpgemmAddEntries(const GpSpgemmRows &R, const double *b, int count, int32_t lowest, GpSpgemmLongMemory &S)
{
  GpSpgemmLoads loads;

  GpSpgemmLoadEntries(R, b, S, 0, count, &loads);
  for (int e0 = 0; e0 < count; e0 += AHEAD) {
    int    at[AHEAD];
    double product[AHEAD];

#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      at[u]      = loads.col[u] < 0 ? -1 : GpSpgemmGetRank(S, lowest, loads.col[u]);
      product[u] = loads.col[u] < 0 ? 0 : __dmul_rn(S.value[e0 + u], loads.value[u]);
    }
    GpSpgemmLoadEntries(R, b, S, e0 + AHEAD, count, &loads);
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (e0 + u >= count) break; /* the same decision in all threads */
      if (at[u] >= 0) S.sum[at[u]] = __dadd_rn(S.sum[at[u]], product[u]);
      const int32_t start = S.start[e0 + u], length = S.length[e0 + u];
      const double  value = S.value[e0 + u];

      for (int32_t x = (int32_t)threadIdx.x + BLOCK; x < length; x += BLOCK) {
        const int p = GpSpgemmGetRank(S, lowest, __ldg(R.bcol + start + x));

        S.sum[p] = __dadd_rn(S.sum[p], __dmul_rn(value, __ldg(b + start + x)));
      }
      __syncthreads();
    }
  }
}

__global__ static void __launch_bounds__(BLOCK, 2) GpSpgemmLongKernel(GpSpgemmRows R, const double *a, const double *b, const GpSpgemmItem *items, const int32_t *rowptr, const int32_t *columns, double *c)
{
  extern __shared__ double memory[];
  GpSpgemmLongMemory      &S     = *(GpSpgemmLongMemory *)memory;
  const GpSpgemmItem       item  = items[blockIdx.x];
  const int32_t            start = rowptr[item.row], n = rowptr[item.row + 1] - start, end = R.arow[item.row + 1];
  const int32_t           *col = columns + start;
  GpSpgemmPass             pass;

  for (pass.begin = item.begin; pass.begin < item.end; pass.begin = pass.end) {
    pass.lowest  = col[pass.begin];
    pass.end     = col[item.end - 1] - pass.lowest < 32 * WORDS ? item.end : GpSpgemmSearch(col, pass.begin, item.end, pass.lowest + 32 * WORDS);
    pass.highest = col[pass.end - 1];
    pass.search  = pass.end - pass.begin < n;
    GpSpgemmMarkPass(pass, col, S);
    for (int32_t k0 = R.arow[item.row]; k0 < end; k0 += BLOCK) {
      const int count = GpSpgemmListEntries(R, a, k0, end, pass, S);

      GpSpgemmAddEntries(R, b, count, pass.lowest, S);
    }
    __syncthreads();
    for (int s = (int)threadIdx.x; s < pass.end - pass.begin; s += BLOCK) c[start + pass.begin + s] = S.sum[s];
    __syncthreads(); /* the next pass clears the sums */
  }
}

GpErr GpSpgemmLongItems_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, const GpSpgemmItem *items, int32_t n, GpCsr *C)
{
  const GpSpgemmRows R     = GpSpgemmGetRows(A, B, NULL, n, P->lanes);
  const size_t       bytes = sizeof(GpSpgemmLongMemory);
  const GpErr        err   = GpCheckCuda(P->dev, cudaFuncSetAttribute(GpSpgemmLongKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "cannot set the shared memory of a sparse product");

  return err ? err : GpLaunch(P->dev, "long rows of a sparse product", GpSpgemmLongKernel, GpGrid{dim3((unsigned)n), BLOCK, bytes}, R, (const double *)A->val, (const double *)B->val, items, C->rowptr, C->col, (double *)C->val);
}
