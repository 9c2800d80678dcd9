/* Analysis of small sets of kernels, after A. El Zein's thesis: the loss if only the best few kernels are kept and the best of these is always
   selected. Loss: the share of the best kernel's speed that is not reached. It is 1 if every kernel of a set refuses a matrix. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel becomes a candidate if it raises the geometric mean of all matrices by the first number, or that of one family by the second. The second
   pair applies to kernels whose format another candidate already uses. A kernel also becomes a candidate if too many matrices are slower than
   cuSPARSE without it. */
static const double Thresholds[2][2] = {{0.003, 0.04}, {0.002, 0.04}};

#define BEHIND  0.95  /* relative to the speed of the best cuSPARSE kernel with float values and double vectors */
#define RESCUES 0.002 /* share of the matrices for which a kernel must prevent this */

#define EXHAUSTIVE 3 /* sets up to this size are searched exhaustively; larger ones are extended greedily and improved by exchanges */

typedef struct {
  double mean, sd, median, worst, flops; /* fractions; flops: mean loss in GFLOP/s */
} Loss;

static double SetTime(const Case *c, const int set[], int n)
{
  double least = 0;

  for (int k = 0; k < n; k++)
    if (c->time[set[k]] > 0 && (least == 0 || c->time[set[k]] < least)) least = c->time[set[k]];
  return least;
}

static Loss SetLoss(const Table *T, const int set[], int n)
{
  double *loss = (double *)malloc(((size_t)T->cases + 1) * sizeof(double)), squares = 0;
  Loss    L = {0, 0, 0, 0, 0};

  if (!loss) abort();
  for (int i = 0; i < T->cases; i++) {
    const double time = SetTime(&T->c[i], set, n);

    loss[i] = time > 0 ? 1 - T->c[i].best / time : 1;
    L.mean += loss[i] / T->cases;
    squares += loss[i] * loss[i] / T->cases;
    L.worst = fmax(L.worst, loss[i]);
    L.flops += loss[i] * 2e-3 * T->c[i].nnz / T->c[i].best / T->cases;
  }
  TrainSort(loss, T->cases);
  L.sd     = sqrt(fmax(squares - L.mean * L.mean, 0));
  L.median = T->cases ? loss[T->cases / 2] : 0;
  free(loss);
  return L;
}

/* Score for the search: the mean loss, or the worst loss with the mean to break ties. Smaller is better. */
static double SetScore(const Table *T, const int set[], int n, int worst)
{
  double mean = 0, most = 0;

  for (int i = 0; i < T->cases; i++) {
    const double time = SetTime(&T->c[i], set, n), loss = time > 0 ? 1 - T->c[i].best / time : 1;

    mean += loss;
    if (loss > most) most = loss;
  }
  return worst ? most + 1e-3 * mean / T->cases : mean / T->cases;
}

static void SetEnumerate(const Table *T, int set[], int have, int n, int worst, double *least, int best[])
{
  if (have == n) {
    const double score = SetScore(T, set, n, worst);

    if (score >= *least) return;
    *least = score;
    memcpy(best, set, (size_t)n * sizeof(int));
    return;
  }
  for (int k = have ? set[have - 1] + 1 : 0; k < T->kernels; k++) {
    set[have] = k;
    SetEnumerate(T, set, have + 1, n, worst, least, best);
  }
}

/* replaces member p by the kernel that reduces the score most; returns 1 if there is one */
static int SetExchange(const Table *T, int set[], int n, int p, int worst, double *least)
{
  int best = -1, old = set[p];

  for (int k = 0; k < T->kernels; k++) {
    set[p]             = k;
    const double score = SetScore(T, set, n, worst);

    if (score < *least - 1e-12) {
      *least = score;
      best   = k;
    }
  }
  set[p] = best >= 0 ? best : old;
  return best >= 0;
}

static void SetSearch(const Table *T, int set[], int n, int worst)
{
  double least = INFINITY;
  int    trial[TRAIN_NAMES];

  if (n <= EXHAUSTIVE) {
    SetEnumerate(T, trial, 0, n, worst, &least, set);
    return;
  }
  set[n - 1] = set[0]; /* the best set with one kernel less, and any other kernel */
  least      = SetScore(T, set, n, worst);
  (void)SetExchange(T, set, n, n - 1, worst, &least);
  for (int again = 1; again;) {
    again = 0;
    for (int p = 0; p < n; p++) again = SetExchange(T, set, n, p, worst, &least) || again;
  }
}

void SetsPrint(const Table *T, int largest)
{
  for (int worst = 0; worst < 2; worst++) {
    int set[TRAIN_NAMES] = {0};

    printf("\nBest sets by smallest %s loss (exhaustive search up to %d kernels, then greedy extension and exchanges); loss of speed relative to the best of all %d kernels\n\n", worst ? "worst" : "mean", EXHAUSTIVE, T->kernels);
    printf("| kernels | mean | sd | median | max | mean GFLOP/s lost | set |\n|---|---|---|---|---|---|---|\n");
    for (int n = 1; n <= largest && n <= T->kernels; n++) {
      Loss L;

      SetSearch(T, set, n, worst);
      L = SetLoss(T, set, n);
      printf("| %d | %.1f %% | %.1f | %.1f | %.1f | %.1f |", n, 100 * L.mean, 100 * L.sd, 100 * L.median, 100 * L.worst, L.flops);
      for (int k = 0; k < n; k++) printf("%s %s", k ? "," : "", T->kernel[set[k]]);
      printf(" |\n");
      if (L.worst == 0) break; /* no larger set can be better */
    }
  }
}

/* Gain of adding a kernel to a set with the given best times: the increase of the mean logarithm of speed over all cases. *forfamily: the same for
   the family that gains most. */
static double SetGain(const Table *T, const int which[], int n, const double time[], int kernel, double *forfamily)
{
  double sum[TRAIN_NAMES] = {0}, all = 0;
  int    cases[TRAIN_NAMES] = {0};

  for (int i = 0; i < n; i++) {
    const Case  *c    = &T->c[which[i]];
    const double gain = c->time[kernel] > 0 && c->time[kernel] < time[i] ? log(time[i] / c->time[kernel]) : 0;

    all += gain / n;
    sum[c->familyof] += gain;
    cases[c->familyof]++;
  }
  *forfamily = 0;
  for (int k = 0; k < T->families; k++)
    if (cases[k]) *forfamily = fmax(*forfamily, sum[k] / cases[k]);
  return all;
}

/* the share of the cases that are slower than cuSPARSE without this kernel and not with it */
static double SetRescues(const Table *T, const int which[], int n, const double time[], int kernel)
{
  int rescued = 0;

  for (int i = 0; i < n; i++) {
    const Case *c = &T->c[which[i]];

    rescued += c->time[kernel] > 0 && c->mixed < BEHIND * time[i] && c->mixed >= BEHIND * c->time[kernel];
  }
  return rescued / (double)n;
}

static int SetHasFormat(const Table *T, const int set[], int n, int format)
{
  for (int k = 0; k < n; k++)
    if (T->formatof[set[k]] == format) return 1;
  return 0;
}

/* Selects the candidates greedily: of the kernels that pass a threshold, adds the one that raises the geometric mean most, until there is none. */
int SetSelectCandidates(const Table *T, const int which[], int n, int print, int set[GP_SEL_MODELLED])
{
  double *time = (double *)malloc(((size_t)n + 1) * sizeof(double));
  int     have = 0;

  if (!time) abort();
  for (int k = 0; T->fixed && k < T->kernels; k++)
    if (!T->barred[k]) set[have++] = k;
  for (int i = 0; i < n; i++) time[i] = TRAIN_WORST * T->c[which[i]].best;
  if (print)
    printf(
      "\nCandidates: kernels that raise the geometric mean by %g %%, or that of one family by %g %% (%g %% or %g %% if another candidate has the same format), or without which %g %% of the matrices are slower than %g of the best cuSPARSE kernel with float values and double vectors\n\n"
      "| kernel | gain over all matrices | largest gain of a family | matrices slower than cuSPARSE without it |\n|---|---|---|---|\n",
      100 * Thresholds[0][0], 100 * Thresholds[0][1], 100 * Thresholds[1][0], 100 * Thresholds[1][1], 100 * RESCUES, BEHIND);
  while (!T->fixed && have < GP_SEL_MODELLED) {
    double most = 0, mostfamily = 0, rescues = 0;
    int    best = -1;

    for (int k = 0; k < T->kernels; k++) {
      const double *enough = Thresholds[SetHasFormat(T, set, have, T->formatof[k])];
      double        forfamily;
      const double  all = SetGain(T, which, n, time, k, &forfamily), rescued = SetRescues(T, which, n, time, k);

      if (T->barred[k] || (all < enough[0] && forfamily < enough[1] && rescued < RESCUES) || all <= most) continue;
      best       = k;
      most       = all;
      mostfamily = forfamily;
      rescues    = rescued;
    }
    if (best < 0) break;
    if (print) printf("| %s | %.1f %% | %.1f %% | %.1f %% |\n", T->kernel[best], 100 * expm1(most), 100 * expm1(mostfamily), 100 * rescues);
    set[have++] = best;
    for (int i = 0; i < n; i++)
      if (T->c[which[i]].time[best] > 0) time[i] = fmin(time[i], T->c[which[i]].time[best]);
  }
  free(time);
  return have;
}
