/* Rows of factorised approximate inverses with more than 32 entries. A thread block computes a row. The lower triangle of the dense matrix is stored by rows, in shared memory or, if it is too large, in
   global memory. Sixteen successive threads that access a column of doubles in shared memory access different banks, because the first 2^n triangular numbers are different modulo 2^n. */
#include "pc/kernels/gpbatchkernel.h"

static constexpr int PANEL = 4; /* number of columns that are eliminated at once */
static constexpr int SPLIT = 4; /* number of threads that add the products of a row and a panel */

/* Returns the number of entries of a triangle with n rows, which is the position of row n. */
__host__ __device__ static inline int32_t GpFsaiTriangle(int32_t n)
{
  return n * (n + 1) / 2;
}

/* The problem of a block. */
struct GpFsaiBlock {
  double  *L;        /* [triangle of m] */
  double  *y;        /* [m] */
  double  *diagonal; /* [m] diagonal entries of A */
  double  *inverse;  /* [m] reciprocals of the diagonal of L */
  int32_t *J;        /* [m] */
  int32_t  m;
};

/* Copies the lower triangle of A(J,J) to L. */
__device__ static void GpFsaiGatherBlock(const GpBatchWork &w, const GpFsaiBlock &p, int32_t begin)
{
  for (int32_t r = threadIdx.x; r < p.m; r += blockDim.x) {
    p.J[r]        = w.P.col[begin + r];
    p.diagonal[r] = w.A.diagonal[p.J[r]];
    p.y[r]        = r == p.m - 1;
  }
  for (int32_t e = threadIdx.x; e < GpFsaiTriangle(p.m); e += blockDim.x) p.L[e] = 0;
  __syncthreads();
  for (int32_t r = threadIdx.x; r < p.m; r += blockDim.x) {
    for (int32_t k = w.A.rowptr[p.J[r]]; k < w.A.rowptr[p.J[r] + 1] && w.A.col[k] <= p.J[r]; k++) {
      const int32_t b = GpBatchFind(p.J, r + 1, w.A.col[k]);

      if (b >= 0) p.L[GpFsaiTriangle(r) + b] = GpBatchValue(w.A, k);
    }
  }
  __syncthreads();
}

/* Subtracts the columns before column j from the columns j to j + PANEL - 1. SPLIT successive lanes add the products of a row. */
__device__ static void GpFsaiUpdatePanel(const GpFsaiBlock &p, int32_t j)
{
  const int32_t part = threadIdx.x % SPLIT;
  const double *other[PANEL];

#pragma unroll
  for (int q = 0; q < PANEL; q++) other[q] = p.L + GpFsaiTriangle(min(j + q, p.m - 1));
  for (int32_t first = j; first < p.m; first += blockDim.x / SPLIT) { /* the same number of times in all threads */
    const int32_t r = first + threadIdx.x / SPLIT;
    double       *x = p.L + GpFsaiTriangle(min(r, p.m - 1)), sum[PANEL] = {0};

    for (int32_t k = part; k < j; k += SPLIT) {
      const double l = x[k];

#pragma unroll
      for (int q = 0; q < PANEL; q++) sum[q] += l * other[q][k];
    }
#pragma unroll
    for (int q = 0; q < PANEL; q++) {
      for (int lane = SPLIT / 2; lane; lane /= 2) sum[q] += __shfl_xor_sync(GP_BATCH_ALL, sum[q], lane);
      if (part == 0 && r < p.m && j + q <= r) x[j + q] -= sum[q];
    }
  }
  __syncthreads();
}

/* The factor of the diagonal block of a panel, in shared memory. */
struct GpFsaiPanel {
  double f[PANEL][PANEL];
  double inverse[PANEL]; /* reciprocals of its diagonal */
};

/* Factors the diagonal block of the panel in registers. pivot: the pivots; rows and columns beyond the matrix are those of the identity matrix. */
__device__ static void GpFsaiFactorDiagonal(const GpFsaiBlock &p, int32_t j, double (&f)[PANEL][PANEL], double (&pivot)[PANEL], double (&inverse)[PANEL])
{
#pragma unroll
  for (int q = 0; q < PANEL; q++) {
#pragma unroll
    for (int c = 0; c <= q; c++) {
      f[q][c] = j + q < p.m ? p.L[GpFsaiTriangle(j + q) + j + c] : q == c;
#pragma unroll
      for (int b = 0; b < c; b++) f[q][c] -= f[q][b] * f[c][b];
      if (c < q) f[q][c] *= inverse[c];
    }
    pivot[q]   = f[q][q];
    inverse[q] = rsqrt(pivot[q]);
  }
}

/* Divides the columns of the panel by its diagonal block. */
__device__ static void GpFsaiDividePanel(const GpFsaiBlock &p, int32_t j, const GpFsaiPanel &panel)
{
  for (int32_t r = j + threadIdx.x; r < p.m; r += blockDim.x) {
    double *x = p.L + GpFsaiTriangle(r) + j, l[PANEL];

#pragma unroll
    for (int q = 0; q < PANEL; q++) {
      if (j + q > r) break;
      l[q] = x[q];
#pragma unroll
      for (int b = 0; b < q; b++) l[q] -= l[b] * panel.f[q][b];
      l[q] *= panel.inverse[q];
      x[q] = l[q];
    }
  }
  __syncthreads();
}

/* Stores the diagonal block. One thread calls it. Returns true if a pivot is too small, or if `fails` is true; *bad is the first such pivot. */
__device__ static bool GpFsaiStorePanel(const GpFsaiBlock &p, int32_t j, const double (&f)[PANEL][PANEL], const double (&pivot)[PANEL], const double (&inverse)[PANEL], bool fails, GpFsaiPanel &panel, double *bad)
{
#pragma unroll
  for (int q = 0; q < PANEL; q++) {
#pragma unroll
    for (int b = 0; b < q; b++) panel.f[q][b] = f[q][b];
    panel.inverse[q] = inverse[q];
    if (j + q >= p.m) break;
    p.inverse[j + q] = inverse[q];
    if (fails) continue;
    fails = !GpBatchIsPivot(pivot[q], p.m, p.diagonal[j + q]);
    *bad  = pivot[q];
  }
  return fails;
}

/* Factors A(J,J). The first warp factors the diagonal blocks. Returns true in thread 0 if a pivot is too small; *bad is then the first such pivot. */
__device__ static bool GpFsaiFactorBlock(const GpFsaiBlock &p, GpFsaiPanel &panel, double *bad)
{
  bool fails = false;

  for (int32_t j = 0; j < p.m; j += PANEL) {
    GpFsaiUpdatePanel(p, j);
    if (threadIdx.x < GP_BATCH_WARP) {
      double f[PANEL][PANEL], pivot[PANEL], inverse[PANEL];

      GpFsaiFactorDiagonal(p, j, f, pivot, inverse);
      if (threadIdx.x == 0) fails = GpFsaiStorePanel(p, j, f, pivot, inverse, fails, panel, bad);
    }
    __syncthreads(); /* the block has been read before it is overwritten */
    GpFsaiDividePanel(p, j, panel);
  }
  return fails;
}

/* Solves L'g = e. y is the right-hand side before, and g times the diagonal of L after the call. */
__device__ static void GpFsaiSolveBlock(const GpFsaiBlock &p)
{
  for (int32_t b = p.m - 1; b > 0; b--) {
    const double *l    = p.L + GpFsaiTriangle(b);
    const double  last = p.y[b] * p.inverse[b];

    for (int32_t a = threadIdx.x; a < b; a += blockDim.x) p.y[a] -= l[a] * last;
    __syncthreads();
  }
}

/* Writes the row. */
__device__ static void GpFsaiStoreBlock(const GpBatchWork &w, const GpFsaiBlock &p, int32_t row, int32_t begin, bool fails, double bad)
{
  int infinite = 0;

  for (int32_t a = threadIdx.x; a < p.m; a += blockDim.x) {
    const double g = p.y[a] * p.inverse[a];

    infinite |= !isfinite(g);
    w.val[begin + a] = g;
  }
  infinite = __syncthreads_or(infinite);
  if (threadIdx.x) return;
  if (fails || infinite) GpBatchFail(w, row, bad);
  else {
    const double g = p.y[p.m - 1] * p.inverse[p.m - 1];

    w.measure[row] = log(g * g * p.diagonal[p.m - 1]);
  }
}

/* matrices: memory of the dense matrices of all blocks, one after the other; NULL: they are in shared memory */
__global__ static void GpFsaiBlockKernel(GpBatchWork w, double *matrices)
{
  extern __shared__ double memory[];
  __shared__ GpFsaiPanel   panel;
  const int32_t            most = w.part.m;
  double                  *rest = matrices ? memory : memory + GpFsaiTriangle(most);
  GpFsaiBlock              p    = {matrices ? matrices + (size_t)blockIdx.x * GpFsaiTriangle(most) : memory, rest, rest + most, rest + 2 * most, (int32_t *)(rest + 3 * most), 0};

  for (int64_t t = blockIdx.x; t < w.part.count; t += gridDim.x) {
    const int32_t row = w.part.row ? w.part.row[t] : (int32_t)t, begin = w.P.rowptr[row];
    double        bad = 0;
    bool          fails;

    p.m = w.P.rowptr[row + 1] - begin;
    GpFsaiGatherBlock(w, p, begin);
    fails = GpFsaiFactorBlock(p, panel, &bad);
    GpFsaiSolveBlock(p);
    GpFsaiStoreBlock(w, p, row, begin, fails, bad);
    __syncthreads(); /* thread 0 still reads the matrix */
  }
}

extern "C" GpErr GpBatchFsaiBlock_CUDA(const GpBatchWork *w, int part)
{
  GpDev          dev    = w->A.dev;
  const int32_t  m      = w->part.m;
  const size_t   matrix = (size_t)GpFsaiTriangle(m) * sizeof(double), lists = (size_t)m * (3 * sizeof(double) + sizeof(int32_t));
  const bool     global = part == GP_BATCH_FSAI_GLOBAL || matrix + lists + sizeof(GpFsaiPanel) > GpDevSharedBytes(dev);
  const size_t   shared = lists + (global ? 0 : matrix);
  const unsigned most = (unsigned)min((size_t)4 * GpDevComputeUnits(dev), GP_BATCH_WORKSPACE / matrix), threads = min((unsigned)(m * SPLIT + 31) / 32 * 32, 768u);
  const unsigned blocks   = global ? min((unsigned)w->part.count, most) : (unsigned)w->part.count;
  double        *matrices = NULL;
  GpErr          err      = GpBatchAllowShared(dev, GpFsaiBlockKernel, shared);

  if (!err && global) err = GpDevBorrow(dev, blocks * matrix, &matrices);
  if (!err) err = GpLaunch(dev, "computing rows of a factorised approximate inverse", GpFsaiBlockKernel, GpGrid{blocks, threads, shared}, *w, matrices);
  GpDevReturn(dev, &matrices, blocks * matrix);
  return err;
}
