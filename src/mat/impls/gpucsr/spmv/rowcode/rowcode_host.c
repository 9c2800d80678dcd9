/* Host product with row codes (rowcode.h). */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"

GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpRowCode *R = (const GpRowCode *)A->data;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const int32_t p   = R->width == 1 ? ((const uint8_t *)R->code)[i] : ((const uint16_t *)R->code)[i];
    double        sum = 0;

    for (int32_t e = R->start[p]; e < R->start[p + 1]; e++) sum += R->entry[e].value * x[i + R->entry[e].offset];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}
