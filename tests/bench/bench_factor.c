/* Times incomplete factorisations beside cusparseDcsrilu02() and cusparseDcsric02() and beside an application of the factor, in one run: CSV on standard output.  No PETSc, as bench_kernels.

     bench_factor [matrix [scan]]      matrix: only this one; nothing or all: all.  scan: also times the factorisation with other numbers of lanes and warps; the other columns are 0 then

   Columns: matrix, kind, rows, nonzeros of the factor, levels, lanes, warps; median microseconds of a numeric factorisation, of setting the values of both triangles in double precision, and of an application (two
   triangular solves); the sum of the first two divided by the third; bytes that must be moved at 4.29 TB/s, divided by the time of the factorisation; median microseconds of cuSPARSE with and without
   levels (0: cuSPARSE has no such factorisation); the largest relative difference from a factorisation on the host. */
#include "bench/device.h"
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <math.h>
#include <string.h>

#define REPEATS 11 /* runs whose median is printed */

/* A square matrix in compressed rows, with the diagonal. */
typedef struct {
  int32_t  n, nnz;
  int32_t *rowptr, *col;
  double  *val;
} Matrix;

static Matrix Create(int32_t n, int most)
{
  return (Matrix){n, 0, (int32_t *)BenchAllocate(((size_t)n + 1) * sizeof(int32_t)), (int32_t *)BenchAllocate((size_t)n * (size_t)most * sizeof(int32_t)), (double *)BenchAllocate((size_t)n * (size_t)most * sizeof(double))};
}

/* Adds an entry of a symmetric matrix. */
static void Add(Matrix *A, int32_t row, int32_t col, int most)
{
  const int32_t a = row < col ? row : col, b = row < col ? col : row;

  A->col[A->nnz]   = col;
  A->val[A->nnz++] = row == col ? most + 0.5 * sin(0.3 * row) : -0.9 + 0.1 * sin(0.37 * a + 0.11 * b);
}

/* A stencil of 5, 7 or 27 points. fill: 7 points and the fill of level 1, whose values are small */
static Matrix CreateGrid(int nx, int ny, int nz, int points, int fill)
{
  Matrix  A   = Create(nx * ny * nz, fill ? 13 : points);
  int32_t row = 0;

  for (int z = 0; z < nz; z++) {
    for (int y = 0; y < ny; y++) {
      for (int x = 0; x < nx; x++, row++) {
        A.rowptr[row] = A.nnz;
        for (int k = 0; k < 27; k++) { /* the neighbours in ascending order */
          const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, far = abs(dx) + abs(dy) + abs(dz);

          if (points != 27 && far > 1 && !(fill && far == 2 && dx + dy + dz == 0)) continue;
          if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
          Add(&A, row, row + dx + nx * (dy + ny * dz), points);
          if (fill && far == 2) A.val[A.nnz - 1] *= 1e-3;
        }
      }
    }
  }
  A.rowptr[row] = A.nnz;
  return A;
}

/* `unknowns` unknowns at each point of a grid, each coupled with all unknowns of the 27 points around: the pattern of elasticity. */
static Matrix CreateBlocks(int nx, int ny, int nz, int unknowns)
{
  Matrix  A   = Create(nx * ny * nz * unknowns, 27 * unknowns);
  int32_t row = 0;

  for (int p = 0; p < nx * ny * nz; p++) {
    for (int u = 0; u < unknowns; u++, row++) {
      A.rowptr[row] = A.nnz;
      for (int k = 0; k < 27 * unknowns; k++) {
        const int b = k / unknowns, x = p % nx + b % 3 - 1, y = p / nx % ny + b / 3 % 3 - 1, z = p / nx / ny + b / 9 - 1;

        if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) Add(&A, row, unknowns * (x + nx * (y + ny * z)) + k % unknowns, 27 * unknowns);
      }
    }
  }
  A.rowptr[row] = A.nnz;
  return A;
}

/* Up to `each` entries on each side of the diagonal in random columns of a band. Not symmetric. */
static Matrix CreateBand(int32_t n, int each, int32_t band)
{
  Matrix   A    = Create(n, 2 * each + 1);
  uint32_t seed = 5;

  for (int32_t i = 0; i < n; i++) {
    A.rowptr[i] = A.nnz;
    for (int k = -each; k <= each; k++) { /* one entry in each part of the band */
      const int32_t part = band / each > 0 ? band / each : 1;

      seed              = seed * 1664525u + 1013904223u;
      const int32_t col = !k ? i : i + k * part + (k < 0 ? 1 : -1) * (int32_t)((seed >> 8) % (uint32_t)part);

      if (col >= 0 && col < n) Add(&A, i, col, 2 * each + 1);
    }
  }
  A.rowptr[n] = A.nnz;
  return A;
}

/* --- the factor ----------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GpTriPattern p;
  int32_t     *begin, *end, *lower;
  int32_t     *col, *from;
  double      *val; /* the factor computed on the host */
} Factor;

static Factor CreateFactor(const Matrix *A, int icc)
{
  const size_t n = (size_t)A->n, nnz = (size_t)A->nnz;
  Factor       f  = {.begin = (int32_t *)BenchAllocate(n * sizeof(int32_t)),
                     .end   = (int32_t *)BenchAllocate(n * sizeof(int32_t)),
                     .lower = (int32_t *)BenchAllocate((n + 1) * sizeof(int32_t)),
                     .col   = (int32_t *)BenchAllocate(nnz * sizeof(int32_t)),
                     .from  = (int32_t *)BenchAllocate(nnz * sizeof(int32_t)),
                     .val   = (double *)BenchAllocate(nnz * sizeof(double))};
  int32_t      at = 0;

  for (int32_t i = 0; i < A->n && !icc; i++) {
    f.lower[i] = at;
    for (int32_t k = A->rowptr[i]; A->col[k] < i; k++, at++) {
      f.col[at]  = A->col[k];
      f.from[at] = k;
    }
  }
  f.lower[A->n] = at;
  for (int32_t r = 0; r < A->n; r++) {
    const int32_t i = icc ? r : A->n - 1 - r;
    int32_t       k = A->rowptr[i], diagonal;

    while (A->col[k] < i) k++;
    f.begin[i] = at;
    for (diagonal = k++; k < A->rowptr[i + 1]; k++, at++) {
      f.col[at]  = A->col[k];
      f.from[at] = k;
    }
    f.end[i]     = at;
    f.col[at]    = i;
    f.from[at++] = diagonal;
  }
  f.p = (GpTriPattern){A->n, icc, at, f.begin, f.end, f.lower, f.col};
  return f;
}

/* Computes the factor on the host: the values of ICC by the factorisation of the symmetric matrix without the lower half. */
static void ComputeOnHost(const Matrix *A, Factor *f)
{
  GpDev       host;
  GpTriFactor F;
  GpTriStatus status;

  CHECK(GpDevOpen(GP_DEV_HOST, 0, &host, NULL, 0));
  CHECK(GpTriFactorCreate(host, &f->p, 0, NULL, &F));
  CHECK(GpTriFactorSetSource(&F, f->from));
  CHECK(GpTriFactorCompute(&F, A->val, 0, &(GpTriPivots){GP_TRI_PIVOT_NONE, 0, 0, 0}, &status));
  memcpy(f->val, F.val, (size_t)f->p.nnz * sizeof(double));
  GpTriFactorDestroy(&F);
  GpDevClose(&host);
}

/* --- timing --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GpTriFactor           F;
  GpTri                 tri[2];
  const void           *values; /* of A */
  double               *b, *w, *x;
  int32_t              *in[2], *out[2];
  cusparseHandle_t      handle;
  cusparseMatDescr_t    description;
  csrilu02Info_t        ilu;
  csric02Info_t         ic;
  int32_t              *rowptr, *col;
  double               *vendor; /* values that cuSPARSE factorises in place */
  void                 *buffer;
  int32_t               nnz;
  cusparseSolvePolicy_t policy;
} Context;

static int RunFactor(Context *c)
{
  const GpTriPivots pivots = {GP_TRI_PIVOT_NONE, 0, 0, 0};

  return GpTriFactorCompute_CUDA(&c->F, c->values, 0, &pivots);
}

static int RunValues(Context *c)
{
  const double sign = c->F.icc ? -1 : 1;

  return GpTriSetDeviceValues(&c->tri[0], c->F.val, sign, NULL) || GpTriSetDeviceValues(&c->tri[1], c->F.val, sign, c->F.pivot);
}

static int RunApplication(Context *c)
{
  const GpTriVectors one = {c->b, c->in[0], c->w, NULL, NULL, NULL, GP_TRI_UNIT}, two = {c->w, c->in[1], c->w + c->F.n, c->x, c->out[1], NULL, c->F.icc ? GP_TRI_BEFORE : GP_TRI_AFTER};

  return GpTriReset(dev, c->w, 2 * (int64_t)c->F.n) || GpTriSolve(&c->tri[0], &one) || GpTriSolve(&c->tri[1], &two);
}

static int RunVendor(Context *c)
{
  if (c->F.icc) return cusparseDcsric02(c->handle, c->F.n, c->nnz, c->description, c->vendor, c->rowptr, c->col, c->ic, c->policy, c->buffer);
  return cusparseDcsrilu02(c->handle, c->F.n, c->nnz, c->description, c->vendor, c->rowptr, c->col, c->ilu, c->policy, c->buffer);
}

static double Measure(int (*run)(Context *), Context *c)
{
  double times[REPEATS];

  for (int r = -1; r < REPEATS; r++) {
    double us;

    if (run == RunVendor) CHECK(cudaMemcpyAsync(c->vendor, c->values, (size_t)c->nnz * sizeof(double), cudaMemcpyDeviceToDevice, (cudaStream_t)GpDevStream(dev)));
    CHECK(GpDevEventRecord(dev, begin));
    CHECK(run(c));
    us = BenchStop();
    if (r >= 0) times[r] = us;
  }
  return BenchMedian(REPEATS, times);
}

static double MeasureVendor(const Matrix *A, Context *c, cusparseSolvePolicy_t policy)
{
  int    bytes;
  double us;

  c->policy = policy;
  CHECK(cusparseCreate(&c->handle));
  CHECK(cusparseSetStream(c->handle, (cudaStream_t)GpDevStream(dev)));
  CHECK(cusparseCreateMatDescr(&c->description));
  CHECK(cudaMalloc((void **)&c->rowptr, ((size_t)A->n + 1) * sizeof(int32_t)));
  CHECK(cudaMalloc((void **)&c->col, (size_t)A->nnz * sizeof(int32_t)));
  CHECK(cudaMalloc((void **)&c->vendor, (size_t)A->nnz * sizeof(double)));
  CHECK(GpDevUpload(dev, c->rowptr, A->rowptr, ((size_t)A->n + 1) * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, c->col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, c->vendor, A->val, (size_t)A->nnz * sizeof(double)));
  if (c->F.icc) {
    CHECK(cusparseCreateCsric02Info(&c->ic));
    CHECK(cusparseDcsric02_bufferSize(c->handle, A->n, A->nnz, c->description, c->vendor, c->rowptr, c->col, c->ic, &bytes));
    CHECK(cudaMalloc(&c->buffer, (size_t)bytes + 1));
    CHECK(cusparseDcsric02_analysis(c->handle, A->n, A->nnz, c->description, c->vendor, c->rowptr, c->col, c->ic, policy, c->buffer));
  } else {
    CHECK(cusparseCreateCsrilu02Info(&c->ilu));
    CHECK(cusparseDcsrilu02_bufferSize(c->handle, A->n, A->nnz, c->description, c->vendor, c->rowptr, c->col, c->ilu, &bytes));
    CHECK(cudaMalloc(&c->buffer, (size_t)bytes + 1));
    CHECK(cusparseDcsrilu02_analysis(c->handle, A->n, A->nnz, c->description, c->vendor, c->rowptr, c->col, c->ilu, policy, c->buffer));
  }
  us = Measure(RunVendor, c);
  if (c->F.icc) CHECK(cusparseDestroyCsric02Info(c->ic));
  else CHECK(cusparseDestroyCsrilu02Info(c->ilu));
  CHECK(cusparseDestroyMatDescr(c->description));
  CHECK(cusparseDestroy(c->handle));
  cudaFree(c->buffer);
  cudaFree(c->rowptr);
  cudaFree(c->col);
  cudaFree(c->vendor);
  return us;
}

/* Creates the triangles of the factor and the vectors of an application. */
static void CreateTriangles(const Factor *f, Context *c)
{
  const int32_t n     = f->p.n;
  const size_t  bytes = (size_t)n * sizeof(double);
  int32_t      *slot  = (int32_t *)BenchAllocate((size_t)n * sizeof(int32_t));
  double       *b     = (double *)BenchAllocate(bytes);
  GpTriRows     lower = {n, 0, f->lower, f->lower + 1, f->col, NULL, NULL}, upper = {n, 1, f->begin, f->end, f->col, NULL, NULL};

  if (f->p.icc) {
    GpTriTransposed t;

    if (GpTriTranspose(&upper, &t)) exit(1);
    lower = (GpTriRows){n, 0, t.begin, t.begin + 1, t.col, t.source, NULL};
    CHECK(GpTriCreate(dev, &lower, 0, 0, &c->tri[0]));
    GpTriFreeTransposed(&t);
  } else CHECK(GpTriCreate(dev, &lower, 0, 0, &c->tri[0]));
  CHECK(GpTriCreate(dev, &upper, 0, 0, &c->tri[1]));
  GpTriGetSlots(&c->tri[0], slot);
  CHECK(GpTriUploadMap(&c->tri[0], NULL, &c->in[0]));
  CHECK(GpTriUploadMap(&c->tri[1], slot, &c->in[1]));
  CHECK(GpTriUploadMap(&c->tri[1], NULL, &c->out[1]));
  for (int32_t i = 0; i < n; i++) b[i] = 1 + 0.01 * (i % 17);
  CHECK(GpDevAlloc(dev, bytes, &c->b));
  CHECK(GpDevAlloc(dev, 2 * bytes, &c->w));
  CHECK(GpDevAlloc(dev, bytes, &c->x));
  CHECK(GpDevUpload(dev, c->b, b, bytes));
  free(slot);
  free(b);
}

static void DestroyTriangles(Context *c)
{
  const size_t n = (size_t)c->F.n;

  for (int k = 0; k < 2; k++) {
    GpTriDestroy(&c->tri[k]);
    GpDevFree(dev, &c->in[k], n * sizeof(int32_t));
    GpDevFree(dev, &c->out[k], n * sizeof(int32_t));
  }
  GpDevFree(dev, &c->b, n * sizeof(double));
  GpDevFree(dev, &c->w, 2 * n * sizeof(double));
  GpDevFree(dev, &c->x, n * sizeof(double));
}

static const char *Only;
static int         Scan;

/* Times the factorisation with other launch configurations. */
static void ScanLaunches(const char *name, const Factor *f, const void *values)
{
  for (int lanes = 4; lanes <= 32; lanes *= 2) {
    Context c = {.values = values};

    CHECK(GpTriFactorCreate(dev, &f->p, lanes, NULL, &c.F));
    CHECK(GpTriFactorSetSource(&c.F, f->from));
    for (int each = 2; each <= 48; each += each < 8 ? each : 8) { /* warps on each multiprocessor */
      c.F.warps = each * GpDevComputeUnits(dev) < c.F.slices ? each * GpDevComputeUnits(dev) : c.F.slices;
      printf("%s,%s,%d,%lld,%d,%d,%d,%.1f,0,0,0,0,0,0,0\n", name, f->p.icc ? "icc" : "ilu", f->p.n, (long long)f->p.nnz, c.F.levels, c.F.lanes, c.F.warps, Measure(RunFactor, &c));
      fflush(stdout);
    }
    GpTriFactorDestroy(&c.F);
  }
}

static void TimeKind(const char *name, const Matrix *A, int icc)
{
  const size_t bytes = (size_t)A->nnz * sizeof(double);
  Factor       f     = CreateFactor(A, icc);
  Context      c     = {.nnz = A->nnz};
  double      *got = (double *)BenchAllocate((size_t)f.p.nnz * sizeof(double)), error = 0, moved, factor, values, apply, vendor[2];
  void        *a;

  ComputeOnHost(A, &f);
  CHECK(GpDevAlloc(dev, bytes, &a));
  CHECK(GpDevUpload(dev, a, A->val, bytes));
  c.values = a;
  CHECK(GpTriFactorCreate(dev, &f.p, 0, NULL, &c.F));
  CHECK(GpTriFactorSetSource(&c.F, f.from));
  CreateTriangles(&f, &c);
  factor = Measure(RunFactor, &c);
  CHECK(GpDevDownload(dev, got, c.F.val, (size_t)f.p.nnz * sizeof(double)));
  for (int64_t k = 0; k < f.p.nnz; k++) error = fmax(error, fabs(got[k] - f.val[k]) / (1e-3 + fabs(f.val[k])));
  values    = Measure(RunValues, &c);
  apply     = Measure(RunApplication, &c);
  vendor[0] = MeasureVendor(A, &c, CUSPARSE_SOLVE_POLICY_USE_LEVEL);
  vendor[1] = MeasureVendor(A, &c, CUSPARSE_SOLVE_POLICY_NO_LEVEL);
  moved     = (double)f.p.nnz * (4 + 4 + 8 + 8 + 8 + 8) + (double)f.p.n * (16 + 16); /* reset, pattern, map, values of A, the factor written and read */
  printf("%s,%s,%d,%lld,%d,%d,%d,%.1f,%.1f,%.1f,%.2f,%.3f,%.1f,%.1f,%.1e\n", name, icc ? "icc" : "ilu", A->n, (long long)f.p.nnz, c.F.levels, c.F.lanes, c.F.warps, factor, values, apply, (factor + values) / apply, moved / 4.29e6 / factor, vendor[0],
         vendor[1], error);
  fflush(stdout);
  DestroyTriangles(&c);
  GpTriFactorDestroy(&c.F);
  if (Scan) ScanLaunches(name, &f, a);
  GpDevFree(dev, &a, bytes);
  free(got);
  free(f.begin);
  free(f.end);
  free(f.lower);
  free(f.col);
  free(f.from);
  free(f.val);
}

static void Time(const char *name, Matrix A, int symmetric)
{
  for (int icc = 0; icc <= symmetric; icc++) TimeKind(name, &A, icc);
  free(A.rowptr);
  free(A.col);
  free(A.val);
}

static int IsWanted(const char *name)
{
  return !Only || !strcmp(name, Only);
}

int main(int argc, char **argv)
{
  Only = argc > 1 && strcmp(argv[1], "all") ? argv[1] : NULL;
  Scan = argc > 2;
  if (BenchOpen()) return 1;
  printf("matrix,kind,rows,nonzeros,levels,lanes,warps,us,values_us,application_us,applications,fraction,cusparse_level_us,cusparse_us,error\n");
  if (IsWanted("grid7_64")) Time("grid7_64", CreateGrid(64, 64, 64, 7, 0), 1);
  if (IsWanted("grid7_128")) Time("grid7_128", CreateGrid(128, 128, 128, 7, 0), 1);
  if (IsWanted("grid13_64")) Time("grid13_64", CreateGrid(64, 64, 64, 7, 1), 1);
  if (IsWanted("grid27_32")) Time("grid27_32", CreateGrid(32, 32, 32, 27, 0), 1);
  if (IsWanted("grid27_64")) Time("grid27_64", CreateGrid(64, 64, 64, 27, 0), 1);
  if (IsWanted("blocks3_14")) Time("blocks3_14", CreateBlocks(14, 14, 14, 3), 1);
  if (IsWanted("grid5_1000")) Time("grid5_1000", CreateGrid(1000, 1000, 1, 5, 0), 1);
  if (IsWanted("band2000")) Time("band2000", CreateBand(300000, 6, 2000), 0);
  if (IsWanted("wide")) Time("wide", CreateBand(300000, 4, 300000), 0);
  if (IsWanted("band50")) Time("band50", CreateBand(50000, 40, 60), 0);
  BenchClose();
  return 0;
}
