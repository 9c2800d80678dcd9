/* Eigenvectors of classical scaling by an EPS of SLEPc. */
#include "smacof.h"

#ifdef GP_HAVE_SLEPC
  #include <slepceps.h>

PetscErrorCode EigensolveSLEPc(SMACOF s, Mat A, PetscInt n, Vec q[], PetscReal value[])
{
  PetscInt found;
  EPS      eps;

  PetscFunctionBegin;
  PetscCall(SlepcInitializeNoArguments());
  PetscCall(EPSCreate(PETSC_COMM_SELF, &eps));
  PetscCall(EPSSetOptionsPrefix(eps, "smacof_"));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetDimensions(eps, n, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-7, PETSC_DEFAULT));
  PetscCall(EPSSetInitialSpace(eps, 1, q)); /* random numbers, the same on all ranks */
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &found));
  PetscCheck(found >= n, PetscObjectComm((PetscObject)s), PETSC_ERR_NOT_CONVERGED, "SLEPc found only %" PetscInt_FMT " of %" PetscInt_FMT " eigenvectors; raise -smacof_eps_max_it or -smacof_eps_ncv, or use -smacof_eigensolver block", found, n);
  for (PetscInt k = 0; k < n; k++) {
    PetscScalar length;

    PetscCall(EPSGetEigenpair(eps, k, &length, NULL, q[k], NULL));
    value[k] = PetscRealPart(length);
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(SlepcFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode EigensolveSLEPc(SMACOF s, Mat A, PetscInt n, Vec q[], PetscReal value[])
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)s), PETSC_ERR_USER_INPUT, "-smacof_eigensolver slepc: this program was built without SLEPc; install it (package libslepc-real-dev) or set SLEPC_DIR, and build again");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
