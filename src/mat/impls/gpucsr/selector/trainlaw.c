/* A law for each kernel: its time as a sum of terms (terms.def), all to one power, with coefficients that are not negative, in microseconds.  A sum like that
   goes on to hold for matrices unlike all that were measured, where a rule learnt from examples only repeats the nearest. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 400  /* over the coefficients */
#define ROUNDS 4    /* of weights: those of the first are all alike */
#define DUST   1e-9 /* of a sum: rounding, not a term */
#define NEAR   0.4  /* a kernel so far (a logarithm) from a matrix's best counts half: how slow those are that nobody would choose need not be known */
#define ALWAYS 0.99 /* share of the matrices beyond a limit that a format refuses which has it */

/* min |G^(1/2) x| - 2 h x, x >= 0, by going round the coefficients: the matrix is small, and its zeros are many */
static void Descend(double gram[GP_TERMS_COST][GP_TERMS_COST], const double right[GP_TERMS_COST], double x[GP_TERMS_COST])
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

double LawNearness(const Case *c, int kernel)
{
  const double far = c->warm[kernel] > 0 ? log(c->time[kernel] / c->best) / NEAR : INFINITY;

  return 1 / (1 + far * far);
}

/* what the kernel's format is seen to refuse */
static void LawLimits(const Table *T, const int which[], int n, int kernel, double law[GP_TERMS])
{
  for (int t = GP_TERMS_COST; t < GP_TERMS; t++) {
    int beyond = 0, refused = 0;

    for (int i = 0; i < n; i++) {
      const Case *c = &T->c[which[i]];

      if (c->asked[GP_FEATURES + t] == 0) continue;
      beyond++;
      refused += c->time[kernel] == 0;
    }
    if (refused > ALWAYS * beyond) law[t] = GP_SEL_NEVER;
  }
}

/* Least squares of relative errors of the sums.  Later rounds weigh a case less the farther it is from the law: a look at a kernel that was not timed in
   earnest, or a time that something disturbed, must not bend it. */
void LawFit(const Table *T, const int which[], int n, int kernel, double law[GP_TERMS])
{
  memset(law, 0, GP_TERMS * sizeof(double));
  for (int round = 0; round < ROUNDS; round++) {
    double gram[GP_TERMS_COST][GP_TERMS_COST] = {{0}}, right[GP_TERMS_COST] = {0};

    for (int i = 0; i < n; i++) {
      const Case   *c    = &T->c[which[i]];
      const double *term = c->asked + GP_FEATURES;
      const double  time = c->time[kernel], part = GpSelPart(time), guess = GpSelLaw(law, c->asked) / time;
      double        weight = 1;

      if (c->warm[kernel] <= 0) continue; /* refused, or not even looked at */
      weight = LawNearness(c, kernel);
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
    Descend(gram, right, law);
  }
  LawLimits(T, which, n, kernel, law);
}
