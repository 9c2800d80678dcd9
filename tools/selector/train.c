/* Trains a cost model on the table of bench_corpus, reports how well it selects, and writes it as a C header.

     train [options] table.csv ...
       --model model_<gpu>.h   write the model to this file
       --source words          name of the table and its commit, for the comment in the model
       --exclude names         kernels to leave out: those that do not exist any more, and those whose sums change from run to run
       --candidates names      the only kernels that may become candidates of the model; default: all
       --fixed yes             all of --candidates become candidates, whatever they gain
       --mix w                 train on warm times (0, the default), cold times (1), or their weighted geometric mean
       --predictions file.csv  write the selected kernel of every matrix: trained on all matrices, and by leave-one-family-out
       --largest n             size of the largest set of the analysis, default 7

   Losses are relative to the best kernel of the table. Leave-one-family-out: the model that selects for a matrix was trained without its family. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Table T;

static struct {
  const char *model, *source, *exclude, *candidates, *predictions;
  double      mix;
  int         largest;
} opt = {.source = "an unnamed table", .largest = 7};

static void TrainPrintScore(const char *what, Score S)
{
  printf("| %s | %.4f | %.3f | %.2f %% | %.2f %% | %.1f %% | %.3f |\n", what, S.mean, S.worst, 100 * S.loss, 100 * S.median, 100 * S.over10, S.refused);
}

static void TrainPrintDistribution(const char *what, double value[], int n)
{
  TrainSort(value, n);
  if (n) printf("| %s | %.1f | %.1f | %.1f | %d |\n", what, value[n / 2], value[n * 9 / 10], value[n - 1], n);
}

/* cost of features, decision, conversion and transpose, in products by the selected kernel */
static void TrainPrintCosts(const int chosen[], double least, double most)
{
  double *select = (double *)malloc((size_t)T.cases * 3 * sizeof(double)), *both = select + T.cases, *transpose = both + T.cases;
  int     n = 0, t = 0;
  char    what[96];

  if (!select) abort();
  for (int i = 0; i < T.cases; i++) {
    const Case *c = &T.c[i];

    if (chosen[i] < 0 || c->nnz < least || c->nnz >= most || c->warm[chosen[i]] <= 0) continue;
    select[n] = c->selection / c->warm[chosen[i]];
    both[n++] = (c->selection + c->build[T.formatof[chosen[i]]]) / c->warm[chosen[i]];
    if (c->transpose > 0) transpose[t++] = c->transpose / c->warm[chosen[i]];
  }
  snprintf(what, sizeof(what), "%.0e to %.0e nonzeros: features and decision", least, most);
  TrainPrintDistribution(what, select, n);
  TrainPrintDistribution("- with conversion", both, n);
  TrainPrintDistribution("- transpose", transpose, t);
  free(select);
}

typedef struct {
  double held, seen, mixed, dbl, mixedbest, worstmixed, roof;
  int    n, nmixed, ndbl, nroof;
} Sum;

/* share of the copy rate: bytes that the product must move, over the bytes that the copy rate moves in its cold time */
static double TrainRooflineShare(const Case *c, int kernel)
{
  const double bytes = c->traffic[T.formatof[kernel]] + 8 * (c->m + c->n);

  return c->cold[kernel] > 0 && T.copyrate > 0 ? bytes / (1e-6 * c->cold[kernel]) / T.copyrate : 0;
}

static void TrainPrintKinds(const int held[], const int seen[])
{
  printf("\nBy kind of matrix and side: geometric means. Speed of the kernel selected by leave-one-family-out (in brackets: trained on all matrices) relative to the best kernel. Speedup over the best cuSPARSE, warm. Share of the roofline, cold: "
         "bytes of the format, of x and of y at the copy rate\n\n");
  printf(
    "| kind | side | cases | relative speed | speedup over cuSPARSE, double | speedup over cuSPARSE, mixed | worst, mixed | best kernel over cuSPARSE, mixed | share of the roofline from 1e6 nonzeros up |\n|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < T.cases; i++) {
    int first = 1;
    Sum S     = {.worstmixed = INFINITY};

    for (int j = 0; j < i && first; j++) first = strcmp(T.c[i].kind, T.c[j].kind) || strcmp(T.c[i].side, T.c[j].side);
    if (!first) continue;
    for (int j = i; j < T.cases; j++) {
      const Case *c = &T.c[j];

      if (strcmp(T.c[i].kind, c->kind) || strcmp(T.c[i].side, c->side) || held[j] < 0 || seen[j] < 0) continue;
      S.n++;
      S.held += log(c->best / c->time[held[j]]);
      S.seen += log(c->best / c->time[seen[j]]);
      if (c->mixed > 0) {
        S.mixed += log(c->mixed / c->warm[held[j]]);
        S.mixedbest += log(c->mixed / c->best);
        S.worstmixed = fmin(S.worstmixed, c->mixed / c->warm[held[j]]);
        S.nmixed++;
      }
      if (c->dbl > 0) {
        S.dbl += log(c->dbl / c->warm[held[j]]);
        S.ndbl++;
      }
      if (c->nnz >= 1e6 && TrainRooflineShare(c, held[j]) > 0) {
        S.roof += log(TrainRooflineShare(c, held[j]));
        S.nroof++;
      }
    }
    printf("| %s | %s | %d | %.3f (%.3f) |", T.c[i].kind, T.c[i].side, S.n, exp(S.held / S.n), exp(S.seen / S.n));
    if (S.nmixed) printf(" %.2f | %.2f | %.2f | %.2f |", exp(S.dbl / S.ndbl), exp(S.mixed / S.nmixed), S.worstmixed, exp(S.mixedbest / S.nmixed));
    else printf(" - | - | - | - |");
    if (S.nroof) printf(" %.2f |\n", exp(S.roof / S.nroof));
    else printf(" - |\n");
  }
}

static int TrainWritePredictions(const int held[], const int seen[])
{
  FILE *file = fopen(opt.predictions, "w");

  if (!file) return 0;
  fprintf(file, "matrix,family,kind,side,n,nnz,xcache,best_us,seen,seen_us,held,held_us,mixed_us,double_us,roofline\n");
  for (int i = 0; i < T.cases; i++) {
    const Case *c = &T.c[i];

    fprintf(file, "%s,%s,%s,%s,%.0f,%.0f,%.6g,%.4g,%s,%.4g,%s,%.4g,%.4g,%.4g,%.3f\n", c->name, c->family, c->kind, c->side, c->n, c->nnz, c->input[GP_SEL_xcache], c->best, T.kernel[seen[i]], c->time[seen[i]], T.kernel[held[i]], c->time[held[i]],
            c->mixed, c->dbl, TrainRooflineShare(c, held[i]));
  }
  return !fclose(file);
}

static int TrainParseArguments(int argc, char **argv)
{
  int files = 0;

  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;

    if (argv[i][0] != '-') {
      files++;
      continue;
    }
    if (!value) return 0;
    if (!strcmp(argv[i], "--model")) opt.model = value;
    else if (!strcmp(argv[i], "--source")) opt.source = value;
    else if (!strcmp(argv[i], "--candidates")) opt.candidates = value;
    else if (!strcmp(argv[i], "--fixed")) T.fixed = 1;
    else if (!strcmp(argv[i], "--exclude")) opt.exclude = value;
    else if (!strcmp(argv[i], "--predictions")) opt.predictions = value;
    else if (!strcmp(argv[i], "--mix")) opt.mix = atof(value);
    else if (!strcmp(argv[i], "--largest")) opt.largest = atoi(value);
    else return 0;
    i++;
  }
  return files;
}

static int TrainFail(const char *what, const char *file)
{
  fprintf(stderr, "train: cannot %s %s\n", what, file);
  return 1;
}

/* Counts matrices on which the selected kernel is slower than the best cuSPARSE kernel with float values and double vectors. Uses matrices for which
   all cuSPARSE formats were timed. */
static void TrainPrintSlowerThanVendor(const char *what, const int chosen[])
{
  int n = 0, below = 0, hopeless = 0;

  for (int i = 0; i < T.cases; i++) {
    const Case *c = &T.c[i];

    if (c->mixed <= 0) continue;
    n++;
    below += c->mixed < 0.95 * c->time[chosen[i]];
    hopeless += c->mixed < 0.95 * c->best;
  }
  printf("| %s | %d | %d | %d |\n", what, n, below, hopeless);
}

/* Limit of what a model can reach. A symmetric matrix and its transpose are timed separately; this score selects for one by the measured times of the
   other. */
static Score TrainScoreByTranspose(int *cases)
{
  double *share = (double *)malloc(((size_t)T.cases + 1) * sizeof(double));
  Score   S;

  if (!share) abort();
  *cases = 0;
  for (int i = 0; i + 1 < T.cases; i++) {
    const Case *c = &T.c[i], *d = c + 1; /* cases are sorted by name */

    if (strcmp(c->name, d->name) || memcmp(c->input, d->input, sizeof(c->input))) continue;
    for (int side = 0; side < 2; side++, c = d, d = &T.c[i]) {
      int best = 0;

      for (int k = 0; k < T.kernels; k++)
        if (c->time[k] == c->best) best = k;
      if (d->time[best] > 0) share[(*cases)++] = d->best / d->time[best];
    }
  }
  S = ScoreSummarise(share, *cases);
  free(share);
  return S;
}

static int TrainCountCoefficients(const Model *M)
{
  int n = 0;

  for (int k = 0; k < M->candidates; k++)
    for (int t = 0; t < GP_TERMS; t++) n += M->coefficients[k][t] > 0;
  return n;
}

static void TrainPrintModel(const Model *M, int held[], int seen[], int refused[])
{
  Score S;
  int   cases;
  char  what[96];

  printf(
    "\nThe model: %d candidates, one predicted time each; %d coefficients of %d terms\n\n| speed relative to the best kernel | geometric mean | worst | mean loss | median loss | losses over 10 %% | refused formats per selection |\n|---|---|---|---|---|---|---|\n",
    M->candidates, TrainCountCoefficients(M), GP_TERMS);
  for (int i = 0; i < T.cases; i++) seen[i] = ModelSelect(M, &T.c[i], &refused[i]);
  TrainPrintScore("trained on all matrices", ScoreSelection(&T, seen, refused));
  TrainPrintScore("leave-one-family-out, each kernel fitted separately", CrossValidate(&T, 0, 0, held));
  TrainPrintScore("leave-one-kind-out", CrossValidate(&T, 1, 1, held));
  TrainPrintScore("leave-one-family-out", CrossValidate(&T, 1, 0, held));
  S = TrainScoreByTranspose(&cases);
  snprintf(what, sizeof(what), "%d symmetric matrices: selected by the measured times of the transpose", cases);
  if (cases) TrainPrintScore(what, S);
  printf("\nCases slower than 0.95 of the best cuSPARSE kernel with float values and double vectors\n\n| | cases with cuSPARSE times | slower: selected kernel | slower: best kernel |\n|---|---|---|---|\n");
  TrainPrintSlowerThanVendor("trained on all matrices", seen);
  TrainPrintSlowerThanVendor("leave-one-family-out", held);
}

int main(int argc, char **argv)
{
  int        *which, *held, *seen, *refused, set[GP_SEL_MODELLED];
  const char *wrong;
  Model       M;

  if (!TrainParseArguments(argc, argv)) {
    fprintf(stderr, "usage: train [--model header] [--source words] [--exclude names] [--candidates names] [--fixed yes] [--mix weight] [--predictions file] [--largest n] table.csv ...\n");
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') i++;
    else if (!TableRead(&T, argv[i], opt.exclude)) return TrainFail("read", argv[i]);
  }
  wrong = TablePrepare(&T, opt.mix, opt.candidates);
  if (wrong) return TrainFail("train", wrong);
  if (T.cases < 4) return TrainFail("train on fewer than 4 matrices in", argv[argc - 1]);
  printf("%s: %d matrices and transposes, %d kernels\n", T.gpu, T.cases, T.kernels);
  SetsPrint(&T, opt.largest);
  which   = (int *)malloc((size_t)T.cases * 4 * sizeof(int));
  held    = which + T.cases;
  seen    = held + T.cases;
  refused = seen + T.cases;
  if (!which) abort();
  for (int i = 0; i < T.cases; i++) which[i] = i;
  (void)SetSelectCandidates(&T, which, T.cases, 1, set);
  ModelTrain(&M, &T, which, T.cases, 1);
  if (opt.model && !ModelWrite(&M, &T, opt.model, opt.source)) return TrainFail("write", opt.model);
  TrainPrintModel(&M, held, seen, refused);
  printf("\nCost in products by the selected kernel\n\n| | median | 90th percentile | maximum | cases |\n|---|---|---|---|---|\n");
  TrainPrintCosts(held, 1e5, 1e6);
  TrainPrintCosts(held, 1e6, 1e9);
  TrainPrintKinds(held, seen);
  if (opt.predictions && !TrainWritePredictions(held, seen)) return TrainFail("write", opt.predictions);
  TableFree(&T);
  free(which);
  return 0;
}
