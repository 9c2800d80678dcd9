/* Methods ksp and jacobi: PageRank as the linear system (I - damping P) x = (1 - damping) v, by any KSP and PC. Method jacobi is KSPRICHARDSON with
   PCJACOBI.

   D. Gleich, L. Zhukov, P. Berkhin, "Fast parallel PageRank: a linear system approach", 2004. */
#include "pagerankimpl.h"

static PetscErrorCode MatMult_PageRank(Mat S, Vec x, Vec y)
{
  PageRank pr;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &pr));
  PetscCall(PageRankMult(pr, x, y));
  PetscCall(VecAYPX(y, -pr->damping, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles I - damping A D^-1 for the preconditioner. The term of the dangling nodes, a rank-one matrix that is not sparse, is left out. */
static PetscErrorCode PageRankAssembleSystem(PageRank pr, Mat *P)
{
  Vec scale;
  Mat identity; /* added by MatAXPY() because MatShift() may fail where the pattern has no diagonal entry */

  PetscFunctionBegin;
  PetscCheck(pr->nblocks == 1, PetscObjectComm((PetscObject)pr), PETSC_ERR_SUP, "The preconditioner needs a graph that is one matrix, not a MATNEST");
  PetscCall(MatConvert(pr->A[0], MATAIJ, MAT_INITIAL_MATRIX, P));
  PetscCall(MatCreateVecs(*P, &scale, NULL));
  PetscCall(VecCopy(pr->scale, scale));
  PetscCall(MatDiagonalScale(*P, NULL, scale));
  PetscCall(MatScale(*P, -pr->damping));
  PetscCall(VecDestroy(&scale));
  PetscCall(MatCreateConstantDiagonal(PetscObjectComm((PetscObject)pr), pr->n, pr->n, pr->N, pr->N, 1.0, &identity));
  PetscCall(MatAXPY(*P, 1.0, identity, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&identity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the residual of the KSP for -pagerank_monitor. It is always set, because KSPRICHARDSON without a monitor may leave the whole iteration to
   PCApplyRichardson(), which uses the assembled matrix without the term of the dangling nodes. */
static PetscErrorCode PageRankMonitorKSP(KSP ksp, PetscInt it, PetscReal norm, void *context)
{
  PetscFunctionBegin;
  if (((PageRank)context)->print) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ksp), "       KSP %4" PetscInt_FMT " residual %.6e\n", it, (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetKSP - Gets the linear solver of the methods ksp and jacobi

  Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. ksp - the linear solver; do not destroy it

  Level: intermediate

  Notes:
  The linear solver has the options prefix of the solver, for example `-pagerank_ksp_type gmres`.

  Call this function after `PageRankSetMethod()` and `PageRankSetAssemble()`, which replace the linear solver. The method ksp is `KSPBCGS` without a
  preconditioner, or with `PCJACOBI` if `PageRankSetAssemble()` was called. The method jacobi is `KSPRICHARDSON` with `PCJACOBI`.

.seealso: `PageRankSetMethod()`, `PageRankSetAssemble()`
@*/
PetscErrorCode PageRankGetKSP(PageRank pr, KSP *ksp)
{
  const char *prefix;
  PetscBool   stationary;
  PC          pc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(ksp, 2);
  if (!pr->ksp) {
    PetscCall(PetscObjectTypeCompare((PetscObject)pr, PAGERANKJACOBI, &stationary));
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)pr), &pr->ksp));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)pr->ksp, (PetscObject)pr, 1));
    PetscCall(PetscObjectGetOptionsPrefix((PetscObject)pr, &prefix));
    PetscCall(KSPSetOptionsPrefix(pr->ksp, prefix));
    PetscCall(KSPSetType(pr->ksp, stationary ? KSPRICHARDSON : KSPBCGS));
    PetscCall(KSPGetPC(pr->ksp, &pc));
    PetscCall(PCSetType(pc, stationary || pr->assemble ? PCJACOBI : PCNONE));
    PetscCall(KSPMonitorSet(pr->ksp, PageRankMonitorKSP, pr, NULL));
  }
  *ksp = pr->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the linear solver its matrices and options. */
static PetscErrorCode PageRankSetUpKSP(PageRank pr, Mat S)
{
  Mat P = NULL;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PageRankGetKSP(pr, &ksp));
  if (pr->assemble || !strcmp(((PetscObject)pr)->type_name, PAGERANKJACOBI)) PetscCall(PageRankAssembleSystem(pr, &P));
  PetscCall(KSPSetOperators(ksp, S, P ? P : S));
  PetscCall(MatDestroy(&P));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP stops on another norm. Therefore the relative tolerance of each round is half the ratio of the target to the current 1-norm of the residual,
   and at most 0.5. */
PetscErrorCode PageRankSolve_KSP(PageRank pr, Vec x)
{
  PetscInt  its = 0;
  PetscBool stop;
  VecType   type;
  Mat       S;
  Vec       b;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecCopy(pr->v, b));
  PetscCall(VecScale(b, 1 - pr->damping));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)pr), pr->n, pr->n, pr->N, pr->N, pr, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MatMult_PageRank));
  PetscCall(MatShellSetVecType(S, type));
  PetscCall(PageRankSetUpKSP(pr, S));
  while (1) {
    PetscCall(PageRankCheckRanks(pr, its, x, &stop));
    if (stop) break;
    PetscCall(KSPSetTolerances(pr->ksp, PetscMin(0.5, 0.5 * pr->tolerance * (1 - pr->damping) / pr->residual), PETSC_DEFAULT, PETSC_DEFAULT, pr->max_it - pr->it));
    PetscCall(KSPSolve(pr->ksp, b, x));
    PetscCall(KSPGetIterationNumber(pr->ksp, &its));
  }
  PetscCall(KSPReset(pr->ksp));
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
