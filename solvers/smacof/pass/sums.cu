/* Sums and inner products of a configuration, host and CUDA implementation.  The order of the additions depends only on the number of terms. */
#include "sums.h"

#if !defined(__CUDACC__)
enum {
  LANES = 8
};

/* Returns <a, b>, or the sum of a if b is NULL.  Separate partial sums allow vector instructions and reduce the rounding error. */
static inline __attribute__((always_inline)) double SMACOFDot(size_t n, const double *a, const double *b)
{
  double lane[LANES] = {0};
  size_t i           = 0;

  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += b ? a[i + (size_t)l] * b[i + (size_t)l] : a[i + (size_t)l];
  for (; i < n; i++) lane[0] += b ? a[i] * b[i] : a[i];
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

void SMACOFComputeSums_Host(const SMACOFSumsTask *q)
{
  q->sums[0] = q->result[0] = SMACOFDot(q->points, q->stress, NULL);
  q->sums[1] = q->result[1] = SMACOFDot(q->n, q->x, q->bx);
}

void SMACOFComputeDifferences_Host(const SMACOFDifferencesTask *q)
{
  const double scale = q->sums ? SMACOFComputeScale(0.5 * q->sums[0] / q->unit, q->sums[1] / q->unit) : 1;

  for (size_t i = 0; i < q->n; i++) {
    q->x[i] = scale * q->X[i];
    q->f[i] = q->gfactor * q->g[i] - q->x[i];
  }
  if (!q->lastx) return;
  for (size_t i = 0; i < q->n; i++) {
    q->dx[i] = q->x[i] - q->lastx[i];
    q->df[i] = q->f[i] - q->lastf[i];
  }
  for (int k = 0; k <= q->before; k++) {
    const double *u = k ? q->u[k - 1] : q->dx, *v = k ? q->v[k - 1] : q->df;

    q->result[3 * k]     = SMACOFDot(q->n, q->dx, u);
    q->result[3 * k + 1] = SMACOFDot(q->n, q->dx, v) + SMACOFDot(q->n, q->df, u);
    q->result[3 * k + 2] = SMACOFDot(q->n, q->f, u);
  }
}

#else
  #include <gpucsrdevice.cuh>
  #include "pass.h"
  #include "passreduce.h"
  #include <cuda_runtime.h>

namespace {
constexpr int BLOCK = 512, ABREAST = 2; /* threads of a block; numbers that a thread loads before it uses any of them */
constexpr int WARPS = BLOCK / 32, WIDE = 16;
static_assert(SMACOF_SUM_PARTS == 32 && SMACOF_BATCH_SUMS < WIDE && 2 * WIDE == 32, "one warp adds the partial sums; two of its lanes share each sum of a row");

/* Adds WIDE sums over the threads of a block; thread k returns sum k. */
__device__ double SMACOFReduceBlock(double (&sum)[WIDE])
{
  __shared__ double part[WARPS][WIDE];
  const int         lane = threadIdx.x % 32;
  double            all  = 0;

  SMACOFReduceLanes<16, 16>(sum);
  SMACOFReduceLanes<8, 8>(sum);
  SMACOFReduceLanes<4, 4>(sum);
  SMACOFReduceLanes<2, 2>(sum);
  SMACOFReduceLanes<1, 1>(sum);
  __syncthreads(); /* all threads have read the previous contents of part */
  if (lane % 2 == 0) part[threadIdx.x / 32][lane / 2] = sum[0];
  __syncthreads();
  #pragma unroll
  for (int w = 0; w < WARPS && threadIdx.x < WIDE; w++) all += part[w][threadIdx.x];
  return all;
}

/* Computes the partial sums of SMACOFSumsTask.  Loads past the end read a valid address instead of being conditional, so that all loads of a thread
   are in flight together. */
__global__ void __launch_bounds__(BLOCK) SMACOFComputeSums(const __grid_constant__ SMACOFSumsTask q)
{
  const size_t stride    = (size_t)SMACOF_SUM_PARTS * BLOCK;
  double       sum[WIDE] = {};

  GpNextMayStart();
  GpWait();
  for (size_t first = (size_t)blockIdx.x * BLOCK + threadIdx.x; first < q.n; first += ABREAST * stride) {
    double x[ABREAST], bx[ABREAST], stress[ABREAST];

  #pragma unroll
    for (int k = 0; k < ABREAST; k++) {
      const size_t i = first + k * stride, there = min(i, q.n - 1);

      x[k] = q.x[there], bx[k] = q.bx[there], stress[k] = q.stress[min(i, q.points - 1)];
    }
  #pragma unroll
    for (int k = 0; k < ABREAST; k++) {
      const size_t i = first + k * stride;

      sum[0] += i < q.points ? stress[k] : 0, sum[1] += i < q.n ? x[k] * bx[k] : 0;
    }
  }
  const double all = SMACOFReduceBlock(sum);

  if (threadIdx.x >= 2) return;
  q.sums[2 * blockIdx.x + threadIdx.x] = all;
  GpWatchWrite(q.result + 2 * blockIdx.x + threadIdx.x, all);
}

/* Returns the best scale of the configuration.  Each warp adds the partial sums itself. */
__device__ double SMACOFComputeScaleOnWarp(const SMACOFDifferencesTask &q)
{
  double sum[2];

  if (!q.sums) return 1;
  #pragma unroll
  for (int k = 0; k < 2; k++) {
    sum[k] = q.sums[2 * (threadIdx.x % 32) + k];
  #pragma unroll
    for (int half = 16; half > 0; half /= 2) sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], half);
  }
  return SMACOFComputeScale(0.5 * sum[0] / q.unit, sum[1] / q.unit);
}

/* Computes the inner products batch by batch.  The first batch also writes the new iterate and its differences. */
__global__ void __launch_bounds__(BLOCK) SMACOFComputeDifferences(const __grid_constant__ SMACOFDifferencesTask q)
{
  const size_t stride = (size_t)SMACOF_SUM_PARTS * BLOCK;
  const bool   any    = q.lastx;

  GpNextMayStart();
  GpWait();
  for (int batch = 0; batch < SMACOFCountBatches(q.before); batch++) {
    double sum[WIDE] = {};

    for (size_t base = (size_t)blockIdx.x * BLOCK; base < q.n; base += ABREAST * stride) { /* uniform over the block, because Scale() uses warp shuffles */
      const size_t first = base + threadIdx.x;
      double       X[ABREAST], g[ABREAST], lastx[ABREAST], lastf[ABREAST], u[SMACOF_PAIR_BATCH][ABREAST], v[SMACOF_PAIR_BATCH][ABREAST];

  #pragma unroll
      for (int k = 0; k < ABREAST; k++) {
        const size_t i = min(first + k * stride, q.n - 1);

        X[k] = q.X[i], g[k] = q.g[i], lastx[k] = (any ? q.lastx : q.X)[i], lastf[k] = (any ? q.lastf : q.X)[i];
  #pragma unroll
        for (int p = 0; p < SMACOF_PAIR_BATCH; p++) {
          const int  pair = batch * SMACOF_PAIR_BATCH + p; /* pair 0 is the new pair itself */
          const bool is   = pair && pair <= q.before;

          u[p][k] = (is ? q.u[pair - 1] : q.X)[i], v[p][k] = (is ? q.v[pair - 1] : q.X)[i];
        }
      }
      const double scale = SMACOFComputeScaleOnWarp(q); /* computed while the loads are in flight */

  #pragma unroll
      for (int k = 0; k < ABREAST; k++) {
        const size_t i  = first + k * stride;
        const bool   is = i < q.n;
        const double x = scale * X[k], f = is ? q.gfactor * g[k] - x : 0, dx = is ? x - lastx[k] : 0, df = is ? f - lastf[k] : 0;

        if (is && !batch) {
          q.x[i] = x, q.f[i] = f;
          if (any) q.dx[i] = dx, q.df[i] = df;
        }
  #pragma unroll
        for (int p = 0; p < SMACOF_PAIR_BATCH; p++) {
          const double with = p || batch ? u[p][k] : dx, other = p || batch ? v[p][k] : df;

          sum[3 * p] += dx * with;
          sum[3 * p + 1] += dx * other + df * with;
          sum[3 * p + 2] += f * with;
        }
      }
    }
    if (!any) return;
    const double all = SMACOFReduceBlock(sum);

    if (threadIdx.x < SMACOF_BATCH_SUMS) GpWatchWrite(q.result + (batch * SMACOF_SUM_PARTS + blockIdx.x) * SMACOF_BATCH_SUMS + threadIdx.x, all);
  }
}

} // namespace

extern "C" GpErr SMACOFComputeSums_CUDA(GpDev dev, const SMACOFSumsTask *q)
{
  return GpLaunchEarly(dev, "smacof sums", SMACOFComputeSums, GpGrid{SMACOF_SUM_PARTS, BLOCK}, *q);
}

extern "C" GpErr SMACOFComputeDifferences_CUDA(GpDev dev, const SMACOFDifferencesTask *q)
{
  return GpLaunchEarly(dev, "smacof differences", SMACOFComputeDifferences, GpGrid{SMACOF_SUM_PARTS, BLOCK}, *q);
}
#endif
