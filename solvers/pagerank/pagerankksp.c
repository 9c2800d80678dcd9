/* Methods ksp and jacobi: PageRank as the linear system (I - damping P) x = (1 - damping) v, by any KSP and PC. Method jacobi is KSPRICHARDSON with
   PCJACOBI.

   D. Gleich, L. Zhukov, P. Berkhin, "Fast parallel PageRank: a linear system approach", 2004. */
#include "pagerankimpl.h"

static PetscErrorCode MatMult_System(Mat S, Vec x, Vec y)
{
  Google *g;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &g));
  PetscCall(GooglePull(g, x, y));
  PetscCall(VecAYPX(y, -g->damping, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles I - damping A D^-1 for the preconditioner. The term of the dangling nodes, a rank-one matrix that is not sparse, is left out. */
static PetscErrorCode AssembleSystem(Google *g, Mat *P)
{
  PetscInt n, first, last;
  Vec      scale;
  Mat      identity; /* added by MatAXPY() because MatShift() may fail where the pattern has no diagonal entry */

  PetscFunctionBegin;
  PetscCall(MatConvert(g->graph->A[0], MATAIJ, MAT_INITIAL_MATRIX, P));
  PetscCall(MatCreateVecs(*P, &scale, NULL));
  PetscCall(VecCopy(g->scale, scale));
  PetscCall(MatDiagonalScale(*P, NULL, scale));
  PetscCall(MatScale(*P, -g->damping));
  PetscCall(VecDestroy(&scale));
  PetscCall(MatGetLocalSize(*P, &n, NULL));
  PetscCall(MatCreateAIJ(g->graph->comm, n, n, g->graph->N, g->graph->N, 1, NULL, 0, NULL, &identity));
  PetscCall(MatGetOwnershipRange(identity, &first, &last));
  for (PetscInt r = first; r < last; r++) PetscCall(MatSetValue(identity, r, r, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(identity, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(identity, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAXPY(*P, 1.0, identity, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&identity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the residual of the KSP for -monitor. It is always set, because KSPRICHARDSON without a monitor may leave the whole iteration to
   PCApplyRichardson(), which uses the assembled matrix without the term of the dangling nodes. */
static PetscErrorCode MonitorInner(KSP ksp, PetscInt it, PetscReal norm, void *context)
{
  PetscFunctionBegin;
  if (*(const PetscBool *)context) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ksp), "       KSP %4" PetscInt_FMT " residual %.6e\n", it, (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the default solver of the method. Options with the prefix pagerank_ override it. */
static PetscErrorCode CreateKSP(Google *g, const SolveOptions *o, Mat S, KSP *ksp_)
{
  const PetscBool stationary = (PetscBool)(o->method != METHOD_KSP), assemble = (PetscBool)(stationary || o->assemble);
  Mat             P = NULL;
  KSP             ksp;
  PC              pc;

  PetscFunctionBegin;
  if (assemble) PetscCall(AssembleSystem(g, &P));
  PetscCall(KSPCreate(g->graph->comm, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "pagerank_"));
  PetscCall(KSPSetOperators(ksp, S, P ? P : S));
  PetscCall(MatDestroy(&P));
  PetscCall(KSPSetType(ksp, stationary ? KSPRICHARDSON : KSPBCGS));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, assemble ? PCJACOBI : PCNONE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  PetscCall(KSPMonitorSet(ksp, MonitorInner, (void *)&o->monitor, NULL));
  *ksp_ = ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP stops on another norm. Therefore the relative tolerance of each round is half the ratio of the target to the current 1-norm of the residual,
   and at most 0.5. */
PetscErrorCode SolveKSP(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  PetscReal norm1 = PETSC_MAX_REAL;
  PetscInt  n, its;
  VecType   type;
  Mat       S;
  Vec       b, r;
  KSP       ksp;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecCopy(g->v, b));
  PetscCall(VecScale(b, 1 - g->damping));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatCreateShell(g->graph->comm, n, n, g->graph->N, g->graph->N, g, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MatMult_System));
  PetscCall(MatShellSetVecType(S, type));
  PetscCall(CreateKSP(g, o, S, &ksp));
  while (1) {
    PetscCall(SolveRound(g, o, x, r, &norm1, R));
    if (R->reason) break;
    PetscCall(KSPSetTolerances(ksp, PetscMin(0.5, 0.5 * o->tolerance * (1 - g->damping) / norm1), PETSC_DEFAULT, PETSC_DEFAULT, o->max_it - R->iterations));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    R->iterations += its;
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
