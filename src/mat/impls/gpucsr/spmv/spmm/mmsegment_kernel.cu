/* SpMM by rows for any row lengths. Columns are packed by rows, so that a nonzero reads 128 consecutive bytes of 16 columns. Each lane computes two columns. A group of lanes
   takes the rows and segments at GP_SEGMENT_MANY consecutive positions (gpsegment.h). It adds the nonzeros of each row or segment in order. */
#include "mat/impls/gpucsr/spmv/spmm/gpmmsegment.h"
#include "mat/impls/gpucsr/spmv/csr/gpplace.h"

static constexpr int      BLOCK = 256, WARP = 32, EACH = 8;
static constexpr int      PARTS = 4; /* the segments of a row are added in four parts, whatever the number of columns */
static constexpr unsigned ALL   = 0xffffffffu;

struct Sum2 {
  double a, b; /* of the two columns of a lane */
};

/* Adds nonzeros k to end - 1 in order. The loads of EACH nonzeros are in flight together, also at the end. */
template <int WIDTH>
__device__ static Sum2 SumNonzeros(const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double2 *__restrict__ x, int32_t k, int32_t end)
{
  Sum2 sum = {0, 0};

  for (; k < end; k += EACH) {
    double2 xk[EACH];
    double  v[EACH];

#pragma unroll
    for (int u = 0; u < EACH; u++) {
      const int32_t at = min(k + u, end - 1);

      v[u]  = (double)val[at];
      xk[u] = __ldg(x + (size_t)col[at] * (WIDTH / 2));
    }
#pragma unroll
    for (int u = 0; u < EACH; u++) {
      if (k + u >= end) break;
      sum.a += v[u] * xk[u].x;
      sum.b += v[u] * xk[u].y;
    }
  }
  return sum;
}

/* Stores a row of y. C.k and the columns of y limit the panel, whose last columns may be padding. */
__device__ static void PutRow(const GpColumns &C, int c, int32_t i, Sum2 sum)
{
#pragma unroll
  for (int j = 0; j < 2; j++) {
    const double s = j ? sum.b : sum.a;

    if (c + j >= C.k) return;
    double *y = C.y[c + j] + i * C.incy;
    *y        = C.add ? *y + s : s;
  }
}

template <int WIDTH>
__global__ static void __launch_bounds__(BLOCK)
  MmSegment(int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double2 *__restrict__ packed, const __grid_constant__ GpColumns C, int panel, double2 *sums)
{
  constexpr int   LANES = WIDTH / 2;
  const int64_t   group = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES, position = group * GP_SEGMENT_MANY, warp = (group - threadIdx.x % WARP / LANES) * GP_SEGMENT_MANY;
  const int       lane = threadIdx.x % LANES, c = panel + 2 * lane;
  const int32_t   lo = GpRowAtWarp(rowptr, m, warp), hi = GpRowAtWarp(rowptr, m, warp + (WARP / LANES - 1) * GP_SEGMENT_MANY); /* rows at which the first and the last group of the warp begin */
  int32_t         i = GpRowAt(rowptr, lo, hi, position);
  const GpSegment S = GpSegmentAt<GP_SEGMENT_MANY>(rowptr, i, position);

  packed += lane;
  sums += lane;
  if (S.begin < S.end) {
    const Sum2 sum = SumNonzeros<WIDTH>(col, val, packed, S.begin, S.end);

    sums[(size_t)(S.begin / GP_SEGMENT_MANY) * LANES] = make_double2(sum.a, sum.b);
  }
  for (int32_t begin = i < m ? rowptr[i] : 0, stop; i < m && (int64_t)begin + i < position + GP_SEGMENT_MANY; begin = stop, i++) {
    stop              = rowptr[i + 1];
    const int32_t end = GpFirstSegmentEnd<GP_SEGMENT_MANY>(begin, stop);
    const Sum2    sum = SumNonzeros<WIDTH>(col, val, packed, begin, end);

    if (end == stop) PutRow(C, c, i, sum);
    else sums[(size_t)(begin / GP_SEGMENT_MANY) * LANES] = make_double2(sum.a, sum.b);
  }
}

/* Adds the sums of segments. A warp reads the lengths of 32 rows, then adds the segments of the long ones. PARTS groups of lanes take every PARTS-th segment. */
template <int WIDTH>
__global__ static void __launch_bounds__(BLOCK) AddSegments(int32_t m, const int32_t *__restrict__ rowptr, const __grid_constant__ GpColumns C, int panel, const double2 *__restrict__ sums)
{
  constexpr int LANES = WIDTH / 2;
  const int32_t i = (int32_t)((int64_t)blockIdx.x * BLOCK + threadIdx.x), lane = threadIdx.x % LANES, part = threadIdx.x % WARP / LANES;
  const int32_t begin = i < m ? rowptr[i] : 0, n = i < m ? (rowptr[i + 1] - begin) / GP_SEGMENT_MANY : 0;

  for (unsigned left = __ballot_sync(ALL, n > 1); left; left &= left - 1) {
    const int     who   = __ffs(left) - 1;
    const int32_t first = __shfl_sync(ALL, begin, who) / GP_SEGMENT_MANY, end = first + __shfl_sync(ALL, n, who), row = __shfl_sync(ALL, i, who);
    Sum2          sum = {0, 0};

    if (part < PARTS) {
#pragma unroll 4
      for (int32_t s = first + part; s < end; s += PARTS) {
        const double2 segment = sums[(size_t)s * LANES + lane];

        sum.a += segment.x;
        sum.b += segment.y;
      }
    }
#pragma unroll
    for (int half = PARTS / 2; half > 0; half /= 2) {
      sum.a += __shfl_down_sync(ALL, sum.a, half * LANES, PARTS * LANES);
      sum.b += __shfl_down_sync(ALL, sum.b, half * LANES, PARTS * LANES);
    }
    if (part == 0) PutRow(C, panel + 2 * lane, row, sum);
  }
}

/* Packs and multiplies the panels of WIDTH columns that begin at column `first`. work: packed columns; sums: sums of segments, which all panels use in turn. */
template <int WIDTH>
static GpErr Panels(const GpFmt *A, const GpColumns &C, int first, int panels, double *work, double *sums)
{
  const GpCsr        *R      = A->csr;
  const GpCsrSegment *G      = (const GpCsrSegment *)A->data;
  const unsigned      groups = GpBlocks((int64_t)R->nnz + R->m, GP_SEGMENT_MANY);
  GpErr               err    = GP_SUCCESS;

  if (R->n && !G->packed) err = GpLaunch(R->dev, "mmsegment", GpPackColumns<WIDTH>, GpGrid{dim3(GpBlocks(R->n, GP_PACK_ROWS), (unsigned)panels), GP_PACK_BLOCK}, R->n, C, first, work);
  for (int p = 0; !err && p < panels; p++) {
    const double2 *packed = (const double2 *)(work + (size_t)p * (size_t)R->n * WIDTH);

    err = GpLaunch(R->dev, "mmsegment", MmSegment<WIDTH>, GpGrid{GpBlocks((int64_t)groups * (WIDTH / 2), BLOCK), BLOCK}, R->m, R->rowptr, R->col, (const GpScalar *)R->val, packed, C, first + p * WIDTH, (double2 *)sums);
    if (!err && G->longest >= 2 * GP_SEGMENT_MANY) err = GpLaunch(R->dev, "mmsegment", AddSegments<WIDTH>, GpGrid{GpBlocks(R->m, BLOCK), BLOCK}, R->m, R->rowptr, C, first + p * WIDTH, (const double2 *)sums);
  }
  return err;
}

GP_SPMM(mmsegment16)(const GpFmt *A, const GpColumns *C)
{
  const GpCsr  *R    = A->csr;
  GpCsrSegment *G    = (GpCsrSegment *)A->data;
  const int     rest = C->k % GP_SEGMENT_WIDE, at = C->k - rest;
  double       *work, *sums;
  GpErr         err;

  if (!R->m || !C->k) return GP_SUCCESS;
  err  = GpCsrSegmentReserve(R->dev, G, GpCsrSegmentSizeMany(G, R->nnz, R->n, C->k));
  work = G->work;
  sums = work + (size_t)R->n * GpPackedColumns(C->k, GP_SEGMENT_WIDE);
  if (!err && at) err = Panels<16>(A, *C, 0, at / 16, work, sums);
  work += (size_t)R->n * (size_t)at;
  if (!err && rest > 8) err = Panels<16>(A, *C, at, 1, work, sums);
  else if (!err && rest > 4) err = Panels<8>(A, *C, at, 1, work, sums);
  else if (!err && rest > 2) err = Panels<4>(A, *C, at, 1, work, sums);
  else if (!err && rest) err = Panels<2>(A, *C, at, 1, work, sums);
  G->packed = !err && G->keep;
  return err;
}
