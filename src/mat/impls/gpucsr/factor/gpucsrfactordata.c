/* Exact solves with a factor: copies its triangles to the device. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include <float.h>
#include <math.h>

/* Creates the triangle number `which` of a side. The first triangle of MatSolve() has the dependencies of the numeric factorisation as its rows, so the analysis of these is used again. */
static PetscErrorCode MatGPUCSRFactorCreateTriangle(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, PetscBool transpose, int which, GpTri *T)
{
  const GpTriDeps       *deps  = &f->pattern.deps;
  const PetscBool        first = (PetscBool)(!which && !transpose), flip = f->cholesky ? (PetscBool)!which : transpose;
  const GpTriRows        upper = {(int32_t)f->n, 1, a->begin, a->end, a->col, NULL, NULL}, lower = {(int32_t)f->n, 0, a->lower, a->lower ? a->lower + 1 : NULL, a->col, NULL, NULL};
  const GpTriTransposed *t    = &deps->transpose;
  GpTriTransposed        own  = {0};
  GpTriRows              rows = (flip ? !which : which) ? upper : lower;
  GpErr                  err;

  PetscFunctionBegin;
  if (flip) {
    if (!first || !t->begin) {
      PetscCheck(!GpTriTranspose(&rows, &own), PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the transpose of a triangle of %" PetscInt_FMT " rows; use -pc_factor_mat_solver_type petsc", f->n);
      t = &own;
    }
    rows = (GpTriRows){(int32_t)f->n, !rows.reverse, t->begin, t->begin + 1, t->col, t->source, NULL};
  }
  if (first && deps->order.row) rows.order = &deps->order;
  err = GpTriCreate(f->dev, &rows, 0, f->single, T);
  GpTriFreeTransposed(&own);
  PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the index array `map` of a side unless it exists. */
PetscErrorCode MatGPUCSRFactorGetMap_Private(MatGPUCSRFactor *f, MatGPUCSRSide *s, int map, const int32_t **device)
{
  const PetscBool transpose = (PetscBool)(s == &f->side[1]), rows = (PetscBool)(map == MAT_GPUCSR_MAP_FIRST || map == MAT_GPUCSR_MAP_LAST);
  const GpTri    *T  = &s->tri[map == MAT_GPUCSR_MAP_LINK || map == MAT_GPUCSR_MAP_OUT || map == MAT_GPUCSR_MAP_LAST];
  const IS        is = (map == MAT_GPUCSR_MAP_IN) != transpose ? f->row : f->column;
  const PetscInt *index;
  int32_t        *work     = NULL;
  PetscBool       identity = rows;
  GpErr           err;

  PetscFunctionBegin;
  if (!s->map[map] && f->n) {
    if (!rows && map != MAT_GPUCSR_MAP_LINK) PetscCall(ISIdentity(is, &identity));
    if (!identity) PetscCall(PetscMalloc1(f->n, &work));
    if (map == MAT_GPUCSR_MAP_LINK) GpTriGetSlots(&s->tri[0], work);
    else if (!identity) {
      PetscCall(ISGetIndices(is, &index));
      for (PetscInt i = 0; i < f->n; i++) work[i] = (int32_t)index[i];
      PetscCall(ISRestoreIndices(is, &index));
    }
    err = GpTriUploadMap(T, work, &s->map[map]);
    PetscCall(PetscFree(work));
    PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, err);
  }
  *device = s->map[map];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops with an error if a value of U underflows in single precision and is not negligible compared with the diagonal entry of its row.  The rows of L, and of U in a Cholesky factor, have a
   unit diagonal: their values below FLT_MIN are always negligible. */
static PetscErrorCode MatGPUCSRFactorCheckUnderflow(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a)
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < f->n && f->single && !f->cholesky; row++) {
    for (int64_t k = a->begin[row]; k < a->end[row]; k++) {
      const double v = fabs(a->values[k]);

      PetscCheck(!(v < FLT_MIN && v * fabs(a->values[a->end[row]]) > FLT_EPSILON), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "Row %" PetscInt_FMT " of the factor has the value %g, which is too small for single precision; use -mat_gpucsr_factor_storage double", row, v);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of both triangles of a side from PETSc's factor. */
static PetscErrorCode MatGPUCSRFactorSetValues(MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, PetscBool transpose, MatGPUCSRSide *s)
{
  double *diagonal;
  GpErr   err = GP_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorCheckUnderflow(f, a));
  PetscCall(PetscMalloc1(f->n, &diagonal));
  f->indefinite = PETSC_FALSE;
  for (PetscInt i = 0; i < f->n; i++) {
    diagonal[i] = a->values[a->end[i]];
    if (diagonal[i] < 0) f->indefinite = PETSC_TRUE;
  }
  for (int which = 0; which < 2 && !err; which++) {
    const PetscBool unit = (PetscBool)(!f->cholesky && which == (int)transpose);

    err = GpTriSetValues(&s->tri[which], a->values, f->cholesky ? -1 : 1, unit ? NULL : diagonal);
  }
  PetscCall(PetscFree(diagonal));
  PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of both triangles of a side from the factor on the device. */
static PetscErrorCode MatGPUCSRFactorSetDeviceValues(Mat F, MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSide *s)
{
  const GpTriFactor    *factor = &f->numeric.factor;
  MatGPUCSRFactorArrays a;
  PetscErrorCode        err;

  PetscFunctionBegin;
  if (f->single && f->numeric.tiny) { /* finds the value for the error message */
    PetscCall(MatGPUCSRFactorDownload_Private(F, f));
    PetscCall(MatGPUCSRFactorGetArrays_Private(F, f, PETSC_FALSE, &a));
    err = MatGPUCSRFactorCheckUnderflow(f, &a);
    PetscCall(MatGPUCSRFactorRestoreArrays_Private(F, f, &a));
    PetscCall(err);
  }
  for (int which = 0; which < 2; which++) {
    const PetscBool unit = (PetscBool)(!f->cholesky && which == (int)transpose);

    PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, GpTriSetDeviceValues(&s->tri[which], factor->val, f->cholesky ? -1 : 1, unit ? NULL : factor->pivot));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds what a side lacks. */
static PetscErrorCode MatGPUCSRFactorBuildSide(MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, PetscBool transpose, MatGPUCSRSide *s)
{
  const int32_t *map;

  PetscFunctionBegin;
  if (!f->w) PetscCallGp(f->dev, MAT_GPUCSR_FACTOR_WHAT, GpDevAlloc(f->dev, 2 * (size_t)f->n * sizeof(double), &f->w));
  for (int which = 0; which < 2; which++) {
    if (!s->tri[which].dev) PetscCall(MatGPUCSRFactorCreateTriangle(f, a, transpose, which, &s->tri[which]));
  }
  PetscCall(MatGPUCSRFactorGetMap_Private(f, s, MAT_GPUCSR_MAP_IN, &map));
  PetscCall(MatGPUCSRFactorGetMap_Private(f, s, MAT_GPUCSR_MAP_LINK, &map));
  PetscCall(MatGPUCSRFactorGetMap_Private(f, s, MAT_GPUCSR_MAP_OUT, &map));
  f->flops = (f->cholesky ? 4.0 : 2.0) * (PetscLogDouble)a->nnz - (f->cholesky ? 3.0 : 1.0) * (PetscLogDouble)f->n;
  s->built = PETSC_TRUE;
  MatGPUCSRFactorTrimPattern_Private(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error the side can be built again. */
PetscErrorCode MatGPUCSRFactorGetSide_Private(Mat F, MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSide **side)
{
  const PetscBool       device = f->numeric.current;
  MatGPUCSRSide        *s      = &f->side[transpose && !f->cholesky];
  MatGPUCSRFactorArrays a;
  PetscErrorCode        err = PETSC_SUCCESS;

  PetscFunctionBegin;
  *side = s;
  if (s->built && s->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Factor, F, 0, 0, 0));
  if (!s->built || !device) {
    PetscCall(MatGPUCSRFactorGetArrays_Private(F, f, (PetscBool)!s->built, &a));
    if (!s->built) err = MatGPUCSRFactorBuildSide(f, &a, transpose, s);
    if (!err && !device) err = MatGPUCSRFactorSetValues(f, &a, transpose, s);
    PetscCall(MatGPUCSRFactorRestoreArrays_Private(F, f, &a));
  }
  if (!err && device) err = MatGPUCSRFactorSetDeviceValues(F, f, transpose, s);
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Factor, F, 0, 0, 0));
  PetscCall(err);
  s->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatGPUCSRFactorResetSides_Private(MatGPUCSRFactor *f)
{
  for (int side = 0; side < 2; side++) {
    for (int which = 0; which < 2; which++) GpTriDestroy(&f->side[side].tri[which]);
    for (int map = 0; map < MAT_GPUCSR_MAPS; map++) GpDevFree(f->dev, &f->side[side].map[map], (size_t)f->n * sizeof(int32_t));
    f->side[side] = (MatGPUCSRSide){0};
  }
  GpDevFree(f->dev, &f->w, 2 * (size_t)f->n * sizeof(double));
}
