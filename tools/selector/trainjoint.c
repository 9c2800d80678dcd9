/* Adjusts the coefficients of all kernels together. Each separate fit predicts the times of its kernel well, but the selection depends only on which
   predicted time is smallest. Gradient descent reduces the loss of a smoothed selection: kernels with similar predicted times are selected with
   similar probabilities, so that the loss has a gradient.

   A small weight on the errors of the times keeps the predictions in microseconds. A penalty on large coefficients (ridge: A. E. Hoerl, R. W.
   Kennard, "Ridge Regression", Technometrics 12, 1970) keeps coefficients small that few cases determine. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS       300   /* steps of the descent; their length decreases linearly to 0 */
#define STEP_LENGTH 0.01  /* length of the first step, for coefficients in units of a matrix's best time */
#define TEMPERATURE 0.05  /* a kernel whose predicted time is larger by this difference of logarithms is selected e times less often */
#define FARTHEST    1.5   /* losses (logarithms) are capped at this value */
#define TIME_WEIGHT 0.1   /* weight of the errors of the predicted times */
#define RIDGE       0.001 /* weight of the squares of the coefficients */

typedef double Grid[GP_TERMS_COST][GP_SEL_MODELLED];

typedef struct {
  double term[GP_TERMS_COST]; /* terms over the best time to the power GP_SEL_POWER, each in units of its root mean square */
  double least;               /* GP_SEL_LEAST over the best time, to the same power */
  /* loss: penalty of selecting the kernel, INFINITY if refused; time: logarithm of its time over the best; near: weight of its time */
  double loss[GP_SEL_MODELLED], time[GP_SEL_MODELLED], near[GP_SEL_MODELLED];
} Sample;

static void JointMakeSamples(const Model *M, const Table *T, const int which[], int n, Sample sample[], double unit[GP_TERMS_COST])
{
  double near = 0;

  for (int t = 0; t < GP_TERMS_COST; t++) {
    double squares = 0;

    for (int i = 0; i < n; i++) {
      sample[i].term[t] = T->c[which[i]].input[GP_FEATURES + t] / GpSelToPower(T->c[which[i]].best);
      squares += sample[i].term[t] * sample[i].term[t] / n;
    }
    unit[t] = squares > 0 ? sqrt(squares) : 1;
    for (int i = 0; i < n; i++) sample[i].term[t] /= unit[t];
  }
  for (int i = 0; i < n; i++) {
    const Case *c = &T->c[which[i]];

    sample[i].least = GpSelToPower(GP_SEL_LEAST / c->best);
    for (int k = 0; k < M->candidates; k++) {
      const double time = c->time[M->candidate[k]], far = fmin(log(time / c->best), FARTHEST);

      sample[i].loss[k] = time > 0 ? far + 2 * far * far : INFINITY; /* several small losses are preferred to one large loss */
      sample[i].time[k] = far;
      sample[i].near[k] = FitWeight(c, M->candidate[k]);
      near += sample[i].near[k] / n;
    }
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < M->candidates; k++) sample[i].near[k] /= near;
}

/* gradient of a sample's loss with respect to the logarithms of the predicted times */
static void JointTimeGradient(const Sample *L, int kernels, const double predicted[], double slope[])
{
  double chosen[GP_SEL_MODELLED], sum = 0, loss = 0, least = INFINITY;

  for (int k = 0; k < kernels; k++)
    if (L->loss[k] < INFINITY) least = fmin(least, predicted[k]);
  for (int k = 0; k < kernels; k++) {
    chosen[k] = L->loss[k] < INFINITY ? exp((least - predicted[k]) / TEMPERATURE) : 0;
    sum += chosen[k];
  }
  for (int k = 0; k < kernels; k++)
    if (chosen[k] > 0) loss += chosen[k] / sum * L->loss[k];
  for (int k = 0; k < kernels; k++) {
    const double error = predicted[k] - L->time[k];

    slope[k] = chosen[k] > 0 ? -chosen[k] / sum * (L->loss[k] - loss) / TEMPERATURE : 0;
    if (L->near[k] > 0) slope[k] += TIME_WEIGHT * L->near[k] * error / sqrt(error * error + TRAIN_CLOSE * TRAIN_CLOSE);
  }
}

/* logarithms of the predicted times over the best time */
static void JointPredict(const Sample *L, int kernels, Grid coefficients, double predicted[])
{
  double sum[GP_SEL_MODELLED] = {0};

  for (int t = 0; t < GP_TERMS_COST; t++)
    if (L->term[t] > 0)
      for (int k = 0; k < kernels; k++) sum[k] += coefficients[t][k] * L->term[t];
  for (int k = 0; k < kernels; k++) predicted[k] = log(fmax(sum[k], L->least)) / GP_SEL_POWER;
}

static void JointGradient(const Sample sample[], int n, int kernels, Grid coefficients, Grid slope)
{
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < kernels; k++) slope[t][k] = 2 * RIDGE * coefficients[t][k];
  for (int i = 0; i < n; i++) {
    const Sample *L = &sample[i];
    double        predicted[GP_SEL_MODELLED], down[GP_SEL_MODELLED];

    JointPredict(L, kernels, coefficients, predicted);
    JointTimeGradient(L, kernels, predicted, down);
    for (int k = 0; k < kernels; k++) down[k] = predicted[k] > log(L->least) / GP_SEL_POWER ? down[k] / GP_SEL_POWER / exp(GP_SEL_POWER * predicted[k]) / n : 0;
    for (int t = 0; t < GP_TERMS_COST; t++)
      if (L->term[t] > 0)
        for (int k = 0; k < kernels; k++) slope[t][k] += down[k] * L->term[t];
  }
}

/* The predicted time of the selected kernel is on average too small, because the smallest prediction is selected. Returns the mean factor. Applying
   it to all kernels does not change a selection. */
static double JointBias(const Sample sample[], int n, int kernels, Grid coefficients)
{
  double sum = 0;

  for (int i = 0; i < n; i++) {
    double predicted[GP_SEL_MODELLED], least = INFINITY, time = 0;

    JointPredict(&sample[i], kernels, coefficients, predicted);
    for (int k = 0; k < kernels; k++) {
      if (sample[i].loss[k] == INFINITY || predicted[k] >= least) continue;
      least = predicted[k];
      time  = sample[i].time[k];
    }
    if (least < INFINITY) sum += time - least;
  }
  return exp(sum / n);
}

/* Adam (D. P. Kingma, J. L. Ba, "Adam: a method for stochastic optimization", ICLR 2015), with coefficients kept non-negative. */
static void JointDescend(const Sample sample[], int n, int kernels, Grid coefficients)
{
  Grid slope, mean, square;

  memset(mean, 0, sizeof(mean));
  memset(square, 0, sizeof(square));
  for (int step = 0; step < STEPS; step++) {
    const double length = STEP_LENGTH * (1 - step / (double)STEPS), first = 1 - pow(0.9, step + 1), second = 1 - pow(0.99, step + 1);

    JointGradient(sample, n, kernels, coefficients, slope);
    for (int t = 0; t < GP_TERMS_COST; t++) {
      for (int k = 0; k < kernels; k++) {
        mean[t][k]         = 0.9 * mean[t][k] + 0.1 * slope[t][k];
        square[t][k]       = 0.99 * square[t][k] + 0.01 * slope[t][k] * slope[t][k];
        coefficients[t][k] = fmax(0, coefficients[t][k] - length * mean[t][k] / first / (sqrt(square[t][k] / second) + 1e-7));
      }
    }
  }
}

void FitJointly(Model *M, const Table *T, const int which[], int n)
{
  Sample *sample = (Sample *)malloc(((size_t)n + 1) * sizeof(Sample));
  double  unit[GP_TERMS_COST], bias;
  Grid    coefficients;

  if (!sample) abort();
  JointMakeSamples(M, T, which, n, sample, unit);
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < M->candidates; k++) coefficients[t][k] = M->coefficients[k][t] * unit[t];
  JointDescend(sample, n, M->candidates, coefficients);
  bias = JointBias(sample, n, M->candidates, coefficients);
  for (int t = 0; t < GP_TERMS_COST; t++)
    for (int k = 0; k < M->candidates; k++) M->coefficients[k][t] = GpSelToPower(bias) * coefficients[t][k] / unit[t];
  free(sample);
}
