/* Products with many vectors: every SpMM kernel of the table, the chosen SpMV kernel once a column, and every CSR algorithm of
   cuSPARSE, on the same matrices in one run: CSV on standard output.  No PETSc, as bench_kernels.

     bench_spmm [-k 2,4,8] [matrix ...]      without names: all of tests/bench/matrices.h

   Columns: the product (A, At: the stored transpose, A': cuSPARSE's transposed operation on A), columns of X, who, precision of the values,
   median microseconds of a product, warm; billions of multiplications and additions a second; and the fraction of the GPU's
   measured copy rate that the bytes make which must move at least: the matrix, X and Y once.  X and Y are stored by columns, as PETSc
   stores dense matrices; cuSPARSE allows no single values beside double vectors here, so its values are double. */
#include "bench/device.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"
#include "mat/impls/gpucsr/selector/gpselectmany.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdio.h>

#define REPEATS  9    /* runs whose median is printed */
#define HOPELESS 2e-2 /* seconds; a product that takes longer is measured once */
#define FLUSH    ((size_t)1 << 30)
#define MOST     256 /* columns */

typedef struct {
  const char  *matrix, *product;
  const GpCsr *A;
  int          k, transpose; /* cuSPARSE's operation */
  double      *x, *y;
} Task;

/* Returns the median of the microseconds.  A batch has at least two products, because launches overlap. */
static double Measure(int (*run)(void *), void *context)
{
  double times[REPEATS], seconds;
  int    repeats = REPEATS, batch = 4;

  CHECK(run(context)); /* loads the code */
  for (int r = -1; r < repeats; r++) {
    CHECK(GpDevEventRecord(dev, begin));
    for (int b = 0; b < (r < 0 ? 1 : batch); b++) CHECK(run(context));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
    if (r >= 0) times[r] = 1e6 * seconds / batch;
    else if (seconds > HOPELESS) return 1e6 * seconds; /* too slow to matter */
    else if (seconds > HOPELESS / 10) batch = 2;
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  return times[repeats / 2];
}

static void Report(const Task *t, const char *who, const char *note, int (*run)(void *), void *context)
{
  const double us = Measure(run, context), bytes = GpCsrBytes(t->A) + 8.0 * t->k * ((double)t->A->m + t->A->n);

  printf("%s,%s,%d,%s,%s,%.1f,%.1f,%.3f,%s\n", t->matrix, t->product, t->k, who, t->A->prec == GP_F32 ? "single" : "double", us, 2e-3 * t->A->nnz * t->k / us, bytes / (us * 1e-6) / copyrate, note);
  fflush(stdout);
}

typedef struct {
  const GpFmt *fmt;
  GpSpmmFn     many;
  GpSpmvFn     one;
  const Task  *task;
} Ours;

/* Multiplies the columns in the same batches as the operator. */
static int RunMany(void *context)
{
  const Ours *o = (const Ours *)context;
  const Task *t = o->task;

  for (int first = 0; first < t->k; first += GP_SPMM_COLUMNS) {
    GpColumns C = {.k = t->k - first < GP_SPMM_COLUMNS ? t->k - first : GP_SPMM_COLUMNS, .incx = 1, .incy = 1};
    int       err;

    for (int c = 0; c < C.k; c++) {
      C.x[c] = t->x + (size_t)(first + c) * t->A->n;
      C.y[c] = t->y + (size_t)(first + c) * t->A->m;
    }
    err = o->many(o->fmt, &C);
    if (err) return err;
  }
  return 0;
}

static int RunOne(void *context)
{
  const Ours *o   = (const Ours *)context;
  const Task *t   = o->task;
  int         err = 0;

  for (int c = 0; c < t->k && !err; c++) err = o->one(o->fmt, t->x + (size_t)c * t->A->n, NULL, t->y + (size_t)c * t->A->m);
  return err;
}

/* Computes the same number as the operator, but from all rows instead of samples. */
static double Spread(const GpCsr *A, const int32_t *rowptr)
{
  int32_t *col = (int32_t *)malloc(((size_t)A->nnz + 1) * sizeof(int32_t));
  double   sum = 0;
  int32_t  n   = 0;

  CHECK(GpDevDownload(dev, col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  for (int32_t i = 0; i < A->m; i += GP_SEL_SAMPLE, n++) sum += GpSelSpread(A->m - i < GP_SEL_SAMPLE ? A->m - i : GP_SEL_SAMPLE, rowptr + i, col + rowptr[i]);
  free(col);
  return sum / n;
}

static void BenchOurs(const Task *t, const int32_t *rowptr, double spread)
{
  GpFeatures F;
  GpChoice   choice;
  GpFmt      fmt;
  Ours       ours = {.fmt = &fmt, .task = t};

  CHECK(GpSelDecide(&(GpSelOptions){GP_SELECT_MODEL, -1, -1}, t->A, &F, &choice));
  CHECK(GpFmtBuild(&fmt, GpKernelTable[choice.kernel].format, t->A, rowptr));
  ours.one = GpKernelTable[choice.kernel].mult[GP_DEV_CUDA][t->A->prec];
  Report(t, "spmv", GpKernelTable[choice.kernel].name, RunOne, &ours);
  GpFmtDestroy(&fmt);
  for (int k = 0; k < GP_SPMM_KERNELS; k++) {
    if (k == GP_SPMM_mmscalar8 && F.longest > 1000) continue; /* a single thread would compute the longest row for seconds */
    CHECK(GpFmtBuild(&fmt, GpSpmmTable[k].format, t->A, rowptr));
    ours.many = GpSpmmTable[k].mult[GP_DEV_CUDA][t->A->prec];
    Report(t, GpSpmmTable[k].name, k == GpSelChooseMany(&F, spread, t->k) ? "chosen" : "", RunMany, &ours);
    GpFmtDestroy(&fmt);
  }
}

typedef struct {
  cusparseHandle_t     handle;
  cusparseOperation_t  op;
  cusparseSpMatDescr_t A;
  cusparseDnMatDescr_t x, y;
  cusparseSpMMAlg_t    alg;
  void                *buffer;
} Theirs;

static int RunTheirs(void *context)
{
  const Theirs *t   = (const Theirs *)context;
  const double  one = 1, zero = 0;

  return cusparseSpMM(t->handle, t->op, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->A, t->x, &zero, t->y, CUDA_R_64F, t->alg, t->buffer);
}

static void BenchTheirs(cusparseHandle_t handle, const Task *task)
{
  const struct {
    const char       *name;
    cusparseSpMMAlg_t alg;
  } algs[]        = {{"cusparse_csr1", CUSPARSE_SPMM_CSR_ALG1}, {"cusparse_csr2", CUSPARSE_SPMM_CSR_ALG2}, {"cusparse_csr3", CUSPARSE_SPMM_CSR_ALG3}};
  const GpCsr *A  = task->A;
  const int    nx = task->transpose ? A->m : A->n, ny = task->transpose ? A->n : A->m;

  for (size_t a = 0; a < sizeof(algs) / sizeof(algs[0]); a++) {
    Theirs       t   = {handle, task->transpose ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE, NULL, NULL, NULL, algs[a].alg, NULL};
    const double one = 1, zero = 0;
    size_t       size = 0;

    if (task->transpose && algs[a].alg == CUSPARSE_SPMM_CSR_ALG3) continue; /* this algorithm has no transposed operation */
    CHECK(cusparseCreateCsr(&t.A, A->m, A->n, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CHECK(cusparseCreateDnMat(&t.x, nx, task->k, nx, task->x, CUDA_R_64F, CUSPARSE_ORDER_COL));
    CHECK(cusparseCreateDnMat(&t.y, ny, task->k, ny, task->y, CUDA_R_64F, CUSPARSE_ORDER_COL));
    CHECK(cusparseSpMM_bufferSize(handle, t.op, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t.A, t.x, &zero, t.y, CUDA_R_64F, t.alg, &size));
    CHECK(GpDevAlloc(dev, size ? size : 16, &t.buffer));
    CHECK(cusparseSpMM_preprocess(handle, t.op, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t.A, t.x, &zero, t.y, CUDA_R_64F, t.alg, t.buffer));
    Report(task, algs[a].name, "", RunTheirs, &t);
    GpDevFree(dev, &t.buffer, size ? size : 16);
    cusparseDestroyDnMat(t.x);
    cusparseDestroyDnMat(t.y);
    cusparseDestroySpMat(t.A);
  }
}

static void Bench(cusparseHandle_t handle, const char *matrix, const BenchMatrix *B, GpPrec prec, const int columns[], int ncolumns)
{
  GpCsr    A, At;
  GpLoss   loss;
  int32_t *perm, *tptr = (int32_t *)malloc(((size_t)B->n + 1) * sizeof(int32_t));
  double  *x, *y;
  size_t   nx = (size_t)(B->m > B->n ? B->m : B->n), ni = (size_t)B->nnz * sizeof(int32_t), bytes;
  int      most = 0;
  double   spread[2];

  for (int c = 0; c < ncolumns; c++) most = columns[c] > most ? columns[c] : most;
  bytes = nx * (size_t)most * sizeof(double);
  CHECK(GpDevAlloc(dev, bytes, &x));
  CHECK(GpDevAlloc(dev, bytes, &y));
  CHECK(GpDevZero(dev, x, bytes)); /* the time does not depend on the values */
  CHECK(GpCsrCreate(dev, prec, B->m, B->n, B->nnz, &A));
  CHECK(GpCsrSetPattern(&A, B->rowptr, B->col));
  CHECK(GpCsrSetValues(&A, B->val, &loss));
  CHECK(GpDevAlloc(dev, ni, &perm));
  CHECK(GpCsrTranspose(&A, &At, perm));
  GpDevFree(dev, &perm, ni);
  CHECK(GpDevDownload(dev, tptr, At.rowptr, ((size_t)B->n + 1) * sizeof(int32_t)));
  spread[0] = Spread(&A, B->rowptr);
  spread[1] = Spread(&At, tptr);
  printf("# %s: spread of the columns of neighbouring rows %.2f, of the transpose %.2f\n", matrix, spread[0], spread[1]);
  for (int c = 0; c < ncolumns; c++) {
    Task a = {matrix, "A", &A, columns[c], 0, x, y}, at = {matrix, "At", &At, columns[c], 0, x, y}, transposed = {matrix, "A'", &A, columns[c], 1, x, y};

    BenchOurs(&a, B->rowptr, spread[0]);
    BenchOurs(&at, tptr, spread[1]);
    if (prec == GP_F32) continue;
    BenchTheirs(handle, &a);
    BenchTheirs(handle, &at);
    BenchTheirs(handle, &transposed);
  }
  GpCsrDestroy(&A);
  GpCsrDestroy(&At);
  GpDevFree(dev, &x, bytes);
  GpDevFree(dev, &y, bytes);
  free(tptr);
}

static int Copy(void *context)
{
  return GpDevCopyWithin(dev, context, (char *)context + FLUSH, FLUSH);
}

int main(int argc, char **argv)
{
  char             why[256], *list = NULL;
  int              columns[16] = {2, 4, 8, 16, 32, 64, 128}, ncolumns = 7, all;
  void            *memory;
  cusparseHandle_t handle;

  if (argc > 2 && !strcmp(argv[1], "-k")) {
    ncolumns = 0;
    for (list = strtok(argv[2], ","); list && ncolumns < 16; list = strtok(NULL, ",")) {
      const int k = atoi(list);

      columns[ncolumns++] = k < 1 ? 1 : k > MOST ? MOST : k;
    }
    argc -= 2;
    argv += 2;
  }
  all = argc < 2;
  if (GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    printf("bench_spmm: skipped: %s\n", why);
    return 0;
  }
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  CHECK(GpDevAlloc(dev, FLUSH * 2, &memory));
  CHECK(cusparseCreate(&handle));
  CHECK(cusparseSetStream(handle, (cudaStream_t)GpDevStream(dev)));
  copyrate = 2.0 * FLUSH / (1e-6 * Measure(Copy, memory));
  GpDevFree(dev, &memory, FLUSH * 2);
  printf("# %s, copy rate %.3g TB/s, cuSPARSE %d, warm: median of %d\n", GpDevName(dev), 1e-12 * copyrate, CUSPARSE_VERSION, REPEATS);
  printf("matrix,product,columns,who,values,us,gflops,fraction,note\n");
  for (int i = 0; i < (all ? (int)(sizeof(BenchNames) / sizeof(BenchNames[0])) : argc - 1); i++) {
    const char *name = all ? BenchNames[i].name : argv[i + 1];
    BenchMatrix B;

    if (!BenchNamed(name, &B)) {
      fprintf(stderr, "bench_spmm: no matrix named %s in tests/bench/matrices.h\n", name);
      return 2;
    }
    printf("# %s: %d x %d, %d nonzeros\n", name, B.m, B.n, B.nnz);
    Bench(handle, name, &B, GP_F32, columns, ncolumns);
    Bench(handle, name, &B, GP_F64, columns, ncolumns);
    BenchMatrixDestroy(&B);
  }
  cusparseDestroy(handle);
  BenchClose();
  return 0;
}
