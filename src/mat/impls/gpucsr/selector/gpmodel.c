/* The models, which of them is nearest, and the walk down its tree. */
#include "mat/impls/gpucsr/selector/gpmodel.h"

#include "mat/impls/gpucsr/kernels/gpkernel.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* a GPU's model is one header, written by train, and one line in each of these lists */
#include "mat/impls/gpucsr/selector/model_h200.h"

static const GpSelModel *const Models[] = {&GpSelModel_h200};

/* Features are relative to multiprocessors and cache, so a model serves its GPU's relatives; the same GPU first. */
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

const short *GpSelModelWalk(const GpSelModel *model, const GpFeatures *F, char *path, size_t length)
{
  const GpSelNode *node = model->nodes;
  size_t           used = 0;

  path[0] = 0;
  while (node->feature >= 0) {
    const double value = F->value[node->feature];
    const int    low   = value <= node->threshold;

    if (used < length) used += (size_t)snprintf(path + used, length - used, "%s%s %.3g %s %.3g", used ? ", " : "", GpFeatureNames[node->feature], value, low ? "<=" : ">", node->threshold);
    node = model->nodes + (low ? node->low : node->high);
  }
  return model->leaves[node->low];
}
