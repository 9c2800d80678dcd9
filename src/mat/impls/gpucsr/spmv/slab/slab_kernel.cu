/* SpMV on slabs (slab.h): a thread block stages the entries of x that its rows need in shared memory, then each thread adds up a row. */
#include "mat/impls/gpucsr/spmv/slab/slab.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"

static constexpr int BLOCK = GP_SLAB_ROWS, AHEAD = 8;

__device__ static int Index(const uint16_t *p)
{
  return __ldcs((const unsigned short *)p);
}

__device__ static GpScalar Hole(void)
{
  const unsigned long long bits = sizeof(GpScalar) == sizeof(float) ? GP_HOLE_F32 : GP_HOLE_F64;
  GpScalar                 hole;

  memcpy(&hole, &bits, sizeof(hole));
  return hole;
}

/* nonzeros that a lane loads before it uses any of them */
struct Turn {
  GpScalar value[AHEAD];
  int      index[AHEAD];

  __device__ void Read(const GpScalar *val, const uint16_t *index_)
  {
#pragma unroll
    for (int a = 0; a < AHEAD; a++) value[a] = GpStream(val + a * GP_WARP);
#pragma unroll
    for (int a = 0; a < AHEAD; a++) index[a] = Index(index_ + a * GP_WARP);
  }
  __device__ void Read(const GpScalar *val, const uint16_t *index_, int32_t left) /* positions beyond the end are holes and add nothing */
  {
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
      value[a] = a < left ? GpStream(val + a * GP_WARP) : Hole();
      index[a] = a < left ? Index(index_ + a * GP_WARP) : 0;
    }
  }
  __device__ double Add(double sum, const double *x) const
  {
#pragma unroll
    for (int a = 0; a < AHEAD; a++) sum = GpAdd(sum, value[a], x[index[a]]);
    return sum;
  }
};

__global__ static void __launch_bounds__(BLOCK) Slab(GpSlab S, int32_t m, int32_t n, const double *__restrict__ x, const double *z, double *y)
{
  extern __shared__ double staged[];
  const int32_t            block = blockIdx.x, slice = block * GP_SLAB_SLICES + threadIdx.x / GP_WARP, from = __ldg(S.start + slice);
  const int32_t            first = __ldg(S.first + block), entries = (__ldg(S.first + block + 1) - first) * GP_SLAB_PIECE;
  int32_t                  left = __ldg(S.start + slice + 1) - from;
  const int64_t            at = (int64_t)from * GP_WARP + threadIdx.x % GP_WARP, row = (int64_t)block * BLOCK + threadIdx.x;
  const GpScalar          *val   = (const GpScalar *)S.value + at;
  const uint16_t          *index = S.index + at;
  const int                place = S.row[(int64_t)block * BLOCK + threadIdx.x];
  double                   sum   = 0;
  Turn                     turn;

  turn.Read(val, index, left); /* these loads are in flight while x is staged */
#pragma unroll 4
  for (int32_t e = threadIdx.x; e < entries; e += BLOCK) {
    const int64_t j = (int64_t)__ldg(S.piece + first + e / GP_SLAB_PIECE) * GP_SLAB_PIECE + e % GP_SLAB_PIECE;

    staged[e] = j < n ? __ldg(x + j) : 0.0;
  }
  __syncthreads();
  sum = turn.Add(sum, staged);
  for (left -= AHEAD; left > 0; left -= AHEAD) {
    val += AHEAD * GP_WARP;
    index += AHEAD * GP_WARP;
    if (left >= AHEAD) turn.Read(val, index);
    else turn.Read(val, index, left);
    sum = turn.Add(sum, staged);
  }
  __syncthreads(); /* restores the order of the rows, so that y is written coalesced */
  staged[place] = sum;
  __syncthreads();
  sum = staged[threadIdx.x];
  if (row < m) y[row] = z ? z[row] + sum : sum;
}

GP_SPMV(slab)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr  *C     = A->csr;
  const GpSlab *S     = (const GpSlab *)A->data;
  const int     least = GP_SLAB_ROWS / GP_SLAB_PIECE, shared = (S->most > least ? S->most : least) * GP_SLAB_PIECE * (int)sizeof(double);

  if (!C->m) return GP_SUCCESS;
  if (cudaFuncSetAttribute(Slab, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess || cudaFuncSetAttribute(Slab, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared) != cudaSuccess)
    return GpDevFail(C->dev, GP_ERR_DEVICE, "slab: this GPU does not allow %d bytes of shared memory per thread block; select another kernel with -mat_gpucsr_kernel", shared);
  return GpLaunchVector(C->dev, "slab", Slab, GpGrid{(unsigned)S->nblocks, BLOCK, (size_t)shared}, *S, C->m, C->n, x, z, y);
}
