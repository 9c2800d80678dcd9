/* The squared epsilon-insensitive loss max(0, |z - y| - epsilon)^2. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS           sqepsilon
#define LOSS_KINKS     2
#define LOSS_TASK      BMRM_TASK_REGRESSION
#define LOSS_PARAMETER "-bmrm_loss_epsilon", "losses epsilon and sqepsilon: errors up to this size cost nothing", 0.1, 0, INFINITY

FORMULA double LossValue(double z, double y, const double p[])
{
  const double loss = fabs(z - y) - p[0];

  return !(loss <= 0) ? loss * loss : 0;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double over = z - y - p[0], under = y - z - p[0];

  return over > 0 ? 2 * over : under > 0 ? -2 * under : 0;
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  const double over = z - y - p[0], under = y - z - p[0];

  return over > 0 || (over == 0 && side > 0) || under > 0 || (under == 0 && side < 0) ? 2 : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y - p[0] * fabs(u) - u * u / 4;
}

#define LossKink(k, y, p) k ? y + p[0] : y - p[0], 0, k ? 2 : -2 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
