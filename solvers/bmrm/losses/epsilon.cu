/* The epsilon-insensitive loss max(0, |z - y| - epsilon) of support vector regression. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       epsilon
#define LOSS_KINKS 2
#define LOSS_LINEAR
#define LOSS_TASK      BMRM_TASK_REGRESSION
#define LOSS_PARAMETER "-bmrm_loss_epsilon", "losses epsilon and sqepsilon: errors up to this size cost nothing", 0.1, 0, INFINITY

FORMULA double LossValue(double z, double y, const double p[])
{
  const double loss = fabs(z - y) - p[0];

  return !(loss <= 0) ? loss : 0;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double over = z - y - p[0], under = y - z - p[0];

  if (over > 0 || (over == 0 && side > 0)) return 1;
  return under > 0 || (under == 0 && side < 0) ? -1 : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y - p[0] * fabs(u);
}

#define LossKink(k, y, p) k ? y + p[0] : y - p[0], 1, 0 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
