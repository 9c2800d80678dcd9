/* A queue of points that a warp adds to the sums in shared memory, or moves from one sum to another. Usually few threads of a warp have such a point. The queue
   collects points until all 32 threads can add one at the same time. */
#ifndef KMEANSMOVES_CUH
#define KMEANSMOVES_CUH

#include "kmeanstally.cuh"

/* The queue, in shared memory. A warp leaves fewer than 32 points in it, and adds at most 32 at once. */
typedef struct {
  int32_t point[64];
  int32_t now[64]; /* the cluster whose sums gain the point */
  int32_t old[64]; /* the cluster whose sums lose the point, or -1 */
} KMeansMoves;

/* Adds the first `count` points of the queue, at most 32, to the sums of their new clusters, and subtracts them from the sums of their old ones. Their values are read
   from global memory. D: number of values that are read, at least A.d; values from A.d on are 0. This function is not inlined, because its registers would displace those of the
   search. */
template <class Real, int D>
__device__ __noinline__ static void KMeansMovesApply(const KMeansData &A, int count, const KMeansMoves *Q, const KMeansBlockTally *sums)
{
  constexpr int WIDTH = D < 4 ? D : (D + 3) / 4 * 4; /* KMeansTallyAddPoint() takes a multiple of four */
  const int     lane  = threadIdx.x % 32;

  if (lane < count) {
    const int64_t i          = Q->point[lane];
    const int32_t cluster[2] = {Q->now[lane], Q->old[lane]};
    const int64_t mass       = A.weight ? KMeansToFixed(A.weight[i], A.mass.first) : 1;
    const Real   *row        = (const Real *)A.value + i * A.d;
    Real          x[WIDTH];

#pragma unroll
    for (int j = 0; j < WIDTH; j++) x[j] = j < A.d ? row[j] : 0;
#pragma unroll 1
    for (int side = 0; side < 2 && cluster[side] >= 0; side++) {
      const int32_t at[1]    = {KMeansTallyAt(sums, 0, cluster[side], lane)};
      const int64_t fixed[1] = {side ? -mass : mass};

      KMeansTallyAdd(sums, at, fixed);
      KMeansTallyAddPoint(&A, sums, i, cluster[side], x);
#pragma unroll
      for (int j = 0; j < WIDTH; j++) x[j] = -x[j];
    }
  }
}

/* Adds the points of the lanes with `moves` to the queue, and moves 32 points if the queue then has as many. All lanes of the warp call it. count: number of points in the
   queue. Returns the new number. */
template <class Real, int D>
__device__ static int KMeansMovesAdd(const KMeansData &A, int count, bool moves, int32_t i, int32_t now, int32_t old, KMeansMoves *Q, const KMeansBlockTally *sums)
{
  const unsigned votes = __ballot_sync(0xffffffffu, moves), lane = threadIdx.x % 32;

  if (!votes) return count;
  if (moves) {
    const int at = count + __popc(votes & ((1u << lane) - 1));

    Q->point[at] = i;
    Q->now[at]   = now;
    Q->old[at]   = old;
  }
  count += __popc(votes);
  __syncwarp();
  if (count < 32) return count;
  KMeansMovesApply<Real, D>(A, 32, Q, sums);
  count -= 32;
  __syncwarp(); /* all lanes have read their points */
  if ((int)lane < count) {
    Q->point[lane] = Q->point[32 + lane];
    Q->now[lane]   = Q->now[32 + lane];
    Q->old[lane]   = Q->old[32 + lane];
  }
  __syncwarp();
  return count;
}

#endif
