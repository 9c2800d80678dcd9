/* Novelty detection max(0, rho - z): the linear one-class support vector machine. */
#include <petscsys.h>

#define LOSS               novelty
#define LOSS_KINKS         1
#define LOSS_TASK          BMRM_TASK_NOVELTY
#define LOSS_LABELS        "anything"
#define LOSS_PARAMETERS(l) PetscCall(BMRMLossAddParameter(l, "-bmrm_loss_rho", "novelty loss: the score that an example of the class should reach", 1, 0, PETSC_INFINITY))

static inline PetscBool LossLabelFits(PetscReal y)
{
  return PETSC_TRUE;
}

static inline PetscReal LossValue(PetscReal z, PetscReal y, const PetscReal p[])
{
  const PetscReal loss = p[0] - z;

  return !(loss <= 0) ? loss : 0;
}

static inline PetscReal LossSlope(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return z < p[0] || (z == p[0] && side < 0) ? -1 : 0;
}

static inline PetscReal LossCurvature(PetscReal z, PetscReal y, const PetscReal p[], PetscReal side)
{
  return 0;
}

static inline PetscReal LossOffset(PetscReal u, PetscReal y, const PetscReal p[])
{
  return -u * p[0];
}

static inline void LossKink(PetscInt k, PetscReal y, const PetscReal p[], PetscReal *z, PetscReal *jump, PetscReal *bend)
{
  *z    = p[0];
  *jump = 1;
  *bend = 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
