/* SpMM with nonzeros distributed evenly, whatever the rows. Columns are first packed by rows, panel by panel, so that a nonzero reads contiguous
   memory. A block takes a tile of nonzeros (format csrpanel), its groups of lanes take equal parts of the tile, and a lane keeps two columns in
   registers. The block adds the parts of rows that cross groups, a second kernel those of rows that cross tiles, always in order: deterministic. */
#include "mat/impls/gpucsr/spmv/spmm/gppacked.h"

/* The workspace holds the packed columns, then two rows of partial sums a tile: the sum before its first row start (head), and the sum of its last
   row if that continues (tail). */
static size_t WorkSize(const GpFmt *A, int k, int width)
{
  return GpPackedColumns(k, width) * ((size_t)A->csr->n + 2 * (size_t)((const GpCsrPanel *)A->data)->tile.ntiles);
}

static constexpr int BLOCK = 256, WARP = 32, LONG = 32; /* tiles of a span that one group of WIDTH threads adds; the whole block adds longer spans */

/* Segment -1 of a tile is the part before its first row start. Segment s is the part of row first+s that lies in the tile: nonzeros [from[s],
   from[s+1]) of the tile. */
template <int WIDTH>
struct Shared {
  static constexpr int LANES = WIDTH / 2, GROUPS = BLOCK / LANES;

  int32_t  col[GP_PANEL_TILE];
  GpScalar val[GP_PANEL_TILE];
  int32_t  from[GP_PANEL_ROWS + 1];
  int32_t  entered[GROUPS];               /* the segment that began before the group's first nonzero, or NONE */
  double   head[GROUPS][WIDTH];           /* the group's part of segment `entered`; see Walk() */
  double   sum[GP_PANEL_ROWS][WIDTH + 1]; /* the part of a row in the group where it starts */
};
static constexpr int32_t NONE = -2;

/* the last segment that starts at or before nonzero k; -1 if there is none */
__device__ static int32_t SegmentOf(const int32_t *from, int32_t rows, int32_t k)
{
  int32_t lo = -1, hi = rows;

  while (hi - lo > 1) {
    const int32_t mid = (lo + hi) / 2;

    if (from[mid] <= k) lo = mid;
    else hi = mid;
  }
  return lo;
}

/* A group adds its nonzeros [k, stop) segment by segment. Its part of the segment that it entered is added to those of the following groups of the
   warp that entered the same segment. S.head of a group is thus the sum from the group to the end of its warp. */
template <int WIDTH>
__device__ static void Walk(Shared<WIDTH> &S, int32_t rows, int32_t k, int32_t stop, const double *__restrict__ x)
{
  constexpr int LANES = Shared<WIDTH>::LANES;
  const int     group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  int32_t       s       = k < stop ? SegmentOf(S.from, rows, k) : NONE;
  const int32_t entered = s == -1 || (s >= 0 && S.from[s] < k) ? s : NONE;
  bool          first   = entered != NONE;
  double2       head    = {0, 0};

  while (k < stop) {
    const int32_t end = min(stop, S.from[s + 1]);
    double2       sum = {0, 0};

#pragma unroll 4
    for (; k < end; k++) {
      const double2 xk = __ldg((const double2 *)(x + (size_t)S.col[k] * WIDTH) + lane);
      const double  a  = (double)S.val[k];

      sum.x += a * xk.x;
      sum.y += a * xk.y;
    }
    if (first) head = sum;
    else {
      S.sum[s][2 * lane]     = sum.x;
      S.sum[s][2 * lane + 1] = sum.y;
    }
    first = false;
    do s++; /* skips empty rows */
    while (s < rows && S.from[s + 1] <= k);
  }
  for (int off = LANES; off < WARP; off *= 2) {
    const double  hx = __shfl_down_sync(0xffffffffu, head.x, off), hy = __shfl_down_sync(0xffffffffu, head.y, off);
    const int32_t other = __shfl_down_sync(0xffffffffu, entered, off);

    if ((int)(threadIdx.x % WARP) + off < WARP && other == entered) {
      head.x += hx;
      head.y += hy;
    }
  }
  S.head[group][2 * lane]     = head.x;
  S.head[group][2 * lane + 1] = head.y;
  if (lane == 0) S.entered[group] = entered;
}

/* The sum of segment s over the groups g, g + 1, ... that entered it: one term per warp, in order. */
template <int WIDTH>
__device__ static double Entered(const Shared<WIDTH> &S, int g, int32_t s, int c)
{
  constexpr int EACH = WARP / Shared<WIDTH>::LANES; /* groups per warp */
  double        sum  = 0;

  for (; g < Shared<WIDTH>::GROUPS && S.entered[g] == s; g = (g / EACH + 1) * EACH) sum += S.head[g][c];
  return sum;
}

template <int WIDTH>
__global__ static void __launch_bounds__(BLOCK)
  MmSplit(GpCsrTile T, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, int32_t n, const double *__restrict__ packed, const __grid_constant__ GpColumns C, int first, double *partial)
{
  constexpr int             LANES = Shared<WIDTH>::LANES, GROUPS = Shared<WIDTH>::GROUPS;
  extern __shared__ double2 memory[];
  Shared<WIDTH>            &S = *(Shared<WIDTH> *)memory;
  const int32_t             t = blockIdx.x, start = T.start[t], length = T.start[t + 1] - start, row = T.row[t], rows = T.row[t + 1] - row;
  const int                 panel = first + blockIdx.y * WIDTH, group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  double                   *head = partial + ((size_t)blockIdx.y * 2 * T.ntiles + t) * WIDTH, *tail = head + (size_t)T.ntiles * WIDTH;

  for (int32_t k = threadIdx.x; k < length; k += BLOCK) {
    S.col[k] = col[start + k];
    S.val[k] = val[start + k];
  }
  for (int32_t r = threadIdx.x; r < rows; r += BLOCK) S.from[r] = rowptr[row + r] - start;
  for (int32_t e = threadIdx.x; e < rows * WIDTH; e += BLOCK) S.sum[e / WIDTH][e % WIDTH] = 0.0;
  if (threadIdx.x == 0) S.from[rows] = length;
  __syncthreads();
  const int32_t each = ((length + GROUPS - 1) / GROUPS) | 1; /* odd, so that groups access different banks */
  const int32_t mine = min(group * each, length);
  Walk<WIDTH>(S, rows, mine, min(mine + each, length), packed + (size_t)blockIdx.y * n * WIDTH);
  __syncthreads();
  /* The group in which a row starts adds the parts of the row in later groups. The part before the tile's first row start becomes the tile's head. */
  const int32_t ends = min(mine + each, length), last = mine < length ? SegmentOf(S.from, rows, ends - 1) : NONE;
  for (int c = 2 * lane; c < 2 * lane + 2; c++) {
    if (last >= 0 && S.from[last] >= mine) S.sum[last][c] += Entered(S, group + 1, last, c);
    if (group == 0) head[c] = Entered(S, 0, -1, c);
  }
  __syncthreads();
  const bool open = rows && rowptr[row + rows] - start > length; /* whether the last row continues in the next tile */
  if (open && threadIdx.x < WIDTH) tail[threadIdx.x] = S.sum[rows - 1][threadIdx.x];
  const int32_t done = rows - open;
  if (C.incy == 1) {
    for (int c = threadIdx.x / WARP; c < WIDTH && panel + c < C.k; c += BLOCK / WARP) {
      double *y = C.y[panel + c] + row;

      for (int32_t r = threadIdx.x % WARP; r < done; r += WARP) y[r] = C.add ? y[r] + S.sum[r][c] : S.sum[r][c];
    }
  } else {
    for (int32_t e = threadIdx.x; e < done * WIDTH; e += BLOCK) {
      const int c = e % WIDTH;
      if (panel + c >= C.k) continue;
      double *y = C.y[panel + c] + (row + e / WIDTH) * C.incy;

      *y = C.add ? *y + S.sum[e / WIDTH][c] : S.sum[e / WIDTH][c];
    }
  }
}

/* Adds the tail of a span's first tile and the heads of the other tiles. A group of WIDTH threads takes a span, one thread a column. A span of more
   than LONG tiles is added by the whole block: each group takes every PARTS-th tile, then the group sums are added in order. */
template <int WIDTH>
__global__ static void __launch_bounds__(BLOCK) FinishSpans(GpCsrTile T, const double *__restrict__ partial, const __grid_constant__ GpColumns C, int first)
{
  constexpr int     PARTS = BLOCK / WIDTH;
  __shared__ double part[PARTS][WIDTH];
  const int         panel = first + blockIdx.y * WIDTH, c = threadIdx.x % WIDTH, p = threadIdx.x / WIDTH;
  const int32_t     base = blockIdx.x * PARTS, mine = base + p;
  const double     *head = partial + (size_t)blockIdx.y * 2 * T.ntiles * WIDTH + c, *tail = head + (size_t)T.ntiles * WIDTH;
  double           *y = panel + c < C.k ? C.y[panel + c] : NULL;

  if (mine < T.nspans && T.spanend[2 * mine + 1] - T.spanend[2 * mine] <= LONG && y) {
    double sum = tail[(size_t)T.spanend[2 * mine] * WIDTH];

    for (int32_t t = T.spanend[2 * mine] + 1; t <= T.spanend[2 * mine + 1]; t++) sum += head[(size_t)t * WIDTH];
    double *to = y + T.spanrow[mine] * C.incy;
    *to        = C.add ? *to + sum : sum;
  }
  for (int32_t s = base; s < min(base + PARTS, T.nspans); s++) {
    const int32_t from = T.spanend[2 * s], to = T.spanend[2 * s + 1];
    double        sum = p ? 0.0 : tail[(size_t)from * WIDTH];

    if (to - from <= LONG) continue; /* the condition is the same for all threads of the block */
    for (int32_t t = from + 1 + p; t <= to; t += PARTS) sum += head[(size_t)t * WIDTH];
    part[p][c] = sum;
    __syncthreads();
    if (p == 0 && y) {
      for (int q = 1; q < PARTS; q++) sum += part[q][c];
      y[T.spanrow[s] * C.incy] = C.add ? y[T.spanrow[s] * C.incy] + sum : sum;
    }
    __syncthreads();
  }
}

template <int WIDTH>
static GpErr Panels(const GpFmt *A, const GpColumns &C, int first, int panels, double *work)
{
  const GpCsr     *R    = A->csr;
  const GpCsrTile *T    = &((const GpCsrPanel *)A->data)->tile;
  double          *sums = work + (size_t)R->n * WIDTH * panels;
  const unsigned   y = (unsigned)panels, spans = (unsigned)((T->nspans + BLOCK / WIDTH - 1) / (BLOCK / WIDTH));
  GpErr            err = GpCheckCuda(R->dev, cudaFuncSetAttribute(MmSplit<WIDTH>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared<WIDTH>)), "mmsplit: cannot set the shared memory of a thread block");

  if (err) return err;
  if (R->n) err = GpLaunch(R->dev, "mmsplit", GpPackColumns<WIDTH>, GpGrid{dim3(GpBlocks(R->n, GP_PACK_ROWS), y), GP_PACK_BLOCK}, R->n, C, first, work);
  if (!err) err = GpLaunch(R->dev, "mmsplit", MmSplit<WIDTH>, GpGrid{dim3((unsigned)T->ntiles, y), BLOCK, sizeof(Shared<WIDTH>)}, *T, R->rowptr, R->col, (const GpScalar *)R->val, R->n, work, C, first, sums);
  if (!err && T->nspans) err = GpLaunch(R->dev, "mmsplit", FinishSpans<WIDTH>, GpGrid{dim3(spans, y), BLOCK}, *T, sums, C, first);
  return err;
}

template <int WIDTH>
static GpErr MmSplits(const GpFmt *A, const GpColumns *C)
{
  const int full = C->k / WIDTH, rest = C->k % WIDTH, at = C->k - rest;
  double   *work;
  GpErr     err;

  if (!A->csr->m || !C->k) return GP_SUCCESS;
  err = GpCsrPanelWork(A, WorkSize(A, C->k, WIDTH), &work);
  if (!err && full) err = Panels<WIDTH>(A, *C, 0, full, work);
  work += GpPackedColumns(at, WIDTH) * ((size_t)A->csr->n + 2 * (size_t)((const GpCsrPanel *)A->data)->tile.ntiles);
  if (err || !rest) return err;
  if (rest > 8) return Panels<16>(A, *C, at, 1, work);
  if (rest > 4) return Panels<8>(A, *C, at, 1, work);
  if (rest > 2) return Panels<4>(A, *C, at, 1, work);
  return Panels<2>(A, *C, at, 1, work);
}

GP_SPMM(mmsplit16)(const GpFmt *A, const GpColumns *C)
{
  return MmSplits<16>(A, C);
}
