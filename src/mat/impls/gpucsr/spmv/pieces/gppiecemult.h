/* The product with rows in pieces (formats bin, hub, panel). A lane adds up a piece. A second kernel adds the partial
   sums of rows with several pieces in order. No atomics: deterministic. */
#ifndef GPPIECEMULT_H
#define GPPIECEMULT_H

#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/pieces/gpslots.h"

static constexpr int BLOCK = 256, WARP = 32, STAGED = 1024;
static constexpr int GROUP = 8; /* lanes that add the partial sums of a row with few pieces */

__global__ static void PackX(int32_t n, const int32_t *__restrict__ pack, const double *__restrict__ x, double *__restrict__ xp)
{
  const int32_t i = blockIdx.x * BLOCK + threadIdx.x;

  GpNextMayStart();
  if (i < n) xp[i] = i ? x[pack[i]] : 0.0;
}

/* entries of x that are staged in shared memory; the counterpart of Packed */
struct Staged {
  const double *staged;

  __device__ double operator[](uint32_t code) const { return staged[code]; }
};

template <bool HOT, bool SAME, bool EARLY, bool WAITS, typename Code>
__device__ static void SumSlices(const GpPieces &P, int32_t first, int32_t step, int32_t end, const Staged &hot, const Packed<EARLY> &cold, const double *z, double *y)
{
  const int      lane = threadIdx.x % WARP;
  const GpScalar one  = SAME ? *(const GpScalar *)P.val : 0;

  for (int32_t s = first; s < end; s += step) {
    const int32_t   out = P.out[s * GP_PIECE_LANES + lane], base = P.base[s], width = P.base[s + 1] - base, hbase = HOT ? P.hbase[s] : 0, nhot = HOT ? P.hbase[s + 1] - hbase : 0;
    const GpScalar *val = (const GpScalar *)P.val + (SAME ? 0 : (int64_t)base * GP_PIECE_LANES + lane);
    double          sum = SumSection<SAME, WAITS>(width - nhot, (const Code *)P.code + (int64_t)(base - hbase) * GP_PIECE_LANES + lane, val + (SAME ? 0 : nhot * GP_PIECE_LANES), one, cold);

    if (HOT) sum += SumSection<SAME, false>(nhot, P.hotcode + (int64_t)hbase * GP_PIECE_LANES + lane, val, one, hot);
    if (out >= 0) y[out] = z ? z[out] + sum : sum;
    else if (out != GP_PIECE_IDLE) P.part[~out] = sum;
  }
}

/* Stages entries of x in shared memory, then adds slice by slice. Consecutive slices of a panel go to different blocks of that panel. EARLY: launched
   early after the kernel that packs x. */
template <bool SAME, bool EARLY, typename Code>
__global__ static void __launch_bounds__(STAGED, 1) StagedPieces(GpPieces P, const double *x, const double *z, double *y)
{
  extern __shared__ double staged[];
  int32_t                  p = 0;

  GpNextMayStart();
  if (EARLY) GpWait();
  while ((int32_t)blockIdx.x >= P.pblock[p + 1]) p++;
  const double *source = P.pack ? P.xp : x + (int64_t)p * P.width - 1;
  const int32_t there  = P.pack || P.hot < P.columns - p * P.width + 1 ? P.hot : P.columns - p * P.width + 1;
#pragma unroll 8
  for (int32_t i = threadIdx.x + 1; i < there; i += STAGED) staged[i] = EARLY ? source[i] : __ldg(source + i);
  if (threadIdx.x == 0) staged[0] = 0;
  __syncthreads();
  const int32_t blocks = P.pblock[p + 1] - P.pblock[p], mine = blockIdx.x - P.pblock[p];
  SumSlices<true, SAME, EARLY, false, Code>(P, P.pslice[p] + threadIdx.x / WARP * blocks + mine, blocks * (STAGED / WARP), P.pslice[p + 1], Staged{staged}, Packed<EARLY>{P.xp, x - P.packed, (uint32_t)P.packed}, z, y);
}

template <bool SAME, bool EARLY, typename Code>
__global__ static void __launch_bounds__(BLOCK, 5) PlainPieces(GpHow how, GpPieces P, const double *x, const double *z, double *y)
{
  GpBegin<true>(how);
  SumSlices<false, SAME, EARLY, EARLY, Code>(P, (int32_t)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / WARP), P.nslices, P.nslices, Staged{NULL}, Packed<EARLY>{P.xp, x - P.packed, (uint32_t)P.packed}, z, y);
}

__device__ static double SumParts(const double *part, int32_t from, int32_t end, int step)
{
  double sum = 0;

#pragma unroll 4
  for (int32_t k = from; k < end; k += step) sum += part[k];
  return sum;
}

/* Finishes rows of several pieces and rows without nonzeros. In the first `groups` blocks GROUP lanes share a row of few pieces. Each further block
   takes one row of many pieces. */
__global__ static void __launch_bounds__(BLOCK) FinishSpans(GpPieces P, int32_t groups, const double *z, double *y)
{
  __shared__ double warpsum[BLOCK / WARP];
  const bool        few   = blockIdx.x < groups;
  const int         width = few ? GROUP : BLOCK;
  const int64_t     s     = few ? ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / GROUP : P.nshort + (blockIdx.x - groups);
  const bool        mine  = s < (few ? P.nshort : P.nspans);
  const int32_t     i = mine ? P.span[3 * s] : 0, from = mine ? P.span[3 * s + 1] : 0, end = mine ? P.span[3 * s + 2] : 0;
  GpNextMayStart();
  GpWait();
  double sum = GroupSum(SumParts(P.part, from + threadIdx.x % width, end, width), few ? GROUP : WARP);

  if (!few) {
    if (threadIdx.x % WARP == 0) warpsum[threadIdx.x / WARP] = sum;
    __syncthreads();
    for (int w = 1; threadIdx.x == 0 && w < BLOCK / WARP; w++) sum += warpsum[w];
  }
  if (mine && threadIdx.x % width == 0) y[i] = z ? z[i] + sum : sum;
}

static unsigned Blocks(int64_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

/* The carveout covers the block's shared memory and 1 KB that CUDA reserves for a block; the rest of the memory remains cache. Each of these blocks
   needs a whole multiprocessor. They are therefore not launched early, unless their predecessor is the kernel that packs x. */
template <bool SAME, typename Code>
static GpErr LaunchStaged(GpDev dev, const char *name, const GpPieces *P, const double *x, const double *z, double *y)
{
  const size_t shared = (size_t)P->hot * sizeof(double), all = dev->shared_bytes + 1024;
  const auto   kernel = P->pack ? StagedPieces<SAME, true, Code> : StagedPieces<SAME, false, Code>;
  cudaError_t  code   = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

  if (code == cudaSuccess) code = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, (int)((100 * (shared + 1024) + all - 1) / all));
  if (code != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "%s: %s", name, cudaGetErrorString(code));
  if (P->pack) GpLaunchNext(dev, kernel, P->nblocks, STAGED, shared, *P, x, z, y);
  else kernel<<<P->nblocks, STAGED, shared, (cudaStream_t)dev->stream>>>(*P, x, z, y);
  return GpDevLaunched(dev, name);
}

template <bool SAME, typename Code>
static GpErr LaunchPieces(GpDev dev, const char *name, const GpPieces *P, const double *x, const double *z, double *y)
{
  const GpGrid grid = {Blocks((int64_t)P->nslices * WARP), BLOCK};

  if (P->hot) return LaunchStaged<SAME, Code>(dev, name, P, x, z, y);
  return GpLaunchProduct(dev, name, PlainPieces<SAME, false, Code>, PlainPieces<SAME, true, Code>, grid, *P, x, z, y);
}

template <bool SAME>
static GpErr LaunchCoded(GpDev dev, const char *name, const GpPieces *P, const double *x, const double *z, double *y)
{
  return P->codebytes == 2 ? LaunchPieces<SAME, uint16_t>(dev, name, P, x, z, y) : LaunchPieces<SAME, uint32_t>(dev, name, P, x, z, y);
}

static GpErr PieceMult(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPieces *P      = (const GpPieces *)A->data;
  GpDev           dev    = A->csr->dev;
  const unsigned  groups = Blocks((int64_t)P->nshort * GROUP);
  GpErr           err    = GP_SUCCESS;

  if (!A->csr->m) return GP_SUCCESS;
  if (P->pack) PackX<<<Blocks(P->packed), BLOCK, 0, (cudaStream_t)dev->stream>>>(P->packed, P->pack, x, P->xp);
  if (P->nslices) err = P->same ? LaunchCoded<true>(dev, name, P, x, z, y) : LaunchCoded<false>(dev, name, P, x, z, y);
  if (P->nspans) GpLaunchNext(dev, FinishSpans, groups + (unsigned)(P->nspans - P->nshort), BLOCK, 0, *P, (int32_t)groups, z, y);
  return err ? err : GpDevLaunched(dev, name);
}

#endif
