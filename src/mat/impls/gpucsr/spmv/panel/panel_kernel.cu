/* SpMV with columns in panels (panel.h). A block stages the part of x of its panel in shared memory, and a lane adds up a piece. A second kernel adds
   the partial sums of rows with several pieces in order. No atomics: deterministic. */
#include "mat/impls/gpucsr/spmv/panel/panel.h"
#include "mat/impls/gpucsr/spmv/common/gpslots.h"

static constexpr int BLOCK = 256, WARP = 32, STAGED = 1024;
static constexpr int GROUP = 8; /* lanes that add the partial sums of a row with few pieces */

/* entries of x that are staged in shared memory; the counterpart of Packed */
struct Staged {
  const double *staged;

  __device__ double operator[](uint32_t code) const { return staged[code]; }
};

/* Stages entries of x in shared memory, then adds slice by slice. Consecutive slices of a panel go to different blocks of that panel. */
template <bool SAME>
__global__ static void __launch_bounds__(STAGED, 1) Panel(GpPanel P, const double *x, const double *z, double *y)
{
  extern __shared__ double staged[];
  int32_t                  p = 0;

  GpNextMayStart();
  while ((int32_t)blockIdx.x >= P.pblock[p + 1]) p++;
  const double *source  = x + (int64_t)p * P.width;
  const int32_t columns = min(P.width, P.columns - p * P.width);
#pragma unroll 8
  for (int32_t i = threadIdx.x; i < columns; i += STAGED) staged[i + 1] = __ldg(source + i);
  if (threadIdx.x == 0) staged[0] = 0;
  __syncthreads();
  const int32_t  blocks = P.pblock[p + 1] - P.pblock[p], mine = blockIdx.x - P.pblock[p];
  const int      lane = threadIdx.x % WARP;
  const GpScalar one  = SAME ? *(const GpScalar *)P.val : 0;
  for (int32_t s = P.pslice[p] + threadIdx.x / WARP * blocks + mine; s < P.pslice[p + 1]; s += blocks * (STAGED / WARP)) {
    const int32_t   out = P.out[s * WARP + lane], base = P.base[s];
    const GpScalar *val = (const GpScalar *)P.val + (SAME ? 0 : (int64_t)base * WARP + lane);
    const double    sum = SumSection<SAME, false>(P.base[s + 1] - base, P.code + (int64_t)base * WARP + lane, val, one, Staged{staged});

    if (out >= 0) y[out] = z ? z[out] + sum : sum;
    else if (out != GP_PIECE_IDLE) P.part[~out] = sum;
  }
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
__global__ static void __launch_bounds__(BLOCK) FinishSpans(GpPanel P, int32_t groups, const double *z, double *y)
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
   needs a whole multiprocessor. They are therefore not launched early. */
template <bool SAME>
static GpErr Launch(GpDev dev, const GpPanel *P, const double *x, const double *z, double *y)
{
  const size_t shared = ((size_t)P->width + 1) * sizeof(double), all = GpDevSharedBytes(dev) + 1024;
  cudaError_t  code = cudaFuncSetAttribute(Panel<SAME>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

  if (code == cudaSuccess) code = cudaFuncSetAttribute(Panel<SAME>, cudaFuncAttributePreferredSharedMemoryCarveout, (int)((100 * (shared + 1024) + all - 1) / all));
  if (code != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "panel: %s", cudaGetErrorString(code));
  return GpLaunchVector(dev, "panel", Panel<SAME>, GpGrid{P->nblocks, STAGED, shared}, *P, x, z, y);
}

GP_SPMV(panel)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPanel *P      = (const GpPanel *)A->data;
  GpDev          dev    = A->csr->dev;
  const unsigned groups = Blocks((int64_t)P->nshort * GROUP);
  GpErr          err    = GP_SUCCESS;

  if (!A->csr->m) return GP_SUCCESS;
  if (P->nslices) err = P->same ? Launch<true>(dev, P, x, z, y) : Launch<false>(dev, P, x, z, y);
  if (!err && P->nspans) err = GpLaunchEarly(dev, "panel", FinishSpans, GpGrid{groups + (unsigned)(P->nspans - P->nshort), BLOCK}, *P, (int32_t)groups, z, y);
  return err;
}
