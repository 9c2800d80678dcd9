/* The update `fixed` on a GPU: fixed-point sums of all points.

   - Dense points are summed in shared memory (kmeanstally.cuh), in slabs of features. All blocks with the same blockIdx.y have one slab. If not even
     the sums of the narrowest slab fit, the points are added to the tally by global atomics.
   - Sparse points usually have too many features for this. Their values are added to the tally by global atomics. */
#include "kmeanstally.cuh"

enum {
  KMEANS_FIXED_BLOCK  = 1024, /* number of threads of a block */
  KMEANS_FIXED_POINTS = 4,    /* number of points whose values a thread loads at once */
  KMEANS_FIXED_LANES  = 16    /* number of threads of a sparse point */
};

/* Adds the dense points. A thread has one column. */
template <class Value, bool SHARED>
__global__ __launch_bounds__(KMEANS_FIXED_BLOCK) static void KMeansFixedKernel(const KMeansData A, KMeansTallyShape shape)
{
  extern __shared__ uint32_t shared[];
  KMeansBlockTally           T;

  KMeansTallySlab<SHARED>(&A, &shape, &T, shared);

  const KMeansTallyColumn C    = KMeansTallyThread(&A, &shape, KMEANS_FIXED_BLOCK);
  const int64_t           step = (int64_t)gridDim.x * C.rows * KMEANS_FIXED_POINTS;

  for (int64_t from = (int64_t)blockIdx.x * C.rows * KMEANS_FIXED_POINTS + C.row; C.row < C.rows && from < A.n; from += step) {
    int64_t     i[KMEANS_FIXED_POINTS];
    int32_t     c[KMEANS_FIXED_POINTS], plane[KMEANS_FIXED_POINTS];
    double      v[KMEANS_FIXED_POINTS];
    KMeansFixed scales[KMEANS_FIXED_POINTS];

#pragma unroll
    for (int u = 0; u < KMEANS_FIXED_POINTS; u++) {
      const int64_t at = from + (int64_t)u * C.rows;

      i[u]      = at < A.n ? at : A.n - 1;
      c[u]      = at < A.n ? A.label[at] : -1;
      plane[u]  = C.plane;
      v[u]      = C.j < 0 ? 1.0 : (double)((const Value *)A.value)[i[u] * A.d + C.j];
      scales[u] = C.scale;
    }
#pragma unroll
    for (int u = 0; u < KMEANS_FIXED_POINTS; u++) v[u] *= KMeansWeight(&A, i[u]);
    if (SHARED) KMeansTallyAddValues(&T, i, c, plane, v, scales);
    else {
#pragma unroll
      for (int u = 0; u < KMEANS_FIXED_POINTS; u++) KMeansTallyAddGlobal(&A, c[u], C.j, &C.scale, v[u]);
    }
  }
  if (SHARED) KMeansTallyFlush(&A, &T);
}

/* Adds the sparse points. KMEANS_FIXED_LANES threads share a point. */
template <class Value>
__global__ __launch_bounds__(KMEANS_FIXED_BLOCK) static void KMeansFixedSparseKernel(const KMeansData A)
{
  const int64_t i    = ((int64_t)blockIdx.x * KMEANS_FIXED_BLOCK + threadIdx.x) / KMEANS_FIXED_LANES;
  const int     lane = threadIdx.x % KMEANS_FIXED_LANES;

  if (i >= A.n) return;

  const int32_t c      = A.label[i];
  const double  weight = KMeansWeight(&A, i);
  int64_t      *sum    = A.tally + KMEANS_TALLY + A.k + (int64_t)c * A.words * A.d;

  if (!lane) KMEANS_ADD(&A.tally[KMEANS_TALLY + c], KMeansToFixed(weight, A.mass.first));
  for (int32_t e = A.row[i] + lane; e < A.row[i + 1]; e += KMEANS_FIXED_LANES) {
    const int32_t j = A.col[e];

    KMeansAddFixed(sum + (int64_t)A.words * j, A.words, &A.feature[j], weight * (double)((const Value *)A.value)[e]);
  }
}

template <class Value>
static GpErr KMeansFixedDense(const KMeansData *A)
{
  const int64_t    units = GpDevComputeUnits(A->dev);
  KMeansTallyShape shape;
  const int        fits   = KMeansTallyArrange(A, KMEANS_FIXED_BLOCK - 1, GpDevSharedBytes(A->dev), &shape);
  const int64_t    points = (int64_t)KMEANS_FIXED_BLOCK / (shape.features + 1) * KMEANS_FIXED_POINTS;
  const GpGrid     grid   = KMeansTallyGrid(A, &shape, KMEANS_FIXED_BLOCK, (A->n + points - 1) / points, fits ? units : 2 * units); /* with sums in shared memory a multiprocessor executes one block, otherwise two */

  if (!fits) return GpLaunch(A->dev, "adding points to the tally", KMeansFixedKernel<Value, false>, grid, *A, shape);

  /* The number of copies is reduced until there are at most as many sums as values that a block adds. Clearing the sums then takes less time than adding the values. */
  const int64_t values = A->n / (int64_t)grid.blocks.x * (shape.features + 1);

  while (shape.shift && KMeansTallySums(&shape) > values) shape.shift--;
  return KMeansTallyLaunch(A, "adding points to the tally", KMeansFixedKernel<Value, true>, grid, shape);
}

extern "C" GpErr KMeansUpdate_fixed_CUDA(const KMeansData *A)
{
  if (!A->n) return GP_SUCCESS;
  if (!A->row) return A->single ? KMeansFixedDense<float>(A) : KMeansFixedDense<double>(A);

  const GpGrid grid{GpBlocks((int64_t)A->n * KMEANS_FIXED_LANES, KMEANS_FIXED_BLOCK), KMEANS_FIXED_BLOCK};

  return A->single ? GpLaunch(A->dev, "adding sparse points to the tally", KMeansFixedSparseKernel<float>, grid, *A) : GpLaunch(A->dev, "adding sparse points to the tally", KMeansFixedSparseKernel<double>, grid, *A);
}
