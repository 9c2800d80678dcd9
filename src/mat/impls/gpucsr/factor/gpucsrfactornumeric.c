/* Numeric ILU and ICC factorisations on the device. PETSc's symbolic factorisation gives the pattern. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include <stdlib.h>

/* --- pattern --------------------------------------------------------------------------------------------------------------------- */

/* Creates the factor on the device, and maps the values of A to it, unless this has been done for this pattern. */
static PetscErrorCode MatGPUCSRNumericFill(MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, const PetscInt i[], const PetscInt j[])
{
  MatGPUCSRNumeric  *m       = &f->numeric;
  const GpTriPattern pattern = {(int32_t)f->n, f->cholesky, a->nnz, a->begin, a->end, a->lower, a->col};
  int32_t           *from;
  GpErr              err = GP_SUCCESS;

  PetscFunctionBegin;
  if (!m->built && !MatGPUCSRFactorIsSorted_Private(f, a)) {
    m->host = "the columns of PETSc's factor do not ascend";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!m->built) {
    GpTriFreeDeps(&f->pattern.deps);
    PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, GpTriFactorCreate(f->dev, &pattern, 0, &f->pattern.deps, &m->factor));
  }
  m->built = PETSC_TRUE;
  PetscCall(MatGPUCSRFactorMapValues_Private(f, a, i, j, &from));
  err = GpTriFactorSetSource(&m->factor, from);
  free(from);
  PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the factor for the pattern of A.  If the device cannot compute it, m->host says why. */
static PetscErrorCode MatGPUCSRNumericBuild(Mat F, Mat A, MatGPUCSRFactor *f)
{
  MatGPUCSRNumeric      *m = &f->numeric;
  MatGPUCSRNumericSource source;
  MatGPUCSRFactorArrays  a;
  PetscErrorCode         err;
  PetscBool              same;
  int64_t                nnz;

  PetscFunctionBegin;
  source.nonzerostate = A->nonzerostate;
  PetscCall(PetscObjectGetId((PetscObject)A, &source.id));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &source.i, &source.j, NULL, NULL));
  same = (PetscBool)(m->built && source.id == m->source.id && source.nonzerostate == m->source.nonzerostate && source.i == m->source.i && source.j == m->source.j);
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  nnz = f->n ? source.i[f->n] : 0;
  if (nnz >= GP_TRI_MOST) {
    m->host = "the matrix has 2^31 nonzeros or more";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  m->source    = (MatGPUCSRNumericSource){0};
  F->assembled = F->preallocated = PETSC_TRUE; /* the arrays of the pattern exist since the symbolic factorisation */
  PetscCall(MatGPUCSRFactorGetArrays_Private(F, f, PETSC_TRUE, &a));
  err = MatGPUCSRNumericFill(f, &a, source.i, source.j);
  PetscCall(MatGPUCSRFactorRestoreArrays_Private(F, f, &a));
  PetscCall(err);
  m->source = source;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values of A ----------------------------------------------------------------------------------------------------------------- */

/* The values of A in device memory. */
typedef struct {
  const void *values;
  PetscBool   single;
  double     *copy; /* workspace that holds the values; NULL: the values are those of the image or of the host */
  size_t      bytes;
} MatGPUCSRNumericValues;

/* Gets the image of A if it has the values of A without rounding.  An image that products have used is uploaded again if the values of A have changed; the next product needs it too. */
static PetscErrorCode MatGPUCSRNumericGetImage(Mat A, const MatGPUCSRFactor *f, GpOp *op)
{
  const Mat_SeqAIJGPUCSR *s = (const Mat_SeqAIJGPUCSR *)A->spptr;

  PetscFunctionBegin;
  *op = NULL;
  if (!MatGPUCSRIs_Private(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(A, op));
  if (!*op && s->op && s->key.owner == A && s->key.nonzerostate == A->nonzerostate && !GpOpIsStreamed(s->op) && GpOpIsExact(s->op)) PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, op));
  if (*op && (GpOpIsStreamed(*op) || !GpOpIsExact(*op) || (*op)->dev != f->dev)) *op = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRNumericGetValues(Mat A, const MatGPUCSRFactor *f, MatGPUCSRNumericValues *v)
{
  PetscScalar    *host;
  const PetscInt *i;
  GpOp            op;
  GpErr           err;

  PetscFunctionBegin;
  *v = (MatGPUCSRNumericValues){0};
  PetscCall(MatGPUCSRNumericGetImage(A, f, &op));
  if (op) {
    v->values = op->side[0].csr.val;
    v->single = (PetscBool)(op->options.prec == GP_F32);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, NULL, &host, NULL));
  v->values = host;
  if (!GpDevHasMemory(f->dev) || !f->n || !i[f->n]) PetscFunctionReturn(PETSC_SUCCESS);
  v->bytes = (size_t)i[f->n] * sizeof(double);
  PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, GpDevBorrow(f->dev, v->bytes, &v->copy));
  err = GpDevUpload(f->dev, v->copy, host, v->bytes);
  if (err) GpDevReturn(f->dev, &v->copy, v->bytes);
  PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, err);
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)v->bytes));
  v->values = v->copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- shifts ---------------------------------------------------------------------------------------------------------------------- */

/* Gets the number of a row as PETSc reports it.  Its ICC factorisation names the column of the first entry of the row behind the diagonal, or n if there is none. */
static PetscErrorCode MatGPUCSRNumericGetRow(Mat F, MatGPUCSRFactor *f, int32_t row, PetscInt *reported)
{
  MatGPUCSRFactorArrays a;

  PetscFunctionBegin;
  *reported = row;
  if (!f->cholesky) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRFactorGetArrays_Private(F, f, PETSC_FALSE, &a));
  *reported = a.begin[row] < a.end[row] ? a.j[a.begin[row]] : f->n;
  PetscCall(MatGPUCSRFactorRestoreArrays_Private(F, f, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the search for the shift that makes the pivots positive, by PETSc's formulas. */
static PetscErrorCode MatGPUCSRNumericStartSearch(Mat A, const MatFactorInfo *info, FactorShiftCtx *shift)
{
  const PetscInt *i, *j;
  PetscScalar    *v;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &v, NULL));
  shift->shift_top = info->zeropivot;
  for (PetscInt row = 0; row < A->rmap->n; row++) {
    PetscReal sum = 0;

    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      if (j[k] == row) sum = -PetscAbsScalar(v[k]) - PetscRealPart(v[k]);
    }
    for (PetscInt k = i[row]; k < i[row + 1]; k++) sum += PetscAbsScalar(v[k]);
    if (sum > shift->shift_top) shift->shift_top = sum;
  }
  shift->shift_top *= 1.1;
  shift->nshift_max = 5;
  shift->shift_lo   = 0;
  shift->shift_hi   = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets PETSc decide what a small pivot means: an error, or another attempt with a shift. */
static PetscErrorCode MatGPUCSRNumericCheck(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRFactor *f, const GpTriStatus *status, FactorShiftCtx *shift)
{
  const PetscBool inblocks = (PetscBool)(info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS), none = (PetscBool)(info->shifttype == (PetscReal)MAT_SHIFT_NONE);
  PetscInt        row;

  PetscFunctionBegin;
  if (inblocks) shift->nshift = status->count;
  if (inblocks || !status->count) PetscFunctionReturn(PETSC_SUCCESS);
  if (info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE && !shift->nshift_max) PetscCall(MatGPUCSRNumericStartSearch(A, info, shift));
  for (int last = 0; last < (none && status->last != status->first ? 2 : 1); last++) { /* without a shift PETSc goes on after a small pivot, and the last one remains */
    const int32_t at = last ? status->last : status->first;

    PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, GpTriFactorGetPivot(&f->numeric.factor, at, &shift->pv));
    PetscCall(MatGPUCSRNumericGetRow(F, f, at, &row));
    shift->rs = info->zeropivot > 0 ? PETSC_INFINITY : 0; /* the device has compared the pivot with the sum of its row; PETSc's comparison must have the same result */
    PetscCall(MatPivotCheck(F, A, info, shift, row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a success with a shift, PETSc's ILU tries a smaller one. */
static void MatGPUCSRNumericRefine(const MatFactorInfo *info, const MatGPUCSRFactor *f, FactorShiftCtx *shift)
{
  if (f->cholesky || info->shifttype != (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE || shift->newshift || shift->shift_fraction <= 0 || shift->nshift >= shift->nshift_max) return;
  shift->shift_hi       = shift->shift_fraction;
  shift->shift_fraction = (shift->shift_hi + shift->shift_lo) / 2;
  shift->shift_amount   = shift->shift_fraction * shift->shift_top;
  shift->newshift       = PETSC_TRUE;
  shift->nshift++;
}

static PetscErrorCode MatGPUCSRNumericReportShift(Mat A, const MatFactorInfo *info, const FactorShiftCtx *shift)
{
  PetscFunctionBegin;
  if (!shift->nshift) PetscFunctionReturn(PETSC_SUCCESS);
  if (info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE)
    PetscCall(PetscInfo(A, "number of shift_pd tries %" PetscInt_FMT ", shift_amount %g, diagonal shifted up by %e fraction top_value %e\n", shift->nshift, (double)shift->shift_amount, (double)shift->shift_fraction, (double)shift->shift_top));
  else if (info->shifttype == (PetscReal)MAT_SHIFT_NONZERO) PetscCall(PetscInfo(A, "number of shift_nz tries %" PetscInt_FMT ", shift_amount %g\n", shift->nshift, (double)shift->shift_amount));
  else PetscCall(PetscInfo(A, "number of shift_inblocks applied %" PetscInt_FMT ", each shift_amount %g\n", shift->nshift, (double)info->shiftamount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- factorisation --------------------------------------------------------------------------------------------------------------- */

/* Computes the factor, if necessary with several shifts. */
static PetscErrorCode MatGPUCSRNumericCompute(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRFactor *f, const MatGPUCSRNumericValues *v)
{
  MatGPUCSRNumeric *m      = &f->numeric;
  FactorShiftCtx    shift  = {0};
  GpTriPivots       pivots = {GP_TRI_PIVOT_NONE, info->zeropivot, info->shiftamount, 0};
  GpTriStatus       status;
  GpErr             err;

  PetscFunctionBegin;
  if (info->shifttype == (PetscReal)MAT_SHIFT_NONZERO) pivots.rule = GP_TRI_PIVOT_NONZERO;
  if (info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) pivots.rule = GP_TRI_PIVOT_POSITIVE;
  if (info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS) pivots.rule = GP_TRI_PIVOT_INBLOCKS;
  do {
    shift.newshift = PETSC_FALSE;
    pivots.shift   = shift.shift_amount;
    PetscCall(PetscGPUCSRLogTimeBegin_Private(f->dev));
    err = GpTriFactorCompute(&m->factor, v->values, v->single, &pivots, &status);
    PetscCall(PetscGPUCSRLogTimeEnd_Private(f->dev));
    PetscCallGp(f->dev, MAT_GPUCSR_NUMERIC_WHAT, err);
    PetscCall(PetscGPUCSRLogFlops_Private(f->dev, m->factor.flops));
    PetscCall(MatGPUCSRNumericCheck(F, A, info, f, &status, &shift));
    MatGPUCSRNumericRefine(info, f, &shift);
  } while (shift.newshift);
  PetscCall(MatGPUCSRNumericReportShift(A, info, &shift));
  m->current      = PETSC_TRUE;
  m->downloaded   = PETSC_FALSE;
  m->tiny         = (PetscBool)status.tiny;
  f->indefinite   = (PetscBool)status.negative;
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the factor on the device unless m->host says why not. */
static PetscErrorCode MatGPUCSRNumericRun(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRFactor *f)
{
  MatGPUCSRNumericValues v;
  PetscErrorCode         err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRNumericBuild(F, A, f));
  if (f->numeric.host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRNumericGetValues(A, f, &v));
  err = MatGPUCSRNumericCompute(F, A, info, f, &v);
  if (v.copy) GpDevReturn(f->dev, &v.copy, v.bytes);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the factor does not fit the device memory and the user allows it, m->host becomes the reason. */
static PetscErrorCode MatGPUCSRNumericTry(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRFactor *f)
{
  PetscErrorCode err = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (f->allowhost) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatGPUCSRNumericRun(F, A, info, f);
    PetscCall(PetscPopErrorHandler());
    if (!err) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (err != PETSC_ERR_MEM) PetscCall(MatGPUCSRNumericRun(F, A, info, f)); /* raises other errors again, with their messages */
  else {
    PetscCall(PetscInfo(F, "The factor is computed on the host (-mat_gpucsr_factor_host): %s\n", GpDevError(f->dev)));
    MatGPUCSRFactorResetNumeric_Private(f);
    f->numeric.host = "the factor does not fit the device memory";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes an ILU or ICC factor on the device, or any factor by PETSc's function `numeric` on the host. */
PetscErrorCode MatGPUCSRFactorCompute_Private(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRNumericFn numeric, MatGPUCSRFactor *f)
{
  MatGPUCSRNumeric *m = &f->numeric;

  PetscFunctionBegin;
  m->current = m->downloaded = PETSC_FALSE;
  m->host                    = NULL;
  if (F->factortype == MAT_FACTOR_LU || F->factortype == MAT_FACTOR_CHOLESKY) m->host = "PETSc computes exact factors";
  else if (m->type == MAT_GPUCSR_FACTOR_NUMERIC_HOST) m->host = "-mat_gpucsr_factor_numeric host";
  else {
    PetscCall(PetscLogEventBegin(MAT_GPUCSR_Numeric, F, A, 0, 0));
    PetscCall(MatGPUCSRNumericTry(F, A, info, f));
    PetscCall(PetscLogEventEnd(MAT_GPUCSR_Numeric, F, A, 0, 0));
  }
  if (m->host) {
    GpTriFactorDestroy(&m->factor);
    m->built = PETSC_FALSE;
    PetscCall((*numeric)(F, A, info));
  } else PetscCall(MatGPUCSRFactorSetHostSolves_Private(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatGPUCSRFactorResetNumeric_Private(MatGPUCSRFactor *f)
{
  GpTriFactorDestroy(&f->numeric.factor);
  f->numeric = (MatGPUCSRNumeric){.type = f->numeric.type};
}
