/* Adjusts the coefficients of all kernels together. Each separate fit predicts the times of its kernel well, but the selection depends only on which
   predicted time is smallest. Gradient descent reduces the loss of a smoothed selection: kernels with similar predicted times are selected with
   similar probabilities, so that the loss has a gradient.

   A small weight on the errors of the times keeps the predictions in microseconds. A penalty on large coefficients (ridge: A. E. Hoerl, R. W.
   Kennard, "Ridge Regression", Technometrics 12, 1970) keeps coefficients small that few cases determine. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS     300   /* steps of the descent; their length decreases linearly to 0 */
#define PACE      0.01  /* length of the first step, for coefficients in units of a matrix's best time */
#define UNDECIDED 0.05  /* a kernel whose predicted time is larger by this difference of logarithms is selected e times less often */
#define FARTHEST  1.5   /* losses (logarithms) are capped at this value */
#define TRUTH     0.1   /* weight of the errors of the predicted times */
#define RIDGE     0.001 /* weight of the squares of the coefficients */

typedef double Grid[GP_TERMS_COST][GP_SEL_MODELLED];

typedef struct {
  double term[GP_TERMS_COST]; /* terms over the best time to the power GP_SEL_POWER, each in units of its root mean square */
  double least;               /* GP_SEL_LEAST over the best time, to the same power */
  /* loss: penalty of selecting the kernel, INFINITY if refused; time: logarithm of its time over the best; near: weight of its time */
  double loss[GP_SEL_MODELLED], time[GP_SEL_MODELLED], near[GP_SEL_MODELLED];
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

      lesson[i].loss[k] = time > 0 ? far + 2 * far * far : INFINITY; /* several small losses are preferred to one large loss */
      lesson[i].time[k] = far;
      lesson[i].near[k] = LawNearness(c, M->candidate[k]);
      near += lesson[i].near[k] / n;
    }
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < M->candidates; k++) lesson[i].near[k] /= near;
}

/* gradient of a lesson's loss with respect to the logarithms of the predicted times */
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

/* logarithms of the predicted times over the best time */
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

/* The predicted time of the selected kernel is on average too small, because the smallest prediction is selected. Returns the mean factor. Applying
   it to all kernels does not change a selection. */
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

/* Adam (D. P. Kingma, J. L. Ba, "Adam: a method for stochastic optimization", ICLR 2015), with coefficients kept non-negative. */
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
