/* Compressed sparse rows: memory, and the format that is nothing but these rows. */
#include "mat/impls/gpucsr/formats/gpformat.h"

GpErr GpCsrCreate(GpDev dev, GpPrec prec, int32_t m, int32_t n, int32_t nnz, GpCsr *A)
{
  GpErr err;

  *A  = (GpCsr){.dev = dev, .prec = prec, .m = m, .n = n, .nnz = nnz};
  err = GpDevAlloc(dev, ((size_t)m + 1) * sizeof(int32_t), &A->rowptr);
  if (!err) err = GpDevAlloc(dev, (size_t)nnz * sizeof(int32_t), &A->col);
  if (!err) err = GpDevAlloc(dev, (size_t)nnz * GpPrecBytes(prec), &A->val);
  if (err) GpCsrDestroy(A);
  return err;
}

void GpCsrDestroy(GpCsr *A)
{
  if (!A->dev) return;
  GpDevFree(A->dev, &A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t));
  GpDevFree(A->dev, &A->col, (size_t)A->nnz * sizeof(int32_t));
  GpDevFree(A->dev, &A->val, (size_t)A->nnz * GpPrecBytes(A->prec));
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
