/* The Huber hinge loss: the hinge, rounded by a parabola from margin 1 - h to 1 + h. */
#include <petscsys.h>

#define LOSS               huberhinge
#define LOSS_KINKS         2
#define LOSS_TASK          BMRM_TASK_CLASSIFICATION
#define LOSS_LABELS        "+1 or -1"
#define LOSS_PARAMETERS(l) PetscCall(BMRMLossAddParameter(l, "-bmrm_loss_huber", "Huber losses: half width of the parabola", 0.5, 0, PETSC_INFINITY))

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)(y == 1 || y == -1);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal over = 1 + p[0] - y * z;

  if (over <= 0) return 0;
  return over < 2 * p[0] ? over * over / (4 * p[0]) : 1 - y * z;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal part = (1 + p[0] - y * z) / (2 * p[0]);

  return -y * (part <= 0 ? 0 : part > 1 ? 1 : part);
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal q = y * z, ahead = y * side;
  const PetscBool above = (PetscBool)(q > 1 - p[0] || (q == 1 - p[0] && ahead > 0)), below = (PetscBool)(q < 1 + p[0] || (q == 1 + p[0] && ahead < 0));

  return above && below ? 1 / (2 * p[0]) : 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  const PetscReal a = -u * y; /* in [0, 1] */

  return a * (1 + p[0]) - p[0] * a * a;
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = k ? y + p[0] : y - p[0];
  *jump = 0;
  *bend = (k ? -0.5 : 0.5) / p[0];
}

#include "solvers/bmrm/bmrmpointwise.h"
