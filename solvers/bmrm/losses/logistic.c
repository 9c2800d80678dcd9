/* The logistic loss log(1 + exp(-y z)): logistic regression. */
#include <petscsys.h>

#define LOSS        logistic
#define LOSS_KINKS  -1
#define LOSS_TASK   BMRM_TASK_CLASSIFICATION
#define LOSS_LABELS "+1 or -1"

static inline PetscBool LossLabelFits(PetscReal y)
{
  return (PetscBool)(y == 1 || y == -1);
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal q = y * z;

  return PetscMax(0, -q) + log1p(PetscExpReal(-PetscAbsReal(q))) + 0 * q; /* a NaN must not vanish */
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal x = PetscExpReal(-PetscAbsReal(z));

  return -y * (y * z > 0 ? x : 1) / (1 + x);
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  const PetscReal x = PetscExpReal(-PetscAbsReal(z));

  return x / ((1 + x) * (1 + x));
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  const PetscReal a = PetscMin(1, PetscMax(0, -u * y)), c = 1 - a;

  return -(a > 0 ? a * PetscLogReal(a) : 0) - (c > 0 ? c * log1p(-a) : 0);
}

#include "solvers/bmrm/bmrmpointwise.h"
