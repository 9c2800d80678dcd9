/* The area under the ROC curve: the mean over all pairs of a positive example i and a negative example j of max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_rocarea(BMRMLoss);

static int Fits(double y)
{
  return y == 1 || y == -1;
}

static const BMRMGrouped loss = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_CLASSIFICATION, .labels = "+1 or -1", .fits = Fits, .lists = BMRM_LISTS(BMRMPairsCut), .sweep = BMRMPairsSweep};

PetscErrorCode BMRMLossCreate_rocarea(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetGrouped(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
