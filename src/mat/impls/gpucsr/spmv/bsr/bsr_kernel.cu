/* SpMV on block CSR (bsr.h). One lane takes a row. If there are few rows, several lanes share a row and take its blocks in turn. The rows
   of one block row share its column indices. */
#include "mat/impls/gpucsr/spmv/bsr/bsr.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"

#include "device/gplaunch.h"
#include "mat/impls/gpucsr/spmv/common/gppartsum.h"

static constexpr int CROWD = GP_BSR_CROWD;

/* Adds the next N blocks of a lane, whose block columns are in column[]. All loads of these blocks are in flight together. Also loads the block
   columns of the following N blocks; col points to the block columns of the current ones. */
template <int B, int N, int PARTS, bool EARLY>
__device__ static double Add(double sum, int32_t column[], int32_t left, const int32_t *col, const GpScalar *val, const double *x)
{
  GpScalar v[N * B];
  double   u[N * B];

#pragma unroll
  for (int k = 0; k < N * B; k++) v[k] = GpStream<EARLY>(val + (k / B * PARTS * B + k % B) * (GP_WARP * B));
#pragma unroll
  for (int k = 0; k < N * B; k++) u[k] = GpGather<EARLY>(x + (int64_t)column[k / B] * B + k % B);
#pragma unroll
  for (int a = 0; a < N; a++) column[a] = N + a < left ? GpStream<EARLY>(col + (N + a) * PARTS * GP_WARP) : 0;
#pragma unroll
  for (int k = 0; k < N * B; k++) sum = GpAdd(sum, v[k], u[k]);
  return sum;
}

/* adds the last `left` blocks, N or fewer */
template <int B, int N, int PARTS, bool EARLY>
__device__ static double AddLast(double sum, int32_t column[], int32_t left, const GpScalar *val, const double *x)
{
  if constexpr (N > 0) return left == N ? Add<B, N, PARTS, EARLY>(sum, column, N, NULL, val, x) : AddLast<B, N - 1, PARTS, EARLY>(sum, column, left, val, x);
  else return sum;
}

/* WARPS: resident warps per multiprocessor for which registers are allotted; 0: no such bound. Fewer warps leave a thread more registers. With too
   few registers the compiler would serialise loads that should be in flight together. */
template <int B, int TURN, int PARTS, int ROWS, int WARPS, bool EARLY>
__global__ static void __launch_bounds__(PARTS *ROWS, GP_WARP *WARPS / (PARTS * ROWS)) Bsr(GpHow how, const __grid_constant__ GpBsr S, int32_t m, const double *x, const double *z, double *y)
{
  const uint32_t i = blockIdx.x * ROWS + threadIdx.x % ROWS, s = i / (GP_WARP * B), r = i % (GP_WARP * B), part = threadIdx.x / ROWS;
  double         sum = 0;

  GpBegin(how);
  if (i < m) {
    const int32_t   first = S.width ? s * S.width : __ldg(S.start + s), n = S.width ? S.width : __ldg(S.start + s + 1) - first;
    const int32_t  *col = S.col + ((int64_t)first + part) * GP_WARP + r / B;
    const GpScalar *val = (const GpScalar *)S.value + ((int64_t)first + part) * (GP_WARP * B * B) + r;
    int32_t         column[TURN], left = (n + PARTS - 1 - (int32_t)part) / PARTS;

    /* column indices are loaded one iteration ahead, so that values and x arrive together */
#pragma unroll
    for (int a = 0; a < TURN; a++) column[a] = a < left ? GpStream<EARLY>(col + a * PARTS * GP_WARP) : 0;
    if (EARLY) GpWait();
    for (; left >= TURN; left -= TURN, col += TURN * PARTS * GP_WARP, val += TURN * PARTS * GP_WARP * B * B) sum = Add<B, TURN, PARTS, EARLY>(sum, column, left, col, val, x);
    sum = AddLast<B, TURN - 1, PARTS, EARLY>(sum, column, left, val, x);
  }
  if (EARLY) GpNextMayStart();
  sum = GpPartSum<PARTS, ROWS>(sum);
  if (i < m && !part) y[i] = z ? z[i] + sum : sum;
}

template <int B, int TURN, int PARTS, int WARPS>
static GpErr Launch(const GpFmt *A, const double *x, const double *z, double *y)
{
  constexpr int ROWS = PARTS == 1 ? 192 : PARTS < 8 ? 256 / PARTS : GP_WARP; /* 192: a multiple of the rows of a slice for blocks of size 2, 3 and 6 */
  const GpCsr  *C    = A->csr;

  return GpLaunchProduct(C->dev, "bsr", Bsr<B, TURN, PARTS, ROWS, WARPS, false>, Bsr<B, TURN, PARTS, ROWS, WARPS, true>, GpGrid{(unsigned)(((int64_t)C->m + ROWS - 1) / ROWS), PARTS * ROWS}, *(const GpBsr *)A->data, C->m, x, z, y);
}

typedef GpErr (*Launcher)(const GpFmt *, const double *, const double *, double *);

template <int B>
static Launcher LauncherOf(const GpCsr *A, int parts)
{
  constexpr int TURN = B < 6 ? 4 : 2;

  if (A->m > CROWD * GP_WARP * (int64_t)GpDevComputeUnits(A->dev)) return Launch<B, 4, 1, 0>;
  if (parts < 4) return parts == 1 ? Launch<B, TURN, 1, CROWD> : Launch<B, TURN, 2, CROWD>;
  return parts == 4 ? Launch<B, TURN, 4, CROWD> : parts == 8 ? Launch<B, TURN, 8, CROWD> : Launch<B, TURN, 16, CROWD>;
}

GP_SPMV(bsr)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpBsr *S = (const GpBsr *)A->data;

  if (!A->csr->m) return GP_SUCCESS;
  return (S->b == 2 ? LauncherOf<2> : S->b == 3 ? LauncherOf<3> : S->b == 4 ? LauncherOf<4> : LauncherOf<6>)(A->csr, S->parts)(A, x, z, y);
}
