/* Novelty detection: max(0, rho - z), the loss of the linear one-class support vector machine. Labels are ignored. */
#include "solvers/bmrm/bmrmformula.h"

#define LOSS       novelty
#define LOSS_KINKS 1
#define LOSS_LINEAR
#define LOSS_TASK      BMRM_TASK_NOVELTY
#define LOSS_PARAMETER "-bmrm_loss_rho", "loss novelty: the score that an example of the class should reach", 1, 0, INFINITY

FORMULA double LossValue(double z, double y, const double p[])
{
  const double loss = p[0] - z;

  return !(loss <= 0) ? loss : 0;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return z < p[0] || (z == p[0] && side < 0) ? -1 : 0;
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return -u * p[0];
}

#define LossKink(k, y, p) p[0], 1, 0 /* position, jump, bend */

#include "solvers/bmrm/bmrmpointwise.h"
