/* The Poisson loss exp(z) - y z for the regression of counts. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS        poisson
#define LOSS_KINKS  -1
#define LOSS_TASK   BMRM_TASK_REGRESSION
#define LOSS_LABELS "a finite number, zero or more"

FORMULA int LossLabelFits(double y)
{
  return (y >= 0 && y - y == 0);
}

FORMULA double LossValue(double z, double y, const double p[])
{
  return exp(z) - y * z;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return exp(z) - y;
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  return exp(z);
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  const double a = u + y; /* a = exp(z) for the score z at which the slope is u */

  return a > 0 ? a * (1 - log(a)) : 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
