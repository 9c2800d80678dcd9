/* SpMV with nonzeros distributed evenly, whatever the rows: a block takes a tile of GP_TILE nonzeros. A second kernel adds the partial sums of rows
   that cross tiles. */
#include "mat/impls/gpucsr/spmv/tile/gpspans.h"

static constexpr int EACH = GP_TILE / BLOCK;
static constexpr int LONG = 16; /* products per lane that a group of lanes adds of one segment; a whole warp adds longer segments */

/* the sum of a tile that lies inside one row */
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

/* Segment 0 of a tile is the part before its first row start. Segment s > 0 is the part of row first+s-1 that lies in the tile. Segment s has the
   products [from[s], from[s+1]). Rows that end in the tile are finished; the others leave partial sums. */
struct Segments {
  const int32_t *from;
  const double  *z;
  double        *y, *head, *tail;
  int32_t        first, n;
  bool           open; /* whether the last row continues in the next tile */

  __device__ int32_t Length(int32_t s) const { return from[s + 1] - from[s]; }
  __device__ void    Put(int32_t s, double sum) const
  {
    const int32_t i = first + s - 1;

    if (!s) *head = sum;
    else if (open && s == n - 1) *tail = sum;
    else y[i] = z ? z[i] + sum : sum;
  }
};

__device__ static void SumSegments(const Segments &S, const double *products)
{
  int width = 1;

  while (width < WARP && width * S.n < BLOCK) width *= 2;
  for (int32_t base = 0; base < S.n; base += BLOCK / width) { /* a group of `width` lanes adds one segment */
    const int32_t s = base + threadIdx.x / width, lane = threadIdx.x % width;
    const bool    mine = s < S.n && (width == WARP || S.Length(s) <= LONG * width);
    double        sum  = 0;

    if (mine)
      for (int32_t k = S.from[s] + lane; k < S.from[s + 1]; k += width) sum += products[k];
    sum = GroupSum(sum, width);
    if (mine && lane == 0) S.Put(s, sum);
  }
  if (width == WARP) return;
  for (int32_t base = threadIdx.x / WARP * WARP; base < S.n; base += BLOCK) { /* a whole warp adds each long segment */
    const int32_t s    = base + threadIdx.x % WARP;
    unsigned      left = __ballot_sync(0xffffffffu, s < S.n && S.Length(s) > LONG * width);

    for (; left; left &= left - 1) {
      const int32_t one = base + __ffs(left) - 1;
      double        sum = 0;

      for (int32_t k = S.from[one] + threadIdx.x % WARP; k < S.from[one + 1]; k += WARP) sum += products[k];
      sum = GroupSum(sum, WARP);
      if (threadIdx.x % WARP == 0) S.Put(one, sum);
    }
  }
}

__global__ static void __launch_bounds__(BLOCK) CsrSplit(GpCsrTile T, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ double  products[GP_TILE];
  __shared__ int32_t from[GP_TILE_ROWS + 2];
  const int32_t      t = blockIdx.x, start = T.start[t], length = T.start[t + 1] - start, first = T.row[t], rows = T.row[t + 1] - first;
  double             product[EACH];

  GpNextMayStart();
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int32_t k = e * BLOCK + threadIdx.x;

    product[e] = k < length ? (double)val[start + k] * __ldg(x + col[start + k]) : 0.0;
  }
  if (rows == 0) {
    SumTile(product, T.head + t);
    return;
  }
  for (int32_t r = threadIdx.x; r < rows; r += BLOCK) from[r + 1] = rowptr[first + r] - start;
  if (threadIdx.x == 0) {
    from[0]        = 0;
    from[rows + 1] = length;
  }
#pragma unroll
  for (int e = 0; e < EACH; e++) products[e * BLOCK + threadIdx.x] = product[e];
  __syncthreads();
  SumSegments(Segments{from, z, y, T.head + t, T.tail + t, first, rows + 1, rowptr[first + rows] - start > length}, products);
}

GP_SPMV(csrsplit)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C = A->csr;
  const GpCsrTile *T = (const GpCsrTile *)A->data;
  GpErr            err;

  if (!C->m) return GP_SUCCESS;
  err = GpLaunch(C->dev, "csrsplit", CsrSplit, GpGrid{T->ntiles, BLOCK}, *T, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
  return err ? err : FinishSpans(C->dev, "csrsplit", T, z, y);
}
