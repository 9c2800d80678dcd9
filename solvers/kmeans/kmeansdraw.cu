/* Random draws of points for the starts, squares of centroids, and the initial labels.

   Point i gets the key -log(u_i) / (weight_i nearest_i), where u_i depends on the stream and on the number of the point alone. The point with the
   least key is drawn. Its probability is proportional to weight times nearest (Efraimidis and Spirakis, 2006), and the result depends neither on
   the order of the points nor on their distribution over processes. */
#include "solvers/kmeans/kmeanssteps.h"

/* log(u) for 0 < u < 1 with the same bits on every processor: the series of atanh after reduction to [sqrt(1/2), sqrt(2)). Error below 4 ulp. */
GP_INLINE double KMeansLog(double u)
{
  int    exponent;
  double m = frexp(u, &exponent), s, square, sum = 0;

  if (m < 0.70710678118654752) {
    m *= 2;
    exponent--;
  }
  s      = (m - 1) / (m + 1);
  square = s * s;
  for (int power = 21; power > 0; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

typedef struct {
  KMeansData     data;
  KMeansDrawArgs draw;
} KMeansDrawing;

GP_INLINE int64_t KMeansKeyBits(const KMeansDrawing *a, int64_t i)
{
  const double share = KMeansWeight(&a->data, i) * a->draw.nearest[i];
  double       key   = HUGE_VAL;
  int64_t      bits;

  if (share > 0) key = -KMeansLog(KMeansRandom(a->draw.stream, (uint64_t)(a->draw.first + i))) / share;
  memcpy(&bits, &key, sizeof(bits)); /* positive doubles are ordered like their bits */
  return bits;
}

GP_STEP(KMeansNearestStep)
{
  const KMeansDrawing *a = (const KMeansDrawing *)args;

  if (a->draw.centroid >= 0) {
    const double distance = KMeansDistance(&a->data, i, KMeansCompare(&a->data, i, a->draw.centroid));

    if (distance < a->draw.nearest[i]) a->draw.nearest[i] = distance;
  }
  KMEANS_MIN(&a->draw.drawn[0], KMeansKeyBits(a, i));
}

GP_STEP(KMeansDrawnStep)
{
  const KMeansDrawing *a = (const KMeansDrawing *)args;

  if (KMeansKeyBits(a, i) == a->draw.drawn[0]) KMEANS_MIN(&a->draw.drawn[1], a->draw.first + i);
}

GP_EXTERN GpErr GP_IMPL(KMeansDraw)(const KMeansData *A, const KMeansDrawArgs *draw)
{
  const KMeansDrawing a = {*A, *draw};
  GpErr               err;

  err = GP_EACH(A->dev, KMeansDrawing, KMeansNearestStep, A->n, &a);
  if (!err) err = GP_EACH(A->dev, KMeansDrawing, KMeansDrawnStep, A->n, &a);
  return err;
}

GP_STEP(KMeansSquaresStep)
{
  const KMeansData *A   = (const KMeansData *)args;
  double            sum = 0;

  for (int32_t j = 0; j < A->d; j++) sum += A->centroid[i * A->d + j] * A->centroid[i * A->d + j];
  A->square[i] = sum;
}

GP_EXTERN GpErr GP_IMPL(KMeansSquares)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansSquaresStep, A->k, A);
}

GP_STEP(KMeansForgetStep)
{
  ((const KMeansData *)args)->label[i] = -1;
}

GP_EXTERN GpErr GP_IMPL(KMeansForget)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansForgetStep, A->n, A);
}
