/* Several classes, logistic: log sum_c exp(z_c) - z_y, the negative logarithm of the probability that the model assigns to the class y. */
#include "solvers/bmrm/bmrmclasses.h"

#define LOSS        softmax
#define LOSS_TASK   BMRM_TASK_MULTICLASS
#define CLASS_LINES 0

/* state[0]: the highest score. state[1]: the sum of exp(score - state[0]) over all classes, which cannot overflow. */
FORMULA void ClassState(const BMRMExample *x, double state[])
{
  state[0] = ClassScore(x, 0);
  state[1] = 0;
  for (int c = 1; c < x->k; c++) state[0] = Larger(state[0], ClassScore(x, c));
  for (int c = 0; c < x->k; c++) state[1] += exp(ClassScore(x, c) - state[0]);
}

FORMULA double ClassProbability(const BMRMExample *x, const double state[], int c)
{
  return exp(ClassScore(x, c) - state[0]) / state[1];
}

FORMULA double ClassSlope(const BMRMExample *x, const double state[], int c)
{
  return ClassProbability(x, state, c) - (c == ClassOf(x));
}

/* For the slopes at these scores, the negative conjugate of the loss is the entropy of the probabilities. */
FORMULA double ClassOffset(const BMRMExample *x, const double state[])
{
  double entropy = 0;

  for (int c = 0; c < x->k; c++) {
    const double u = ClassProbability(x, state, c);

    if (u > 0) entropy -= u * log(u);
  }
  return entropy;
}

FORMULA double ClassCurvature(const BMRMExample *x, const double state[])
{
  double mean = 0, square = 0;

  for (int c = 0; c < x->k; c++) mean += ClassProbability(x, state, c) * ClassAlong(x, c);
  for (int c = 0; c < x->k; c++) square += ClassProbability(x, state, c) * (ClassAlong(x, c) - mean) * (ClassAlong(x, c) - mean);
  return square;
}

#if !defined(__CUDACC__)
  #include "softmaxhost.h"
#endif
#include "solvers/bmrm/bmrmclassrows.h"
