/* Host product with format ELL (ell.h). A row ends at its first padding. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/ell/ell.h"

GP_SPMV(ell)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpEll    *E   = (const GpEll *)A->data;
  const GpScalar *val = (const GpScalar *)E->val;

  for (int32_t i = 0; i < A->csr->m; i++) {
    double sum = 0;

    for (int64_t c = 0, at = i; c < E->width && E->col[at] >= 0; c++, at += E->stride) sum += (double)val[at] * x[E->col[at]];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}
