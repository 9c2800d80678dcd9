/* Sums over the slots of a lane in a slice of 32 lanes (formats panel, team, teamcluster). Slot k of the 32 lanes is stored contiguously,
   so loads are coalesced. Included only by CUDA implementations. */
#ifndef GPSLOTS_H
#define GPSLOTS_H

#include "device/gplaunch.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"

static constexpr int AHEAD = 8;

/* The entry of x that a code stands for. The code selects an address and not a load, so that the loads of several nonzeros are in flight together. */
template <bool EARLY> /* EARLY: packed and own may be written between the launch and GpWait() */
struct Packed {
  const double *packed, *own;
  uint32_t      npacked;

  __device__ double operator[](uint32_t code) const
  {
    const double *p = (code < npacked ? packed : own) + code;

    return EARLY ? *p : __ldg(p);
  }
};

/* Sums the next N slots of a lane, of which the slice has n <= N. Slots beyond n read the last slot and add zero. FIRST: codes and values are loaded
   before GpWait(), entries of x after it. */
template <int N, bool SAME, bool FIRST, class X, typename Code>
__device__ static double SumSlots(int n, const Code *code, const GpScalar *val, GpScalar one, const X &x)
{
  uint32_t c[N];
  GpScalar v[N];
  double   e[N], sum = 0;

#pragma unroll
  for (int u = 0; u < N; u++) {
    const int at = (u < n ? u : n - 1) * GP_WARP;

    c[u] = FIRST ? GpRead<true>(code + at) : __ldcs(code + at);
    if (!FIRST) v[u] = SAME ? one : __ldcs(val + at);
  }
  if (FIRST) {
#pragma unroll
    for (int u = 0; u < N; u++) v[u] = SAME ? one : GpRead<true>(val + (u < n ? u : n - 1) * GP_WARP);
    GpWait();
  }
#pragma unroll
  for (int u = 0; u < N; u++) e[u] = x[u < n ? c[u] : 0];
#pragma unroll
  for (int u = 0; u < N; u++) sum += (u < n ? (double)v[u] : 0.0) * e[u];
  return sum;
}

/* Sums the n slots of a lane. WAITS: calls GpWait() after the first loads of codes and values, before x is read. */
template <bool SAME, bool WAITS, class X, typename Code>
__device__ static double SumSection(int n, const Code *code, const GpScalar *val, GpScalar one, const X &x)
{
  double sum = 0;

  if (WAITS) {
    if (n > AHEAD / 2) sum = SumSlots<AHEAD, SAME, true>(min(n, AHEAD), code, val, one, x);
    else if (n > 0) sum = SumSlots<AHEAD / 2, SAME, true>(n, code, val, one, x);
    else GpWait();
    n -= AHEAD, code += AHEAD * GP_WARP, val += SAME ? 0 : AHEAD * GP_WARP;
  }
  for (; n >= AHEAD; n -= AHEAD, code += AHEAD * GP_WARP, val += SAME ? 0 : AHEAD * GP_WARP) sum += SumSlots<AHEAD, SAME, false>(AHEAD, code, val, one, x);
  if (n > AHEAD / 2) sum += SumSlots<AHEAD, SAME, false>(n, code, val, one, x);
  else if (n > 0) sum += SumSlots<AHEAD / 2, SAME, false>(n, code, val, one, x);
  return sum;
}

/* the sum over `width` adjacent lanes, valid in the first of them */
__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, width);
  return sum;
}

#endif
