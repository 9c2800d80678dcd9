/* MatSolve() and its variants with a factor of the solver type gpucsr. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

/* Launches the solves with one or both triangles. */
static PetscErrorCode MatGPUCSRFactorLaunch(MatGPUCSRFactor *f, MatGPUCSRSide *s, PetscBool transpose, MatGPUCSRSolveKind kind, const double *b, const double *add, double *x)
{
  const PetscBool     first = (PetscBool)(kind != MAT_GPUCSR_SOLVE_BACKWARD), last = (PetscBool)(kind != MAT_GPUCSR_SOLVE_FORWARD);
  const int32_t      *rows = NULL;
  GpTriVectors        one = {b, s->map[MAT_GPUCSR_MAP_IN], f->w, NULL, NULL, NULL, GP_TRI_UNIT}, two = {f->w, s->map[MAT_GPUCSR_MAP_LINK], f->w + f->n, x, s->map[MAT_GPUCSR_MAP_OUT], add, GP_TRI_UNIT};
  const GpTriDiagonal after = f->cholesky ? GP_TRI_BEFORE : GP_TRI_AFTER;

  PetscFunctionBegin;
  if (transpose && !f->cholesky) one.diagonal = after;
  else two.diagonal = after;
  if (!last) {
    PetscCall(MatGPUCSRFactorGetMap_Private(f, s, MAT_GPUCSR_MAP_FIRST, &rows));
    one.diagonal = GP_TRI_OUT_ROOT;
    one.out      = rows;
    one.x        = x;
  }
  if (!first) {
    PetscCall(MatGPUCSRFactorGetMap_Private(f, s, MAT_GPUCSR_MAP_LAST, &rows));
    two.diagonal = GP_TRI_BEFORE_ROOT;
    two.in       = rows;
    two.b        = b;
  }
  PetscCall(PetscGPUCSRLogTimeBegin_Private(f->dev));
  PetscCallGp(f->dev, "triangular solve", GpTriReset(f->dev, f->w, 2 * (int64_t)f->n));
  if (first) PetscCallGp(f->dev, "triangular solve", GpTriSolve(&s->tri[0], &one));
  if (last) PetscCallGp(f->dev, "triangular solve", GpTriSolve(&s->tri[1], &two));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(f->dev));
  PetscCall(PetscGPUCSRLogFlops_Private(f->dev, first && last ? f->flops : f->flops / 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds what the solve lacks on the device. */
static PetscErrorCode MatGPUCSRFactorBuild(Mat F, MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSide **side)
{
  PetscFunctionBegin;
  *side = NULL;
  if (f->trisolve == MAT_GPUCSR_TRISOLVE_EXACT) PetscCall(MatGPUCSRFactorGetSide_Private(F, f, transpose, side));
  else PetscCall(MatGPUCSRFactorGetApprox_Private(F, f, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the factor to the device.  If it does not fit and the user allows it, PETSc's solves, on the host, replace ours. */
static PetscErrorCode MatGPUCSRFactorPrepare(Mat F, MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSide **side)
{
  PetscErrorCode err = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (f->allowhost) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatGPUCSRFactorBuild(F, f, transpose, side);
    PetscCall(PetscPopErrorHandler());
    if (!err) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (err != PETSC_ERR_MEM) PetscCall(MatGPUCSRFactorBuild(F, f, transpose, side)); /* raises other errors again, with their messages */
  else {
    PetscCall(PetscInfo(F, "The factor stays on the host (-mat_gpucsr_factor_host): %s\n", GpDevError(f->dev)));
    MatGPUCSRFactorResetSides_Private(f);
    PetscCall(MatGPUCSRFactorResetApprox_Private(f));
    PetscCall(MatGPUCSRFactorDownload_Private(F, f));
    f->onhost                 = PETSC_TRUE;
    F->ops->solve             = f->solves.solve;
    F->ops->solvetranspose    = f->solves.solvetranspose;
    F->ops->solveadd          = f->solves.solveadd;
    F->ops->solvetransposeadd = f->solves.solvetransposeadd;
    F->ops->forwardsolve      = f->solves.forwardsolve;
    F->ops->backwardsolve     = f->solves.backwardsolve;
    F->ops->matsolve          = f->solves.matsolve;
    F->ops->matsolvetranspose = f->solves.matsolvetranspose;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve by PETSc.  The arguments are those of MatGPUCSRFactorSolve(). */
static PetscErrorCode MatGPUCSRFactorSolveOnHost(Mat F, PetscBool transpose, MatGPUCSRSolveKind kind, Vec b, Vec y, Vec x)
{
  PetscFunctionBegin;
  if (kind == MAT_GPUCSR_SOLVE_FORWARD) PetscUseTypeMethod(F, forwardsolve, b, x);
  else if (kind == MAT_GPUCSR_SOLVE_BACKWARD) PetscUseTypeMethod(F, backwardsolve, b, x);
  else if (y && transpose) PetscUseTypeMethod(F, solvetransposeadd, b, y, x);
  else if (y) PetscUseTypeMethod(F, solveadd, b, y, x);
  else if (transpose) PetscUseTypeMethod(F, solvetranspose, b, x);
  else PetscUseTypeMethod(F, solve, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes x = F^-1 b, or x = F^-1 b + y.  y may be NULL or x. */
static PetscErrorCode MatGPUCSRFactorSolve(Mat F, PetscBool transpose, MatGPUCSRSolveKind kind, Vec b, Vec y, Vec x)
{
  const char       mode = y == x ? 'b' : 'w';
  const PetscInt   n    = F->rmap->n;
  MatGPUCSRFactor *f;
  MatGPUCSRSide   *side = NULL;
  MatGPUCSRVec     ba, xa, ya = {0};

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorGet_Private(F, &f));
  PetscCall(MatGPUCSRFactorPrepare(F, f, transpose, &side));
  if (f->onhost) {
    PetscCall(MatGPUCSRFactorSolveOnHost(F, transpose, kind, b, y, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(kind == MAT_GPUCSR_SOLVE_BOTH || !f->indefinite, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s with a %s factor: the diagonal has negative entries, but a solve with one triangle needs their square roots; use MatSolve()",
             kind == MAT_GPUCSR_SOLVE_FORWARD ? "MatForwardSolve()" : "MatBackwardSolve()", MatFactorTypes[F->factortype]);
  PetscCall(MatGPUCSRVecGetArray_Private(f->dev, b, 'r', &ba));
  PetscCall(MatGPUCSRVecStage_Private(F, f->dev, &f->vector[0], n, PETSC_TRUE, &ba));
  PetscCall(MatGPUCSRVecGetArray_Private(f->dev, x, mode, &xa));
  PetscCall(MatGPUCSRVecStage_Private(F, f->dev, &f->vector[2], n, (PetscBool)(y == x), &xa));
  if (y && y != x) {
    PetscCall(MatGPUCSRVecGetArray_Private(f->dev, y, 'r', &ya));
    PetscCall(MatGPUCSRVecStage_Private(F, f->dev, &f->vector[1], n, PETSC_TRUE, &ya));
  } else if (y) ya = xa;
  if (side) PetscCall(MatGPUCSRFactorLaunch(f, side, transpose, kind, ba.device, y ? ya.device : NULL, xa.device));
  else PetscCall(MatGPUCSRFactorSweep_Private(f, transpose, kind, ba.device, y ? ya.device : NULL, xa.device));
  PetscCall(MatGPUCSRVecUnstage_Private(F, f->dev, n, &xa));
  if (y && y != x) PetscCall(MatGPUCSRVecRestoreArray_Private(y, 'r', &ya));
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, mode, &xa));
  PetscCall(MatGPUCSRVecRestoreArray_Private(b, 'r', &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SOLVE(Name, transpose, kind) \
  static PetscErrorCode Mat##Name##_SolverGPUCSR(Mat F, Vec b, Vec x) \
  { \
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRFactorSolve(F, transpose, kind, b, NULL, x)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
SOLVE(Solve, PETSC_FALSE, MAT_GPUCSR_SOLVE_BOTH)
SOLVE(SolveTranspose, PETSC_TRUE, MAT_GPUCSR_SOLVE_BOTH)
SOLVE(ForwardSolve, PETSC_FALSE, MAT_GPUCSR_SOLVE_FORWARD)
SOLVE(BackwardSolve, PETSC_FALSE, MAT_GPUCSR_SOLVE_BACKWARD)

static PetscErrorCode MatSolveAdd_SolverGPUCSR(Mat F, Vec b, Vec y, Vec x)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorSolve(F, PETSC_FALSE, MAT_GPUCSR_SOLVE_BOTH, b, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTransposeAdd_SolverGPUCSR(Mat F, Vec b, Vec y, Vec x)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorSolve(F, PETSC_TRUE, MAT_GPUCSR_SOLVE_BOTH, b, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds where the factor was computed, and how approximate solves, or solves on the host, are done, to what PETSc prints of the factor. */
static PetscErrorCode MatView_SolverGPUCSR(Mat F, PetscViewer viewer)
{
  MatGPUCSRFactor  *f;
  PetscViewerFormat format;
  PetscBool         ascii, info;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorGet_Private(F, &f));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  info = (PetscBool)(ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL));
  if (!info) PetscCall(MatGPUCSRFactorDownload_Private(F, f)); /* PETSc prints values */
  PetscCall((*f->view)(F, viewer));
  if (!info) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->numeric.host) PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: numeric factorisation: on the host (%s)\n", f->numeric.host));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: numeric factorisation: on the device\n"));
  if (f->onhost) PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: triangular solves: on the host, because the factor does not fit the device memory\n"));
  if (f->onhost || f->trisolve == MAT_GPUCSR_TRISOLVE_EXACT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: triangular solves: %s, at most %" PetscInt_FMT " sweep%s\n", MatGPUCSRTrisolves[f->trisolve], f->sweeps, f->sweeps == 1 ? "" : "s"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the solves that PETSc's numeric factorisation has set.  Without matsolve and matsolvetranspose, MatMatSolve() and MatMatSolveTranspose() solve column by column with
   the operations set here. */
PetscErrorCode MatGPUCSRFactorSetSolves_Private(Mat F, MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  f->solves          = *F->ops;
  f->onhost          = PETSC_FALSE;
  f->side[0].current = f->side[1].current = f->approx.current = PETSC_FALSE;
  F->ops->solve                                               = MatSolve_SolverGPUCSR;
  F->ops->solvetranspose                                      = MatSolveTranspose_SolverGPUCSR;
  if (F->ops->solveadd) F->ops->solveadd = MatSolveAdd_SolverGPUCSR;
  if (F->ops->solvetransposeadd) F->ops->solvetransposeadd = MatSolveTransposeAdd_SolverGPUCSR;
  if (F->ops->forwardsolve) F->ops->forwardsolve = MatForwardSolve_SolverGPUCSR;
  if (F->ops->backwardsolve) F->ops->backwardsolve = MatBackwardSolve_SolverGPUCSR;
  if (F->ops->view != MatView_SolverGPUCSR) {
    f->view      = F->ops->view;
    F->ops->view = MatView_SolverGPUCSR;
  }
  F->ops->matsolve          = NULL;
  F->ops->matsolvetranspose = NULL;
  PetscCall(MatGPUCSRFactorSetReads_Private(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
