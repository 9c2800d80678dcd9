/* What the tests of streamed operators share: products with a streamed operator and with compressed rows, and their comparison. */
#ifndef GPUCSR_TESTS_OPERATOR_H
#define GPUCSR_TESTS_OPERATOR_H

#include "bench/matrices.h"
#include "device/gpdeviceimpl.h"
#include "mat/impls/gpucsr/operator/gpopstream.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "sys/gpucsrsys.h"

#define CHUNK   16384
#define COLUMNS 19 /* columns of a product with several vectors */

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

static int             Shared; /* 1: streamed products are those with the transpose */
static GpDevOps        Ops;    /* operations of the device, with those that tests replace */
static const GpDevOps *Real;

/* Makes the host backend keep device memory apart from host memory, so that chunks are copied as on a GPU. */
static inline GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

/* --- ordinary products --------------------------------------------------------------------------------------------------------------- */

/* Vectors of a test: columns of x and of y in device memory, each in one array, and results in host memory. */
typedef struct {
  int64_t m, n;                /* of the matrix */
  double *x, *y, *z;           /* device memory; x: COLUMNS columns of max(m, n); y: likewise; z: max(m, n) */
  double *start, *now, *whole; /* host memory: contents of y before a product, and results */
  size_t  length;              /* max(m, n) */
} Vectors;

static inline PetscErrorCode VectorsCreate(GpDev dev, int64_t m, int64_t n, Vectors *V)
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

static inline PetscErrorCode VectorsDestroy(GpDev dev, Vectors *V)
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

/* Multiplies by the compressed rows A, with the format of the kernel. columns: NULL for a product with one vector. */
static inline PetscErrorCode MultiplyRows(GpDev dev, const GpCsr *A, int kernel, const double *x, const double *z, double *y, const GpColumns *columns)
{
  const GpSpmmRow *many = &GpSpmmTable[GP_SPMM_mmsegment16];
  int32_t         *rowptr;
  GpFmt            F;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->m + 1, &rowptr));
  PetscCallGp(dev, "rows", GpDevDownload(dev, rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "format", GpFmtBuild(&F, columns ? many->format : GpKernelTable[kernel].format, A, rowptr));
  if (columns) PetscCallGp(dev, many->name, many->mult[GpDevKindOf(dev)][A->prec](&F, columns));
  else PetscCallGp(dev, GpKernelTable[kernel].name, GpKernelTable[kernel].mult[GpDevKindOf(dev)][A->prec](&F, x, z, y));
  GpFmtDestroy(&F);
  PetscCall(PetscFree(rowptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies by the streamed operator S, or by the compressed rows A. A bound on the device memory applies to streamed products only: on a GPU the ordinary product has workspace of its own. */
static inline PetscErrorCode Multiply(GpDev dev, Product product, GpOpStream S, const GpCsr *A, int kernel, const Vectors *V, double *result)
{
  const double  limit = dev->limit;
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
  if (!S) {
    if (limit > 0) GpDevSetMemoryLimit(dev, 1e15);
    PetscCall(MultiplyRows(dev, A, kernel, V->x, z, V->y, one ? NULL : &C));
    GpDevSetMemoryLimit(dev, limit);
  } else if (one) PetscCallGp(dev, "a streamed product", Shared ? GpOpStreamMultTransposed(S, V->x, z, V->y) : GpOpStreamMult(S, V->x, z, V->y));
  else PetscCallGp(dev, "a streamed product", Shared ? GpOpStreamMultManyTransposed(S, COLUMNS, add, C.incx, C.x, C.incy, C.y) : GpOpStreamMultMany(S, COLUMNS, add, C.incx, C.x, C.incy, C.y));
  PetscCallGp(dev, "y", GpDevDownload(dev, result, V->y, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Compare(GpDev dev, const char *what, GpOpStream S, const GpCsr *A, const Vectors *V)
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

static inline PetscErrorCode TestCreate(GpDev dev, const BenchMatrix *A, GpPrec prec, Test *T)
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

static inline PetscErrorCode TestDestroy(Test *T)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) GpCsrDestroy(&T->csr[t]);
  PetscCall(PetscFree(T->rowptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the operator of the matrix or of its transpose. */
static inline GpErr Stream(GpDev dev, Test *T, int t, const GpOpStreamOptions *o, int kernel, GpOpStream *S, GpLoss *loss)
{
  GpOpTransposed At;
  GpRowSource    rows;
  GpErr          err = GP_SUCCESS;

  GpOpRowsOfArrays(&T->source, &rows);
  if (t) err = GpOpTransposedCreate(dev, &T->source, &At, &rows);
  if (!err) err = GpOpStreamCreate(dev, o, kernel, &rows, NULL, S, loss);
  if (t) GpOpTransposedDestroy(&At);
  return err;
}

#endif
