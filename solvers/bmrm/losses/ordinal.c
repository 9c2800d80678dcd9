/* Ordinal regression: the mean over all pairs with labels y_i > y_j of (y_i - y_j) max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_ordinal(BMRMLoss);

static int Fits(double y)
{
  return y - y == 0;
}

static const BMRMGrouped loss = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_RANKING, .labels = "a number", .fits = Fits, .lists = BMRM_LISTS(BMRMDistantPairsCut), .sweep = BMRMDistantPairsSweep};

PetscErrorCode BMRMLossCreate_ordinal(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetGrouped(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
