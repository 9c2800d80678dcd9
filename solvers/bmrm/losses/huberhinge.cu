/* The Huber hinge loss: the hinge loss with its kink replaced by a parabola between the margins 1 - h and 1 + h. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS           huberhinge
#define LOSS_KINKS     2
#define LOSS_TASK      BMRM_TASK_CLASSIFICATION
#define LOSS_PARAMETER "-bmrm_loss_huber", "losses huber and huberhinge: half the width of the parabola", 0.5, 0, INFINITY

FORMULA double LossValue(double z, double y, const double p[])
{
  const double over = 1 + p[0] - y * z;

  if (over <= 0) return 0;
  return over < 2 * p[0] ? over * over / (4 * p[0]) : 1 - y * z;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double part = (1 + p[0] - y * z) / (2 * p[0]);

  return -y * (part <= 0 ? 0 : part > 1 ? 1 : part);
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  const double q = y * z, ahead = y * side;
  const int    above = (q > 1 - p[0] || (q == 1 - p[0] && ahead > 0)), below = (q < 1 + p[0] || (q == 1 + p[0] && ahead < 0));

  return above && below ? 1 / (2 * p[0]) : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  const double a = -u * y; /* in [0, 1] */

  return a * (1 + p[0]) - p[0] * a * a;
}

#define LossKink(k, y, p) k ? y + p[0] : y - p[0], 0, (k ? -0.5 : 0.5) / p[0] /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
