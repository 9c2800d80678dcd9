/* SpMV by rows for uneven row lengths. A block first computes the products of its nonzeros with coalesced loads, regardless of row boundaries, and then adds them by rows. Long rows
   are cut into segments (gpsegment.h), so that many blocks share a row. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/csr/gpplace.h"
#include "device/gplaunch.h"

static constexpr int      BLOCK = 256, WARP = 32, LANES = 4, EACH = GP_SEGMENT / BLOCK;
static constexpr int      LONG = 16 * LANES;     /* nonzeros that LANES lanes add; a warp adds longer rows and segments */
static constexpr int      MOST = 3 * GP_SEGMENT; /* the last row or segment begins less than GP_SEGMENT after the first, and has less than 2 GP_SEGMENT nonzeros */
static constexpr unsigned ALL  = 0xffffffffu;

/* Returns the sum of products[0], ..., products[n - 1] in the first of WIDTH adjacent lanes. Lanes with n = 0 take part. */
template <int WIDTH>
__device__ static double SumProducts(const double *products, int n)
{
  double sum = 0;

#pragma unroll 4
  for (int k = threadIdx.x % WIDTH; k < n; k += WIDTH) sum += products[k];
#pragma unroll
  for (int half = WIDTH / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half, WIDTH);
  return sum;
}

/* Stores the sum of a segment, or of a row that is its only segment. */
__device__ static void Put(int32_t row, int32_t begin, bool whole, double sum, const double *z, double *y, double *sums)
{
  if (whole) y[row] = z ? z[row] + sum : sum;
  else sums[begin / GP_SEGMENT] = sum;
}

/* Adds the products of rows first to last - 1, or of their first segments. products[0] is that of nonzero `start`. */
__device__ static void SumRows(const int32_t *__restrict__ rowptr, int32_t first, int32_t last, int32_t start, const double *products, const double *z, double *y, double *sums)
{
  for (int32_t base = first; base < last; base += BLOCK / LANES) {
    const int32_t i     = base + threadIdx.x / LANES;
    const int32_t begin = i < last ? rowptr[i] : start, stop = i < last ? rowptr[i + 1] : start, end = GpFirstSegmentEnd<GP_SEGMENT>(begin, stop);
    const bool    few = end - begin <= LONG, mine = i < last && threadIdx.x % LANES == 0;
    double        sum = SumProducts<LANES>(products + (begin - start), few ? end - begin : 0);

    for (unsigned left = __ballot_sync(ALL, !few && mine); left; left &= left - 1) { /* the whole warp adds the products of one row after the other */
      const int     who  = __ffs(left) - 1;
      const int32_t from = __shfl_sync(ALL, begin, who), n = __shfl_sync(ALL, end, who) - from;
      const double  all = __shfl_sync(ALL, SumProducts<WARP>(products + (from - start), n), 0);

      if (threadIdx.x % WARP == who) sum = all;
    }
    if (mine) Put(i, begin, end == stop, sum, z, y, sums);
  }
}

__global__ static void __launch_bounds__(BLOCK) CsrSegment(int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y, double *sums)
{
  __shared__ double  products[MOST];
  __shared__ int32_t row[2];
  const int64_t      position = (int64_t)blockIdx.x * GP_SEGMENT;
  const int          warp     = threadIdx.x / WARP;

  GpNextMayStart();
  if (warp < 2) {
    const int32_t i = GpRowAtWarp(rowptr, m, position + warp * GP_SEGMENT);

    if (threadIdx.x % WARP == 0) row[warp] = i;
  }
  __syncthreads();
  const int32_t   first = row[0], last = row[1];
  const GpSegment S     = GpSegmentAt<GP_SEGMENT>(rowptr, first, position); /* of the row that began in an earlier block */
  const int32_t   start = S.begin, end = first < last ? GpFirstSegmentEnd<GP_SEGMENT>(rowptr[last - 1], rowptr[last]) : S.end;

  for (int32_t k = start + threadIdx.x; k < end; k += EACH * BLOCK) { /* the loads of EACH nonzeros are in flight together, also at the end */
    double p[EACH];

#pragma unroll
    for (int u = 0; u < EACH; u++) {
      const int32_t at = min(k + u * BLOCK, end - 1);

      p[u] = (double)val[at] * __ldg(x + col[at]);
    }
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (k + u * BLOCK < end) products[k + u * BLOCK - start] = p[u];
  }
  __syncthreads();
  if (warp == BLOCK / WARP - 1 && S.begin < S.end) {
    const double sum = SumProducts<WARP>(products, S.end - S.begin);

    if (threadIdx.x % WARP == 0) Put(S.row, S.begin, false, sum, z, y, sums);
  }
  SumRows(rowptr, first, last, start, products, z, y, sums);
}

/* Adds the sums of segments. A warp reads the lengths of 32 rows, then adds the segments of the long ones. */
__global__ static void AddSegments(int32_t m, const int32_t *__restrict__ rowptr, const double *z, double *y, const double *sums)
{
  const int32_t i = (int32_t)((int64_t)blockIdx.x * BLOCK + threadIdx.x), lane = threadIdx.x % WARP;
  const int32_t begin = i < m ? rowptr[i] : 0, n = i < m ? (rowptr[i + 1] - begin) / GP_SEGMENT : 0;
  double        sum = 0;

  GpNextMayStart();
  GpWait();
  for (unsigned left = __ballot_sync(ALL, n > 1); left; left &= left - 1) {
    const int     who   = __ffs(left) - 1;
    const int32_t first = __shfl_sync(ALL, begin, who) / GP_SEGMENT;
    const double  all   = __shfl_sync(ALL, SumProducts<WARP>(sums + first, __shfl_sync(ALL, n, who)), 0);

    if (lane == who) sum = all;
  }
  if (n > 1) y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(csrsegment)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr  *C   = A->csr;
  GpCsrSegment *G   = (GpCsrSegment *)A->data;
  GpErr         err = GpCsrSegmentReserve(C->dev, G, GpCsrSegmentSize(G, C->nnz));

  if (err || !C->m) return err;
  G->packed = 0;
  err       = GpLaunch(C->dev, "csrsegment", CsrSegment, GpGrid{GpBlocks((int64_t)C->nnz + C->m, GP_SEGMENT), BLOCK}, C->m, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y, G->work);
  if (err || G->longest < 2 * GP_SEGMENT) return err;
  return GpLaunchEarly(C->dev, "csrsegment", AddSegments, GpGrid{GpBlocks(C->m, BLOCK), BLOCK}, C->m, C->rowptr, z, y, (const double *)G->work);
}
