/* Power iterations, with and without quadratic extrapolation, and inner-outer iterations. */
#include "pagerankimpl.h"

/* Quadratic extrapolation. d holds the last three differences d0, d1, d2 of the iterates. If the error consists of two eigenvectors besides the
   dominant one, the differences satisfy c0 d0 + c1 d1 + d2 = 0. A least-squares fit gives c0 and c1, and x is replaced by the combination of iterates
   in which both eigenvectors cancel. S. Kamvar, T. Haveliwala, C. Manning, G. Golub, "Extrapolation methods for accelerating PageRank computations",
   WWW 2003. */
static PetscErrorCode PageRankExtrapolate(Vec x, Vec d[3])
{
  PetscScalar a00, a01, a11, b0, b1, determinant, c0, c1, sum, before;

  PetscFunctionBegin;
  PetscCall(VecDot(d[0], d[0], &a00));
  PetscCall(VecDot(d[0], d[1], &a01));
  PetscCall(VecDot(d[1], d[1], &a11));
  PetscCall(VecDot(d[0], d[2], &b0));
  PetscCall(VecDot(d[1], d[2], &b1));
  determinant = a00 * a11 - a01 * a01;
  if (!(determinant > 1e-12 * a00 * a11)) PetscFunctionReturn(PETSC_SUCCESS); /* the differences are nearly parallel, so the fit is singular */
  c0  = (a01 * b1 - a11 * b0) / determinant;
  c1  = (a01 * b0 - a00 * b1) / determinant;
  sum = c0 + c1 + 1 + c1 + 1 + 1;
  if (!(PetscAbsScalar(sum) > 1e-8)) PetscFunctionReturn(PETSC_SUCCESS);
  /* x = ((c0+c1+1) x0 + (c1+1) x1 + x2) / sum, where x2 is the newest iterate, x1 = x2 - d2 and x0 = x1 - d1 */
  PetscCall(VecSum(x, &before));
  PetscCall(VecAXPY(x, -(c0 + c1 + 1 + c1 + 1) / sum, d[2]));
  PetscCall(VecAXPY(x, -(c0 + c1 + 1) / sum, d[1]));
  PetscCall(VecAbs(x)); /* extrapolation can make ranks negative, and their absolute values are better estimates */
  PetscCall(VecSum(x, &sum));
  PetscCall(VecScale(x, before / sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Power iterations for n teleportation vectors v at once: one product of the matrix with several vectors serves all of them. The iteration stops on the
   largest residual. */
PetscErrorCode PageRankIteratePower_Private(PageRank pr, PetscInt n, const Vec v[], Vec x[])
{
  const PetscInt ny    = pr->extrapolate ? 3 : n; /* there is one vector x if ranks are extrapolated */
  PetscInt       since = 0;                       /* iterations since the last extrapolation */
  Vec           *y;
  PetscReal     *norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicateVecs(x[0], ny, &y));
  PetscCall(PetscCalloc1(n, &norm));
  while (1) {
    PetscReal worst = 0;
    Vec       newest;

    PetscCall(PageRankMultMany_Private(pr, n, v, x, y));
    for (PetscInt k = 0; k < n; k++) PetscCall(PageRankComputeResidual_Private(pr, v[k], x[k], y[k]));
    for (PetscInt k = 0; k < n; k++) PetscCall(VecNormBegin(y[k], NORM_1, &norm[k]));
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(VecNormEnd(y[k], NORM_1, &norm[k]));
      worst = norm[k] > worst || PetscIsInfOrNanReal(norm[k]) ? norm[k] : worst;
    }
    PetscCall(PageRankCheckResidual_Private(pr, worst));
    if (pr->reason) break;
    for (PetscInt k = 0; k < n; k++) PetscCall(VecAXPY(x[k], 1.0, y[k]));
    pr->it++;
    if (!pr->extrapolate) continue;
    newest = y[0]; /* y holds the differences in the order of age, and the newest is the last */
    y[0]   = y[1];
    y[1]   = y[2];
    y[2]   = newest;
    if (++since < PetscMax(pr->extrapolate, 3)) continue;
    PetscCall(PageRankExtrapolate(x[0], y));
    since = 0;
  }
  PetscCall(PetscFree(norm));
  PetscCall(VecDestroyVecs(ny, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankSolve_Power(PageRank pr, Vec x)
{
  PetscFunctionBegin;
  if (pr->loop) PetscCall(PageRankLoopRun_Private(pr, x));
  else PetscCall(PageRankIteratePower_Private(pr, 1, &pr->v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inner-outer iteration: each outer step solves a system with smaller damping approximately, by a few inner power steps.
   D. Gleich, A. Gray, C. Greif, T. Lau, "An inner-outer iteration for computing PageRank", SIAM J. Sci. Comput. 32 (2010). */
PetscErrorCode PageRankSolve_InnerOuter(PageRank pr, Vec x)
{
  const PetscReal beta = pr->inner_damping;
  PetscReal       norm1, inner;
  Vec            *work, y, f, r;

  PetscFunctionBegin;
  PetscCall(VecDuplicateVecs(x, 3, &work));
  y = work[0];
  f = work[1];
  r = work[2];
  PetscCall(PageRankMult(pr, x, y));
  while (1) {
    PetscCall(VecCopy(y, r));
    PetscCall(PageRankComputeResidual_Private(pr, pr->v, x, r));
    PetscCall(VecNorm(r, NORM_1, &norm1));
    PetscCall(PageRankCheckResidual_Private(pr, norm1));
    if (pr->reason) break;
    PetscCall(VecCopy(pr->v, f));
    PetscCall(VecAXPBY(f, pr->damping - beta, 1 - pr->damping, y));
    do { /* until x solves the inner system to the inner tolerance, or its residual is small compared with the outer one */
      PetscCall(VecWAXPY(x, beta, y, f));
      PetscCall(PageRankMult(pr, x, y));
      pr->it++;
      PetscCall(VecWAXPY(r, beta, y, f));
      PetscCall(VecAXPY(r, -1.0, x));
      PetscCall(VecNorm(r, NORM_1, &inner));
    } while (inner >= pr->inner_tolerance && pr->it < pr->max_it && inner > norm1 * (1 - beta) * 0.1);
  }
  PetscCall(VecDestroyVecs(3, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
