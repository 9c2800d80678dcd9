/* Eigenvectors of classical scaling by an EPS of SLEPc. */
#include "solvers/smacof/smacofimpl.h"

const char *const Eigensolvers[] = {"block", "slepc", "Eigensolver", "", NULL};

#ifdef GP_HAVE_SLEPC
  #include <slepceps.h>

/* Multiplies by -1/2 J D^2 J, where J subtracts the mean.  Vectors are replicated on every rank. */
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
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, q, &x)); /* initial vector: random numbers, the same on all ranks */
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
  PetscCheck(found >= n, S->D->comm, PETSC_ERR_NOT_CONVERGED, "SLEPc found only %" PetscInt_FMT " of %" PetscInt_FMT " eigenvectors; raise -smacof_eps_max_it or -smacof_eps_ncv, or use -smacof_eigensolver block", found, n);
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
  SETERRQ(S->D->comm, PETSC_ERR_USER_INPUT, "-smacof_eigensolver slepc: this program was built without SLEPc; install it (package libslepc-real-dev) or set SLEPC_DIR, and build again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
