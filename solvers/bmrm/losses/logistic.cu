/* The logistic loss log(1 + exp(-y z)) of logistic regression. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       logistic
#define LOSS_KINKS -1
#define LOSS_TASK  BMRM_TASK_CLASSIFICATION

FORMULA double LossValue(double z, double y, const double p[])
{
  const double q = y * z;

  return Larger(0, -q) + log1p(exp(-fabs(q))) + 0 * q; /* 0 * q keeps a NaN */
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double x = exp(-fabs(z));

  return -y * (y * z > 0 ? x : 1) / (1 + x);
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  const double x = exp(-fabs(z));

  return x / ((1 + x) * (1 + x));
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  const double a = Smaller(1, Larger(0, -u * y)), c = 1 - a;

  return -(a > 0 ? a * log(a) : 0) - (c > 0 ? c * log1p(-a) : 0);
}

#include "solvers/bmrm/bmrmpointwise.h"
