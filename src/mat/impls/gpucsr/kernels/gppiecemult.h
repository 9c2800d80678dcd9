/* The product with rows in pieces (formats bin, hub, panel), both twins: a lane adds up a piece; partial sums of rows with
   several pieces are added in their order by a second kernel.  No atomics: deterministic. */
#ifndef GPPIECEMULT_H
#define GPPIECEMULT_H

#include "mat/impls/gpucsr/formats/gppieces.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
static void PutPiece(const GpPieces *P, int32_t out, double sum, const double *z, double *y)
{
  if (out >= 0) y[out] = z ? z[out] + sum : sum;
  else if (out != GP_PIECE_IDLE) P->part[~out] = sum;
}

static GpErr PieceMult(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPieces *P   = (const GpPieces *)A->data;
  const GpScalar *val = (const GpScalar *)P->val;

  (void)name;
  for (int32_t i = 0; P->pack && i < P->packed; i++) P->xp[i] = i ? x[P->pack[i]] : 0.0;
  for (int32_t p = 0; p < P->npanels; p++) {
    const double *hot = P->pack ? P->xp : x + (int64_t)p * P->width - 1, *cold = x - P->packed;

    for (int32_t s = P->pslice[p]; s < P->pslice[p + 1]; s++) {
      for (int lane = 0; lane < GP_SLICE; lane++) {
        double sum = 0;

        for (int32_t j = P->base[s]; j < P->base[s + 1]; j++) {
          const int64_t at   = (int64_t)j * GP_SLICE + lane;
          const int32_t code = P->codebytes == 2 ? ((const uint16_t *)P->code)[at] : ((const int32_t *)P->code)[at];

          if (code) sum += (double)val[at] * (code < P->hot || code < P->packed ? hot[code] : cold[code]);
        }
        PutPiece(P, P->out[s * GP_SLICE + lane], sum, z, y);
      }
    }
  }
  for (int32_t s = 0; s < P->nspans; s++) {
    const int32_t *span = P->span + 3 * (int64_t)s;
    double         sum  = 0;

    for (int32_t k = span[1]; k < span[2]; k++) sum += P->part[k];
    y[span[0]] = z ? z[span[0]] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256, WARP = 32, STAGED = 1024, AHEAD = 8;

__global__ static void PackX(int32_t n, const int32_t *__restrict__ pack, const double *__restrict__ x, double *__restrict__ xp)
{
  const int32_t i = blockIdx.x * BLOCK + threadIdx.x;

  if (i < n) xp[i] = i ? x[pack[i]] : 0.0;
}

/* the entry of x that a code means; staged in shared memory, packed in xp, or at its own place.  Predicates, not branches, so
   that the loads of several nonzeros are on their way together. */
template <bool HOT>
__device__ static double Entry(uint32_t code, const GpPieces &P, const double *staged, const double *cold)
{
  double value = 0;

  if (HOT && code < (uint32_t)P.hot) return staged[code];
  if (HOT && code < (uint32_t)P.packed) cold = P.xp;
  if (HOT || code) value = __ldg(cold + code);
  return value;
}

template <bool HOT, typename Code>
__device__ static void SumSlices(const GpPieces &P, int32_t first, int32_t step, int32_t end, const double *staged, const double *cold, const double *z, double *y)
{
  const int lane = threadIdx.x % WARP;

  for (int32_t s = first; s < end; s += step) {
    const int32_t   width = P.base[s + 1] - P.base[s], out = P.out[s * GP_SLICE + lane];
    const Code     *code = (const Code *)P.code + (int64_t)P.base[s] * GP_SLICE + lane;
    const GpScalar *val  = (const GpScalar *)P.val + (int64_t)P.base[s] * GP_SLICE + lane;
    double          sum  = 0;

    for (int32_t j = 0; j < width; j += AHEAD, code += AHEAD * GP_SLICE, val += AHEAD * GP_SLICE) {
      uint32_t c[AHEAD];
      GpScalar v[AHEAD];

  #pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        c[u] = j + u < width ? __ldcs(code + u * GP_SLICE) : 0;
        v[u] = j + u < width ? __ldcs(val + u * GP_SLICE) : 0;
      }
  #pragma unroll
      for (int u = 0; u < AHEAD; u++) sum += (double)v[u] * Entry<HOT>(c[u], P, staged, cold);
    }
    if (out >= 0) y[out] = z ? z[out] + sum : sum;
    else if (out != GP_PIECE_IDLE) P.part[~out] = sum;
  }
}

/* blocks in which x is staged: first in its panel's share of the blocks, then slice by slice */
template <typename Code>
__global__ static void __launch_bounds__(STAGED, 1) StagedPieces(GpPieces P, const double *__restrict__ x, const double *z, double *y)
{
  extern __shared__ double staged[];
  int32_t                  p = 0;

  while ((int32_t)blockIdx.x >= P.pblock[p + 1]) p++;
  const double *source = P.pack ? P.xp : x + (int64_t)p * P.width - 1;
  for (int32_t i = threadIdx.x; i < P.hot; i += STAGED) staged[i] = i && (P.pack || (int64_t)p * P.width + i <= P.columns) ? source[i] : 0.0;
  __syncthreads();
  const int32_t blocks = P.pblock[p + 1] - P.pblock[p], mine = blockIdx.x - P.pblock[p];
  SumSlices<true, Code>(P, P.pslice[p] + threadIdx.x / WARP * blocks + mine, blocks * (STAGED / WARP), P.pslice[p + 1], staged, x - P.packed, z, y);
}

template <typename Code>
__global__ static void __launch_bounds__(BLOCK) PlainPieces(GpPieces P, const double *__restrict__ x, const double *z, double *y)
{
  SumSlices<false, Code>(P, (int32_t)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / WARP), P.nslices, P.nslices, NULL, x - P.packed, z, y);
}

/* a warp a row of several pieces, or of none */
__global__ static void FinishSpans(GpPieces P, const double *z, double *y)
{
  const int64_t s    = (blockIdx.x * (int64_t)BLOCK + threadIdx.x) / WARP;
  const int     lane = threadIdx.x % WARP;
  double        sum  = 0;

  if (s >= P.nspans) return;
  const int32_t i = P.span[3 * s], end = P.span[3 * s + 2];
  for (int32_t k = P.span[3 * s + 1] + lane; k < end; k += WARP) sum += P.part[k];
  for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (lane == 0) y[i] = z ? z[i] + sum : sum;
}

static unsigned Blocks(int64_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

template <typename Code>
static cudaError_t LaunchPieces(const GpPieces *P, cudaStream_t stream, const double *x, const double *z, double *y)
{
  const size_t shared = (size_t)P->hot * sizeof(double);
  cudaError_t  code   = cudaSuccess;

  if (!P->hot) {
    PlainPieces<Code><<<Blocks((int64_t)P->nslices * WARP), BLOCK, 0, stream>>>(*P, x, z, y);
    return code;
  }
  code = cudaFuncSetAttribute((const void *)StagedPieces<Code>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  if (code == cudaSuccess) StagedPieces<Code><<<P->nblocks, STAGED, shared, stream>>>(*P, x, z, y);
  return code;
}

static GpErr PieceMult(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPieces *P      = (const GpPieces *)A->data;
  GpDev           dev    = A->csr->dev;
  cudaStream_t    stream = (cudaStream_t)dev->stream;
  cudaError_t     code   = cudaSuccess;

  if (!A->csr->m) return GP_SUCCESS;
  if (P->pack) PackX<<<Blocks(P->packed), BLOCK, 0, stream>>>(P->packed, P->pack, x, P->xp);
  if (P->nslices) code = P->codebytes == 2 ? LaunchPieces<uint16_t>(P, stream, x, z, y) : LaunchPieces<uint32_t>(P, stream, x, z, y);
  if (code != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "%s: %s", name, cudaGetErrorString(code));
  if (P->nspans) FinishSpans<<<Blocks((int64_t)P->nspans * WARP), BLOCK, 0, stream>>>(*P, z, y);
  return GpDevCheckLaunch(dev, name);
}
#endif

#endif
