/* SpMV on matrices whose row patterns are those of a stencil on a grid (GpRowGrid of rowcode.h), CUDA implementation. Offsets and values of
   the stencil are launch parameters, so most rows need not read their pattern. With enough rows a thread takes four rows, one plane apart, which
   share loads of x. Every row adds its entries in the order of their columns. */
#ifndef GPROWGRID_H
#define GPROWGRID_H

#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"

static constexpr unsigned NONE = 256; /* pattern of a row beyond the last one */

/* Rows per multiprocessor from which a thread takes four rows. Rows of a box stencil share more entries of x than rows of a star stencil. Four rows a
   thread also mean fewer threads, which hide less latency. */
static constexpr int64_t MANY_OF_BOX = 2048, MANY_OF_STAR = 16384;

/* Returns whether any of the thread's rows has an entry in column c of plane p, where plane 0 is the first plane of the first row. */
__device__ constexpr bool Reads(int columns, int planes, uint64_t full, int rows, int p, int c)
{
  bool reads = false;

  for (int r = 0; r < rows; r++) reads |= p >= r && p - r < planes && (full >> ((p - r) * columns + c) & 1);
  return reads;
}

/* sum += v u if (bits & bit) != 0. Nothing is added where the row has no entry, so that infinities in x affect the same rows as in AIJ. */
__device__ static void AddIf(uint32_t bits, uint32_t bit, double &sum, double v, double u)
{
  asm("{ .reg .pred p; .reg .b32 b; and.b32 b, %1, %2; setp.ne.b32 p, b, 0; @p fma.rn.f64 %0, %3, %4, %0; }" : "+d"(sum) : "r"(bits), "r"(bit), "d"(v), "d"(u));
}

enum Having {
  ALL,  /* all entries of the stencil, with the stencil's values */
  SOME, /* entries given by a mask, with the stencil's values */
  OWN   /* entries given by a mask, with the values of the row's pattern */
};

/* adds up the rows i, i + stride, ... */
template <int COLUMNS, int PLANES, uint64_t FULL, int ROWS, bool EARLY, Having HAVING>
__device__ static void Sums(const GpRowGrid &G, uint32_t i, uint32_t n, const double *x, const uint64_t has[ROWS], const double *const own[ROWS], double sum[ROWS])
{
#pragma unroll
  for (int p = 0; p < PLANES + ROWS - 1; p++) {
    double u[COLUMNS];

#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const uint32_t j = i + (uint32_t)(p * G.stride) + (uint32_t)G.offset[c]; /* n or more if the column lies outside the matrix, also on the left (unsigned overflow) */

      if (Reads(COLUMNS, PLANES, FULL, ROWS, p, c)) u[c] = HAVING == ALL || j < n ? (EARLY ? x[j] : __ldg(x + j)) : 0.0;
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const int bit = (p - r) * COLUMNS + c;

        if (p < r || p - r >= PLANES || !(FULL >> bit & 1)) continue;
        if (HAVING == ALL) sum[r] += G.value[bit] * u[c];
        else AddIf((uint32_t)(has[r] >> (p - r) * COLUMNS), 1u << c, sum[r], HAVING == OWN ? __ldg(own[r] + bit) : G.value[bit], u[c]);
      }
    }
  }
}

template <int COLUMNS, int PLANES, uint64_t FULL, int ROWS, int GRIDBLOCK, bool EARLY>
__global__ static void __launch_bounds__(GRIDBLOCK) RowGrid(GpHow how, const __grid_constant__ GpRowCode W, uint32_t m, uint32_t n, const double *x, const double *z, double *y)
{
  const uint8_t *code   = (const uint8_t *)W.code;
  const uint32_t stride = (uint32_t)W.grid.stride, t = blockIdx.x * GRIDBLOCK + threadIdx.x, i = t / stride * (ROWS * stride) + t % stride;
  uint32_t       pattern[ROWS];
  double         sum[ROWS] = {};
  bool           whole     = true;

  GpBegin(how);
#pragma unroll
  for (int r = 0; r < ROWS; r++) pattern[r] = i + r * stride < m ? (EARLY ? GpRead<true>(code + i + r * stride) : __ldg(code + i + r * stride)) : NONE;
#pragma unroll
  for (int r = 0; r < ROWS; r++) whole &= (int32_t)pattern[r] == W.grid.whole;
  if (EARLY) GpWait();
  if (__all_sync(0xffffffffu, whole)) {
    Sums<COLUMNS, PLANES, FULL, ROWS, EARLY, ALL>(W.grid, i, n, x, NULL, NULL, sum);
  } else {
    uint64_t      has[ROWS], any = 0;
    const double *own[ROWS];

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      has[r] = pattern[r] < NONE ? __ldg(W.mask + pattern[r]) : 0;
      own[r] = W.value + (pattern[r] < NONE ? pattern[r] : 0) * (COLUMNS * PLANES);
      any |= has[r];
    }
    if (__any_sync(0xffffffffu, (any & GP_ROWGRID_VALUES) != 0)) Sums<COLUMNS, PLANES, FULL, ROWS, EARLY, OWN>(W.grid, i, n, x, has, own, sum);
    else Sums<COLUMNS, PLANES, FULL, ROWS, EARLY, SOME>(W.grid, i, n, x, has, NULL, sum);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (has[r] == GP_ROWGRID_OTHER) sum[r] = SumPattern<EARLY>((const int4 *)W.entry, W.start, (int32_t)pattern[r], x + (i + r * stride));
  }
  if (EARLY) GpNextMayStart();
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const uint32_t row = i + r * stride;

    if (row < m) y[row] = z ? z[row] + sum[r] : sum[r];
  }
}

template <int COLUMNS, int PLANES, uint64_t FULL, int ROWS, int GRIDBLOCK>
static GpErr LaunchGrid(const GpCsr *A, const GpRowCode *W, const double *x, const double *z, double *y)
{
  const int64_t stride = W->grid.stride, threads = (A->m + ROWS * stride - 1) / (ROWS * stride) * stride;

  return GpLaunchProduct(A->dev, "rowcode", RowGrid<COLUMNS, PLANES, FULL, ROWS, GRIDBLOCK, false>, RowGrid<COLUMNS, PLANES, FULL, ROWS, GRIDBLOCK, true>, GpGrid{(unsigned)((threads + GRIDBLOCK - 1) / GRIDBLOCK), GRIDBLOCK}, *W, (uint32_t)A->m,
                         (uint32_t)A->n, x, z, y);
}

template <int COLUMNS, int PLANES, uint64_t FULL>
static GpErr ChooseRows(const GpCsr *A, const GpRowCode *W, const double *x, const double *z, double *y)
{
  const bool box = FULL == ((uint64_t)1 << COLUMNS * PLANES) - 1;

  if (A->m < (box ? MANY_OF_BOX : MANY_OF_STAR) * GpDevComputeUnits(A->dev)) return LaunchGrid<COLUMNS, PLANES, FULL, 1, 256>(A, W, x, z, y);
  return LaunchGrid<COLUMNS, PLANES, FULL, 4, 128>(A, W, x, z, y);
}

static GpErr MultGrid(const GpCsr *A, const GpRowCode *W, const double *x, const double *z, double *y)
{
#define GRID(columns_, planes_, full_) \
  if (W->grid.columns == columns_ && W->grid.planes == planes_ && W->grid.full == full_) return ChooseRows<columns_, planes_, full_>(A, W, x, z, y);
  GP_ROWGRIDS(GRID)
#undef GRID
  return GpDevFail(A->dev, GP_ERR_ARGUMENT, "rowcode: no kernel is compiled for this stencil; select another kernel with -mat_gpucsr_kernel");
}
#endif
