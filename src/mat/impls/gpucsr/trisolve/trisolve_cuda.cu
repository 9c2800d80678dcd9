/* Triangular solves without barriers. The solution is its own flag: an entry holds GP_TRI_UNSET until its row has been computed, and a thread polls all entries that its
   row needs at once.

   Each thread block is one warp. Blocks take the slices in turn: block g computes slices g, g + blocks, ...

   To make progress, the first slice that is not finished must always be in computation; it waits for no other slice. If there are fewer blocks than slices, all blocks are
   resident at the same time, so this holds. If there are as many blocks as slices, it holds because the GPU starts blocks in the order of their numbers. CUB's scans rely on
   the same order. */
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include "mat/impls/gpucsr/trisolve/gptriflag.cuh"

#define GP_TRI_WARP    32
#define GP_TRI_FILLERS 256

__global__ static void GpTriResetKernel(double *w, int64_t n)
{
  const int64_t i = (int64_t)blockIdx.x * GP_TRI_FILLERS + threadIdx.x;

  if (i < n) w[i] = __longlong_as_double((long long)GP_TRI_UNSET);
}

struct GpTriArgs {
  const int4    *slice;
  const int32_t *col;
  const void    *val;
  const double  *diag;
  int32_t        slices;
  GpTriVectors   v;
};

/* The data of a row that a thread loads before it waits for other rows. */
template <int R, class V>
struct GpTriRow {
  int64_t start;       /* position of the first entry of this thread */
  int32_t step, width; /* distance between two entries of this thread, and their number */
  int32_t slot;        /* slot of the row */
  bool    live;        /* the thread has a row */
  double  b, d;        /* right-hand side and diagonal entry of the row */
  int32_t out;         /* index of the row in the result */
  int32_t col[R];      /* a batch of entries */
  V       val[R];

  __device__ void Batch(const GpTriArgs &a, int q)
  {
#pragma unroll
    for (int r = 0; r < R; r++) {
      const bool    in = live && q + r < width;
      const int64_t k  = start + (int64_t)(q + r) * step;

      col[r] = in ? a.col[k] : -1;
      val[r] = in ? ((const V *)a.val)[k] : V(0);
    }
  }

  template <int T>
  __device__ void Load(const GpTriArgs &a, int s)
  {
    const int4 slice = a.slice[s];
    const int  lane  = threadIdx.x;

    step  = slice.z * T;
    live  = lane < step;
    width = slice.w;
    start = (int64_t)slice.x * GP_TRI_ALIGN + lane;
    slot  = slice.y + lane / T;
    b     = live ? a.v.b[a.v.in[slot]] : 0.0;
    d     = live && a.v.diagonal != GP_TRI_UNIT ? a.diag[slot] : 1.0;
    out   = live && a.v.x ? a.v.out[slot] : 0;
    Batch(a, 0);
  }
};

/* T: number of threads that compute a row; R: number of entries that a thread loads at once; V: type of the values */
template <int T, int R, class V>
__global__ static void __launch_bounds__(GP_TRI_WARP) GpTriKernel(const GpTriArgs a)
{
  GpTriRow<R, V> row;

  row.template Load<T>(a, blockIdx.x);
  for (int s = blockIdx.x;;) {
    double sum = 0;

    for (int q = 0;;) {
      double x[R];
      bool   set;

      do {
        set = true;
#pragma unroll
        for (int r = 0; r < R; r++) x[r] = row.col[r] >= 0 ? GpTriLoad(a.v.w + row.col[r]) : 0.0;
#pragma unroll
        for (int r = 0; r < R; r++) set = set && GpTriIsSet(x[r]);
      } while (!set);
#pragma unroll
      for (int r = 0; r < R; r++) sum += (double)row.val[r] * x[r];
      q += R;
      if (q >= row.width) break;
      row.Batch(a, q);
    }
#pragma unroll
    for (int o = T / 2; o; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (row.live && threadIdx.x % T == 0) {
      const GpTriDiagonal how = a.v.diagonal;
      double              b   = row.b, w;

      if (how == GP_TRI_BEFORE) b *= row.d;
      if (how == GP_TRI_BEFORE_ROOT) b *= sqrt(row.d);
      w = b - sum;
      if (how == GP_TRI_AFTER) w *= row.d;
      GpTriStore(a.v.w + row.slot, w);
      if (how == GP_TRI_OUT_ROOT) w *= sqrt(row.d);
      if (a.v.x) a.v.x[row.out] = a.v.add ? w + a.v.add[row.out] : w;
    }
    s += gridDim.x;
    if (s >= a.slices) return;
    row.template Load<T>(a, s);
  }
}

template <class V>
static GpErr GpTriLaunch(const GpTri *T, const GpTriVectors *vectors)
{
  const GpTriArgs a    = {(const int4 *)T->slice, T->col, T->val, T->diag, T->layout.slices, *vectors};
  const GpGrid    grid = {dim3((unsigned)T->blocks), GP_TRI_WARP};
  const bool      wide = T->batch > 4;

  switch (T->layout.lanes) {
  case 1:
    return wide ? GpLaunchVector(T->dev, "triangular solve", GpTriKernel<1, 8, V>, grid, a) : GpLaunchVector(T->dev, "triangular solve", GpTriKernel<1, 4, V>, grid, a);
  case 2:
    return wide ? GpLaunchVector(T->dev, "triangular solve", GpTriKernel<2, 8, V>, grid, a) : GpLaunchVector(T->dev, "triangular solve", GpTriKernel<2, 4, V>, grid, a);
  case 4:
    return GpLaunchVector(T->dev, "triangular solve", GpTriKernel<4, 8, V>, grid, a);
  case 8:
    return GpLaunchVector(T->dev, "triangular solve", GpTriKernel<8, 8, V>, grid, a);
  default:
    return GpLaunchVector(T->dev, "triangular solve", GpTriKernel<32, 8, V>, grid, a);
  }
}

GpErr GpTriSolve_CUDA(const GpTri *T, const GpTriVectors *vectors)
{
  return T->single ? GpTriLaunch<float>(T, vectors) : GpTriLaunch<double>(T, vectors);
}

GpErr GpTriReset_CUDA(GpDev dev, double *w, int64_t n)
{
  return GpLaunchVector(dev, "reset of a triangular solve", GpTriResetKernel, GpGrid{dim3(GpBlocks(n, GP_TRI_FILLERS)), GP_TRI_FILLERS}, w, n);
}
