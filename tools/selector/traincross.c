/* Cross-validation. Whole families are left out, not single matrices, because members of a family are too similar. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *CrossAllocate(size_t n, size_t size)
{
  void *memory = calloc(n + 1, size);

  if (!memory) abort();
  return memory;
}

static double CrossRelativeSpeed(const Case *c, int chosen)
{
  return chosen < 0 ? 1 / TRAIN_WORST : c->best / c->time[chosen];
}

Score ScoreSummarise(double share[], int n)
{
  Score S = {.worst = 1};

  if (!n) return S;
  for (int i = 0; i < n; i++) {
    S.mean += log(share[i]) / n;
    S.loss += (1 - share[i]) / n;
    S.over10 += (share[i] < 0.9) / (double)n;
  }
  TrainSort(share, n);
  S.mean   = exp(S.mean);
  S.worst  = share[0];
  S.median = 1 - share[n / 2];
  return S;
}

Score ScoreSelection(const Table *T, const int chosen[], const int refused[])
{
  double *share = (double *)CrossAllocate((size_t)T->cases, sizeof(double)), refusals = 0;
  Score   S;

  for (int i = 0; i < T->cases; i++) {
    share[i] = CrossRelativeSpeed(&T->c[i], chosen[i]);
    refusals += refused[i];
  }
  S         = ScoreSummarise(share, T->cases);
  S.refused = refusals / T->cases;
  free(share);
  return S;
}

static const char *CrossGroup(const Case *c, int kinds)
{
  return kinds ? c->kind : c->family;
}

/* for every case the selection of a model that was trained without its family or kind */
Score CrossValidate(const Table *T, int together, int kinds, int chosen[])
{
  const size_t n      = (size_t)T->cases;
  int         *others = (int *)CrossAllocate(n, sizeof(int)), *done = (int *)CrossAllocate(n, sizeof(int)), *refused = (int *)CrossAllocate(n, sizeof(int));
  Score        S;

  for (int i = 0; i < T->cases; i++) {
    Model M;
    int   have = 0;

    if (done[i]) continue;
    for (int j = 0; j < T->cases; j++)
      if (strcmp(CrossGroup(&T->c[i], kinds), CrossGroup(&T->c[j], kinds))) others[have++] = j;
    ModelTrain(&M, T, others, have, together);
    for (int j = i; j < T->cases; j++) {
      if (strcmp(CrossGroup(&T->c[i], kinds), CrossGroup(&T->c[j], kinds))) continue;
      chosen[j] = ModelSelect(&M, &T->c[j], &refused[j]);
      done[j]   = 1;
    }
  }
  S = ScoreSelection(T, chosen, refused);
  free(others);
  free(done);
  free(refused);
  return S;
}
