/* Host product with block CSR (bsr.h). */
#include "mat/impls/gpucsr/spmv/bsr/bsr.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

GP_SPMV(bsr)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpBsr    *B    = (const GpBsr *)A->data;
  const GpScalar *val  = (const GpScalar *)B->value;
  const int32_t   rows = GP_WARP * B->b; /* rows of a slice */

  for (int32_t i = 0; i < A->csr->m; i++) {
    const int32_t s = i / rows, r = i % rows;
    double        sum = 0;

    for (int64_t c = GpBsrStart(B, s); c < GpBsrStart(B, s + 1); c++) {
      for (int32_t k = 0; k < B->b; k++) {
        const double v = (double)val[(c * B->b + k) * rows + r];

        if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) sum += v * x[B->col[c * GP_WARP + r / B->b] * B->b + k];
      }
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}
