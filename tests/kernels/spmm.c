static char help[] = "Every SpMM kernel on irregular matrices, compared with sums in double precision: both precisions of the values, several numbers of columns, dense matrices stored by columns or by rows, A and its transpose.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"
#include "sys/gpucsrsys.h"

/* A matrix of n columns. The lengths of its rows repeat the given ones. */
static void Lengths(BenchMatrix *A, int32_t m, int32_t n, const int32_t lengths[], int32_t nlengths, uint64_t seed)
{
  int64_t nnz = 0;

  for (int32_t i = 0; i < m; i++) nnz += lengths[i % nlengths];
  BenchMatrixCreate(A, m, n, nnz);
  for (int32_t i = 0, k = 0; i < m; i++) {
    for (int32_t e = 0; e < lengths[i % nlengths]; e++) {
      A->col[k]   = (int32_t)((7919LL * (e + i)) % n);
      A->val[k++] = BenchValue(&seed);
    }
    A->rowptr[i + 1] = k;
  }
}

typedef struct {
  const char *name;
  int32_t     m, n, each; /* arguments of BenchRows(). each = 0: the lengths below are used. */
  int32_t     lengths[24], nlengths;
} SpmmCase;

/* rows that are empty, that end exactly at the end of a tile or of a group, and that span many tiles */
static const SpmmCase Cases[] = {
  {"uniform rows", 700, 400, 19, {0}, 0},
  {"wide", 9, 5000, 700, {0}, 0},
  {"tall", 3000, 7, 4, {0}, 0},
  {"uneven rows", 44, 9973, 0, {0, 3, 0, 1021, 0, 1024, 1, 5000, 0, 0, 1023, 2048, 1, 1, 17, 300, 0, 9000, 31, 33, 0, 64}, 22},
  {"exactly two tiles", 2, 5003, 0, {1024, 1024}, 2},
  {"one row", 1, 5003, 0, {39000}, 1},
  {"mostly empty rows", 4000, 101, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 11},
  {"one entry", 1, 1, 0, {1}, 1},
  {"no entries", 300, 200, 0, {0}, 1},
  {"no rows", 0, 7, 0, {0}, 1},
  {"no columns", 7, 0, 0, {0}, 1},
};

typedef struct {
  GpDev              dev;
  const BenchMatrix *A;
  int                transpose, add;
  GpColumns          columns;  /* number of columns, increments */
  double            *x, *y;    /* on the host: all columns, including the gaps between them */
  size_t             nx, ny;   /* lengths of x and y in entries */
  size_t             ldx, ldy; /* distance from a column to the next */
  double            *gold, *scale;
} Spmm;

/* Creates the dense matrices, stored by columns or by rows, with a gap between them. */
static PetscErrorCode SpmmCreate(GpDev dev, const BenchMatrix *A, int transpose, int k, int byrows, int add, Spmm *T)
{
  const int32_t m = transpose ? A->n : A->m, n = transpose ? A->m : A->n;
  uint64_t      seed = 17;

  PetscFunctionBegin;
  *T              = (Spmm){.dev = dev, .A = A, .transpose = transpose, .add = add};
  T->columns.k    = k;
  T->columns.add  = add;
  T->columns.incx = byrows ? k + 1 : 1;
  T->columns.incy = byrows ? k + 2 : 1;
  T->ldx          = byrows ? 1 : (size_t)n + 3;
  T->ldy          = byrows ? 1 : (size_t)m + 5;
  T->nx           = byrows ? (size_t)n * (k + 1) : T->ldx * k;
  T->ny           = byrows ? (size_t)m * (k + 2) : T->ldy * k;
  PetscCall(PetscMalloc4(T->nx, &T->x, T->ny, &T->y, (size_t)m * k, &T->gold, (size_t)m * k, &T->scale));
  for (size_t e = 0; e < T->nx; e++) T->x[e] = 2 * BenchUniform(&seed) - 1;
  for (size_t e = 0; e < T->ny; e++) T->y[e] = 12345.0; /* the kernel must not change the gaps */
  for (int c = 0; c < k; c++) {
    double       *gold = T->gold + (size_t)c * m, *scale = T->scale + (size_t)c * m;
    const double *x = T->x + c * T->ldx;

    for (int32_t i = 0; i < m; i++) {
      double *y = T->y + c * T->ldy + i * T->columns.incy;

      *y       = add ? 2 * BenchUniform(&seed) - 1 : NAN; /* an entry that the kernel does not write stays NaN */
      gold[i]  = add ? *y : 0.0;
      scale[i] = fabs(gold[i]);
    }
    for (int32_t i = 0; i < A->m; i++) {
      for (int32_t e = A->rowptr[i]; e < A->rowptr[i + 1]; e++) {
        const int32_t to = transpose ? A->col[e] : i, from = transpose ? i : A->col[e];
        const double  term = A->val[e] * x[from * T->columns.incx];

        gold[to] += term;
        scale[to] += fabs(term);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmDestroy(Spmm *T)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(T->x, T->y, T->gold, T->scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the kernel on a copy of T->y, and copies the result to y. */
static PetscErrorCode SpmmRun(const Spmm *T, int kernel, const GpFmt *F, double y[])
{
  GpColumns C = T->columns;
  double   *dx, *dy;

  PetscFunctionBegin;
  PetscCallGp(T->dev, "x", GpDevAlloc(T->dev, T->nx * sizeof(double), &dx));
  PetscCallGp(T->dev, "y", GpDevAlloc(T->dev, T->ny * sizeof(double), &dy));
  PetscCallGp(T->dev, "x", GpDevUpload(T->dev, dx, T->x, T->nx * sizeof(double)));
  PetscCallGp(T->dev, "y", GpDevUpload(T->dev, dy, T->y, T->ny * sizeof(double)));
  for (int c = 0; c < C.k; c++) {
    C.x[c] = dx + c * T->ldx;
    C.y[c] = dy + c * T->ldy;
  }
  PetscCallGp(T->dev, GpSpmmTable[kernel].name, GpSpmmTable[kernel].mult[GpDevKindOf(T->dev)][F->csr->prec](F, &C));
  PetscCallGp(T->dev, "y", GpDevDownload(T->dev, y, dy, T->ny * sizeof(double)));
  GpDevFree(T->dev, &dx, T->nx * sizeof(double));
  GpDevFree(T->dev, &dy, T->ny * sizeof(double));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmCheck(const Spmm *T, int kernel, const GpFmt *F, const char *name, double *worst)
{
  const int32_t m = F->csr->m;
  double       *y, *again;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(T->ny, &y, T->ny, &again));
  PetscCall(SpmmRun(T, kernel, F, y));
  if (T->add) PetscCall(SpmmRun(T, kernel, F, again));
  PetscCheck(!T->add || !T->ny || !memcmp(y, again, T->ny * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: two runs differ", name, GpSpmmTable[kernel].name);
  for (int c = 0; c < T->columns.k; c++) {
    for (int32_t i = 0; i < m; i++) {
      double      *at   = y + c * T->ldy + i * T->columns.incy;
      const double gold = T->gold[(size_t)c * m + i], scale = T->scale[(size_t)c * m + i], error = fabs(*at - gold) / (scale > 0 ? scale : 1.0);

      PetscCheck(error <= 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %s%s, %d columns %s apart, add %d: row %d, column %d is %.17g, not %.17g", name, GpSpmmTable[kernel].name, T->transpose ? "transpose, " : "",
                 F->csr->prec == GP_F32 ? "single" : "double", (int)T->columns.k, T->columns.incy == 1 ? "" : "by rows,", T->add, (int)i, c, *at, gold);
      *worst = PetscMax(*worst, error);
      *at    = 12345.0;
    }
  }
  for (size_t e = 0; e < T->ny; e++) PetscCheck(y[e] == 12345.0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: the kernel wrote into the gaps", name, GpSpmmTable[kernel].name);
  PetscCall(PetscFree2(y, again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSide(GpDev dev, const char *name, const BenchMatrix *A, int transpose, const GpCsr *C, double *worst)
{
  const int columns[] = {0, 1, 3, 17, GP_SPMM_COLUMNS};
  int32_t  *rowptr;
  GpFmt     fmt[GP_SPMM_KERNELS];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)C->m + 1, &rowptr));
  PetscCallGp(dev, "rows", GpDevDownload(dev, rowptr, C->rowptr, ((size_t)C->m + 1) * sizeof(int32_t)));
  for (int kernel = 0; kernel < GP_SPMM_KERNELS; kernel++) PetscCallGp(dev, "format", GpFmtBuild(&fmt[kernel], GpSpmmTable[kernel].format, C, rowptr));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(columns); k++) {
    for (int mode = 0; mode < 4; mode++) {
      Spmm T;

      if (mode > 0 && mode < 3 && columns[k] != 3) continue; /* storage by rows, and addition, each alone: for one number of columns. Both together: for all numbers. */
      PetscCall(SpmmCreate(dev, A, transpose, columns[k], mode / 2, mode % 2, &T));
      for (int kernel = 0; kernel < GP_SPMM_KERNELS; kernel++) PetscCall(SpmmCheck(&T, kernel, &fmt[kernel], name, worst));
      PetscCall(SpmmDestroy(&T));
    }
  }
  for (int kernel = 0; kernel < GP_SPMM_KERNELS; kernel++) GpFmtDestroy(&fmt[kernel]);
  PetscCall(PetscFree(rowptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMatrix(GpDev dev, const char *name, const BenchMatrix *A, GpPrec prec, double *worst)
{
  GpCsr     C, Ct;
  GpLoss    loss;
  PetscInt *ri, *ci;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(A->m + 1, &ri, A->nnz, &ci));
  for (int32_t i = 0; i <= A->m; i++) ri[i] = A->rowptr[i];
  for (int32_t k = 0; k < A->nnz; k++) ci[k] = A->col[k];
  PetscCallGp(dev, "rows", GpCsrCreate(dev, prec, A->m, A->n, A->nnz, &C));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&C, ri, ci));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, A->val, &loss));
  PetscCallGp(dev, "transpose", GpCsrTranspose(&C, &Ct, NULL));
  PetscCall(CheckSide(dev, name, A, 0, &C, worst));
  PetscCall(CheckSide(dev, name, A, 1, &Ct, worst));
  GpCsrDestroy(&C);
  GpCsrDestroy(&Ct);
  PetscCall(PetscFree2(ri, ci));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev    dev;
  double   worst = 0;
  PetscInt only  = -1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-case", &only, NULL)); /* sanitizers are slow and run one case only */
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  for (size_t which = 0; which < PETSC_STATIC_ARRAY_LENGTH(Cases); which++) {
    const SpmmCase *c = &Cases[which];
    BenchMatrix     A;

    if (only >= 0 && (size_t)only != which) continue;
    if (c->each) BenchRows(&A, c->m, c->n, c->each, 0, which + 1);
    else Lengths(&A, c->m, c->n, c->lengths, c->nlengths, which + 1);
    PetscCall(CheckMatrix(dev, c->name, &A, GP_F32, &worst));
    PetscCall(CheckMatrix(dev, c->name, &A, GP_F64, &worst));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: every kernel agrees\n", c->name));
    BenchMatrixDestroy(&A);
  }
  PetscCall(PetscInfo(NULL, "largest error %g of the sum of absolute values\n", worst));
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
