/* Elementwise operations: one formula defines the host and the CUDA implementation. */
#include "vec/kernels/gpveckernel.h"

#include <math.h>

/* the vectors that a formula reads, as bits */
enum {
  NONE,
  X  = 1,
  Y  = 2,
  XY = 3,
  Z  = 4,
  XZ = 5
};

#if !defined(__CUDACC__)
/* ivdep is valid although z may be x or y: entry i depends only on entries i */
  #define GP_MAP(name, reads, formula) \
    GP_VEC(name)(GpDev dev, int64_t n, const double scalars[3], const double *px, const double *py, double *pz) \
    { \
      const double a = scalars[0], b = scalars[1], c = scalars[2]; \
\
      (void)dev; \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) \
      { \
        const double x = ((reads)&X) ? px[i] : 0, y = ((reads)&Y) ? py[i] : 0, z = ((reads)&Z) ? pz[i] : 0; \
\
        (void)a, (void)b, (void)c, (void)x, (void)y, (void)z; \
        pz[i] = (formula); \
      } \
      return GP_SUCCESS; \
    }

#else
  #include "device/gplaunch.h"

static constexpr int BLOCK = 256, UNROLL = 4;

/* Each thread takes UNROLL entries and reads all of them before it writes the first, so that the loads overlap. */
template <class Formula>
__global__ static void GpVecMapKernel(int64_t n, double a, double b, double c, const double *px, const double *py, double *pz)
{
  const int64_t first     = (int64_t)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
  double        x[UNROLL] = {}, y[UNROLL] = {}, z[UNROLL] = {};

  GpNextMayStart();
  GpWait();
  #pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const int64_t i = first + k * BLOCK;

    if (i < n) {
      if (Formula::reads & X) x[k] = px[i];
      if (Formula::reads & Y) y[k] = py[i];
      if (Formula::reads & Z) z[k] = pz[i];
    }
  }
  #pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const int64_t i = first + k * BLOCK;

    if (i < n) pz[i] = Formula::of(a, b, c, x[k], y[k], z[k]);
  }
}

  #define GP_MAP(name, what, formula) \
    struct Formula_##name { \
      static constexpr int     reads = (what); \
      __device__ static double of(double a, double b, double c, double x, double y, double z) { return (formula); } \
    }; \
    GP_VEC(name)(GpDev dev, int64_t n, const double scalars[3], const double *x, const double *y, double *z) \
    { \
      if (!n) return GP_SUCCESS; \
      return GpLaunchEarly(dev, #name, GpVecMapKernel<Formula_##name>, GpGrid{(unsigned)((n + BLOCK * UNROLL - 1) / (BLOCK * UNROLL)), BLOCK}, n, scalars[0], scalars[1], scalars[2], x, y, z); \
    }
#endif

GP_MAP(set, NONE, a)
GP_MAP(scale, Z, a *z)
GP_MAP(shift, Z, z + a)
GP_MAP(multiple, X, a *x)
GP_MAP(axpy, XZ, a *x + z)
GP_MAP(aypx, XZ, x + a * z)
GP_MAP(axpby, XZ, a *x + b * z)
GP_MAP(waxpy, XY, a *x + y)
GP_MAP(combine, XY, a *x + b * y)
GP_MAP(axpbypcz, XY | Z, a *x + b * y + c * z)
GP_MAP(product, XY, x *y)
GP_MAP(quotient, XY, y != 0 ? x / y : (x == 0 ? a : 0))
GP_MAP(larger, XY, x < y ? y : x)
GP_MAP(smaller, XY, x < y ? x : y)
GP_MAP(largerabs, XY, fabs(x) < fabs(y) ? fabs(y) : fabs(x))
GP_MAP(reciprocal, Z, z != 0 ? 1 / z : 0)
GP_MAP(absolute, Z, fabs(z))
GP_MAP(sqrtabs, Z, sqrt(fabs(z)))
