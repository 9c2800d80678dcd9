/* What a model is worth on matrices that it has not seen, and how large it should be.
   Families are held out, not matrices: members of a family are too alike.  Settings are never chosen by the cases that a figure is about: families
   that are held out take no part in the cross-validation (inner) that chooses the settings of the model that chooses for them. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTER  8     /* parts that the families (kinds) are dealt into, each with settings of its own */
#define INNER  5     /* parts that the families of the others are dealt into, to choose these settings */
#define ENOUGH 0.001 /* a smaller model is taken when it loses no more than this share of the best one's speed */
#define LEAVES 800   /* of a model at most: those of larger ones were no better on families that they had not seen */

/* tried: these, and of each the first few trees */
static const Settings Shapes[] = {{TRAIN_TREES, 2, 8, 0.2}, {TRAIN_TREES, 3, 8, 0.2}, {TRAIN_TREES, 4, 8, 0.2}};
static const int      Counts[] = {12, 25, 50, TRAIN_TREES};

#define SHAPES ((int)(sizeof(Shapes) / sizeof(Shapes[0])))
#define COUNTS ((int)(sizeof(Counts) / sizeof(Counts[0])))

static void *Get(size_t n, size_t size)
{
  void *room = calloc(n + 1, size);

  if (!room) abort();
  return room;
}

static int CompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double Share(const Case *c, int chosen)
{
  return chosen < 0 ? 1 / TRAIN_WORST : c->best / c->time[chosen];
}

Score Summarise(double share[], int n)
{
  Score S = {.worst = 1};

  if (!n) return S;
  for (int i = 0; i < n; i++) {
    S.mean += log(share[i]) / n;
    S.loss += (1 - share[i]) / n;
    S.over10 += (share[i] < 0.9) / (double)n;
  }
  qsort(share, (size_t)n, sizeof(double), CompareDoubles);
  S.mean   = exp(S.mean);
  S.worst  = share[0];
  S.median = 1 - share[n / 2];
  return S;
}

Score Judge(const Table *T, const int chosen[], const int refused[])
{
  double *share = (double *)Get((size_t)T->cases, sizeof(double)), refusals = 0;
  Score   S;

  for (int i = 0; i < T->cases; i++) {
    share[i] = Share(&T->c[i], chosen[i]);
    refusals += refused[i];
  }
  S         = Summarise(share, T->cases);
  S.refused = refusals / T->cases;
  free(share);
  return S;
}

static const char *Group(const Case *c, int kinds)
{
  return kinds ? c->kind : c->family;
}

/* which part of the cases a group is dealt to; a group is one part's whole */
static void Deal(const Table *T, const int which[], int n, int kinds, int parts, int part[])
{
  int groups = 0;

  for (int i = 0; i < n; i++) {
    int j = 0;

    while (j < i && strcmp(Group(&T->c[which[i]], kinds), Group(&T->c[which[j]], kinds))) j++;
    part[i] = j < i ? part[j] : groups++ % parts;
  }
}

/* sum[shape][count] of the logarithms of the shares that the models reach which have learnt from the other parts */
static void TryPart(const Table *T, const int which[], int n, const int part[], int p, double sum[SHAPES][COUNTS])
{
  int  *others = (int *)Get((size_t)n, sizeof(int)), have = 0, refused;
  Model M;

  for (int i = 0; i < n; i++)
    if (part[i] != p) others[have++] = which[i];
  ModelLaws(&M, T, others, have);
  for (int s = 0; s < SHAPES; s++) {
    ModelTrees(&M, T, others, have, Shapes[s]);
    for (int c = 0; c < COUNTS; c++) {
      M.settings.trees = Counts[c];
      for (int i = 0; i < n; i++)
        if (part[i] == p) sum[s][c] += log(Share(&T->c[which[i]], ModelChoose(&M, &T->c[which[i]], &refused)));
    }
  }
  ModelFree(&M);
  free(others);
}

/* so many leaves may a forest have */
int SettingsLeaves(Settings settings)
{
  return settings.trees << settings.depth;
}

Settings Tune(const Table *T, const int which[], int n)
{
  double   sum[SHAPES][COUNTS] = {{0}}, best = -INFINITY;
  int     *part   = (int *)Get((size_t)n, sizeof(int));
  Settings chosen = Shapes[SHAPES - 1], tried; /* chosen: more leaves than are allowed */

  Deal(T, which, n, 0, INNER, part);
  for (int p = 0; p < INNER; p++) TryPart(T, which, n, part, p, sum);
  for (int small = 0; small < 2; small++) { /* what is best, then what is small */
    for (int s = 0; s < SHAPES; s++) {
      for (int c = 0; c < COUNTS; c++) {
        tried       = Shapes[s];
        tried.trees = Counts[c];
        if (SettingsLeaves(tried) > LEAVES) continue;
        if (!small) best = fmax(best, sum[s][c]);
        else if (sum[s][c] >= best - ENOUGH * n && SettingsLeaves(tried) < SettingsLeaves(chosen)) chosen = tried;
      }
    }
  }
  free(part);
  return chosen;
}

/* for every case of a part's groups the choice of a model that has seen none of its group */
static void ChooseGroups(const Table *T, int kinds, const int part[], int p, Settings settings, int chosen[], int refused[])
{
  int *others = (int *)Get((size_t)T->cases, sizeof(int)), *done = (int *)Get((size_t)T->cases, sizeof(int));

  for (int i = 0; i < T->cases; i++) {
    Model M;
    int   have = 0;

    if (part[i] != p || done[i]) continue;
    for (int j = 0; j < T->cases; j++)
      if (strcmp(Group(&T->c[i], kinds), Group(&T->c[j], kinds))) others[have++] = j;
    ModelLearn(&M, T, others, have, settings);
    for (int j = i; j < T->cases; j++) {
      if (strcmp(Group(&T->c[i], kinds), Group(&T->c[j], kinds))) continue;
      chosen[j] = ModelChoose(&M, &T->c[j], &refused[j]);
      done[j]   = 1;
    }
    ModelFree(&M);
  }
  free(others);
  free(done);
}

Score HeldOut(const Table *T, const Settings *settings, int kinds, int chosen[])
{
  const size_t n    = (size_t)T->cases;
  int         *part = (int *)Get(n, sizeof(int)), *all = (int *)Get(n, sizeof(int)), *others = (int *)Get(n, sizeof(int)), *refused = (int *)Get(n, sizeof(int));
  double       fewest = INFINITY, most = 0;
  Score        S;

  for (int i = 0; i < T->cases; i++) all[i] = i;
  Deal(T, all, T->cases, kinds, OUTER, part);
  for (int p = 0; p < OUTER; p++) {
    int      have = 0;
    Settings mine;

    for (int i = 0; i < T->cases; i++)
      if (part[i] != p) others[have++] = i;
    if (have == T->cases) break; /* fewer groups than parts */
    mine   = settings ? *settings : Tune(T, others, have);
    fewest = fmin(fewest, SettingsLeaves(mine));
    most   = fmax(most, SettingsLeaves(mine));
    ChooseGroups(T, kinds, part, p, mine, chosen, refused);
  }
  S        = Judge(T, chosen, refused);
  S.fewest = (int)fewest;
  S.most   = (int)most;
  free(part);
  free(all);
  free(others);
  free(refused);
  return S;
}
