/* Fits the predicted time of one kernel: a sum of terms (model/terms.def) to one power, with non-negative coefficients, in microseconds. Such a sum
   extrapolates to matrices unlike the measured ones, while a decision rule learnt from examples repeats the nearest example. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 400  /* sweeps of coordinate descent */
#define ROUNDS 4    /* fits with updated weights; in the first, weights do not depend on errors */
#define DUST   1e-9 /* share of a sum below which a term is rounding error */
#define NEAR   0.4  /* A kernel slower than the best by exp(0.4) has half the weight: times of kernels that are never selected need not be accurate. */
#define ALWAYS 0.99 /* share of the matrices beyond a limit that a format must refuse for the limit to apply to its kernel */

/* minimises x' G x - 2 h' x over x >= 0 by coordinate descent; G is small and the solution has many zeros */
static void FitDescend(double gram[GP_TERMS_COST][GP_TERMS_COST], const double right[GP_TERMS_COST], double x[GP_TERMS_COST])
{
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int t = 0; t < GP_TERMS_COST; t++) {
      double slope = right[t];

      if (gram[t][t] <= 0) continue;
      for (int u = 0; u < GP_TERMS_COST; u++) slope -= gram[t][u] * x[u];
      x[t] = fmax(0, x[t] + slope / gram[t][t]);
      if (x[t] * gram[t][t] < DUST * right[t]) x[t] = 0;
    }
  }
}

double FitWeight(const Case *c, int kernel)
{
  const double far = c->warm[kernel] > 0 ? log(c->time[kernel] / c->best) / NEAR : INFINITY;

  return 1 / (1 + far * far);
}

/* adds the limits beyond which the kernel's format refused the matrices of the table */
static void FitLimits(const Table *T, const int which[], int n, int kernel, double coefficients[GP_TERMS])
{
  for (int t = GP_TERMS_COST; t < GP_TERMS; t++) {
    int beyond = 0, refused = 0;

    for (int i = 0; i < n; i++) {
      const Case *c = &T->c[which[i]];

      if (c->input[GP_FEATURES + t] == 0) continue;
      beyond++;
      refused += c->time[kernel] == 0;
    }
    if (refused > ALWAYS * beyond) coefficients[t] = GP_SEL_NEVER;
  }
}

/* Least squares of relative errors, iteratively reweighted. Later rounds reduce the weight of cases far from the fit, so that a coarse timing of a
   slow kernel or a disturbed measurement has little influence. */
void FitKernel(const Table *T, const int which[], int n, int kernel, double coefficients[GP_TERMS])
{
  memset(coefficients, 0, GP_TERMS * sizeof(double));
  for (int round = 0; round < ROUNDS; round++) {
    double gram[GP_TERMS_COST][GP_TERMS_COST] = {{0}}, right[GP_TERMS_COST] = {0};

    for (int i = 0; i < n; i++) {
      const Case   *c    = &T->c[which[i]];
      const double *term = c->input + GP_FEATURES;
      const double  time = c->time[kernel], part = GpSelToPower(time), guess = GpSelPredict(coefficients, c->input) / time;
      double        weight = 1;

      if (c->warm[kernel] <= 0) continue; /* refused or not timed */
      weight = FitWeight(c, kernel);
      if (round) weight /= fmax(TRAIN_CLOSE, fabs(log(guess))) * fmax(guess, 0.3);
      for (int t = 0; t < GP_TERMS_COST; t++) {
        const double a = weight * term[t] / part;

        right[t] += a;
        if (a != 0)
          for (int u = 0; u <= t; u++) gram[t][u] += a * term[u] / part;
      }
    }
    for (int t = 0; t < GP_TERMS_COST; t++)
      for (int u = 0; u < t; u++) gram[u][t] = gram[t][u];
    FitDescend(gram, right, coefficients);
  }
  FitLimits(T, which, n, kernel, coefficients);
}
