/* The PC type gpupoly: a polynomial of the scaled matrix, applied by products and vector operations. */
/* MANSEC = PC */
#include "pc/impls/gpupoly/gpupoly.h"
#include <math.h>

const char *const PCGPUPolyTypes[]  = {"chebyshev", "leastsquares", "PCGPUPolyType", "PC_GPUPOLY_", NULL};
const char *const PCGPUPolyScales[] = {"jacobi", "none", "PCGPUPolyScale", "PC_GPUPOLY_SCALE_", NULL};

static PetscErrorCode PCReset_GPUPoly(PC pc)
{
  PC_GPUPoly *poly = (PC_GPUPoly *)pc->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&poly->inverse));
  PetscCall(VecDestroy(&poly->work[0]));
  PetscCall(VecDestroy(&poly->work[1]));
  PetscCall(VecDestroy(&poly->start));
  PetscCall(PetscFree2(poly->omega, poly->alpha));
  PetscCall(PCGPUPolyFreeRecorded_Private(poly));
  poly->ready   = PETSC_FALSE;
  poly->failure = NULL;
  poly->matrix  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GPUPoly(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_GPUPoly(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces zeros of the diagonal by ones, as PCJACOBI does: a semidefinite matrix has zeros only in rows without other nonzeros. */
static PetscErrorCode PCGPUPolyFixZeros(Vec diagonal)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(diagonal, &n));
  PetscCall(VecGetArray(diagonal, &a));
  for (PetscInt i = 0; i < n; i++) {
    if (a[i] == 0) a[i] = 1;
  }
  PetscCall(VecRestoreArray(diagonal, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets poly->inverse to D^-1. */
static PetscErrorCode PCGPUPolyInvertDiagonal(PC pc, PC_GPUPoly *poly)
{
  PetscReal least, norm;

  PetscFunctionBegin;
  if (!poly->inverse) PetscCall(VecDuplicate(poly->work[0], &poly->inverse));
  PetscCall(MatGetDiagonal(pc->pmat, poly->inverse));
  PetscCall(VecNorm(poly->inverse, NORM_1, &norm));
  PetscCall(VecMin(poly->inverse, NULL, &least));
  if (PetscIsInfOrNanReal(norm)) poly->failure = "the diagonal of the matrix contains numbers that are not finite";
  else if (least < 0) poly->failure = "the diagonal of the matrix contains negative numbers, so the matrix is not positive definite";
  if (poly->failure) PetscFunctionReturn(PETSC_SUCCESS);
  if (least == 0) PetscCall(PCGPUPolyFixZeros(poly->inverse));
  PetscCall(VecReciprocal(poly->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the bounds that were given, or computes them. */
static PetscErrorCode PCGPUPolySetBounds(PC pc, PC_GPUPoly *poly)
{
  Vec root = NULL;

  PetscFunctionBegin;
  poly->ratio_used  = PETSC_FALSE;
  poly->unsymmetric = PETSC_FALSE;
  if (poly->given) {
    PetscCheck(poly->given_low > 0 || poly->type != PC_GPUPOLY_CHEBYSHEV, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "The lower bound of the eigenvalues is 0, but Chebyshev polynomials need a positive one; give another one by -pc_gpupoly_eigenvalues, or use -pc_gpupoly_type leastsquares");
    poly->low  = poly->given_low;
    poly->high = poly->given_high;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (poly->inverse) {
    PetscCall(VecDuplicate(poly->inverse, &root));
    PetscCall(VecCopy(poly->inverse, root));
    PetscCall(VecSqrtAbs(root));
  }
  PetscCall(PCGPUPolyGetBounds_Private(pc, poly, root));
  PetscCall(VecDestroy(&root));
  PetscCheck(!poly->unsymmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "The matrix is not symmetric, so Lanczos steps give " PCGPUPOLY " no bounds of the eigenvalues; give bounds by -pc_gpupoly_eigenvalues");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUPolyFail(PC pc, PC_GPUPoly *poly)
{
  PetscFunctionBegin;
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_CONV_FAILED, "The preconditioner " PCGPUPOLY " cannot be set up: %s", poly->failure);
  PetscCall(PetscInfo(pc, "The preconditioner " PCGPUPOLY " cannot be set up: %s\n", poly->failure));
  pc->failedreason = PC_SETUP_ERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GPUPoly(PC pc)
{
  PC_GPUPoly   *poly = (PC_GPUPoly *)pc->data;
  PetscInt      m, n;
  PetscObjectId matrix;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCheck(m == n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The preconditioner " PCGPUPOLY " needs a square matrix whose row and column layouts are equal, but a rank has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", m, n);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &matrix));
  if (matrix != poly->matrix) PetscCall(PCReset_GPUPoly(pc)); /* another matrix may have vectors of another type */
  poly->matrix     = matrix;
  poly->failure    = NULL;
  poly->ready      = PETSC_FALSE;
  pc->failedreason = PC_NOERROR;
  if (!poly->work[0]) {
    PetscCall(MatCreateVecs(pc->pmat, &poly->work[0], NULL));
    PetscCall(VecDuplicate(poly->work[0], &poly->work[1]));
  }
  if (poly->scale == PC_GPUPOLY_SCALE_JACOBI) PetscCall(PCGPUPolyInvertDiagonal(pc, poly));
  else PetscCall(VecDestroy(&poly->inverse));
  if (!poly->failure) PetscCall(PCGPUPolySetBounds(pc, poly));
  if (poly->failure) {
    PetscCall(PCGPUPolyFail(pc, poly));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscFree2(poly->omega, poly->alpha));
  PetscCall(PetscMalloc2(poly->degree + 1, &poly->omega, poly->degree + 1, &poly->alpha));
  PetscCall(PCGPUPolyGetCoefficients_Private(poly->type, poly->low, poly->high, poly->degree, poly->omega, poly->alpha));
  if (poly->inverse) PetscCall(VecScale(poly->inverse, poly->degree ? -poly->alpha[0] : poly->alpha[0]));
  poly->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = r + A v, or r + A' v */
static PetscErrorCode PCGPUPolyMultAdd(Mat A, PetscBool transpose, Vec v, Vec r, Vec w)
{
  PetscBool has;

  PetscFunctionBegin;
  PetscCall(MatHasOperation(A, transpose ? MATOP_MULT_TRANSPOSE_ADD : MATOP_MULT_ADD, &has));
  if (has && transpose) PetscCall(MatMultTransposeAdd(A, v, r, w));
  else if (has) PetscCall(MatMultAdd(A, v, r, w));
  else {
    if (transpose) PetscCall(MatMultTranspose(A, v, w));
    else PetscCall(MatMult(A, v, w));
    PetscCall(VecAXPY(w, 1, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z = P(D^-1 A) D^-1 r, or the same with A'.

   The iterates are v[k] = -y[k], so that a product that adds r gives r + A v[k] = r - A y[k].  The last iterate gets the opposite sign.  As poly->inverse is
   -alpha[0] D^-1, multiplying r by it gives v[1].  The vectors are assigned such that the last iterate is z. */
static PetscErrorCode PCGPUPolyApply(PC pc, PetscBool transpose, Vec r, Vec z)
{
  const PC_GPUPoly *poly = (const PC_GPUPoly *)pc->data;
  const PetscInt    d    = poly->degree;
  Vec               v = d % 2 ? poly->work[0] : z, before = d % 2 ? z : poly->work[0], w = before;

  PetscFunctionBegin;
  if (!poly->ready) {               /* a solver stops at a norm that is not finite */
    PetscCall(VecSet(z, INFINITY)); /* PETSC_INFINITY is a finite number */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (poly->inverse) PetscCall(VecPointwiseMult(v, poly->inverse, r));
  else PetscCall(VecAXPBY(v, d ? -poly->alpha[0] : poly->alpha[0], 0, r));
  for (PetscInt k = 1; k <= d; k++) {
    const PetscReal sign = k < d ? 1 : -1, a = sign * (poly->inverse ? poly->alpha[k] / poly->alpha[0] : -poly->alpha[k]);

    PetscCall(PCGPUPolyMultAdd(pc->pmat, transpose, v, r, w));
    if (poly->inverse) PetscCall(VecPointwiseMult(w, poly->inverse, w));
    if (k == 1) PetscCall(VecAXPBY(before, sign * poly->omega[k], a, v)); /* w is before, and v[0] is 0 */
    else PetscCall(VecAXPBYPCZ(before, a, sign * poly->omega[k], sign * (1 - poly->omega[k]), w, v));
    w      = v;
    v      = before;
    before = w;
    w      = poly->work[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_GPUPoly(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCGPUPolyApply(pc, PETSC_FALSE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose of P(D^-1 A) D^-1 is P(D^-1 A') D^-1. */
static PetscErrorCode PCApplyTranspose_GPUPoly(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCGPUPolyApply(pc, PETSC_TRUE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_GPUPoly(PC pc, PetscViewer viewer)
{
  const PC_GPUPoly    *poly = (const PC_GPUPoly *)pc->data;
  const PCGPUPolyRitz *ritz = &poly->ritz;
  PetscBool            ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  type %s, degree %" PetscInt_FMT " (products in one application), scale %s\n", PCGPUPolyTypes[poly->type], poly->degree, PCGPUPolyScales[poly->scale]));
  if (poly->failure) PetscCall(PetscViewerASCIIPrintf(viewer, "  the set-up failed: %s\n", poly->failure));
  else if (poly->given) PetscCall(PetscViewerASCIIPrintf(viewer, "  bounds of the eigenvalues: [%g, %g], given\n", (double)poly->given_low, (double)poly->given_high));
  else if (!poly->ready) PetscCall(PetscViewerASCIIPrintf(viewer, "  bounds of the eigenvalues: not yet computed, by at most %" PetscInt_FMT " Lanczos steps\n", poly->steps));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  bounds of the eigenvalues: [%g, %g], computed\n", (double)poly->low, (double)poly->high));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Ritz values of %" PetscInt_FMT " Lanczos steps: from %g to %g\n", ritz->steps, (double)ritz->low, (double)ritz->high));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    upper bound: largest Ritz value plus its residual, plus 1 %%\n"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    lower bound: %s\n", !poly->ratio_used ? "smallest Ritz value less its residual" : poly->low ? "upper bound divided by the ratio" : "0"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_GPUPoly(PC pc, GpOptionItems PetscOptionsObject)
{
  const PC_GPUPoly *poly    = (const PC_GPUPoly *)pc->data;
  PCGPUPolyType     type    = poly->type;
  PCGPUPolyScale    scale   = poly->scale;
  MatGPUCSRStorage  storage = poly->storage;
  PetscInt          degree = poly->degree, steps = poly->steps, n = 2;
  PetscReal         ratio = poly->ratio, bounds[2] = {0, 0};
  PetscBool         set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "gpupoly options");
  PetscCall(PetscOptionsEnum("-pc_gpupoly_type", "How the polynomial is chosen", "PCGPUPolySetType", PCGPUPolyTypes, (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCGPUPolySetType(pc, type));
  PetscCall(PetscOptionsEnum("-pc_gpupoly_scale", "Scaling of the matrix", "PCGPUPolySetScale", PCGPUPolyScales, (PetscEnum)scale, (PetscEnum *)&scale, &set));
  if (set) PetscCall(PCGPUPolySetScale(pc, scale));
  PetscCall(PetscOptionsInt("-pc_gpupoly_degree", "Degree of the polynomial, the number of products in one application", "PCGPUPolySetDegree", degree, &degree, &set));
  if (set) PetscCall(PCGPUPolySetDegree(pc, degree));
  PetscCall(PetscOptionsRealArray("-pc_gpupoly_eigenvalues", "Lower and upper bound of the eigenvalues of the scaled matrix", "PCGPUPolySetEigenvalues", bounds, &n, &set));
  PetscCheck(!set || n == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "-pc_gpupoly_eigenvalues needs two numbers, a lower and an upper bound, separated by a comma");
  if (set) PetscCall(PCGPUPolySetEigenvalues(pc, bounds[0], bounds[1]));
  PetscCall(PetscOptionsInt("-pc_gpupoly_lanczos_steps", "Maximum number of Lanczos steps that compute the bounds", "PCGPUPolySetLanczosSteps", steps, &steps, &set));
  if (set) PetscCall(PCGPUPolySetLanczosSteps(pc, steps));
  PetscCall(PetscOptionsReal("-pc_gpupoly_ratio", "Largest quotient of the computed bounds; 0: the default of the type", "PCGPUPolySetRatio", ratio, &ratio, &set));
  if (set) PetscCall(PCGPUPolySetRatio(pc, ratio));
  PetscCall(PetscOptionsEnum("-pc_gpupoly_storage", "Precision of the matrix in the loop of a Krylov method on the device", "PCGPUPolySetStorage", MatGPUCSRStorages, (PetscEnum)storage, (PetscEnum *)&storage, &set));
  if (set) PetscCall(PCGPUPolySetStorage(pc, storage));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCGPUPOLY - PCGPUPOLY = "gpupoly" - A polynomial of the matrix scaled by its diagonal. An application consists of products with the matrix and vector operations, and has no inner products

  Options Database Keys:
+ -pc_type gpupoly                   - sets the type
. -pc_gpupoly_type <chebyshev>       - chebyshev or leastsquares
. -pc_gpupoly_degree <8>             - degree of the polynomial, the number of products in one application
. -pc_gpupoly_scale <jacobi>         - jacobi or none
. -pc_gpupoly_eigenvalues <low,high> - bounds of the eigenvalues of the scaled matrix; if not given, they are computed
. -pc_gpupoly_lanczos_steps <15>     - maximum number of Lanczos steps that compute the bounds
. -pc_gpupoly_ratio <ratio>          - upper limit for the quotient of the computed upper and lower bound; default min(300, 1.5 (degree + 1)^2) for chebyshev, unlimited for leastsquares
- -pc_gpupoly_storage <single>       - precision of the matrix in the loop of `gpucg` and similar Krylov methods: single, or double for that of the matrix

  Level: intermediate

  Notes:
  The preconditioner is P(D^-1 A) D^-1, where D is the diagonal of the matrix A, or the identity, and P a polynomial with t P(t) close to 1 on an interval [a, b] that contains the eigenvalues of
  D^-1 A. For a symmetric positive definite matrix the preconditioner is symmetric positive definite, so `KSPCG` may use it.

  Both kinds of polynomials are positive on (0, b], so a lower bound above the smallest eigenvalue is allowed. The upper bound must not be below the largest eigenvalue. With an even degree the
  polynomial is positive beyond b too, so a slightly smaller upper bound does no harm.

  The preconditioner uses only public operations of `Mat` and `Vec`, so it works with all matrix types. With matrices of type `MATGPUCSR` and vectors of type `VECGPU` it runs on the GPU. Only
  entries that products exchange between processes are copied between host and device.

  Krylov methods whose loop runs on the device, such as `gpucg`, apply the preconditioner in this loop. With `-pc_gpupoly_storage single` (default), its products then use a copy of the matrix with values in single
  precision, which takes additional device memory. The operator of the Krylov method keeps its precision.

  `PCGPUPolySetType()` and similar functions have no effect if the preconditioner has another type. Call `PCSetType()` first.

  `PCSetUp()` computes the bounds, and computes them again for a new matrix and for new values. This is possible for symmetric matrices only. For other matrices `PCSetUp()` stops with an error. Set bounds of the real parts of the eigenvalues with
  `PCGPUPolySetEigenvalues()` instead. The preconditioner is then useful if the eigenvalues are close to the positive real axis. Use a Krylov method for nonsymmetric matrices.

  If a diagonal entry or a Ritz value is negative, or a computed number is not finite, `KSPSolve()` stops with `KSP_DIVERGED_PC_FAILED`. `-info` prints the reason.

  References:
+ * - Y. Saad, Iterative solution of indefinite symmetric linear systems by methods using orthogonal polynomials over two disjoint intervals, SIAM J. Numer. Anal. 20 (1983)
. * - Y. Saad, Practical use of polynomial preconditionings for the conjugate gradient method, SIAM J. Sci. Stat. Comput. 6 (1985)
- * - Y. Zhou and R.-C. Li, Bounding the spectrum of large Hermitian matrices, Linear Algebra Appl. 435 (2011)

.seealso: `PCGPUPolySetType()`, `PCGPUPolySetStorage()`, `PCGPUPolySetDegree()`, `PCGPUPolySetScale()`, `PCGPUPolySetEigenvalues()`, `PCGPUPolyGetEigenvalues()`, `PCGPUPolySetLanczosSteps()`, `PCGPUPolySetRatio()`, `MATGPUCSR`, `VECGPU`, `PCJACOBI`, `KSPCHEBYSHEV`
M*/
PetscErrorCode PCCreate_GPUPoly(PC pc)
{
  PC_GPUPoly *poly;

  PetscFunctionBegin;
  PetscCall(PetscNew(&poly));
  poly->type              = PC_GPUPOLY_CHEBYSHEV;
  poly->scale             = PC_GPUPOLY_SCALE_JACOBI;
  poly->degree            = 8;
  poly->steps             = 15;
  poly->storage           = MAT_GPUCSR_STORAGE_SINGLE;
  pc->data                = poly;
  pc->ops->setup          = PCSetUp_GPUPoly;
  pc->ops->apply          = PCApply_GPUPoly;
  pc->ops->applytranspose = PCApplyTranspose_GPUPoly;
  pc->ops->setfromoptions = PCSetFromOptions_GPUPoly;
  pc->ops->view           = PCView_GPUPoly;
  pc->ops->reset          = PCReset_GPUPoly;
  pc->ops->destroy        = PCDestroy_GPUPoly;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, PCGPUPolyGetRecorded_GPUPoly));
  PetscFunctionReturn(PETSC_SUCCESS);
}
