/* The thesis's analysis: how much is lost when only the best few kernels are kept, and chosen among perfectly.
   Loss: the share of the best kernel's speed that is not reached; a matrix that every kernel of a set refuses loses all. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel is worth choosing when it lifts the geometric mean of all matrices by the first share, or that of a family by the second.  One that does so by
   another number of lanes, on a format that is there already, need not do so much.  And one is without which too many matrices fall behind cuSPARSE. */
static const double Cover[2][2] = {{0.003, 0.04}, {0.001, 0.03}};

#define BEHIND  0.95  /* of the speed of the best of cuSPARSE, float values and double vectors */
#define RESCUES 0.002 /* share of the matrices that a kernel keeps from falling so far behind */

#define EXHAUSTIVE 3 /* sets up to this size are all tried; larger ones grow from the best, and are improved by exchanges */

typedef struct {
  double mean, sd, median, worst, flops; /* flops: mean loss in GFLOP/s */
} Loss;

static double SetTime(const Case *c, const int set[], int n)
{
  double least = 0;

  for (int k = 0; k < n; k++)
    if (c->time[set[k]] > 0 && (least == 0 || c->time[set[k]] < least)) least = c->time[set[k]];
  return least;
}

static int CompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
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
  qsort(loss, (size_t)T->cases, sizeof(double), CompareDoubles);
  L.sd     = sqrt(fmax(squares - L.mean * L.mean, 0));
  L.median = T->cases ? loss[T->cases / 2] : 0;
  free(loss);
  return L;
}

/* the quick version for the search: mean, or worst with the mean to tell equals apart */
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

static void Enumerate(const Table *T, int set[], int have, int n, int worst, double *least, int best[])
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
    Enumerate(T, set, have + 1, n, worst, least, best);
  }
}

/* puts into place p whatever helps most; 1: something did */
static int Exchange(const Table *T, int set[], int n, int p, int worst, double *least)
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

static void Search(const Table *T, int set[], int n, int worst)
{
  double least = INFINITY;
  int    trial[TRAIN_NAMES];

  if (n <= EXHAUSTIVE) {
    Enumerate(T, trial, 0, n, worst, &least, set);
    return;
  }
  set[n - 1] = set[0]; /* the best smaller set, and any */
  least      = SetScore(T, set, n, worst);
  (void)Exchange(T, set, n, n - 1, worst, &least);
  for (int again = 1; again;) {
    again = 0;
    for (int p = 0; p < n; p++) again = Exchange(T, set, n, p, worst, &least) || again;
  }
}

void SetsPrint(const Table *T, int largest)
{
  for (int worst = 0; worst < 2; worst++) {
    int set[TRAIN_NAMES] = {0};

    printf("\nBest sets by smallest %s loss (exhaustive up to %d kernels, then grown and exchanged); loss of speed against the best of all %d kernels\n\n", worst ? "worst" : "mean", EXHAUSTIVE, T->kernels);
    printf("| kernels | mean | sd | median | max | mean GFLOP/s lost | set |\n|---|---|---|---|---|---|---|\n");
    for (int n = 1; n <= largest && n <= T->kernels; n++) {
      Loss L;

      Search(T, set, n, worst);
      L = SetLoss(T, set, n);
      printf("| %d | %.1f %% | %.1f | %.1f | %.1f | %.1f |", n, 100 * L.mean, 100 * L.sd, 100 * L.median, 100 * L.worst, L.flops);
      for (int k = 0; k < n; k++) printf("%s %s", k ? "," : "", T->kernel[set[k]]);
      printf(" |\n");
      if (L.worst == 0) break; /* nothing is left to win */
    }
  }
}

/* what a kernel adds to a set whose best times are known: to the logarithm of the mean over all cases, and over those of the family that it serves best */
static double Lift(const Table *T, const int which[], int n, const double time[], int kernel, double *forfamily)
{
  double sum[TRAIN_NAMES] = {0}, all = 0;
  int    cases[TRAIN_NAMES] = {0};

  for (int i = 0; i < n; i++) {
    const Case  *c    = &T->c[which[i]];
    const double lift = c->time[kernel] > 0 && c->time[kernel] < time[i] ? log(time[i] / c->time[kernel]) : 0;

    all += lift / n;
    sum[c->familyof] += lift;
    cases[c->familyof]++;
  }
  *forfamily = 0;
  for (int k = 0; k < T->families; k++)
    if (cases[k]) *forfamily = fmax(*forfamily, sum[k] / cases[k]);
  return all;
}

/* the share of the cases that this kernel keeps from falling behind cuSPARSE */
static double Rescues(const Table *T, const int which[], int n, const double time[], int kernel)
{
  int rescued = 0;

  for (int i = 0; i < n; i++) {
    const Case *c = &T->c[which[i]];

    rescued += c->time[kernel] > 0 && c->mixed < BEHIND * time[i] && c->mixed >= BEHIND * c->time[kernel];
  }
  return rescued / (double)n;
}

static int HasFormat(const Table *T, const int set[], int n, int format)
{
  for (int k = 0; k < n; k++)
    if (T->formatof[set[k]] == format) return 1;
  return 0;
}

/* the kernels that are worth choosing: of those that lift the mean, or that of a family, enough, the one that lifts it most, and again, until there is none */
int SetCover(const Table *T, const int which[], int n, int print, int set[GP_SEL_MODELLED])
{
  double *time = (double *)malloc(((size_t)n + 1) * sizeof(double));
  int     have = 0;

  if (!time) abort();
  for (int i = 0; i < n; i++) time[i] = TRAIN_WORST * T->c[which[i]].best;
  if (print)
    printf("\nCandidates: kernels that lift the geometric mean by %g %%, or that of a family by %g %%; on a format that is there already, by %g %% or %g %%; or that keep %g %% of the matrices from falling below %g of the best cuSPARSE mixed\n\n"
           "| kernel | lifts all | lifts a family | keeps from falling |\n|---|---|---|---|\n",
           100 * Cover[0][0], 100 * Cover[0][1], 100 * Cover[1][0], 100 * Cover[1][1], 100 * RESCUES, BEHIND);
  while (have < GP_SEL_MODELLED) {
    double most = 0, mostfamily = 0, rescues = 0;
    int    best = -1;

    for (int k = 0; k < T->kernels; k++) {
      const double *enough = Cover[HasFormat(T, set, have, T->formatof[k])];
      double        forfamily;
      const double  all = Lift(T, which, n, time, k, &forfamily), rescued = Rescues(T, which, n, time, k);

      if ((all < enough[0] && forfamily < enough[1] && rescued < RESCUES) || all <= most) continue;
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
