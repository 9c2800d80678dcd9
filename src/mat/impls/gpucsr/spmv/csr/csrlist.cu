/* Format csrlist: compressed rows and a list of the nonempty rows, for matrices with few of them, such as the off-diagonal block of a parallel
   matrix. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

typedef struct {
  const int32_t *rowptr;
  int32_t       *before; /* [m+1] number of nonempty rows before each row */
  int32_t       *row;
} List;

GP_STEP(MarkRow)
{
  const List *a = (const List *)args;

  a->before[i] = a->rowptr[i] < a->rowptr[i + 1];
}

GP_STEP(ListRow)
{
  const List *a = (const List *)args;

  if (a->before[i] < a->before[i + 1]) a->row[a->before[i]] = (int32_t)i;
}

GP_PAIR(GpCsrListBuild, GpCsrList *L, const GpCsr *C);
GpErr GP_IMPL(GpCsrListBuild)(GpCsrList *L, const GpCsr *C)
{
  GpDev        dev   = C->dev;
  const size_t bytes = ((size_t)C->m + 1) * sizeof(int32_t);
  List         a     = {C->rowptr, NULL, NULL};
  int32_t      n     = 0;
  GpErr        err   = GpDevBorrow(dev, bytes, &a.before);

  if (!err) err = GP_EACH(dev, List, MarkRow, C->m, &a);
  if (!err) err = GP_IMPL(GpScan)(dev, C->m, a.before);
  if (!err) err = GpDevDownload(dev, &n, a.before + C->m, sizeof(n));
  if (!err) err = GpDevAlloc(dev, (size_t)n * sizeof(int32_t), &L->row);
  a.row = L->row;
  if (!err) L->n = n;
  if (!err) err = GP_EACH(dev, List, ListRow, C->m, &a);
  GpDevReturn(dev, &a.before, bytes);
  return err;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpFmtBuild_csrlist(GpFmt *A, const int32_t rowptr[])
{
  GpCsrList *L = (GpCsrList *)calloc(1, sizeof(*L));

  (void)rowptr;
  A->data = L;
  if (!L) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a list of rows");
  return GP_ON_DEVICE(A->csr->dev, GpCsrListBuild, L, A->csr);
}

GpErr GpFmtRefill_csrlist(GpFmt *A)
{
  (void)A; /* the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrlist(GpFmt *A)
{
  GpCsrList *L = (GpCsrList *)A->data;

  if (!L) return;
  GpDevFree(A->csr->dev, &L->row, (size_t)L->n * sizeof(int32_t));
  free(L);
}

double GpFmtBytes_csrlist(const GpFmt *A)
{
  return (double)((const GpCsrList *)A->data)->n * sizeof(int32_t);
}

/* A product reads two row pointers for each row in the list. */
double GpFmtTraffic_csrlist(const GpFmt *A)
{
  return (double)A->csr->nnz * (double)(sizeof(int32_t) + GpPrecBytes(A->csr->prec)) + 3 * GpFmtBytes_csrlist(A);
}
#endif
