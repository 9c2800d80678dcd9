/* Ordinal regression: mean over all pairs with labels y_i > y_j of (y_i - y_j) max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/losses/pairwise.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_ordinal(BMRMLoss);

static int Fits(double y)
{
  return y - y == 0;
}

static PetscErrorCode Cut(const BMRMGroup *g, PetscReal u[], PetscReal *offset)
{
  PetscFunctionBegin;
  PetscCall(BMRMPairwiseCut(g, PETSC_TRUE, u, offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const BMRMGrouped loss = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_RANKING, .labels = "a number", .fits = Fits, .cut = Cut};

PetscErrorCode BMRMLossCreate_ordinal(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetGrouped(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
