/* Incomplete factorisations without barriers. Each value of U and each pivot is its own flag, as in a triangular solve (trisolve_cuda.cu): it holds GP_TRI_UNSET until its row has been
   computed. Relaxed loads and stores of device scope suffice, because the flag and the value are one 64-bit word. The levels were found on the pattern, so rows of one slice do not
   depend on each other.

   Warps take the slices in order from a counter. To make progress, a warp must compute the first slice that is not finished. The warp that took it is resident, and it waits only for rows
   of slices before it, which are finished. */
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"
#include "mat/impls/gpucsr/trisolve/gptriflag.cuh"
#include <float.h>

#define GP_TRI_WARPS 4 /* warps of a block */
#define GP_TRI_BATCH 4 /* number of dependencies whose values a thread loads at once */
#define GP_TRI_ALL   0xffffffffu
#define GP_TRI_FILL  256

struct GpTriFactorArgs {
  GpTriFactor F;
  const void *values; /* of A */
  int         single;
  GpTriPivots pivots;
};

__global__ static void GpTriFactorResetKernel(const GpTriFactorArgs a)
{
  const int64_t k = (int64_t)blockIdx.x * GP_TRI_FILL + threadIdx.x;

  if (k < a.F.nnz) a.F.val[k] = __longlong_as_double((long long)GP_TRI_UNSET);
  if (k < a.F.n) a.F.pivot[k] = __longlong_as_double((long long)GP_TRI_UNSET);
  if (!k) *a.F.status = GpTriStatus{a.F.n, -1, 0, 0, 0, 0};
}

/* A row while it is computed: the entries of L, the diagonal entry and the entries of U. Columns ascend. */
struct GpTriFactorRow {
  double  *val;
  int32_t *col;
  bool     live;         /* this thread has a row */
  int      i;            /* number of the row */
  int      dep, deps;    /* first dependency, and their number */
  int      lower, upper; /* numbers of entries of L and of U */
  int      begin;        /* position of the first entry of U in the factor */

  /* Returns the index of a column, or -1. */
  __device__ int Find(int column) const
  {
    int low = column < i ? 0 : lower + 1, high = column < i ? lower : lower + 1 + upper;

    if (column == i) return lower;
    while (low < high) {
      const int middle = (low + high) / 2;

      if (col[middle] < column) low = middle + 1;
      else high = middle;
    }
    return low < (column < i ? lower : lower + 1 + upper) && col[low] == column ? low : -1;
  }
};

__device__ static inline double GpTriGather(const GpTriFactorArgs &a, int k)
{
  const int from = a.F.from[k];

  return from < 0 ? 0 : a.single ? (double)((const float *)a.values)[from] : ((const double *)a.values)[from];
}

/* Loads the pattern of the row of this thread and the values of A. */
template <bool ICC, int T>
__device__ static inline void GpTriFactorLoad(const GpTriFactorArgs &a, int s, double *space, GpTriFactorRow &r)
{
  const int4 slice = ((const int4 *)a.F.slice)[s];
  const int  lane = threadIdx.x % 32, t = lane % T, number = threadIdx.x / T, all = GP_TRI_WARPS * (32 / T) * a.F.longest;

  r.val  = slice.w < 0 ? space + number * a.F.longest : a.F.work + slice.w;
  r.col  = slice.w < 0 ? (int32_t *)(space + all) + number * a.F.longest : a.F.place + slice.w;
  r.live = lane / T < slice.y;
  r.i = r.dep = r.deps = r.lower = r.upper = r.begin = 0;
  if (r.live) {
    r.i           = a.F.row[slice.x + lane / T];
    r.dep         = a.F.first[r.i];
    r.deps        = a.F.first[r.i + 1] - r.dep;
    const int2 up = ((const int2 *)a.F.upper)[r.i];

    r.begin = up.x;
    r.upper = up.y - up.x;
    r.lower = ICC ? 0 : r.deps;
    for (int q = t; q < r.lower; q += T) {
      r.col[q] = a.F.col[r.dep + q];
      r.val[q] = GpTriGather(a, r.dep + q);
    }
    for (int q = t; q <= r.upper; q += T) {
      const int to = q < r.upper ? r.lower + 1 + q : r.lower;

      r.col[to] = a.F.col[r.begin + q];
      r.val[to] = q < r.upper ? GpTriGather(a, r.begin + q) : GpTriGather(a, r.begin + q) + a.pivots.shift;
    }
  }
  __syncwarp();
}

/* Subtracts a multiple of a row from the row of this thread. factor: the negative multiplier; begin, end: entries of the other row; at: index of the entry begin + t in this row, or -1; u: its value */
template <int T>
__device__ static inline void GpTriSubtract(const GpTriFactorArgs &a, const GpTriFactorRow &r, double factor, int begin, int end, int at, double u)
{
  if (at >= 0) r.val[at] = __dadd_rn(r.val[at], __dmul_rn(factor, u));
  for (int q = begin + T + threadIdx.x % T; q < end; q += T) {
    const int to = r.Find(a.F.col[q]);

    if (to < 0) continue;
    do u = GpTriLoad(a.F.val + q);
    while (!GpTriIsSet(u));
    r.val[to] = __dadd_rn(r.val[to], __dmul_rn(factor, u));
  }
}

/* Subtracts the multiples of a batch of rows, which begins with dependency e of this row. */
template <bool ICC, int T>
__device__ static inline void GpTriFactorBatch(const GpTriFactorArgs &a, const GpTriFactorRow &r, int e)
{
  const int t = threadIdx.x % T;
  int       other[GP_TRI_BATCH], begin[GP_TRI_BATCH], end[GP_TRI_BATCH], at[GP_TRI_BATCH];
  double    u[GP_TRI_BATCH], p[GP_TRI_BATCH], x[GP_TRI_BATCH];

#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) other[b] = e + b < r.deps ? a.F.dep[r.dep + e + b] : -1;
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) {
    const int2 up = other[b] < 0 ? make_int2(0, 0) : ((const int2 *)a.F.upper)[other[b]];

    begin[b] = ICC && other[b] >= 0 ? a.F.segment[r.dep + e + b] : up.x;
    end[b]   = up.y;
  }
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) at[b] = begin[b] + t < end[b] ? a.F.col[begin[b] + t] : -1;
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) at[b] = at[b] < 0 ? -1 : r.Find(at[b]);
  for (int done = 0; done < GP_TRI_BATCH;) { /* the rows are subtracted in order, as soon as all rows of this warp can go on */
#pragma unroll
    for (int b = 0; b < GP_TRI_BATCH; b++) {
      const bool waits = b >= done && other[b] >= 0;

      p[b] = waits ? GpTriLoad(a.F.pivot + other[b]) : 0.0;
      u[b] = waits && at[b] >= 0 ? GpTriLoad(a.F.val + begin[b] + t) : 0.0;
      x[b] = ICC && waits ? GpTriLoad(a.F.val + begin[b]) : 0.0;
    }
#pragma unroll
    for (int b = 0; b < GP_TRI_BATCH; b++) {
      if (b != done || !__all_sync(GP_TRI_ALL, GpTriIsSet(p[b]) && GpTriIsSet(u[b]) && GpTriIsSet(x[b]))) continue;
      const double v    = ICC ? x[b] : other[b] >= 0 ? r.val[e + b] : 0.0; /* the rows of U of ICC are not scaled yet */
      const double m    = __dmul_rn(-v, p[b]);
      const bool   uses = other[b] >= 0 && (ICC || v != 0);

      if (uses) GpTriSubtract<T>(a, r, m, begin[b], end[b], at[b], u[b]);
      __syncwarp();
      if (!ICC && uses && t == 0) r.val[e + b] = -m; /* no thread reads this entry before the row is stored */
      done++;
    }
  }
}

/* Stores the row and its pivot. Other rows wait for the pivot and for the row of U, so these are stored first. */
template <bool ICC, int T>
__device__ static inline void GpTriFactorStore(const GpTriFactorArgs &a, const GpTriFactorRow &r)
{
  const int    t        = threadIdx.x % T;
  const bool   relative = a.pivots.rule == GP_TRI_PIVOT_NONZERO || a.pivots.rule == GP_TRI_PIVOT_POSITIVE, inblocks = a.pivots.rule == GP_TRI_PIVOT_INBLOCKS;
  GpTriStatus *s   = a.F.status;
  double       sum = 1, pivot = r.live ? r.val[r.lower] : 1, inverse;
  bool         small = fabs(pivot) <= a.pivots.zero, tiny = false;

  if (small && inblocks) pivot = __dadd_rn(pivot, a.pivots.amount);
  inverse = __ddiv_rn(1.0, pivot);
  if (r.live && t == 0) GpTriStore(a.F.pivot + r.i, inverse);
  for (int q = t; q < r.upper; q += T) GpTriStore(a.F.val + r.begin + q, r.val[r.lower + 1 + q]);
  for (int q = t; q < r.upper && !ICC; q += T) {
    const double v = fabs(r.val[r.lower + 1 + q]);

    tiny = tiny || (v < (double)FLT_MIN && v * fabs(inverse) > (double)FLT_EPSILON);
  }
  for (int q = t; q < r.lower; q += T) a.F.val[r.dep + q] = r.val[q];
  if (relative) { /* the same for all threads */
    sum = 0;
    for (int q = t; q < r.lower; q += T) sum += fabs(r.val[q]);
    for (int q = t; q < r.upper; q += T) sum += fabs(r.val[r.lower + 1 + q]);
#pragma unroll
    for (int o = T / 2; o; o /= 2) sum += __shfl_xor_sync(GP_TRI_ALL, sum, o);
    small = (a.pivots.rule == GP_TRI_PIVOT_POSITIVE ? pivot : fabs(pivot)) <= a.pivots.zero * sum;
  }
  if (tiny) s->tiny = 1;
  if (!r.live || t) return;
  a.F.val[r.begin + r.upper] = small && !inblocks ? pivot : inverse;
  if (pivot < 0) s->negative = 1;
  if (small) {
    atomicMin(&s->first, r.i);
    atomicMax(&s->last, r.i);
    atomicAdd(&s->count, 1);
  }
}

/* T: number of threads that compute a row */
template <bool ICC, int T>
__global__ static void __launch_bounds__(GP_TRI_WARPS * 32) GpTriFactorKernel(const GpTriFactorArgs a)
{
  extern __shared__ double space[];

  for (;;) {
    GpTriFactorRow r;
    int            s = 0, most;

    if (threadIdx.x % 32 == 0) s = atomicAdd(&a.F.status->ticket, 1);
    s = __shfl_sync(GP_TRI_ALL, s, 0);
    if (s >= a.F.slices) return;
    GpTriFactorLoad<ICC, T>(a, s, space, r);
    most = r.deps;
#pragma unroll
    for (int o = 16; o >= T; o /= 2) most = max(most, __shfl_xor_sync(GP_TRI_ALL, most, o));
    for (int e = 0; e < most; e += GP_TRI_BATCH) GpTriFactorBatch<ICC, T>(a, r, e);
    __syncwarp();
    GpTriFactorStore<ICC, T>(a, r);
    __syncwarp(); /* the next row uses the same memory */
  }
}

/* Scales the rows of U of ICC by their pivots. A warp scales a row. */
__global__ static void GpTriFactorScaleKernel(const GpTriFactorArgs a, int lanes)
{
  const int64_t i = ((int64_t)blockIdx.x * GP_TRI_FILL + threadIdx.x) / lanes;

  if (i >= a.F.n) return;
  const int2   up    = ((const int2 *)a.F.upper)[i];
  const double pivot = a.F.pivot[i];

  for (int k = up.x + threadIdx.x % lanes; k < up.y; k += lanes) a.F.val[k] = __dmul_rn(-a.F.val[k], pivot);
}

template <bool ICC>
static GpErr GpTriFactorLaunch(const GpTriFactorArgs &a)
{
  const int    rows = GP_TRI_WARPS * 32 / a.F.lanes;
  const GpGrid grid = {dim3(GpBlocks(a.F.warps, GP_TRI_WARPS)), GP_TRI_WARPS * 32, (size_t)rows * (size_t)a.F.longest * (sizeof(double) + sizeof(int32_t))};

  switch (a.F.lanes) {
  case 4:
    return GpLaunchVector(a.F.dev, "incomplete factorisation", GpTriFactorKernel<ICC, 4>, grid, a);
  case 8:
    return GpLaunchVector(a.F.dev, "incomplete factorisation", GpTriFactorKernel<ICC, 8>, grid, a);
  case 16:
    return GpLaunchVector(a.F.dev, "incomplete factorisation", GpTriFactorKernel<ICC, 16>, grid, a);
  default:
    return GpLaunchVector(a.F.dev, "incomplete factorisation", GpTriFactorKernel<ICC, 32>, grid, a);
  }
}

GpErr GpTriFactorCompute_CUDA(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots)
{
  const GpTriFactorArgs a   = {*F, values, single, *pivots};
  GpErr                 err = GpLaunchVector(F->dev, "reset of a factorisation", GpTriFactorResetKernel, GpGrid{dim3(GpBlocks(F->nnz, GP_TRI_FILL)), GP_TRI_FILL}, a);

  if (!err) err = F->icc ? GpTriFactorLaunch<true>(a) : GpTriFactorLaunch<false>(a);
  if (!err && F->icc) err = GpLaunchVector(F->dev, "scaling of a factor", GpTriFactorScaleKernel, GpGrid{dim3(GpBlocks((int64_t)F->n * F->lanes, GP_TRI_FILL)), GP_TRI_FILL}, a, F->lanes);
  return err;
}
