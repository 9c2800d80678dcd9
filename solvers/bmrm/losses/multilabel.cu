/* Some of several classes: max(0, 1 + the highest score of a class that the example is not of - the lowest of one that it is of), Elisseeff and
   Weston's ranking with the worst pair; 0 for examples of all classes or of none. */
#include "solvers/bmrm/bmrmclasses.h"

#define LOSS        multilabel
#define LOSS_TASK   BMRM_TASK_MULTILABEL
#define CLASS_LINES 0

/* the two classes, -1 each where the loss is 0 */
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
