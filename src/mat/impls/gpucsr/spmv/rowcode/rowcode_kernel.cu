/* SpMV on row codes (rowcode.h): one thread a row; patterns are read through the L1 cache. Stencils on a grid have their own kernel
   (gprowgrid.h). Patterns hold doubles for either storage precision, so one CUDA implementation serves both. */
#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#if defined(GP_VALUE_F64)
extern "C" GpErr GpSpmv_rowcode_CUDA_f32(const GpFmt *A, const double *x, const double *z, double *y);

GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpSpmv_rowcode_CUDA_f32(A, x, z, y);
}

#else
  #include "device/gplaunch.h"
  #include "mat/impls/gpucsr/spmv/common/gpload.h"

static constexpr int BLOCK = 512;

/* the sum of one row; x points to the entry of x with the index of the row */
template <bool EARLY>
__device__ static double SumPattern(const int4 *__restrict__ entry, const int32_t *__restrict__ start, int32_t pattern, const double *x)
{
  const int32_t end = __ldg(start + pattern + 1);
  double        sum = 0;

  #pragma unroll 4
  for (int32_t e = __ldg(start + pattern); e < end; e++) {
    const int4 t = __ldg(entry + e);

    sum += __hiloint2double(t.y, t.x) * (EARLY ? x[t.z] : __ldg(x + t.z));
  }
  return sum;
}

  #include "mat/impls/gpucsr/spmv/rowcode/gprowgrid.h"

template <bool EARLY, typename Code>
__global__ static void __launch_bounds__(BLOCK) RowCode(GpHow how, int32_t m, const Code *__restrict__ code, const int32_t *__restrict__ start, const int4 *__restrict__ entry, const double *x, const double *z, double *y)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  GpBegin(how);
  if (i >= m) return;
  const int32_t pattern = EARLY ? GpRead<true>(code + i) : __ldg(code + i);
  if (EARLY) GpWait();
  const double sum = SumPattern<EARLY>(entry, start, pattern, x + i);
  if (EARLY) GpNextMayStart();
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpRowCode *R      = (const GpRowCode *)A->data;
  const unsigned   blocks = (unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK);

  if (!C->m) return GP_SUCCESS;
  if (R->mask) return MultGrid(C, R, x, z, y);
  if (R->width == 1) return GpLaunchProduct(C->dev, "rowcode", RowCode<false, uint8_t>, RowCode<true, uint8_t>, GpGrid{blocks, BLOCK}, C->m, (const uint8_t *)R->code, R->start, (const int4 *)R->entry, x, z, y);
  return GpLaunchProduct(C->dev, "rowcode", RowCode<false, uint16_t>, RowCode<true, uint16_t>, GpGrid{blocks, BLOCK}, C->m, (const uint16_t *)R->code, R->start, (const int4 *)R->entry, x, z, y);
}
#endif
