/* Update by a matrix product on a GPU: the k x n matrix of indicators, which has a 1 where the point has the label, times the n x (d+1) matrix of weights and weighted
   features. All nkd products are computed.

   A block computes a tile of clusters and columns for one part of the points. The columns of KMEANS_ONEHOT_POINTS points at a time are in shared memory. A
   thread has one column, and the sums of KMEANS_ONEHOT_CLUSTERS clusters in registers. Points are added in their order, and the parts depend on the sizes and
   on the GPU alone, so that the result is repeatable. */
#include "kmeanspartial.cuh"

enum {
  KMEANS_ONEHOT_BLOCK    = 256,  /* number of threads of a block */
  KMEANS_ONEHOT_POINTS   = 32,   /* number of points in shared memory */
  KMEANS_ONEHOT_CLUSTERS = 8,    /* number of clusters of a thread */
  KMEANS_ONEHOT_PART     = 1024, /* least number of points of a part */
  KMEANS_ONEHOT_BLOCKS   = 8     /* number of blocks for each multiprocessor */
};

/* COLUMNS: number of columns of a tile. points: number of points of a part. */
template <class Value, int COLUMNS>
__global__ __launch_bounds__(KMEANS_ONEHOT_BLOCK) static void KMeansOnehotKernel(const KMeansData A, const KMeansPartials P, int64_t points)
{
  __shared__ float   value[KMEANS_ONEHOT_POINTS][COLUMNS];
  __shared__ int32_t label[KMEANS_ONEHOT_POINTS];
  constexpr int      THREADS = KMEANS_ONEHOT_BLOCK / COLUMNS; /* threads of a column */
  const int32_t      column = (int32_t)threadIdx.x % COLUMNS, q = (int32_t)blockIdx.y * COLUMNS + column;
  const int32_t      c     = ((int32_t)blockIdx.x * THREADS + (int32_t)threadIdx.x / COLUMNS) * KMEANS_ONEHOT_CLUSTERS; /* the first cluster of the thread */
  const int64_t      begin = (int64_t)blockIdx.z * points, end = begin + points < A.n ? begin + points : A.n;
  float              sum[KMEANS_ONEHOT_CLUSTERS] = {};

  for (int64_t first = begin; first < end; first += KMEANS_ONEHOT_POINTS) {
    __syncthreads(); /* threads may still read the previous points */
    if (threadIdx.x < KMEANS_ONEHOT_POINTS) label[threadIdx.x] = first + threadIdx.x < end ? A.label[first + threadIdx.x] : -1;
    for (int p = (int)threadIdx.x / COLUMNS; p < KMEANS_ONEHOT_POINTS; p += THREADS) value[p][column] = first + p < end && q < P.columns ? KMeansPartialValue<Value>(&A, first + p, q) : 0;
    __syncthreads();
#pragma unroll 8
    for (int p = 0; p < KMEANS_ONEHOT_POINTS; p++) {
      const float   x   = value[p][column];
      const int32_t own = label[p] - c;

#pragma unroll
      for (int u = 0; u < KMEANS_ONEHOT_CLUSTERS; u++) sum[u] = __fmaf_rn(own == u ? 1.0f : 0.0f, x, sum[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < KMEANS_ONEHOT_CLUSTERS; u++)
    if (c + u < A.k && q < P.columns) P.sum[((int64_t)blockIdx.z * A.k + c + u) * P.columns + q] = sum[u];
}

template <class Value, int COLUMNS>
static GpErr KMeansOnehotLaunch(const KMeansData *A)
{
  const int32_t  clusters = KMEANS_ONEHOT_CLUSTERS * (KMEANS_ONEHOT_BLOCK / COLUMNS);
  const int64_t  tiles = (A->k + clusters - 1) / clusters, slabs = (A->d + COLUMNS) / COLUMNS, blocks = (int64_t)KMEANS_ONEHOT_BLOCKS * GpDevComputeUnits(A->dev) / (tiles * slabs) + 1;
  const int64_t  most = (A->n + KMEANS_ONEHOT_PART - 1) / KMEANS_ONEHOT_PART;
  KMeansPartials P    = {};
  GpErr          err  = KMeansPartialsCreate(A, blocks < most ? blocks : most, &P);
  GpGrid         grid{dim3((unsigned)tiles, (unsigned)slabs, (unsigned)P.parts), KMEANS_ONEHOT_BLOCK};

  if (!err) err = GpLaunch(A->dev, "multiplying indicators and points", KMeansOnehotKernel<Value, COLUMNS>, grid, *A, P, (A->n + (int64_t)P.parts - 1) / P.parts);
  return KMeansPartialsAdd(A, &P, err);
}

extern "C" GpErr KMeansUpdate_onehot_CUDA(const KMeansData *A)
{
  if (!A->n) return GP_SUCCESS;
  if (A->d < 8) return A->single ? KMeansOnehotLaunch<float, 8>(A) : KMeansOnehotLaunch<double, 8>(A);
  return A->single ? KMeansOnehotLaunch<float, 32>(A) : KMeansOnehotLaunch<double, 32>(A);
}
