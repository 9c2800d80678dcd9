/* The irregular reduction of Dhanasekaran and Rubin, "A new method for GPU based irregular reductions and its application to k-means clustering" (2011), for
   rank_cuda.cu and rankstable_cuda.cu.

   A group is KMEANS_RANK_GROUP points, one for each thread of a block.

   1. A point gets its rank among the points of its cluster in the group.
   2. The point of rank 0 claims as many consecutive places as the cluster has points in the group.
   3. The numbers of the points are scattered to these places. The points of a cluster are then neighbours, in the order of their ranks.
   4. A tree adds them: in step s, a point whose rank is a multiple of 2s adds the sum of the point s places after it.

   In the paper each group stores (d+1)k sums. Here a block takes one group after another and adds the sums to its own part, so that the workspace is
   bounded (kmeanspartial.cuh). */
#ifndef KMEANSRANK_CUH
#define KMEANSRANK_CUH

#include "kmeanspartial.cuh"

enum {
  KMEANS_RANK_GROUP   = 256, /* number of points of a group, and of threads of a block */
  KMEANS_RANK_COLUMNS = 8,   /* number of columns that a tree adds at once */
  KMEANS_RANK_BLOCKS  = 8    /* number of blocks for each multiprocessor */
};

/* The shared memory of a group, besides the counts. */
typedef struct {
  float   value[KMEANS_RANK_COLUMNS][KMEANS_RANK_GROUP]; /* sums of the places */
  int32_t point[KMEANS_RANK_GROUP];                      /* number of the point at each place, in its group */
  int32_t rank[KMEANS_RANK_GROUP];                       /* rank of the point at each place */
  int32_t rest[KMEANS_RANK_GROUP];                       /* number of points from this place on that have the same cluster */
  int32_t used, most;                                    /* number of places claimed; the largest number of points of a cluster */
} KMeansRankGroup;

/* Returns the rank of a point among the points of its cluster c in the group, in the order in which the threads increment the count. */
__device__ static inline int32_t KMeansRankByCount(int32_t c, int32_t *count)
{
  const int32_t rank = c < 0 ? 0 : atomicAdd(&count[c], 1);

  __syncthreads();
  return rank;
}

/* Returns the rank in the order of the points: the number of earlier lanes of the warp with the same cluster, plus the number of such points in earlier warps. The
   warps increment the count one after another. */
__device__ static inline int32_t KMeansRankByVote(int32_t c, int32_t *count)
{
  const int      lane = threadIdx.x % 32;
  const unsigned same = __match_any_sync(0xffffffffu, c);
  int32_t        rank = __popc(same & ((1u << lane) - 1));

  for (int warp = 0; warp < KMEANS_RANK_GROUP / 32; warp++) {
    if ((int)threadIdx.x / 32 == warp) {
      const int32_t before = c < 0 ? 0 : count[c];

      __syncwarp();
      if (c >= 0 && !rank) count[c] = before + __popc(same);
      rank += before;
    }
    __syncthreads();
  }
  return rank;
}

/* Adds KMEANS_RANK_COLUMNS columns from number `from` on by a tree. Afterwards the place of rank 0 of a cluster has the sums of the cluster. */
template <class Value>
__device__ static inline void KMeansRankTree(const KMeansData *A, KMeansRankGroup *G, int64_t first, int32_t from, int32_t columns, float (&sum)[KMEANS_RANK_COLUMNS])
{
  const int32_t place = threadIdx.x, many = G->used, rank = place < many ? G->rank[place] : 1, rest = place < many ? G->rest[place] : 0;

#pragma unroll
  for (int q = 0; q < KMEANS_RANK_COLUMNS; q++) {
    sum[q]             = place < many && from + q < columns ? KMeansPartialValue<Value>(A, first + G->point[place], from + q) : 0;
    G->value[q][place] = sum[q];
  }
  __syncthreads();
  for (int32_t step = 1; step < G->most; step *= 2) {
    if (rank % (2 * step) == 0 && step < rest) {
#pragma unroll
      for (int q = 0; q < KMEANS_RANK_COLUMNS; q++) {
        sum[q] += G->value[q][place + step];
        G->value[q][place] = sum[q];
      }
    }
    __syncthreads();
  }
}

template <class Value, bool STABLE>
__global__ __launch_bounds__(KMEANS_RANK_GROUP) static void KMeansRankKernel(const KMeansData A, const KMeansPartials P)
{
  extern __shared__ int32_t  count[]; /* [k] number of points of each cluster in the group, zero between groups; [k] its first place */
  __shared__ KMeansRankGroup G;
  int32_t *const             offset = count + A.k;
  float *const               part   = P.sum + (int64_t)blockIdx.x * A.k * P.columns;

  for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_RANK_GROUP) count[c] = 0;
  for (int64_t first = (int64_t)blockIdx.x * KMEANS_RANK_GROUP; first < A.n; first += (int64_t)gridDim.x * KMEANS_RANK_GROUP) {
    const int32_t c = first + threadIdx.x < A.n ? A.label[first + threadIdx.x] : -1;

    if (!threadIdx.x) G.used = G.most = 0;
    __syncthreads();

    const int32_t rank = STABLE ? KMeansRankByVote(c, count) : KMeansRankByCount(c, count);

    if (c >= 0 && !rank) {
      offset[c] = atomicAdd(&G.used, count[c]);
      atomicMax(&G.most, count[c]);
    }
    __syncthreads();
    if (c >= 0) {
      const int32_t place = offset[c] + rank;

      G.point[place] = threadIdx.x;
      G.rank[place]  = rank;
      G.rest[place]  = count[c] - rank;
    }
    __syncthreads();
    if (c >= 0 && !rank) count[c] = 0; /* no thread reads it after the barrier */

    const bool    sums    = (int32_t)threadIdx.x < G.used && !G.rank[threadIdx.x];
    const int32_t cluster = sums ? A.label[first + G.point[threadIdx.x]] : 0;

    for (int32_t from = 0; from < P.columns; from += KMEANS_RANK_COLUMNS) {
      float sum[KMEANS_RANK_COLUMNS];

      KMeansRankTree<Value>(&A, &G, first, from, P.columns, sum);
      if (!sums) continue;
#pragma unroll
      for (int q = 0; q < KMEANS_RANK_COLUMNS; q++)
        if (from + q < P.columns) part[(int64_t)cluster * P.columns + from + q] += sum[q];
    }
    __syncthreads(); /* all threads have read the places of this group */
  }
}

template <class Value, bool STABLE>
static GpErr KMeansRankLaunch(const KMeansData *A)
{
  const int64_t  groups = ((int64_t)A->n + KMEANS_RANK_GROUP - 1) / KMEANS_RANK_GROUP, blocks = (int64_t)KMEANS_RANK_BLOCKS * GpDevComputeUnits(A->dev);
  const size_t   shared = 2 * (size_t)A->k * sizeof(int32_t);
  KMeansPartials P      = {};
  GpErr          err    = KMeansPartialsCreate(A, groups < blocks ? groups : blocks, &P);

  if (!err) err = GpCheckCuda(A->dev, cudaFuncSetAttribute(KMeansRankKernel<Value, STABLE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared), "shared memory of a group of points");
  if (!err) err = GpLaunch(A->dev, "adding groups of points", KMeansRankKernel<Value, STABLE>, GpGrid{(unsigned)P.parts, KMEANS_RANK_GROUP, shared}, *A, P);
  return KMeansPartialsAdd(A, &P, err);
}

#endif
