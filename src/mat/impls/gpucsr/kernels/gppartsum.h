/* Rows that PARTS threads of a block share (formats/gpparts.h).  The threads of a warp have neighbouring rows and one part, so that their loads
   are as if there were no parts.  Included by device twins alone. */
#ifndef GPPARTSUM_H
#define GPPARTSUM_H

/* called by all threads of a block, part after part of ROWS rows: part 0 returns the sum of all, in their order */
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
