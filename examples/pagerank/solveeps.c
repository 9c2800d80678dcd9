/* Method eps: PageRank as the eigenvector of damping P x + (1 - damping) v (sum of x) = x, by any EPS of SLEPc. */
#include "solvers/pagerank/pagerankimpl.h"

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

/* Creates the eigensolver. The wanted eigenvalue is 1 and the largest: the absolute value of all others is at most the damping. */
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

/* EPS measures its residual in another norm. Therefore each round multiplies its tolerance by half the ratio of the target to the residual of the
   last round. */
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
  PetscCheck(g->isdangling || !g->ndangling, g->graph->comm, PETSC_ERR_USER_INPUT, "-method eps cannot be combined with -dangling drop, with which the ranks are not an eigenvector: use another method");
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
  SETERRQ(g->graph->comm, PETSC_ERR_USER_INPUT, "-method eps: this program was built without SLEPc; install SLEPc (Debian: libslepc-real-dev) or set SLEPC_DIR, and build again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
