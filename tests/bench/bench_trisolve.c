/* Times triangular solves beside cusparseSpSV() on the same matrices, in one run: CSV on standard output.  No PETSc, as bench_kernels.

     bench_trisolve [lanes]      lanes: number of threads of a row; without it the library selects

   Columns: matrix, rows, nonzeros, levels, number of lanes, thread blocks, precision of the values, median microseconds of a solve with its reset, those of cusparseSpSV()
   with double values, and the largest difference from a solve on the host relative to 1 + |x|. */
#include "bench/device.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <math.h>

#define REPEATS 15 /* solves whose median is printed */

typedef struct {
  int32_t  n, nnz;
  int32_t *begin; /* [n + 1] */
  int32_t *rowptr, *col;
  double  *val;
} Lower;

static Lower Create(int32_t n, int most)
{
  return (Lower){n,
                 0,
                 (int32_t *)BenchAllocate(((size_t)n + 1) * sizeof(int32_t)),
                 (int32_t *)BenchAllocate(((size_t)n + 1) * sizeof(int32_t)),
                 (int32_t *)BenchAllocate((size_t)n * (size_t)most * sizeof(int32_t)),
                 (double *)BenchAllocate((size_t)n * (size_t)most * sizeof(double))};
}

static void Add(Lower *L, int32_t col)
{
  L->col[L->nnz] = col;
  L->val[L->nnz] = -0.07 * (1 + 0.1 * sin(0.37 * L->nnz));
  L->nnz++;
}

/* The strictly lower part of a stencil of 5, 7 or 27 points. */
static Lower CreateGrid(int nx, int ny, int nz, int points)
{
  Lower   L   = Create(nx * ny * nz, points / 2);
  int32_t row = 0;

  for (int z = 0; z < nz; z++) {
    for (int y = 0; y < ny; y++) {
      for (int x = 0; x < nx; x++, row++) {
        L.begin[row] = L.rowptr[row] = L.nnz;
        for (int k = 0; k < 13; k++) { /* the neighbours in ascending order */
          const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;

          if (points != 27 && abs(dx) + abs(dy) + abs(dz) != 1) continue;
          if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0) continue;
          Add(&L, row + dx + nx * (dy + ny * dz));
        }
      }
    }
  }
  L.begin[row] = L.rowptr[row] = L.nnz;
  return L;
}

static int CompareColumns(const void *a, const void *b)
{
  return *(const int32_t *)a - *(const int32_t *)b;
}

/* `each` entries a row in random columns of a band. */
static Lower CreateBand(int32_t n, int each, int32_t band)
{
  Lower    L    = Create(n, each);
  uint32_t seed = 5;

  for (int32_t i = 0; i < n; i++) {
    int32_t col[64];

    L.begin[i] = L.rowptr[i] = L.nnz;
    for (int k = 0; k < each && i; k++) {
      seed   = seed * 1664525u + 1013904223u;
      col[k] = i - 1 - (int32_t)((seed >> 4) % (uint32_t)(i < band ? i : band));
    }
    if (!i) continue;
    qsort(col, (size_t)each, sizeof(int32_t), CompareColumns);
    for (int k = 0; k < each; k++) {
      if (!k || col[k] != col[k - 1]) Add(&L, col[k]);
    }
  }
  L.begin[n] = L.rowptr[n] = L.nnz;
  return L;
}

/* --- timing --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  const GpTri         *T;
  GpTriVectors         v;
  cusparseHandle_t     handle;
  cusparseSpSVDescr_t  descriptor;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t b, x;
} Context;

static const double One = 1;

static int RunOurs(Context *c)
{
  return GpTriReset(dev, c->v.w, c->T->layout.n) || GpTriSolve(c->T, &c->v);
}

static int RunVendor(Context *c)
{
  return cusparseSpSV_solve(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &One, c->A, c->b, c->x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, c->descriptor);
}

static double Measure(int (*run)(Context *), Context *c)
{
  double times[REPEATS];

  for (int r = -1; r < REPEATS; r++) {
    double us;

    CHECK(GpDevEventRecord(dev, begin));
    CHECK(run(c));
    us = BenchStop();
    if (r >= 0) times[r] = us;
  }
  return BenchMedian(REPEATS, times);
}

static double MeasureVendor(const Lower *L, Context *c)
{
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_UNIT;
  int32_t           *rowptr, *col;
  double            *val, us;
  void              *buffer;
  size_t             bytes;

  CHECK(cudaMalloc((void **)&rowptr, ((size_t)L->n + 1) * sizeof(int32_t)));
  CHECK(cudaMalloc((void **)&col, ((size_t)L->nnz + 1) * sizeof(int32_t)));
  CHECK(cudaMalloc((void **)&val, ((size_t)L->nnz + 1) * sizeof(double)));
  CHECK(GpDevUpload(dev, rowptr, L->rowptr, ((size_t)L->n + 1) * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, col, L->col, (size_t)L->nnz * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, val, L->val, (size_t)L->nnz * sizeof(double)));
  CHECK(cusparseCreate(&c->handle));
  CHECK(cusparseSetStream(c->handle, (cudaStream_t)GpDevStream(dev)));
  CHECK(cusparseCreateCsr(&c->A, L->n, L->n, L->nnz, rowptr, col, val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  CHECK(cusparseSpMatSetAttribute(c->A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
  CHECK(cusparseSpMatSetAttribute(c->A, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof(diag)));
  CHECK(cusparseCreateDnVec(&c->b, L->n, (void *)c->v.b, CUDA_R_64F));
  CHECK(cusparseCreateDnVec(&c->x, L->n, c->v.x, CUDA_R_64F));
  CHECK(cusparseSpSV_createDescr(&c->descriptor));
  CHECK(cusparseSpSV_bufferSize(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &One, c->A, c->b, c->x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, c->descriptor, &bytes));
  CHECK(cudaMalloc(&buffer, bytes + 1));
  CHECK(cusparseSpSV_analysis(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &One, c->A, c->b, c->x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, c->descriptor, buffer));
  us = Measure(RunVendor, c);
  CHECK(cusparseSpSV_destroyDescr(c->descriptor));
  CHECK(cusparseDestroyDnVec(c->b));
  CHECK(cusparseDestroyDnVec(c->x));
  CHECK(cusparseDestroySpMat(c->A));
  CHECK(cusparseDestroy(c->handle));
  cudaFree(buffer);
  cudaFree(rowptr);
  cudaFree(col);
  cudaFree(val);
  return us;
}

static void Time(const char *name, Lower L, int lanes)
{
  const size_t bytes = (size_t)L.n * sizeof(double);
  double      *b = (double *)BenchAllocate(bytes), *x = (double *)BenchAllocate(bytes), *got = (double *)BenchAllocate(bytes), *db, *dx, *dw, vendor = 0;

  for (int32_t i = 0; i < L.n; i++) {
    x[i] = b[i] = 1 + 0.01 * (i % 17);
    for (int32_t k = L.begin[i]; k < L.begin[i + 1]; k++) x[i] -= L.val[k] * x[L.col[k]];
  }
  CHECK(GpDevAlloc(dev, bytes, &db));
  CHECK(GpDevAlloc(dev, bytes, &dx));
  CHECK(GpDevAlloc(dev, bytes, &dw));
  CHECK(GpDevUpload(dev, db, b, bytes));
  for (int single = 0; single < 2; single++) {
    GpTri    T;
    int32_t *map;
    double   us, error = 0;

    CHECK(GpTriCreate(dev, &(GpTriRows){L.n, 0, L.begin, L.begin + 1, L.col, NULL, NULL}, lanes, single, &T));
    CHECK(GpTriSetValues(&T, L.val, 1, NULL));
    CHECK(GpTriUploadMap(&T, NULL, &map));
    Context c = {&T, {db, map, dw, dx, map, NULL, GP_TRI_UNIT}};
    us        = Measure(RunOurs, &c);
    CHECK(GpDevDownload(dev, got, dx, bytes));
    for (int32_t i = 0; i < L.n; i++) error = fmax(error, fabs(got[i] - x[i]) / (1 + fabs(x[i])));
    if (!single) vendor = MeasureVendor(&L, &c);
    printf("%s,%d,%d,%d,%d,%d,%s,%.1f,%.1f,%.1e\n", name, L.n, L.nnz, T.layout.levels, T.layout.lanes, T.blocks, single ? "single" : "double", us, vendor, error);
    fflush(stdout);
    GpDevFree(dev, &map, (size_t)L.n * sizeof(int32_t));
    GpTriDestroy(&T);
  }
  GpDevFree(dev, &db, bytes);
  GpDevFree(dev, &dx, bytes);
  GpDevFree(dev, &dw, bytes);
  free(b);
  free(x);
  free(got);
  free(L.begin);
  free(L.rowptr);
  free(L.col);
  free(L.val);
}

int main(int argc, char **argv)
{
  const int lanes = argc > 1 ? atoi(argv[1]) : 0;

  if (BenchOpen()) return 1;
  printf("matrix,rows,nonzeros,levels,lanes,blocks,precision,us,spsv_us,error\n");
  Time("grid7_64", CreateGrid(64, 64, 64, 7), lanes);
  Time("grid7_128", CreateGrid(128, 128, 128, 7), lanes);
  Time("grid27_32", CreateGrid(32, 32, 32, 27), lanes);
  Time("grid27_64", CreateGrid(64, 64, 64, 27), lanes);
  Time("grid5_1000", CreateGrid(1000, 1000, 1, 5), lanes);
  Time("band2000", CreateBand(500000, 8, 2000), lanes);
  Time("wide", CreateBand(1000000, 6, 1000000), lanes);
  Time("band50", CreateBand(100000, 10, 50), lanes);
  Time("chain", CreateBand(100000, 1, 1), lanes);
  BenchClose();
  return 0;
}
