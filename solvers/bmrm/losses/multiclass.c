/* Several classes, margins rescaled: max over the classes c of |c - y|^d + z_c - z_y, with d = 0 the loss of Crammer and Singer (2001). */
#include "solvers/bmrm/bmrmclasses.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_multiclass(BMRMLoss);

/* of taking the example for one of class c */
static PetscReal Cost(const BMRMExample *x, PetscInt c)
{
  const PetscReal distance = PetscAbsReal(c - x->y[0]);

  return distance == 0 ? 0 : PetscPowReal(distance, x->p[0]);
}

static void Line(const BMRMExample *x, const PetscReal e[], PetscInt c, PetscReal *value, PetscReal *slope)
{
  const PetscReal cost = Cost(x, c);
  const PetscInt  y    = (PetscInt)x->y[0];

  *value = cost + x->z[c] - x->z[y];
  *slope = e[c] - e[y];
}

static void Cut(const BMRMExample *x, PetscReal u[], PetscReal *offset)
{
  const PetscInt y    = (PetscInt)x->y[0];
  PetscInt       best = y;
  PetscReal      most = 0, value, slope;

  for (PetscInt c = 0; c < x->k; c++) {
    u[c] = 0;
    Line(x, x->z, c, &value, &slope);
    if (value <= most) continue;
    most = value;
    best = c;
  }
  *offset = Cost(x, best);
  u[best]++;
  u[y]--;
}

static const BMRMClasses loss = {
  .task = BMRM_TASK_MULTICLASS, .nparameter = 1, .parameter = {{"-bmrm_loss_distance", "losses of classes: the cost of a wrong class grows with its distance to the right one to this power", 0, -1e-300, 10}}, .cut = Cut, .line = Line};

PetscErrorCode BMRMLossCreate_multiclass(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetClasses(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
