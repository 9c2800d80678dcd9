/* The squared epsilon-insensitive loss max(0, |z - y| - epsilon)^2. */
#include <petscsys.h>

#define LOSS               sqepsilon
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

  return !(loss <= 0) ? loss * loss : 0;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal over = z - y - p[0], under = y - z - p[0];

  return over > 0 ? 2 * over : under > 0 ? -2 * under : 0;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal over = z - y - p[0], under = y - z - p[0];

  return over > 0 || (over == 0 && side > 0) || under > 0 || (under == 0 && side < 0) ? 2 : 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * y - p[0] * PetscAbsReal(u) - u * u / 4;
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = k ? y + p[0] : y - p[0];
  *jump = 0;
  *bend = k ? 2 : -2;
}

#include "solvers/bmrm/bmrmpointwise.h"
