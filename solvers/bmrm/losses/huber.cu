/* The Huber loss of robust regression: (z - y)^2/2 if |z - y| <= delta, otherwise its tangent. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS           huber
#define LOSS_KINKS     2
#define LOSS_TASK      BMRM_TASK_REGRESSION
#define LOSS_PARAMETER "-bmrm_loss_huber", "losses huber and huberhinge: half the width of the parabola", 0.5, 0, INFINITY

FORMULA double LossValue(double z, double y, const double p[])
{
  const double d = fabs(z - y);

  return d > p[0] ? p[0] * (d - 0.5 * p[0]) : 0.5 * d * d;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return Larger(-p[0], Smaller(p[0], z - y));
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  const double d     = z - y;
  const int    above = (d > -p[0] || (d == -p[0] && side > 0)), below = (d < p[0] || (d == p[0] && side < 0));

  return above && below ? 1 : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y - 0.5 * u * u;
}

#define LossKink(k, y, p) k ? y + p[0] : y - p[0], 0, k ? -1 : 1 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
