/* The squared hinge loss max(0, 1 - y z)^2. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       sqhinge
#define LOSS_KINKS 1
#define LOSS_TASK  BMRM_TASK_CLASSIFICATION

FORMULA double LossValue(double z, double y, const double p[])
{
  const double loss = 1 - y * z;

  return !(loss <= 0) ? loss * loss : 0;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double loss = 1 - y * z;

  return !(loss <= 0) ? -2 * y * loss : 0;
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  const double loss = 1 - y * z;

  return (loss > 0) | ((loss == 0) & (y * side < 0)) ? 2 : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  const double a = -u * y; /* not negative, because every slope u has the sign of -y */

  return a - a * a / 4;
}

#define LossKink(k, y, p) y, 0, -2 * y /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
