/* Number of nonzeros of the rows of C: columns are inserted in hash tables in shared memory. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int TABLE = 2 * GP_SPGEMM_HASHED, BLOCK = 256;

/* T threads count the nonzeros of a row. SIZE: size of the table of a row, at least twice the number of its columns. */
template <int T, int SIZE, int THREADS>
__global__ static void __launch_bounds__(THREADS) GpSpgemmCountKernel(GpSpgemmRows R, int32_t *count)
{
  __shared__ int32_t tables[THREADS / T][SIZE];
  const int64_t      r     = (int64_t)blockIdx.x * (THREADS / T) + threadIdx.x / T;
  const int          lane  = threadIdx.x % T;
  int32_t           *table = tables[threadIdx.x / T], added = 0;

  const bool    live = r < R.n; /* otherwise the row is empty */
  const int32_t i = live ? R.Get((int32_t)r) : 0, begin = R.arow[i], end = live ? R.arow[i + 1] : begin;

  for (int s = lane; s < SIZE; s += T) table[s] = GP_SPGEMM_EMPTY;
  __syncwarp();
  GpSpgemmEach<T>(R, begin, end, [&](int32_t, int32_t b) { added += GpSpgemmTable<SIZE>::Insert(table, R.bcol[b]); });
#pragma unroll
  for (int d = T / 2; d; d /= 2) added += __shfl_xor_sync(GP_SPGEMM_ALL, added, d, T);
  if (live && lane == 0) count[i] = added;
}

/* A block counts the nonzeros of a row. It gives up when it has found more than GP_SPGEMM_HASHED; then each thread adds at most one more column, so the table never becomes full. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmCountMediumKernel(GpSpgemmRows R, int32_t *count, int32_t *overflow, GpSpgemmCounts *counts)
{
  __shared__ int32_t table[TABLE], found;
  const int32_t      i = R.Get((int32_t)blockIdx.x), group = (int32_t)threadIdx.x / R.lanes, first = (int32_t)threadIdx.x % R.lanes;

  for (int s = (int)threadIdx.x; s < TABLE; s += BLOCK) table[s] = GP_SPGEMM_EMPTY;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int32_t k = R.arow[i] + group; k < R.arow[i + 1]; k += BLOCK / R.lanes) {
    const int32_t end = R.brow[R.acol[k] + 1];

    if (*(volatile int32_t *)&found > GP_SPGEMM_HASHED) break;
    for (int32_t b = R.brow[R.acol[k]] + first; b < end; b += R.lanes) {
      if (*(volatile int32_t *)&found > GP_SPGEMM_HASHED) break;
      if (GpSpgemmTable<TABLE>::Insert(table, R.bcol[b])) atomicAdd(&found, 1);
    }
  }
  __syncthreads();
  if (threadIdx.x) return;
  if (found > GP_SPGEMM_HASHED) overflow[atomicAdd(&counts->overflows, 1u)] = i;
  else count[i] = found;
}

template <int T, int SIZE, int THREADS>
static GpErr GpSpgemmLaunchCount(GpDev dev, const GpSpgemmRows &R, int32_t *count)
{
  return GpLaunch(dev, "rows of a sparse product", GpSpgemmCountKernel<T, SIZE, THREADS>, GpGrid{GpBlocks((int64_t)R.n * T, THREADS), THREADS}, R, count);
}

GpErr GpSpgemmCountRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, int32_t *count, int32_t *overflow, GpSpgemmCounts *counts)
{
  const GpSpgemmRows R = GpSpgemmGetRows(A, B, list, n, kind < GP_SPGEMM_128 && P->lanes > 8 ? 8 : P->lanes);

  if (!n) return GP_SUCCESS;
  switch (kind) {
  case GP_SPGEMM_32:
    return GpSpgemmLaunchCount<8, 64, 256>(P->dev, R, count);
  case GP_SPGEMM_64:
    return GpSpgemmLaunchCount<8, 128, 256>(P->dev, R, count);
  case GP_SPGEMM_128: /* at most 256 columns */
    return GpSpgemmLaunchCount<32, 512, 256>(P->dev, R, count);
  case GP_SPGEMM_256: /* at most 1024 columns */
    return GpSpgemmLaunchCount<32, 2048, 128>(P->dev, R, count);
  default:
    return GpLaunch(P->dev, "medium rows of a sparse product", GpSpgemmCountMediumKernel, GpGrid{dim3((unsigned)n), BLOCK}, R, count, overflow, counts);
  }
}
