/* The product with teams of lanes (formats team, teamcluster). A lane adds up its nonzeros. The lanes of a team add by
   shuffles within a slice and through shared memory within a block. If a team has several blocks, the block that finishes last adds their partial
   sums in a fixed order. If these blocks are a cluster, they write their sums to the shared memory of the first block, which adds them. One launch,
   no floating-point atomics: deterministic. */
#ifndef GPTEAMMULT_H
#define GPTEAMMULT_H

#include "mat/impls/gpucsr/spmv/team/gpteam.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/team/gpcluster.h"
#include "mat/impls/gpucsr/spmv/common/gpslots.h"

static constexpr int      WARP = 32, WARPS = GP_TEAM_SLICES, BLOCK = WARP * WARPS;
static constexpr unsigned ALL = 0xffffffffu;
static_assert(BLOCK == 1 << GP_TEAM_BLOCK && WARP == 1 << GP_TEAM_SLICE, "a slice a warp");

__device__ static void Put(int32_t row, double sum, const double *z, double *y)
{
  if (row >= 0) y[row] = z ? z[row] + sum : sum;
}

/* Adds the sums of a team's blocks, one from the first thread of each block. Returns true in the one thread that holds the result. */
template <bool CLUSTER>
__device__ static bool SumBlocks(const GpTeams &T, int32_t k, double *sum)
{
  const int     blocks = 1 << (k - GP_TEAM_BLOCK), rank = (int)blockIdx.x & (blocks - 1);
  const int32_t leader = (int32_t)blockIdx.x - rank;
  double        mine   = 0;

  if (CLUSTER) {
    __shared__ double sums[1 << (GP_TEAM_CLUSTER - GP_TEAM_BLOCK)];

    GpClusterWait(); /* all blocks of the cluster run */
    if (threadIdx.x == 0) GpClusterPut(sums + rank, rank, *sum);
    GpClusterArrive();
    GpClusterWait();
    if (rank || threadIdx.x >= WARP) return false;
    if (threadIdx.x < blocks) mine = sums[threadIdx.x];
  } else {
    bool last = false;

    if (threadIdx.x >= WARP) return false;
    if (threadIdx.x == 0) {
      T.part[blockIdx.x] = *sum;
      __threadfence(); /* orders the store of the sum before the increment of the ticket */
      last = atomicAdd(T.ticket + leader, 1u) == blocks - 1;
    }
    if (!__shfl_sync(ALL, last, 0)) return false;
    __threadfence(); /* orders the increment of the ticket before the loads of the other sums */
    for (int b = threadIdx.x; b < blocks; b += WARP) mine += __ldcg(T.part + leader + b);
    if (threadIdx.x == 0) T.ticket[leader] = 0; /* must be zero at the start of the next product */
  }
  *sum = GroupSum(mine, WARP);
  return threadIdx.x == 0;
}

template <bool CLUSTER, bool SAME, bool EARLY, typename Code>
__global__ static void __launch_bounds__(BLOCK, 5) Teams(GpHow how, const __grid_constant__ GpTeams T, const double *x, const double *z, double *y)
{
  __shared__ double warpsum[WARPS];
  const int         lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int32_t     block = (int32_t)blockIdx.x, s = block * WARPS + warp;

  GpBegin<true>(how);
  if (CLUSTER && block < T.ngangs) GpClusterEnter();
  const int32_t   there = s < T.nslices, base = there ? __ldg(T.base + s) : 0, width = there ? __ldg(T.base + s + 1) - base : 0;
  const int32_t   k = GpTeamClass(&T, s), place = GpTeamPlace(&T, k, s, lane), row = place < T.end[k] ? __ldg(T.order + place) : -1;
  const int64_t   at  = (int64_t)base * WARP + lane;
  const GpScalar *val = (const GpScalar *)T.val;
  double          sum = SumSection<SAME, EARLY>(width, (const Code *)T.code + at, SAME ? val : val + at, SAME ? *val : 0, Packed<EARLY>{T.zero, x - 1, 1});

  /* Not earlier: if blocks of this kernel have not started yet or rows are long, the blocks of the next kernel would be distributed unevenly over the
     multiprocessors. */
  if (EARLY) GpNextMayStart();
  if (block >= T.nbigs) { /* teams within a slice */
    sum = GroupSum(sum, 1 << k);
    if (!(lane & ((1 << k) - 1))) Put(row, sum, z, y);
    return;
  }
  const int  warps = block < T.ngangs ? WARPS : 1 << (k - GP_TEAM_SLICE);
  const bool adds  = !lane && !(warp & (warps - 1));
  sum              = GroupSum(sum, WARP);
  if (lane == 0) warpsum[warp] = sum;
  __syncthreads();
  for (int w = 1; adds && w < warps; w++) sum += warpsum[warp + w];
  if (block >= T.ngangs) {
    if (adds) Put(row, sum, z, y);
  } else if (SumBlocks<CLUSTER>(T, k, &sum)) Put(row, sum, z, y);
}

template <bool CLUSTER, bool SAME, typename Code>
static GpErr LaunchTeams(GpDev dev, const char *name, const GpTeams *T, const double *x, const double *z, double *y)
{
  const unsigned each = (unsigned)(T->cluster * WARPS), blocks = ((unsigned)T->nslices + each - 1) / each * T->cluster;
  const GpGrid   grid = {blocks, BLOCK, 0, CLUSTER ? (unsigned)T->cluster : 1, !T->ngangs && T->longest <= AHEAD};

  return GpLaunchProduct(dev, name, Teams<CLUSTER, SAME, false, Code>, Teams<CLUSTER, SAME, true, Code>, grid, *T, x, z, y);
}

template <bool CLUSTER>
static GpErr TeamMult(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpTeams *T   = (const GpTeams *)A->data;
  GpDev          dev = A->csr->dev;

  if (!A->csr->m) return GP_SUCCESS;
  if (T->codebytes == 2) return (T->same ? LaunchTeams<CLUSTER, true, uint16_t> : LaunchTeams<CLUSTER, false, uint16_t>)(dev, name, T, x, z, y);
  return (T->same ? LaunchTeams<CLUSTER, true, uint32_t> : LaunchTeams<CLUSTER, false, uint32_t>)(dev, name, T, x, z, y);
}

#endif
