/* The kernels of the cycle: products whose results are used at once, and vector operations (gpagg.h). */
#include "pc/aggregation/gpagg.h"

/* Value of y after a relaxation; ax is the entry of A x. */
GP_INLINE double GpCycleRelaxed(const GpCycleRelaxation *r, int64_t i, const double *x, double ax)
{
  const double y = r->x * x[i] + r->correction * r->inverse[i] * (r->b[i] - ax);

  return r->previous ? y + r->before * r->previous[i] : y;
}

#if !defined(__CUDACC__)
int GpCycleLanes(const GpCsr *A)
{
  const double mean  = A->m ? (double)A->nnz / A->m : 0;
  const int    full  = GpDevComputeUnits(A->dev) * 1024;
  int          lanes = 1;

  while (lanes < 32 && lanes * 4 < mean) lanes *= 2;
  while (lanes < 32 && lanes * 1.5 < mean && (double)A->m * lanes < full) lanes *= 2; /* a small matrix needs more threads */
  return lanes;
}

static double GpCycleDot(const GpCsr *A, int32_t i, const double *x)
{
  double sum = 0;

  for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += (A->prec == GP_F32 ? (double)((const float *)A->val)[k] : ((const double *)A->val)[k]) * x[A->col[k]];
  return sum;
}

static GpErr GpCycleRelaxFirst_Host(GpDev dev, int32_t n, double correction, const double *inverse, const double *b, double *y)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) y[i] = correction * inverse[i] * b[i];
  return GP_SUCCESS;
}

static GpErr GpCycleRelax_Host(const GpCsr *A, int lanes, const GpCycleRelaxation *r, const double *x, double *y)
{
  (void)lanes;
  for (int32_t i = 0; i < A->m; i++) y[i] = GpCycleRelaxed(r, i, x, GpCycleDot(A, i, x));
  return GP_SUCCESS;
}

static GpErr GpCycleUpdate_Host(GpDev dev, int32_t n, const GpCycleRelaxation *r, const double *x, const double *ax, double *y)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) y[i] = GpCycleRelaxed(r, i, x, ax[i]);
  return GP_SUCCESS;
}

static GpErr GpCycleResidual_Host(const GpCsr *A, int lanes, const double *b, const double *x, double *r)
{
  (void)lanes;
  for (int32_t i = 0; i < A->m; i++) r[i] = b[i] - GpCycleDot(A, i, x);
  return GP_SUCCESS;
}

static GpErr GpCycleSubtract_Host(GpDev dev, int32_t n, const double *b, const double *ax, double *r)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) r[i] = b[i] - ax[i];
  return GP_SUCCESS;
}

static GpErr GpCycleMultiply_Host(const GpCsr *A, int lanes, const double *x, double *y)
{
  (void)lanes;
  for (int32_t i = 0; i < A->m; i++) y[i] = GpCycleDot(A, i, x);
  return GP_SUCCESS;
}

static GpErr GpCycleAdd_Host(const GpCsr *A, int lanes, const double *x, double *y)
{
  (void)lanes;
  for (int32_t i = 0; i < A->m; i++) y[i] += GpCycleDot(A, i, x);
  return GP_SUCCESS;
}

const GpCycleKernels GpCycleKernels_Host = {GpCycleRelaxFirst_Host, GpCycleRelax_Host, GpCycleUpdate_Host, GpCycleResidual_Host, GpCycleSubtract_Host, GpCycleMultiply_Host, GpCycleAdd_Host};

#else
static constexpr int      BLOCK = 256;
static constexpr unsigned ALL   = 0xffffffffu;

/* What becomes of the product: functions of the row and of the entry of A x. */
struct GpCycleRelaxer {
  GpCycleRelaxation r;
  const double     *x;
  double           *y;
  __device__ void   operator()(int64_t i, double ax) const { y[i] = GpCycleRelaxed(&r, i, x, ax); }
};
struct GpCycleSubtracter {
  const double   *b;
  double         *r;
  __device__ void operator()(int64_t i, double ax) const { r[i] = b[i] - ax; }
};
struct GpCycleSetter {
  double         *y;
  __device__ void operator()(int64_t i, double ax) const { y[i] = ax; }
};
struct GpCycleAdder {
  double         *y;
  __device__ void operator()(int64_t i, double ax) const { y[i] += ax; }
};

/* LANES threads multiply a row. Vectors are read after GpWait(). */
template <typename T, int LANES, class Use>
__global__ static void __launch_bounds__(BLOCK) GpCycleProductKernel(int32_t m, const int32_t *rowptr, const int32_t *col, const T *val, const double *x, Use use)
{
  const int64_t i    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  const int     lane = threadIdx.x % LANES;
  double        sum  = 0;

  GpNextMayStart();
  GpWait();
  if (i < m) {
    const int32_t end = rowptr[i + 1];

    for (int32_t k = rowptr[i] + lane; k < end; k += LANES) sum += (double)val[k] * x[col[k]];
  }
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(ALL, sum, half);
  if (i < m && lane == 0) use(i, sum);
}

template <class Use>
__global__ static void __launch_bounds__(BLOCK) GpCycleVectorKernel(int32_t n, const double *ax, Use use)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  GpNextMayStart();
  GpWait();
  if (i < n) use(i, ax ? ax[i] : 0);
}

struct GpCycleFirst {
  double          correction;
  const double   *inverse, *b;
  double         *y;
  __device__ void operator()(int64_t i, double) const { y[i] = correction * inverse[i] * b[i]; }
};

template <typename T, int LANES, class Use>
static GpErr GpCycleLaunch(const GpCsr *A, const double *x, const Use &use)
{
  return GpLaunchEarly(A->dev, "multigrid cycle", GpCycleProductKernel<T, LANES, Use>, GpGrid{GpBlocks((int64_t)A->m * LANES, BLOCK), BLOCK}, A->m, A->rowptr, A->col, (const T *)A->val, x, use);
}

template <typename T, class Use>
static GpErr GpCycleSelect(const GpCsr *A, int lanes, const double *x, const Use &use)
{
  switch (lanes) {
  case 1:
    return GpCycleLaunch<T, 1>(A, x, use);
  case 2:
    return GpCycleLaunch<T, 2>(A, x, use);
  case 4:
    return GpCycleLaunch<T, 4>(A, x, use);
  case 8:
    return GpCycleLaunch<T, 8>(A, x, use);
  case 16:
    return GpCycleLaunch<T, 16>(A, x, use);
  default:
    return GpCycleLaunch<T, 32>(A, x, use);
  }
}

template <class Use>
static GpErr GpCycleProduct(const GpCsr *A, int lanes, const double *x, const Use &use)
{
  if (!A->m) return GP_SUCCESS;
  return A->prec == GP_F32 ? GpCycleSelect<float>(A, lanes, x, use) : GpCycleSelect<double>(A, lanes, x, use);
}

template <class Use>
static GpErr GpCycleVector(GpDev dev, int32_t n, const double *ax, const Use &use)
{
  if (!n) return GP_SUCCESS;
  return GpLaunchEarly(dev, "multigrid cycle", GpCycleVectorKernel<Use>, GpGrid{GpBlocks(n, BLOCK), BLOCK}, n, ax, use);
}

static GpErr GpCycleRelaxFirst_CUDA(GpDev dev, int32_t n, double correction, const double *inverse, const double *b, double *y)
{
  return GpCycleVector(dev, n, nullptr, GpCycleFirst{correction, inverse, b, y});
}

static GpErr GpCycleRelax_CUDA(const GpCsr *A, int lanes, const GpCycleRelaxation *r, const double *x, double *y)
{
  return GpCycleProduct(A, lanes, x, GpCycleRelaxer{*r, x, y});
}

static GpErr GpCycleUpdate_CUDA(GpDev dev, int32_t n, const GpCycleRelaxation *r, const double *x, const double *ax, double *y)
{
  return GpCycleVector(dev, n, ax, GpCycleRelaxer{*r, x, y});
}

static GpErr GpCycleResidual_CUDA(const GpCsr *A, int lanes, const double *b, const double *x, double *r)
{
  return GpCycleProduct(A, lanes, x, GpCycleSubtracter{b, r});
}

static GpErr GpCycleSubtract_CUDA(GpDev dev, int32_t n, const double *b, const double *ax, double *r)
{
  return GpCycleVector(dev, n, ax, GpCycleSubtracter{b, r});
}

static GpErr GpCycleMultiply_CUDA(const GpCsr *A, int lanes, const double *x, double *y)
{
  return GpCycleProduct(A, lanes, x, GpCycleSetter{y});
}

static GpErr GpCycleAdd_CUDA(const GpCsr *A, int lanes, const double *x, double *y)
{
  return GpCycleProduct(A, lanes, x, GpCycleAdder{y});
}

extern const GpCycleKernels GpCycleKernels_CUDA = {GpCycleRelaxFirst_CUDA, GpCycleRelax_CUDA, GpCycleUpdate_CUDA, GpCycleResidual_CUDA, GpCycleSubtract_CUDA, GpCycleMultiply_CUDA, GpCycleAdd_CUDA};
#endif
