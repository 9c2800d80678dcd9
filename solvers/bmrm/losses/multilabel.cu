/* Several labels for one example: max(0, 1 + max of z_c over the classes c with y_c = -1 - min of z_c over those with y_c = +1). This is the
   ranking loss of Elisseeff and Weston, restricted to the worst pair. It is 0 for examples that have all classes or none. */
#include "solvers/bmrm/bmrmclasses.h"

#define LOSS        multilabel
#define LOSS_TASK   BMRM_TASK_MULTILABEL
#define CLASS_LINES 0

/* state[0]: the class of the example with the lowest score. state[1]: the other class with the highest score. Both are -1 if the loss is 0. */
FORMULA void ClassState(const BMRMExample *x, double state[])
{
  int low = -1, high = -1;

  for (int c = 0; c < x->k; c++) {
    if (x->y[c * x->m] > 0) {
      if (low < 0 || ClassScore(x, c) < ClassScore(x, low)) low = c;
    } else if (high < 0 || ClassScore(x, c) > ClassScore(x, high)) high = c;
  }
  if (low < 0 || high < 0 || 1 + ClassScore(x, high) - ClassScore(x, low) <= 0) low = high = -1;
  state[0] = low;
  state[1] = high;
}

FORMULA double ClassSlope(const BMRMExample *x, const double state[], int c)
{
  return (c == state[1]) - (c == state[0]);
}

FORMULA double ClassOffset(const BMRMExample *x, const double state[])
{
  return state[0] >= 0;
}

FORMULA double ClassCurvature(const BMRMExample *x, const double state[])
{
  return 0;
}

#include "solvers/bmrm/bmrmclassrows.h"
