/* Some of several classes: max(0, 1 + the highest score of a class that the example is not of - the lowest of one that it is of), Elisseeff and
   Weston's ranking with the worst pair; 0 for examples of all classes or of none. */
#include "solvers/bmrm/bmrmclasses.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_multilabel(BMRMLoss);

static void Cut(const BMRMExample *x, PetscReal u[], PetscReal *offset)
{
  PetscInt low = -1, high = -1;

  *offset = 0;
  for (PetscInt c = 0; c < x->k; c++) {
    u[c] = 0;
    if (x->y[c] > 0) {
      if (low < 0 || x->z[c] < x->z[low]) low = c;
    } else if (high < 0 || x->z[c] > x->z[high]) high = c;
  }
  if (low < 0 || high < 0 || 1 + x->z[high] - x->z[low] <= 0) return;
  u[high] = 1;
  u[low]  = -1;
  *offset = 1;
}

static const BMRMClasses loss = {.task = BMRM_TASK_MULTILABEL, .cut = Cut};

PetscErrorCode BMRMLossCreate_multilabel(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetClasses(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
