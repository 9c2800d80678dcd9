/* First kernels of a pass on the device: they evaluate the linear combination of the coordinates, and convert coordinates and features to
   the precision and pitch of the pass. */
#ifndef GPUCSR_SMACOF_PASSCONVERT_H
#define GPUCSR_SMACOF_PASSCONVERT_H

#include <gpucsrdevice.cuh>
#include "pass.h"

#define PASS_CONVERT_THREADS 256 /* threads of a block */

/* Computes entries i and j of a linear combination of configurations.  TOGETHER terms are loaded before any is used, also past the last
   term, so that the loads are in flight together. */
template <int TOGETHER>
__device__ inline void SMACOFAddTerms(const SMACOFPassForm &form, size_t i, size_t j, double &a, double &b)
{
  a = b = 0;
  for (int first = 0; first < form.n; first += TOGETHER) {
    double x[TOGETHER], y[TOGETHER];

#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      const double *const term = form.term[min(first + k, form.n - 1)];

      x[k] = term[i], y[k] = term[j];
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      if (first + k < form.n) a += form.factor[first + k] * x[k], b += form.factor[first + k] * y[k];
    }
  }
}

__device__ inline void SMACOFAddTerms(const SMACOFPassForm &form, size_t i, size_t j, double &a, double &b)
{
  if (form.n <= 2) SMACOFAddTerms<2>(form, i, j, a, b); /* a plain or relaxed step */
  else SMACOFAddTerms<12>(form, i, j, a, b);            /* an extrapolation of five differences */
}

__global__ static void __launch_bounds__(PASS_CONVERT_THREADS) SMACOFCombineTerms(const __grid_constant__ SMACOFPassForm form, size_t n)
{
  const size_t i = (size_t)blockIdx.x * PASS_CONVERT_THREADS + threadIdx.x;
  double       sum, same;

  GpNextMayStart();
  GpWait();
  if (i >= n) return;
  SMACOFAddTerms(form, i, i, sum, same);
  form.to[i] = sum;
}

/* Converts coordinates or features [n][N] to [n][pitch] in double, or in float after the first point is subtracted.  Entries beyond the last
   point become 0.  A linear combination is evaluated first.  Also sets the sums of the pass to zero: sums is [n][ldsum] and last is
   [ldsum]; sums is NULL for features. */
template <class Real>
__global__ void __launch_bounds__(PASS_CONVERT_THREADS) SMACOFConvertCoordinates(const __grid_constant__ SMACOFPassForm form, const double *x, int N, int n, size_t pitch, Real *to, double *sums, double *last, size_t ldsum)
{
  const unsigned across = gridDim.x / (sums ? n + 1 : n); /* number of blocks of one coordinate */
  const size_t   i = (size_t)(blockIdx.x % across) * PASS_CONVERT_THREADS + threadIdx.x, c = blockIdx.x / across;

  GpNextMayStart();
  GpWait();
  if (c < (size_t)n && i < pitch) {
    double here = 0, first = 0;

    if (i < (size_t)N && form.n) {
      SMACOFAddTerms(form, c * N + i, c * N, here, first);
      form.to[c * N + i] = here;
    } else if (i < (size_t)N) here = x[c * N + i], first = x[c * N];
    to[c * pitch + i] = (Real)(here - (sizeof(Real) == 4 ? first : 0));
  }
  if (sums && i < ldsum) (c < (size_t)n ? sums + c * ldsum : last)[i] = 0;
}

#endif
