/* SpMV with rows streamed through shared memory. A thread block loads the consecutive nonzeros of a tile, whatever their rows, writes the products to
   shared memory and adds them row by row. Adjacent lanes load adjacent nonzeros, which often need the same sectors of x.

   The first nonzero of a tile is known without a load. Therefore only two rounds of loads depend on each other: columns, values and the tile's
   record; then x and the row pointers. After J. L. Greathouse and M. Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR
   storage format", SC14. */
#include "mat/impls/gpucsr/spmv/tile/csrblock.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "device/gplaunch.h"
#include "mat/impls/gpucsr/spmv/tile/gpblocksum.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"

__device__ static void Put(int32_t i, double sum, const double *z, double *y)
{
  y[i] = z ? z[i] + sum : sum;
}

/* Loads a value or a column. STREAM: the matrix is too large to stay in the cache, so the load does not allocate in L1. */
template <bool EARLY, bool STREAM, class T>
__device__ static T Load(const T *p)
{
  return STREAM ? GpStream<EARLY>(p) : GpRead<EARLY>(p);
}

/* FEW: the matrix has fewer nonzeros than a block loads */
template <int BLOCK, int EACH, int RESIDENT, bool STREAM, bool FEW, bool EARLY>
__global__ static void __launch_bounds__(BLOCK, RESIDENT / BLOCK)
  CsrBlock(GpHow how, GpCsrBlock B, int32_t nnz, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *x, const double *z, double *y)
{
  constexpr int     LOADED = BLOCK * EACH, WARPS = BLOCK / WARP;
  __shared__ double products[LOADED], warpsum[WARPS];
  const int         tid = threadIdx.x;
  int               t   = (int)blockIdx.x - B.nextra;
  int32_t           c[EACH];
  GpScalar          v[EACH];
  double            e[EACH];

  GpBegin<true>(how);
  const int4 tile = GpRead<EARLY>((const int4 *)(B.tile + blockIdx.x)); /* a GpBlockTile */
  if (t < 0) t = B.extra[blockIdx.x];
  const int start = t * B.length, base = FEW ? 0 : min(start, nnz - LOADED); /* no load of the block lies outside the arrays */
  col += base + tid;
  val += base + tid;
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    c[u] = FEW && u * BLOCK + tid >= nnz ? 0 : Load<EARLY, STREAM>(col + u * BLOCK);
    v[u] = FEW && u * BLOCK + tid >= nnz ? (GpScalar)0 : Load<EARLY, STREAM>(val + u * BLOCK);
  }
  if (EARLY) GpWait();
  const int lanes = tile.w & (GP_BLOCK_CUT - 1), mine = tid >> lanes, rank = tid & ((1 << lanes) - 1), head = (int)((unsigned)tile.w / GP_BLOCK_HEAD);
  rowptr += tile.x;
  int32_t from = GpRead<EARLY>(rowptr + min(mine, tile.y)), to = GpRead<EARLY>(rowptr + min(mine + 1, tile.y)), from1 = 0, to1 = 0;
#pragma unroll
  for (int u = 0; u < EACH; u++) e[u] = FEW && u * BLOCK + tid >= nnz ? 0.0 : GpGather<EARLY>(x + c[u]);
  if (tile.y > BLOCK) { /* then each row has one thread */
    from1 = GpRead<EARLY>(rowptr + min(mine + BLOCK, tile.y));
    to1   = GpRead<EARLY>(rowptr + min(mine + BLOCK + 1, tile.y));
  }
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    e[u] *= (double)v[u];
    products[u * BLOCK + tid] = e[u];
  }
  if (EARLY) GpNextMayStart();
  if (head) {
    double sum = 0;

#pragma unroll
    for (int u = 0; u < EACH; u++) sum += (unsigned)(base + u * BLOCK + tid - start) < (unsigned)head ? e[u] : 0.0;
    sum = GroupSum(sum, WARP);
    if (tid % WARP == 0) warpsum[tid / WARP] = sum;
  }
  __syncthreads();

  for (int r = 0; r < tile.y; r += BLOCK) {
    const int    row = r + mine;
    const bool   cut = tile.w & GP_BLOCK_CUT && row == tile.y - 1;
    const double sum = SumRow(products, lanes, rank, from - base, cut ? start - base + B.length : to - base);

    if (rank == 0 && row < tile.y) {
      if (cut) LeavePart(B.part + t, sum);
      else Put(tile.x + row, sum, z, y);
    }
    from = from1;
    to   = to1;
    if (row + 2 * BLOCK < tile.y) {
      from1 = rowptr[row + 2 * BLOCK];
      to1   = rowptr[row + 2 * BLOCK + 1];
    } else from1 = to1 = 0;
  }
  if (!head || tid >= WARP) return;
  double sum = warpsum[0];
  for (int w = 1; w < WARPS; w++) sum += warpsum[w];
  if (tile.z >= 0) sum = TakeParts(B.part + tile.z, t - tile.z) + sum;
  if (tid > 0) return;
  if (tile.z >= 0) Put(tile.x - 1, sum, z, y);
  else LeavePart(B.part + t, sum);
}

template <int BLOCK, int EACH, int RESIDENT, bool STREAM>
static GpErr Launch(const GpCsr *C, const GpCsrBlock *B, const double *x, const double *z, double *y)
{
  constexpr int LOADED = BLOCK * EACH;
  const bool    few    = C->nnz < LOADED;
  const auto    alone  = few ? CsrBlock<BLOCK, EACH, RESIDENT, STREAM, true, false> : CsrBlock<BLOCK, EACH, RESIDENT, STREAM, false, false>;
  const auto    early  = few ? CsrBlock<BLOCK, EACH, RESIDENT, STREAM, true, true> : CsrBlock<BLOCK, EACH, RESIDENT, STREAM, false, true>;

  return GpLaunchProduct(C->dev, "csrblock", alone, early, GpGrid{(unsigned)(B->nextra + B->ntiles), BLOCK}, *B, C->nnz, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
}

GP_SPMV(csrblock)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr      *C = A->csr;
  const GpCsrBlock *B = (const GpCsrBlock *)A->data;

  if (!C->m) return GP_SUCCESS;
  if (B->stream) return Launch<GP_BLOCK_THREADS / 2, 8, 1024, true>(C, B, x, z, y);
  if (B->threads < GP_BLOCK_THREADS) return Launch<GP_BLOCK_THREADS / 2, 4, 2048, false>(C, B, x, z, y);
  return Launch<GP_BLOCK_THREADS, 4, 2048, false>(C, B, x, z, y);
}
