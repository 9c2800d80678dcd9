/* Trains a model: selects its candidates and fits their coefficients. */
#include "tools/selector/train.h"

#include <math.h>
#include <string.h>

void ModelTrain(Model *M, const Table *T, const int which[], int n, int together)
{
  memset(M, 0, sizeof(*M));
  M->candidates = SetSelectCandidates(T, which, n, 0, M->candidate);
  for (int k = 0; k < M->candidates; k++) FitKernel(T, which, n, M->candidate[k], M->coefficients[k]);
  if (together) FitJointly(M, T, which, n);
}

int ModelSelect(const Model *M, const Case *c, int *refused)
{
  double us[GP_SEL_MODELLED];

  for (int k = 0; k < M->candidates; k++) us[k] = GpSelPredict(M->coefficients[k], c->input);
  for (*refused = 0; *refused < M->candidates; ++*refused) {
    int best = 0;

    for (int k = 1; k < M->candidates; k++)
      if (us[k] < us[best]) best = k;
    if (c->time[M->candidate[best]] > 0) return M->candidate[best];
    us[best] = INFINITY;
  }
  return -1;
}
