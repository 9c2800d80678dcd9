static char help[] = "Every SpMV kernel on every test matrix, compared with sums in double precision: both precisions of the values, with and without a vector to add, A and its transpose.\n\n";

#include "device/gpdeviceimpl.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "sys/gpucsrsys.h"

#include <inttypes.h>

#define CASES          31
#define CHECKSUM_START 0xcbf29ce484222325

/* Rows of very different lengths: empty, short, longer than a tile, spanning many tiles, and ending exactly at the end of a tile. */
static void Uneven(BenchMatrix *A, uint64_t seed)
{
  const int32_t lengths[] = {0, 3, 0, 2045, 0, 2048, 1, 5000, 0, 0, 2047, 4096, 1, 1, 17, 300, 0, 9000, 31, 33, 0};
  const int32_t m         = (int32_t)(sizeof(lengths) / sizeof(lengths[0]));
  int32_t       nnz       = 0;

  BenchMatrixCreate(A, m, 10000, 40000);
  for (int32_t i = 0; i < m; i++) {
    for (int32_t k = 0; k < lengths[i]; k++) {
      A->col[nnz]   = (int32_t)((7919LL * (k + i)) % A->n);
      A->val[nnz++] = BenchValue(&seed);
    }
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

/* 10,000 rows, of which every 97th has one entry and one has many. The number of rows, not of nonzeros, limits the tiles. */
static void MostlyEmpty(BenchMatrix *A, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, 10000, 4000, 5000);
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = 0; k < (i == 3333 ? 4000 : i % 97 == 0); k++) {
      A->col[nnz]   = k;
      A->val[nnz++] = BenchValue(&seed);
    }
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

/* Banded rows with a few entries far from the diagonal, one long row and one long column: column offsets that do not fit 16 bits. */
static void Circuit(BenchMatrix *A, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, 2000, 150000, 40000);
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t start = nnz;

    if (i % 7 == 0) A->col[nnz++] = 3;
    for (int32_t k = 0; k < (i == 700 ? 900 : 8); k++) A->col[nnz++] = i * 60 + 70 * k;
    if (i % 5 == 0) A->col[nnz++] = A->n - 1 - i;
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

static PetscErrorCode Case(int which, BenchMatrix *A, const char **name)
{
  PetscFunctionBegin;
  switch (which) {
  case 0:
    *name = "7-point stencil";
    BenchStencil(A, 13, 0, 1);
    break;
  case 1:
    *name = "27-point stencil";
    BenchStencil(A, 9, 1, 2);
    break;
  case 2:
    *name = "uniform rows";
    BenchRows(A, 3000, 2000, 32, 0, 3);
    break;
  case 3:
    *name = "text";
    BenchRows(A, 4000, 500, 60, 1, 4);
    break;
  case 4:
    *name = "wide text";
    BenchRows(A, 50, 30000, 400, 1, 5);
    break;
  case 5:
    *name = "tall";
    BenchRows(A, 5000, 11, 6, 0, 6);
    break;
  case 6:
    *name = "R-MAT";
    BenchRmat(A, 11, 8, 7);
    break;
  case 7:
    *name = "uneven rows";
    Uneven(A, 8);
    break;
  case 8:
    *name = "one entry";
    BenchRows(A, 1, 1, 1, 0, 9);
    break;
  case 9:
    *name = "no entries";
    BenchMatrixCreate(A, 300, 200, 0);
    break;
  case 10:
    *name = "no rows";
    BenchMatrixCreate(A, 0, 7, 0);
    break;
  case 12:
    *name = "mostly empty rows";
    MostlyEmpty(A, 12);
    break;
  case 11:
    *name = "one dense row";
    BenchRows(A, 1, 150000, 100000, 0, 10);
    break;
  case 13:
    *name = "constant stencil";
    BenchGrid(A, 14, 0, 1, 1, 13);
    break;
  case 14:
    *name = "blocks of three";
    BenchGrid(A, 7, 1, 3, 0, 14);
    break;
  case 15:
    *name = "mesh";
    BenchMesh(A, 14, 15);
    break;
  case 16:
    *name = "dense";
    BenchRows(A, 150, 170, 3000, 0, 16);
    break;
  case 17:
    *name = "wide and dense";
    BenchRows(A, 9, 20000, 30000, 0, 17);
    break;
  case 18:
    *name = "columns beyond shared memory";
    BenchRows(A, 1500, 60000, 40, 0, 12);
    break;
  case 19:
    *name = "circuit";
    Circuit(A, 13);
    break;
  case 20:
    *name = "graph without weights";
    BenchRmat(A, 10, 12, 18);
    for (int32_t k = 0; k < A->nnz; k++) A->val[k] = 0.25;
    break;
  case 22:
  case 23:
  case 24:
  case 25:
  case 26:
  case 27: {
    static const int   points[] = {5, 9, 7, 13, 19, 27};
    static const char *names[]  = {"constant 5 points", "constant 9 points", "constant 7 points", "constant 13 points", "constant 19 points", "constant 27 points"};

    *name = names[which - 22];
    BenchConstantGrid(A, points[which - 22]);
    break;
  }
  case 28: /* few rows: on a GPU several lanes share a row */
    *name = "blocks of two";
    BenchGrid(A, 5, 1, 2, 0, 28);
    break;
  case 29:
    *name = "blocks of four";
    BenchGrid(A, 4, 1, 4, 0, 29);
    break;
  case 30:
    *name = "blocks of six";
    BenchGrid(A, 4, 1, 6, 0, 30);
    break;
  default:
    *name = "exactly two tiles";
    BenchRows(A, GP_TILE, 1 << 20, 2, 0, 11);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the reference y, and in scale the sums of the absolute values, to which rounding errors are proportional. */
static void Gold(const BenchMatrix *A, int transpose, const double *x, const double *z, double *y, double *scale)
{
  const int32_t m = transpose ? A->n : A->m;

  for (int32_t i = 0; i < m; i++) {
    y[i]     = z ? z[i] : 0.0;
    scale[i] = fabs(y[i]);
  }
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      const int32_t to = transpose ? A->col[k] : i, from = transpose ? i : A->col[k];

      y[to] += A->val[k] * x[from];
      scale[to] += fabs(A->val[k] * x[from]);
    }
  }
}

static PetscErrorCode Product(GpDev dev, const GpFmt *F, int kernel, const double *x, const double *z, int inplace, double *y)
{
  const GpCsr *C = F->csr;
  double      *dx, *dz = NULL, *dy;
  size_t       bx = (size_t)C->n * sizeof(double), by = (size_t)C->m * sizeof(double);

  PetscFunctionBegin;
  for (int32_t i = 0; i < C->m; i++) y[i] = NAN; /* an entry that the kernel does not write stays NaN */
  PetscCallGp(dev, "x", GpDevAlloc(dev, bx, &dx));
  PetscCallGp(dev, "y", GpDevAlloc(dev, by, &dy));
  PetscCallGp(dev, "x", GpDevUpload(dev, dx, x, bx));
  PetscCallGp(dev, "y", GpDevUpload(dev, dy, z && inplace ? z : y, by));
  if (z && !inplace) {
    PetscCallGp(dev, "z", GpDevAlloc(dev, by, &dz));
    PetscCallGp(dev, "z", GpDevUpload(dev, dz, z, by));
  }
  PetscCallGp(dev, GpKernelTable[kernel].name, GpKernelTable[kernel].mult[GpDevKindOf(dev)][C->prec](F, dx, z ? (inplace ? dy : dz) : NULL, dy));
  PetscCallGp(dev, "y", GpDevDownload(dev, y, dy, by));
  GpDevFree(dev, &dx, bx);
  GpDevFree(dev, &dy, by);
  GpDevFree(dev, &dz, by);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int       taken[GP_KERNELS][GP_PRECISIONS]; /* number of matrices with nonzeros that the format of the kernel accepted */
static PetscBool vendor = PETSC_TRUE;              /* tests cuSPARSE's kernels too; racecheck reports hazards in them */
static int       only   = -1;                      /* kernel of the option -kernel. -1: all. */
static uint64_t  checksum[GP_KERNELS];             /* of every product of the current matrix by each kernel, for the option -checksums */

/* Extends the checksum of a kernel (FNV-1a, 64 bits) by the bits of a product. */
static void UpdateChecksum(int kernel, int32_t m, const double *y)
{
  const unsigned char *byte = (const unsigned char *)y;

  for (size_t b = 0; b < (size_t)m * sizeof(double); b++) checksum[kernel] = (checksum[kernel] ^ byte[b]) * 0x100000001b3;
}

/* Writes a line for each kernel: kernel, checksum, matrix. tests/gpu/run_checksums.sh compares them with recorded ones. */
static PetscErrorCode WriteChecksums(FILE *file, const char *name)
{
  PetscFunctionBegin;
  for (int kernel = 0; kernel < GP_KERNELS; kernel++) {
    if (checksum[kernel] != CHECKSUM_START && GpKernelTable[kernel].repeatable) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%s\t%016" PRIx64 "\t%s\n", GpKernelTable[kernel].name, checksum[kernel], name));
    checksum[kernel] = CHECKSUM_START;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks one kernel on A or on its transpose: without z, with z, with z in place of y, and the last once more, which must give the same bits. */
static PetscErrorCode Check(GpDev dev, const char *name, const BenchMatrix *A, int transpose, const GpCsr *C, const int32_t *rowptr, int kernel, const double *x, const double *z, double *worst)
{
  GpFmt   F;
  GpErr   err;
  double *y, *again, *gold, *scale;

  PetscFunctionBegin;
  err = GpFmtBuild(&F, GpKernelTable[kernel].format, C, rowptr);
  if (err == GP_ERR_ARGUMENT) { /* the format does not support this matrix; main() checks that it supports others */
    PetscCall(PetscInfo(NULL, "%s, %s%s: %s\n", name, GpKernelTable[kernel].name, transpose ? ", transpose" : "", GpDevError(dev)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallGp(dev, "format", err);
  if (C->nnz) taken[kernel][C->prec]++;
  PetscCall(PetscMalloc4(C->m, &y, C->m, &again, C->m, &gold, C->m, &scale));
  for (int mode = 0; mode < 4; mode++) {
    const double *add = mode ? z : NULL;

    PetscCall(Product(dev, &F, kernel, x, add, mode >= 2, y));
    if (mode == 3 && GpKernelTable[kernel].repeatable) PetscCheck(!C->m || !memcmp(y, again, (size_t)C->m * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s: two runs differ", name, GpKernelTable[kernel].name);
    if (C->m) memcpy(again, y, (size_t)C->m * sizeof(double));
    UpdateChecksum(kernel, C->m, y);
    Gold(A, transpose, x, add, gold, scale);
    for (int32_t i = 0; i < C->m; i++) {
      const double error = fabs(y[i] - gold[i]) / (scale[i] > 0 ? scale[i] : 1.0);

      PetscCheck(error <= 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %s%s, mode %d: row %d is %.17g, not %.17g", name, GpKernelTable[kernel].name, transpose ? "transpose, " : "", C->prec == GP_F32 ? "single" : "double", mode, (int)i, y[i],
                 gold[i]);
      if (error > *worst) *worst = error;
    }
  }
  GpFmtDestroy(&F);
  PetscCall(PetscFree4(y, again, gold, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refills the format with other values on the same pattern: those of A in reverse order, doubled; with odd one of them is not doubled. The format
   must multiply with the new values or reject them. */
static PetscErrorCode CheckRefill(GpDev dev, const char *name, BenchMatrix *A, GpCsr *C, int odd, int kernel, const double *x, double *worst)
{
  GpFmt   F;
  GpErr   err;
  GpLoss  loss;
  double *y, *gold, *scale, *values = A->val, *others;

  PetscFunctionBegin;
  err = GpFmtBuild(&F, GpKernelTable[kernel].format, C, A->rowptr);
  if (err == GP_ERR_ARGUMENT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(dev, "format", err);
  PetscCall(PetscMalloc4(C->m, &y, C->m, &gold, C->m, &scale, A->nnz, &others));
  for (int32_t k = 0; k < A->nnz; k++) others[k] = 2 * values[A->nnz - 1 - k];
  if (odd && A->nnz) others[A->nnz / 2] = -3;
  PetscCallGp(dev, "values", GpCsrSetValues(C, others, &loss));
  err = GpFmtRefill(&F);
  if (err != GP_ERR_ARGUMENT) {
    PetscCallGp(dev, "refill", err);
    PetscCall(Product(dev, &F, kernel, x, NULL, 0, y));
    A->val = others;
    UpdateChecksum(kernel, C->m, y);
    Gold(A, 0, x, NULL, gold, scale);
    A->val = values;
    for (int32_t i = 0; i < C->m; i++) {
      const double error = fabs(y[i] - gold[i]) / (scale[i] > 0 ? scale[i] : 1.0);

      PetscCheck(error <= 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s refilled: row %d is %.17g, not %.17g", name, GpKernelTable[kernel].name, (int)i, y[i], gold[i]);
      if (error > *worst) *worst = error;
    }
  }
  GpFmtDestroy(&F);
  PetscCallGp(dev, "values", GpCsrSetValues(C, values, &loss));
  PetscCall(PetscFree4(y, gold, scale, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMatrix(GpDev dev, const char *matrix, BenchMatrix *A, GpPrec prec, double *worst)
{
  GpCsr     C, Ct;
  GpLoss    loss;
  int32_t  *perm, *rows;
  PetscInt *ri, *ci;
  double   *u, *v, *w;
  uint64_t  seed  = 99;
  size_t    bytes = (size_t)A->nnz * sizeof(int32_t);

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(A->m + 1, &ri, A->nnz, &ci, A->n, &u, A->m, &v, A->n + 1, &rows));
  PetscCall(PetscMalloc1(A->n, &w));
  for (int32_t i = 0; i <= A->m; i++) ri[i] = A->rowptr[i];
  for (int32_t k = 0; k < A->nnz; k++) ci[k] = A->col[k];
  for (int32_t i = 0; i < A->n; i++) u[i] = 2 * BenchUniform(&seed) - 1;
  for (int32_t i = 0; i < A->n; i++) w[i] = 2 * BenchUniform(&seed) - 1;
  for (int32_t i = 0; i < A->m; i++) v[i] = 2 * BenchUniform(&seed) - 1;
  PetscCallGp(dev, "rows", GpCsrCreate(dev, prec, A->m, A->n, A->nnz, &C));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&C, ri, ci));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, A->val, &loss));
  PetscCheck(loss.worst == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the generators return single-precision values, but the conversion of %s has the rounding error %g", matrix, loss.worst);
  PetscCallGp(dev, "perm", GpDevAlloc(dev, bytes, &perm));
  PetscCallGp(dev, "transpose", GpCsrTranspose(&C, &Ct, perm));
  PetscCallGp(dev, "rows", GpDevDownload(dev, rows, Ct.rowptr, ((size_t)A->n + 1) * sizeof(int32_t)));
  for (int kernel = 0; kernel < GP_KERNELS; kernel++) {
    if ((only >= 0 && kernel != only) || (!vendor && !GpKernelTable[kernel].mult[GP_DEV_HOST][GP_F32])) continue;
    PetscCall(Check(dev, matrix, A, 0, &C, A->rowptr, kernel, u, v, worst));
    PetscCall(Check(dev, matrix, A, 1, &Ct, rows, kernel, v, w, worst));
    /* the variants for large matrices */
#define SPMV(name, format, lanes, tier, help)
#define VARIANT(name, property, value) \
  if (kernel == GP_SPMV_##name) { \
    const double saved = dev->property; \
\
    dev->property = value; \
    PetscCall(Check(dev, matrix, A, 0, &C, A->rowptr, kernel, u, v, worst)); \
    PetscCall(Check(dev, matrix, A, 1, &Ct, rows, kernel, v, w, worst)); \
    dev->property = (__typeof__(dev->property))saved; \
  }
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
    for (int odd = 0; odd < 2; odd++) PetscCall(CheckRefill(dev, matrix, A, &C, odd, kernel, u, worst));
  }
  GpDevFree(dev, &perm, bytes);
  GpCsrDestroy(&C);
  GpCsrDestroy(&Ct);
  PetscCall(PetscFree5(ri, ci, u, v, rows));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In one row of a stencil the first two columns are exchanged, or the first occurs twice. The diagonal format must reject this for every row. */
static PetscErrorCode CheckAscending(GpDev dev)
{
  PetscFunctionBegin;
  for (int which = 0; which < 6; which++) {
    const int   row = which % 3 == 0 ? 0 : which % 3 == 1 ? 700 : 999; /* rows of a grid of 10 x 10 x 10 points */
    BenchMatrix A;
    GpCsr       C;
    GpFmt       F;
    GpLoss      loss;

    BenchStencil(&A, 10, 0, 5);
    for (int turned = 0; turned < 2; turned++) {
      GpErr err;

      PetscCallGp(dev, "rows", GpCsrCreate(dev, GP_F32, A.m, A.n, A.nnz, &C));
      PetscCallGp(dev, "rows", GpDevUpload(dev, C.rowptr, A.rowptr, ((size_t)A.m + 1) * sizeof(int32_t)));
      PetscCallGp(dev, "columns", GpDevUpload(dev, C.col, A.col, (size_t)A.nnz * sizeof(int32_t)));
      PetscCallGp(dev, "values", GpCsrSetValues(&C, A.val, &loss));
      err = GpFmtBuild(&F, GP_FMT_DIA, &C, A.rowptr);
      if (turned) PetscCheck(err == GP_ERR_ARGUMENT && strstr(GpDevError(dev), "ascend"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of row %d do not ascend: error %d, %s", row, (int)err, GpDevError(dev));
      else {
        int32_t *col = A.col + A.rowptr[row], first = col[0];

        PetscCallGp(dev, "diagonals", err);
        GpFmtDestroy(&F);
        col[0] = col[1];
        if (which < 3) col[1] = first;
      }
      GpCsrDestroy(&C);
    }
    BenchMatrixDestroy(&A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev     dev;
  double    worst = 0;
  PetscInt  every = 1; /* sanitizers are slow and run every n-th case only */
  char      one[64], sums[PETSC_MAX_PATH_LEN];
  FILE     *file = NULL;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vendor", &vendor, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kernel", one, sizeof(one), &set));
  if (set) {
    only = GpKernelFind(one);
    PetscCheck(only >= 0, PETSC_COMM_SELF, PETSC_ERR_USER, "-kernel %s: there is no such kernel", one);
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-checksums", sums, sizeof(sums), &set));
  if (set) PetscCall(PetscFOpen(PETSC_COMM_SELF, sums, "w", &file));
  for (int kernel = 0; kernel < GP_KERNELS; kernel++) checksum[kernel] = CHECKSUM_START;
  for (PetscInt which = 0; which < CASES; which += every) {
    BenchMatrix A;
    const char *name;

    PetscCall(Case((int)which, &A, &name));
    PetscCall(CheckMatrix(dev, name, &A, GP_F32, &worst));
    PetscCall(CheckMatrix(dev, name, &A, GP_F64, &worst));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s agrees\n", name, only >= 0 ? one : "every kernel"));
    if (file) PetscCall(WriteChecksums(file, name));
    BenchMatrixDestroy(&A);
  }
  if (file) PetscCall(PetscFClose(PETSC_COMM_SELF, file));
  for (int kernel = 0; every == 1 && kernel < GP_KERNELS; kernel++) { /* cuSPARSE's kernels need a GPU and the library */
    if (only >= 0 && kernel != only) continue;
    PetscCheck((taken[kernel][GP_F32] && taken[kernel][GP_F64]) || !GpKernelTable[kernel].mult[GP_DEV_HOST][GP_F32], PETSC_COMM_SELF, PETSC_ERR_PLIB, "No matrix of this test fits the format of kernel %s", GpKernelTable[kernel].name);
  }
  if (only < 0) PetscCall(CheckAscending(dev));
  PetscCall(PetscInfo(NULL, "largest error %g of the sum of absolute values\n", worst));
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
