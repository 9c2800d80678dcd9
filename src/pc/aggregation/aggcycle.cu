/* The kernels of the cycle: products whose results are used at once, and vector operations (gpagg.h). */
#include "pc/aggregation/gpagg.h"

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

static double GpCycleGet(const void *x, GpPrec prec, int64_t i)
{
  return prec == GP_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void GpCycleSet(GpCycleVector y, int64_t i, double value)
{
  if (y.prec == GP_F32) ((float *)y.data)[i] = (float)value;
  else ((double *)y.data)[i] = value;
}

/* Returns entry i of A x. The products are added in the precision of x. */
static double GpCycleDot(const GpCycleMatrix *M, int32_t i, GpCycleVector x)
{
  const GpCsr *A      = &M->csr;
  double       sum    = 0;
  float        single = 0;

  for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
    if (x.prec == GP_F64) sum += GpCycleGet(A->val, A->prec, k) * ((const double *)x.data)[A->col[k]];
    else single += (float)GpCycleGet(A->val, A->prec, k) * ((const float *)x.data)[M->codes.count ? i + M->codes.offset[M->codes.code[k]] : A->col[k]];
  }
  return x.prec == GP_F64 ? sum : (double)single;
}

static double GpCycleRelaxed(const GpCycleRelaxation *r, GpPrec prec, int64_t i, const void *x, double ax)
{
  const double y = r->x * GpCycleGet(x, prec, i) + r->correction * GpCycleGet(r->inverse, prec, i) * (GpCycleGet(r->b, prec, i) - ax);

  return r->previous ? y + r->before * GpCycleGet(r->previous, prec, i) : y;
}

static GpErr GpCycleStart_Host(GpDev dev, int32_t n, double correction, GpCycleVector b, GpCycleVector inverse, GpCycleVector y, void *copy)
{
  const GpCycleVector to = {copy, y.prec};

  (void)dev;
  for (int32_t i = 0; i < n; i++) {
    const double bi = GpCycleGet(b.data, b.prec, i);

    GpCycleSet(y, i, correction * GpCycleGet(inverse.data, inverse.prec, i) * bi);
    if (copy) GpCycleSet(to, i, bi);
  }
  return GP_SUCCESS;
}

static GpErr GpCycleRelax_Host(const GpCycleMatrix *M, const GpCycleRelaxation *r, GpCycleVector x, GpCycleVector y)
{
  const GpCsr *A = &M->csr;

  for (int32_t i = 0; i < A->m; i++) GpCycleSet(y, i, GpCycleRelaxed(r, x.prec, i, x.data, GpCycleDot(M, i, x)));
  return GP_SUCCESS;
}

static GpErr GpCycleUpdate_Host(GpDev dev, int32_t n, const GpCycleRelaxation *r, const double *x, const double *ax, double *y)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) y[i] = GpCycleRelaxed(r, GP_F64, i, x, ax[i]);
  return GP_SUCCESS;
}

static GpErr GpCycleResidual_Host(const GpCycleMatrix *M, const void *b, GpCycleVector x, GpCycleVector r)
{
  const GpCsr *A = &M->csr;

  for (int32_t i = 0; i < A->m; i++) GpCycleSet(r, i, GpCycleGet(b, x.prec, i) - GpCycleDot(M, i, x));
  return GP_SUCCESS;
}

static GpErr GpCycleSubtract_Host(GpDev dev, int32_t n, const double *b, const double *ax, double *r)
{
  (void)dev;
  for (int32_t i = 0; i < n; i++) r[i] = b[i] - ax[i];
  return GP_SUCCESS;
}

static GpErr GpCycleMultiply_Host(const GpCycleMatrix *M, GpCycleVector x, GpCycleVector y)
{
  const GpCsr *A = &M->csr;

  for (int32_t i = 0; i < A->m; i++) GpCycleSet(y, i, GpCycleDot(M, i, x));
  return GP_SUCCESS;
}

static GpErr GpCycleAdd_Host(const GpCycleMatrix *M, GpCycleVector x, GpCycleVector y)
{
  const GpCsr *A = &M->csr;

  for (int32_t i = 0; i < A->m; i++) GpCycleSet(y, i, GpCycleGet(y.data, y.prec, i) + GpCycleDot(M, i, x));
  return GP_SUCCESS;
}

const GpCycleKernels GpCycleKernels_Host = {GpCycleStart_Host, GpCycleRelax_Host, GpCycleUpdate_Host, GpCycleResidual_Host, GpCycleSubtract_Host, GpCycleMultiply_Host, GpCycleAdd_Host};

#else
static constexpr int      BLOCK = 256;
static constexpr unsigned ALL   = 0xffffffffu;

/* Functions that use entry i of the product A x at once. X: precision of x and of the sum; Y: precision of the result. */
template <typename X, typename Y>
struct GpCycleRelaxer {
  X               factor, before, correction;
  const X        *b, *inverse, *previous, *x;
  Y              *y;
  __device__ void operator()(int64_t i, X ax) const
  {
    const X sum = factor * x[i] + correction * inverse[i] * (b[i] - ax);

    y[i] = (Y)(previous ? sum + before * previous[i] : sum);
  }
};
template <typename X, typename Y>
struct GpCycleSubtracter {
  const X        *b;
  Y              *r;
  __device__ void operator()(int64_t i, X ax) const { r[i] = (Y)(b[i] - ax); }
};
template <typename X, typename Y>
struct GpCycleSetter {
  Y              *y;
  __device__ void operator()(int64_t i, X ax) const { y[i] = (Y)ax; }
};
template <typename X, typename Y>
struct GpCycleAdder {
  Y              *y;
  __device__ void operator()(int64_t i, X ax) const { y[i] += (Y)ax; }
};
template <typename B, typename Y>
struct GpCycleStarter {
  double          correction;
  const B        *b;
  const Y        *inverse;
  Y              *y, *copy;
  __device__ void operator()(int64_t i, double) const
  {
    const Y bi = (Y)b[i];

    y[i] = (Y)correction * inverse[i] * bi;
    if (copy) copy[i] = bi;
  }
};

/* Returns the part of the sum of row i that one thread computes: the nonzeros lane, lane + LANES, ... of the row. */
template <typename T, typename X, int LANES>
__device__ static X GpCycleSum(const int32_t *rowptr, const int32_t *col, const T *val, const X *x, int64_t i, int lane)
{
  const int32_t end = rowptr[i + 1];
  X             sum = 0;

  for (int32_t k = rowptr[i] + lane; k < end; k += LANES) sum += (X)val[k] * x[col[k]];
  return sum;
}

/* LANES threads multiply a row. Vectors are read after GpWait(). */
template <typename T, typename X, int LANES, class Use>
__global__ static void __launch_bounds__(BLOCK) GpCycleProductKernel(int32_t m, const int32_t *rowptr, const int32_t *col, const T *val, const X *x, Use use)
{
  const int64_t i   = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  X             sum = 0;

  GpNextMayStart();
  GpWait();
  if (i < m) sum = GpCycleSum<T, X, LANES>(rowptr, col, val, x, i, threadIdx.x % LANES);
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(ALL, sum, half);
  if (i < m && threadIdx.x % LANES == 0) use(i, sum);
}

/* LANES threads multiply a row whose columns are stored as codes. Vectors are read after GpWait(). */
template <int LANES, class Use>
__global__ static void __launch_bounds__(BLOCK) GpCycleCodedKernel(int32_t m, const int32_t *rowptr, GpAggCodes codes, const float *val, const float *x, Use use)
{
  __shared__ int32_t offset[GP_AGG_OFFSETS];
  const int64_t      i   = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  float              sum = 0;

  GpNextMayStart();
  for (int o = threadIdx.x; o < codes.count; o += BLOCK) offset[o] = codes.offset[o];
  __syncthreads();
  GpWait();
  if (i < m) {
    const int32_t end = rowptr[i + 1];

    for (int32_t k = rowptr[i] + threadIdx.x % LANES; k < end; k += LANES) sum += val[k] * x[i + offset[codes.code[k]]];
  }
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(ALL, sum, half);
  if (i < m && threadIdx.x % LANES == 0) use(i, sum);
}

template <class Use>
__global__ static void __launch_bounds__(BLOCK) GpCycleVectorKernel(int32_t n, const double *ax, Use use)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  GpNextMayStart();
  GpWait();
  if (i < n) use(i, ax ? ax[i] : 0);
}

template <typename T, typename X, int LANES, class Use>
static GpErr GpCycleLaunch(const GpCycleMatrix *M, const void *x, const Use &use)
{
  const GpCsr *A = &M->csr;

  if constexpr (sizeof(T) == sizeof(float) && sizeof(X) == sizeof(float)) {
    if (M->codes.count) return GpLaunchEarly(A->dev, "multigrid cycle", GpCycleCodedKernel<LANES, Use>, GpGrid{GpBlocks((int64_t)A->m * LANES, BLOCK), BLOCK}, A->m, A->rowptr, M->codes, (const float *)A->val, (const float *)x, use);
  }
  return GpLaunchEarly(A->dev, "multigrid cycle", GpCycleProductKernel<T, X, LANES, Use>, GpGrid{GpBlocks((int64_t)A->m * LANES, BLOCK), BLOCK}, A->m, A->rowptr, A->col, (const T *)A->val, (const X *)x, use);
}

template <typename T, typename X, class Use>
static GpErr GpCycleSelect(const GpCycleMatrix *A, const void *x, const Use &use)
{
  if (!A->csr.m) return GP_SUCCESS;
  switch (A->lanes) {
  case 1:
    return GpCycleLaunch<T, X, 1>(A, x, use);
  case 2:
    return GpCycleLaunch<T, X, 2>(A, x, use);
  case 4:
    return GpCycleLaunch<T, X, 4>(A, x, use);
  case 8:
    return GpCycleLaunch<T, X, 8>(A, x, use);
  case 16:
    return GpCycleLaunch<T, X, 16>(A, x, use);
  default:
    return GpCycleLaunch<T, X, 32>(A, x, use);
  }
}

/* Selects the kernel by the precisions of A, x and y. make.use<X, Y>() returns the function that uses the product. */
template <class Make>
static GpErr GpCycleProduct(const GpCycleMatrix *A, GpCycleVector x, GpCycleVector y, const Make &make)
{
  if (A->csr.prec == GP_F64) {
    if (x.prec == GP_F64 && y.prec == GP_F64) return GpCycleSelect<double, double>(A, x.data, make.template use<double, double>());
    return GpDevFail(A->csr.dev, GP_ERR_ARGUMENT, "multigrid cycle: a matrix in double precision with a vector in single precision");
  }
  if (x.prec == GP_F64 && y.prec == GP_F64) return GpCycleSelect<float, double>(A, x.data, make.template use<double, double>());
  if (x.prec == GP_F64) return GpCycleSelect<float, double>(A, x.data, make.template use<double, float>());
  if (y.prec == GP_F64) return GpCycleSelect<float, float>(A, x.data, make.template use<float, double>());
  return GpCycleSelect<float, float>(A, x.data, make.template use<float, float>());
}

template <class Use>
static GpErr GpCycleVectorLaunch(GpDev dev, int32_t n, const double *ax, const Use &use)
{
  if (!n) return GP_SUCCESS;
  return GpLaunchEarly(dev, "multigrid cycle", GpCycleVectorKernel<Use>, GpGrid{GpBlocks(n, BLOCK), BLOCK}, n, ax, use);
}

struct GpCycleMakeRelaxer {
  const GpCycleRelaxation *r;
  const void              *x;
  void                    *y;
  template <typename X, typename Y>
  GpCycleRelaxer<X, Y> use() const
  {
    return {(X)r->x, (X)r->before, (X)r->correction, (const X *)r->b, (const X *)r->inverse, (const X *)r->previous, (const X *)x, (Y *)y};
  }
};
struct GpCycleMakeSubtracter {
  const void *b;
  void       *r;
  template <typename X, typename Y>
  GpCycleSubtracter<X, Y> use() const
  {
    return {(const X *)b, (Y *)r};
  }
};
struct GpCycleMakeSetter {
  void *y;
  template <typename X, typename Y>
  GpCycleSetter<X, Y> use() const
  {
    return {(Y *)y};
  }
};
struct GpCycleMakeAdder {
  void *y;
  template <typename X, typename Y>
  GpCycleAdder<X, Y> use() const
  {
    return {(Y *)y};
  }
};

static GpErr GpCycleStart_CUDA(GpDev dev, int32_t n, double correction, GpCycleVector b, GpCycleVector inverse, GpCycleVector y, void *copy)
{
  if (b.prec == GP_F32) return GpCycleVectorLaunch(dev, n, nullptr, GpCycleStarter<float, float>{correction, (const float *)b.data, (const float *)inverse.data, (float *)y.data, (float *)copy});
  if (y.prec == GP_F32) return GpCycleVectorLaunch(dev, n, nullptr, GpCycleStarter<double, float>{correction, (const double *)b.data, (const float *)inverse.data, (float *)y.data, (float *)copy});
  return GpCycleVectorLaunch(dev, n, nullptr, GpCycleStarter<double, double>{correction, (const double *)b.data, (const double *)inverse.data, (double *)y.data, (double *)copy});
}

static GpErr GpCycleRelax_CUDA(const GpCycleMatrix *A, const GpCycleRelaxation *r, GpCycleVector x, GpCycleVector y)
{
  return GpCycleProduct(A, x, y, GpCycleMakeRelaxer{r, x.data, y.data});
}

static GpErr GpCycleUpdate_CUDA(GpDev dev, int32_t n, const GpCycleRelaxation *r, const double *x, const double *ax, double *y)
{
  return GpCycleVectorLaunch(dev, n, ax, GpCycleMakeRelaxer{r, x, y}.use<double, double>());
}

static GpErr GpCycleResidual_CUDA(const GpCycleMatrix *A, const void *b, GpCycleVector x, GpCycleVector r)
{
  return GpCycleProduct(A, x, r, GpCycleMakeSubtracter{b, r.data});
}

static GpErr GpCycleSubtract_CUDA(GpDev dev, int32_t n, const double *b, const double *ax, double *r)
{
  return GpCycleVectorLaunch(dev, n, ax, GpCycleSubtracter<double, double>{b, r});
}

static GpErr GpCycleMultiply_CUDA(const GpCycleMatrix *A, GpCycleVector x, GpCycleVector y)
{
  return GpCycleProduct(A, x, y, GpCycleMakeSetter{y.data});
}

static GpErr GpCycleAdd_CUDA(const GpCycleMatrix *A, GpCycleVector x, GpCycleVector y)
{
  return GpCycleProduct(A, x, y, GpCycleMakeAdder{y.data});
}

extern const GpCycleKernels GpCycleKernels_CUDA = {GpCycleStart_CUDA, GpCycleRelax_CUDA, GpCycleUpdate_CUDA, GpCycleResidual_CUDA, GpCycleSubtract_CUDA, GpCycleMultiply_CUDA, GpCycleAdd_CUDA};
#endif
