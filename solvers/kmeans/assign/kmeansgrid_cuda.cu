/* The box of points on a GPU, and how evenly they are spread over the grid of the assignment `cells`. kmeanscells.h describes the grid. */
#include "kmeanscells.h"

#define KMEANS_GRID_BLOCK 256 /* number of threads of a block */

/* Keys that are ordered like the numbers. */
__device__ static inline unsigned long long KMeansGridKey(double value)
{
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value);

  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static double KMeansGridValue(unsigned long long key)
{
  const unsigned long long bits = key >> 63 ? key & ~(1ull << 63) : ~key;
  double                   value;

  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Raises the keys of the box: those of the lowest values, inverted, then those of the highest values. The caller has set all keys to 0, which is below the key of every number. */
__global__ __launch_bounds__(KMEANS_GRID_BLOCK) static void KMeansGridBoxKernel(KMeansData A, unsigned long long *keys)
{
  __shared__ unsigned long long most[2 * KMEANS_CELLS_FEATURES];
  double                        low[KMEANS_CELLS_FEATURES], high[KMEANS_CELLS_FEATURES];

  if (threadIdx.x < 2 * KMEANS_CELLS_FEATURES) most[threadIdx.x] = 0;
  for (int j = 0; j < KMEANS_CELLS_FEATURES; j++) {
    low[j]  = HUGE_VAL;
    high[j] = -HUGE_VAL;
  }
  for (int64_t i = (int64_t)blockIdx.x * KMEANS_GRID_BLOCK + threadIdx.x; i < A.n; i += (int64_t)gridDim.x * KMEANS_GRID_BLOCK) {
#pragma unroll
    for (int j = 0; j < KMEANS_CELLS_FEATURES; j++) {
      if (j < A.d) {
        const double x = KMeansValue(&A, i * A.d + j);

        low[j]  = fmin(low[j], x);
        high[j] = fmax(high[j], x);
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KMEANS_CELLS_FEATURES; j++) {
    for (int half = 16; half > 0; half /= 2) {
      low[j]  = fmin(low[j], __shfl_xor_sync(0xffffffffu, low[j], half));
      high[j] = fmax(high[j], __shfl_xor_sync(0xffffffffu, high[j], half));
    }
    if (threadIdx.x % 32 == 0 && j < A.d) {
      atomicMax(&most[j], ~KMeansGridKey(low[j]));
      atomicMax(&most[KMEANS_CELLS_FEATURES + j], KMeansGridKey(high[j]));
    }
  }
  __syncthreads();
  if (threadIdx.x < 2 * KMEANS_CELLS_FEATURES && most[threadIdx.x]) atomicMax(&keys[threadIdx.x], most[threadIdx.x]);
}

extern "C" GpErr KMeansBox_CUDA(const KMeansData *A, double low[KMEANS_CELLS_FEATURES], double high[KMEANS_CELLS_FEATURES])
{
  const unsigned      most = 4 * (unsigned)GpDevComputeUnits(A->dev), want = GpBlocks(A->n, KMEANS_GRID_BLOCK);
  unsigned long long *keys, box[2 * KMEANS_CELLS_FEATURES];
  GpErr               err = GpDevBorrow(A->dev, sizeof(box), &keys);

  if (!err) err = GpDevZero(A->dev, keys, sizeof(box));
  if (!err && A->n) err = GpLaunch(A->dev, "box of points", KMeansGridBoxKernel, GpGrid{want < most ? want : most, KMEANS_GRID_BLOCK}, *A, keys);
  if (!err) err = GpDevDownload(A->dev, box, keys, sizeof(box));
  for (int j = 0; !err && j < KMEANS_CELLS_FEATURES; j++) {
    low[j]  = A->n && j < A->d ? KMeansGridValue(~box[j]) : HUGE_VAL;
    high[j] = A->n && j < A->d ? KMeansGridValue(box[KMEANS_CELLS_FEATURES + j]) : -HUGE_VAL;
  }
  GpDevReturn(A->dev, &keys, sizeof(box));
  return err;
}

/* Counts the points of a sample in each cell. points: size of the sample. */
__global__ __launch_bounds__(KMEANS_GRID_BLOCK) static void KMeansGridCountKernel(KMeansData A, int32_t points, int32_t *count)
{
  const int32_t i = blockIdx.x * KMEANS_GRID_BLOCK + threadIdx.x;

  if (i < points) atomicAdd(&count[KMeansCellFind(&A, A.grid, (int64_t)i * A.n / points)], 1);
}

/* Sums the squares of the counts, by one block. */
__global__ __launch_bounds__(KMEANS_GRID_BLOCK) static void KMeansGridSquaresKernel(const int32_t *count, unsigned long long *sum)
{
  unsigned long long mine = 0;

  for (int cell = threadIdx.x; cell < KMEANS_CELLS; cell += KMEANS_GRID_BLOCK) mine += (unsigned long long)count[cell] * (unsigned long long)count[cell];
  for (int half = 16; half > 0; half /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, half);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/* Workspace: the sum of the squares of the counts, and the counts. */
typedef struct {
  unsigned long long sum;
  int32_t            count[KMEANS_CELLS];
} KMeansGridCounts;

extern "C" GpErr KMeansGridShare_CUDA(const KMeansData *A, double *share)
{
  const int32_t      points = A->n < KMEANS_CELLS_SAMPLE ? A->n : KMEANS_CELLS_SAMPLE;
  KMeansGridCounts  *counts;
  unsigned long long sum = 0;
  GpErr              err;

  *share = 0;
  if (points < 2) return GP_SUCCESS;
  err = GpDevBorrow(A->dev, sizeof(*counts), &counts);
  if (!err) err = GpDevZero(A->dev, counts, sizeof(*counts));
  if (!err) err = GpLaunch(A->dev, "points of cells", KMeansGridCountKernel, GpGrid{GpBlocks(points, KMEANS_GRID_BLOCK), KMEANS_GRID_BLOCK}, *A, points, &counts->count[0]);
  if (!err) err = GpLaunch(A->dev, "points of cells", KMeansGridSquaresKernel, GpGrid{1, KMEANS_GRID_BLOCK}, &counts->count[0], &counts->sum);
  if (!err) err = GpDevDownload(A->dev, &sum, &counts->sum, sizeof(sum));
  if (!err) *share = ((double)sum - points) / ((double)points * (points - 1)); /* pairs of different points */
  GpDevReturn(A->dev, &counts, sizeof(*counts));
  return err;
}
