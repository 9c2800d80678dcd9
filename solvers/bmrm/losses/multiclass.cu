/* Several classes, margin rescaling: max over the classes c of |c - y|^d + z_c - z_y. With d = 0 this is the loss of Crammer and Singer (2001). */
#include "solvers/bmrm/losses/multiclass.h"

#define LOSS multiclass

FORMULA void ClassLine(const BMRMExample *x, int c, double *value, double *slope)
{
  *value = ClassCost(x, c) + ClassScore(x, c) - ClassScore(x, ClassOf(x));
  *slope = ClassAlong(x, c) - ClassAlong(x, ClassOf(x));
}

FORMULA double ClassSlope(const BMRMExample *x, const double state[], int c)
{
  return (c == state[0]) - (c == ClassOf(x));
}

#include "solvers/bmrm/bmrmclassrows.h"
