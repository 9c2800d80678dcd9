/* The l1 norm of the weights: most weights become zero. */
#include "solvers/bmrm/bmrmregularizer.h"

PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_l1(BMRMRegularizer);

PetscErrorCode BMRMRegularizerCreate_l1(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(BMRMRegularizerSetSeparable(r, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
