/* Several classes, slack rescaled: max over the classes c of |c - y|^d (1 + z_c - z_y), or 0; Tsochantaridis et al. (2005). */
#include "solvers/bmrm/losses/multiclass.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_slackmulticlass(BMRMLoss);

static void Line(const BMRMExample *x, const PetscReal e[], PetscInt c, PetscReal *value, PetscReal *slope)
{
  const PetscReal cost = BMRMClassCost(x, c);
  const PetscInt  y    = (PetscInt)x->y[0];

  *value = cost * (1 + x->z[c] - x->z[y]);
  *slope = cost * (e[c] - e[y]);
}

static void Cut(const BMRMExample *x, PetscReal u[], PetscReal *offset)
{
  const PetscInt worst = BMRMClassWorst(x, Line, u);

  *offset = BMRMClassCost(x, worst);
  u[worst] += *offset;
  u[(PetscInt)x->y[0]] -= *offset;
}

static const BMRMClasses loss = {.task = BMRM_TASK_MULTICLASS, .nparameter = 1, .parameter = {BMRM_CLASS_DISTANCE}, .cut = Cut, .line = Line};

PetscErrorCode BMRMLossCreate_slackmulticlass(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetClasses(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
