/* The exponential loss exp(-y z), which boosting minimises. */
#include <petscsys.h>

#define LOSS        exponential
#define LOSS_KINKS  -1
#define LOSS_TASK   BMRM_TASK_CLASSIFICATION
#define LOSS_LABELS "+1 or -1"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)(y == 1 || y == -1);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  return PetscExpReal(-y * z);
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return -y * PetscExpReal(-y * z);
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return PetscExpReal(-y * z);
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  const PetscReal a = -u * y; /* not negative */

  return a > 0 ? a * (1 - PetscLogReal(a)) : 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
