/* Long rows of C. A thread block marks the columns of a row in a bitmap in shared memory. If the matrix has more columns than the bitmap, the block processes one window of columns after
   another. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"
#include <cub/block/block_scan.cuh>

static constexpr int BLOCK = 512, WORDS = 16384; /* maximum number of words of the bitmap: 64 KiB */

typedef cub::BlockScan<int, BLOCK> GpSpgemmBlockScan;

/* Marks the columns of row i from `begin` to end - 1. */
__device__ static void GpSpgemmMark(const GpSpgemmRows &R, int32_t i, bool search, int64_t begin, int64_t end, uint32_t *bitmap)
{
  const int32_t group = (int32_t)threadIdx.x / R.lanes, first = (int32_t)threadIdx.x % R.lanes;

  for (int32_t k = R.arow[i] + group; k < R.arow[i + 1]; k += BLOCK / R.lanes) {
    const int32_t last = R.brow[R.acol[k] + 1];
    int32_t       b    = R.brow[R.acol[k]];

    if (search) b = GpSpgemmSearch(R.bcol, b, last, (int32_t)begin);
    for (b += first; b < last; b += R.lanes) {
      const int64_t j = R.bcol[b];

      if (j >= end) break;
      const uint32_t at = (uint32_t)(j - begin), bit = 1u << (at % 32);

      if (!(((volatile uint32_t *)bitmap)[at / 32] & bit)) atomicOr(bitmap + at / 32, bit);
    }
  }
}

/* words: number of words of the bitmap, a multiple of BLOCK. rowptr, col: row starts and columns of C; col NULL: writes the number of nonzeros to count[]. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmLargeKernel(GpSpgemmRows R, const uint8_t *follows, int32_t n, int32_t words, int32_t *count, const int32_t *rowptr, int32_t *col)
{
  extern __shared__ uint32_t                         bitmap[];
  __shared__ typename GpSpgemmBlockScan::TempStorage scan;
  const int32_t                                      i    = R.Get((int32_t)blockIdx.x);
  int32_t                                            done = 0;

  if (follows && follows[i]) return; /* the whole block returns */
  for (int64_t begin = 0; begin < n; begin += (int64_t)words * 32) {
    const int64_t end = begin + (int64_t)words * 32;

    for (int w = (int)threadIdx.x; w < words; w += BLOCK) bitmap[w] = 0;
    __syncthreads();
    GpSpgemmMark(R, i, begin > 0, begin, end, bitmap);
    __syncthreads();
    for (int w = (int)threadIdx.x; w < words; w += BLOCK) { /* the same number of passes in all threads */
      uint32_t bits = bitmap[w];
      int      before, total;

      GpSpgemmBlockScan(scan).ExclusiveSum(__popc(bits), before, total);
      for (int32_t at = col && bits ? rowptr[i] + done + before : 0; col && bits; bits &= bits - 1) col[at++] = (int32_t)(begin + 32 * (int64_t)w + __ffs((int)bits) - 1);
      done += total;
      __syncthreads(); /* the next pass uses the memory of the scan again */
    }
  }
  if (!col && threadIdx.x == 0) count[i] = done;
}

GpErr GpSpgemmLargeRows_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, const uint8_t *follows, const int32_t *list, int32_t n, int32_t *count, GpCsr *C)
{
  const GpSpgemmRows R   = GpSpgemmGetRows(A, B, list, n, P->lanes);
  const int64_t      all = ((int64_t)P->n + 31) / 32, tiles = (all + BLOCK - 1) / BLOCK;
  const int32_t      words = tiles * BLOCK < WORDS ? (int32_t)tiles * BLOCK : WORDS;
  const size_t       bytes = (size_t)words * sizeof(uint32_t);
  GpErr              err;

  if (!n) return GP_SUCCESS;
  err = GpCheckCuda(P->dev, cudaFuncSetAttribute(GpSpgemmLargeKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "cannot set the shared memory of a sparse product");
  return err ? err : GpLaunch(P->dev, "long rows of a sparse product", GpSpgemmLargeKernel, GpGrid{dim3((unsigned)n), BLOCK, bytes}, R, follows, P->n, words, count, C ? C->rowptr : (const int32_t *)NULL, C ? C->col : (int32_t *)NULL);
}
