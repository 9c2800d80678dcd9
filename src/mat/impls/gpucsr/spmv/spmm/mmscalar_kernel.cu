/* SpMM with one thread per row and panel, whose sums are in registers. Columns are not packed. Adjacent rows that need adjacent entries of x, as on
   grids, load them coalesced. */
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

static constexpr int BLOCK = 128, CHUNK = 2048;

/* The rows of a block are consecutive nonzeros. The block stages them in shared memory with coalesced loads; if each thread loaded its own row,
   adjacent threads would load addresses far apart. */
template <int WIDTH, bool UNIT>
__global__ static void __launch_bounds__(BLOCK) MmScalar(int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const __grid_constant__ GpColumns C, int first)
{
  __shared__ int32_t  cols[CHUNK];
  __shared__ GpScalar vals[CHUNK];
  const int32_t       row = blockIdx.x * BLOCK, i = row + threadIdx.x, last = m - row < BLOCK ? m : row + BLOCK;
  const int           panel = first + blockIdx.y * WIDTH;
  const int32_t       begin = i < m ? rowptr[i] : 0, end = i < m ? rowptr[i + 1] : 0, stretch = rowptr[last];
  double              sum[WIDTH] = {};

  for (int32_t base = rowptr[row]; base < stretch; base += CHUNK) {
    const int32_t length = stretch - base < CHUNK ? stretch - base : CHUNK;

    for (int32_t k = threadIdx.x; k < length; k += BLOCK) {
      cols[k] = col[base + k];
      vals[k] = val[base + k];
    }
    __syncthreads();
    for (int32_t k = max(begin - base, 0); k < min(end - base, length); k++) {
      const int64_t j = UNIT ? cols[k] : cols[k] * C.incx;
      const double  a = (double)vals[k];
#pragma unroll
      for (int c = 0; c < WIDTH; c++) sum[c] += a * __ldg(C.x[panel + c] + j);
    }
    __syncthreads();
  }
  if (i >= m) return;
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    if (panel + c >= C.k) break;
    double *y = C.y[panel + c] + (UNIT ? i : i * C.incy);

    *y = C.add ? *y + sum[c] : sum[c];
  }
}

template <int WIDTH>
static GpErr MmScalarLaunch(const char *name, const GpCsr *R, const GpColumns &C, int first, int panels)
{
  const auto kernel = C.incx == 1 && C.incy == 1 ? MmScalar<WIDTH, true> : MmScalar<WIDTH, false>;

  return GpLaunch(R->dev, name, kernel, GpGrid{dim3(GpBlocks(R->m, BLOCK), (unsigned)panels), BLOCK}, R->m, R->rowptr, R->col, (const GpScalar *)R->val, C, first);
}

/* Full panels, then a narrower one for the remaining columns. If that is wider than the number of remaining columns, it reads the last column again. */
template <int WIDTH>
static GpErr MmScalars(const char *name, const GpFmt *A, const GpColumns *columns)
{
  const GpCsr *R    = A->csr;
  GpColumns    C    = *columns;
  const int    full = C.k / WIDTH, rest = C.k % WIDTH;
  GpErr        err = GP_SUCCESS;

  if (!R->m || !C.k) return GP_SUCCESS;
  for (int c = C.k; c < GP_SPMM_COLUMNS; c++) C.x[c] = C.x[C.k - 1];
  if (full) err = MmScalarLaunch<WIDTH>(name, R, C, 0, full);
  if (err || !rest) return err;
  if (rest > 4) return MmScalarLaunch<8>(name, R, C, C.k - rest, 1);
  return rest > 2 ? MmScalarLaunch<4>(name, R, C, C.k - rest, 1) : MmScalarLaunch<2>(name, R, C, C.k - rest, 1);
}

GP_SPMM(mmscalar8)(const GpFmt *A, const GpColumns *C)
{
  return MmScalars<8>("mmscalar8", A, C);
}
