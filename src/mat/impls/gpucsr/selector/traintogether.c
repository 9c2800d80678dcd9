/* The laws together: each fits its kernel's times as well as a sum of terms can, but what matters is which of them is least.  From there they are changed so that
   who goes by them loses little: descent on the loss of a choice that is the more undecided the nearer the expected times are, which has slopes where
   the choice itself has steps.  What remains of the laws' own errors keeps them microseconds, and a price on large coefficients (a ridge: A. E. Hoerl,
   R. W. Kennard, "Ridge Regression", Technometrics 12, 1970) those that few cases ask for small. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS     300   /* of the descent, which slows down evenly to none */
#define PACE      0.01  /* of the first step: of a coefficient in units of a matrix's best time */
#define UNDECIDED 0.05  /* a kernel expected to be slower by this (a logarithm) is chosen e times less */
#define FARTHEST  1.5   /* a loss (a logarithm) beyond which none is worse */
#define TRUTH     0.1   /* weight of the errors of the times themselves */
#define RIDGE     0.001 /* weight of the squares of the coefficients */

typedef double Grid[GP_TERMS_COST][GP_SEL_MODELLED];

typedef struct {
  double term[GP_TERMS_COST];                                                 /* over the best time to their power, each in units of its root mean square */
  double least;                                                               /* GP_SEL_LEAST over the best time, likewise */
  double loss[GP_SEL_MODELLED], time[GP_SEL_MODELLED], near[GP_SEL_MODELLED]; /* of a choice, INFINITY: refused; logarithm over the best; how much it counts */
} Lesson;

static void MakeLessons(const Model *M, const Table *T, const int which[], int n, Lesson lesson[], double unit[GP_TERMS_COST])
{
  double near = 0;

  for (int t = 0; t < GP_TERMS_COST; t++) {
    double squares = 0;

    for (int i = 0; i < n; i++) {
      lesson[i].term[t] = T->c[which[i]].asked[GP_FEATURES + t] / GpSelPart(T->c[which[i]].best);
      squares += lesson[i].term[t] * lesson[i].term[t] / n;
    }
    unit[t] = squares > 0 ? sqrt(squares) : 1;
    for (int i = 0; i < n; i++) lesson[i].term[t] /= unit[t];
  }
  for (int i = 0; i < n; i++) {
    const Case *c = &T->c[which[i]];

    lesson[i].least = GpSelPart(GP_SEL_LEAST / c->best);
    for (int k = 0; k < M->candidates; k++) {
      const double time = c->time[M->candidate[k]], far = fmin(log(time / c->best), FARTHEST);

      lesson[i].loss[k] = time > 0 ? far + 2 * far * far : INFINITY; /* many small losses rather than a large one */
      lesson[i].time[k] = far;
      lesson[i].near[k] = LawNearness(c, M->candidate[k]);
      near += lesson[i].near[k] / n;
    }
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < M->candidates; k++) lesson[i].near[k] /= near;
}

/* slope of what a lesson loses, by the logarithms of the expected times */
static void SlopeOfTimes(const Lesson *L, int kernels, const double expected[], double slope[])
{
  double chosen[GP_SEL_MODELLED], sum = 0, loss = 0, least = INFINITY;

  for (int k = 0; k < kernels; k++)
    if (L->loss[k] < INFINITY) least = fmin(least, expected[k]);
  for (int k = 0; k < kernels; k++) {
    chosen[k] = L->loss[k] < INFINITY ? exp((least - expected[k]) / UNDECIDED) : 0;
    sum += chosen[k];
  }
  for (int k = 0; k < kernels; k++)
    if (chosen[k] > 0) loss += chosen[k] / sum * L->loss[k];
  for (int k = 0; k < kernels; k++) {
    const double error = expected[k] - L->time[k];

    slope[k] = chosen[k] > 0 ? -chosen[k] / sum * (L->loss[k] - loss) / UNDECIDED : 0;
    if (L->near[k] > 0) slope[k] += TRUTH * L->near[k] * error / sqrt(error * error + TRAIN_CLOSE * TRAIN_CLOSE);
  }
}

/* logarithms over the best time */
static void Expect(const Lesson *L, int kernels, Grid law, double expected[])
{
  double sum[GP_SEL_MODELLED] = {0};

  for (int t = 0; t < GP_TERMS_COST; t++)
    if (L->term[t] > 0)
      for (int k = 0; k < kernels; k++) sum[k] += law[t][k] * L->term[t];
  for (int k = 0; k < kernels; k++) expected[k] = log(fmax(sum[k], L->least)) / GP_SEL_POWER;
}

static void SlopeOfLaws(const Lesson lesson[], int n, int kernels, Grid law, Grid slope)
{
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < kernels; k++) slope[t][k] = 2 * RIDGE * law[t][k];
  for (int i = 0; i < n; i++) {
    const Lesson *L = &lesson[i];
    double        expected[GP_SEL_MODELLED], down[GP_SEL_MODELLED];

    Expect(L, kernels, law, expected);
    SlopeOfTimes(L, kernels, expected, down);
    for (int k = 0; k < kernels; k++) down[k] = expected[k] > log(L->least) / GP_SEL_POWER ? down[k] / GP_SEL_POWER / exp(GP_SEL_POWER * expected[k]) / n : 0;
    for (int t = 0; t < GP_TERMS_COST; t++)
      if (L->term[t] > 0)
        for (int k = 0; k < kernels; k++) slope[t][k] += down[k] * L->term[t];
  }
}

/* Whoever is chosen was expected to take less than it does: by this factor, in the mean.  Applied to all laws it changes no choice. */
static double Hope(const Lesson lesson[], int n, int kernels, Grid law)
{
  double sum = 0;

  for (int i = 0; i < n; i++) {
    double expected[GP_SEL_MODELLED], least = INFINITY, time = 0;

    Expect(&lesson[i], kernels, law, expected);
    for (int k = 0; k < kernels; k++) {
      if (lesson[i].loss[k] == INFINITY || expected[k] >= least) continue;
      least = expected[k];
      time  = lesson[i].time[k];
    }
    if (least < INFINITY) sum += time - least;
  }
  return exp(sum / n);
}

/* Every coefficient has a pace of its own (D. P. Kingma, J. L. Ba, "Adam: a method for stochastic optimization", ICLR 2015), and stays above zero. */
static void Descend(const Lesson lesson[], int n, int kernels, Grid law)
{
  Grid slope, mean, square;

  memset(mean, 0, sizeof(mean));
  memset(square, 0, sizeof(square));
  for (int step = 0; step < STEPS; step++) {
    const double pace = PACE * (1 - step / (double)STEPS), young = 1 - pow(0.9, step + 1), old = 1 - pow(0.99, step + 1);

    SlopeOfLaws(lesson, n, kernels, law, slope);
    for (int t = 0; t < GP_TERMS_COST; t++) {
      for (int k = 0; k < kernels; k++) {
        mean[t][k]   = 0.9 * mean[t][k] + 0.1 * slope[t][k];
        square[t][k] = 0.99 * square[t][k] + 0.01 * slope[t][k] * slope[t][k];
        law[t][k]    = fmax(0, law[t][k] - pace * mean[t][k] / young / (sqrt(square[t][k] / old) + 1e-7));
      }
    }
  }
}

void LawsTogether(Model *M, const Table *T, const int which[], int n)
{
  Lesson *lesson = (Lesson *)malloc(((size_t)n + 1) * sizeof(Lesson));
  double  unit[GP_TERMS_COST], hope;
  Grid    law;

  if (!lesson) abort();
  MakeLessons(M, T, which, n, lesson, unit);
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < M->candidates; k++) law[t][k] = M->law[k][t] * unit[t];
  Descend(lesson, n, M->candidates, law);
  hope = Hope(lesson, n, M->candidates, law);
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < M->candidates; k++) M->law[k][t] = GpSelPart(hope) * law[t][k] / unit[t];
  free(lesson);
}
