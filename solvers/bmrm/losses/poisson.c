/* The Poisson loss exp(z) - y z: regression of counts. */
#include <petscsys.h>

#define LOSS        poisson
#define LOSS_KINKS  -1
#define LOSS_TASK   BMRM_TASK_REGRESSION
#define LOSS_LABELS "a finite number, zero or more"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)(y >= 0 && !PetscIsInfOrNanReal(y));
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  return PetscExpReal(z) - y * z;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return PetscExpReal(z) - y;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return PetscExpReal(z);
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  const PetscReal a = u + y; /* exp of the score that has this slope */

  return a > 0 ? a * (1 - PetscLogReal(a)) : 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
