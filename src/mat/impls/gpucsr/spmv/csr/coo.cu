/* Coordinates: compressed rows plus the row index of every nonzero. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

typedef struct {
  int32_t        m;
  const int32_t *rowptr;
  int32_t       *row;
} Expand;

GP_STEP(RowOfNonzero)
{
  const Expand *a  = (const Expand *)args;
  int32_t       lo = 0, hi = a->m;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->rowptr[mid] <= i) lo = mid;
    else hi = mid;
  }
  a->row[i] = lo;
}

GP_PAIR(GpCooRowsBuild, GpCooRows *T, const GpCsr *C);
GpErr GP_IMPL(GpCooRowsBuild)(GpCooRows *T, const GpCsr *C)
{
  GpErr  err = GpDevAlloc(C->dev, (size_t)C->nnz * sizeof(int32_t), &T->row);
  Expand a   = {C->m, C->rowptr, T->row};

  T->nstrips = (int32_t)(((int64_t)C->nnz + GP_COO_STRIP - 1) / GP_COO_STRIP);
  if (!err) err = GpDevAlloc(C->dev, 2 * (size_t)T->nstrips * sizeof(double), &T->carry);
  return err ? err : GP_EACH(C->dev, Expand, RowOfNonzero, C->nnz, &a);
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpFmtBuild_coo(GpFmt *A, const int32_t rowptr[])
{
  A->data = calloc(1, sizeof(GpCooRows));
  (void)rowptr;
  if (!A->data) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a format");
  return GP_ON_DEVICE(A->csr->dev, GpCooRowsBuild, (GpCooRows *)A->data, A->csr);
}

GpErr GpFmtRefill_coo(GpFmt *A)
{
  (void)A; /* the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_coo(GpFmt *A)
{
  GpCooRows *T = (GpCooRows *)A->data;

  if (!T) return;
  GpDevFree(A->csr->dev, &T->row, (size_t)A->csr->nnz * sizeof(int32_t));
  GpDevFree(A->csr->dev, &T->carry, 2 * (size_t)T->nstrips * sizeof(double));
  free(T);
}

double GpFmtBytes_coo(const GpFmt *A)
{
  return (double)A->csr->nnz * sizeof(int32_t) + 2.0 * ((const GpCooRows *)A->data)->nstrips * sizeof(double);
}

double GpFmtTraffic_coo(const GpFmt *A)
{
  return (double)A->csr->nnz * (2 * sizeof(int32_t) + GpPrecBytes(A->csr->prec)) + 4.0 * ((const GpCooRows *)A->data)->nstrips * sizeof(double) + (double)A->csr->m * sizeof(double); /* y is set to zero first */
}
#endif
