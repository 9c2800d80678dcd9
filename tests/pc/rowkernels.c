static char help[] = "Rows of approximate inverses agree with LAPACK, for dense problems of every size, and with the host implementation.\n\n\
  On the host backend the host implementation is compared with LAPACK.\n\
  -quick : fewer sizes\n\n";

#include "pc/impls/gpufsai/fsai.h"
#include "pc/impls/gpuspai/spai.h"
#include "pc/kernels/gpbatch.h"
#include "gpucsr.h"
#include "sys/gpucsrsys.h"
#include <petscblaslapack.h>

/* A sparse matrix and the pattern of rows of an inverse. */
typedef struct {
  GpInvMatrix A;
  GpInvRows   F;
} Problem;

/* The same in device memory. */
typedef struct {
  GpBatchMatrix  A;
  GpBatchPattern P;
  GpBatchPlan    plan;
  double        *val;
  int32_t       *rowptr, *col, *columns;
  size_t         nnz;
} Device;

static uint32_t Next(uint32_t *s)
{
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8;
}

/* Fills list with m distinct ascending numbers below n, one of which is `with`. */
static void Choose(uint32_t *seed, PetscInt n, PetscInt m, PetscInt with, PetscInt list[])
{
  PetscInt left = m - 1, at = 0;

  for (PetscInt c = 0; c < n; c++) {
    const PetscInt others = n - c - (c <= with ? 1 : 0); /* numbers from c on, without `with` */

    if (c == with) list[at++] = c;
    else if ((PetscInt)(Next(seed) % (uint32_t)PetscMax(others, 1)) < left) {
      list[at++] = c;
      left--;
    }
  }
}

/* A matrix with a symmetric pattern of about 2 `degree` entries in a row.  Its values are symmetric if skew is 0, and it is then positive definite. */
static PetscErrorCode CreateMatrix(PetscInt n, PetscInt degree, PetscReal skew, PetscBool rounded, GpInvMatrix *A)
{
  char        *has;
  PetscInt    *rowptr, *col, nnz = 0;
  PetscScalar *val;
  uint32_t     seed = 11;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(n * n, &has));
  for (PetscInt i = 0; i < n; i++) {
    has[i * n + i] = 1;
    for (PetscInt d = 0; d < degree; d++) {
      const PetscInt j = d % 2 ? (PetscInt)(Next(&seed) % (uint32_t)n) : (i + 1 + (PetscInt)(Next(&seed) % 9)) % n;

      has[i * n + j] = has[j * n + i] = 1;
    }
  }
  for (PetscInt k = 0; k < n * n; k++) nnz += has[k];
  PetscCall(PetscMalloc3(n + 1, &rowptr, nnz, &col, nnz, &val));
  PetscCall(PetscMalloc2(n, &A->diagonal, n, &A->root));
  nnz = 0;
  for (PetscInt i = 0; i < n; i++) {
    rowptr[i] = nnz;
    for (PetscInt j = 0; j < n; j++) {
      const PetscInt lo = PetscMin(i, j), hi = PetscMax(i, j);

      if (!has[i * n + j]) continue;
      col[nnz] = j;
      val[nnz] = i == j ? 1.1 * (2 * degree + 3) + 0.1 * (i % 5) : PetscSinReal(1 + 0.7 * lo + 1.3 * hi) + (i < j ? skew : -skew);
      if (rounded) val[nnz] = (PetscScalar)(float)val[nnz];
      if (i == j) A->diagonal[i] = val[nnz];
      nnz++;
    }
    A->root[i] = PetscSqrtReal(PetscAbsReal(A->diagonal[i]));
  }
  rowptr[n] = nnz;
  A->n = A->rows = n;
  A->first       = 0;
  A->rowptr      = rowptr;
  A->col         = col;
  A->val         = val;
  PetscCall(PetscFree(has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyMatrix(GpInvMatrix *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(A->rowptr, A->col, A->val));
  PetscCall(PetscFree2(A->diagonal, A->root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row i has the size size[i % sizes], or fewer entries if there are not so many columns.  lower: the columns are at most i. */
static PetscErrorCode CreateRows(PetscInt n, PetscInt sizes, const PetscInt size[], PetscBool lower, GpInvRows *F)
{
  uint32_t seed = 5;

  PetscFunctionBeginUser;
  *F = (GpInvRows){.rows = n, .rowptr = (PetscInt *)calloc((size_t)n + 1, sizeof(PetscInt))};
  for (PetscInt i = 0; i < n; i++) F->rowptr[i + 1] = F->rowptr[i] + PetscMin(size[i % sizes], lower ? i + 1 : n);
  F->col = (PetscInt *)malloc((size_t)F->rowptr[n] * sizeof(PetscInt));
  for (PetscInt i = 0; i < n; i++) Choose(&seed, lower ? i + 1 : n, F->rowptr[i + 1] - F->rowptr[i], i, F->col + F->rowptr[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UploadIndices(GpDev dev, size_t n, const PetscInt from[], int32_t **to)
{
  int32_t *narrow;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &narrow));
  for (size_t k = 0; k < n; k++) narrow[k] = (int32_t)from[k];
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, n * sizeof(int32_t), to));
  PetscCallGp(dev, "upload", GpDevUpload(dev, *to, narrow, n * sizeof(int32_t)));
  PetscCall(PetscFree(narrow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* single: the values of the matrix are stored in single precision, which holds them exactly */
static PetscErrorCode Upload(GpDev dev, const Problem *p, PetscBool single, Device *D)
{
  const size_t n = (size_t)p->A.n;
  double      *val;
  int32_t      missing, unsorted;

  PetscFunctionBeginUser;
  *D = (Device){.nnz = (size_t)p->A.rowptr[n]};
  PetscCall(UploadIndices(dev, n + 1, p->A.rowptr, &D->rowptr));
  PetscCall(UploadIndices(dev, D->nnz, p->A.col, &D->col));
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, D->nnz * sizeof(double), &val));
  if (single) {
    float *narrow;

    PetscCall(PetscMalloc1(D->nnz, &narrow));
    for (size_t k = 0; k < D->nnz; k++) narrow[k] = (float)p->A.val[k];
    PetscCallGp(dev, "upload", GpDevUpload(dev, val, narrow, D->nnz * sizeof(float)));
    PetscCall(PetscFree(narrow));
  } else PetscCallGp(dev, "upload", GpDevUpload(dev, val, p->A.val, D->nnz * sizeof(double)));
  D->A = (GpBatchMatrix){dev, (int32_t)n, (int32_t)p->A.first, (int32_t)p->A.rows, D->rowptr, D->col, val, single, NULL, NULL};
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, n * sizeof(double), &D->A.diagonal));
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, n * sizeof(double), &D->A.root));
  PetscCallGp(dev, "diagonal", GpBatchGetDiagonal(&D->A, &missing, &unsorted));
  PetscCheck(missing < 0 && unsorted < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d has no diagonal, or the columns of row %d do not ascend", (int)missing, (int)unsorted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(GpDev dev, Device *D)
{
  double *val = (double *)(uintptr_t)D->A.val;

  PetscFunctionBeginUser;
  GpBatchDestroyPlan(&D->plan);
  GpDevFree(dev, &D->val, (size_t)D->P.nnz * sizeof(double));
  GpBatchDestroyPattern(dev, &D->P);
  GpDevFree(dev, &D->rowptr, ((size_t)D->A.n + 1) * sizeof(int32_t));
  GpDevFree(dev, &D->col, D->nnz * sizeof(int32_t));
  GpDevFree(dev, &val, D->nnz * sizeof(double));
  GpDevFree(dev, &D->A.diagonal, (size_t)D->A.n * sizeof(double));
  GpDevFree(dev, &D->A.root, (size_t)D->A.n * sizeof(double));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the rows on the device. */
static PetscErrorCode ComputeOnDevice(GpDev dev, const Problem *p, GpBatchKind kind, PetscBool single, double val[], GpBatchReport *report)
{
  const PetscInt rows = p->F.rows, nnz = p->F.rowptr[rows];
  const size_t   bytes = (size_t)nnz * sizeof(double);
  Device         D;
  int32_t       *rowptr, *columns = NULL, *device;
  double        *again;
  PetscBool      same;

  PetscFunctionBeginUser;
  PetscCall(Upload(dev, p, single, &D));
  D.P.rows = (int32_t)rows;
  D.P.nnz  = (int32_t)nnz;
  PetscCall(UploadIndices(dev, (size_t)rows + 1, p->F.rowptr, &D.P.rowptr));
  PetscCall(UploadIndices(dev, (size_t)nnz, p->F.col, &D.P.col));
  PetscCall(PetscMalloc2(rows + 1, &rowptr, nnz, &again));
  for (PetscInt r = 0; r <= rows; r++) rowptr[r] = (int32_t)p->F.rowptr[r];
  if (kind == GP_BATCH_SPAI) {
    PetscCall(PetscMalloc1(rows, &columns));
    PetscCallGp(dev, "allocation", GpDevAlloc(dev, (size_t)rows * sizeof(int32_t), &device));
    PetscCallGp(dev, "columns", GpBatchCountColumns(&D.A, &D.P, device));
    PetscCallGp(dev, "download", GpDevDownload(dev, columns, device, (size_t)rows * sizeof(int32_t)));
    GpDevFree(dev, &device, (size_t)rows * sizeof(int32_t));
  }
  PetscCallGp(dev, "plan", GpBatchCreatePlan(dev, kind, (int32_t)rows, rowptr, columns, &D.plan));
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, bytes, &D.val));
  for (int round = 0; round < 2; round++) {
    PetscCallGp(dev, "zero", GpDevZero(dev, D.val, bytes));
    PetscCallGp(dev, "compute", GpBatchCompute(&D.plan, &D.A, &D.P, D.val, report));
    PetscCallGp(dev, "download", GpDevDownload(dev, round ? again : val, D.val, bytes));
  }
  PetscCall(PetscArraycmp(val, again, nnz, &same));
  PetscCheck(same || report->failed >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The second computation has other bits");
  PetscCall(PetscFree(columns));
  PetscCall(PetscFree2(rowptr, again));
  PetscCall(Free(dev, &D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the rows on the device, if there is one, and on the host.  Compares what they report. */
static PetscErrorCode Compute(GpDev dev, Problem *p, GpBatchKind kind, PetscBool single, double val[], PetscInt *failed)
{
  static const GpFsaiOptions fsai = {0};
  static const GpSpaiOptions spai = {0};
  const PetscInt             nnz  = p->F.rowptr[p->F.rows];
  GpInvRows                  copy = {.rows = p->F.rows, .rowptr = (PetscInt *)malloc(((size_t)p->F.rows + 1) * sizeof(PetscInt)), .col = (PetscInt *)malloc((size_t)nnz * sizeof(PetscInt))};
  GpInvReport                host;
  GpBatchReport              device;
  GpInvCode                  code;

  PetscFunctionBeginUser;
  PetscCall(PetscArraycpy(copy.rowptr, p->F.rowptr, p->F.rows + 1));
  PetscCall(PetscArraycpy(copy.col, p->F.col, nnz));
  code    = GpInvCompute(&p->A, kind == GP_BATCH_FSAI ? GpFsaiRow : GpSpaiRow, kind == GP_BATCH_FSAI ? (const void *)&fsai : (const void *)&spai, 1, &copy, &host);
  *failed = code == GP_INV_PIVOT ? host.failed : -1;
  if (!code) PetscCall(PetscArraycpy(val, copy.val, nnz));
  GpInvFree(&copy);
  PetscCheck(!code || code == GP_INV_PIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Computation on the host: code %d", (int)code);
  if (!GpBatchIsSupported(dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ComputeOnDevice(dev, p, kind, single, val, &device));
  PetscCheck(device.failed == *failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d fails on the device, row %" PetscInt_FMT " on the host", (int)device.failed, *failed);
  if (code)
    PetscCheck(PetscAbsReal(device.pivot - host.pivot) <= 1e-10 || (PetscIsInfOrNanReal(host.pivot) && PetscIsInfOrNanReal(device.pivot)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Pivot %g on the device, %g on the host", device.pivot, (double)host.pivot);
  else PetscCheck(PetscAbsReal(device.measure - host.measure) <= 1e-10 * (1 + PetscAbsReal(host.measure)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Measure %g on the device, %g on the host", device.measure, (double)host.measure);
  PetscCheck(code || device.range < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d is out of the range of single precision", (int)device.range);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The dense matrix of a row: columns J, or all columns, of the rows J of A; column by column with the distance ld. */
static void Gather(const GpInvMatrix *A, PetscInt m, const PetscInt J[], PetscBool square, PetscInt ld, double dense[])
{
  for (PetscInt a = 0; a < m; a++) {
    for (PetscInt k = A->rowptr[J[a]]; k < A->rowptr[J[a] + 1]; k++) {
      PetscInt at = A->col[k];

      if (square) {
        for (at = 0; at < m && J[at] != A->col[k]; at++) {}
      }
      if (at < ld) dense[at + a * ld] = A->val[k];
    }
  }
}

/* Solves the problem of a row by LAPACK. */
static PetscErrorCode Reference(const GpInvMatrix *A, GpBatchKind kind, PetscInt row, PetscInt m, const PetscInt J[], double y[])
{
  const PetscBool fsai = (PetscBool)(kind == GP_BATCH_FSAI);
  const PetscInt  ld   = fsai ? m : A->n;
  PetscBLASInt    N, M, one = 1, lwork, info;
  double         *dense, *b, *work;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(ld, &N));
  PetscCall(PetscBLASIntCast(m, &M));
  PetscCall(PetscBLASIntCast(64 * (ld + m), &lwork));
  PetscCall(PetscCalloc3(ld * m, &dense, ld, &b, lwork, &work));
  Gather(A, m, J, fsai, ld, dense);
  b[fsai ? m - 1 : row] = 1;
  if (fsai) {
    LAPACKpotrf_("L", &M, dense, &M, &info);
    PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_PLIB, "dpotrf: %d", (int)info);
    LAPACKpotrs_("L", &M, &one, dense, &M, b, &M, &info);
  } else LAPACKgels_("N", &N, &M, &one, dense, &N, b, &N, work, &lwork, &info);
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_PLIB, "LAPACK: %d", (int)info);
  for (PetscInt a = 0; a < m; a++) y[a] = fsai ? b[a] / PetscSqrtReal(b[m - 1]) : b[a];
  PetscCall(PetscFree3(dense, b, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares some rows of every size with LAPACK. */
static PetscErrorCode Run(GpDev dev, GpBatchKind kind, PetscInt n, PetscInt degree, PetscInt sizes, const PetscInt size[], PetscBool single)
{
  const PetscBool fsai = (PetscBool)(kind == GP_BATCH_FSAI);
  Problem         p;
  double         *val, *y;
  PetscInt        failed, stride = n > 300 ? 7 : 1;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, degree, fsai ? 0 : 0.3, single, &p.A));
  PetscCall(CreateRows(n, sizes, size, fsai, &p.F));
  PetscCall(PetscMalloc2(p.F.rowptr[n], &val, n, &y));
  PetscCall(Compute(dev, &p, kind, single, val, &failed));
  PetscCheck(failed < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " fails", failed);
  for (PetscInt i = n - 1; i >= 0; i -= i > n - 1 - 30 ? 1 : stride) { /* the last rows have all sizes */
    const PetscInt begin = p.F.rowptr[i], m = p.F.rowptr[i + 1] - begin;
    PetscReal      largest = 0;

    PetscCall(Reference(&p.A, kind, i, m, p.F.col + begin, y));
    for (PetscInt a = 0; a < m; a++) largest = PetscMax(largest, PetscAbsReal(y[a]));
    for (PetscInt a = 0; a < m; a++) {
      PetscCheck(PetscAbsReal(val[begin + a] - y[a]) <= 1e-12 * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kind %d, row %" PetscInt_FMT " with %" PetscInt_FMT " entries: entry %" PetscInt_FMT " is %g, not %g", (int)kind, i, m, a, val[begin + a],
                 y[a]);
    }
  }
  PetscCall(PetscFree2(val, y));
  GpInvFree(&p.F);
  PetscCall(DestroyMatrix(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that cannot be computed: the first one is reported, with its pivot. */
static PetscErrorCode Fail(GpDev dev, GpBatchKind kind, PetscInt size, PetscInt row, PetscScalar bad)
{
  const PetscInt n = 150;
  Problem        p;
  double        *val;
  PetscInt       failed;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, 4, kind == GP_BATCH_FSAI ? 0 : 0.3, PETSC_FALSE, &p.A));
  PetscCall(CreateRows(n, 1, &size, (PetscBool)(kind == GP_BATCH_FSAI), &p.F));
  for (PetscInt k = p.A.rowptr[row]; k < p.A.rowptr[row + 1]; k++) {
    if (kind == GP_BATCH_SPAI) ((PetscScalar *)(uintptr_t)p.A.val)[k] = bad;
    else if (p.A.col[k] == row) ((PetscScalar *)(uintptr_t)p.A.val)[k] = p.A.diagonal[row] = bad;
  }
  PetscCall(PetscMalloc1(p.F.rowptr[n], &val));
  PetscCall(Compute(dev, &p, kind, PETSC_FALSE, val, &failed));
  PetscCheck(failed >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kind %d, rows of %" PetscInt_FMT " entries: no failure", (int)kind, size);
  PetscCall(PetscFree(val));
  GpInvFree(&p.F);
  PetscCall(DestroyMatrix(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Patterns of powers on the device are those of the host. */
static PetscErrorCode TestPattern(GpDev dev, PetscInt n, PetscInt degree, PetscInt power, PetscReal threshold, PetscBool lower)
{
  Problem      p;
  GpInvScratch s = {.A = &p.A};
  Device       D;
  int32_t     *rowptr, *col;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, degree, 0, PETSC_FALSE, &p.A));
  p.A.first = n / 10;
  p.A.rows  = n - n / 5;
  PetscCall(Upload(dev, &p, PETSC_FALSE, &D));
  PetscCallGp(dev, "pattern", GpBatchCreatePattern(&D.A, (int)power, threshold, lower, &D.P));
  PetscCall(PetscMalloc4(D.P.rows + 1, &rowptr, D.P.nnz, &col, n, &s.position, n, &s.list));
  PetscCallGp(dev, "download", GpDevDownload(dev, rowptr, D.P.rowptr, ((size_t)D.P.rows + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "download", GpDevDownload(dev, col, D.P.col, (size_t)D.P.nnz * sizeof(int32_t)));
  for (PetscInt c = 0; c < n; c++) s.position[c] = -1;
  for (PetscInt r = 0; r < p.A.rows; r++) {
    const PetscInt m = GpInvStaticPattern(&s, power, threshold, lower, p.A.first + r);

    PetscCheck(rowptr[r + 1] - rowptr[r] == m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": row %" PetscInt_FMT " has %d entries, not %" PetscInt_FMT, power, r, (int)(rowptr[r + 1] - rowptr[r]), m);
    for (PetscInt a = 0; a < m; a++) PetscCheck(col[rowptr[r] + a] == s.list[a], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": row %" PetscInt_FMT " has column %d, not %" PetscInt_FMT, power, r, (int)col[rowptr[r] + a], s.list[a]);
  }
  PetscCheck(rowptr[p.A.rows] == D.P.nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d nonzeros, not %d", (int)D.P.nnz, (int)rowptr[p.A.rows]);
  PetscCall(PetscFree4(rowptr, col, s.position, s.list));
  PetscCall(Free(dev, &D));
  PetscCall(DestroyMatrix(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that are too long are refused with a reason. */
static PetscErrorCode TestLimits(GpDev dev)
{
  const int32_t rowptr[] = {0, 3, 3 + GP_BATCH_FSAI_MOST + 1}, columns[] = {3, 2 * GP_BATCH_SPAI_COLUMNS}, shorter[] = {0, 1, 4};
  GpBatchPlan   plan;

  PetscFunctionBeginUser;
  PetscCheck(GpBatchCreatePlan(dev, GP_BATCH_FSAI, 2, rowptr, NULL, &plan) == GP_ERR_ARGUMENT && !plan.dev, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A row that is too long is accepted");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", GpDevError(dev)));
  PetscCheck(GpBatchCreatePlan(dev, GP_BATCH_SPAI, 2, shorter, columns, &plan) == GP_ERR_ARGUMENT && !plan.dev, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A least-squares problem that is too large is accepted");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", GpDevError(dev)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt Few[] = {1, 2, 3, 4}, All[] = {1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 66, 67, 127, 128, 129, 191, 192, 193, 257}, Square[] = {1, 3, 6, 9, 15, 20, 31, 32, 33, 50, 64, 65, 100};

/* Rows of factors; the longest one has the maximum length. */
static PetscErrorCode TestFactors(GpDev dev)
{
  PetscInt size[GP_BATCH_FSAI_MOST + 3];

  PetscFunctionBeginUser;
  PetscCall(Run(dev, GP_BATCH_FSAI, 290, 6, PETSC_STATIC_ARRAY_LENGTH(All), All, PETSC_FALSE));
  PetscCall(Run(dev, GP_BATCH_FSAI, 290, 6, PETSC_STATIC_ARRAY_LENGTH(All), All, PETSC_TRUE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(All); k += 4) PetscCall(Run(dev, GP_BATCH_FSAI, 290, 6, 1, &All[k], PETSC_FALSE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(size); k++) size[k] = k == GP_BATCH_FSAI_MOST ? GP_BATCH_FSAI_MOST : 3;
  PetscCall(Run(dev, GP_BATCH_FSAI, GP_BATCH_FSAI_MOST + 3, 4, GP_BATCH_FSAI_MOST + 3, size, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestInverses(GpDev dev)
{
  PetscFunctionBeginUser;
  PetscCall(Run(dev, GP_BATCH_SPAI, 400, 3, PETSC_STATIC_ARRAY_LENGTH(Square), Square, PETSC_FALSE));
  PetscCall(Run(dev, GP_BATCH_SPAI, 400, 3, PETSC_STATIC_ARRAY_LENGTH(Square), Square, PETSC_TRUE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Square); k += 4) PetscCall(Run(dev, GP_BATCH_SPAI, 200, 3, 1, &Square[k], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFailures(GpDev dev)
{
  PetscFunctionBeginUser;
  for (PetscInt size = 3; size < 150; size += size / 2) {
    PetscCall(Fail(dev, GP_BATCH_FSAI, size, 40, -1));
    PetscCall(Fail(dev, GP_BATCH_FSAI, size, 0, 0));
    PetscCall(Fail(dev, GP_BATCH_FSAI, size, 99, NAN));
    PetscCall(Fail(dev, GP_BATCH_SPAI, size, 40, 0));
    PetscCall(Fail(dev, GP_BATCH_SPAI, size, 99, NAN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPatterns(GpDev dev)
{
  PetscFunctionBeginUser;
  for (PetscInt power = 1; power < 5 && GpBatchIsSupported(dev); power++) {
    PetscCall(TestPattern(dev, 500, 2, power, 0, PETSC_TRUE));
    PetscCall(TestPattern(dev, 500, 2, power, 0, PETSC_FALSE));
    PetscCall(TestPattern(dev, 500, 2, power, 0.05, PETSC_TRUE));
    PetscCall(TestPattern(dev, 1500, 8, power, 0, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool quick = PETSC_FALSE;
  GpDev     dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-quick", &quick, NULL));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(Run(dev, GP_BATCH_FSAI, 77, 3, PETSC_STATIC_ARRAY_LENGTH(Few), Few, PETSC_FALSE));
  if (quick) PetscCall(Run(dev, GP_BATCH_FSAI, 200, 3, PETSC_STATIC_ARRAY_LENGTH(All), All, PETSC_FALSE));
  else PetscCall(TestFactors(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rows of factors: as LAPACK\n"));
  PetscCall(Run(dev, GP_BATCH_SPAI, 60, 1, PETSC_STATIC_ARRAY_LENGTH(Few), Few, PETSC_FALSE));
  if (quick) PetscCall(Run(dev, GP_BATCH_SPAI, 120, 3, PETSC_STATIC_ARRAY_LENGTH(Square), Square, PETSC_FALSE));
  else PetscCall(TestInverses(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rows of inverses: as LAPACK\n"));
  PetscCall(TestFailures(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "failures are reported\n"));
  PetscCall(TestPatterns(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "patterns: as on the host\n"));
  PetscCall(TestLimits(dev));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
