/* Changes values in place: scaling, scaling of rows and columns, adding a matrix or a multiple of the identity, new values. Also products with
   the diagonal or with diagonal blocks. Host and CUDA use one formula in double precision; the result is stored as an upload would store it. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#include <math.h>
#include <string.h>

/* Returns the new value of nonzero k in row i and column j. The host applied the same operation to the same double, so the results have the same
   bits. For this reason the file is compiled without contracting products and sums (FMA). */
GP_INLINE double GpCsrGetUpdated(GpCsrUpdateKind kind, const GpCsrUpdate *u, int32_t i, int32_t j, int diagonal, int32_t k, double v)
{
  switch (kind) {
  case GP_UPDATE_SCALE:
    return v * u->factor;
  case GP_UPDATE_DIAGONAL:
    if (u->row && !u->columnfirst) v *= u->row[i];
    if (u->column) v *= u->column[j];
    return u->row && u->columnfirst ? v * u->row[i] : v;
  case GP_UPDATE_SHIFT:
    return diagonal ? v + u->factor : v;
  case GP_UPDATE_AXPY:
    return v + u->factor * (u->otherprec == GP_F32 ? (double)((const float *)u->other)[k] : ((const double *)u->other)[k]);
  default:
    return u->values[k];
  }
}

/* Returns 1 if nonzero k of column j is on the diagonal. This needs the pointers of row j only, and no search for the row of k. */
GP_INLINE int GpCsrIsOnDiagonal(const GpCsr *A, int64_t k, int32_t j)
{
  return j < A->m && A->rowptr[j] <= k && k < A->rowptr[j + 1];
}

GP_INLINE double GpCsrGetValue(const GpCsr *A, int64_t k)
{
  return A->prec == GP_F32 ? (double)((const float *)A->val)[k] : ((const double *)A->val)[k];
}

typedef struct {
  GpCsr          A;
  const int32_t *span;
  const double  *x;
  double        *y;
} Rows;

GP_STEP(TakeDiagonal)
{
  const Rows   *a = (const Rows *)args;
  const int32_t j = a->A.col[i];

  if (GpCsrIsOnDiagonal(&a->A, i, j)) a->y[j] = GpCsrGetValue(&a->A, i);
}

/* Multiplies row i with x, limited to the columns of its diagonal block. */
GP_STEP(MultBlockRow)
{
  const Rows *a = (const Rows *)args;
  double      s = 0;

  for (int32_t k = a->A.rowptr[i]; k < a->A.rowptr[i + 1]; k++) {
    const int32_t j = a->A.col[k];

    if (j >= a->span[2 * i] && j < a->span[2 * i + 1]) s += GpCsrGetValue(&a->A, k) * a->x[j];
  }
  a->y[i] = s;
}

GP_PAIR(GpCsrTakeDiagonal, const GpCsr *, double *diagonal);
GpErr GP_IMPL(GpCsrTakeDiagonal)(const GpCsr *A, double *diagonal)
{
  const Rows  a   = {*A, NULL, NULL, diagonal};
  const GpErr err = GpDevZero(A->dev, diagonal, (size_t)A->m * sizeof(double));

  return err ? err : GP_EACH(A->dev, Rows, TakeDiagonal, A->nnz, &a);
}

GP_PAIR(GpCsrMultBlockRows, const GpCsr *, const int32_t *span, const double *x, double *y);
GpErr GP_IMPL(GpCsrMultBlockRows)(const GpCsr *A, const int32_t *span, const double *x, double *y)
{
  const Rows a = {*A, span, x, y};

  return GP_EACH(A->dev, Rows, MultBlockRow, A->m, &a);
}

GP_PAIR(GpCsrChangeValues, GpCsr *, const GpCsrUpdate *, uint64_t *worst); /* worst: the maximum of GpCsrGetChange() */

/* Encodes the relative change of storing v as a float, and the position, in one number. The maximum of these numbers is the largest change, and
   the first position among equal changes. Zero means that nothing changed. */
GP_INLINE uint64_t GpCsrGetChange(double v, float stored, int32_t k)
{
  const double change = fabs(v - (double)stored);
  union {
    float    ratio;
    uint32_t bits;
  } r;

  if (!(change > 0)) return 0; /* NaN if v is not finite; such a value is kept as in AIJ */
  r.ratio = (float)(change / fabs(v));
  return ((uint64_t)r.bits << 32) | (0xffffffffu - (uint32_t)k);
}

#if !defined(__CUDACC__)

/* `kind` is a constant at every call, so that the compiler removes the decisions from the loops. */
static inline __attribute__((always_inline)) uint64_t GpCsrUpdateRows(GpCsr *A, const GpCsrUpdate *update, GpCsrUpdateKind kind)
{
  const GpCsrUpdate u     = *update;
  float            *f     = (float *)A->val;
  double           *d     = (double *)A->val;
  uint64_t          worst = 0;

  for (int32_t i = 0; i < A->m; i++) {
    const int32_t begin = A->rowptr[i], end = A->rowptr[i + 1];

    if (A->prec == GP_F64) {
      for (int32_t k = begin; k < end; k++) d[k] = GpCsrGetUpdated(kind, &u, i, A->col[k], A->col[k] == i, k, d[k]);
      continue;
    }
    for (int32_t k = begin; k < end; k++) {
      const double v = GpCsrGetUpdated(kind, &u, i, A->col[k], A->col[k] == i, k, (double)f[k]);

      f[k] = (float)v;
      if ((double)f[k] != v) {
        const uint64_t change = GpCsrGetChange(v, f[k], k);

        if (change > worst) worst = change;
      }
    }
  }
  return worst;
}

GpErr GpCsrChangeValues_Host(GpCsr *A, const GpCsrUpdate *u, uint64_t *worst)
{
  switch (u->kind) {
  case GP_UPDATE_SCALE:
    *worst = GpCsrUpdateRows(A, u, GP_UPDATE_SCALE);
    break;
  case GP_UPDATE_DIAGONAL:
    *worst = GpCsrUpdateRows(A, u, GP_UPDATE_DIAGONAL);
    break;
  case GP_UPDATE_SHIFT:
    *worst = GpCsrUpdateRows(A, u, GP_UPDATE_SHIFT);
    break;
  case GP_UPDATE_AXPY:
    *worst = GpCsrUpdateRows(A, u, GP_UPDATE_AXPY);
    break;
  default:
    *worst = GpCsrUpdateRows(A, u, GP_UPDATE_SET);
  }
  return GP_SUCCESS;
}

void GpCsrAxpyHost(int64_t n, double a, const double x[], double y[])
{
  for (int64_t k = 0; k < n; k++) y[k] += a * x[k];
}

GpErr GpCsrUpdateValues(GpCsr *A, const GpCsrUpdate *u, GpLoss *loss)
{
  uint64_t worst = 0;
  GpErr    err;

  *loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  if (!A->nnz) return GP_SUCCESS;
  err = GP_ON_DEVICE(A->dev, GpCsrChangeValues, A, u, &worst);
  if (err || !worst) return err;
  uint32_t bits = (uint32_t)(worst >> 32);
  float    ratio;

  memcpy(&ratio, &bits, sizeof(ratio));
  loss->at    = (int64_t)(0xffffffffu - (uint32_t)worst);
  loss->worst = (double)ratio;
  if (isinf(ratio)) loss->overflow = loss->at;
  return GP_SUCCESS;
}

GpErr GpCsrDiagonal(const GpCsr *A, double *diagonal)
{
  return GP_ON_DEVICE(A->dev, GpCsrTakeDiagonal, A, diagonal);
}

GpErr GpCsrMultBlocks(const GpCsr *A, const int32_t *span, const double *x, double *y)
{
  return GP_ON_DEVICE(A->dev, GpCsrMultBlockRows, A, span, x, y);
}

#else

static constexpr int BLOCK = 256;

static unsigned GpCsrUpdateGrid(int64_t n)
{
  return (unsigned)((n + BLOCK - 1) / BLOCK);
}

/* Returns the row of nonzero k: the last row that starts at or before it. */
__device__ static int32_t GpCsrFindRow(const GpCsr &A, int32_t k)
{
  int32_t lo = 0, hi = A.m;

  while (hi - lo > 1) {
    int32_t mid = lo + (hi - lo) / 2;

    if (A.rowptr[mid] <= k) lo = mid;
    else hi = mid;
  }
  return lo;
}

__device__ static uint64_t GpCsrStore(double v, int32_t k, double *val)
{
  val[k] = v;
  return 0;
}

__device__ static uint64_t GpCsrStore(double v, int32_t k, float *val)
{
  val[k] = (float)v;
  return GpCsrGetChange(v, val[k], k);
}

/* The maximum does not depend on the order of the threads, so atomicMax() is deterministic. */
template <typename T>
__global__ static void GpCsrUpdateKernel(GpCsr A, GpCsrUpdate u, unsigned long long *worst)
{
  T       *val  = (T *)A.val;
  uint64_t mine = 0;

  for (int64_t n = (int64_t)blockIdx.x * BLOCK + threadIdx.x; n < A.nnz; n += (int64_t)gridDim.x * BLOCK) {
    const int32_t  k = (int32_t)n, i = u.row ? GpCsrFindRow(A, k) : 0, j = A.col[k];
    const uint64_t change = GpCsrStore(GpCsrGetUpdated(u.kind, &u, i, j, u.kind == GP_UPDATE_SHIFT && GpCsrIsOnDiagonal(&A, k, j), k, (double)val[k]), k, val);

    mine = change > mine ? change : mine;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    for (int lane = 16; lane; lane /= 2) {
      const uint64_t theirs = __shfl_xor_sync(~0u, mine, lane);

      mine = theirs > mine ? theirs : mine;
    }
    if (mine && threadIdx.x % 32 == 0) atomicMax(worst, (unsigned long long)mine);
  }
}

GpErr GpCsrChangeValues_CUDA(GpCsr *A, const GpCsrUpdate *u, uint64_t *worst)
{
  GpDev               dev    = A->dev;
  unsigned long long *device = NULL;
  const unsigned      most   = 16 * (unsigned)GpDevComputeUnits(dev);
  const unsigned      blocks = GpCsrUpdateGrid(A->nnz) < most ? GpCsrUpdateGrid(A->nnz) : most;
  GpErr               err;

  if (A->prec == GP_F64) return GpLaunch(dev, "updating values", GpCsrUpdateKernel<double>, GpGrid{blocks, BLOCK}, *A, *u, device);
  err = GpDevBorrow(dev, sizeof(*device), &device);
  if (!err) err = GpDevZero(dev, device, sizeof(*device));
  if (!err) err = GpLaunch(dev, "updating values", GpCsrUpdateKernel<float>, GpGrid{blocks, BLOCK}, *A, *u, device);
  if (!err) err = GpDevDownload(dev, worst, device, sizeof(*device));
  GpDevReturn(dev, &device, sizeof(*device));
  return err;
}
#endif
