/* Random draws of points for the starts, one at a time, squares of centroids, and the initial labels. */
#include "solvers/kmeans/start/kmeansdraw.h"

typedef struct {
  KMeansData     data;
  KMeansDrawArgs draw;
} KMeansDrawing;

GP_INLINE int64_t KMeansDrawingKey(const KMeansDrawing *a, int64_t i)
{
  return KMeansKeyBits(a->draw.stream, a->draw.first + i, KMeansWeight(&a->data, i) * a->draw.nearest[i]);
}

GP_STEP(KMeansNearestStep)
{
  const KMeansDrawing *a = (const KMeansDrawing *)args;

  if (a->draw.centroid >= 0) {
    const double distance = KMeansDistance(&a->data, i, KMeansCompare(&a->data, i, a->draw.centroid));

    if (distance < a->draw.nearest[i]) a->draw.nearest[i] = distance;
  }
  KMEANS_MIN(&a->draw.drawn[0], KMeansDrawingKey(a, i));
}

GP_STEP(KMeansDrawnStep)
{
  const KMeansDrawing *a = (const KMeansDrawing *)args;

  if (KMeansDrawingKey(a, i) == a->draw.drawn[0]) KMEANS_MIN(&a->draw.drawn[1], a->draw.first + i);
}

GP_EXTERN GpErr GP_IMPL(KMeansDraw)(const KMeansData *A, const KMeansDrawArgs *draw)
{
  const KMeansDrawing a = {*A, *draw};
  GpErr               err;

  err = GP_EACH(A->dev, KMeansDrawing, KMeansNearestStep, A->n, &a);
  if (!err) err = GP_EACH(A->dev, KMeansDrawing, KMeansDrawnStep, A->n, &a);
  return err;
}

#if defined(__CUDACC__)
/* One block a centroid, one thread a partial sum. */
__global__ static void KMeansSquaresKernel(KMeansData A)
{
  __shared__ double part[KMEANS_SQUARE_PARTS];
  const double     *m   = A.centroid + (int64_t)blockIdx.x * A.d;
  double            sum = 0;

  for (int32_t j = threadIdx.x; j < A.d; j += KMEANS_SQUARE_PARTS) sum += m[j] * m[j];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) A.square[blockIdx.x] = KMeansSquareOfParts(part);
}

extern "C" GpErr KMeansSquares_CUDA(const KMeansData *A)
{
  return A->k > 0 ? GpLaunch(A->dev, "KMeansSquares", KMeansSquaresKernel, GpGrid{(unsigned)A->k, KMEANS_SQUARE_PARTS}, *A) : GP_SUCCESS;
}
#else
GpErr KMeansSquares_Host(const KMeansData *A)
{
  for (int32_t c = 0; c < A->k; c++) {
    const double *m                         = A->centroid + (int64_t)c * A->d;
    double        part[KMEANS_SQUARE_PARTS] = {0};

    for (int32_t from = 0; from < A->d; from += KMEANS_SQUARE_PARTS)
      for (int32_t t = 0; t < KMEANS_SQUARE_PARTS && t < A->d - from; t++) part[t] += m[from + t] * m[from + t];
    A->square[c] = KMeansSquareOfParts(part);
  }
  return GP_SUCCESS;
}
#endif

GP_STEP(KMeansForgetStep)
{
  ((const KMeansData *)args)->label[i] = -1;
}

GP_EXTERN GpErr GP_IMPL(KMeansForget)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansForgetStep, A->n, A);
}
