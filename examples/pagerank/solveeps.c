/* PageRank as an eigenvector, damping P x + (1 - damping) v (sum of x) = x, for any EPS of SLEPc. */
#include "pagerank.h"

#ifdef GP_HAVE_SLEPC
  #include <slepceps.h>

static PetscErrorCode MatMult_Google(Mat S, Vec x, Vec y)
{
  Google     *g;
  PetscScalar sum;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &g));
  PetscCall(GooglePull(g, x, y));
  PetscCall(VecSum(x, &sum));
  PetscCall(VecAXPBY(y, (1 - g->damping) * sum, g->damping, g->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the solver for the largest eigenvalue, which is 1, as no other one is larger than the damping */
static PetscErrorCode CreateEPS(Google *g, Mat S, EPS *eps_)
{
  EPS eps;

  PetscFunctionBegin;
  PetscCall(EPSCreate(g->graph->comm, &eps));
  PetscCall(EPSSetOptionsPrefix(eps, "pagerank_"));
  PetscCall(EPSSetOperators(eps, S, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_NHEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_MAGNITUDE));
  PetscCall(EPSSetFromOptions(eps));
  *eps_ = eps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* each round asks for a residual that is smaller by the factor which the last one missed */
PetscErrorCode SolveEPS(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  const PetscReal target = o->tolerance * (1 - g->damping);
  PetscReal       norm1 = PETSC_MAX_REAL, tol = target;
  PetscInt        n, its, found;
  VecType         type;
  Mat             S;
  Vec             r;
  EPS             eps;

  PetscFunctionBegin;
  PetscCheck(g->isdangling || !g->ndangling, g->graph->comm, PETSC_ERR_SUP, "Ranks are no eigenvector when dangling nodes drop theirs: -method eps does not go with -dangling drop");
  PetscCall(SlepcInitializeNoArguments());
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatCreateShell(g->graph->comm, n, n, g->graph->N, g->graph->N, g, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MatMult_Google));
  PetscCall(MatShellSetVecType(S, type));
  PetscCall(CreateEPS(g, S, &eps));
  while (1) {
    PetscCall(SolveRound(g, o, x, r, &norm1, R));
    if (R->reason) break;
    if (R->iterations) tol *= 0.5 * target / norm1;
    PetscCall(EPSSetTolerances(eps, tol, o->max_it - R->iterations));
    PetscCall(EPSSetInitialSpace(eps, 1, &x));
    PetscCall(EPSSolve(eps));
    PetscCall(EPSGetIterationNumber(eps, &its));
    PetscCall(EPSGetConverged(eps, &found));
    R->iterations += its;
    if (found) PetscCall(EPSGetEigenvector(eps, 0, x, NULL));
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&r));
  PetscCall(SlepcFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode SolveEPS(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  PetscFunctionBegin;
  SETERRQ(g->graph->comm, PETSC_ERR_SUP, "-method eps: this program was built without SLEPc; install it (package libslepc-real-dev) or set SLEPC_DIR, and make again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
