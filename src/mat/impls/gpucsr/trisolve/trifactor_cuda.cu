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

/* Dependencies of a batch, with the index in this row of the first entries of each. A thread loads K entries of each dependency in advance. */
template <int K>
struct GpTriFactorDeps {
  int other[GP_TRI_BATCH], begin[GP_TRI_BATCH], end[GP_TRI_BATCH]; /* row of U; -1: there is none */
  int at[GP_TRI_BATCH][K];                                         /* column of the entry, then its index in this row; -1: none */
};

/* Values of a batch: entries of U, pivots and, for ICC, the entries in the column of this row */
template <int K>
struct GpTriFactorValues {
  double u[GP_TRI_BATCH][K], p[GP_TRI_BATCH], x[GP_TRI_BATCH];
};

/* Loads the ends of the rows of U of the dependencies from number e on. */
template <bool ICC, int K>
__device__ static inline void GpTriFactorLoadRows(const GpTriFactorArgs &a, const GpTriFactorRow &r, int e, GpTriFactorDeps<K> &d)
{
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) d.other[b] = e + b >= r.deps ? -1 : ICC ? a.F.dep[r.dep + e + b] : r.col[e + b];
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) {
    const int2 up = d.other[b] < 0 ? make_int2(0, 0) : ((const int2 *)a.F.upper)[d.other[b]];

    d.begin[b] = ICC && d.other[b] >= 0 ? a.F.segment[r.dep + e + b] : up.x;
    d.end[b]   = up.y;
  }
}

/* Loads the columns of the first entries. */
template <int T, int K>
__device__ static inline void GpTriFactorLoadColumns(const GpTriFactorArgs &a, GpTriFactorDeps<K> &d)
{
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) {
#pragma unroll
    for (int k = 0; k < K; k++) {
      const int q = d.begin[b] + k * T + (int)threadIdx.x % T;

      d.at[b][k] = q < d.end[b] ? a.F.col[q] : -1;
    }
  }
}

/* Finds the columns in this row. */
template <int K>
__device__ static inline void GpTriFactorFindColumns(const GpTriFactorRow &r, GpTriFactorDeps<K> &d)
{
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) {
#pragma unroll
    for (int k = 0; k < K; k++) d.at[b][k] = d.at[b][k] < 0 ? -1 : r.Find(d.at[b][k]);
  }
}

/* Loads the values of the dependencies of a batch from number `done` on. all: false: only those that are not set */
template <bool ICC, int T, int K>
__device__ static inline void GpTriFactorLoadValues(const GpTriFactorArgs &a, const GpTriFactorDeps<K> &d, int done, bool all, GpTriFactorValues<K> &v)
{
#pragma unroll
  for (int b = 0; b < GP_TRI_BATCH; b++) {
    if (b < done) continue;
    if (all || !GpTriIsSet(v.p[b])) v.p[b] = d.other[b] < 0 ? 0.0 : GpTriLoad(a.F.pivot + d.other[b]);
    if (ICC && (all || !GpTriIsSet(v.x[b]))) v.x[b] = d.other[b] < 0 ? 0.0 : GpTriLoad(a.F.val + d.begin[b]);
#pragma unroll
    for (int k = 0; k < K; k++) {
      if (all || !GpTriIsSet(v.u[b][k])) v.u[b][k] = d.at[b][k] < 0 ? 0.0 : GpTriLoad(a.F.val + d.begin[b] + k * T + (int)threadIdx.x % T);
    }
  }
}

/* Subtracts a multiple of dependency b of a batch from the row of this thread. factor: the negative multiplier */
template <int T, int K>
__device__ static inline void GpTriSubtract(const GpTriFactorArgs &a, const GpTriFactorRow &r, double factor, const GpTriFactorDeps<K> &d, const GpTriFactorValues<K> &v, int b)
{
#pragma unroll
  for (int k = 0; k < K; k++) {
    if (d.at[b][k] >= 0) r.val[d.at[b][k]] = __dadd_rn(r.val[d.at[b][k]], __dmul_rn(factor, v.u[b][k]));
  }
  for (int q = d.begin[b] + K * T + (int)threadIdx.x % T; q < d.end[b]; q += T) {
    const int to = r.Find(a.F.col[q]);
    double    u;

    if (to < 0) continue;
    do u = GpTriLoad(a.F.val + q);
    while (!GpTriIsSet(u));
    r.val[to] = __dadd_rn(r.val[to], __dmul_rn(factor, u));
  }
}

/* Tells whether all values of dependency b of a batch are set. */
template <bool ICC, int K>
__device__ static inline bool GpTriFactorIsReady(const GpTriFactorValues<K> &v, int b)
{
  bool set = GpTriIsSet(v.p[b]) && (!ICC || GpTriIsSet(v.x[b]));

#pragma unroll
  for (int k = 0; k < K; k++) set = set && GpTriIsSet(v.u[b][k]);
  return set;
}

/* Subtracts the multiples of a batch of rows, which begins with dependency e of this row. The rows are subtracted in order, as soon as all rows of this warp can go on. LOADED: the values have been loaded once */
template <bool ICC, int T, int K, bool LOADED>
__device__ static inline void GpTriFactorSubtractBatch(const GpTriFactorArgs &a, const GpTriFactorRow &r, int e, const GpTriFactorDeps<K> &d, GpTriFactorValues<K> &v)
{
  for (int done = 0;;) {
    unsigned ready = 0; /* bit b: dependency b can be subtracted */

    if (!LOADED) GpTriFactorLoadValues<ICC, T, K>(a, d, done, true, v);
    else {
#pragma unroll
      for (int b = 0; b < GP_TRI_BATCH; b++) ready |= GpTriFactorIsReady<ICC, K>(v, b) ? 1u << b : 0u;
      ready = __reduce_and_sync(GP_TRI_ALL, ready);
    }
#pragma unroll
    for (int b = 0; b < GP_TRI_BATCH; b++) {
      if (b != done || !(LOADED ? ready >> b & 1 : __all_sync(GP_TRI_ALL, GpTriFactorIsReady<ICC, K>(v, b)))) continue;
      const double x    = ICC ? v.x[b] : d.other[b] >= 0 ? r.val[e + b] : 0.0; /* the rows of U of ICC are not scaled yet */
      const double m    = __dmul_rn(-x, v.p[b]);
      const bool   uses = d.other[b] >= 0 && (ICC || x != 0);

      if (uses) GpTriSubtract<T, K>(a, r, m, d, v, b);
      __syncwarp();
      if (!ICC && uses && threadIdx.x % T == 0) r.val[e + b] = -m; /* no thread reads this entry before the row is stored */
      done++;
    }
    if (done == GP_TRI_BATCH) return;
    if (LOADED) GpTriFactorLoadValues<ICC, T, K>(a, d, done, false, v);
  }
}

/* Subtracts the multiples of all dependencies of a row that has few. The kernel needs fewer registers than the next one, so more warps are resident. most: the number of dependencies of the row of this warp that has
   most */
template <bool ICC, int T, int K>
__device__ static inline void GpTriFactorEliminateFew(const GpTriFactorArgs &a, const GpTriFactorRow &r, int most)
{
  for (int e = 0; e < most; e += GP_TRI_BATCH) {
    GpTriFactorDeps<K>   d;
    GpTriFactorValues<K> v;

    GpTriFactorLoadRows<ICC, K>(a, r, e, d);
    GpTriFactorLoadColumns<T, K>(a, d);
    GpTriFactorFindColumns<K>(r, d);
    GpTriFactorSubtractBatch<ICC, T, K, false>(a, r, e, d, v);
  }
}

/* Subtracts the multiples of all dependencies of a row that has many. The loads of a batch are issued up to three batches ahead, so that their latencies do not delay a row that no longer waits. */
template <bool ICC, int T>
__device__ static inline void GpTriFactorEliminateMany(const GpTriFactorArgs &a, const GpTriFactorRow &r, int most)
{
  GpTriFactorDeps<2>   d[4]; /* the batches from e on; the last one without columns */
  GpTriFactorValues<2> v[2];

#pragma unroll
  for (int b = 0; b < 3; b++) GpTriFactorLoadRows<ICC, 2>(a, r, b * GP_TRI_BATCH, d[b]);
  GpTriFactorLoadColumns<T, 2>(a, d[0]);
  GpTriFactorLoadColumns<T, 2>(a, d[1]);
  GpTriFactorFindColumns<2>(r, d[0]);
  GpTriFactorLoadValues<ICC, T, 2>(a, d[0], 0, true, v[0]);
  for (int e = 0; e < most; e += GP_TRI_BATCH) {
    GpTriFactorLoadColumns<T, 2>(a, d[2]);
    GpTriFactorLoadRows<ICC, 2>(a, r, e + 3 * GP_TRI_BATCH, d[3]);
    GpTriFactorFindColumns<2>(r, d[1]);
    GpTriFactorLoadValues<ICC, T, 2>(a, d[1], 0, true, v[1]);
    GpTriFactorSubtractBatch<ICC, T, 2, true>(a, r, e, d[0], v[0]);
    v[0] = v[1];
#pragma unroll
    for (int b = 0; b < 3; b++) d[b] = d[b + 1];
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
__global__ static void __launch_bounds__(GP_TRI_WARPS * 32, T == 32  ? 3
                                                            : T == 8 ? 4
                                                                     : 6) GpTriFactorKernel(const GpTriFactorArgs a)
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
    if constexpr (T == 32) GpTriFactorEliminateMany<ICC, T>(a, r, most);
    else GpTriFactorEliminateFew<ICC, T, T == 8 ? 2 : 1>(a, r, most);
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
