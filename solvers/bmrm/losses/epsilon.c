/* The epsilon-insensitive loss max(0, |z - y| - epsilon): support vector regression. */
#include <petscsys.h>

#define LOSS               epsilon
#define LOSS_KINKS         2
#define LOSS_TASK          BMRM_TASK_REGRESSION
#define LOSS_LABELS        "a finite number"
#define LOSS_PARAMETERS(l) PetscCall(BMRMLossAddParameter(l, "-bmrm_loss_epsilon", "epsilon-insensitive losses: the error that costs nothing", 0.1, 0, PETSC_INFINITY))

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)!PetscIsInfOrNanReal(y);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal loss = PetscAbsReal(z - y) - p[0];

  return !(loss <= 0) ? loss : 0;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal over = z - y - p[0], under = y - z - p[0];

  if (over > 0 || (over == 0 && side > 0)) return 1;
  return under > 0 || (under == 0 && side < 0) ? -1 : 0;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * y - p[0] * PetscAbsReal(u);
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = k ? y + p[0] : y - p[0];
  *jump = 1;
  *bend = 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
