/* SpMV on diagonals (dia.h). One thread takes a row. If there are few rows, several threads share a row, each with adjacent diagonals. No
   address depends on a load. */
#include "mat/impls/gpucsr/spmv/dia/dia.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

/* the first diagonal of a part; First(n, part + 1, parts) is its end */
GP_INLINE int32_t First(int32_t n, int32_t part, int32_t parts)
{
  return n * part / parts;
}

#include "device/gplaunch.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"
#include "mat/impls/gpucsr/spmv/common/gppartsum.h"

static constexpr int TURN  = 7; /* diagonals that a thread loads before it uses any of them */
static constexpr int CROWD = GP_DIA_CROWD;

/* Adds N diagonals from d on; their loads are in flight together. If the column lies outside the matrix, the value is a hole, so any entry of x may
   be loaded. FIRST: the values are loaded before GpWait(). */
template <int N, bool EARLY, bool FIRST>
__device__ static double Add(double sum, const GpDia &D, int32_t d, const GpScalar *val, uint32_t i, uint32_t n, const double *x)
{
  GpScalar v[N];
  double   u[N];

#pragma unroll
  for (int k = 0; k < N; k++) v[k] = EARLY && FIRST ? GpRead<true>(val + k * D.stride) : __ldcs(val + k * D.stride);
  if (EARLY && FIRST) GpWait();
#pragma unroll
  for (int k = 0; k < N; k++) u[k] = GpGather<EARLY>(x + min(i + (uint32_t)D.offset[d + k], n - 1));
#pragma unroll
  for (int k = 0; k < N; k++) sum = GpAdd(sum, v[k], u[k]);
  return sum;
}

/* adds the last `left` diagonals, N or fewer */
template <int N, bool EARLY, bool FIRST>
__device__ static double AddLast(double sum, const GpDia &D, int32_t d, int32_t left, const GpScalar *val, uint32_t i, uint32_t n, const double *x)
{
  if constexpr (N > 0) return left == N ? Add<N, EARLY, FIRST>(sum, D, d, val, i, n, x) : AddLast<N - 1, EARLY, FIRST>(sum, D, d, left, val, i, n, x);
  if (EARLY && FIRST) GpWait();
  return sum;
}

/* WARPS: resident warps per multiprocessor for which registers are allotted; 0: no such bound. Fewer warps leave a thread more registers. */
template <int PARTS, int ROWS, int WARPS, bool EARLY>
__global__ static void __launch_bounds__(PARTS *ROWS, GP_WARP *WARPS / (PARTS * ROWS)) Dia(GpHow how, const __grid_constant__ GpDia D, uint32_t m, uint32_t n, const double *x, const double *z, double *y)
{
  const uint32_t i    = blockIdx.x * ROWS + threadIdx.x % ROWS;
  const int32_t  part = threadIdx.x / ROWS, end = First(D.n, part + 1, PARTS);
  double         sum = 0;

  GpBegin(how);
  if (i < m) {
    int32_t         d   = First(D.n, part, PARTS);
    const GpScalar *val = (const GpScalar *)D.value + d * D.stride + i;

    if (end - d < TURN) sum = AddLast<TURN - 1, EARLY, true>(sum, D, d, end - d, val, i, n, x);
    else {
      sum = Add<TURN, EARLY, true>(sum, D, d, val, i, n, x);
      for (d += TURN, val += TURN * D.stride; d + TURN <= end; d += TURN, val += TURN * D.stride) sum = Add<TURN, EARLY, false>(sum, D, d, val, i, n, x);
      sum = AddLast<TURN - 1, EARLY, false>(sum, D, d, end - d, val, i, n, x);
    }
  }
  if (EARLY) GpNextMayStart();
  sum = GpPartSum<PARTS, ROWS>(sum);
  if (i < m && !part) y[i] = z ? z[i] + sum : sum;
}

template <int PARTS, int WARPS>
static GpErr Launch(const GpFmt *A, const double *x, const double *z, double *y)
{
  constexpr int ROWS = WARPS == 0 ? 512 : PARTS < 8 ? 256 / PARTS : GP_WARP;
  const GpCsr  *C    = A->csr;

  return GpLaunchProduct(C->dev, "dia", Dia<PARTS, ROWS, WARPS, false>, Dia<PARTS, ROWS, WARPS, true>, GpGrid{(unsigned)(((int64_t)C->m + ROWS - 1) / ROWS), PARTS * ROWS}, *(const GpDia *)A->data, (uint32_t)C->m, (uint32_t)C->n, x, z, y);
}

GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpDia  *D    = (const GpDia *)A->data;
  const GpCsr  *C    = A->csr;
  const int64_t room = CROWD * GP_WARP * (int64_t)GpDevComputeUnits(C->dev);

  if (!C->m) return GP_SUCCESS;
  if (D->n < TURN && C->m > room) return Launch<1, 0>(A, x, z, y); /* fewer than TURN diagonals need no extra registers */
  if (D->parts < 4) return (D->parts == 1 ? Launch<1, CROWD> : Launch<2, CROWD>)(A, x, z, y);
  return (D->parts == 4 ? Launch<4, CROWD> : D->parts == 8 ? Launch<8, CROWD> : Launch<16, CROWD>)(A, x, z, y);
}
