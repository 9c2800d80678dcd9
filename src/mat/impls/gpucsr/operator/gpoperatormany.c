/* Products of an operator with several vectors at once.  A kernel's format is built when a product first
   needs it: most matrices never meet one. */
#include "mat/impls/gpucsr/operator/gpoperator.h"

#define SAMPLES    64                  /* groups of rows */
#define WORK_BYTES ((size_t)256 << 20) /* packed columns beyond this are made in several goes */

/* how far apart the columns of neighbouring rows are, from samples of the device's rows */
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
    PetscCallGp(op->dev, "reading columns", GpDevDownload(op->dev, col, C->col + rowptr[first], (size_t)n * sizeof(int32_t)));
    sum += GpSelSpread(rows, rowptr + first, col);
    count++;
    PetscCall(PetscFree(col));
  }
  *spread = count ? sum / count : 1.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void GpOpResetMany(GpOpSide *S)
{
  for (int k = 0; k < GP_SPMM_KERNELS; k++) GpFmtDestroy(&S->many[k]);
  S->spread = 0;
}

/* the kernel for so many columns, with its format */
static PetscErrorCode GpOpChooseMany(GpOp op, int t, PetscInt k, int *kernel)
{
  GpOpSide *S = &op->side[t];
  int32_t  *rowptr;

  PetscFunctionBegin;
  *kernel = S->spread > 0 ? GpSelChooseMany(&S->features, S->spread, k) : -1;
  if (*kernel >= 0 && S->many[*kernel].csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)S->csr.m + 1, &rowptr));
  PetscCallGp(op->dev, "reading row lengths", GpDevDownload(op->dev, rowptr, S->csr.rowptr, ((size_t)S->csr.m + 1) * sizeof(int32_t)));
  if (*kernel < 0) {
    S->spread = 1.0;
    if (GpSelMayScatter(&S->features)) PetscCall(GpOpSpread(op, &S->csr, rowptr, &S->spread));
  }
  *kernel = GpSelChooseMany(&S->features, S->spread, k);
  PetscCallGp(op->dev, "building the format of products with several vectors", GpFmtBuild(&S->many[*kernel], GpSpmmTable[*kernel].format, &S->csr, rowptr));
  PetscCall(PetscFree(rowptr));
  PetscCall(PetscInfo(NULL, "gpucsr: %s %d x %d: %" PetscInt_FMT " vectors by kernel %s (spread of neighbouring rows' columns %.2f)\n", t ? "transpose" : "matrix", (int)S->csr.m, (int)S->csr.n, k, GpSpmmTable[*kernel].name, S->spread));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* up to GP_SPMM_COLUMNS columns; those that full panels leave over may be too few for the kernel, and are multiplied one by one */
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
  err = row->mult[op->dev->kind][S->csr.prec](&S->many[kernel], C);
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "kernel %s on %d x %d with %d nonzeros, %d columns: %s", row->name, (int)S->csr.m, (int)S->csr.n, (int)S->csr.nnz, (int)C->k, op->dev->error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y_c = A x_c, or y_c += A x_c with add, for k columns; or the same with the transpose */
PetscErrorCode GpOpMultMany(GpOp op, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  const int t      = transpose ? 1 : 0;
  GpOpSide *S      = &op->side[t];
  PetscInt  batch  = GP_SPMM_COLUMNS;
  int       kernel = -1;

  PetscFunctionBegin;
  PetscCheck(op->has[t], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The %s is not on the device", t ? "transpose" : "matrix");
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
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
