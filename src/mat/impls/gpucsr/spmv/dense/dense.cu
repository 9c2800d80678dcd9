/* Builds format dense. */
#include "mat/impls/gpucsr/spmv/dense/dense.h"

#define MOST_PADDING 2.0 /* maximum ratio of stored entries to nonzeros; a column index per nonzero would take as many bytes */
#define FREE_PADDING 1e4 /* number of stored entries that is always accepted */
#define PIECE        512 /* minimum number of columns of a part */
#define WARPS_WANTED 48  /* number of warps per multiprocessor that keeps its memory pipeline busy */

#if !defined(__CUDACC__)
  #include <stdlib.h>

static GpErr Fill_Host(const GpCsr *A, const GpDense *D, int32_t *wrong)
{
  for (int32_t i = 0; i < A->m; i++) {
    const int64_t row = (int64_t)i * D->stride;

    for (int64_t j = 0; j < D->stride; j++) GpPutOrHole(A->prec == GP_F32, D->value, row + j, A->val, -1);
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      GpPutOrHole(A->prec == GP_F32, D->value, row + A->col[k], A->val, k);
      if (k > A->rowptr[i] && A->col[k] <= A->col[k - 1]) *wrong = 1;
    }
  }
  return GP_SUCCESS;
}

  #if GP_HAVE_CUDA
GpErr GpDenseFill_CUDA(const GpCsr *, const GpDense *, int32_t *);
  #endif

static GpErr Fill(const GpCsr *A, const GpDense *D, int32_t *wrong)
{
  #if GP_HAVE_CUDA
  if (A->dev->kind == GP_DEV_CUDA) return GpDenseFill_CUDA(A, D, wrong);
  #endif
  return Fill_Host(A, D, wrong);
}

GpErr GpFmtRefill_dense(GpFmt *F)
{
  GpDev          dev = F->csr->dev;
  const GpDense *D   = (const GpDense *)F->data;
  int32_t       *flag, wrong = 0;
  GpErr          err;

  if (!F->csr->nnz) return GP_SUCCESS;
  err = GpDevBorrow(dev, sizeof(*flag), &flag);
  if (err) return err;
  err = dev->ops->zero(dev, flag, sizeof(*flag));
  if (!err) err = Fill(F->csr, D, flag);
  if (!err) err = GpDevDownload(dev, &wrong, flag, sizeof(wrong));
  GpDevReturn(dev, &flag, sizeof(*flag));
  return !err && wrong ? GpDevFail(dev, GP_ERR_ARGUMENT, "the column indices of a row do not ascend") : err;
}

GpErr GpFmtBuild_dense(GpFmt *F, const int32_t rowptr[])
{
  const GpCsr *A    = F->csr;
  const double size = (double)A->m * A->n;
  GpDense     *D    = (GpDense *)calloc(1, sizeof(*D));
  int64_t      warps, parts;
  GpErr        err;

  (void)rowptr;
  F->data = D;
  if (!D) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for dense rows");
  if (size > MOST_PADDING * A->nnz + FREE_PADDING) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "a dense matrix of %d x %d stores %.1f times the nonzeros; the limit is %g", (int)A->m, (int)A->n, size / A->nnz, MOST_PADDING);
  if (!A->nnz) return GP_SUCCESS;
  D->stride = ((int64_t)A->n + 31) / 32 * 32;
  warps     = ((int64_t)A->m + GP_DENSE_ROWS - 1) / GP_DENSE_ROWS;
  parts     = WARPS_WANTED * (int64_t)A->dev->compute_units / warps;
  if (parts > A->n / PIECE) parts = A->n / PIECE;
  D->parts = parts > 1 ? (int32_t)parts : 1;
  err      = GpDevAlloc(A->dev, (size_t)A->m * (size_t)D->stride * GpPrecBytes(A->prec), &D->value);
  if (!err && D->parts > 1) err = GpDevAlloc(A->dev, (size_t)A->m * (size_t)D->parts * sizeof(double), &D->partial);
  return err ? err : GpFmtRefill_dense(F);
}

void GpFmtDestroy_dense(GpFmt *F)
{
  GpDense *D = (GpDense *)F->data;

  if (!D) return;
  GpDevFree(F->csr->dev, &D->value, (size_t)F->csr->m * (size_t)D->stride * GpPrecBytes(F->csr->prec));
  GpDevFree(F->csr->dev, &D->partial, (size_t)F->csr->m * (size_t)D->parts * sizeof(double));
  free(D);
}

double GpFmtBytes_dense(const GpFmt *F)
{
  const GpDense *D = (const GpDense *)F->data;

  return (double)F->csr->m * ((double)D->stride * (double)GpPrecBytes(F->csr->prec) + (D->partial ? D->parts * 8.0 : 0.0));
}

double GpFmtTraffic_dense(const GpFmt *F)
{
  const GpDense *D = (const GpDense *)F->data;

  return GpFmtBytes_dense(F) + (D->partial ? 8.0 * D->parts * F->csr->m : 0.0); /* partial sums are written and then read */
}

#else
static constexpr int BLOCK = 256, WARPS = BLOCK / GP_WARP;

/* A warp takes a row. No two warps write the same position, and a warp writes its holes before its nonzeros. */
__global__ static void Fill(GpCsr A, GpDense D, int32_t *wrong)
{
  const int64_t i    = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;
  const int     lane = threadIdx.x % GP_WARP;

  if (i >= A.m) return;
  for (int64_t j = lane; j < D.stride; j += GP_WARP) GpPutOrHole(A.prec == GP_F32, D.value, i * D.stride + j, A.val, -1);
  __syncwarp();
  for (int32_t k = A.rowptr[i] + lane; k < A.rowptr[i + 1]; k += GP_WARP) {
    if (k > A.rowptr[i] && A.col[k] <= A.col[k - 1]) *wrong = 1;
    GpPutOrHole(A.prec == GP_F32, D.value, i * D.stride + A.col[k], A.val, k);
  }
}

extern "C" GpErr GpDenseFill_CUDA(const GpCsr *A, const GpDense *D, int32_t *wrong)
{
  Fill<<<(unsigned)(((int64_t)A->m + WARPS - 1) / WARPS), BLOCK, 0, (cudaStream_t)A->dev->stream>>>(*A, *D, wrong);
  return GpDevCheckLaunch(A->dev, "filling dense rows");
}
#endif
