/* SpMV with nonzeros distributed evenly, whatever the rows. A warp takes a chunk of consecutive nonzeros and loads them and x coalesced. It
   transposes the products through shared memory, so that each lane has consecutive products, and adds them between row starts. Shuffles combine the
   partial sums of a row that spans several lanes. Row pointers are not read, and no lane waits for a long row. If all values are equal, only one is
   read.

   The bit flags and the sums in registers are those of W. Liu and B. Vinter, "CSR5: an efficient storage format for cross-platform sparse
   matrix-vector multiplication", ICS 2015. Unlike CSR5, this format does not permute columns and values. */
#include "mat/impls/gpucsr/spmv/common/gpload.h"
#include "mat/impls/gpucsr/spmv/tile/gpspans.h"

static constexpr int      EACH = GP_FLAG_EACH, CHUNK = GP_FLAG_CHUNK;
static constexpr unsigned ALL = 0xffffffffu;
static_assert(WARPS * CHUNK == GP_FLAG_TILE && EACH == 8, "a warp a chunk, a byte a lane");

/* the partial sums of rows that extend beyond one chunk */
struct Ends {
  double  head, tail; /* head: sum before the chunk's first row start; tail: sum of its last row if that continues in the next chunk, else 0 */
  int32_t open;       /* number of the last row if it continues in the next chunk, else -1 */
  bool    starts;     /* whether a row starts in the chunk */
};

__device__ static void Put(const GpCsrFlag &F, int32_t k, double sum, const double *z, double *y)
{
  const int32_t i = F.row ? F.row[k] : k;

  y[i] = z ? z[i] + sum : sum;
}

/* Waits for x and stores the products of one chunk. left: number of nonzeros from the start of the chunk on; SAME: val points to the one value of all
   nonzeros */
template <bool SAME, bool EARLY>
__device__ static void Multiply(int64_t left, const int32_t *col, const GpScalar *val, const double *x, double *products)
{
  const int lane = threadIdx.x % WARP;
  int32_t   c[EACH];
  GpScalar  v[EACH];
  double    e[EACH];

  if (left <= 0) {
    if (EARLY) GpWait();
    for (int u = 0; u < EACH; u++) products[lane * (EACH + 1) + u] = 0;
    return;
  }
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const int k = u * WARP + lane, at = k < left ? k : (int)left - 1;

    c[u] = GpStream<EARLY>(col + at);
    v[u] = SAME ? *val : GpStream<EARLY>(val + at);
  }
  if (EARLY) GpWait();
#pragma unroll
  for (int u = 0; u < EACH; u++) e[u] = GpGather<EARLY>(x + c[u]);
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const int k = u * WARP + lane;

    products[k + k / EACH] = k < left ? (double)v[u] * e[u] : 0.0; /* one double of padding after every EACH products avoids bank conflicts */
  }
}

/* Adds up a chunk. On return sums[0], sums[1], ... are the chunk's parts of the rows that start in it, in order, and *head is the sum before the
   first row start. Returns the number of rows that start in the chunk. */
__device__ static int AddRuns(uint32_t bits, double *sums, double *head)
{
  const int lane = threadIdx.x % WARP, mine = __popc(bits);
  double    p[EACH], sum = 0, reach = 0;
  int       upto = mine, starts = mine > 0;

#pragma unroll
  for (int u = 0; u < EACH; u++) p[u] = sums[lane * (EACH + 1) + u];
#pragma unroll
  for (int off = 1; off < WARP; off *= 2) {
    const int other = __shfl_up_sync(ALL, upto, off);

    if (lane >= off) upto += other;
  }
  __syncwarp();
  int row = upto - mine - 1;
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    if (bits >> u & 1) {
      if (row < upto - mine) reach = sum;
      else sums[row] = sum;
      row++;
      sum = 0;
    }
    sum += p[u];
  }
  if (!mine) reach = sum;
#pragma unroll
  for (int off = 1; off < WARP; off *= 2) { /* afterwards reach is the sum from the lane's first nonzero to the next row start */
    const double other = __shfl_down_sync(ALL, reach, off);
    const int    ended = __shfl_down_sync(ALL, starts, off);

    if (!starts && lane + off < WARP) {
      reach += other;
      starts = ended;
    }
  }
  const double next = __shfl_down_sync(ALL, reach, 1);
  if (mine) sums[row] = lane < WARP - 1 ? sum + next : sum;
  *head = __shfl_sync(ALL, reach, 0);
  __syncwarp();
  return __shfl_sync(ALL, upto, WARP - 1);
}

/* writes the rows without nonzeros; done by the blocks that follow those of the tiles */
template <bool EARLY>
__device__ static void PutEmpty(int32_t block, int32_t n, const int32_t *empty, const double *z, double *y)
{
  const int32_t e = block * BLOCK + threadIdx.x;

  if (EARLY) GpWait();
  if (e < n) y[empty[e]] = z ? z[empty[e]] : 0.0;
}

template <bool SAME, bool EARLY>
__global__ static void __launch_bounds__(BLOCK, 5) CsrFlag(GpHow how, GpCsrFlag F, int32_t nempty, int32_t nnz, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *x, const double *z, double *y)
{
  __shared__ double products[WARPS][CHUNK + WARP];
  __shared__ Ends   ends[WARPS];

  GpBegin<true>(how);
  if ((int32_t)blockIdx.x >= F.tile.ntiles) {
    PutEmpty<EARLY>((int32_t)blockIdx.x - F.tile.ntiles, nempty, F.empty, z, y);
    return;
  }
  const int      warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  const int64_t  chunk = (int64_t)blockIdx.x * WARPS + warp, start = chunk * CHUNK;
  const uint8_t *flag  = (const uint8_t *)F.flag + start / EACH;
  const uint32_t bits  = flag[lane];
  const bool     ended = flag[WARP] & 1; /* a row starts right after the chunk */
  const int32_t  first = F.rank[chunk];
  double        *sums  = products[warp], head;

  Multiply<SAME, EARLY>(nnz - start, col + start, SAME ? val : val + start, x, sums);
  if (EARLY) GpNextMayStart();
  __syncwarp();
  const int starts = AddRuns(bits, sums, &head), last = starts - 1, open = last >= 0 && !ended && first + last < F.n;
  for (int s = lane; s < (ended ? starts : last); s += WARP) Put(F, first + s, sums[s], z, y);
  if (lane == 0) ends[warp] = Ends{head, open ? sums[last] : 0.0, open ? first + last : -1, starts > 0};
  __syncthreads();

  if (threadIdx.x > WARPS) return;
  const int w      = threadIdx.x - 1; /* -1: the thread adds up the tile's head; otherwise the chunk whose open row the thread finishes */
  double    sum    = w < 0 ? 0.0 : ends[w].tail;
  bool      closed = false;
  if (w >= 0 && ends[w].open < 0) return;
  for (int u = w + 1; u < WARPS && !closed; u++) {
    sum += ends[u].head;
    closed = ends[u].starts;
  }
  if (w < 0) F.tile.head[blockIdx.x] = sum;
  else if (closed || (((const uint8_t *)F.flag)[(blockIdx.x + (int64_t)1) * (GP_FLAG_TILE / EACH)] & 1)) Put(F, ends[w].open, sum, z, y);
  else F.tile.tail[blockIdx.x] = sum;
}

GP_SPMV(csrflag)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpCsrFlag *F      = (const GpCsrFlag *)A->data;
  const int32_t    nempty = z != y ? C->m - F->n : 0;
  const unsigned   blocks = F->tile.ntiles + (unsigned)((nempty + (int64_t)BLOCK - 1) / BLOCK);

  if (blocks) {
    GpErr err = GpLaunchProduct(C->dev, "csrflag", F->same ? CsrFlag<true, false> : CsrFlag<false, false>, F->same ? CsrFlag<true, true> : CsrFlag<false, true>, GpGrid{blocks, BLOCK}, *F, nempty, C->nnz, C->col, (const GpScalar *)C->val, x, z, y);

    if (err) return err;
  }
  FinishSpans(C->dev, &F->tile, z, y);
  return GpDevLaunched(C->dev, "csrflag");
}
