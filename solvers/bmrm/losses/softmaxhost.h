/* The loss softmax on the host: the formulas of softmax.cu, with the same bits, but one exponential for each class instead of up to four. */
#ifndef BMRM_SOFTMAXHOST_H
#define BMRM_SOFTMAXHOST_H

#include "solvers/bmrm/bmrmclasses.h"

#define SOFTMAX_MOST 256 /* largest number of classes whose probabilities are kept */

#define CLASS_HOST_VALUE  SoftmaxValue
#define CLASS_HOST_CUT    SoftmaxCut
#define CLASS_HOST_SLOPES SoftmaxSlopes

FORMULA double ClassValue(const BMRMExample *);
FORMULA double ClassCut(const BMRMExample *, double scale, double *r);
FORMULA void   ClassSlopes(const BMRMExample *, double *first, double *second);

/* Computes scores z and probabilities u. Returns 0, or NaN if a score is not finite. */
static double SoftmaxStart(const BMRMExample *x, double z[], double u[])
{
  double most, all = 0, sum = 0;

  for (int c = 0; c < x->k; c++) sum += z[c] = ClassScore(x, c);
  most = z[0];
  for (int c = 1; c < x->k; c++) most = Larger(most, z[c]);
  for (int c = 0; c < x->k; c++) all += u[c] = exp(z[c] - most);
  for (int c = 0; c < x->k; c++) u[c] /= all;
  return sum - sum;
}

static double SoftmaxEntropy(int k, const double u[])
{
  double entropy = 0;

  for (int c = 0; c < k; c++)
    if (u[c] > 0) entropy -= u[c] * log(u[c]);
  return entropy;
}

static double SoftmaxValue(const BMRMExample *x)
{
  double z[SOFTMAX_MOST], u[SOFTMAX_MOST], bad, value = 0;

  if (x->k > SOFTMAX_MOST) return ClassValue(x);
  bad = SoftmaxStart(x, z, u);
  for (int c = 0; c < x->k; c++) value += (u[c] - (c == ClassOf(x))) * z[c];
  return value + SoftmaxEntropy(x->k, u) + bad;
}

static double SoftmaxCut(const BMRMExample *x, double scale, double *r)
{
  double z[SOFTMAX_MOST], u[SOFTMAX_MOST], bad;

  if (x->k > SOFTMAX_MOST) return ClassCut(x, scale, r);
  bad = SoftmaxStart(x, z, u);
  for (int c = 0; c < x->k; c++) r[c * x->m] = scale * (u[c] - (c == ClassOf(x))) + bad;
  return SoftmaxEntropy(x->k, u) + bad;
}

static void SoftmaxSlopes(const BMRMExample *x, double *first, double *second)
{
  double z[SOFTMAX_MOST], u[SOFTMAX_MOST], bad, sum = 0, mean = 0, square = 0;

  if (x->k > SOFTMAX_MOST) {
    ClassSlopes(x, first, second);
    return;
  }
  bad = SoftmaxStart(x, z, u);
  for (int c = 0; c < x->k; c++) {
    const double along = z[c] = ClassAlong(x, c);

    sum += (u[c] - (c == ClassOf(x))) * along;
    mean += u[c] * along;
  }
  for (int c = 0; c < x->k; c++) square += u[c] * (z[c] - mean) * (z[c] - mean);
  *first += sum + bad;
  *second += square;
}

#endif
