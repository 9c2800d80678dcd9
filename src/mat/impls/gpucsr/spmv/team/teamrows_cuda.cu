/* Sorts the rows of formats team and teamcluster by counting. A block counts the keys of a tile of rows; a second kernel writes its rows behind
   those of the tiles before. */
#include "mat/impls/gpucsr/spmv/csr/gpsame.h"
#include "mat/impls/gpucsr/spmv/team/gpteamrows.h"

static constexpr int      WARP = 32, BLOCK = GP_TEAM_THREADS, WARPS = BLOCK / WARP, TOGETHER = 4; /* number of values of a thread that are loaded together */
static constexpr unsigned ALL = 0xffffffffu;
static_assert(GP_TEAM_KEYS <= BLOCK, "a thread a key");

/* Returns the key of a row, or R.keys for indices behind the last row. */
__device__ static int32_t GpTeamsGetKey(const GpTeamRows &R, int64_t i, int32_t *length)
{
  *length = i < R.C.m ? GpTeamLength(&R.C, (int32_t)i) : 0;
  return i < R.C.m ? GpTeamKey(&R.T, *length) : R.keys;
}

__device__ static void GpTeamsCountTile(const GpTeamRows &R, int32_t tile)
{
  __shared__ int32_t rows[GP_TEAM_KEYS + 1];

  for (int key = threadIdx.x; key <= R.keys; key += BLOCK) rows[key] = 0;
  __syncthreads();
  for (int32_t j = threadIdx.x; j < R.many; j += BLOCK) {
    int32_t       length;
    const int32_t key = GpTeamsGetKey(R, (int64_t)tile * R.many + j, &length);

    atomicAdd(&rows[key], 1); /* the hardware combines lanes with the same address */
    if (!key) atomicAdd(&R.tally->longs, GpTeamShare(length, R.T.most));
  }
  __syncthreads();
  for (int key = threadIdx.x; key < R.keys; key += BLOCK) {
    R.rows[(int64_t)key * R.tiles + tile] = rows[key];
    if (rows[key]) atomicAdd(&R.tally->rows[key], rows[key]);
  }
}

/* Compares a part of the values with the first, until some block has found a different one. Only one thread of a block reads and writes the
   common flag, because all blocks use the same address. */
__device__ static void GpTeamsCompareValues(const GpTeamRows &R, unsigned b, unsigned blocks)
{
  for (int64_t first = (int64_t)b * TOGETHER * BLOCK; first < R.C.nnz; first += (int64_t)blocks * TOGETHER * BLOCK) {
    int other = !threadIdx.x && *(volatile int32_t *)&R.tally->other;

#pragma unroll
    for (int u = 0; u < TOGETHER; u++) {
      const int64_t k = first + u * BLOCK + threadIdx.x;

      other |= k < R.C.nnz && GpValueDiffers(&R.C, k);
    }
    if (!__syncthreads_or(other)) continue;
    if (!threadIdx.x) R.tally->other = 1;
    return;
  }
}

__global__ static void __launch_bounds__(BLOCK) GpTeamsCountKernel(const __grid_constant__ GpTeamRows R)
{
  if (blockIdx.x < R.tiles) GpTeamsCountTile(R, (int32_t)blockIdx.x);
  else GpTeamsCompareValues(R, blockIdx.x - R.tiles, gridDim.x - R.tiles);
}

GpErr GpTeamsCount(const GpTeamRows *R)
{
  const int64_t want = ((int64_t)R->C.nnz + TOGETHER * BLOCK - 1) / (TOGETHER * BLOCK), most = 2 * (int64_t)GpDevComputeUnits(R->C.dev);

  return GpLaunch(R->C.dev, "counting rows by their teams", GpTeamsCountKernel, GpGrid{(unsigned)(R->tiles + (want < most ? want : most)), BLOCK}, *R);
}

/* Returns the index in order of the tile's first row of a key. Called by a whole warp. */
__device__ static int32_t GpTeamsGetFirst(const GpTeamPlaces &P, int32_t key, int32_t tile)
{
  const int32_t *rows   = P.R.rows + (int64_t)key * P.R.tiles;
  int32_t        before = 0;

  if (rows[tile]) { /* otherwise the result is not used */
    for (int32_t t = threadIdx.x % WARP; t < tile; t += WARP) before += rows[t];
    before = __reduce_add_sync(ALL, before);
  }
  return P.first[key] + before;
}

__global__ static void __launch_bounds__(BLOCK) GpTeamsPlaceKernel(const __grid_constant__ GpTeamPlaces P)
{
  __shared__ uint16_t before[WARPS][GP_TEAM_KEYS]; /* number of rows of each key in each warp, then in the warps before it */
  __shared__ int32_t  next[GP_TEAM_KEYS];
  const GpTeamRows   &R    = P.R;
  const int           warp = threadIdx.x / WARP, mine = threadIdx.x;
  const int32_t       tile = (int32_t)blockIdx.x;

  for (int key = warp; key < R.keys; key += WARPS) {
    const int32_t first = GpTeamsGetFirst(P, key, tile);

    if (threadIdx.x % WARP == 0) next[key] = first;
  }
  for (int32_t j = threadIdx.x; j < R.many; j += BLOCK) {
    const int64_t i = (int64_t)tile * R.many + j;
    int32_t       length, sum = 0;

    for (int w = 0; mine < R.keys && w < WARPS; w++) before[w][mine] = 0;
    __syncthreads();
    const int32_t  key   = GpTeamsGetKey(R, i, &length);
    const unsigned peers = __match_any_sync(ALL, key);
    const int      rank  = __popc(peers & ((1u << threadIdx.x % WARP) - 1)); /* rank among the rows of the warp with the same key */

    if (key < R.keys && !rank) before[warp][key] = (uint16_t)__popc(peers);
    __syncthreads();
    for (int w = 0; mine < R.keys && w < WARPS; w++) {
      const int32_t rows = before[w][mine];

      before[w][mine] = (uint16_t)sum;
      sum += rows;
    }
    __syncthreads();
    if (key < R.keys) R.T.order[next[key] + before[warp][key] + rank] = (int32_t)i;
    __syncthreads();
    if (mine < R.keys) next[mine] += sum;
  }
  if (!tile && !threadIdx.x) *R.T.zero = 0;
  for (int32_t b = tile * BLOCK + threadIdx.x; R.T.ticket && b < R.T.ngangs; b += R.tiles * BLOCK) R.T.ticket[b] = 0;
}

GpErr GpTeamsPlace(const GpTeamPlaces *P)
{
  return GpLaunch(P->R.C.dev, "sorting rows by their teams", GpTeamsPlaceKernel, GpGrid{(unsigned)P->R.tiles, BLOCK}, *P);
}
