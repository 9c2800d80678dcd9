/* Losses of several classes in which predicting class c for an example of class y costs |c - y|^d. */
#ifndef BMRM_MULTICLASS_H
#define BMRM_MULTICLASS_H

#include "solvers/bmrm/bmrmclasses.h"

#define LOSS_TASK      BMRM_TASK_MULTICLASS
#define CLASS_LINES    1
#define LOSS_PARAMETER "-bmrm_loss_distance", "losses multiclass and slackmulticlass: a wrong class costs its distance from the right class to this power", 0, -1e-300, 10

/* The cost of predicting class c for the example: 0 for the right class, 1 for the others if d = 0. */
FORMULA double ClassCost(const BMRMExample *x, int c)
{
  const double distance = fabs(c - x->y[0]);

  return distance == 0 ? 0 : pow(distance, x->p[0]);
}

FORMULA void ClassLine(const BMRMExample *x, int c, double *value, double *slope);

/* state[0]: the class whose line has the largest value, or the right class if no value is positive. state[1]: its cost. */
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
  state[1] = ClassCost(x, (int)state[0]);
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
