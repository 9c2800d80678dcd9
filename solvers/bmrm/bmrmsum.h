/* Deterministic sums over the rows of this rank on a GPU: kernels and their launch. The caller's Rule defines what each row adds. For nvcc only. */
#ifndef BMRM_SUM_H
#define BMRM_SUM_H

static constexpr int BLOCK = 256, WARPS = BLOCK / 32;

struct Parameters {
  double p[BMRM_LOSS_PARAMETERS];
};

[[maybe_unused]] static Parameters Keep(const double p[])
{
  Parameters kept;

  for (int k = 0; k < BMRM_LOSS_PARAMETERS; k++) kept.p[k] = p[k];
  return kept;
}

/* Reduces K sums over the thread block in a fixed order. On return thread k has sum k. Can be called once per kernel, since shared memory is not
   reused. */
template <int K>
__device__ static double Together(double (&mine)[K])
{
  __shared__ double warps[K][WARPS];
  double            sum = 0;

#pragma unroll
  for (int k = 0; k < K; k++) {
    for (int half = 16; half > 0; half /= 2) mine[k] += __shfl_down_sync(0xffffffffu, mine[k], half);
    if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = mine[k];
  }
  __syncthreads();
  for (int w = 0; w < WARPS && threadIdx.x < K; w++) sum += warps[threadIdx.x][w];
  return sum;
}

/* Rule::K is the number of sums; Rule::take() adds the contribution of row i. */
template <class Rule>
__global__ static void __launch_bounds__(BLOCK) Sum(Rule rule, int64_t n, double *partial)
{
  double mine[Rule::K] = {}, sum;

  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) rule.take(mine, i);
  sum = Together(mine);
  if (threadIdx.x < Rule::K) partial[threadIdx.x * BMRM_PARTS + blockIdx.x] = sum;
}

/* Block k adds the partial sums of sum k. */
__global__ static void __launch_bounds__(BLOCK) Finish(int parts, const double *partial, double *result)
{
  double mine[1] = {0}, sum;

  for (int b = threadIdx.x; b < parts; b += BLOCK) mine[0] += partial[blockIdx.x * BMRM_PARTS + b];
  sum = Together(mine);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

template <class Rule>
static GpErr Launch(BMRMWork *work, int64_t n, const Rule &rule, int results, const char *name)
{
  const int64_t most = 8 * (int64_t)work->dev->compute_units < BMRM_PARTS ? 8 * (int64_t)work->dev->compute_units : BMRM_PARTS;
  const int64_t want = (n + 2 * BLOCK - 1) / (2 * BLOCK);
  const int     grid = (int)(want < 1 ? 1 : want < most ? want : most);

  Sum<<<grid, BLOCK, 0, (cudaStream_t)work->dev->stream>>>(rule, n, work->partial);
  Finish<<<results, BLOCK, 0, (cudaStream_t)work->dev->stream>>>(grid, work->partial, work->result);
  return GpDevCheckLaunch(work->dev, name);
}

#endif
