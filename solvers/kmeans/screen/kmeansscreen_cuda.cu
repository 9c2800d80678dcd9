/* Exact assignment by scores on a GPU. kmeansscreen.cuh describes the steps. */
#include "kmeansscreen.cuh"

namespace {

/* Workspace of an assignment: frame, converted centroids, candidates, and lists of points. The second list is for tensor cores only. */
typedef struct {
  KMeansFrame          F;
  KMeansFrameCentroids C;
  int32_t             *first, *second, *list[2], *count; /* count: [2] lengths of the lists */
  size_t               bytes;                            /* size of C.m */
} KMeansScreenWork;

GpErr KMeansScreenCreate(const KMeansData *A, int tensor, KMeansScreenWork *W)
{
  const size_t  points  = (size_t)A->n * sizeof(int32_t);
  const int32_t rows    = (A->k + KMEANS_TENSOR_CENTROIDS - 1) / KMEANS_TENSOR_CENTROIDS * KMEANS_TENSOR_CENTROIDS;
  const int32_t columns = (A->d + KMEANS_TENSOR_FEATURES - 1) / KMEANS_TENSOR_FEATURES * KMEANS_TENSOR_FEATURES;
  GpErr         err     = KMeansFrameCreate(A, &W->F);

  W->C.rows    = rows;
  W->C.columns = columns;
  W->bytes     = (size_t)rows * columns * sizeof(float);
  if (!err) err = GpDevBorrow(A->dev, W->bytes, &W->C.m);
  if (!err) err = GpDevBorrow(A->dev, (size_t)rows * sizeof(float), &W->C.half);
  if (!err) err = GpDevBorrow(A->dev, points, &W->first);
  if (!err) err = GpDevBorrow(A->dev, points, &W->second);
  if (!err) err = GpDevBorrow(A->dev, points, &W->list[0]);
  if (!err && tensor) err = GpDevBorrow(A->dev, points, &W->list[1]);
  if (!err) err = GpDevBorrow(A->dev, 2 * sizeof(int32_t), &W->count);
  if (!err) err = GpDevZero(A->dev, W->count, 2 * sizeof(int32_t));
  return err;
}

void KMeansScreenDestroy(const KMeansData *A, KMeansScreenWork *W)
{
  const size_t points = (size_t)A->n * sizeof(int32_t);

  GpDevReturn(A->dev, &W->count, 2 * sizeof(int32_t));
  GpDevReturn(A->dev, &W->list[1], points);
  GpDevReturn(A->dev, &W->list[0], points);
  GpDevReturn(A->dev, &W->second, points);
  GpDevReturn(A->dev, &W->first, points);
  GpDevReturn(A->dev, &W->C.half, (size_t)W->C.rows * sizeof(float));
  GpDevReturn(A->dev, &W->C.m, W->bytes);
  KMeansFrameDestroy(A, &W->F);
}

/* Converts the centroids to single precision, one column for each centroid, or to half precision, one row for each centroid. */
GpErr KMeansScreenConvert(const KMeansData *A, int halved, KMeansScreenWork *W)
{
  W->C.halved     = halved;
  W->C.rowstep    = halved ? W->C.columns : 1;
  W->C.columnstep = halved ? 1 : W->C.rows;
  return KMeansFrameConvert(A, &W->F, &W->C);
}

GpErr KMeansScreenRun(const KMeansData *A, int tensor, KMeansScreenWork *W)
{
  KMeansScores S   = {};
  GpErr        err = KMeansFrameChoose(A, &W->F);

  S.A      = *A;
  S.F      = W->F;
  S.first  = W->first;
  S.second = W->second;
  S.list   = W->list[0];
  S.count  = W->count;
  if (tensor) {
    if (!err) err = KMeansScreenConvert(A, 1, W);
    S.C = W->C;
    if (!err) err = KMeansScoresTensor(&S);
    S.points = W->list[0];
    S.many   = W->count;
    S.list   = W->list[1];
    S.count  = W->count + 1;
  }
  if (!err) err = KMeansScreenConvert(A, 0, W);
  S.C = W->C;
  if (!err) err = KMeansScoresTiled(&S);
  if (!err) err = KMeansFinish(&S);
  return err;
}

} // namespace

GpErr KMeansScreen_CUDA(const KMeansData *A, int tensor)
{
  KMeansScreenWork W = {};
  GpErr            err;

  if (A->n <= 0) return GP_SUCCESS;
  err = KMeansScreenCreate(A, tensor, &W);
  if (!err) err = KMeansScreenRun(A, tensor, &W);
  KMeansScreenDestroy(A, &W);
  return err;
}
