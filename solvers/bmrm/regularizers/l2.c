/* Half the squared l2 norm: smooth, and strictly convex unless a factor is zero. */
#include "solvers/bmrm/bmrmregularizer.h"

PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_l2(BMRMRegularizer);

PetscErrorCode BMRMRegularizerCreate_l2(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(BMRMRegularizerSetSeparable(r, 1, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
