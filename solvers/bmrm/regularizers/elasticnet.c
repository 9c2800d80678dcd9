/* The elastic net: ratio ||w||_1 + (1 - ratio)/2 ||w||^2. It gives zero weights, and is strictly convex, so that the solution is unique. */
#include "solvers/bmrm/bmrmregularizer.h"

PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_elasticnet(BMRMRegularizer);

PetscErrorCode BMRMRegularizerCreate_elasticnet(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(BMRMRegularizerSetSeparable(r, 1 - r->ratio, r->ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}
