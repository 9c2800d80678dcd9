/* Compressed sparse rows and a list of the rows that have entries, for matrices of whose rows few have: the off-diagonal block of
   a parallel matrix. */
#include "mat/impls/gpucsr/formats/gpformat.h"

#include <stdlib.h>

GpErr GpFmtBuild_csrlist(GpFmt *A, const int32_t rowptr[])
{
  GpDev         dev = A->csr->dev;
  const int32_t m   = A->csr->m;
  GpCsrList    *L   = (GpCsrList *)calloc(1, sizeof(*L));
  int32_t      *row = (int32_t *)malloc(((size_t)m + 1) * sizeof(int32_t));
  GpErr         err;

  A->data = L;
  if (!L || !row) {
    free(row);
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a list of rows");
  }
  for (int32_t i = 0; i < m; i++)
    if (rowptr[i] < rowptr[i + 1]) row[L->n++] = i;
  err = GpDevAlloc(dev, (size_t)L->n * sizeof(int32_t), &L->row);
  if (!err) err = GpDevUpload(dev, L->row, row, (size_t)L->n * sizeof(int32_t));
  free(row);
  return err;
}

GpErr GpFmtRefill_csrlist(GpFmt *A)
{
  (void)A; /* the values are those of the rows */
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

/* of the row pointers, two for each row in the list */
double GpFmtTraffic_csrlist(const GpFmt *A)
{
  return (double)A->csr->nnz * (double)(sizeof(int32_t) + GpPrecBytes(A->csr->prec)) + 3 * GpFmtBytes_csrlist(A);
}
