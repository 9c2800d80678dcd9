/* Learns a model of the selector from the table of bench_corpus, tells what it is worth, and writes its header.

     train [options] table.csv ...
       --model model_<gpu>.h   write the model there
       --source words          where the table is and which commit made it, for the model's head
       --exclude names         kernels not to learn: those whose sums change from run to run
       --mix w                 learn from warm times (0, the default), cold ones (1), or their weighted geometric mean
       --predictions file.csv  what the model chooses for every matrix, with its family and without having seen it
       --largest n             largest set of the analysis, default 7

   All losses are against the best kernel of the table.  Held out means: the model that chose had seen no matrix of the family. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Table T;

static struct {
  const char *model, *source, *exclude, *predictions;
  double      mix;
  int         largest;
} opt = {.source = "an unnamed table", .largest = 7};

static void Tell(const char *what, Score S)
{
  printf("| %s | %.4f | %.3f | %.2f %% | %.2f %% | %.1f %% | %.3f |\n", what, S.mean, S.worst, 100 * S.loss, 100 * S.median, 100 * S.over10, S.refused);
}

static int CompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void TellDistribution(const char *what, double value[], int n)
{
  qsort(value, (size_t)n, sizeof(double), CompareDoubles);
  if (n) printf("| %s | %.1f | %.1f | %.1f | %d |\n", what, value[n / 2], value[n * 9 / 10], value[n - 1], n);
}

/* features, decision and conversion, and the transpose, in products by the kernel chosen */
static void TellCosts(const int chosen[], double least, double most)
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
  TellDistribution(what, select, n);
  TellDistribution("- with conversion", both, n);
  TellDistribution("- transpose", transpose, t);
  free(select);
}

typedef struct {
  double held, seen, mixed, dbl, mixedbest, worstmixed, roof;
  int    n, nmixed, ndbl, nroof;
} Sum;

/* bytes that the product must move over those that the copy rate moves in its cold time */
static double Roof(const Case *c, int kernel)
{
  const double bytes = c->traffic[T.formatof[kernel]] + 8 * (c->m + c->n);

  return c->cold[kernel] > 0 && T.copyrate > 0 ? bytes / (1e-6 * c->cold[kernel]) / T.copyrate : 0;
}

static void TellKinds(const int held[], const int seen[])
{
  printf("\nBy kind of matrix and side: geometric means; held out choice (and, in brackets, with the family seen) against the best kernel; times of the best cuSPARSE, warm, over those of the held out choice; cold roofline: the "
         "format's own bytes, x and y at the copy rate\n\n");
  printf("| kind | side | cases | chosen / best | best cuSPARSE double | best cuSPARSE mixed | worst | mixed / best kernel | share of the roofline, 1e6 nonzeros up |\n|---|---|---|---|---|---|---|---|---|\n");
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
      if (c->nnz >= 1e6 && Roof(c, held[j]) > 0) {
        S.roof += log(Roof(c, held[j]));
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

static int WritePredictions(const int held[], const int seen[])
{
  FILE *file = fopen(opt.predictions, "w");

  if (!file) return 0;
  fprintf(file, "matrix,family,kind,side,n,nnz,xcache,best_us,seen,seen_us,held,held_us,mixed_us,double_us,roofline\n");
  for (int i = 0; i < T.cases; i++) {
    const Case *c = &T.c[i];

    fprintf(file, "%s,%s,%s,%s,%.0f,%.0f,%.6g,%.4g,%s,%.4g,%s,%.4g,%.4g,%.4g,%.3f\n", c->name, c->family, c->kind, c->side, c->n, c->nnz, c->asked[GP_SEL_xcache], c->best, T.kernel[seen[i]], c->time[seen[i]], T.kernel[held[i]], c->time[held[i]],
            c->mixed, c->dbl, Roof(c, held[i]));
  }
  return !fclose(file);
}

static int Arguments(int argc, char **argv)
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
    else if (!strcmp(argv[i], "--exclude")) opt.exclude = value;
    else if (!strcmp(argv[i], "--predictions")) opt.predictions = value;
    else if (!strcmp(argv[i], "--mix")) opt.mix = atof(value);
    else if (!strcmp(argv[i], "--largest")) opt.largest = atoi(value);
    else return 0;
    i++;
  }
  return files;
}

static int Fail(const char *what, const char *file)
{
  fprintf(stderr, "train: cannot %s %s\n", what, file);
  return 1;
}

/* the best of cuSPARSE, float values beside double vectors, where all its formats were timed: a kernel of ours or, among the kernels, its own should never be much slower */
static void TellRivals(const char *what, const int chosen[])
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

/* What the measurement itself leaves open: of a symmetric matrix and its transpose, timed apart, the best kernel of the one as a choice for the other.
   No model can be asked for more. */
static Score JudgeTwins(int *twins)
{
  double *share = (double *)malloc(((size_t)T.cases + 1) * sizeof(double));
  Score   S;

  if (!share) abort();
  *twins = 0;
  for (int i = 0; i + 1 < T.cases; i++) {
    const Case *c = &T.c[i], *d = c + 1; /* they are in order of their names */

    if (strcmp(c->name, d->name) || memcmp(c->asked, d->asked, sizeof(c->asked))) continue;
    for (int side = 0; side < 2; side++, c = d, d = &T.c[i]) {
      int best = 0;

      for (int k = 0; k < T.kernels; k++)
        if (c->time[k] == c->best) best = k;
      if (d->time[best] > 0) share[(*twins)++] = d->best / d->time[best];
    }
  }
  S = Summarise(share, *twins);
  free(share);
  return S;
}

static int Coefficients(const Model *M)
{
  int n = 0;

  for (int k = 0; k < M->candidates; k++)
    for (int t = 0; t < GP_TERMS; t++) n += M->law[k][t] > 0;
  return n;
}

static void TellModel(const Model *M, int held[], int seen[], int refused[])
{
  Score S;
  int   twins;
  char  what[96];

  printf("\nThe model: %d candidates, one predicted time each; %d coefficients of %d terms\n\n| | geometric mean | worst | mean loss | median | lose over 10 %% | refusals a choice |\n|---|---|---|---|---|---|---|\n", M->candidates, Coefficients(M),
         GP_TERMS);
  for (int i = 0; i < T.cases; i++) seen[i] = ModelChoose(M, &T.c[i], &refused[i]);
  Tell("all seen", Judge(&T, seen, refused));
  Tell("families held out, each law by itself", HeldOut(&T, 0, 0, held));
  Tell("kinds held out", HeldOut(&T, 1, 1, held));
  Tell("families held out", HeldOut(&T, 1, 0, held));
  S = JudgeTwins(&twins);
  snprintf(what, sizeof(what), "%d symmetric matrices: selected by the measured times of the transpose", twins);
  if (twins) Tell(what, S);
  printf("\nBelow 0.95 of the best cuSPARSE mixed\n\n| | cases beside cuSPARSE | chosen | even the best kernel |\n|---|---|---|---|\n");
  TellRivals("all seen", seen);
  TellRivals("families held out", held);
}

int main(int argc, char **argv)
{
  int        *which, *held, *seen, *refused, set[GP_SEL_MODELLED];
  const char *wrong;
  Model       M;

  if (!Arguments(argc, argv)) {
    fprintf(stderr, "train [--model header] [--source words] [--exclude names] [--mix weight] [--predictions file] [--largest n] table.csv ...\n");
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') i++;
    else if (!TableRead(&T, argv[i], opt.exclude)) return Fail("read", argv[i]);
  }
  wrong = TablePrepare(&T, opt.mix);
  if (wrong) return Fail("learn", wrong);
  if (T.cases < 4) return Fail("learn from so few matrices in", argv[argc - 1]);
  printf("%s: %d matrices and transposes, %d kernels\n", T.gpu, T.cases, T.kernels);
  SetsPrint(&T, opt.largest);
  which   = (int *)malloc((size_t)T.cases * 4 * sizeof(int));
  held    = which + T.cases;
  seen    = held + T.cases;
  refused = seen + T.cases;
  if (!which) abort();
  for (int i = 0; i < T.cases; i++) which[i] = i;
  (void)SetCover(&T, which, T.cases, 1, set);
  ModelLearn(&M, &T, which, T.cases, 1);
  if (opt.model && !ModelWrite(&M, &T, opt.model, opt.source)) return Fail("write", opt.model);
  TellModel(&M, held, seen, refused);
  printf("\nCost in products by the kernel chosen\n\n| | median | 90th percentile | maximum | cases |\n|---|---|---|---|---|\n");
  TellCosts(held, 1e5, 1e6);
  TellCosts(held, 1e6, 1e9);
  TellKinds(held, seen);
  if (opt.predictions && !WritePredictions(held, seen)) return Fail("write", opt.predictions);
  TableFree(&T);
  free(which);
  return 0;
}
