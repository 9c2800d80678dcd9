/* The update `changed` on a GPU. It continues with the sums of the previous pass: a point whose label changed moves from the sums of its old cluster to those of its new one.

   - The first pass adds all points by `fixed` or `sort`, whichever is faster (KMeansFixedIsFastest()).
   - A block lists the dense points of a tile that move. Its threads divide the values of these points as in fixed_cuda.cu. The differences of the sums are
     in shared memory, in slabs of features, if they fit. Otherwise the values are added to the tally by global atomics.
   - Sparse points are moved by global atomics. */
#include "kmeanstally.cuh"

enum {
  KMEANS_CHANGED_BLOCK  = 1024, /* number of threads of a block */
  KMEANS_CHANGED_TILE   = 8192, /* number of points of a tile. The number of a point within a tile fits 16 bits */
  KMEANS_CHANGED_POINTS = 2,    /* number of points whose values a thread loads at once */
  KMEANS_CHANGED_LANES  = 16    /* number of threads of a sparse point */
};

/* Lists the points of the tile from point `first` on that must move, as their label is not the cluster whose sums contain them. All threads of the block call it. Returns the
   number of listed points. */
__device__ static inline int32_t KMeansChangedList(const KMeansData *A, int64_t first, uint16_t *list, int32_t *many)
{
  const int lane = threadIdx.x % 32;

  __syncthreads(); /* threads may still read the previous list */
  if (!threadIdx.x) *many = 0;
  __syncthreads();
  for (int32_t t = threadIdx.x; t < KMEANS_CHANGED_TILE; t += KMEANS_CHANGED_BLOCK) {
    const int64_t  i     = first + t;
    const bool     moves = i < A->n && A->label[i] != A->summed[i];
    const unsigned all   = __ballot_sync(0xffffffffu, moves);
    int32_t        at    = 0;

    if (!lane && all) at = atomicAdd(many, __popc(all));
    at = __shfl_sync(0xffffffffu, at, 0);
    if (moves) list[at + __popc(all & ((1u << lane) - 1))] = (uint16_t)t;
  }
  __syncthreads();
  return *many;
}

/* Moves the dense points. A thread has one column. The integers of -v are the negative
   integers of v, because ties are rounded to even. A subtraction therefore removes exactly what was added. */
template <class Value, bool SHARED>
__global__ __launch_bounds__(KMEANS_CHANGED_BLOCK) static void KMeansChangedKernel(const KMeansData A, KMeansTallyShape shape)
{
  extern __shared__ uint32_t shared[];
  __shared__ uint16_t        list[KMEANS_CHANGED_TILE];
  __shared__ int32_t         number;
  constexpr int              MANY = 2 * KMEANS_CHANGED_POINTS; /* each point is added to one cluster and subtracted from another */
  KMeansBlockTally           T;

  KMeansTallySlab<SHARED>(&A, &shape, &T, shared);

  const KMeansTallyColumn C = KMeansTallyThread(&A, &shape, KMEANS_CHANGED_BLOCK);

  for (int64_t first = (int64_t)blockIdx.x * KMEANS_CHANGED_TILE; first < A.n; first += (int64_t)gridDim.x * KMEANS_CHANGED_TILE) {
    const int32_t moved = KMeansChangedList(&A, first, list, &number);

    for (int32_t r = C.row; C.row < C.rows && r < moved; r += C.rows * KMEANS_CHANGED_POINTS) {
      int64_t     i[MANY];
      int32_t     c[MANY], plane[MANY];
      double      v[MANY];
      KMeansFixed scales[MANY];

#pragma unroll
      for (int u = 0; u < MANY; u++) {
        const int32_t at = r + (u / 2) * C.rows;

        i[u]      = first + list[at < moved ? at : r];
        c[u]      = at >= moved ? -1 : u % 2 ? A.summed[i[u]] : A.label[i[u]];
        plane[u]  = C.plane;
        v[u]      = (C.j < 0 ? 1.0 : (double)((const Value *)A.value)[i[u] * A.d + C.j]) * KMeansWeight(&A, i[u]) * (u % 2 ? -1 : 1);
        scales[u] = C.scale;
      }
      if (SHARED) KMeansTallyAddValues(&T, i, c, plane, v, scales);
      else {
#pragma unroll
        for (int u = 0; u < MANY; u++) KMeansTallyAddGlobal(&A, c[u], C.j, &C.scale, v[u]);
      }
    }
  }
  if (SHARED) KMeansTallyFlush(&A, &T);
}

/* Moves the sparse points and sets A.summed. KMEANS_CHANGED_LANES threads share a point. */
template <class Value>
__global__ __launch_bounds__(KMEANS_CHANGED_BLOCK) static void KMeansChangedSparseKernel(const KMeansData A)
{
  const int64_t i    = ((int64_t)blockIdx.x * KMEANS_CHANGED_BLOCK + threadIdx.x) / KMEANS_CHANGED_LANES;
  const int     lane = threadIdx.x % KMEANS_CHANGED_LANES;

  if (i >= A.n || A.label[i] == A.summed[i]) return;

  const int32_t from = A.summed[i], to = A.label[i];
  const double  weight = KMeansWeight(&A, i);

  __syncwarp(((1u << KMEANS_CHANGED_LANES) - 1) << threadIdx.x % 32 / KMEANS_CHANGED_LANES * KMEANS_CHANGED_LANES); /* all lanes of the point have read its old cluster */
  if (!lane) {
    A.summed[i] = to;
    KMeansTallyAddGlobal(&A, to, -1, &A.mass, weight);
    KMeansTallyAddGlobal(&A, from, -1, &A.mass, -weight);
  }
  for (int32_t e = A.row[i] + lane; e < A.row[i + 1]; e += KMEANS_CHANGED_LANES) {
    const int32_t j = A.col[e];
    const double  v = weight * (double)((const Value *)A.value)[e];

    KMeansTallyAddGlobal(&A, to, j, &A.feature[j], v);
    KMeansTallyAddGlobal(&A, from, j, &A.feature[j], -v);
  }
}

template <class Value>
static GpErr KMeansChangedDense(const KMeansData *A)
{
  const size_t     list = KMEANS_CHANGED_TILE * sizeof(uint16_t) + 64; /* static shared memory of the kernel */
  KMeansTallyShape shape;
  const int        fits = KMeansTallyArrange(A, KMEANS_CHANGED_BLOCK - 1, GpDevSharedBytes(A->dev) - list, &shape);
  const GpGrid     grid = KMeansTallyGrid(A, &shape, KMEANS_CHANGED_BLOCK, (A->n + KMEANS_CHANGED_TILE - 1) / KMEANS_CHANGED_TILE, GpDevComputeUnits(A->dev));

  if (!fits) return GpLaunch(A->dev, "moving points in the tally", KMeansChangedKernel<Value, false>, grid, *A, shape);
  if (shape.shift > 2) shape.shift = 2; /* at most four copies. Few points move, so that clearing more copies would take longer than they save */
  return KMeansTallyLaunch(A, "moving points in the tally", KMeansChangedKernel<Value, true>, grid, shape);
}

static GpErr KMeansChangedSparse(const KMeansData *A)
{
  const GpGrid grid{GpBlocks((int64_t)A->n * KMEANS_CHANGED_LANES, KMEANS_CHANGED_BLOCK), KMEANS_CHANGED_BLOCK};

  return A->single ? GpLaunch(A->dev, "moving sparse points in the tally", KMeansChangedSparseKernel<float>, grid, *A) : GpLaunch(A->dev, "moving sparse points in the tally", KMeansChangedSparseKernel<double>, grid, *A);
}

GP_PAIR(KMeansUpdate_fixed, const KMeansData *A);
GP_PAIR(KMeansUpdate_sort, const KMeansData *A);

extern "C" GpErr KMeansUpdate_changed_CUDA(const KMeansData *A)
{
  GpErr err;

  if (!A->n) return GP_SUCCESS;
  if (A->row && !A->unsummed) return KMeansChangedSparse(A);
  if (A->unsummed) err = KMeansFixedIsFastest(A) ? KMeansUpdate_fixed_CUDA(A) : KMeansUpdate_sort_CUDA(A);
  else err = A->single ? KMeansChangedDense<float>(A) : KMeansChangedDense<double>(A);
  return err ? err : GpDevCopyWithin(A->dev, A->summed, A->label, (size_t)A->n * sizeof(int32_t));
}
