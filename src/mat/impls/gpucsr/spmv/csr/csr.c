/* Compressed sparse rows: allocation, and the format that consists of these arrays only. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

/* Computes the addresses of columns and values and returns the bytes of all arrays. The three arrays share one allocation, because every
   allocation costs time in the driver. Each starts at a multiple of 256 bytes. */
static size_t GpCsrPlaceArrays(GpCsr *A)
{
  const size_t line = 256, col = (((size_t)A->m + 1) * sizeof(int32_t) + line - 1) / line * line, val = col + ((size_t)A->nnz * sizeof(int32_t) + line - 1) / line * line;

  if (A->rowptr && A->nnz) {
    A->col = (int32_t *)((char *)A->rowptr + col);
    A->val = (char *)A->rowptr + val;
  }
  return val + (size_t)A->nnz * GpPrecBytes(A->prec);
}

GpErr GpCsrCreate(GpDev dev, GpPrec prec, int32_t m, int32_t n, int32_t nnz, GpCsr *A)
{
  GpErr err;

  *A  = (GpCsr){.dev = dev, .prec = prec, .m = m, .n = n, .nnz = nnz};
  err = GpDevAlloc(dev, GpCsrPlaceArrays(A), &A->rowptr);
  if (err) *A = (GpCsr){0};
  else (void)GpCsrPlaceArrays(A);
  return err;
}

void GpCsrDestroy(GpCsr *A)
{
  if (A->dev) GpDevFree(A->dev, &A->rowptr, GpCsrPlaceArrays(A));
  *A = (GpCsr){0};
}

double GpCsrBytes(const GpCsr *A)
{
  return A->dev ? ((double)A->m + 1) * sizeof(int32_t) + (double)A->nnz * (sizeof(int32_t) + GpPrecBytes(A->prec)) : 0.0;
}

GpErr GpFmtBuild_csr(GpFmt *A, const int32_t rowptr[])
{
  (void)A;
  (void)rowptr;
  return GP_SUCCESS;
}

GpErr GpFmtRefill_csr(GpFmt *A)
{
  (void)A;
  return GP_SUCCESS;
}

void GpFmtDestroy_csr(GpFmt *A)
{
  (void)A;
}

double GpFmtBytes_csr(const GpFmt *A)
{
  (void)A;
  return 0.0;
}

double GpFmtTraffic_csr(const GpFmt *A)
{
  return GpCsrBytes(A->csr);
}
