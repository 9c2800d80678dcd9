/* Rows of factorised approximate inverses with at most 32 entries. A tile of M lanes of a warp computes a row; lane r has row r of the dense matrix in registers. */
#include "pc/kernels/gpbatchkernel.h"

static constexpr int BLOCK = 128;

/* Shared memory of a tile. The factor has an odd row length, so that the lanes of a tile access different banks in a column. */
template <int M>
struct __align__(16) GpFsaiTile
{
  double  column[2][M]; /* the current column of the factor; two buffers alternate */
  double  L[M][M + 1];
  int32_t J[M + M % 2 + 1]; /* pattern of the row */
};

/* Copies row r of the lower triangle of A(J,J) to L. Rows that are not in the pattern become rows of the identity matrix. */
template <int M>
__device__ static void GpFsaiGatherTile(const GpBatchMatrix &A, GpFsaiTile<M> &tile, int r, int32_t m)
{
#pragma unroll
  for (int c = 0; c < M; c++) tile.L[r][c] = r == c && r >= m;
  if (r >= m) return;
  for (int32_t j = tile.J[r], k = A.rowptr[j], b = 0; k < A.rowptr[j + 1]; k++) {
    const int32_t c = A.col[k];

    if (c > j) break;
    while (tile.J[b] < c) b++; /* ends at b = r at the latest, because J[r] = j */
    if (tile.J[b] == c) tile.L[r][b] = GpBatchValue(A, k);
  }
}

/* State of a lane. */
struct GpFsaiLane {
  double  inverse; /* reciprocal of the lane's diagonal entry of the factor */
  double  pivot;   /* the pivot of a failure */
  bool    fails;
  double  diagonal; /* diagonal entry of A in the lane's row */
  int32_t most;     /* largest number of entries of a row of this warp */
};

/* Factors A(J,J), column by column. All lanes of the warp call it. */
template <int M>
__device__ static void GpFsaiFactorTile(GpFsaiTile<M> &tile, int r, int32_t m, GpFsaiLane &lane)
{
  double x[M];

#pragma unroll
  for (int c = 0; c < M; c++) x[c] = tile.L[r][c];
#pragma unroll
  for (int j = 0; j < M; j++) {
    if (j >= lane.most) break;
    const double   pivot = __shfl_sync(GP_BATCH_ALL, x[j], j, M), inverse = rsqrt(pivot), l = r >= j ? x[j] * inverse : 0;
    const double2 *column = (const double2 *)tile.column[j % 2];

    if (r == j) {
      lane.inverse = inverse;
      lane.pivot   = pivot;
      lane.fails   = j < m && !GpBatchIsPivot(pivot, m, lane.diagonal);
    }
    tile.L[r][j]          = l;
    tile.column[j % 2][r] = l;
    __syncwarp(); /* the other buffer may be overwritten now: every lane has finished the previous step */
#pragma unroll
    for (int c = (j + 1) / 2; c < M / 2; c++) {
      const double2 other = column[c];

      if (2 * c > j) x[2 * c] -= l * other.x;
      x[2 * c + 1] -= l * other.y;
    }
  }
  __syncwarp();
}

/* Solves L'g = e and returns entry r of g. */
template <int M>
__device__ static double GpFsaiSolveTile(const GpFsaiTile<M> &tile, int r, int32_t m, const GpFsaiLane &lane)
{
  double y = r == m - 1 ? 1 : 0, g = 0;

#pragma unroll 4
  for (int b = lane.most - 1; b >= 0; b--) {
    const double last = __shfl_sync(GP_BATCH_ALL, y * lane.inverse, b, M);

    if (r == b) g = last;
    if (r < b) y -= tile.L[b][r] * last;
  }
  return g;
}

/* Returns one bit for each lane of the tile. All lanes of the warp call it. */
template <int M>
__device__ static unsigned GpFsaiBallot(int r, bool condition)
{
  const unsigned bits = __ballot_sync(GP_BATCH_ALL, condition) >> (threadIdx.x % GP_BATCH_WARP - r);

  return M < GP_BATCH_WARP ? bits & ((1u << M % GP_BATCH_WARP) - 1) : bits;
}

template <int M>
__global__ static void __launch_bounds__(BLOCK, M == GP_BATCH_WARP ? 5 : 8) GpFsaiTileKernel(GpBatchWork w)
{
  __shared__ GpFsaiTile<M> tiles[BLOCK / M];
  GpFsaiTile<M>           &tile  = tiles[threadIdx.x / M];
  const int                r     = threadIdx.x % M;
  const int64_t            t     = (int64_t)blockIdx.x * (BLOCK / M) + threadIdx.x / M;
  const bool               any   = t < w.part.count; /* lanes without a row take part in the exchanges of the warp */
  const int32_t            row   = !any ? 0 : w.part.row ? w.part.row[t] : (int32_t)t;
  const int32_t            begin = any ? w.P.rowptr[row] : 0, m = any ? w.P.rowptr[row + 1] - begin : 0;
  GpFsaiLane               lane = {0, 0, false, 1, m};
  double                   g;
  unsigned                 failed, infinite;

  for (int other = GP_BATCH_WARP / 2; other; other /= 2) lane.most = max(lane.most, __shfl_xor_sync(GP_BATCH_ALL, lane.most, other));
  if (r < m) {
    tile.J[r]     = w.P.col[begin + r];
    lane.diagonal = w.A.diagonal[tile.J[r]];
  }
  __syncwarp();
  GpFsaiGatherTile<M>(w.A, tile, r, m);
  __syncwarp();
  GpFsaiFactorTile<M>(tile, r, m, lane);
  g        = GpFsaiSolveTile<M>(tile, r, m, lane);
  failed   = GpFsaiBallot<M>(r, lane.fails);
  infinite = GpFsaiBallot<M>(r, r < m && !isfinite(g));
  if (r < m) w.val[begin + r] = g;
  if (failed && r == __ffs(failed) - 1) GpBatchFail(w, row, lane.pivot); /* values after a bad pivot do not count */
  if (!failed && infinite && r == 31 - __clz(infinite)) GpBatchFail(w, row, 1 / lane.inverse);
  if (!failed && !infinite && r == m - 1) w.measure[row] = log(g * g * lane.diagonal);
}

template <int M>
static GpErr GpFsaiLaunchTiles(const GpBatchWork *w)
{
  return GpLaunch(w->A.dev, "computing rows of a factorised approximate inverse", GpFsaiTileKernel<M>, GpGrid{GpBlocks(w->part.count, BLOCK / M), BLOCK}, *w);
}

extern "C" GpErr GpBatchFsai_CUDA(const GpBatchWork *work, int part)
{
  switch (part) {
  case GP_BATCH_FSAI_TILE4:
    return GpFsaiLaunchTiles<4>(work);
  case GP_BATCH_FSAI_TILE8:
    return GpFsaiLaunchTiles<8>(work);
  case GP_BATCH_FSAI_TILE16:
    return GpFsaiLaunchTiles<16>(work);
  default:
    return GpFsaiLaunchTiles<32>(work);
  }
}
