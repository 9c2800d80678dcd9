/* The exponential loss exp(-y z), which boosting minimises. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       exponential
#define LOSS_KINKS -1
#define LOSS_TASK  BMRM_TASK_CLASSIFICATION

FORMULA double LossValue(double z, double y, const double p[])
{
  return exp(-y * z);
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return -y * exp(-y * z);
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  return exp(-y * z);
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  const double a = -u * y; /* not negative, because every slope u has the sign of -y */

  return a > 0 ? a * (1 - log(a)) : 0;
}

#include "solvers/bmrm/bmrmpointwise.h"
