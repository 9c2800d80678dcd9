/* The absolute loss |z - y|: least absolute deviations. The minimiser is the conditional median. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       absolute
#define LOSS_KINKS 1
#define LOSS_LINEAR
#define LOSS_TASK BMRM_TASK_REGRESSION

FORMULA double LossValue(double z, double y, const double p[])
{
  return fabs(z - y);
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return z > y || (z == y && side > 0) ? 1 : -1;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y;
}

#define LossKink(k, y, p) y, 2, 0 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
