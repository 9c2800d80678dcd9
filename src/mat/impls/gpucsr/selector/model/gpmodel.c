/* The list of cost models, the choice of the nearest GPU, and the predicted times. */
#include "mat/impls/gpucsr/selector/model/gpmodel.h"

#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include <math.h>
#include <string.h>

/* each GPU has a header, which train writes, and one line in each of these lists */
#include "mat/impls/gpucsr/selector/model/model_h200.h"

static const GpSelModel *const Models[] = {&GpSelModel_h200};

/* Features are relative to multiprocessors and cache size, so a model also serves similar GPUs. The same GPU has distance 0. */
const GpSelModel *GpSelModelNearest(const GpFeatures *F)
{
  const GpSelModel *nearest = NULL;
  double            least   = INFINITY;

  if (F->runtime != GP_DEV_CUDA) return NULL;
  for (size_t k = 0; k < sizeof(Models) / sizeof(Models[0]); k++) {
    const double away = fabs(log((double)F->compute_units / Models[k]->compute_units)) + (F->cache > 0 ? fabs(log(F->cache / Models[k]->cache)) : 0.0);

    if (away >= least) continue;
    least   = away;
    nearest = Models[k];
  }
  return nearest;
}

void GpSelModelTimes(const GpSelModel *model, const GpFeatures *F, double us[])
{
  double input[GP_SEL_INPUTS];

  memcpy(input, F->value, sizeof(F->value));
  GpSelComputeTerms(F->n, F->nnz, input);
  for (int k = 0; k < model->kernels; k++) us[k] = GpSelPredict(model->coefficients[k], input);
}
