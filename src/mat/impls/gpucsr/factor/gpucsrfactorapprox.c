/* Approximate solves with a factor: builds their operators.

   Let D be the diagonal of U. For LU and ILU, L = I - S_L and U = D (I - S_U). For Cholesky and ICC, A = U' D U with a diagonal D, and U = I - S_U. All vectors have the order of the columns of A. If its rows and
   columns have the same permutation, as usual, no vector is permuted. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include <float.h>
#include <math.h>

/* Gets the rows of a strict triangle in PETSc's factor. */
static void MatGPUCSRApproxGetRows(const MatGPUCSRFactorArrays *a, int which, const int32_t **begin, const int32_t **end)
{
  *begin = which ? a->begin : a->lower;
  *end   = which ? a->end : a->lower + 1;
}

/* --- pattern --------------------------------------------------------------------------------------------------------------------- */

/* Counts the levels of a triangle and checks that the columns of its rows ascend, on which the approximate inverse relies. */
static PetscErrorCode MatGPUCSRApproxCountLevels(const MatGPUCSRFactorArrays *a, PetscInt n, int which, PetscInt *levels)
{
  const int32_t *begin, *end;
  PetscInt      *level;

  PetscFunctionBegin;
  *levels = 0;
  MatGPUCSRApproxGetRows(a, which, &begin, &end);
  PetscCall(PetscCalloc1(n, &level));
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt row = which ? n - 1 - k : k;

    for (int64_t e = begin[row]; e < end[row]; e++) {
      PetscCheck((which ? a->j[e] > row && a->j[e] < n : a->j[e] >= 0 && a->j[e] < row) && (e == begin[row] || a->j[e] > a->j[e - 1]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "The columns of row %" PetscInt_FMT " of PETSc's factor do not ascend; use -mat_gpucsr_trisolve exact", row);
      level[row] = PetscMax(level[row], level[a->j[e]] + 1);
    }
    *levels = PetscMax(*levels, level[row] + 1);
  }
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the pattern of a strict triangle, with rows and columns in the order of the columns of A. */
static PetscErrorCode MatGPUCSRApproxSetPattern(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, int which, MatGPUCSRTriangle *t)
{
  const PetscInt  n = f->n;
  const PetscInt *order;
  const int32_t  *begin, *end;
  PetscInt       *place;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRApproxCountLevels(a, n, which, &t->levels));
  MatGPUCSRApproxGetRows(a, which, &begin, &end);
  PetscCall(ISGetIndices(f->column, &order));
  PetscCall(PetscCalloc1(n + 1, &t->i));
  for (PetscInt row = 0; row < n; row++) t->i[order[row] + 1] = (PetscInt)(end[row] - begin[row]);
  for (PetscInt row = 0; row < n; row++) t->i[row + 1] += t->i[row];
  PetscCall(PetscMalloc2(t->i[n], &t->j, t->i[n], &t->source));
  PetscCall(PetscMalloc1(t->i[n], &place));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt first = t->i[order[row]], length = (PetscInt)(end[row] - begin[row]);

    for (PetscInt k = 0; k < length; k++) {
      t->j[first + k]  = order[a->j[begin[row] + k]];
      place[first + k] = (PetscInt)(begin[row] + k);
    }
    PetscCall(PetscSortIntWithArray(length, t->j + first, place + first));
  }
  for (PetscInt k = 0; k < t->i[n]; k++) t->source[k] = (int32_t)place[k];
  PetscCall(PetscFree(place));
  PetscCall(ISRestoreIndices(f->column, &order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values ---------------------------------------------------------------------------------------------------------------------- */

/* Computes the values of S at the positions of PETSc's factor. */
static void MatGPUCSRApproxGetStrict(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, int which, double strict[])
{
  const int32_t *begin, *end;

  MatGPUCSRApproxGetRows(a, which, &begin, &end);
  for (PetscInt row = 0; row < f->n; row++) {
    const double scale = f->cholesky ? 1 : which ? -a->values[a->end[row]] : -1;

    for (int64_t k = begin[row]; k < end[row]; k++) strict[k] = scale * a->values[k];
  }
}

/* Builds an operator, or sets its values if it exists.  values: at the positions of PETSc's factor */
static PetscErrorCode MatGPUCSRApproxSetOperator(const MatGPUCSRFactor *f, const MatGPUCSRTriangle *t, const double values[], GpOp *op)
{
  const GpOpOptions options = {.prec = f->single ? GP_F32 : GP_F64, .kernel = -1, .mode = f->select, .limit = -1, .streaming = GP_OP_STREAM_NEVER};
  const GpOpPlace   place   = {0, 0, NULL};
  const PetscInt    nnz     = t->i[f->n];
  double           *val;
  PetscBool         large = PETSC_FALSE;
  PetscErrorCode    err   = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nnz, &val));
  for (PetscInt k = 0; k < nnz; k++) {
    val[k] = values[t->source[k]];
    if (f->single && fabs(val[k]) > FLT_MAX && !isinf(val[k])) large = PETSC_TRUE;
  }
  if (!large && *op) err = GpOpRefill(*op, t->i, t->j, val, &place);
  if (!large && !*op) {
    err = GpOpCreate(f->dev, op);
    if (!err) err = GpOpSetUp(*op, &options, f->n, f->n, t->i, t->j, val, &place);
    if (err) (void)GpOpDestroy(op);
  }
  PetscCall(PetscFree(val));
  PetscCheck(!large, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A value of the factor, or of its approximate inverse, exceeds the range of single precision; use -mat_gpucsr_factor_storage double");
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operators of a triangle. */
static PetscErrorCode MatGPUCSRApproxSetTriangle(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, int which, MatGPUCSRTriangle *t)
{
  const PetscBool isai   = (PetscBool)(f->trisolve == MAT_GPUCSR_TRISOLVE_ISAI);
  double         *strict = NULL, *inverse = NULL;
  PetscErrorCode  err = PETSC_SUCCESS;
  const int32_t  *begin, *end;

  PetscFunctionBegin;
  if (!t->i) PetscCall(MatGPUCSRApproxSetPattern(f, a, which, t));
  MatGPUCSRApproxGetRows(a, which, &begin, &end);
  t->sweeps = PetscMax(1, PetscMin(f->sweeps, isai ? (t->levels + 1) / 2 : t->levels)); /* with this many sweeps the solve is exact */
  PetscCall(PetscMalloc2(a->nnz, &strict, isai ? a->nnz : 0, &inverse));
  MatGPUCSRApproxGetStrict(f, a, which, strict);
  if (t->sweeps > 1) err = MatGPUCSRApproxSetOperator(f, t, strict, &t->strict);
  else err = GpOpDestroy(&t->strict);
  if (!err && isai) {
    err = MatGPUCSRFactorInvert_Private(a, begin, end, (PetscBool)which, strict, inverse);
    if (!err) err = MatGPUCSRApproxSetOperator(f, t, inverse, &t->inverse);
  }
  PetscCall(PetscFree2(strict, inverse));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the inverse of the diagonal. */
static PetscErrorCode MatGPUCSRApproxSetDiagonal(MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a)
{
  const size_t    bytes = (size_t)f->n * sizeof(double);
  const PetscInt *order;
  double         *diagonal;
  GpErr           err = GP_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(f->n, &diagonal));
  PetscCall(ISGetIndices(f->column, &order));
  f->indefinite = PETSC_FALSE;
  for (PetscInt row = 0; row < f->n; row++) {
    diagonal[order[row]] = a->values[a->end[row]];
    if (a->values[a->end[row]] < 0) f->indefinite = PETSC_TRUE;
  }
  PetscCall(ISRestoreIndices(f->column, &order));
  if (!f->approx.diagonal) err = GpDevAlloc(f->dev, bytes, &f->approx.diagonal);
  if (!err && bytes) err = GpDevUpload(f->dev, f->approx.diagonal, diagonal, bytes);
  PetscCall(PetscFree(diagonal));
  PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- permutations ---------------------------------------------------------------------------------------------------------------- */

/* Computes one of the index arrays. */
static PetscErrorCode MatGPUCSRApproxComputePerm(const MatGPUCSRFactor *f, int perm, int32_t index[])
{
  const PetscInt *row, *column;

  PetscFunctionBegin;
  PetscCall(ISGetIndices(f->row, &row));
  PetscCall(ISGetIndices(f->column, &column));
  for (PetscInt k = 0; k < f->n; k++) {
    if (perm == MAT_GPUCSR_PERM_IN) index[column[k]] = (int32_t)row[k];
    if (perm == MAT_GPUCSR_PERM_OUT) index[row[k]] = (int32_t)column[k];
    if (perm == MAT_GPUCSR_PERM_FIRST) index[k] = (int32_t)column[k];
    if (perm == MAT_GPUCSR_PERM_LAST) index[column[k]] = (int32_t)k;
  }
  PetscCall(ISRestoreIndices(f->row, &row));
  PetscCall(ISRestoreIndices(f->column, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets an index array in device memory; NULL if it is the identity. */
PetscErrorCode MatGPUCSRFactorGetPerm_Private(MatGPUCSRFactor *f, int perm, const int32_t **device)
{
  const size_t bytes = (size_t)f->n * sizeof(int32_t);
  int32_t     *index;
  PetscInt     k   = 0;
  GpErr        err = GP_SUCCESS;

  PetscFunctionBegin;
  if (!f->approx.tested[perm]) {
    PetscCall(PetscMalloc1(f->n, &index));
    PetscCall(MatGPUCSRApproxComputePerm(f, perm, index));
    while (k < f->n && index[k] == k) k++;
    if (k < f->n) err = GpDevAlloc(f->dev, bytes, &f->approx.perm[perm]);
    if (k < f->n && !err) err = GpDevUpload(f->dev, f->approx.perm[perm], index, bytes);
    PetscCall(PetscFree(index));
    PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, err);
    f->approx.tested[perm] = PETSC_TRUE;
  }
  *device = f->approx.perm[perm];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- set-up of an approximate solve ---------------------------------------------------------------------------------------------- */

static PetscErrorCode MatGPUCSRApproxAllocateWork(MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    if (!f->approx.work[k]) PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, GpDevAlloc(f->dev, (size_t)f->n * sizeof(double), &f->approx.work[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRApproxBuild(Mat F, MatGPUCSRFactor *f)
{
  MatGPUCSRApprox      *p = &f->approx;
  MatGPUCSRFactorArrays a;
  PetscErrorCode        err = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorDownload_Private(F, f));
  PetscCall(MatGPUCSRFactorGetArrays_Private(F, f, PETSC_FALSE, &a));
  for (int which = f->cholesky ? 1 : 0; which < 2 && !err; which++) err = MatGPUCSRApproxSetTriangle(f, &a, which, &p->tri[which]);
  if (!err) err = MatGPUCSRApproxSetDiagonal(f, &a);
  if (!err) err = MatGPUCSRApproxAllocateWork(f);
  PetscCall(MatGPUCSRFactorRestoreArrays_Private(F, f, &a));
  PetscCall(err);
  MatGPUCSRFactorTrimPattern_Private(f);
  p->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* transpose: the transposes of the operators are needed; those of Cholesky and ICC always are. */
PetscErrorCode MatGPUCSRFactorGetApprox_Private(Mat F, MatGPUCSRFactor *f, PetscBool transpose)
{
  MatGPUCSRApprox *p       = &f->approx;
  PetscBool        missing = PETSC_FALSE;
  PetscErrorCode   err     = PETSC_SUCCESS;

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) {
    const GpOp op = k % 2 ? p->tri[k / 2].inverse : p->tri[k / 2].strict;

    if (op && !op->has[1]) missing = (PetscBool)(transpose || f->cholesky);
  }
  if (p->current && !missing) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Factor, F, 0, 0, 0));
  if (!p->current) err = MatGPUCSRApproxBuild(F, f);
  for (int k = 0; k < 4 && !err && (transpose || f->cholesky); k++) {
    const GpOp op = k % 2 ? p->tri[k / 2].inverse : p->tri[k / 2].strict;

    if (op) err = GpOpSetUpTranspose(op, NULL);
  }
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Factor, F, 0, 0, 0));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRFactorResetApprox_Private(MatGPUCSRFactor *f)
{
  MatGPUCSRApprox *p = &f->approx;

  PetscFunctionBegin;
  for (int which = 0; which < 2; which++) {
    MatGPUCSRTriangle *t = &p->tri[which];

    PetscCall(GpOpDestroy(&t->strict));
    PetscCall(GpOpDestroy(&t->inverse));
    PetscCall(PetscFree(t->i));
    PetscCall(PetscFree2(t->j, t->source));
  }
  GpDevFree(f->dev, &p->diagonal, (size_t)f->n * sizeof(double));
  for (int perm = 0; perm < MAT_GPUCSR_PERMS; perm++) GpDevFree(f->dev, &p->perm[perm], (size_t)f->n * sizeof(int32_t));
  for (int k = 0; k < 3; k++) GpDevFree(f->dev, &p->work[k], (size_t)f->n * sizeof(double));
  *p = (MatGPUCSRApprox){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
