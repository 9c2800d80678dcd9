/* Sums of rows that PARTS threads of a block share (gpparts.h). The threads of a warp have adjacent rows and the same part, so their loads
   are coalesced as without parts. Included only by CUDA implementations. */
#ifndef GPPARTSUM_H
#define GPPARTSUM_H

/* Called by all threads of a block, which are ordered by part, ROWS threads each. Part 0 returns the sum over all parts, in order of parts; the
   others return 0. */
template <int PARTS, int ROWS>
__device__ static double GpPartSum(double sum)
{
  if constexpr (PARTS > 1) {
    __shared__ double other[PARTS - 1][ROWS];
    const int         part = threadIdx.x / ROWS, row = threadIdx.x % ROWS;

    if (part) other[part - 1][row] = sum;
    __syncthreads();
    if (part) return 0;
#pragma unroll
    for (int p = 0; p < PARTS - 1; p++) sum += other[p][row];
  }
  return sum;
}

#endif
