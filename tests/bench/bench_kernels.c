/* Times every kernel of the table and every CSR, COO and sliced ELL algorithm of cuSPARSE, on the same matrices in one run.  Writes CSV to standard
   output.  Uses no PETSc: bench_spmv times the products of a PETSc program.

     bench_kernels [matrix ...]        without names: all matrices of tests/bench/matrices.h

   Columns: the product (A, At: the stored transpose, A': cuSPARSE's transposed operation on A), the kernel, the precision of the values, median
   microseconds with warm caches and with caches flushed before each product, the minimum number of bytes that the product moves, and the fraction
   of the measured copy rate that these bytes and the cold time give. */
#include "bench/device.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselect.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdio.h>

#define BATCH   10 /* products between two events, with warm caches */
#define REPEATS 21 /* runs whose median is printed */
#define FLUSH   ((size_t)256 << 20)

#define HOPELESS 2e-3 /* seconds; a product that takes longer is measured three times only */

static void *flush;

typedef struct {
  const char *matrix, *product, *who, *precision;
  double      bytes;
  int (*run)(void *);
  void *context;
} Contest;

/* Returns the median of the microseconds of one product. */
static double Measure(const Contest *c, int cold)
{
  double times[REPEATS];
  int    batch = cold ? 1 : BATCH, repeats = REPEATS;

  for (int r = -1; r < repeats; r++) {
    double seconds;

    if (cold) CHECK(GpDevZero(dev, flush, FLUSH));
    CHECK(GpDevEventRecord(dev, begin));
    for (int b = 0; b < batch; b++) CHECK(c->run(c->context));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
    if (r >= 0) times[r] = 1e6 * seconds / batch;
    else if (seconds / batch > HOPELESS) {
      batch   = 1; /* too slow to matter */
      repeats = 3;
    }
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  return times[repeats / 2];
}

static void Report(const Contest *c, const char *note)
{
  const double warm = Measure(c, 0), cold = Measure(c, 1);

  printf("%s,%s,%s,%s,%.1f,%.1f,%.0f,%.3f,%s\n", c->matrix, c->product, c->who, c->precision, warm, cold, c->bytes, c->bytes / (cold * 1e-6) / copyrate, note);
  fflush(stdout);
}

static int Copy(void *context)
{
  return GpDevCopyWithin(dev, context, (char *)context + FLUSH * 4, FLUSH * 4);
}

static double Bytes(const GpCsr *A)
{
  return GpCsrBytes(A) + 8.0 * ((double)A->m + A->n);
}

typedef struct {
  const GpFmt       *fmt;
  const GpKernelRow *row;
  const double      *x;
  double            *y;
} Ours;

static int RunOurs(void *context)
{
  const Ours *o = (const Ours *)context;

  return o->row->mult[GP_DEV_CUDA][o->fmt->csr->prec](o->fmt, o->x, NULL, o->y);
}

static double Now(void)
{
  double seconds;

  CHECK(GpDevEventRecord(dev, end));
  CHECK(GpDevEventWait(dev, end));
  CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
  return 1e6 * seconds;
}

static void BenchOurs(const char *matrix, const char *product, const GpCsr *A, const int32_t *rowptr, const double *x, double *y)
{
  GpFeatures F;
  GpChoice   choice;

  CHECK(GpSelDecide(&(GpSelOptions){GP_SELECT_MODEL, -1, -1}, A, &F, &choice));
  for (int k = 0; k < GP_KERNELS; k++) {
    GpFmt   fmt;
    GpErr   err;
    Ours    ours = {&fmt, &GpKernelTable[k], x, y};
    Contest c    = {matrix, product, GpKernelTable[k].name, A->prec == GP_F32 ? "single" : "double", Bytes(A), RunOurs, &ours};

    CHECK(GpDevEventRecord(dev, begin));
    err = GpFmtBuild(&fmt, GpKernelTable[k].format, A, rowptr);
    if (err == GP_ERR_ARGUMENT) {
      printf("# %s,%s,%s refused: %s\n", matrix, product, c.who, GpDevError(dev));
      continue;
    }
    CHECK(err);
    printf("%s,%s,build:%s,%s,%.1f,,,,\n", matrix, product, c.who, c.precision, Now());
    c.bytes = GpFmtTraffic(&fmt) + 8.0 * ((double)A->m + A->n);
    Report(&c, k == choice.kernel ? "chosen" : "");
    GpFmtDestroy(&fmt);
  }
}

typedef struct {
  cusparseHandle_t     handle;
  cusparseOperation_t  op;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t x, y;
  cusparseSpMVAlg_t    alg;
  void                *buffer;
} Theirs;

static int RunTheirs(void *context)
{
  const Theirs *t   = (const Theirs *)context;
  const double  one = 1, zero = 0;

  return cusparseSpMV(t->handle, t->op, &one, t->A, t->x, &zero, t->y, CUDA_R_64F, t->alg, t->buffer);
}

static void BenchTheirs(cusparseHandle_t handle, const char *matrix, const char *product, const GpCsr *A, int32_t *rows, int transpose, double *x, double *y)
{
  const struct {
    const char       *name;
    cusparseSpMVAlg_t alg;
    int               coo;
  } algs[]                = {{"cusparse_csr1", CUSPARSE_SPMV_CSR_ALG1, 0}, {"cusparse_csr2", CUSPARSE_SPMV_CSR_ALG2, 0}, {"cusparse_coo1", CUSPARSE_SPMV_COO_ALG1, 1}, {"cusparse_coo2", CUSPARSE_SPMV_COO_ALG2, 1}};
  const cudaDataType type = A->prec == GP_F32 ? CUDA_R_32F : CUDA_R_64F;

  for (int a = 0; a < 4; a++) {
    Theirs       t   = {handle, transpose ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE, NULL, NULL, NULL, algs[a].alg, NULL};
    Contest      c   = {matrix, product, algs[a].name, A->prec == GP_F32 ? "mixed" : "double", Bytes(A), RunTheirs, &t};
    const double one = 1, zero = 0;
    size_t       size = 0;

    if (algs[a].coo) CHECK(cusparseCreateCoo(&t.A, A->m, A->n, A->nnz, rows, A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    else CHECK(cusparseCreateCsr(&t.A, A->m, A->n, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    CHECK(cusparseCreateDnVec(&t.x, transpose ? A->m : A->n, x, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&t.y, transpose ? A->n : A->m, y, CUDA_R_64F));
    CHECK(cusparseSpMV_bufferSize(handle, t.op, &one, t.A, t.x, &zero, t.y, CUDA_R_64F, t.alg, &size));
    CHECK(GpDevAlloc(dev, size ? size : 16, &t.buffer));
    CHECK(cusparseSpMV_preprocess(handle, t.op, &one, t.A, t.x, &zero, t.y, CUDA_R_64F, t.alg, t.buffer));
    Report(&c, "");
    GpDevFree(dev, &t.buffer, size ? size : 16);
    cusparseDestroyDnVec(t.x);
    cusparseDestroyDnVec(t.y);
    cusparseDestroySpMat(t.A);
  }
}

/* Times cuSPARSE's sliced ELL with 32 rows per slice, unless padding gives four times as many entries as nonzeros. */
static void BenchSell(cusparseHandle_t handle, const char *matrix, const char *product, const GpCsr *A, const int32_t *rowptr, double *x, double *y)
{
  const cudaDataType type  = A->prec == GP_F32 ? CUDA_R_32F : CUDA_R_64F;
  const int32_t      n     = (A->m + 31) / 32;
  const size_t       bytes = GpPrecBytes(A->prec);
  Theirs             t     = {handle, CUSPARSE_OPERATION_NON_TRANSPOSE, NULL, NULL, NULL, CUSPARSE_SPMV_SELL_ALG1, NULL};
  Contest            c     = {matrix, product, "cusparse_sell", A->prec == GP_F32 ? "mixed" : "double", Bytes(A), RunTheirs, &t};
  const double       one = 1, zero = 0;
  int32_t           *start = (int32_t *)calloc((size_t)n + 1, sizeof(int32_t)), *col, *hcol, *dstart, *dcol;
  char              *val, *hval;
  void              *dval;
  int64_t            total = 0;
  size_t             size  = 0;

  for (int32_t s = 0; s < n; s++) {
    int32_t width = 0;

    for (int32_t i = 32 * s; i < A->m && i < 32 * s + 32; i++) width = rowptr[i + 1] - rowptr[i] > width ? rowptr[i + 1] - rowptr[i] : width;
    total += 32 * (int64_t)width;
    start[s + 1] = (int32_t)total;
    if (total > 4 * (int64_t)A->nnz || total > INT32_MAX) {
      free(start);
      return;
    }
  }
  hcol = (int32_t *)malloc((size_t)A->nnz * sizeof(int32_t));
  hval = (char *)malloc((size_t)A->nnz * bytes);
  col  = (int32_t *)malloc((size_t)total * sizeof(int32_t));
  val  = (char *)calloc((size_t)total, bytes);
  CHECK(GpDevDownload(dev, hcol, A->col, (size_t)A->nnz * sizeof(int32_t)));
  CHECK(GpDevDownload(dev, hval, A->val, (size_t)A->nnz * bytes));
  for (int64_t i = 0; i < total; i++) col[i] = -1;
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
      const size_t to = (size_t)start[i / 32] + 32 * (size_t)(k - rowptr[i]) + i % 32;

      col[to] = hcol[k];
      memcpy(val + to * bytes, hval + (size_t)k * bytes, bytes);
    }
  }
  CHECK(GpDevAlloc(dev, ((size_t)n + 1) * sizeof(int32_t), &dstart));
  CHECK(GpDevAlloc(dev, (size_t)total * sizeof(int32_t), &dcol));
  CHECK(GpDevAlloc(dev, (size_t)total * bytes, &dval));
  CHECK(GpDevUpload(dev, dstart, start, ((size_t)n + 1) * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, dcol, col, (size_t)total * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, dval, val, (size_t)total * bytes));
  CHECK(cusparseCreateSlicedEll(&t.A, A->m, A->n, A->nnz, total, 32, dstart, dcol, dval, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  CHECK(cusparseCreateDnVec(&t.x, A->n, x, CUDA_R_64F));
  CHECK(cusparseCreateDnVec(&t.y, A->m, y, CUDA_R_64F));
  CHECK(cusparseSpMV_bufferSize(handle, t.op, &one, t.A, t.x, &zero, t.y, CUDA_R_64F, t.alg, &size));
  CHECK(GpDevAlloc(dev, size ? size : 16, &t.buffer));
  Report(&c, "");
  GpDevFree(dev, &t.buffer, size ? size : 16);
  GpDevFree(dev, &dstart, ((size_t)n + 1) * sizeof(int32_t));
  GpDevFree(dev, &dcol, (size_t)total * sizeof(int32_t));
  GpDevFree(dev, &dval, (size_t)total * bytes);
  cusparseDestroyDnVec(t.x);
  cusparseDestroyDnVec(t.y);
  cusparseDestroySpMat(t.A);
  free(start);
  free(hcol);
  free(hval);
  free(col);
  free(val);
}

/* Computes the row of every nonzero, for COO. */
static int32_t *Rows(const GpCsr *A, const int32_t *rowptr)
{
  int32_t *host = (int32_t *)malloc((size_t)A->nnz * sizeof(int32_t)), *device;

  for (int32_t i = 0; i < A->m; i++)
    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) host[k] = i;
  CHECK(GpDevAlloc(dev, (size_t)A->nnz * sizeof(int32_t), &device));
  CHECK(GpDevUpload(dev, device, host, (size_t)A->nnz * sizeof(int32_t)));
  free(host);
  return device;
}

static void Bench(cusparseHandle_t handle, const char *matrix, const BenchMatrix *B, GpPrec prec)
{
  GpCsr    A, At;
  GpLoss   loss;
  int32_t *perm, *tptr = (int32_t *)malloc(((size_t)B->n + 1) * sizeof(int32_t)), *rows;
  double  *x, *y, t0, t1;
  size_t   nx = (size_t)(B->m > B->n ? B->m : B->n), ni = (size_t)B->nnz * sizeof(int32_t);
  double  *host = (double *)malloc(nx * sizeof(double));
  uint64_t seed = 5;

  for (size_t i = 0; i < nx; i++) host[i] = 2 * BenchUniform(&seed) - 1;
  CHECK(GpDevAlloc(dev, nx * sizeof(double), &x));
  CHECK(GpDevAlloc(dev, nx * sizeof(double), &y));
  CHECK(GpDevUpload(dev, x, host, nx * sizeof(double)));
  CHECK(GpDevEventRecord(dev, begin));
  CHECK(GpCsrCreate(dev, prec, B->m, B->n, B->nnz, &A));
  CHECK(GpDevUpload(dev, A.rowptr, B->rowptr, ((size_t)B->m + 1) * sizeof(int32_t))); /* indices have 32 bits here, also with a PETSc of 64-bit indices */
  CHECK(GpDevUpload(dev, A.col, B->col, ni));
  CHECK(GpCsrSetValues(&A, B->val, &loss));
  t0 = Now();
  CHECK(GpDevAlloc(dev, ni, &perm));
  CHECK(GpCsrTranspose(&A, &At, perm));
  t1 = Now();
  printf("%s,,upload,%s,%.1f,,,,\n%s,,transpose,%s,%.1f,,,,\n", matrix, prec == GP_F32 ? "single" : "double", t0, matrix, prec == GP_F32 ? "single" : "double", t1 - t0);
  CHECK(GpDevEventRecord(dev, begin));
  CHECK(GpCsrTransposeValues(&A, perm, &At));
  printf("%s,,refresh,%s,%.1f,,,,\n", matrix, prec == GP_F32 ? "single" : "double", Now());
  GpDevFree(dev, &perm, ni);
  CHECK(GpDevDownload(dev, tptr, At.rowptr, ((size_t)B->n + 1) * sizeof(int32_t)));
  BenchOurs(matrix, "A", &A, B->rowptr, x, y);
  BenchOurs(matrix, "At", &At, tptr, x, y);
  rows = Rows(&A, B->rowptr);
  BenchTheirs(handle, matrix, "A", &A, rows, 0, x, y);
  BenchSell(handle, matrix, "A", &A, B->rowptr, x, y);
  BenchTheirs(handle, matrix, "A'", &A, rows, 1, x, y);
  GpDevFree(dev, &rows, ni);
  rows = Rows(&At, tptr);
  BenchTheirs(handle, matrix, "At", &At, rows, 0, x, y);
  BenchSell(handle, matrix, "At", &At, tptr, x, y);
  GpDevFree(dev, &rows, ni);
  GpCsrDestroy(&A);
  GpCsrDestroy(&At);
  GpDevFree(dev, &x, nx * sizeof(double));
  GpDevFree(dev, &y, nx * sizeof(double));
  free(tptr);
  free(host);
}

int main(int argc, char **argv)
{
  const int        all = argc < 2, n = all ? (int)(sizeof(BenchNames) / sizeof(BenchNames[0])) : argc - 1;
  char             why[256];
  cusparseHandle_t handle;
  Contest          copy = {.run = Copy};

  if (GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    printf("bench_kernels: skipped: %s\n", why);
    return 0;
  }
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  CHECK(GpDevAlloc(dev, FLUSH * 8, &flush));
  CHECK(cusparseCreate(&handle));
  CHECK(cusparseSetStream(handle, (cudaStream_t)GpDevStream(dev)));
  copy.context = flush;
  copyrate     = 8.0 * FLUSH / (1e-6 * Measure(&copy, 0));
  printf("# %s, copy rate %.3g TB/s, cuSPARSE %d, warm: median of %d batches of %d, cold: median of %d after a flush of %zu MiB\n", GpDevName(dev), 1e-12 * copyrate, CUSPARSE_VERSION, REPEATS, BATCH, REPEATS, FLUSH >> 20);
  printf("matrix,product,who,values,warm_us,cold_us,bytes,fraction,note\n");
  for (int i = 0; i < n; i++) {
    const char *name = all ? BenchNames[i].name : argv[i + 1];
    BenchMatrix B;

    if (!BenchNamed(name, &B)) {
      fprintf(stderr, "bench_kernels: no matrix named %s in tests/bench/matrices.h\n", name);
      return 2;
    }
    printf("# %s: %d x %d, %d nonzeros\n", name, B.m, B.n, B.nnz);
    Bench(handle, name, &B, GP_F32);
    Bench(handle, name, &B, GP_F64);
    BenchMatrixDestroy(&B);
  }
  cusparseDestroy(handle);
  GpDevFree(dev, &flush, FLUSH * 8);
  BenchClose();
  return 0;
}
