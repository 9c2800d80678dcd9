/* Least squares (z - y)^2/2. */
#include <petscsys.h>

#define LOSS        leastsquares
#define LOSS_KINKS  0
#define LOSS_TASK   BMRM_TASK_REGRESSION
#define LOSS_LABELS "a finite number"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)!PetscIsInfOrNanReal(y);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  return 0.5 * (z - y) * (z - y);
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return z - y;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return 1;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * y - 0.5 * u * u;
}

#define LossKink(k, y, p, z, jump, bend) ((void)(*(z) = *(jump) = *(bend) = 0)) /* it has none */

#include "solvers/bmrm/bmrmpointwise.h"
