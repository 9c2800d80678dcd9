/* Trains a model: selects its candidates and fits their coefficients. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <string.h>

void ModelLearn(Model *M, const Table *T, const int which[], int n, int together)
{
  memset(M, 0, sizeof(*M));
  M->candidates = SetCover(T, which, n, 0, M->candidate);
  for (int k = 0; k < M->candidates; k++) LawFit(T, which, n, M->candidate[k], M->law[k]);
  if (together) LawsTogether(M, T, which, n);
}

int ModelChoose(const Model *M, const Case *c, int *refused)
{
  double us[GP_SEL_MODELLED];

  for (int k = 0; k < M->candidates; k++) us[k] = GpSelLaw(M->law[k], c->asked);
  for (*refused = 0; *refused < M->candidates; ++*refused) {
    int best = 0;

    for (int k = 1; k < M->candidates; k++)
      if (us[k] < us[best]) best = k;
    if (c->time[M->candidate[best]] > 0) return M->candidate[best];
    us[best] = INFINITY;
  }
  return -1;
}
