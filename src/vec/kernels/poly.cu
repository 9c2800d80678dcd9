/* Updates of polynomials of a matrix (gppoly.h), written once for both backends. */
#include "vec/kernels/gppoly.h"

typedef struct {
  double        a, b, c;
  const double *d, *w, *v;
  double       *z;
} GpPolyArgs;

GP_INLINE double GpPolyFactor(const GpPolyArgs *a, int64_t i)
{
  return a->d ? a->a * a->d[i] : a->a;
}

#if !defined(__CUDACC__)
static GpErr GpPolyLaunch(GpDev dev, int32_t n, const GpPolyArgs *a)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) {
    double z = GpPolyFactor(a, i) * a->w[i];

    if (a->v) z += a->b * a->v[i];
    if (a->c != 0) z += a->c * a->z[i];
    a->z[i] = z;
  }
  return GP_SUCCESS;
}

#else
  #include "device/gplaunch.h"

static constexpr int BLOCK = 256, UNROLL = 4;

/* Each thread takes UNROLL entries and reads all of them before it writes the first, so that the loads overlap. */
__global__ static void __launch_bounds__(BLOCK) GpPolyKernel(int32_t n, GpPolyArgs a)
{
  const int64_t first     = (int64_t)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
  double        w[UNROLL] = {}, v[UNROLL] = {}, z[UNROLL] = {}, d[UNROLL];

  GpNextMayStart();
  GpWait();
  #pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const int64_t i = first + k * BLOCK;

    d[k] = a.a;
    if (i >= n) continue;
    d[k] = GpPolyFactor(&a, i);
    w[k] = a.w[i];
    if (a.v) v[k] = a.v[i];
    if (a.c != 0) z[k] = a.z[i];
  }
  #pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const int64_t i = first + k * BLOCK;

    if (i < n) a.z[i] = d[k] * w[k] + a.b * v[k] + a.c * z[k];
  }
}

static GpErr GpPolyLaunch(GpDev dev, int32_t n, const GpPolyArgs *a)
{
  if (!n) return GP_SUCCESS;
  return GpLaunchEarly(dev, "step of a polynomial", GpPolyKernel, GpGrid{GpBlocks(n, BLOCK * UNROLL), BLOCK}, n, *a);
}
#endif

static GpErr GP_IMPL(GpPolyScale)(GpDev dev, int32_t n, double a, const double *d, const double *x, double *y)
{
  const GpPolyArgs args = {a, 0, 0, d, x, NULL, y};

  return GpPolyLaunch(dev, n, &args);
}

static GpErr GP_IMPL(GpPolyStep)(GpDev dev, int32_t n, double a, const double *d, const double *w, double b, const double *v, double c, double *before)
{
  const GpPolyArgs args = {a, b, c, d, w, v, before};

  return GpPolyLaunch(dev, n, &args);
}

GP_EXTERN const GpPolyKernels GP_IMPL(GpPolyKernels) = {GP_IMPL(GpPolyScale), GP_IMPL(GpPolyStep)};
