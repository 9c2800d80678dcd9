/* Partial sums in single precision on a GPU, for the updates rank, rankstable and onehot. The points are divided into parts. A part has the weight and the sums of
   features of each cluster. One block for each cluster adds the sums of all parts in double precision, in a fixed order, and adds the integers of the results to
   the tally.

   A part has at most 2^24 points, so that numbers of points are exact. The workspace is at most KMEANS_PARTIAL_BYTES, unless this limit requires more parts. */
#ifndef KMEANSPARTIAL_CUH
#define KMEANSPARTIAL_CUH

#include "solvers/kmeans/kmeanssteps.h"

#define KMEANS_PARTIAL_BYTES   ((size_t)128 << 20)
#define KMEANS_PARTIAL_THREADS 256

typedef struct {
  float  *sum; /* [parts][k][columns] */
  int32_t parts;
  int32_t columns; /* d + 1: the weight, then the features */
} KMeansPartials;

static inline size_t KMeansPartialBytes(const KMeansData *A, const KMeansPartials *P)
{
  return (size_t)P->parts * A->k * P->columns * sizeof(float);
}

/* Borrows workspace for up to `wanted` parts, and zeroes it. */
static inline GpErr KMeansPartialsCreate(const KMeansData *A, int64_t wanted, KMeansPartials *P)
{
  const int64_t least = ((int64_t)A->n >> 24) + 1, most = (int64_t)(KMEANS_PARTIAL_BYTES / sizeof(float)) / ((int64_t)A->k * (A->d + 1));
  GpErr         err;

  if (wanted > most) wanted = most;
  P->parts   = (int32_t)(wanted > least ? wanted : least);
  P->columns = A->d + 1;
  err        = GpDevBorrow(A->dev, KMeansPartialBytes(A, P), &P->sum);
  return err ? err : GpDevZero(A->dev, P->sum, KMeansPartialBytes(A, P));
}

__global__ __launch_bounds__(KMEANS_PARTIAL_THREADS) static void KMeansPartialsKernel(const KMeansData A, const KMeansPartials P, int32_t width)
{
  __shared__ double sum[KMEANS_PARTIAL_THREADS];
  const int64_t     c    = blockIdx.x;
  const int32_t     rows = KMEANS_PARTIAL_THREADS / width, column = (int32_t)threadIdx.x % width, row = (int32_t)threadIdx.x / width; /* rows: number of parts that the block reads at the same time */

  for (int32_t from = 0; from < P.columns; from += width) {
    const int32_t q    = from + column;
    double        mine = 0;

    for (int32_t part = row; part < P.parts && q < P.columns; part += rows) mine += (double)P.sum[((int64_t)part * A.k + c) * P.columns + q];
    __syncthreads(); /* all threads have read the sums of the previous columns */
    sum[threadIdx.x] = mine;
    __syncthreads();
    if (row || q >= P.columns) continue;
    for (int r = 1; r < rows; r++) mine += sum[r * width + column];
    if (q) A.tally[KMEANS_TALLY + A.k + (c * A.d + q - 1) * A.words] += KMeansToFixed(mine, A.feature[q - 1].first);
    else A.tally[KMEANS_TALLY + c] += KMeansToFixed(mine, A.mass.first);
  }
}

/* Adds the parts to the tally unless err is set, and returns the workspace. */
static inline GpErr KMeansPartialsAdd(const KMeansData *A, KMeansPartials *P, GpErr err)
{
  const size_t bytes = KMeansPartialBytes(A, P);
  int32_t      width = 1; /* number of columns that the block reads at the same time */

  while (width < P->columns && width < KMEANS_PARTIAL_THREADS) width *= 2;
  if (!err) err = GpLaunch(A->dev, "adding partial sums", KMeansPartialsKernel, GpGrid{(unsigned)A->k, KMEANS_PARTIAL_THREADS}, *A, *P, width);
  GpDevReturn(A->dev, &P->sum, bytes);
  return err;
}

/* Returns column q of point i: its weight, or a weighted feature. */
template <class Value>
__device__ static inline float KMeansPartialValue(const KMeansData *A, int64_t i, int32_t q)
{
  const float weight = A->weight ? (float)A->weight[i] : 1;

  return q ? weight * (float)((const Value *)A->value)[i * A->d + q - 1] : weight;
}

#endif
