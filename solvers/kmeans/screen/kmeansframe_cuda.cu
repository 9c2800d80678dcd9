/* The frame of scores on a GPU: its centre, its scale, and the conversion of centroids. */
#include "kmeansframe.cuh"

#define KMEANS_FRAME_MEDIAN 15 /* largest number of centroids in a median */
#define KMEANS_FRAME_BLOCK  256

GpErr KMeansFrameCreate(const KMeansData *A, KMeansFrame *F)
{
  GpErr err;

  *F  = {};
  err = GpDevBorrow(A->dev, (size_t)A->d * sizeof(double), &F->centre);
  if (!err) err = GpDevBorrow(A->dev, sizeof(KMeansFrameNumbers), &F->numbers);
  if (err) KMeansFrameDestroy(A, F);
  return err;
}

void KMeansFrameDestroy(const KMeansData *A, KMeansFrame *F)
{
  GpDevReturn(A->dev, &F->numbers, sizeof(KMeansFrameNumbers));
  GpDevReturn(A->dev, &F->centre, (size_t)A->d * sizeof(double));
}

/* Raises *most to a value that is not negative. Such values are ordered like their bits, and the bits of NaN are above those of infinity. */
__device__ static inline void KMeansFrameMax(double *most, double value)
{
  if (!(*(volatile double *)most >= value)) atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(fabs(value)));
}

/* Sets the centre to the medians of some centroids, one thread for each feature. Unlike a mean, a median ignores centroids that are far away. */
__global__ static void KMeansFrameCentreKernel(KMeansData A, KMeansFrame F)
{
  const int32_t j = blockIdx.x * KMEANS_FRAME_BLOCK + threadIdx.x, count = A.k < KMEANS_FRAME_MEDIAN ? A.k : KMEANS_FRAME_MEDIAN;
  double        sorted[KMEANS_FRAME_MEDIAN], median;

  if (j >= A.d) return;
  for (int32_t q = 0; q < count; q++) {
    const double value = A.centroid[(int64_t)q * A.k / count * A.d + j];
    int32_t      at    = q;

    for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  median = sorted[count / 2];
  if (A.single) median = fabs(median) < 0x1p127 ? (double)(float)median : 0;
  F.centre[j] = median;
}

/* Sets spread to the largest |m_j - o_j|. The caller has set it to 0. */
__global__ static void KMeansFrameSpreadKernel(KMeansData A, KMeansFrame F)
{
  const int64_t size = (int64_t)A.k * A.d, step = (int64_t)gridDim.x * KMEANS_FRAME_BLOCK;
  double        most = 0;

  for (int64_t at = (int64_t)blockIdx.x * KMEANS_FRAME_BLOCK + threadIdx.x; at < size; at += step) most = fmax(most, fabs(A.centroid[at] - F.centre[at % A.d]));
  for (int half = 16; half > 0; half /= 2) most = fmax(most, __shfl_xor_sync(0xffffffffu, most, half));
  if (threadIdx.x % 32 == 0) KMeansFrameMax(&F.numbers->spread, most);
}

GpErr KMeansFrameChoose(const KMeansData *A, const KMeansFrame *F)
{
  const int64_t  size = (int64_t)A->k * A->d;
  const unsigned most = 4 * (unsigned)GpDevComputeUnits(A->dev), want = GpBlocks(size, KMEANS_FRAME_BLOCK);
  GpErr          err = GpDevZero(A->dev, F->numbers, sizeof(KMeansFrameNumbers));

  if (!err) err = GpLaunch(A->dev, "centre of centroids", KMeansFrameCentreKernel, GpGrid{GpBlocks(A->d, KMEANS_FRAME_BLOCK), KMEANS_FRAME_BLOCK}, *A, *F);
  if (!err) err = GpLaunch(A->dev, "scale of centroids", KMeansFrameSpreadKernel, GpGrid{want < most ? want : most, KMEANS_FRAME_BLOCK}, *A, *F);
  return err;
}

__device__ static inline double KMeansFrameRound(double value, float *rounded)
{
  *rounded = (float)value;
  return (double)*rounded;
}

__device__ static inline double KMeansFrameRound(double value, __half *rounded)
{
  *rounded = __float2half_rn((float)value);
  return (double)__half2float(*rounded);
}

/* Converts centroids, one warp for each. D is computed from the actual rounding errors. Tensor cores may treat numbers below 2^-14, the smallest normal number of half
   precision, as 0; D covers that. */
template <class Real>
__global__ static void KMeansFrameConvertKernel(KMeansData A, KMeansFrame F, KMeansFrameCentroids C)
{
  const int32_t c = (int32_t)(((int64_t)blockIdx.x * KMEANS_FRAME_BLOCK + threadIdx.x) / 32), lane = threadIdx.x % 32;
  const double  scale = KMeansFrameScale(F.numbers, A.single), grow = 1 + (A.d + 16) * 0x1p-51;
  Real         *to     = (Real *)C.m + c * C.rowstep;
  double        square = 0, error = 0;

  if (c >= C.rows) return;
  for (int32_t j = lane; j < C.columns; j += 32) {
    const double value = c < A.k && j < A.d ? (A.centroid[(int64_t)c * A.d + j] - F.centre[j]) * scale : 0;
    Real         rounded;
    const double difference = KMeansFrameRound(value, &rounded) - value;

    to[j * C.columnstep] = rounded;
    square += value * value;
    error += difference * difference;
  }
  for (int half = 16; half > 0; half /= 2) {
    square += __shfl_xor_sync(0xffffffffu, square, half);
    error += __shfl_xor_sync(0xffffffffu, error, half);
  }
  if (lane == 0) {
    C.half[c] = c < A.k ? (float)(0.5 * square) : KMEANS_FRAME_NONE;
    if (c < A.k) {
      const double norm = sqrt(square) * grow, under = sizeof(Real) == sizeof(float) ? 0x1p-148 : 0x1p-14;

      KMeansFrameMax(&F.numbers->largest, norm + A.d * 0x1p-500);
      KMeansFrameMax(&F.numbers->error, sqrt(error) * grow + 0x1p-50 * norm + sqrt((double)A.d) * under + A.d * 0x1p-500);
    }
  }
}

GpErr KMeansFrameConvert(const KMeansData *A, const KMeansFrame *F, const KMeansFrameCentroids *C)
{
  const GpGrid grid = {GpBlocks(32 * (int64_t)C->rows, KMEANS_FRAME_BLOCK), KMEANS_FRAME_BLOCK};
  GpErr        err  = GpDevZero(A->dev, &F->numbers->largest, 2 * sizeof(double));

  if (!err) err = GpLaunch(A->dev, "conversion of centroids", C->halved ? KMeansFrameConvertKernel<__half> : KMeansFrameConvertKernel<float>, grid, *A, *F, *C);
  return err;
}
