/* A model: candidates that are worth choosing, a law for each, and trees for what the laws miss. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOUND 0.6 /* of what is learnt beside a law, a logarithm: how hopeless a hopeless kernel is need not be known */

void ModelLaws(Model *M, const Table *T, const int which[], int n)
{
  memset(M, 0, sizeof(*M));
  M->candidates = SetCover(T, which, n, 0, M->candidate);
  for (int k = 0; k < M->candidates; k++) LawFit(T, which, n, M->candidate[k], M->law[k]);
}

/* the time of a refused kernel is taken for as far above its law as anything may be */
void ModelTrees(Model *M, const Table *T, const int which[], int n, Settings settings)
{
  double *rest = (double *)malloc(((size_t)n * (size_t)M->candidates + 1) * sizeof(double));

  if (!rest) abort();
  for (int k = 0; k < M->candidates; k++) {
    for (int i = 0; i < n; i++) {
      const Case  *c    = &T->c[which[i]];
      const double time = c->time[M->candidate[k]];

      rest[(size_t)i * M->candidates + k] = time > 0 ? fmax(-BOUND, fmin(BOUND, log(time / GpSelLaw(M->law[k], c->asked)))) : BOUND;
    }
  }
  M->settings = settings;
  ForestGrow(M, T, which, n, rest);
  free(rest);
}

void ModelLearn(Model *M, const Table *T, const int which[], int n, Settings settings)
{
  ModelLaws(M, T, which, n);
  ModelTrees(M, T, which, n, settings);
}

void ModelTimes(const Model *M, const Case *c, double us[])
{
  ForestRest(M, c, us);
  for (int k = 0; k < M->candidates; k++) us[k] = GpSelLaw(M->law[k], c->asked) * exp(us[k]);
}

int ModelChoose(const Model *M, const Case *c, int *refused)
{
  double us[GP_SEL_MODELLED];

  ModelTimes(M, c, us);
  for (*refused = 0; *refused < M->candidates; ++*refused) {
    int best = 0;

    for (int k = 1; k < M->candidates; k++)
      if (us[k] < us[best]) best = k;
    if (c->time[M->candidate[best]] > 0) return M->candidate[best];
    us[best] = INFINITY;
  }
  return -1;
}

void ModelFree(Model *M)
{
  ForestFree(M);
}
