/* The hinge loss max(0, 1 - y z): support vector machines. */
#include <petscsys.h>

#define LOSS        hinge
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

  return !(loss <= 0) ? loss : 0; /* a NaN must not vanish */
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal loss = 1 - y * z;

  return (loss > 0) | ((loss == 0) & (y * side < 0)) ? -y : 0;
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
