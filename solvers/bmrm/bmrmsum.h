/* Deterministic sums over the rows of this rank on a GPU: kernels and their launch. The caller's Rule defines what each row adds. For nvcc only. */
#ifndef BMRM_SUM_H
#define BMRM_SUM_H

#include <gpucsrdevice.cuh>

static constexpr int BMRM_BLOCK = 256, BMRM_WARPS = BMRM_BLOCK / 32;

/* Reduces K sums over the thread block in a fixed order. On return thread k has sum k. Can be called once per kernel, since shared memory is not
   reused. */
template <int K>
__device__ static double BMRMReduceBlock(double (&mine)[K])
{
  __shared__ double warps[K][BMRM_WARPS];
  double            sum = 0;

#pragma unroll
  for (int k = 0; k < K; k++) {
    for (int half = 16; half > 0; half /= 2) mine[k] += __shfl_down_sync(0xffffffffu, mine[k], half);
    if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = mine[k];
  }
  __syncthreads();
  for (int w = 0; w < BMRM_WARPS && threadIdx.x < K; w++) sum += warps[threadIdx.x][w];
  return sum;
}

/* Rule::K is the number of sums; Rule::add() adds the contribution of row i. */
template <class Rule>
__global__ static void __launch_bounds__(BMRM_BLOCK) BMRMSumRowsOfBlock(Rule rule, int64_t n, double *partial)
{
  double mine[Rule::K] = {}, sum;

  for (int64_t i = (int64_t)blockIdx.x * BMRM_BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BMRM_BLOCK) rule.add(mine, i);
  sum = BMRMReduceBlock(mine);
  if (threadIdx.x < Rule::K) partial[threadIdx.x * BMRM_PARTS + blockIdx.x] = sum;
}

/* Block k adds the partial sums of sum k. */
__global__ static void __launch_bounds__(BMRM_BLOCK) BMRMSumBlocks(int parts, const double *partial, double *result)
{
  double mine[1] = {0}, sum;

  for (int b = threadIdx.x; b < parts; b += BMRM_BLOCK) mine[0] += partial[blockIdx.x * BMRM_PARTS + b];
  sum = BMRMReduceBlock(mine);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

template <class Rule>
static GpErr BMRMSumRows(BMRMWork *work, int64_t n, const Rule &rule, int results, const char *name)
{
  const int64_t most = 8 * (int64_t)GpDevComputeUnits(work->dev) < BMRM_PARTS ? 8 * (int64_t)GpDevComputeUnits(work->dev) : BMRM_PARTS;
  const int64_t want = (n + 2 * BMRM_BLOCK - 1) / (2 * BMRM_BLOCK);
  const int     grid = (int)(want < 1 ? 1 : want < most ? want : most);
  const GpErr   err  = GpLaunch(work->dev, name, BMRMSumRowsOfBlock<Rule>, GpGrid{grid, BMRM_BLOCK}, rule, n, work->partial);

  return err ? err : GpLaunch(work->dev, name, BMRMSumBlocks, GpGrid{results, BMRM_BLOCK}, grid, work->partial, work->result);
}

#endif
