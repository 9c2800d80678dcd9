/* Stationary iterations: power, power with quadratic extrapolation, inner-outer; and the stopping test of all methods. Every method stops on the
   residual of the vector that it returns. Therefore the bound on the error holds independently of how the method arrived at the vector. */
#include "pagerankimpl.h"
#include <math.h>

const char *const Methods[] = {"power", "inner_outer", "gauss_seidel", "jacobi", "ksp", "eps", "Method", "", NULL};

/* Progress in percent from the first error bound to the tolerance, on a logarithmic scale, because convergence is linear. */
static double ComputeProgress(const SolveOptions *o, const SolveResult *R)
{
  if (R->bound <= o->tolerance) return 100;
  return R->bound < R->first ? 100 * log((double)(R->first / R->bound)) / log((double)(R->first / o->tolerance)) : 0;
}

/* The factor below 1 covers the rounding of the division in SolveCheck(): a residual that passes a test against this target passes SolveCheck() too. */
PetscReal SolveTarget(const Google *g, const SolveOptions *o)
{
  return o->tolerance * (1 - g->damping) * (1 - 4 * PETSC_MACHINE_EPSILON);
}

/* Records the residual of the current iterate, prints it for -monitor, and sets R->reason if the iteration stops. */
PetscErrorCode SolveCheck(Google *g, const SolveOptions *o, PetscReal norm1, SolveResult *R)
{
  PetscFunctionBegin;
  R->residual = norm1;
  R->bound    = norm1 / (1 - g->damping);
  if (R->first == 0) R->first = R->bound;
  if (o->monitor) PetscCall(PetscPrintf(g->graph->comm, "%4" PetscInt_FMT " residual %.6e error bound %.6e %5.1f %%\n", R->iterations, (double)R->residual, (double)R->bound, ComputeProgress(o, R)));
  PetscCheck(norm1 <= PETSC_MAX_REAL, g->graph->comm, PETSC_ERR_FP, "The residual of iteration %" PetscInt_FMT " is infinite or not a number", R->iterations);
  if (R->bound <= o->tolerance) {
    R->converged = PETSC_TRUE;
    R->reason    = "CONVERGED_ERROR_BOUND";
  } else if (R->iterations >= o->max_it) R->reason = "DIVERGED_ITS";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs before each call of a KSP or EPS, which stops on its own norm and is called until the 1-norm of the residual is small enough. Scales x to sum
   1, the sum of the exact ranks, unless rank is dropped. norm1: 1-norm of the residual; on entry that of the round before, PETSC_MAX_REAL in the
   first round. */
PetscErrorCode SolveRound(Google *g, const SolveOptions *o, Vec x, Vec r, PetscReal *norm1, SolveResult *R)
{
  const PetscReal last = *norm1;
  PetscReal       sum;

  PetscFunctionBegin;
  if (g->isdangling || !g->ndangling) {
    PetscCall(RanksSum(x, &sum));
    PetscCall(VecScale(x, 1 / sum));
  }
  PetscCall(GooglePull(g, x, r));
  PetscCall(GoogleResidual(g, x, r, r, norm1));
  PetscCall(SolveCheck(g, o, *norm1, R));
  if (!R->reason && *norm1 > 0.5 * last) R->reason = "DIVERGED_STAGNATION"; /* the residual is at the level of rounding errors, or the solver does not converge */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Quadratic extrapolation. d holds the last three differences d0, d1, d2 of the iterates. If the error consists of two eigenvectors besides the
   dominant one, the differences satisfy c0 d0 + c1 d1 + d2 = 0. A least-squares fit gives c0 and c1, and x is replaced by the combination of iterates
   in which both eigenvectors cancel. S. Kamvar, T. Haveliwala, C. Manning, G. Golub, "Extrapolation methods for accelerating PageRank computations",
   WWW 2003. */
static PetscErrorCode ExtrapolateRanks(Vec x, Vec d[3])
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

static PetscErrorCode SolvePower(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  Vec      *d;
  PetscReal norm1;
  PetscInt  since = 0; /* iterations since the last extrapolation */

  PetscFunctionBegin;
  if (g->loop) {
    PetscCall(LoopRun(g, o, x, R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicateVecs(x, o->extrapolate ? 3 : 1, &d));
  while (1) {
    Vec r = d[0];

    PetscCall(GooglePull(g, x, r));
    PetscCall(GoogleResidual(g, x, r, r, &norm1));
    PetscCall(SolveCheck(g, o, norm1, R));
    if (R->reason) break;
    PetscCall(VecAXPY(x, 1.0, r));
    R->iterations++;
    if (!o->extrapolate) continue;
    d[0] = d[1]; /* d is kept in the order of age, and the newest difference is the last */
    d[1] = d[2];
    d[2] = r;
    if (++since < PetscMax(o->extrapolate, 3)) continue;
    PetscCall(ExtrapolateRanks(x, d));
    since = 0;
  }
  PetscCall(VecDestroyVecs(o->extrapolate ? 3 : 1, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inner-outer iteration: each outer step solves a system with smaller damping approximately, by a few inner power steps.
   D. Gleich, A. Gray, C. Greif, T. Lau, "An inner-outer iteration for computing PageRank", SIAM J. Sci. Comput. 32 (2010). */
static PetscErrorCode SolveInnerOuter(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  const PetscReal beta = o->inner_damping;
  PetscReal       norm1, inner;
  Vec             y, f, r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &f));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(GooglePull(g, x, y));
  while (1) {
    PetscCall(GoogleResidual(g, x, y, r, &norm1));
    PetscCall(SolveCheck(g, o, norm1, R));
    if (R->reason) break;
    PetscCall(VecCopy(g->v, f));
    PetscCall(VecAXPBY(f, g->damping - beta, 1 - g->damping, y));
    do { /* until x solves the inner system to the inner tolerance, or its residual is small compared with the outer one */
      PetscCall(VecWAXPY(x, beta, y, f));
      PetscCall(GooglePull(g, x, y));
      R->iterations++;
      PetscCall(VecWAXPY(r, beta, y, f));
      PetscCall(VecAXPY(r, -1.0, x));
      PetscCall(VecNorm(r, NORM_1, &inner));
    } while (inner >= o->inner_tolerance && R->iterations < o->max_it && inner > norm1 * (1 - beta) * 0.1);
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -monitor the host controls the iteration, because it prints every residual. */
PetscErrorCode SolveSetUp(Google *g, const SolveOptions *o)
{
  const PetscBool sweeps = (PetscBool)(o->method == METHOD_GAUSSSEIDEL), power = (PetscBool)(o->method == METHOD_POWER && !o->extrapolate);

  PetscFunctionBegin;
  if (sweeps) PetscCall(GaussSeidelSetUp(g));
  if ((sweeps || power) && o->device_loop && !o->monitor) PetscCall(LoopCreate(g, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Solve - Computes the fixed point of the Google operator by the selected method

  Collective

  Input Parameters:
+ g - the operator
. o - options
- x - initial ranks

  Output Parameters:
+ x - the ranks
- R - residual of x, bound on its error, and reason why the iteration stopped
*/
PetscErrorCode Solve(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  switch (o->method) {
  case METHOD_POWER:
    PetscCall(SolvePower(g, o, x, R));
    break;
  case METHOD_INNEROUTER:
    PetscCall(SolveInnerOuter(g, o, x, R));
    break;
  case METHOD_GAUSSSEIDEL:
    PetscCall(SolveGaussSeidel(g, o, x, R));
    break;
  case METHOD_JACOBI:
  case METHOD_KSP:
    PetscCall(SolveKSP(g, o, x, R));
    break;
  case METHOD_EPS:
    PetscCall(SolveEPS(g, o, x, R));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
