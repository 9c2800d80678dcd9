/* Reduction of several sums over the lanes of a warp.  Included by device code only. */
#ifndef GPUCSR_SMACOF_PASSREDUCE_H
#define GPUCSR_SMACOF_PASSREDUCE_H

/* Adds V sums over pairs of lanes whose numbers differ in the bit MASK.  Each lane keeps half of the sums: the first half if its bit is 0, else
   the second half.  If V is 1, both lanes keep the sum. */
template <int V, int MASK, class Real>
__device__ inline void SMACOFReduceLanes(Real *v)
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
