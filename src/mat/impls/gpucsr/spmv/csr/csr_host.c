/* Host products with compressed rows. Most formats add arrays to compressed rows or copy them for a GPU; their product on the host is the first
   one here. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

GP_SPMV(csr)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr    *C      = A->csr;
  const int32_t  *rowptr = C->rowptr, *col = C->col;
  const GpScalar *val = (const GpScalar *)C->val;

  for (int32_t i = 0, k = 0; i < C->m; i++) {
    const int32_t end = rowptr[i + 1];
    double        sum = 0;

    for (; k < end; k++) sum += (double)val[k] * x[col[k]];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

/* y += A x takes only the time of the rows in the list. */
GP_SPMV(csrlist)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C   = A->csr;
  const GpCsrList *L   = (const GpCsrList *)A->data;
  const GpScalar  *val = (const GpScalar *)C->val;

  for (int32_t i = 0; z != y && i < C->m; i++) y[i] = z ? z[i] : 0.0;
  for (int32_t r = 0; r < L->n; r++) {
    const int32_t i   = L->row[r];
    double        sum = 0;

    for (int32_t k = C->rowptr[i]; k < C->rowptr[i + 1]; k++) sum += (double)val[k] * x[C->col[k]];
    y[i] += sum;
  }
  return GP_SUCCESS;
}
