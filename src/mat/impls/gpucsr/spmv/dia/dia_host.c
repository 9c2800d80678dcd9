/* Host product with diagonals (dia.h). */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/dia/dia.h"

GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpDia    *D   = (const GpDia *)A->data;
  const GpScalar *val = (const GpScalar *)D->value;

  for (int32_t i = 0; i < A->csr->m; i++) {
    double sum = 0;

    for (int32_t d = 0; d < D->n; d++) {
      const double v = (double)val[d * D->stride + i];

      if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) sum += v * x[i + D->offset[d]];
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}
