/* The local part of a scatter: entries of a vector or a buffer replace entries of another one, are added to them, or are combined with them by
   maximum or minimum. */
#include "vec/kernels/gpveckernel.h"

#if !defined(__CUDACC__)
  #define MOVE(expression) \
    for (int64_t k = 0; k < m->n; k++) { \
      const int64_t to = m->to ? m->to[k] : k, begin = m->start ? m->start[k] : k, end = m->start ? m->start[k + 1] : k + 1; \
\
      for (int64_t j = begin; j < end; j++) { \
        const double *const from = x + bs * (m->from ? m->from[j] : j); \
\
        for (int e = 0; e < bs; e++) { \
          const double a = y[bs * to + e], b = from[e]; \
\
          (void)a; \
          y[bs * to + e] = (expression); \
        } \
      } \
    }

GP_VEC(move)(GpDev dev, GpVecMoveOp op, int bs, const GpVecMove *m, const double *x, double *y)
{
  (void)dev;
  if (op == GP_VEC_REPLACE) MOVE(b)
  else if (op == GP_VEC_ADD) MOVE(a + b)
  else if (op == GP_VEC_MAX) MOVE(a < b ? b : a)
  else MOVE(a < b ? a : b)
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256;

template <GpVecMoveOp OP>
__device__ static double GpVecCombine(double a, double b)
{
  if (OP == GP_VEC_REPLACE) return b;
  if (OP == GP_VEC_ADD) return a + b;
  if (OP == GP_VEC_MAX) return a < b ? b : a;
  return a < b ? a : b;
}

/* Each thread owns one entry of y and combines its sources in list order, so that sums have the same bits in every run. x or y may be pinned host
   memory; threads of a warp access it contiguously where the lists do. */
template <GpVecMoveOp OP>
__global__ static void __launch_bounds__(BLOCK) GpVecMoveKernel(int bs, GpVecMove m, const double *x, double *y)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x, k = bs == 1 ? i : i / bs, e = bs == 1 ? 0 : i % bs;

  if (k >= m.n) return;
  const int64_t to    = bs * (int64_t)(m.to ? m.to[k] : k) + e;
  const int64_t begin = m.start ? m.start[k] : k, end = m.start ? m.start[k + 1] : k + 1;
  double        value = OP == GP_VEC_REPLACE ? 0 : y[to];

  for (int64_t j = begin; j < end; j++) value = GpVecCombine<OP>(value, x[bs * (int64_t)(m.from ? m.from[j] : j) + e]);
  y[to] = value;
}

GP_VEC(move)(GpDev dev, GpVecMoveOp op, int bs, const GpVecMove *m, const double *x, double *y)
{
  void (*const kernels[])(int, GpVecMove, const double *, double *) = {GpVecMoveKernel<GP_VEC_REPLACE>, GpVecMoveKernel<GP_VEC_ADD>, GpVecMoveKernel<GP_VEC_MAX>, GpVecMoveKernel<GP_VEC_MIN>};

  if (!m->n) return GP_SUCCESS;
  return GpLaunch(dev, "move", kernels[op], GpGrid{(unsigned)((m->n * bs + BLOCK - 1) / BLOCK), BLOCK}, bs, *m, x, y);
}
#endif
