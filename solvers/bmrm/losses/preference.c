/* Preferences within queries: for each query the mean over the pairs with labels y_i > y_j of max(0, 1 - (z_i - z_j)); the risk is the mean over
   the queries. */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_preference(BMRMLoss);

static int Fits(double y)
{
  return y - y == 0;
}

static const BMRMGrouped loss = {.kind = BMRM_GROUP_QUERY, .task = BMRM_TASK_RANKING, .labels = "a number", .fits = Fits, .lists = BMRM_LISTS(BMRMPairsCut), .sweep = BMRMPairsSweep};

PetscErrorCode BMRMLossCreate_preference(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetGrouped(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
