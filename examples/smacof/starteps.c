/* The eigenvectors of classical scaling by any EPS of SLEPc. */
#include "smacof.h"

const char *const Eigensolvers[] = {"block", "slepc", "Eigensolver", "", NULL};

#ifdef GP_HAVE_SLEPC
  #include <slepceps.h>

/* every rank has whole vectors, as the iterations do; the operator takes the mean away on both sides, eigenvectors have none */
static PetscErrorCode MatMult_Centred(Mat A, Vec x, Vec y)
{
  const PetscScalar *from;
  PetscScalar       *to, *centred, mean;
  const Scaler      *S;
  PetscInt           N;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&S));
  N = S->D->N;
  PetscCall(VecSum(x, &mean));
  mean /= (PetscReal)N;
  PetscCall(PetscMalloc1(N, &centred));
  PetscCall(VecGetArrayRead(x, &from));
  for (PetscInt i = 0; i < N; i++) centred[i] = from[i] - mean;
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(CentredMultiply(S, 1, centred, to));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(PetscFree(centred));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EigenvectorsSLEPc(const Scaler *S, PetscInt n, double q[], double value[])
{
  const PetscInt     N = S->D->N;
  const PetscScalar *a;
  PetscInt           found;
  Mat                A;
  Vec                x;
  EPS                eps;

  PetscFunctionBegin;
  PetscCall(SlepcInitializeNoArguments());
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, q, &x)); /* the random numbers there, the same on all ranks, are where it begins */
  PetscCall(MatCreateShell(PETSC_COMM_SELF, N, N, N, N, (void *)S, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))MatMult_Centred));
  PetscCall(EPSCreate(PETSC_COMM_SELF, &eps));
  PetscCall(EPSSetOptionsPrefix(eps, "smacof_"));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetDimensions(eps, n, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-7, PETSC_DEFAULT));
  PetscCall(EPSSetInitialSpace(eps, 1, &x));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &found));
  PetscCheck(found >= n, S->D->comm, PETSC_ERR_NOT_CONVERGED, "SLEPc finds %" PetscInt_FMT " of %" PetscInt_FMT " eigenvectors; -smacof_eps_max_it, -smacof_eps_ncv allow more work, -smacof_eigensolver block does without SLEPc", found, n);
  PetscCall(VecDestroy(&x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &x));
  for (PetscInt k = 0; k < n; k++) {
    PetscScalar length;

    PetscCall(EPSGetEigenpair(eps, k, &length, NULL, x, NULL));
    value[k] = PetscRealPart(length);
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(PetscArraycpy(q + (size_t)k * N, a, N));
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(SlepcFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode EigenvectorsSLEPc(const Scaler *S, PetscInt n, double q[], double value[])
{
  PetscFunctionBegin;
  SETERRQ(S->D->comm, PETSC_ERR_SUP, "-smacof_eigensolver slepc: this program was built without SLEPc; install it (package libslepc-real-dev) or set SLEPC_DIR, and make again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
