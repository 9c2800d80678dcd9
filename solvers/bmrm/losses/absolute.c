/* The absolute loss |z - y|: least absolute deviations, the median. */
#include <petscsys.h>

#define LOSS        absolute
#define LOSS_KINKS  1
#define LOSS_TASK   BMRM_TASK_REGRESSION
#define LOSS_LABELS "a finite number"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)!PetscIsInfOrNanReal(y);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  return PetscAbsReal(z - y);
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return z > y || (z == y && side > 0) ? 1 : -1;
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
  *jump = 2;
  *bend = 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
