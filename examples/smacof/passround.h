/* What a pass on the device does before anything else: coordinates that are a sum are added up, and those and features become what its kernels read. */
#ifndef GPUCSR_SMACOF_PASSROUND_H
#define GPUCSR_SMACOF_PASSROUND_H

#include "device/gplaunch.h"
#include "pass.h"

#define PASS_ROUND 256 /* threads of a block */

/* two numbers of a sum of configurations; terms are fetched together, as far as there are many */
__device__ inline void PassAdd(const PassForm &form, size_t i, size_t j, double &a, double &b)
{
  constexpr int TOGETHER = 14;

  a = b = 0;
  for (int first = 0; first < form.n; first += TOGETHER) {
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      const bool is = first + k < form.n;

      a += is ? form.factor[first + k] * form.term[first + k][i] : 0;
      b += is ? form.factor[first + k] * form.term[first + k][j] : 0;
    }
  }
}

__global__ static void __launch_bounds__(PASS_ROUND) PassAddUp(const __grid_constant__ PassForm form, size_t n)
{
  const size_t i = (size_t)blockIdx.x * PASS_ROUND + threadIdx.x;
  double       sum, same;

  GpNextMayStart();
  GpWait();
  if (i >= n) return;
  PassAdd(form, i, i, sum, same);
  form.to[i] = sum;
}

/* Coordinates or features as the kernels read them: in double, or in float from the first point on; 0 beyond the last point.  Coordinates that are a sum are added up here.  Sums of a pass
   begin with 0: those of a coordinate, after the last one those of the stress; sums are NULL for features. */
template <class Real>
__global__ void __launch_bounds__(PASS_ROUND) PassRound(const __grid_constant__ PassForm form, const double *x, int N, int n, size_t pitch, Real *to, double *sums, double *last, size_t ldsum)
{
  const unsigned across = gridDim.x / (sums ? n + 1 : n); /* blocks of a coordinate */
  const size_t   i = (size_t)(blockIdx.x % across) * PASS_ROUND + threadIdx.x, c = blockIdx.x / across;

  GpNextMayStart();
  GpWait();
  if (c < (size_t)n && i < pitch) {
    double here = 0, first = 0;

    if (i < (size_t)N && form.n) {
      PassAdd(form, c * N + i, c * N, here, first);
      form.to[c * N + i] = here;
    } else if (i < (size_t)N) here = x[c * N + i], first = x[c * N];
    to[c * pitch + i] = (Real)(here - (sizeof(Real) == 4 ? first : 0));
  }
  if (sums && i < ldsum) (c < (size_t)n ? sums + c * ldsum : last)[i] = 0;
}

#endif
