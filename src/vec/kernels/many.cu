/* Operations on one vector and up to GP_VEC_BATCH others. The one vector is read only once. */
#include "vec/kernels/gpvecreduce.h"

#if !defined(__CUDACC__)
static inline void AddProduct(const double *x, const double *y, int64_t i, double *sum, double *unused)
{
  (void)unused;
  *sum += x[i] * y[i];
}

/* Adds in the same order as dot of reduce.cu. All vectors y are processed for one chunk of x while that chunk is in the cache. */
GP_VEC(mdot)(GpVecWork *work, int64_t n, int many, const double *x, const double *const y[], int slot)
{
  for (int j = 0; j < many; j++) work->result[slot + j] = 0;
  for (int64_t begin = 0; begin < n; begin += GP_VEC_CHUNK)
    for (int j = 0; j < many; j++) GpVecAddChunk(AddProduct, 1, begin, n - begin < GP_VEC_CHUNK ? n : begin + GP_VEC_CHUNK, x, y[j], &work->result[slot + j]);
  return GP_SUCCESS;
}

GP_VEC(maxpy)(GpDev dev, int64_t n, int many, const double alpha[], const double *const x[], double *y)
{
  (void)dev;
  for (int64_t begin = 0; begin < n; begin += GP_VEC_CHUNK) {
    const int64_t end = n - begin < GP_VEC_CHUNK ? n : begin + GP_VEC_CHUNK;

    for (int j = 0; j < many; j++) {
      const double *const xj = x[j];
      const double        a  = alpha[j];

      _Pragma("GCC ivdep") for (int64_t i = begin; i < end; i++) y[i] += a * xj[i];
    }
  }
  return GP_SUCCESS;
}

#else
struct Vectors {
  const double *at[GP_VEC_BATCH];
  double        alpha[GP_VEC_BATCH];
};

template <int MANY>
__global__ static void __launch_bounds__(REDUCE) GpVecMDotKernel(int64_t n, const double *x, const Vectors y, volatile double *parts)
{
  const int64_t stride = (int64_t)gridDim.x * REDUCE;
  double        mine[MANY];

  GpNextMayStart();
  GpWait();
  GpReduceSums::start(mine);
  #pragma unroll 2
  for (int64_t i = (int64_t)blockIdx.x * REDUCE + threadIdx.x; i < n; i += stride) {
    const double xi = x[i];
  #pragma unroll
    for (int j = 0; j < MANY; j++) mine[j] += xi * y.at[j][i];
  }
  GpVecReduceToHost<GpReduceSums, MANY>(mine, parts);
}

template <int MANY>
__global__ static void __launch_bounds__(BLOCK) GpVecMAXPYKernel(int64_t n, const Vectors x, double *y)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  GpNextMayStart();
  GpWait();
  if (i < n) {
    double sum = y[i];
  #pragma unroll
    for (int j = 0; j < MANY; j++) sum += x.alpha[j] * x.at[j][i];
    y[i] = sum;
  }
}

/* Calls Case<MANY>::launch() with MANY equal to `many`. */
template <template <int> class Case, int MANY = 1, class... Args>
static GpErr Choose(int many, const Args &...args)
{
  if constexpr (MANY < GP_VEC_BATCH) {
    if (many > MANY) return Choose<Case, MANY + 1>(many, args...);
  }
  return Case<MANY>::launch(args...);
}

template <int MANY>
struct MDotCase {
  static GpErr launch(GpDev dev, unsigned grid, int64_t n, const double *x, const Vectors &y, double *parts) { return GpLaunchEarly(dev, "mdot", GpVecMDotKernel<MANY>, GpGrid{grid, REDUCE}, n, x, y, parts); }
};

template <int MANY>
struct MAXPYCase {
  static GpErr launch(GpDev dev, int64_t n, const Vectors &x, double *y) { return GpLaunchEarly(dev, "maxpy", GpVecMAXPYKernel<MANY>, GpGrid{GpBlocks(n, BLOCK), BLOCK}, n, x, y); }
};

GP_VEC(mdot)(GpVecWork *work, int64_t n, int many, const double *x, const double *const y[], int slot)
{
  const unsigned grid = GpVecReduceGrid(work->dev, n);
  Vectors        v    = {};
  double        *parts;
  GpErr          err;

  for (int j = 0; j < many; j++) work->result[slot + j] = 0;
  if (!n || !many) return GP_SUCCESS;
  for (int j = 0; j < many; j++) v.at[j] = y[j];
  err = GpVecExpect(work, (int)grid, many, slot, 0, &parts);
  if (err) return err;
  return Choose<MDotCase>(many, work->dev, grid, n, x, v, parts);
}

GP_VEC(maxpy)(GpDev dev, int64_t n, int many, const double alpha[], const double *const x[], double *y)
{
  Vectors v = {};

  if (!n || !many) return GP_SUCCESS;
  for (int j = 0; j < many; j++) {
    v.at[j]    = x[j];
    v.alpha[j] = alpha[j];
  }
  return Choose<MAXPYCase>(many, dev, n, v, y);
}
#endif
