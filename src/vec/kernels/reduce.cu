/* Reductions of one or two vectors: sums of one or two terms, or the largest value and its first position, where NaN is larger than any number.

   One definition gives the host and the CUDA implementation. The order of the additions depends only on n, on the backend and on the GPU. */
#include "vec/kernels/gpvecreduce.h"

#include <math.h>

enum {
  X  = 1,
  Y  = 2,
  XY = 3
};

#if !defined(__CUDACC__)
  #define GP_SUM(name, reads, terms, term0, term1) \
    static inline void Add_##name(const double *px, const double *py, int64_t i, double *sum0, double *sum1) \
    { \
      const double x = px[i], y = ((reads)&Y) ? py[i] : 0; \
\
      (void)y; \
      *sum0 += (term0); \
      if ((terms) > 1) *sum1 += (term1); \
    } \
    GP_VEC(name)(GpVecWork * work, int64_t n, const double *px, const double *py, int slot) \
    { \
      double total[2] = {0, 0}; \
\
      for (int64_t begin = 0; begin < n; begin += GP_VEC_CHUNK) GpVecAddChunk(Add_##name, terms, begin, n - begin < GP_VEC_CHUNK ? n : begin + GP_VEC_CHUNK, px, py, total); \
      for (int t = 0; t < (terms); t++) work->result[slot + t] = total[t]; \
      return GP_SUCCESS; \
    }

  #define GP_MOST(name, reads, value) \
    GP_VEC(name)(GpVecWork * work, int64_t n, const double *px, const double *py, int slot) \
    { \
      double  most  = -INFINITY; \
      int64_t place = -1; \
\
      (void)py; \
      for (int64_t i = 0; i < n; i++) { \
        const double x = px[i], y = ((reads)&Y) ? py[i] : 0, v = (value); \
\
        (void)y; \
        if (place < 0 || v > most || (v != v && most == most)) { \
          most  = v; \
          place = i; \
        } \
      } \
      work->result[slot]     = most; \
      work->result[slot + 1] = (double)place; \
      return GP_SUCCESS; \
    }

#else
struct Most {
  __device__ static void start(double (&most)[2])
  {
    most[0] = -INFINITY;
    most[1] = -1;
  }
  __device__ static void merge(double (&most)[2], const double (&other)[2]) { GpVecMost(most, other); }
};

/* Rule gives K (number of results), reads (which vectors it reads), start, take and merge. */
template <class Rule>
__global__ static void __launch_bounds__(REDUCE) GpVecReduceKernel(int64_t n, const double *px, const double *py, volatile double *parts)
{
  const int64_t stride = (int64_t)gridDim.x * REDUCE;
  double        mine[Rule::K];

  GpNextMayStart();
  Rule::start(mine);
  GpWait();
  #pragma unroll 4
  for (int64_t i = (int64_t)blockIdx.x * REDUCE + threadIdx.x; i < n; i += stride) Rule::take(mine, i, px[i], (Rule::reads & Y) ? py[i] : 0.0);
  GpVecReduceToHost<Rule, Rule::K>(mine, parts);
}

  #define GP_LAUNCH(name, rule) \
    GP_VEC(name)(GpVecWork * work, int64_t n, const double *x, const double *y, int slot) \
    { \
      const unsigned grid = GpVecReduceGrid(work->dev, n); \
      double        *parts; \
      GpErr          err; \
\
      if (!n) return rule::nothing(work, slot); \
      err = GpVecExpect(work, (int)grid, rule::K, slot, rule::most, &parts); \
      if (err) return err; \
      return GpLaunchEarly(work->dev, #name, GpVecReduceKernel<rule>, GpGrid{grid, REDUCE}, n, x, y, parts); \
    }

  #define GP_SUM(name, what, terms, term0, term1) \
    struct Rule_##name : GpReduceSums { \
      static constexpr int   K = (terms), reads = (what), most = 0; \
      __device__ static void take(double (&sum)[K], int64_t, double x, double y) \
      { \
        sum[0] += (term0); \
        if (K > 1) sum[K - 1] += (term1); \
      } \
      static GpErr nothing(GpVecWork *work, int slot) \
      { \
        for (int k = 0; k < K; k++) work->result[slot + k] = 0; \
        return GP_SUCCESS; \
      } \
    }; \
    GP_LAUNCH(name, Rule_##name)

  #define GP_MOST(name, what, value) \
    struct Rule_##name : Most { \
      static constexpr int   K = 2, reads = (what), most = 1; \
      __device__ static void take(double (&most)[K], int64_t i, double x, double y) \
      { \
        const double v = (value); \
\
        if (most[1] < 0 || v > most[0] || (v != v && most[0] == most[0])) { \
          most[0] = v; \
          most[1] = (double)i; \
        } \
      } \
      static GpErr nothing(GpVecWork *work, int slot) \
      { \
        work->result[slot]     = -INFINITY; \
        work->result[slot + 1] = -1; \
        return GP_SUCCESS; \
      } \
    }; \
    GP_LAUNCH(name, Rule_##name)
#endif

GP_SUM(sum, X, 1, x, 0)
GP_SUM(dot, XY, 1, x *y, 0)
GP_SUM(norm1, X, 1, fabs(x), 0)
GP_SUM(square, X, 1, x *x, 0)
GP_SUM(norm12, X, 2, fabs(x), x *x)
GP_SUM(dotsquare, XY, 2, x *y, y *y)
GP_MOST(max, X, x)
GP_MOST(min, X, -x)
GP_MOST(maxabs, X, fabs(x))
GP_MOST(maxratio, XY, fabs(y != 0 ? x / y : x))
