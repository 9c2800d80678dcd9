/* PageRank as a linear system, (I - damping P) x = (1 - damping) v, for any KSP and PC.

   D. Gleich, L. Zhukov, P. Berkhin, "Fast parallel PageRank: a linear system approach", 2004. */
#include "pagerank.h"

static PetscErrorCode MatMult_System(Mat S, Vec x, Vec y)
{
  Google *g;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &g));
  PetscCall(GooglePull(g, x, y));
  PetscCall(VecAYPX(y, -g->damping, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* I - damping A D^-1, for preconditioners: what dangling nodes add is of low rank and left out */
static PetscErrorCode Assemble(Google *g, Mat *P)
{
  Vec scale;

  PetscFunctionBegin;
  PetscCall(MatConvert(g->graph->A, MATAIJ, MAT_INITIAL_MATRIX, P));
  PetscCall(MatCreateVecs(*P, &scale, NULL));
  PetscCall(VecCopy(g->scale, scale));
  PetscCall(MatDiagonalScale(*P, NULL, scale));
  PetscCall(MatScale(*P, -g->damping));
  PetscCall(MatSetOption(*P, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE)); /* diagonal entries where there are no loops */
  PetscCall(MatSetOption(*P, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(*P, 1.0));
  PetscCall(VecDestroy(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its being there also keeps a Richardson iteration from handing all of itself to the preconditioner, which knows only the assembled
   matrix, without dangling nodes. */
static PetscErrorCode MonitorInner(KSP ksp, PetscInt it, PetscReal norm, void *context)
{
  PetscFunctionBegin;
  if (*(const PetscBool *)context) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ksp), "       KSP %4" PetscInt_FMT " residual %.6e\n", it, (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves until the true residual in the 1-norm is small enough.  A KSP stops on a norm of its own; each round asks it for the
   factor that is missing. */
PetscErrorCode SolveKSP(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  MPI_Comm  comm = g->graph->comm;
  PetscReal norm1, last = PETSC_MAX_REAL;
  PetscInt  n, its;
  VecType   type;
  Mat       S, P = NULL;
  Vec       b, r;
  KSP       ksp;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecCopy(g->v, b));
  PetscCall(VecScale(b, 1 - g->damping));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(MatCreateShell(comm, n, n, g->graph->N, g->graph->N, g, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MatMult_System));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatShellSetVecType(S, type));
  if (o->assemble) PetscCall(Assemble(g, &P));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "pagerank_"));
  PetscCall(KSPSetOperators(ksp, S, P ? P : S));
  PetscCall(KSPSetType(ksp, KSPBCGS));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, P ? PCJACOBI : PCNONE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  PetscCall(KSPMonitorSet(ksp, MonitorInner, (void *)&o->monitor, NULL));
  while (1) {
    PetscCall(GooglePull(g, x, r));
    PetscCall(GoogleResidual(g, x, r, r, &norm1));
    PetscCall(SolveCheck(g, o, norm1, R));
    if (R->reason) break;
    if (norm1 > 0.5 * last) { /* rounding, or a solver that does not get on */
      R->reason = "DIVERGED_STAGNATION";
      break;
    }
    last = norm1;
    PetscCall(KSPSetTolerances(ksp, PetscMin(0.5, 0.5 * o->tolerance * (1 - g->damping) / norm1), PETSC_DEFAULT, PETSC_DEFAULT, o->max_it - R->iterations));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    R->iterations += its;
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
