/* SpMV after El Zein's sequential variants: one thread a row, padded rows, loads of four nonzeros. */
#ifndef GPSEQ_H
#define GPSEQ_H

#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

static constexpr int SEQ_BLOCK = 128;

struct alignas(16) Quad {
  GpScalar v[GP_PAD];
};

struct ReadOnlyX {
  const double *x;

  __device__ double operator()(int32_t j) const { return __ldg(x + j); }
};

template <class X>
__global__ static void __launch_bounds__(SEQ_BLOCK) SeqRows(int32_t m, GpCsrPad P, const int32_t *__restrict__ rowptr, X x, const double *z, double *y)
{
  const int64_t i = (int64_t)blockIdx.x * SEQ_BLOCK + threadIdx.x;

  if (i >= m) return;
  int32_t     left = rowptr[i + 1] - rowptr[i];
  const int4 *col  = (const int4 *)P.col + P.start[i];
  const Quad *val  = (const Quad *)P.val + P.start[i];
  double      sum  = 0;
  for (; left > 0; left -= GP_PAD, col++, val++) { /* padding is loaded but reads no entry of x */
    const int4 c = *col;
    const Quad v = *val;

    sum += (double)v.v[0] * x(c.x);
    if (left > 1) sum += (double)v.v[1] * x(c.y);
    if (left > 2) sum += (double)v.v[2] * x(c.z);
    if (left > 3) sum += (double)v.v[3] * x(c.w);
  }
  y[i] = z ? z[i] + sum : sum;
}

template <class X>
static GpErr LaunchSeq(const char *name, const GpFmt *A, const X &x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  return GpLaunch(C->dev, name, SeqRows<X>, GpGrid{(unsigned)(((int64_t)C->m + SEQ_BLOCK - 1) / SEQ_BLOCK), SEQ_BLOCK}, C->m, *(const GpCsrPad *)A->data, C->rowptr, x, z, y);
}

#endif
