/* The pass over listed pairs, CUDA implementation. */
#include "pass.h"
#include <gpucsrdevice.cuh>

namespace {
constexpr int BLOCK = 256, WARPS = BLOCK / 32;

/* One warp computes one row.  The order in which the lanes' sums are added is fixed. */
template <int DIM, class Stored>
__global__ void __launch_bounds__(BLOCK) SMACOFProcessRow(SMACOFPass p)
{
  const int     i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
  const Stored *delta = (const Stored *)p.delta, *weight = (const Stored *)p.weight;
  double        sum[DIM + 1] = {}, difference[DIM];

  if (i >= p.rows) return;
  for (int64_t k = p.start[i] + lane; k < p.start[i + 1]; k += 32) {
    const double w = weight ? (double)weight[k] : 1, from = (double)delta[k];
    double       square = 0;

#pragma unroll
    for (int c = 0; c < DIM; c++) {
      difference[c] = p.xrow[c * p.ldrow + i] - p.x[(size_t)c * p.N + p.column[k]];
      square += difference[c] * difference[c];
    }
    const double d = sqrt(square), ratio = w * from / fmax(d, 1e-150);

#pragma unroll
    for (int c = 0; c < DIM; c++) sum[c] += ratio * difference[c];
    sum[DIM] += w * (from - d) * (from - d);
  }
#pragma unroll
  for (int c = 0; c <= DIM; c++) {
    for (int half = 16; half > 0; half /= 2) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], half);
    if (lane == 0) (c < DIM ? p.bx + c * p.ldsum : p.stress)[p.first + i] = sum[c];
  }
}

template <int DIM>
GpErr SMACOFLaunchPass(GpDev dev, const SMACOFPass *p)
{
  return GpLaunchVector(dev, "smacof pass over pairs", p->single ? SMACOFProcessRow<DIM, float> : SMACOFProcessRow<DIM, double>, GpGrid{GpBlocks(p->rows, WARPS), BLOCK}, *p);
}

} // namespace

GpErr SMACOFRunPassListed_CUDA(GpDev dev, const SMACOFPass *p)
{
  static GpErr (*const launch[PASS_MAX_DIM])(GpDev, const SMACOFPass *) = {SMACOFLaunchPass<1>, SMACOFLaunchPass<2>, SMACOFLaunchPass<3>, SMACOFLaunchPass<4>, SMACOFLaunchPass<5>, SMACOFLaunchPass<6>, SMACOFLaunchPass<7>, SMACOFLaunchPass<8>};

  return launch[p->dim - 1](dev, p);
}
