/* Rows of sparse approximate inverses. For a row with the pattern J, the least-squares problem has the rows J of A as columns. A warp, or the warps of a thread block, reduce it to a triangle by
   Householder's method. */
#include "pc/kernels/gpbatchkernel.h"

static constexpr int THREADS = 256; /* of a block that computes a row */
static constexpr int COLUMNS = 4;   /* number of columns that a warp reflects at once */

/* The problem of a warp or of a thread block: the norm of Bg - e is minimised. */
struct GpSpaiProblem {
  double    *B;      /* [k (m + 1)] column by column; column a is row J[a] of A, column m is the right-hand side e */
  double    *norm;   /* [m] norms of the columns */
  double    *corner; /* [m] diagonal of the triangle */
  int32_t   *I, *J;  /* [sorted] the columns that rows J of A have, ascending; [m] */
  GpBatchSet set;    /* its list is I */
  int32_t    k, m;   /* numbers of rows and of columns */
  int        warp, warps, lane;

  template <bool ALONE>
  __device__ void Synchronise() const
  {
    if (ALONE) __syncwarp();
    else __syncthreads();
  }
};

/* Returns the smallest power of two that is at least n. */
__host__ __device__ static inline int32_t GpSpaiRoundUp(int32_t n)
{
  int32_t power = 1;

  while (power < n) power *= 2;
  return power;
}

/* Sorts n numbers, where n is a power of two, by a bitonic network. */
template <bool ALONE>
__device__ static void GpSpaiSort(const GpSpaiProblem &p, int32_t n)
{
  const int32_t first = p.warp * GP_BATCH_WARP + p.lane, step = p.warps * GP_BATCH_WARP;

  for (int32_t size = 2; size <= n; size *= 2) {
    for (int32_t distance = size / 2; distance; distance /= 2) {
      for (int32_t i = first; i < n; i += step) {
        const int32_t other = i ^ distance, a = p.I[i], b = other > i ? p.I[other] : 0;

        if (other > i && (a > b) == !(i & size)) {
          p.I[i]     = b;
          p.I[other] = a;
        }
      }
      p.Synchronise<ALONE>();
    }
  }
}

/* Lists the columns of the rows J of A in ascending order. */
template <bool ALONE>
__device__ static void GpSpaiListColumns(const GpBatchWork &w, GpSpaiProblem &p, int32_t begin)
{
  const int32_t first = p.warp * GP_BATCH_WARP + p.lane, step = p.warps * GP_BATCH_WARP;
  int32_t       n;

  p.set.Clear(first, step);
  for (int32_t a = first; a < p.m; a += step) p.J[a] = w.P.col[begin + a];
  p.Synchronise<ALONE>();
  for (int32_t a = 4 * p.warp + p.lane / 8; a < p.m; a += 4 * p.warps) {
    for (int32_t e = w.A.rowptr[p.J[a]] + p.lane % 8; e < w.A.rowptr[p.J[a] + 1]; e += 8) p.set.Insert(w.A.col[e]);
  }
  p.Synchronise<ALONE>();
  p.k = min(*p.set.n, p.set.most);
  n   = GpSpaiRoundUp(p.k);
  for (int32_t i = p.k + first; i < n; i += step) p.I[i] = INT32_MAX;
  p.Synchronise<ALONE>();
  GpSpaiSort<ALONE>(p, n);
}

/* Sets up the matrix. Returns false if the right-hand side is zero. */
template <bool ALONE>
__device__ static bool GpSpaiGather(const GpBatchWork &w, GpSpaiProblem &p, int32_t row)
{
  const int32_t first = p.warp * GP_BATCH_WARP + p.lane, step = p.warps * GP_BATCH_WARP, unit = GpBatchFind(p.I, p.k, w.A.first + row);

  for (int32_t e = first; e < p.k * (p.m + 1); e += step) p.B[e] = unit >= 0 && e == p.k * p.m + unit;
  p.Synchronise<ALONE>();
  for (int32_t at = 4 * p.warp; at < p.m; at += 4 * p.warps) { /* eight lanes read a row; all lanes take part in the exchanges */
    const int32_t a = at + p.lane / 8, j = a < p.m ? p.J[a] : -1;
    double        sum = 0;

    for (int32_t e = j < 0 ? 0 : w.A.rowptr[j] + p.lane % 8; j >= 0 && e < w.A.rowptr[j + 1]; e += 8) {
      const double  v     = GpBatchValue(w.A, e);
      const int32_t entry = GpBatchFind(p.I, p.k, w.A.col[e]);

      if (entry >= 0) p.B[(size_t)a * p.k + entry] = v;
      sum += v * v;
    }
#pragma unroll
    for (int lane = 4; lane; lane /= 2) sum += __shfl_xor_sync(GP_BATCH_ALL, sum, lane);
    if (j >= 0 && p.lane % 8 == 0) p.norm[a] = sqrt(sum);
  }
  p.Synchronise<ALONE>();
  return unit >= 0;
}

/* Subtracts from n columns, of which x is the first, their multiples of the reflection's vector v, whose entry a is `head`. The columns are reduced together to hide the latency of the exchanges. */
__device__ static void GpSpaiReflect(const GpSpaiProblem &p, int32_t a, const double *v, double head, double scale, int32_t n, double *x)
{
  double sum[COLUMNS] = {0};

  for (int32_t r = a + p.lane; r < p.k; r += GP_BATCH_WARP) {
    const double entry = r == a ? head : v[r];

#pragma unroll
    for (int q = 0; q < COLUMNS; q++) sum[q] += entry * x[(q < n ? q : 0) * p.k + r];
  }
#pragma unroll
  for (int lane = GP_BATCH_WARP / 2; lane; lane /= 2) {
#pragma unroll
    for (int q = 0; q < COLUMNS; q++) sum[q] += __shfl_xor_sync(GP_BATCH_ALL, sum[q], lane);
  }
  for (int32_t r = a + p.lane; r < p.k; r += GP_BATCH_WARP) {
    const double entry = scale * (r == a ? head : v[r]);

#pragma unroll
    for (int q = 0; q < COLUMNS; q++) {
      if (q < n) x[q * p.k + r] -= sum[q] * entry;
    }
  }
}

/* Reduces the matrix to a triangle. Every warp computes each reflection and applies it to some of the columns. Returns false if a column depends on the columns before it; *bad is then its remainder. */
template <bool ALONE>
__device__ static bool GpSpaiTriangulate(GpSpaiProblem &p, double *bad)
{
  for (int32_t a = 0; a < p.m; a++) {
    const double *v   = p.B + (size_t)a * p.k;
    double        sum = 0, alpha, head;

    for (int32_t r = a + p.lane; r < p.k; r += GP_BATCH_WARP) sum += v[r] * v[r];
    sum   = GpBatchSum(sum);
    alpha = sqrt(sum);
    *bad  = alpha;
    if (!(alpha > p.k * DBL_EPSILON * p.norm[a])) return false; /* the same in all threads */
    head = v[a];
    if (head > 0) alpha = -alpha;
    sum -= alpha * head; /* half the squared norm of the reflection's vector */
    head -= alpha;
    for (int32_t b = a + 1 + COLUMNS * p.warp; b <= p.m; b += COLUMNS * p.warps) GpSpaiReflect(p, a, v, head, 1 / sum, min(COLUMNS, p.m + 1 - b), p.B + (size_t)b * p.k);
    if (p.warp == 0 && p.lane == 0) p.corner[a] = alpha;
    p.Synchronise<ALONE>();
  }
  return true;
}

/* Solves with the triangle and writes the row. One warp calls it. */
__device__ static void GpSpaiSolve(const GpBatchWork &w, const GpSpaiProblem &p, int32_t row, int32_t begin)
{
  double *x = p.B + (size_t)p.m * p.k, sum = 0, bad = 0;

  for (int32_t r = p.m + p.lane; r < p.k; r += GP_BATCH_WARP) sum += x[r] * x[r];
  sum = GpBatchSum(sum);
  for (int32_t b = p.m - 1; b >= 0; b--) {
    const double g = x[b] / p.corner[b], *column = p.B + (size_t)b * p.k;

    if (!isfinite(g) && bad == 0) bad = p.corner[b];
    if (p.lane == 0) w.val[begin + b] = g;
    for (int32_t a = p.lane; a < b; a += GP_BATCH_WARP) x[a] -= column[a] * g;
    __syncwarp();
  }
  if (p.lane) return;
  if (bad != 0) GpBatchFail(w, row, bad);
  else w.measure[row] = sum;
}

/* Sizes of the parts of the memory of a problem. */
struct GpSpaiSizes {
  int32_t slots, sorted, bits;
  size_t  matrix, lists; /* bytes of the matrix, and of all other parts */

  __host__ __device__ GpSpaiSizes(int32_t m, int32_t k)
  {
    sorted = GpSpaiRoundUp(k);
    for (bits = 5; 1 << bits < 2 * k;) bits++;
    slots  = 1 << bits;
    matrix = (size_t)k * (m + 1) * sizeof(double);
    lists  = (2 * (size_t)m * sizeof(double) + ((size_t)slots + sorted + m + 1) * sizeof(int32_t) + 7) / 8 * 8;
  }
};

/* ALONE: each warp computes a row. Otherwise each thread block does. matrices: memory of the matrices of all blocks, one after the other; NULL: they are in shared memory */
template <bool ALONE>
__global__ static void __launch_bounds__(ALONE ? 4 * GP_BATCH_WARP : THREADS, ALONE ? 8 : 3) GpSpaiKernel(GpBatchWork w, double *matrices)
{
  extern __shared__ double memory[];
  const GpSpaiSizes        sizes(w.part.m, w.part.k);
  const int                warp = threadIdx.x / GP_BATCH_WARP, warps = blockDim.x / GP_BATCH_WARP;
  double                  *mine = memory + (ALONE ? warp * (sizes.matrix + sizes.lists) / sizeof(double) : 0);
  GpSpaiProblem            p;

  p.warp   = ALONE ? 0 : warp;
  p.warps  = ALONE ? 1 : warps;
  p.lane   = threadIdx.x % GP_BATCH_WARP;
  p.norm   = mine;
  p.corner = p.norm + w.part.m;
  p.B      = matrices ? matrices + (size_t)blockIdx.x * (sizes.matrix / sizeof(double)) : mine + sizes.lists / sizeof(double);
  p.I      = (int32_t *)(p.corner + w.part.m);
  p.J      = p.I + sizes.sorted;
  p.set    = {p.J + w.part.m, p.I, p.J + w.part.m + sizes.slots, w.part.k, sizes.bits};
  for (int64_t t = ALONE ? (int64_t)blockIdx.x * warps + warp : blockIdx.x; t < w.part.count; t += ALONE ? (int64_t)gridDim.x * warps : gridDim.x) {
    const int32_t row = w.part.row ? w.part.row[t] : (int32_t)t, begin = w.P.rowptr[row];
    double        bad = 0;
    bool          full;

    p.m = w.P.rowptr[row + 1] - begin;
    GpSpaiListColumns<ALONE>(w, p, begin);
    full = GpSpaiGather<ALONE>(w, p, row);
    if (full) full = GpSpaiTriangulate<ALONE>(p, &bad);
    if (full && p.warp == 0) GpSpaiSolve(w, p, row, begin);
    if (!full && p.warp == 0 && p.lane == 0) GpBatchFail(w, row, bad);
    p.Synchronise<ALONE>(); /* the memory is used for the next row */
  }
}

template <bool ALONE>
static GpErr GpSpaiLaunch(const GpBatchWork *w, bool global)
{
  GpDev             dev = w->A.dev;
  const GpSpaiSizes sizes(w->part.m, w->part.k);
  const size_t      one      = sizes.lists + (global ? 0 : sizes.matrix);
  const unsigned    warps    = ALONE ? (unsigned)max((size_t)1, min((size_t)4, (size_t)24 * 1024 / one)) : THREADS / GP_BATCH_WARP;
  const unsigned    most     = global ? (unsigned)min((size_t)4 * GpDevComputeUnits(dev), GP_BATCH_WORKSPACE / sizes.matrix) : (unsigned)w->part.count;
  const unsigned    blocks   = min(GpBlocks(w->part.count, ALONE ? warps : 1), most);
  const size_t      shared   = ALONE ? warps * one : one;
  double           *matrices = NULL;
  GpErr             err      = GpBatchAllowShared(dev, GpSpaiKernel<ALONE>, shared);

  if (!err && global) err = GpDevBorrow(dev, blocks * sizes.matrix, &matrices);
  if (!err) err = GpLaunch(dev, "computing rows of an approximate inverse", GpSpaiKernel<ALONE>, GpGrid{blocks, warps * GP_BATCH_WARP, shared}, *w, matrices);
  GpDevReturn(dev, &matrices, blocks * sizes.matrix);
  return err;
}

extern "C" GpErr GpBatchSpai_CUDA(const GpBatchWork *work, int part)
{
  const GpSpaiSizes sizes(work->part.m, work->part.k);

  if (part <= GP_BATCH_SPAI_128) return GpSpaiLaunch<true>(work, false);
  return GpSpaiLaunch<false>(work, part == GP_BATCH_SPAI_GLOBAL || sizes.matrix + sizes.lists > GpDevSharedBytes(work->A.dev));
}
