/* The Huber loss: (z - y)^2/2 up to the distance delta, and its tangent beyond: robust regression. */
#include <petscsys.h>

#define LOSS               huber
#define LOSS_KINKS         2
#define LOSS_TASK          BMRM_TASK_REGRESSION
#define LOSS_LABELS        "a finite number"
#define LOSS_PARAMETERS(l) PetscCall(BMRMLossAddParameter(l, "-bmrm_loss_huber", "Huber losses: half width of the parabola", 0.5, 0, PETSC_INFINITY))

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)!PetscIsInfOrNanReal(y);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal d = PetscAbsReal(z - y);

  return d > p[0] ? p[0] * (d - 0.5 * p[0]) : 0.5 * d * d;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return PetscMax(-p[0], PetscMin(p[0], z - y));
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal d     = z - y;
  const PetscBool above = (PetscBool)(d > -p[0] || (d == -p[0] && side > 0)), below = (PetscBool)(d < p[0] || (d == p[0] && side < 0));

  return above && below ? 1 : 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * y - 0.5 * u * u;
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = k ? y + p[0] : y - p[0];
  *jump = 0;
  *bend = k ? -1 : 1;
}

#include "solvers/bmrm/bmrmpointwise.h"
