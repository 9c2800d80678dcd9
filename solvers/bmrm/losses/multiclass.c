/* Several classes, margins rescaled: max over the classes c of |c - y|^d + z_c - z_y, with d = 0 the loss of Crammer and Singer (2001). */
#include "solvers/bmrm/losses/multiclass.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_multiclass(BMRMLoss);

static void Line(const BMRMExample *x, const PetscReal e[], PetscInt c, PetscReal *value, PetscReal *slope)
{
  const PetscReal cost = BMRMClassCost(x, c);
  const PetscInt  y    = (PetscInt)x->y[0];

  *value = cost + x->z[c] - x->z[y];
  *slope = e[c] - e[y];
}

static void Cut(const BMRMExample *x, PetscReal u[], PetscReal *offset)
{
  const PetscInt worst = BMRMClassWorst(x, Line, u);

  *offset = BMRMClassCost(x, worst);
  u[worst]++;
  u[(PetscInt)x->y[0]]--;
}

static const BMRMClasses loss = {.task = BMRM_TASK_MULTICLASS, .nparameter = 1, .parameter = {BMRM_CLASS_DISTANCE}, .cut = Cut, .line = Line};

PetscErrorCode BMRMLossCreate_multiclass(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetClasses(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
