/* A part of both: ratio ||w||_1 + (1 - ratio)/2 ||w||^2, zero weights without the instability of l1. */
#include "solvers/bmrm/bmrmregularizer.h"

PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_elasticnet(BMRMRegularizer);

PetscErrorCode BMRMRegularizerCreate_elasticnet(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(BMRMRegularizerSetSeparable(r, 1 - r->ratio, r->ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}
