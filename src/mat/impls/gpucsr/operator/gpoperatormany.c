/* Products of an operator with several vectors. The format of an SpMM kernel is built when a product first needs it, because most matrices never do. */
#include "mat/impls/gpucsr/operator/gpoperator.h"

#define SAMPLES    64                  /* samples of consecutive rows */
#define WORK_BYTES ((size_t)256 << 20) /* bound on the packed columns of one batch */

/* Computes the mean of GpSelSpread() over samples of rows, which are copied from the device. */
static PetscErrorCode GpOpSpread(GpOp op, const GpCsr *C, const int32_t rowptr[], double *spread)
{
  double   sum   = 0;
  PetscInt count = 0;

  PetscFunctionBegin;
  for (int32_t s = 0; s < SAMPLES; s++) {
    const int32_t first = (int32_t)((int64_t)C->m * s / SAMPLES), rows = PetscMin(C->m - first, GP_SEL_SAMPLE), n = rowptr[first + rows] - rowptr[first];
    int32_t      *col;

    if (!n) continue;
    PetscCall(PetscMalloc1(n, &col));
    PetscCallGp(op->dev, "copying column indices to the host", GpDevDownload(op->dev, col, C->col + rowptr[first], (size_t)n * sizeof(int32_t)));
    sum += GpSelSpread(rows, rowptr + first, col);
    count++;
    PetscCall(PetscFree(col));
  }
  *spread = count ? sum / count : 1.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the kernel for k columns and builds its format. */
static PetscErrorCode GpOpChooseMany(GpOp op, int t, PetscInt k, int *kernel)
{
  GpOpSide *S = &op->side[t];
  int32_t  *rowptr;

  PetscFunctionBegin;
  *kernel = S->spread > 0 ? GpSelChooseMany(&S->features, S->spread, k) : -1;
  if (*kernel >= 0 && S->many[*kernel].csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpOpDownloadRows_Private(op, t, &rowptr));
  if (*kernel < 0) {
    S->spread = 1.0;
    if (GpSelMayScatter(&S->features)) PetscCall(GpOpSpread(op, &S->csr, rowptr, &S->spread));
  }
  *kernel = GpSelChooseMany(&S->features, S->spread, k);
  PetscCallGp(op->dev, "building the format of products with several vectors", GpFmtBuild(&S->many[*kernel], GpSpmmTable[*kernel].format, &S->csr, rowptr));
  PetscCall(PetscFree(rowptr));
  PetscCall(PetscInfo(NULL, "gpucsr: %s %d x %d: %" PetscInt_FMT " vectors: kernel %s (spread of the columns of adjacent rows %.2f)\n", t ? "transpose" : "matrix", (int)S->csr.m, (int)S->csr.n, k, GpSpmmTable[*kernel].name, S->spread));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies up to GP_SPMM_COLUMNS columns. Columns beyond full panels are multiplied one by one if they are too few for the kernel. */
static PetscErrorCode GpOpMultPanels(GpOp op, int t, int kernel, GpColumns *C)
{
  GpOpSide        *S   = &op->side[t];
  const GpSpmmRow *row = &GpSpmmTable[kernel];
  GpErr            err;

  PetscFunctionBegin;
  if (C->k % row->width < row->fewest && C->incx == 1 && C->incy == 1) {
    for (; C->k % row->width; C->k--) PetscCall(GpOpMult(op, (PetscBool)t, C->x[C->k - 1], C->add ? C->y[C->k - 1] : NULL, C->y[C->k - 1]));
  }
  if (!C->k) PetscFunctionReturn(PETSC_SUCCESS);
  err = row->mult[GpDevKindOf(op->dev)][S->csr.prec](&S->many[kernel], C);
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "kernel %s on %d x %d with %d nonzeros, %d columns: %s", row->name, (int)S->csr.m, (int)S->csr.n, (int)S->csr.nnz, (int)C->k, GpDevError(op->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes y_c = A x_c, or y_c += A x_c if add is true, for k columns.  transpose: the same with the transpose of A. */
PetscErrorCode GpOpMultMany(GpOp op, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  const int t      = transpose ? 1 : 0;
  GpOpSide *S      = &op->side[t];
  PetscInt  batch  = GP_SPMM_COLUMNS;
  int       kernel = -1;

  PetscFunctionBegin;
  PetscCheck(op->has[t], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The %s is not on the device", t ? "transpose" : "matrix");
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  if (GpOpIsStreamed(op)) {
    PetscCall(GpOpMultManyStream_Private(op, t, k, add, incx, x, incy, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpOpChooseMany(op, t, k, &kernel));
  while (batch > GpSpmmTable[kernel].width && (size_t)S->csr.n * batch * sizeof(double) > WORK_BYTES) batch /= 2;
  for (PetscInt first = 0; first < k; first += batch) {
    GpColumns C = {.k = (int32_t)PetscMin(k - first, batch), .add = add, .incx = incx, .incy = incy};

    for (int32_t c = 0; c < C.k; c++) {
      C.x[c] = x[first + c];
      C.y[c] = y[first + c];
    }
    PetscCall(GpOpMultPanels(op, t, kernel, &C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
