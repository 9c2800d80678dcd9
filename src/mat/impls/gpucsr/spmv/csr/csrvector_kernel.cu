/* SpMV with 2 to 32 lanes a row: adjacent lanes load adjacent nonzeros, then halving steps add the lanes. After N. Bell and M. Garland, "Implementing
   sparse matrix-vector multiplication on throughput-oriented processors", SC09. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"
#include "device/gplaunch.h"

static constexpr int BLOCK = 256;

template <int LANES, bool EARLY>
__global__ static void CsrVector(GpHow how, int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *x, const double *z, double *y)
{
  const int64_t i    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  const int     lane = threadIdx.x % LANES;
  double        sum  = 0;

  GpBegin(how);
  const int32_t end = i < m ? (EARLY ? GpRead<true>(rowptr + i + 1) : rowptr[i + 1]) : 0;
  int32_t       k   = i < m ? (EARLY ? GpRead<true>(rowptr + i) : rowptr[i]) + lane : 0;
  if (EARLY) GpWait();
#pragma unroll 4
  for (; k < end; k += LANES) sum += (double)val[k] * (EARLY ? x[col[k]] : __ldg(x + col[k]));
  if (EARLY) GpNextMayStart();
#pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, LANES);
  if (i < m && lane == 0) y[i] = z ? z[i] + sum : sum;
}

template <int LANES>
static GpErr Launch(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  return GpLaunchProduct(C->dev, name, CsrVector<LANES, false>, CsrVector<LANES, true>, GpGrid{(unsigned)(((int64_t)C->m * LANES + BLOCK - 1) / BLOCK), BLOCK}, C->m, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
}

#define KERNEL(lanes) \
  GP_SPMV(csrvector##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
  { \
    return Launch<lanes>("csrvector" #lanes, A, x, z, y); \
  }

KERNEL(2)
KERNEL(4)
KERNEL(8)
KERNEL(16)
KERNEL(32)
