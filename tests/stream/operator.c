static char help[] = "The operator that streams chunks: products with a matrix and its transpose have the bits of ordinary products, whatever is resident; refills and failures.\n\n\
  -every n : tests every n-th combination of matrices and options\n\n";

#include "bench/matrices.h"
#include "device/gpdeviceimpl.h"
#include "mat/impls/gpucsr/operator/gpopstream.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "sys/gpucsrsys.h"

#define CHUNK    16384
#define COLUMNS  19 /* columns of a product with several vectors */
#define MATRICES 6

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

static int             Shared; /* 1: streamed products are those with the transpose */
static GpDevOps        Ops;    /* operations of the device, with those that tests replace */
static const GpDevOps *Real;

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}

/* Makes the host backend keep device memory apart from host memory, so that chunks are copied as on a GPU. */
static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

/* Rows of 0 to 5000 nonzeros. A row of 5000 is larger than a chunk. */
static void Uneven(BenchMatrix *A, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, 3000, 40000, 400000);
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t length = i % 1000 == 500 ? 5000 : i % 100 == 3 ? 700 : (int32_t)(40 * BenchUniform(&seed)) * (i % 4 > 0), start = nnz;

    for (int32_t k = 0; k < length; k++) A->col[nnz++] = (int32_t)(BenchUniform(&seed) * A->n);
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

static void Make(int which, BenchMatrix *A, const char **name)
{
  static const char *const names[MATRICES] = {"7-point stencil", "text", "R-MAT", "uneven rows", "no nonzeros", "no rows"};

  *name = names[which];
  if (which == 0) BenchStencil(A, 23, 0, 1);
  else if (which == 1) BenchRows(A, 4000, 5000, 60, 1, 2);
  else if (which == 2) BenchRmat(A, 12, 9, 3);
  else if (which == 3) Uneven(A, 5);
  else BenchMatrixCreate(A, which == 4 ? 700 : 0, 80, 0);
}

/* --- ordinary products --------------------------------------------------------------------------------------------------------------- */

/* Vectors of a test: columns of x and of y in device memory, each in one array, and results in host memory. */
typedef struct {
  int64_t m, n;                /* of the matrix */
  double *x, *y, *z;           /* device memory; x: COLUMNS columns of max(m, n); y: likewise; z: max(m, n) */
  double *start, *now, *whole; /* host memory: contents of y before a product, and results */
  size_t  length;              /* max(m, n) */
} Vectors;

static PetscErrorCode VectorsCreate(GpDev dev, int64_t m, int64_t n, Vectors *V)
{
  uint64_t seed = 11;
  size_t   all;

  PetscFunctionBegin;
  *V        = (Vectors){.m = m, .n = n};
  V->length = (size_t)PetscMax(m, n);
  all       = COLUMNS * V->length;
  PetscCall(PetscMalloc3(all, &V->start, all, &V->now, all, &V->whole));
  for (size_t k = 0; k < all; k++) V->start[k] = 2 * BenchUniform(&seed) - 1;
  PetscCallGp(dev, "x", GpDevAlloc(dev, all * sizeof(double), &V->x));
  PetscCallGp(dev, "y", GpDevAlloc(dev, all * sizeof(double), &V->y));
  PetscCallGp(dev, "z", GpDevAlloc(dev, V->length * sizeof(double), &V->z));
  PetscCallGp(dev, "x", GpDevUpload(dev, V->x, V->start, all * sizeof(double)));
  PetscCallGp(dev, "z", GpDevUpload(dev, V->z, V->start, V->length * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorsDestroy(GpDev dev, Vectors *V)
{
  const size_t all = COLUMNS * V->length;

  PetscFunctionBegin;
  GpDevFree(dev, &V->x, all * sizeof(double));
  GpDevFree(dev, &V->y, all * sizeof(double));
  GpDevFree(dev, &V->z, V->length * sizeof(double));
  PetscCall(PetscFree3(V->start, V->now, V->whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products that are compared. */
typedef enum {
  PRODUCT,
  PRODUCT_ADD,
  PRODUCT_IN_PLACE, /* y = A x + y */
  PRODUCT_MANY,
  PRODUCT_MANY_ADD,
  PRODUCT_ROWS, /* several columns, stored row by row */
  PRODUCTS
} Product;

/* Multiplies by the streamed operator S, or by the compressed rows A. */
static PetscErrorCode Multiply(GpDev dev, Product product, GpOpStream S, const GpCsr *A, int kernel, const Vectors *V, double *result)
{
  const GpFmt   F   = {.id = GP_FMT_CSR, .csr = A};
  const int     one = product <= PRODUCT_IN_PLACE, add = product == PRODUCT_MANY_ADD, rows = product == PRODUCT_ROWS;
  const double *z     = product == PRODUCT_ADD ? V->z : product == PRODUCT_IN_PLACE ? V->y : NULL;
  const size_t  bytes = COLUMNS * V->length * sizeof(double);
  GpColumns     C     = {.k = COLUMNS, .add = add, .incx = rows ? COLUMNS : 1, .incy = rows ? COLUMNS : 1};

  PetscFunctionBegin;
  for (int c = 0; c < COLUMNS; c++) {
    C.x[c] = V->x + (rows ? (size_t)c : (size_t)c * V->length);
    C.y[c] = V->y + (rows ? (size_t)c : (size_t)c * V->length);
  }
  PetscCallGp(dev, "y", GpDevUpload(dev, V->y, V->start, bytes));
  if (one && S) PetscCallGp(dev, "a streamed product", Shared ? GpOpStreamMultTransposed(S, V->x, z, V->y) : GpOpStreamMult(S, V->x, z, V->y));
  else if (one) PetscCallGp(dev, "a product", GpKernelTable[kernel].mult[GpDevKindOf(dev)][A->prec](&F, V->x, z, V->y));
  else if (S) PetscCallGp(dev, "a streamed product", Shared ? GpOpStreamMultManyTransposed(S, COLUMNS, add, C.incx, C.x, C.incy, C.y) : GpOpStreamMultMany(S, COLUMNS, add, C.incx, C.x, C.incy, C.y));
  else PetscCallGp(dev, "a product", GpSpmmTable[GP_SPMM_mmscalar8].mult[GpDevKindOf(dev)][A->prec](&F, &C));
  PetscCallGp(dev, "y", GpDevDownload(dev, result, V->y, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(GpDev dev, const char *what, GpOpStream S, const GpCsr *A, const Vectors *V)
{
  const int kernel = GpOpStreamGetChoice(S)->kernel;

  PetscFunctionBegin;
  for (int product = 0; product < PRODUCTS; product++) {
    PetscCall(Multiply(dev, (Product)product, NULL, A, kernel, V, V->whole));
    for (int repeat = 0; repeat < 2; repeat++) {
      PetscCall(Multiply(dev, (Product)product, S, A, kernel, V, V->now));
      Check(!memcmp(V->now, V->whole, COLUMNS * V->length * sizeof(double)), "%s: streamed product %d with kernel %s has other bits than the ordinary one", what, product, GpKernelTable[kernel].name);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- one matrix ---------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  const BenchMatrix *A;
  int64_t           *rowptr; /* 64-bit row pointers, which begin at a number above 2^32 */
  GpChunkSource      source;
  GpCsr              csr[2];
} Test;

static PetscErrorCode TestCreate(GpDev dev, const BenchMatrix *A, GpPrec prec, Test *T)
{
  PetscInt *ri, *ci;
  GpLoss    loss;

  PetscFunctionBegin;
  *T = (Test){.A = A};
  PetscCall(PetscMalloc2(A->m + 1, &ri, A->nnz, &ci));
  PetscCall(PetscMalloc1(A->m + 1, &T->rowptr));
  for (int32_t i = 0; i <= A->m; i++) {
    ri[i]        = A->rowptr[i];
    T->rowptr[i] = ((int64_t)5 << 31) + A->rowptr[i];
  }
  for (int32_t k = 0; k < A->nnz; k++) ci[k] = A->col[k];
  T->source = (GpChunkSource){.m = A->m, .n = A->n, .prec = prec, .rowbytes = 8, .colbytes = 4, .rowptr = T->rowptr, .col = A->col, .val = A->val};
  PetscCallGp(dev, "rows", GpCsrCreate(dev, prec, A->m, A->n, A->nnz, &T->csr[0]));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&T->csr[0], ri, ci));
  PetscCallGp(dev, "values", GpCsrSetValues(&T->csr[0], A->val, &loss));
  PetscCallGp(dev, "transpose", GpCsrTranspose(&T->csr[0], &T->csr[1], NULL));
  PetscCall(PetscFree2(ri, ci));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDestroy(Test *T)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) GpCsrDestroy(&T->csr[t]);
  PetscCall(PetscFree(T->rowptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the operator of the matrix or of its transpose. */
static GpErr Stream(GpDev dev, Test *T, int t, const GpOpStreamOptions *o, int kernel, GpOpStream *S, GpLoss *loss)
{
  GpOpTransposed At;
  GpRowSource    rows;
  GpErr          err = GP_SUCCESS;

  GpOpRowsOfArrays(&T->source, &rows);
  if (t) err = GpOpTransposedCreate(dev, &T->source, &At, &rows);
  if (!err) err = GpOpStreamCreate(dev, o, kernel, &rows, S, loss);
  if (t) GpOpTransposedDestroy(&At);
  return err;
}

/* Products with the transpose from the chunks of the matrix: near the ordinary ones, with the same bits whatever is resident. */
static PetscErrorCode CheckShared(GpDev dev, const char *name, Test *T, const Vectors *V)
{
  const size_t all = COLUMNS * V->length;
  double      *first;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &first));
  for (int product = 0; product < PRODUCTS; product++) {
    for (int share = 0; share < 3; share++) {
      GpOpStreamOptions o = {.chunk = CHUNK, .resident = share == 2 ? 1e15 : share * 20000.0, .threads = 1};
      GpOpStream        S;
      GpLoss            loss;

      PetscCallGp(dev, name, Stream(dev, T, 0, &o, -1, &S, &loss));
      Shared = 1;
      PetscCall(Multiply(dev, (Product)product, S, NULL, 0, V, V->now));
      Shared = 0;
      PetscCall(Multiply(dev, (Product)product, NULL, &T->csr[1], GP_SPMV_csrscalar, V, V->whole));
      if (!share) PetscCall(PetscArraycpy(first, V->now, all));
      Check(!memcmp(first, V->now, all * sizeof(double)), "%s: product %d with the transpose: other bits with other resident chunks", name, product);
      for (size_t k = 0; k < all; k++) Check(fabs(V->now[k] - V->whole[k]) <= 1e-11 * (1 + fabs(V->whole[k])), "%s: product %d with the transpose: entry %zu is %g, not %g", name, product, k, V->now[k], V->whole[k]);
      GpOpStreamDestroy(&S);
    }
  }
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckInfo(GpDev dev, const char *what, GpOpStream S, const GpOpStreamOptions *o, int refused)
{
  GpOpStreamInfo info;
  double         resident;

  PetscFunctionBegin;
  GpOpStreamGetInfo(S, &info);
  resident = info.stream.resident_bytes;
  Check(!refused == !info.stream.pageable_bytes || !info.stream.bytes, "%s: %g bytes are pageable", what, info.stream.pageable_bytes);
  if (!GpDevHasMemory(dev)) PetscFunctionReturn(PETSC_SUCCESS);
  Check(resident <= o->resident, "%s: %g bytes are resident, not at most %g", what, resident, o->resident);
  Check(o->resident < 1e12 || resident == info.stream.bytes, "%s: only %g of %g bytes are resident", what, resident, info.stream.bytes);
  Check(info.stream.moved_last == info.stream.bytes - resident, "%s: the last product moved %g bytes", what, info.stream.moved_last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMatrix(GpDev dev, const char *name, const BenchMatrix *A, GpPrec prec, int *combination, int every)
{
  const double share[] = {0, 0.5, 1e6};
  Vectors      V;
  Test         T;

  PetscFunctionBegin;
  PetscCall(VectorsCreate(dev, A->m, A->n, &V));
  PetscCall(TestCreate(dev, A, prec, &T));
  for (int t = 0; t < 2; t++) {
    for (int c = 0; c < 24; c++) { /* resident chunks, buffers, encoding, pinning, kernels */
      const int         refused = c % 4 == 3;
      GpOpStreamOptions o       = {.chunk = CHUNK, .resident = share[c % 3] * GpCsrBytes(&T.csr[t]) / 2, .buffers = c % 5, .threads = c % 7, .plain = c % 8 > 5};
      GpOpStream        S;
      GpLoss            loss;
      char              what[128];

      if ((*combination)++ % every) continue;
      if (c % 3 == 2) o.resident = 1e15;
      (void)snprintf(what, sizeof(what), "%s%s, %s, case %d", name, t ? ", transpose" : "", prec == GP_F32 ? "single" : "double", c);
      Ops.pin = refused ? RefusePin : Real->pin;
      PetscCallGp(dev, what, Stream(dev, &T, t, &o, c < 12 ? -1 : c % 2 ? (int)GP_SPMV_csrvector8 : (int)GP_SPMV_csrsplit, &S, &loss));
      PetscCall(Compare(dev, what, S, &T.csr[t], &V));
      PetscCall(CheckInfo(dev, what, S, &o, refused));
      GpOpStreamDestroy(&S);
    }
  }
  Ops.pin = Real->pin;
  PetscCall(CheckShared(dev, name, &T, &V));
  PetscCall(TestDestroy(&T));
  PetscCall(VectorsDestroy(dev, &V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- new values, failures -------------------------------------------------------------------------------------------------------------- */

/* New values of the same and of another encoding. The chunk of a small matrix has the same size with both. */
static PetscErrorCode CheckRefill(GpDev dev, BenchMatrix *A)
{
  const GpOpStreamOptions o    = {.chunk = CHUNK, .resident = 60000, .threads = 2};
  uint64_t                seed = 7;
  Vectors                 V;
  Test                    T;
  GpRowSource             rows;
  GpOpStream              S;
  GpLoss                  loss;

  PetscFunctionBegin;
  PetscCall(VectorsCreate(dev, A->m, A->n, &V));
  PetscCall(TestCreate(dev, A, GP_F32, &T));
  PetscCallGp(dev, "refill", Stream(dev, &T, 0, &o, -1, &S, &loss));
  GpOpRowsOfArrays(&T.source, &rows);
  for (int step = 0; step < 4; step++) {
    for (int32_t k = 0; k < A->nnz; k++) A->val[k] = step == 2 ? 3 : BenchUniform(&seed);
    PetscCallGp(dev, "values", GpCsrSetValues(&T.csr[0], A->val, &loss));
    PetscCallGp(dev, "refill", GpOpStreamRefill(S, &rows, &loss));
    Check((loss.rounded > A->nnz / 2 && loss.worst > 0 && loss.at >= 0) == (step != 2), "%d values were rounded", (int)loss.rounded);
    if (step != 2) {
      const double v = A->val[loss.at];

      Check(fabs((double)(float)v - v) / v == loss.worst, "the position of the largest rounding error is wrong");
    }
    PetscCall(Compare(dev, "refill", S, &T.csr[0], &V));
  }
  A->val[A->nnz - 10] = 1e300;
  Check(GpOpStreamRefill(S, &rows, &loss) == GP_ERR_ARGUMENT && loss.overflow == A->nnz - 10, "an overflow is at %d", (int)loss.overflow);
  GpOpStreamDestroy(&S);
  PetscCall(TestDestroy(&T));
  PetscCall(VectorsDestroy(dev, &V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFailures(GpDev dev)
{
  GpOpStreamOptions o = {.chunk = CHUNK};
  BenchMatrix       A;
  Test              T;
  GpOpStream        S;
  GpLoss            loss;

  PetscFunctionBegin;
  Uneven(&A, 5);
  PetscCall(TestCreate(dev, &A, GP_F32, &T));
  A.val[A.nnz / 2] = -1e39;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && loss.overflow == A.nnz / 2 && !S && strstr(GpDevError(dev), "overflows single precision"), "\"%s\"", GpDevError(dev));
  A.val[A.nnz / 2] = 1;
  A.col[77]        = A.n;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && loss.overflow < 0 && strstr(GpDevError(dev), "but the matrix has 40000 columns"), "\"%s\"", GpDevError(dev));
  A.col[77] = 0;
  T.rowptr[1500] -= 1000000;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && strstr(GpDevError(dev), "the row pointer of row 1500 is less"), "\"%s\"", GpDevError(dev));
  T.rowptr[1500] += 1000000;
  if (GpDevHasMemory(dev)) {
    o.resident = 1e9;
    GpDevSetMemoryLimit(dev, GpDevBytesHeld(dev) + 60000); /* enough for the workspace, but not for three buffers */
    Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_MEMORY && strstr(GpDevError(dev), "bytes asked for (3 buffers of") && strstr(GpDevError(dev), "raise -gpucsr_device_memory"), "\"%s\"", GpDevError(dev));
    GpDevSetMemoryLimit(dev, 0);
  }
  PetscCall(TestDestroy(&T));
  BenchMatrixDestroy(&A);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "failures: reported\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(GpDev dev, int every)
{
  int combination = 0;

  PetscFunctionBegin;
  for (int which = 0; which < MATRICES; which++) {
    BenchMatrix A;
    const char *name;

    Make(which, &A, &name);
    for (int prec = 0; prec < GP_PRECISIONS; prec++) PetscCall(CheckMatrix(dev, name, &A, (GpPrec)prec, &combination, every));
    BenchMatrixDestroy(&A);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: streamed products have the bits of ordinary ones\n", name));
  }
  for (int which = 0; which < 2; which++) {
    BenchMatrix A;

    if (which) BenchStencil(&A, 2, 0, 1);
    else BenchRows(&A, 3000, 5000, 60, 1, 2);
    PetscCall(CheckRefill(dev, &A));
    BenchMatrixDestroy(&A);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "new values: encoded again\n"));
  PetscCall(CheckFailures(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt every = 1;
  GpDev    dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  Real     = dev->ops;
  Ops      = *Real;
  dev->ops = &Ops;
  if (GpDevKindOf(dev) == GP_DEV_HOST) { /* chunks in place */
    int combination = 0;

    BenchMatrix A;

    BenchRmat(&A, 12, 9, 3);
    PetscCall(CheckMatrix(dev, "in place", &A, GP_F32, &combination, (int)every));
    BenchMatrixDestroy(&A);
    Ops.holds = Holds;
  }
  PetscCall(TestAll(dev, (int)every));
  dev->ops = Real;
  Check(GpDevBytesHeld(dev) == 0, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
