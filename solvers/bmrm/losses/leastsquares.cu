/* The squared error (z - y)^2/2 of least-squares regression. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       leastsquares
#define LOSS_KINKS 0
#define LOSS_TASK  BMRM_TASK_REGRESSION

FORMULA double LossValue(double z, double y, const double p[])
{
  return 0.5 * (z - y) * (z - y);
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return z - y;
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  return 1;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y - 0.5 * u * u;
}

#include "solvers/bmrm/bmrmpointwise.h"
