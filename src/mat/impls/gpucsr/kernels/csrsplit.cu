/* SpMV with the nonzeros shared evenly, whatever the rows: a block takes a tile of GP_TILE nonzeros; rows that cross a
   tile's end leave partial sums, which a second kernel adds in the order of the tiles.  No atomics: deterministic.
   The second step is that of D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector multiplication", SC16. */
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
static double Sum(const GpCsr *C, const double *x, int32_t from, int32_t to)
{
  const GpScalar *val = (const GpScalar *)C->val;
  double          sum = 0;

  for (int32_t k = from; k < to; k++) sum += (double)val[k] * x[C->col[k]];
  return sum;
}

GP_SPMV(csrsplit)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpCsrTile *T      = (const GpCsrTile *)A->data;
  const int32_t   *rowptr = C->rowptr;

  for (int32_t t = 0; t < T->ntiles; t++) {
    const int64_t stop  = ((int64_t)t + 1) * GP_TILE;
    const int32_t start = t * GP_TILE, end = stop < C->nnz ? (int32_t)stop : C->nnz;
    const int32_t first = rowptr[T->tilerow[t]];

    T->head[t] = Sum(C, x, start, first < end ? first : end);
    for (int32_t i = T->tilerow[t]; i < T->tilerow[t + 1]; i++) {
      if (rowptr[i + 1] <= end) {
        double sum = Sum(C, x, rowptr[i], rowptr[i + 1]);

        y[i] = z ? z[i] + sum : sum;
      } else T->tail[t] = Sum(C, x, rowptr[i], end);
    }
  }
  for (int32_t s = 0; s < T->nspans; s++) {
    const int32_t i   = T->spanrow[s];
    double        sum = T->tail[T->spanend[2 * s]];

    for (int32_t t = T->spanend[2 * s] + 1; t <= T->spanend[2 * s + 1]; t++) sum += T->head[t];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, EACH = GP_TILE / BLOCK;
static constexpr int LONG = 16; /* turns that a group of lanes spends on a segment before a whole warp takes it */

/* the sum of the lanes of each group of width neighbours, in every group's first lane */
__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, width);
  return sum;
}

/* a tile that lies inside one row */
__device__ static void SumTile(const double (&product)[EACH], double *head)
{
  __shared__ double warpsum[WARPS];
  double            sum = 0;

  #pragma unroll
  for (int e = 0; e < EACH; e++) sum += product[e];
  sum = GroupSum(sum, WARP);
  if (threadIdx.x % WARP == 0) warpsum[threadIdx.x / WARP] = sum;
  __syncthreads();
  if (threadIdx.x < WARP) sum = GroupSum(threadIdx.x < WARPS ? warpsum[threadIdx.x] : 0.0, WARP);
  if (threadIdx.x == 0) *head = sum;
}

/* Segment 0 of a tile is what comes before its first row start, segment s > 0 is row first+s-1 as far as the tile holds it.
   The kernel finishes a row that ends in the tile and leaves the others' partial sums. */
struct Segments {
  const int32_t *rowptr;
  const double  *z;
  double        *y, *head, *tail;
  int32_t        first, start, end;

  __device__ int32_t From(int32_t s) const { return s ? rowptr[first + s - 1] - start : 0; }
  __device__ int32_t To(int32_t s) const { return min(rowptr[first + s], end) - start; }
  __device__ void    Put(int32_t s, double sum) const
  {
    const int32_t i = first + s - 1;

    if (!s) *head = sum;
    else if (rowptr[i + 1] <= end) y[i] = z ? z[i] + sum : sum;
    else *tail = sum;
  }
};

__device__ static void SumSegments(const Segments &S, int32_t nsegs, const double *products)
{
  int width = 1;

  while (width < WARP && width * nsegs < BLOCK) width *= 2;
  for (int32_t base = 0; base < nsegs; base += BLOCK / width) { /* a group of width lanes a segment */
    const int32_t s    = base + threadIdx.x / width, lane = threadIdx.x % width;
    const bool    mine = s < nsegs && (width == WARP || S.To(s) - S.From(s) <= LONG * width);
    double        sum  = 0;

    if (mine)
      for (int32_t k = S.From(s) + lane; k < S.To(s); k += width) sum += products[k];
    sum = GroupSum(sum, width);
    if (mine && lane == 0) S.Put(s, sum);
  }
  if (width == WARP) return;
  for (int32_t base = threadIdx.x / WARP * WARP; base < nsegs; base += BLOCK) { /* the long ones: a warp each */
    const int32_t s    = base + threadIdx.x % WARP;
    unsigned      left = __ballot_sync(0xffffffffu, s < nsegs && S.To(s) - S.From(s) > LONG * width);

    for (; left; left &= left - 1) {
      const int32_t one = base + __ffs(left) - 1;
      double        sum = 0;

      for (int32_t k = S.From(one) + threadIdx.x % WARP; k < S.To(one); k += WARP) sum += products[k];
      sum = GroupSum(sum, WARP);
      if (threadIdx.x % WARP == 0) S.Put(one, sum);
    }
  }
}

__global__ static void __launch_bounds__(BLOCK) CsrSplit(GpCsrTile T, int32_t nnz, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ double products[GP_TILE];
  const int32_t     t = blockIdx.x, first = T.tilerow[t], nsegs = T.tilerow[t + 1] - first + 1;
  const int64_t     start = (int64_t)t * GP_TILE, end = min(start + GP_TILE, (int64_t)nnz);
  double            product[EACH];

  #pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int64_t k = start + e * BLOCK + threadIdx.x;

    product[e] = k < end ? (double)val[k] * __ldg(x + col[k]) : 0.0;
  }
  if (nsegs == 1) {
    SumTile(product, T.head + t);
    return;
  }
  #pragma unroll
  for (int e = 0; e < EACH; e++) products[e * BLOCK + threadIdx.x] = product[e];
  __syncthreads();
  SumSegments(Segments{rowptr, z, y, T.head + t, T.tail + t, first, (int32_t)start, (int32_t)end}, nsegs, products);
}

/* a warp a span: the tail of its first tile, then the heads of the others */
__global__ static void FinishSpans(GpCsrTile T, const double *z, double *y)
{
  const int32_t s = (int32_t)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / WARP), lane = threadIdx.x % WARP;

  if (s >= T.nspans) return;
  const int32_t i = T.spanrow[s], from = T.spanend[2 * s], to = T.spanend[2 * s + 1];
  double        sum = lane ? 0.0 : T.tail[from];
  for (int32_t t = from + 1 + lane; t <= to; t += WARP) sum += T.head[t];
  sum = GroupSum(sum, WARP);
  if (lane == 0) y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(csrsplit)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpCsrTile *T      = (const GpCsrTile *)A->data;
  cudaStream_t     stream = (cudaStream_t)C->dev->stream;

  if (!C->m) return GP_SUCCESS;
  CsrSplit<<<T->ntiles, BLOCK, 0, stream>>>(*T, C->nnz, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
  if (T->nspans) FinishSpans<<<(unsigned)(((int64_t)T->nspans * WARP + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(*T, z, y);
  return GpDevCheckLaunch(C->dev, "csrsplit");
}
#endif
