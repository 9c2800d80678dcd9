/* Learns a model of the selector from the table of bench_corpus, tells what it is worth, and writes its header.

     train [options] table.csv ...
       --model model_<gpu>.h   write the model there
       --source words          where the table is and which commit made it, for the model's head
       --exclude names         kernels not to learn: those whose sums change from run to run
       --mix w                 learn from warm times (0, the default), cold ones (1), or their weighted geometric mean
       --predictions file.csv  what the model chooses for every matrix, with its family and without having seen it
       --largest n             largest set of the analysis, default 7

   All losses are against the best kernel of the table.  Held out means: the tree that chose had seen no matrix of the family. */
#include "mat/impls/gpucsr/selector/train.h"

#include <ctype.h>
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

typedef struct {
  double mean, worst, over10, refused; /* geometric mean and worst of best/chosen, share with more than 10 % loss, refusals a choice */
} Score;

static Score Judge(const int chosen[], const int refused[])
{
  Score S = {0, 1, 0, 0};

  for (int i = 0; i < T.cases; i++) {
    const double share = chosen[i] < 0 ? 1 / TRAIN_WORST : T.c[i].best / T.c[i].time[chosen[i]];

    S.mean += log(share) / T.cases;
    S.worst = fmin(S.worst, share);
    S.over10 += (share < 0.9) / (double)T.cases;
    S.refused += (double)refused[i] / T.cases;
  }
  S.mean = exp(S.mean);
  return S;
}

static const char *Group(const Case *c, int kinds)
{
  return kinds ? c->kind : c->family;
}

/* for every case the choice of a tree that has seen no case of its family (kind) */
static Score CrossValidate(Limits limits, int kinds, int chosen[])
{
  int  *which = (int *)malloc((size_t)T.cases * sizeof(int)), *refused = (int *)calloc((size_t)T.cases, sizeof(int)), *done = (int *)calloc((size_t)T.cases, sizeof(int));
  Score S;

  if (!which || !refused || !done) abort();
  for (int i = 0; i < T.cases; i++) {
    Tree tree;
    int  n = 0;

    if (done[i]) continue;
    for (int j = 0; j < T.cases; j++)
      if (strcmp(Group(&T.c[i], kinds), Group(&T.c[j], kinds))) which[n++] = j;
    TreeGrow(&tree, &T, which, n, limits);
    for (int j = i; j < T.cases; j++) {
      if (strcmp(Group(&T.c[i], kinds), Group(&T.c[j], kinds))) continue;
      chosen[j] = TreeChoose(&tree, &T, &T.c[j], &refused[j]);
      done[j]   = 1;
    }
    TreeFree(&tree);
  }
  S = Judge(chosen, refused);
  free(which);
  free(refused);
  free(done);
  return S;
}

static void Tell(const char *what, Score S)
{
  printf("| %s | %.4f | %.3f | %.1f %% | %.3f |\n", what, S.mean, S.worst, 100 * S.over10, S.refused);
}

/* the limits that held out families like best, by the geometric mean and a tenth of the worst */
static Limits ChooseLimits(int chosen[])
{
  static const Limits grid[] = {{4, 8, 1e-3}, {6, 8, 1e-3}, {8, 8, 5e-4}, {8, 16, 5e-4}, {12, 5, 2e-4}, {12, 8, 2e-4}, {12, 16, 2e-4}, {16, 4, 1e-4}};
  double              most   = -1;
  Limits              best   = grid[0];

  printf("\nTrees, families held out\n\n| depth, smallest leaf, least gain | geometric mean | worst | lose over 10 %% | refusals a choice |\n|---|---|---|---|---|\n");
  for (size_t g = 0; g < sizeof(grid) / sizeof(grid[0]); g++) {
    const Score S = CrossValidate(grid[g], 0, chosen);
    char        what[64];

    snprintf(what, sizeof(what), "%d, %d, %g", grid[g].depth, grid[g].least, grid[g].gain);
    Tell(what, S);
    if (S.mean + 0.1 * S.worst <= most) continue;
    most = S.mean + 0.1 * S.worst;
    best = grid[g];
  }
  return best;
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

/* NVIDIA H200 -> h200 */
static void ShortName(char name[64])
{
  const char *word = strrchr(T.gpu, ' ');
  int         n    = 0;

  for (word = word ? word + 1 : T.gpu; *word && n < 63; word++) name[n++] = isalnum((unsigned char)*word) ? (char)tolower((unsigned char)*word) : '_';
  name[n] = 0;
}

static void WriteLeaves(FILE *file, const Tree *tree, const char *name)
{
  fprintf(file, "static const short GpSelLeaves_%s[][GP_SEL_LEADING] = {\n", name);
  for (int k = 0; k < tree->nodes; k++) {
    const Node *node = &tree->node[k];

    if (node->feature >= 0) continue;
    fprintf(file, "  {");
    for (int l = 0; l < TRAIN_LEADING; l++) {
      if (node->leaf[l] < 0) fprintf(file, "%s-1", l ? ", " : "");
      else fprintf(file, "%sGP_SPMV_%s", l ? ", " : "", T.kernel[node->leaf[l]]);
    }
    fprintf(file, "}, /* %d cases */\n", node->cases);
  }
  fprintf(file, "};\n\n");
}

static int WriteModel(const Tree *tree)
{
  char  name[64];
  FILE *file = fopen(opt.model, "w");
  int   leaf = 0;

  if (!file) return 0;
  ShortName(name);
  fprintf(file, "/* The model of %s, written by train; do not edit.\n   Learnt from %s: %d matrices and transposes, %d kernels. */\n/* clang-format off */\n", T.gpu, opt.source, T.cases, T.kernels);
  WriteLeaves(file, tree, name);
  fprintf(file, "static const GpSelNode GpSelNodes_%s[] = {\n", name);
  for (int k = 0; k < tree->nodes; k++) {
    const Node *node = &tree->node[k];

    if (node->feature < 0) fprintf(file, "  {-1, %d, 0, 0},\n", leaf++);
    else fprintf(file, "  {GP_SEL_%s, %d, %d, %.9g},\n", T.feature[node->feature], node->low, node->high, node->threshold);
  }
  fprintf(file, "};\n\nstatic const GpSelModel GpSelModel_%s = {\"%s\", %d, %.0f, \"%s\", GpSelNodes_%s, GpSelLeaves_%s};\n/* clang-format on */\n", name, T.gpu, T.units, T.cache, opt.source, name, name);
  return !fclose(file);
}

static int WritePredictions(const int held[], const int seen[])
{
  FILE *file = fopen(opt.predictions, "w");

  if (!file) return 0;
  fprintf(file, "matrix,family,kind,side,nnz,best_us,seen,seen_us,held,held_us,mixed_us,double_us,roofline\n");
  for (int i = 0; i < T.cases; i++) {
    const Case *c = &T.c[i];

    fprintf(file, "%s,%s,%s,%s,%.0f,%.4g,%s,%.4g,%s,%.4g,%.4g,%.4g,%.3f\n", c->name, c->family, c->kind, c->side, c->nnz, c->best, T.kernel[seen[i]], c->time[seen[i]], T.kernel[held[i]], c->time[held[i]], c->mixed, c->dbl, Roof(c, held[i]));
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

int main(int argc, char **argv)
{
  int   *which, *held, *seen, *refused;
  Limits limits;
  Tree   tree;

  if (!Arguments(argc, argv)) {
    fprintf(stderr, "train [--model header] [--source words] [--exclude names] [--mix weight] [--predictions file] [--largest n] table.csv ...\n");
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') i++;
    else if (!TableRead(&T, argv[i], opt.exclude)) return Fail("read", argv[i]);
  }
  TablePrepare(&T, opt.mix);
  if (T.cases < 4) return Fail("learn from so few matrices in", argv[argc - 1]);
  printf("%s: %d matrices and transposes, %d kernels, %d features\n", T.gpu, T.cases, T.kernels, T.features);
  SetsPrint(&T, opt.largest);
  which   = (int *)malloc((size_t)T.cases * 4 * sizeof(int));
  held    = which + T.cases;
  seen    = held + T.cases;
  refused = seen + T.cases;
  if (!which) abort();
  limits = ChooseLimits(held);
  for (int i = 0; i < T.cases; i++) which[i] = i;
  TreeGrow(&tree, &T, which, T.cases, limits);
  for (int i = 0; i < T.cases; i++) seen[i] = TreeChoose(&tree, &T, &T.c[i], &refused[i]);
  printf("\nThe tree: depth at most %d, %d leaves\n\n| | geometric mean | worst | lose over 10 %% | refusals a choice |\n|---|---|---|---|---|\n", limits.depth, TreeLeaves(&tree));
  Tell("all seen", Judge(seen, refused));
  Tell("kinds held out", CrossValidate(limits, 1, held));
  Tell("families held out", CrossValidate(limits, 0, held));
  printf("\nCost in products by the kernel chosen\n\n| | median | 9 of 10 | most | cases |\n|---|---|---|---|---|\n");
  TellCosts(held, 1e5, 1e6);
  TellCosts(held, 1e6, 1e9);
  TellKinds(held, seen);
  if (opt.model && !WriteModel(&tree)) return Fail("write", opt.model);
  if (opt.predictions && !WritePredictions(held, seen)) return Fail("write", opt.predictions);
  TreeFree(&tree);
  TableFree(&T);
  free(which);
  return 0;
}
