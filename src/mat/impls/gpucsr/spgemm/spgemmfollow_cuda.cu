/* Followers: rows of A with the pattern of the previous row. Block systems have many of them. The rows of C of a group of such rows have the same columns and share one map, so the symbolic phase
   computes only the first row of a group (its leader). */
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int BLOCK = 256, GROUP = 8;

/* GROUP threads compare a row with the previous row. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmFollowerKernel(int32_t m, const int32_t *rowptr, const int32_t *col, uint8_t *follows, GpSpgemmCounts *counts)
{
  const int64_t i     = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / GROUP;
  const int     lane  = (int)threadIdx.x % GROUP;
  bool          equal = false;

  if (i < m && i % GP_SPGEMM_GROUP) {
    const int32_t start = rowptr[i], previous = rowptr[i - 1], n = rowptr[i + 1] - start;

    equal = n && n == start - previous && col[start] == col[previous];
    for (int32_t k = lane; k < n && equal; k += GROUP) equal = col[start + k] == col[previous + k];
  }
#pragma unroll
  for (int d = GROUP / 2; d; d /= 2) equal = __shfl_xor_sync(GP_SPGEMM_ALL, (int)equal, d) && equal;
  if (i >= m || lane) return;
  follows[i] = equal;
  if (equal) atomicAdd(&counts->followers, 1u);
}

__global__ static void __launch_bounds__(BLOCK) GpSpgemmFollowCountKernel(int32_t m, const uint8_t *follows, int32_t *count)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (i < m && follows[i]) count[i] = count[GpSpgemmGetLeader(follows, (int32_t)i)]; /* the number of a leader does not change */
}

/* A warp copies the columns of a row from those of its leader. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmFollowColumnKernel(int32_t m, const uint8_t *follows, const int32_t *rowptr, int32_t *col)
{
  const int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32;

  if (i >= m || !follows[i]) return;
  const int32_t to = rowptr[i], n = rowptr[i + 1] - to, from = rowptr[GpSpgemmGetLeader(follows, (int32_t)i)];

  for (int32_t k = (int32_t)threadIdx.x % 32; k < n; k += 32) col[to + k] = col[from + k];
}

/* Marks the rows without a map and gives followers the map of their leader. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmFinishMapKernel(int32_t m, const uint8_t *follows, const int64_t *products, const int32_t *rowptr, int64_t *mapstart)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (i >= m) return;
  int32_t       rows;
  const int32_t leader = GpSpgemmGetGroup(follows, (int32_t)i, m, &rows);

  if (!GpSpgemmGetMapBytes(products[i], rowptr[i + 1] - rowptr[i], rows)) mapstart[i] = -1;
  else if (leader < i) mapstart[i] = mapstart[leader]; /* a leader with a map does not change its start */
}

/* --- calls ---------------------------------------------------------------------------------------------------------------------------------- */

GpErr GpSpgemmFindFollowers_CUDA(const GpCsr *A, const GpSpgemmWork *W)
{
  return A->m ? GpLaunch(A->dev, "rows with equal patterns", GpSpgemmFollowerKernel, GpGrid{GpBlocks((int64_t)A->m * GROUP, BLOCK), BLOCK}, A->m, A->rowptr, A->col, W->follows, W->counts) : GP_SUCCESS;
}

GpErr GpSpgemmFollowCounts_CUDA(GpSpgemm P, const GpSpgemmWork *W)
{
  return W->follows ? GpLaunch(P->dev, "nonzeros of rows with equal patterns", GpSpgemmFollowCountKernel, GpGrid{GpBlocks(P->m, BLOCK), BLOCK}, P->m, W->follows, W->count) : GP_SUCCESS;
}

GpErr GpSpgemmFollowColumns_CUDA(GpSpgemm P, const GpSpgemmWork *W, GpCsr *C)
{
  return W->follows ? GpLaunch(P->dev, "columns of rows with equal patterns", GpSpgemmFollowColumnKernel, GpGrid{GpBlocks((int64_t)P->m * 32, BLOCK), BLOCK}, P->m, W->follows, C->rowptr, C->col) : GP_SUCCESS;
}

GpErr GpSpgemmFinishMap_CUDA(GpSpgemm P, const GpSpgemmWork *W, const int32_t *rowptr)
{
  return P->m ? GpLaunch(P->dev, "map of a sparse product", GpSpgemmFinishMapKernel, GpGrid{GpBlocks(P->m, BLOCK), BLOCK}, P->m, W->follows, W->products, rowptr, P->mapstart) : GP_SUCCESS;
}
