/* Several classes, slack rescaling: max over the classes c of |c - y|^d (1 + z_c - z_y), at least 0. Source: Tsochantaridis et al. (2005). */
#include "solvers/bmrm/losses/multiclass.h"

#define LOSS slackmulticlass

FORMULA void ClassLine(const BMRMExample *x, int c, double *value, double *slope)
{
  const double cost = ClassCost(x, c);

  *value = cost * (1 + ClassScore(x, c) - ClassScore(x, ClassOf(x)));
  *slope = cost * (ClassAlong(x, c) - ClassAlong(x, ClassOf(x)));
}

FORMULA double ClassSlope(const BMRMExample *x, const double state[], int c)
{
  return state[1] * ((c == state[0]) - (c == ClassOf(x)));
}

#include "solvers/bmrm/bmrmclassrows.h"
