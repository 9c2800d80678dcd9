/* The hinge loss max(0, 1 - y z) of support vector machines. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       hinge
#define LOSS_KINKS 1
#define LOSS_LINEAR
#define LOSS_TASK BMRM_TASK_CLASSIFICATION

FORMULA double LossValue(double z, double y, const double p[])
{
  const double loss = 1 - y * z;

  return !(loss <= 0) ? loss : 0; /* written so that a NaN is kept */
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  const double loss = 1 - y * z;

  return (loss > 0) | ((loss == 0) & (y * side < 0)) ? -y : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * y;
}

#define LossKink(k, y, p) y, 1, 0 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
