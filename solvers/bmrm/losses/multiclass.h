/* Losses of several classes for which the cost of a wrong class c grows with its distance to the right one y: as |c - y|^d. */
#ifndef BMRM_MULTICLASS_H
#define BMRM_MULTICLASS_H

#include "solvers/bmrm/bmrmclasses.h"

#define LOSS_TASK   BMRM_TASK_MULTICLASS
#define CLASS_LINES 1
#define LOSS_PARAMETER \
  { \
    "-bmrm_loss_distance", "losses of classes: the cost of a wrong class grows with its distance to the right one to this power", 0, -1e-300, 10 \
  }

/* of taking the example for one of class c */
FORMULA double Cost(const BMRMExample *x, int c)
{
  const double distance = fabs(c - x->y[0]);

  return distance == 0 ? 0 : pow(distance, x->p[0]);
}

FORMULA void ClassLine(const BMRMExample *x, int c, double *value, double *slope);

/* The class whose line is highest, the right one where none is above 0; and its cost. */
FORMULA void ClassState(const BMRMExample *x, double state[])
{
  double most = 0, value, slope;

  state[0] = x->y[0];
  for (int c = 0; c < x->k; c++) {
    ClassLine(x, c, &value, &slope);
    if (value <= most) continue;
    most     = value;
    state[0] = c;
  }
  state[1] = Cost(x, (int)state[0]);
}

FORMULA double ClassOffset(const BMRMExample *x, const double state[])
{
  return state[1];
}

FORMULA double ClassCurvature(const BMRMExample *x, const double state[])
{
  return 0;
}

#endif
