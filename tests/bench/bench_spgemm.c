/* Times products of sparse matrices beside cusparseSpGEMM() and cusparseSpGEMMreuse on the same matrices, in one run: CSV on standard output.  No PETSc, as bench_kernels.

     bench_spgemm [-ours] [name ...]     without names: all cases; -ours: without cuSPARSE, whose columns are -1

   Columns: product; rows; nonzeros of the first and the second factor; products; nonzeros of C; bytes of the plan; median microseconds of the symbolic phase,
   of the numeric phase, of cusparseSpGEMM() (all phases, as a program needs them for new values too), of the symbolic phases of cusparseSpGEMMreuse and of its numeric phase (-1: it failed);
   bytes that a numeric phase must move, if every array is moved once; its fraction of 4.29e12 bytes a second; largest error of C x relative to the sum of absolute values, in sampled rows. */
#include "bench/device.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spgemm/gpspgemm.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>

#define REPEATS 9
#define LIMIT   4.29e12 /* bytes a second that a copy moves on an H200 */

static const double One = 1, Zero = 0;
static int          vendors = 1; /* 0: cuSPARSE is not timed */

static void Upload(const BenchMatrix *A, GpCsr *D)
{
  CHECK(GpCsrCreate(dev, GP_F64, A->m, A->n, A->nnz, D));
  CHECK(GpDevUpload(dev, D->rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, D->col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  CHECK(GpDevUpload(dev, D->val, A->val, (size_t)A->nnz * sizeof(double)));
}

/* --- cuSPARSE --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  cusparseHandle_t      handle;
  cusparseSpMatDescr_t  A, B, C;
  cusparseSpGEMMDescr_t descriptor;
  void                 *buffer[5];
  int32_t              *rowptr, *col;
  double               *val;
  int64_t               m, nnz;
  const char           *why; /* the step that failed */
} Vendor;

#define TRY(call) \
  do { \
    if (!V->why && (call)) V->why = #call; \
  } while (0)

static cusparseSpMatDescr_t Describe(Vendor *V, const GpCsr *A)
{
  cusparseSpMatDescr_t d = NULL;

  TRY(cusparseCreateCsr(&d, A->m, A->n, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  return d;
}

static void Begin(Vendor *V, const GpCsr *A, const GpCsr *B)
{
  *V = (Vendor){.m = A->m};
  TRY(cusparseCreate(&V->handle));
  TRY(cusparseSetStream(V->handle, (cudaStream_t)GpDevStream(dev)));
  V->A = Describe(V, A);
  V->B = Describe(V, B);
  TRY(cudaMalloc((void **)&V->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  TRY(cusparseCreateCsr(&V->C, A->m, B->n, 0, V->rowptr, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  TRY(cusparseSpGEMM_createDescr(&V->descriptor));
}

static void FreeVendor(Vendor *V)
{
  for (int k = 0; k < 5; k++) cudaFree(V->buffer[k]);
  cudaFree(V->rowptr);
  cudaFree(V->col);
  cudaFree(V->val);
  if (V->descriptor) cusparseSpGEMM_destroyDescr(V->descriptor);
  if (V->A) cusparseDestroySpMat(V->A);
  if (V->B) cusparseDestroySpMat(V->B);
  if (V->C) cusparseDestroySpMat(V->C);
  if (V->handle) cusparseDestroy(V->handle);
}

static void *GetBuffer(Vendor *V, int k, size_t bytes)
{
  TRY(cudaMalloc(&V->buffer[k], bytes + 1));
  return V->buffer[k];
}

static void AllocateC(Vendor *V)
{
  int64_t m, n;

  TRY(cusparseSpMatGetSize(V->C, &m, &n, &V->nnz));
  TRY(cudaMalloc((void **)&V->col, (size_t)V->nnz * sizeof(int32_t) + 1));
  TRY(cudaMalloc((void **)&V->val, (size_t)V->nnz * sizeof(double) + 1));
  TRY(cusparseCsrSetPointers(V->C, V->rowptr, V->col, V->val));
}

#define SPGEMM CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE
#define ALG    CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, V->descriptor

/* Returns the microseconds of all phases of cusparseSpGEMM(). */
static double RunVendor(const GpCsr *A, const GpCsr *B, int64_t *nnz)
{
  Vendor vendor, *V = &vendor;
  size_t bytes = 0;
  double us;

  Begin(V, A, B);
  CHECK(GpDevEventRecord(dev, begin));
  TRY(cusparseSpGEMM_workEstimation(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG, &bytes, NULL));
  if (!V->why) (void)GetBuffer(V, 0, bytes);
  TRY(cusparseSpGEMM_workEstimation(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG, &bytes, V->buffer[0]));
  TRY(cusparseSpGEMM_compute(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG, &bytes, NULL));
  if (!V->why) (void)GetBuffer(V, 1, bytes);
  TRY(cusparseSpGEMM_compute(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG, &bytes, V->buffer[1]));
  if (!V->why) AllocateC(V);
  TRY(cusparseSpGEMM_copy(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG));
  us   = BenchStop();
  *nnz = V->nnz;
  if (V->why) fprintf(stderr, "cusparseSpGEMM failed: %.60s\n", V->why);
  if (V->why) us = -1;
  FreeVendor(V);
  (void)cudaGetLastError();
  return us;
}

/* Measures the symbolic phases of cusparseSpGEMMreuse (returned) and its numeric phase. */
static double RunReuse(const GpCsr *A, const GpCsr *B, double *numeric)
{
  Vendor vendor, *V = &vendor;
  size_t bytes = 0, more = 0, most = 0;
  double us, times[REPEATS];

  Begin(V, A, B);
  CHECK(GpDevEventRecord(dev, begin));
  TRY(cusparseSpGEMMreuse_workEstimation(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, NULL));
  if (!V->why) (void)GetBuffer(V, 0, bytes);
  TRY(cusparseSpGEMMreuse_workEstimation(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, V->buffer[0]));
  TRY(cusparseSpGEMMreuse_nnz(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, NULL, &more, NULL, &most, NULL));
  if (!V->why) {
    (void)GetBuffer(V, 1, bytes);
    (void)GetBuffer(V, 2, more);
    (void)GetBuffer(V, 3, most);
  }
  TRY(cusparseSpGEMMreuse_nnz(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, V->buffer[1], &more, V->buffer[2], &most, V->buffer[3]));
  if (!V->why) AllocateC(V);
  TRY(cusparseSpGEMMreuse_copy(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, NULL));
  if (!V->why) (void)GetBuffer(V, 4, bytes);
  TRY(cusparseSpGEMMreuse_copy(V->handle, SPGEMM, V->A, V->B, V->C, CUSPARSE_SPGEMM_DEFAULT, V->descriptor, &bytes, V->buffer[4]));
  us = BenchStop();
  for (int r = -1; r < REPEATS; r++) {
    CHECK(GpDevEventRecord(dev, begin));
    TRY(cusparseSpGEMMreuse_compute(V->handle, SPGEMM, &One, V->A, V->B, &Zero, V->C, ALG));
    if (r < 0) (void)BenchStop();
    else times[r] = BenchStop();
  }
  *numeric = V->why ? -1 : BenchMedian(REPEATS, times);
  if (V->why) fprintf(stderr, "cusparseSpGEMMreuse failed: %.60s\n", V->why);
  if (V->why) us = -1;
  FreeVendor(V);
  (void)cudaGetLastError();
  return us;
}

/* --- ours -------------------------------------------------------------------------------------------------------------------------------------- */

static double GetX(int32_t j)
{
  return 1 + 0.01 * (j % 37);
}

/* Compares C x with A (B x) in up to 500 rows. */
static double Check(const BenchMatrix *A, const BenchMatrix *B, const GpCsr *C)
{
  int32_t *rowptr = (int32_t *)malloc(((size_t)C->m + 1) * sizeof(int32_t)), *col = (int32_t *)malloc((size_t)C->nnz * sizeof(int32_t) + 1);
  double  *val = (double *)malloc((size_t)C->nnz * sizeof(double) + 1), worst = 0;

  if (!rowptr || !col || !val) abort();
  CHECK(GpDevDownload(dev, rowptr, C->rowptr, ((size_t)C->m + 1) * sizeof(int32_t)));
  CHECK(GpDevDownload(dev, col, C->col, (size_t)C->nnz * sizeof(int32_t)));
  CHECK(GpDevDownload(dev, val, C->val, (size_t)C->nnz * sizeof(double)));
  for (int32_t i = 0; i < A->m; i += A->m / 500 + 1) {
    double y = 0, size = 1e-300;

    for (int32_t e = rowptr[i]; e < rowptr[i + 1]; e++) y -= val[e] * GetX(col[e]);
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      for (int32_t b = B->rowptr[A->col[k]]; b < B->rowptr[A->col[k] + 1]; b++) {
        const double product = A->val[k] * B->val[b] * GetX(B->col[b]);

        y += product;
        size += fabs(product);
      }
    }
    worst = fmax(worst, fabs(y) / size);
  }
  free(rowptr);
  free(col);
  free(val);
  return worst;
}

static void Time(const char *name, const BenchMatrix *A, const BenchMatrix *B)
{
  double       symbolic[REPEATS], numeric[REPEATS], vendor[3] = {-1, -1, -1}, us, reuse = -1, reusenumeric = -1, bytes, error;
  int64_t      nnz = 0;
  GpCsr        dA, dB, dC;
  GpSpgemm     plan = NULL;
  GpSpgemmInfo info;

  Upload(A, &dA);
  Upload(B, &dB);
  for (int r = -1; r < REPEATS; r++) {
    if (plan) {
      GpSpgemmDestroy(&plan);
      GpCsrDestroy(&dC);
    }
    CHECK(GpDevEventRecord(dev, begin));
    CHECK(GpSpgemmSymbolic(&dA, &dB, &plan, &dC));
    if (r < 0) (void)BenchStop();
    else symbolic[r] = BenchStop();
  }
  for (int r = -1; r < REPEATS; r++) {
    CHECK(GpDevEventRecord(dev, begin));
    CHECK(GpSpgemmNumeric(plan, &dA, &dB, &dC));
    if (r < 0) (void)BenchStop();
    else numeric[r] = BenchStop();
  }
  GpSpgemmGetInfo(plan, &info);
  us    = BenchMedian(REPEATS, numeric);
  error = Check(A, B, &dC);
  bytes = 12.0 * A->nnz + 8.0 * B->nnz + 4.0 * (A->m + B->m) + 8.0 * dC.nnz + 4.0 * dC.m + (info.mapped ? info.bytes : 0) + (info.mapped < info.products ? 4.0 * B->nnz + 4.0 * dC.nnz : 0);
  GpSpgemmDestroy(&plan);
  for (int r = -1; r < 3 && vendors; r++) {
    const double time = RunVendor(&dA, &dB, &nnz);

    if (r >= 0) vendor[r] = time;
    if (time < 0) vendor[0] = vendor[1] = vendor[2] = -1;
    if (time < 0) break;
  }
  if (vendors) reuse = RunReuse(&dA, &dB, &reusenumeric);
  if (vendor[0] >= 0 && nnz != dC.nnz) fprintf(stderr, "%s: cuSPARSE finds %lld nonzeros, not %d\n", name, (long long)nnz, dC.nnz);
  printf("%s,%d,%d,%d,%lld,%d,%.0f,%.1f,%.1f,%.1f,%.1f,%.1f,%.0f,%.3f,%.1e\n", name, A->m, A->nnz, B->nnz, (long long)info.products, dC.nnz, info.bytes, BenchMedian(REPEATS, symbolic), us, BenchMedian(3, vendor), reuse, reusenumeric, bytes,
         bytes / LIMIT / (1e-6 * us), error);
  fflush(stdout);
  GpCsrDestroy(&dA);
  GpCsrDestroy(&dB);
  GpCsrDestroy(&dC);
}

/* Repeated edges are removed. */
static void CreateGraph(BenchMatrix *A, int scale, int each)
{
  uint64_t seed = 9;
  int32_t  nnz = 0, start = 0;

  BenchRmat(A, scale, each, 1);
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t stop = A->rowptr[i + 1];

    A->rowptr[i] = nnz;
    for (int32_t k = start; k < stop; k++) {
      if (k > start && A->col[k] == A->col[k - 1]) continue;
      A->col[nnz]   = A->col[k];
      A->val[nnz++] = BenchValue(&seed);
    }
    start = stop;
  }
  A->rowptr[A->m] = A->nnz = nnz;
}

/* A smoothed prolongator of a matrix on a k x k x k grid, and its transpose. Aggregates have 3 x 3 x 3 points. A point interpolates from the aggregates of its neighbours. */
static void CreateProlongator(const BenchMatrix *A, int k, BenchMatrix *P, BenchMatrix *R)
{
  const int c    = (k + 2) / 3;
  uint64_t  seed = 3;
  int32_t   nnz  = 0;

  BenchMatrixCreate(P, A->m, c * c * c, A->nnz);
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t start = nnz;

    for (int32_t e = A->rowptr[i]; e < A->rowptr[i + 1]; e++) {
      const int32_t j = A->col[e];

      P->col[nnz++] = j / (k * k) / 3 * c * c + j / k % k / 3 * c + j % k / 3;
    }
    nnz              = BenchFinishRow(P, start, nnz, &seed);
    P->rowptr[i + 1] = nnz;
  }
  P->nnz = nnz;
  BenchMatrixCreate(R, P->n, P->m, nnz);
  for (int32_t e = 0; e < nnz; e++) R->rowptr[P->col[e] + 1]++;
  for (int32_t j = 0; j < R->m; j++) R->rowptr[j + 1] += R->rowptr[j];
  for (int32_t i = 0; i < P->m; i++) {
    for (int32_t e = P->rowptr[i]; e < P->rowptr[i + 1]; e++) {
      const int32_t to = R->rowptr[P->col[e]]++;

      R->col[to] = i;
      R->val[to] = P->val[e];
    }
  }
  for (int32_t j = R->m; j > 0; j--) R->rowptr[j] = R->rowptr[j - 1];
  R->rowptr[0] = 0;
  R->nnz       = nnz;
}

/* Times A P and R (A P). */
static void TimeGalerkin(const char *name, const BenchMatrix *A, int k)
{
  char        text[64];
  BenchMatrix P, R, AP;
  GpCsr       dA, dP, dAP;
  GpSpgemm    plan;

  CreateProlongator(A, k, &P, &R);
  snprintf(text, sizeof(text), "%s-AP", name);
  Time(text, A, &P);
  Upload(A, &dA);
  Upload(&P, &dP);
  CHECK(GpSpgemmSymbolic(&dA, &dP, &plan, &dAP));
  CHECK(GpSpgemmNumeric(plan, &dA, &dP, &dAP));
  BenchMatrixCreate(&AP, dAP.m, dAP.n, dAP.nnz);
  CHECK(GpDevDownload(dev, AP.rowptr, dAP.rowptr, ((size_t)AP.m + 1) * sizeof(int32_t)));
  CHECK(GpDevDownload(dev, AP.col, dAP.col, (size_t)AP.nnz * sizeof(int32_t)));
  CHECK(GpDevDownload(dev, AP.val, dAP.val, (size_t)AP.nnz * sizeof(double)));
  snprintf(text, sizeof(text), "%s-RAP", name);
  Time(text, &R, &AP);
  GpSpgemmDestroy(&plan);
  GpCsrDestroy(&dA);
  GpCsrDestroy(&dP);
  GpCsrDestroy(&dAP);
  BenchMatrixDestroy(&P);
  BenchMatrixDestroy(&R);
  BenchMatrixDestroy(&AP);
}

static const char *const Names[] = {"grid7_128", "grid27_64", "random", "mesh", "elastic", "rmat18"};

static void TimeNamed(const char *name)
{
  const int   wide = !strcmp(name, "grid27_64"), grid = wide || !strcmp(name, "grid7_128"), k = wide ? 64 : 128;
  BenchMatrix A;

  if (grid) BenchStencil(&A, k, wide, 1);
  else if (!strcmp(name, "random")) BenchRows(&A, 1000000, 1000000, 8, 0, 1);
  else if (!strcmp(name, "mesh")) BenchMesh(&A, 64, 1);
  else if (!strcmp(name, "elastic")) BenchGrid(&A, 32, 1, 3, 0, 1);
  else if (!strcmp(name, "rmat18")) CreateGraph(&A, 18, 8);
  else {
    fprintf(stderr, "unknown matrix %s\n", name);
    exit(1);
  }
  Time(name, &A, &A);
  if (grid) TimeGalerkin(name, &A, k);
  BenchMatrixDestroy(&A);
}

int main(int argc, char **argv)
{
  if (BenchOpen()) return 1;
  printf("product,rows,nonzeros_a,nonzeros_b,products,nonzeros_c,plan_bytes,symbolic_us,numeric_us,spgemm_us,reuse_symbolic_us,reuse_numeric_us,bytes,fraction,error\n");
  if (argc > 1 && !strcmp(argv[1], "-ours")) {
    vendors = 0;
    argc--;
    argv++;
  }
  for (int k = 1; k < argc; k++) TimeNamed(argv[k]);
  for (size_t k = 0; k < sizeof(Names) / sizeof(Names[0]) && argc < 2; k++) TimeNamed(Names[k]);
  BenchClose();
  return 0;
}
