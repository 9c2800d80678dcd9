/* SpMV along the merge path. A block takes GP_MERGE steps of the path, a thread an equal share of them; a step is a nonzero or the end of a row. Thus
   rows of any length, also empty ones, are distributed evenly. A segmented scan adds the parts of a row in several threads, a second kernel those in
   several blocks. After D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector multiplication", SC16. */
#include "mat/impls/gpucsr/spmv/common/gpload.h"
#include "mat/impls/gpucsr/spmv/tile/gpspans.h"

#if !defined(__CUDACC__)
GP_SPMV(csrmerge)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return MultTiles(A, x, z, y);
}

#else
static constexpr int      EACH = GP_MERGE / BLOCK;
static constexpr unsigned ALL  = 0xffffffffu;

/* The position of product k of a tile in shared memory. One position of padding after every EACH products reduces bank conflicts, because each thread
   reads about EACH consecutive products. */
__device__ static int Place(int k)
{
  return k + k / EACH;
}

/* Segment 0 of a tile is the part before its first row start. Segment s > 0 is the part of row first+s-1 that lies in the tile. */
struct Segments {
  const double *z;
  double       *y, *head, *tail;
  int32_t       first, n;
  bool          open; /* whether the last row continues in the next tile */

  __device__ void Put(int32_t s, double sum) const
  {
    const int32_t i = first + s - 1;

    if (!s) *head = sum;
    else if (open && s == n - 1) *tail = sum;
    else y[i] = z ? z[i] + sum : sum;
  }
};

/* Returns what the preceding threads hold of the segment in which this thread begins (a segmented scan over the block). sum: the products after the
   last segment that this thread ended, or all its products; ended: whether it ended any segment. */
__device__ static double CarryIn(double sum, int ended)
{
  __shared__ double warpsum[WARPS];
  __shared__ int    warpended[WARPS];
  const int         lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  double            carry = 0;

  #pragma unroll
  for (int off = 1; off < WARP; off *= 2) {
    const double other  = __shfl_up_sync(ALL, sum, off);
    const int    others = __shfl_up_sync(ALL, ended, off);

    if (lane >= off && !ended) {
      sum += other;
      ended = others;
    }
  }
  if (lane == WARP - 1) {
    warpsum[warp]   = sum;
    warpended[warp] = ended;
  }
  const double before = __shfl_up_sync(ALL, sum, 1);
  const int    closed = __shfl_up_sync(ALL, ended, 1);
  __syncthreads();
  for (int w = 0; w < warp; w++) carry = warpended[w] ? warpsum[w] : carry + warpsum[w];
  return !lane ? carry : closed ? before : carry + before;
}

/* one thread's share of the merge path of segment ends and products */
__device__ static void Walk(const Segments &S, const int32_t *end, const double *products, int length)
{
  const int steps = S.n + length, share = (steps + BLOCK - 1) / BLOCK;
  const int from = min((int)threadIdx.x * share, steps), upto = min(from + share, steps);
  int       lo = max(0, from - length), hi = min(from, (int)S.n);

  while (lo < hi) { /* binary search: counts the segments that end before the share */
    const int mid = (lo + hi) / 2;

    if (end[mid] < from - mid) lo = mid + 1;
    else hi = mid;
  }
  const int begun = lo;
  int       s = lo, k = from - lo;
  double    sum = 0, reach = 0;
  for (int step = from; step < upto; step++) {
    if (s < S.n && end[s] <= k) {
      if (s == begun) reach = sum;
      else S.Put(s, sum);
      sum = 0;
      s++;
    } else sum += products[Place(k++)];
  }
  const double carry = CarryIn(sum, s > begun);
  if (s > begun) S.Put(begun, carry + reach);
}

__global__ static void __launch_bounds__(BLOCK) CsrMerge(GpCsrTile T, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ double  products[GP_MERGE + BLOCK];
  __shared__ int32_t end[GP_MERGE + 2];
  const int32_t      t = blockIdx.x, start = T.start[t], length = T.start[t + 1] - start, first = T.row[t], rows = T.row[t + 1] - first;

  GpNextMayStart();
  for (int32_t s = threadIdx.x; s <= rows; s += BLOCK) end[s] = min(rowptr[first + s] - start, length);
  if (length > 0) {
    int32_t  c[EACH];
    GpScalar v[EACH];
    double   e[EACH];

  #pragma unroll
    for (int u = 0; u < EACH; u++) {
      const int k = min(u * BLOCK + (int)threadIdx.x, length - 1);

      c[u] = GpStream(col + start + k);
      v[u] = GpStream(val + start + k);
    }
  #pragma unroll
    for (int u = 0; u < EACH; u++) e[u] = GpGather(x + c[u]);
  #pragma unroll
    for (int u = 0; u < EACH; u++) {
      const int k = u * BLOCK + (int)threadIdx.x;

      if (k < length) products[Place(k)] = (double)v[u] * e[u];
    }
  }
  __syncthreads();
  Walk(Segments{z, y, T.head + t, T.tail + t, first, rows + 1, rowptr[first + rows] - start > length}, end, products, length);
}

GP_SPMV(csrmerge)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpCsrTile *T      = (const GpCsrTile *)A->data;
  cudaStream_t     stream = (cudaStream_t)C->dev->stream;

  if (!C->m) return GP_SUCCESS;
  CsrMerge<<<T->ntiles, BLOCK, 0, stream>>>(*T, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
  FinishSpans(C->dev, T, z, y);
  return GpDevCheckLaunch(C->dev, "csrmerge");
}
#endif
