/* How the lanes of a warp add up several sums: included by device code alone. */
#ifndef GPUCSR_SMACOF_PASSSHARE_H
#define GPUCSR_SMACOF_PASSSHARE_H

/* Lanes whose numbers differ in the bit MASK add up V sums: each keeps half of them, the first half where the bit is 0; a last one they keep both */
template <int V, int MASK, class Real>
__device__ inline void PassShare(Real *v)
{
  const bool upper = threadIdx.x & MASK;

  if (V == 1) v[0] += __shfl_xor_sync(0xffffffffu, v[0], MASK);
#pragma unroll
  for (int k = 0; k < V / 2; k++) {
    const Real keep = upper ? v[k + V / 2] : v[k], give = upper ? v[k] : v[k + V / 2];

    v[k] = keep + __shfl_xor_sync(0xffffffffu, give, MASK);
  }
}

#endif
