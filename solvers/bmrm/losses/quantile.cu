/* The pinball loss of quantile regression: tau (y - z) if z < y, otherwise (1 - tau)(z - y). The minimiser is the quantile tau. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       quantile
#define LOSS_KINKS 1
#define LOSS_LINEAR
#define LOSS_TASK      BMRM_TASK_REGRESSION
#define LOSS_PARAMETER "-bmrm_loss_quantile", "loss quantile: the quantile tau", 0.5, 0, 1

FORMULA double LossValue(double z, double y, const double p[])
{
  return z > y ? (1 - p[0]) * (z - y) : p[0] * (y - z);
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return z > y || (z == y && side > 0) ? 1 - p[0] : -p[0];
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y;
}

#define LossKink(k, y, p) y, 1, 0 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
