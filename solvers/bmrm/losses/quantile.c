/* The pinball loss: tau (y - z) below the label, (1 - tau)(z - y) above; its minimiser is the quantile tau. */
#include <petscsys.h>

#define LOSS               quantile
#define LOSS_KINKS         1
#define LOSS_TASK          BMRM_TASK_REGRESSION
#define LOSS_LABELS        "a finite number"
#define LOSS_PARAMETERS(l) PetscCall(BMRMLossAddParameter(l, "-bmrm_loss_quantile", "quantile loss: which quantile", 0.5, 0, 1))

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)!PetscIsInfOrNanReal(y);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  return z > y ? (1 - p[0]) * (z - y) : p[0] * (y - z);
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return z > y || (z == y && side > 0) ? 1 - p[0] : -p[0];
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * y;
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = y;
  *jump = 1;
  *bend = 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
