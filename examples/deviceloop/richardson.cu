/* Both implementations of the kernel: the C compiler compiles the first, nvcc the second. */
#include "richardson.h"
#include <math.h>

#if !defined(__CUDACC__)
GpErr RichardsonStep_Host(GpDev dev, int64_t n, const double *b, const double *y, double *x, double *partial, RichardsonState *s, double *norm)
{
  double sum = 0;

  (void)dev;
  (void)partial;
  for (int64_t i = 0; i < n; i++) {
    const double r = b[i] - y[i];

    x[i] += s->omega * r;
    sum += r * r;
  }
  s->it++;
  norm[0] = sqrt(sum);
  norm[1] = !(norm[0] > s->target) || s->it >= s->max_it;
  return GP_SUCCESS;
}

#else
  #include <gpucsrdevice.cuh>

__global__ static void __launch_bounds__(GP_REDUCE_BLOCK) RichardsonStep(int64_t n, const double *b, const double *y, double *x, double *partial, RichardsonState *s, double *norm)
{
  double sum[1] = {0};

  GpWait(); /* for the product */
  for (int64_t i = (int64_t)blockIdx.x * GP_REDUCE_BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * GP_REDUCE_BLOCK) {
    const double r = b[i] - y[i];

    x[i] += s->omega * r;
    sum[0] += r * r;
  }
  if (!GpReduceAllBlocks<GpReduceSums, 1>(sum, partial, &s->ticket) || threadIdx.x) return;
  s->it++;
  const double residual = sqrt(sum[0]);
  const bool   end      = !(residual > s->target) || s->it >= s->max_it;

  if (end) GpLoopEnd(s->loop);
  if (end || !s->loop) {
    GpWatchWrite(norm, residual);
    GpWatchWrite(norm + 1, end);
  }
}

extern "C" GpErr RichardsonStep_CUDA(GpDev dev, int64_t n, const double *b, const double *y, double *x, double *partial, RichardsonState *s, double *norm)
{
  return GpLaunchEarly(dev, "Richardson's iteration", RichardsonStep, GpGrid{GpReduceGrid(dev, n), GP_REDUCE_BLOCK}, n, b, y, x, partial, s, norm);
}
#endif
