/* Method eps: PageRank as the eigenvector of damping P x + (1 - damping) v (sum of x) = x, by any EPS of SLEPc. */
#include "pagerank.h"

#ifdef GP_HAVE_SLEPC
  #include <slepceps.h>

static PetscErrorCode MatMult_PageRankEPS(Mat S, Vec x, Vec y)
{
  PageRank    pr;
  PetscReal   damping;
  PetscScalar sum;
  Vec         v;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &pr));
  PetscCall(PageRankGetDamping(pr, &damping));
  PetscCall(PageRankGetTeleportation(pr, &v));
  PetscCall(PageRankMult(pr, x, y));
  PetscCall(VecSum(x, &sum));
  PetscCall(VecAXPBY(y, (1 - damping) * sum, damping, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the eigensolver. The wanted eigenvalue is 1 and the largest: the absolute value of all others is at most the damping. */
static PetscErrorCode EPSCreate_PageRank(PageRank pr, Vec x, Mat *S, EPS *eps)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pr);
  PetscInt       n, N;
  VecType        type;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatCreateShell(comm, n, n, N, N, pr, S));
  PetscCall(MatShellSetOperation(*S, MATOP_MULT, (void (*)(void))MatMult_PageRankEPS));
  PetscCall(MatShellSetVecType(*S, type));
  PetscCall(EPSCreate(comm, eps));
  PetscCall(EPSSetOptionsPrefix(*eps, "pagerank_"));
  PetscCall(EPSSetOperators(*eps, *S, NULL));
  PetscCall(EPSSetProblemType(*eps, EPS_NHEP));
  PetscCall(EPSSetWhichEigenpairs(*eps, EPS_LARGEST_MAGNITUDE));
  PetscCall(EPSSetFromOptions(*eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* EPS measures its residual in another norm. Therefore each round multiplies its tolerance by half the ratio of the target to the residual of the
   last round. */
PetscErrorCode PageRankSolve_EPS(PageRank pr, Vec x)
{
  PageRankDanglingType dangling;
  PetscReal            tolerance, damping, residual, target, tol;
  PetscInt             max_it, its = 0, total = 0, found, ndangling;
  PetscBool            stop;
  Mat                  S;
  EPS                  eps;

  PetscFunctionBegin;
  PetscCall(PageRankGetDangling(pr, &dangling, NULL));
  PetscCall(PageRankGetDanglingNodes(pr, &ndangling));
  PetscCheck(!ndangling || dangling != PAGERANK_DANGLING_DROP, PetscObjectComm((PetscObject)pr), PETSC_ERR_USER_INPUT, "-method eps cannot be combined with -dangling drop, with which the ranks are not an eigenvector: use another method");
  PetscCall(PageRankGetTolerances(pr, &tolerance, &max_it));
  PetscCall(PageRankGetDamping(pr, &damping));
  tol = target = tolerance * (1 - damping);
  PetscCall(SlepcInitializeNoArguments());
  PetscCall(EPSCreate_PageRank(pr, x, &S, &eps));
  while (1) {
    PetscCall(PageRankCheckRanks(pr, its, x, &stop));
    if (stop) break;
    PetscCall(PageRankGetResidual(pr, &residual, NULL));
    total += its;
    if (total) tol *= 0.5 * target / residual;
    PetscCall(EPSSetTolerances(eps, tol, max_it - total));
    PetscCall(EPSSetInitialSpace(eps, 1, &x));
    PetscCall(EPSSolve(eps));
    PetscCall(EPSGetIterationNumber(eps, &its));
    PetscCall(EPSGetConverged(eps, &found));
    if (found) PetscCall(EPSGetEigenvector(eps, 0, x, NULL));
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&S));
  PetscCall(SlepcFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode PageRankSolve_EPS(PageRank pr, Vec x)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)pr), PETSC_ERR_USER_INPUT, "-method eps: this program was built without SLEPc; install SLEPc (Debian: libslepc-real-dev) or set SLEPC_DIR, and build again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
