/* Host product of compressed rows with several vectors, for every format. The matrix is read once for a panel of up to four columns, whose sums fit
   the registers of a CPU. */
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

/* Multiplies by `width` columns, of which the first `live` exist. `width` is a constant at every call, so that the compiler unrolls the loops. */
static inline __attribute__((always_inline)) void MultPanel(const GpCsr *R, const GpColumns *C, int first, int live, int width)
{
  const GpScalar *val = (const GpScalar *)R->val;
  const double   *x[4];

  for (int c = 0; c < width; c++) x[c] = C->x[first + (c < live ? c : live - 1)];
  for (int32_t i = 0; i < R->m; i++) {
    double sum[4] = {0};

    for (int32_t k = R->rowptr[i]; k < R->rowptr[i + 1]; k++) {
      const int64_t j = R->col[k] * C->incx;
      const double  a = (double)val[k];

      for (int c = 0; c < width; c++) sum[c] += a * x[c][j];
    }
    for (int c = 0; c < live; c++) {
      double *y = C->y[first + c] + i * C->incy;

      *y = C->add ? *y + sum[c] : sum[c];
    }
  }
}

GP_SPMM(csr)(const GpFmt *A, const GpColumns *C)
{
  for (int first = 0; first < C->k; first += 4) {
    const int live = C->k - first < 4 ? C->k - first : 4;

    if (live > 2) MultPanel(A->csr, C, first, live, 4);
    else MultPanel(A->csr, C, first, live, 2);
  }
  return GP_SUCCESS;
}
