/* The squared hinge loss max(0, 1 - y z)^2. */
#include <petscsys.h>

#define LOSS        sqhinge
#define LOSS_KINKS  1
#define LOSS_TASK   BMRM_TASK_CLASSIFICATION
#define LOSS_LABELS "+1 or -1"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)(y == 1 || y == -1);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal loss = 1 - y * z;

  return !(loss <= 0) ? loss * loss : 0;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal loss = 1 - y * z;

  return !(loss <= 0) ? -2 * y * loss : 0;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal loss = 1 - y * z;

  return (loss > 0) | ((loss == 0) & (y * side < 0)) ? 2 : 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  const PetscReal a = -u * y; /* not negative */

  return a - a * a / 4;
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = y;
  *jump = 0;
  *bend = -2 * y;
}

#include "solvers/bmrm/bmrmpointwise.h"
