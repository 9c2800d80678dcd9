/* Selection: lists candidates in the order of the times that the cost model, or a simple rule, predicts. */
#include "mat/impls/gpucsr/selector/gpselect.h"

#include <math.h>
#include <stdio.h>

static void GpSelAppend(const GpFeatures *F, int kernel, GpChoice *choice)
{
  if (kernel < 0 || choice->candidates == GP_SEL_CANDIDATES || !GpKernelTable[kernel].mult[F->runtime][GP_F32]) return;
  for (int c = 0; c < choice->candidates; c++)
    if (choice->candidate[c] == kernel) return;
  choice->candidate[choice->candidates++] = kernel;
}

/* kernels on compressed rows with 2^k lanes a row */
static const int GpSelLanes[] = {GP_SPMV_csrscalar, GP_SPMV_csrvector2, GP_SPMV_csrvector4, GP_SPMV_csrvector8, GP_SPMV_csrvector16, GP_SPMV_csrvector32};

/* A rule for kernels on compressed rows. Up to seven nonzeros per lane: with fewer lanes per row fewer lanes idle and the reduction is shorter, as
   long as the loads of adjacent rows share cache lines. Nonzeros are distributed instead of rows if one row is much longer than the others, or if
   there are too few rows to fill the GPU. */
static void GpSelRule(const GpFeatures *F, GpChoice *choice, char *why, size_t length)
{
  const double mean = F->mean, longest = F->longest;
  int          k = 0, lanes;
  double       fill;

  while (k < 5 && 7 << k < mean) k++;
  lanes = 1 << k;
  fill  = (double)F->m * lanes / (2048.0 * F->compute_units);
  if (F->runtime == GP_DEV_HOST) {
    snprintf(why, length, "host backend: rows in order");
    GpSelAppend(F, GP_SPMV_csrscalar, choice);
  } else if (longest > 128.0 * lanes && longest > 8 * mean) {
    snprintf(why, length, "uneven rows: longest %.0f, mean %.1f", longest, mean);
    GpSelAppend(F, GP_SPMV_csrsplit, choice);
  } else if (mean > 64 && fill < 1) {
    snprintf(why, length, "%d long rows are too few for the GPU", (int)F->m);
    GpSelAppend(F, GP_SPMV_csrsplit, choice);
  } else snprintf(why, length, "mean row length %.1f", mean);
  GpSelAppend(F, GpSelLanes[k], choice);
  GpSelAppend(F, GP_SPMV_csrsplit, choice);
  GpSelAppend(F, GpSelLanes[k < 5 ? k + 1 : 4], choice);
}

/* appends the kernels with the smallest predicted times */
static void GpSelAppendPredicted(const GpSelModel *model, const GpFeatures *F, GpChoice *choice, char *why, size_t length)
{
  double us[GP_SEL_MODELLED];
  size_t used = (size_t)snprintf(why, length, "model of %s predicts", model->gpu);

  GpSelModelTimes(model, F, us);
  for (int k = 0; k < GP_SEL_LEADING && k < model->kernels; k++) {
    int best = 0;

    for (int c = 1; c < model->kernels; c++)
      if (us[c] < us[best]) best = c;
    if (us[best] >= GP_SEL_NEVER) return;
    if (k < 2 && used < length) used += (size_t)snprintf(why + used, length - used, "%s %s %.3g us", k ? "," : "", GpKernelTable[model->kernel[best]].name, us[best]);
    GpSelAppend(F, model->kernel[best], choice);
    us[best] = INFINITY;
  }
}

void GpSelChoose(const GpSelOptions *options, const GpFeatures *F, GpChoice *choice)
{
  /* csrlist precedes the kernels of the model, which was trained on products that write all rows */
  const int         list  = options->adds && 2.0 * F->empty > F->m && F->nnz && F->longest <= 128;
  const GpSelModel *model = options->mode == GP_SELECT_FIXED ? NULL : GpSelModelNearest(F);
  char              expected[128], rule[64];

  *choice = (GpChoice){.kernel = -1, .runner_up = -1};
  if (options->kernel >= 0) GpSelAppend(F, options->kernel, choice);
  if (list) GpSelAppend(F, GP_SPMV_csrlist, choice);
  if (model) GpSelAppendPredicted(model, F, choice, expected, sizeof(expected));
  GpSelRule(F, choice, rule, sizeof(rule));
  choice->kernel = choice->candidate[0];
  if (choice->candidates > 1) choice->runner_up = choice->candidate[1];
  if (options->kernel >= 0) snprintf(choice->why, sizeof(choice->why), "set by -mat_gpucsr_kernel");
  else if (list) snprintf(choice->why, sizeof(choice->why), "%d of %d rows are nonempty", (int)(F->m - F->empty), (int)F->m);
  else if (model) snprintf(choice->why, sizeof(choice->why), "%s", expected);
  else snprintf(choice->why, sizeof(choice->why), "%s", rule);
}

/* While the device counts, the host runs the selection once for a matrix with unknown features. This brings the model and the code into the host's
   caches. Otherwise, loading them after the counts arrive takes several times as long as the selection. */
GpErr GpSelDecide(const GpSelOptions *options, const GpCsr *A, GpFeatures *F, GpChoice *choice)
{
  GpErr err = GpSelFeaturesBegin(A);

  if (err) return err;
  *F = (GpFeatures){.runtime = GpDevKindOf(A->dev), .compute_units = GpDevComputeUnits(A->dev), .cache = GpDevCacheBytes(A->dev)};
  GpSelChoose(options, F, choice);
  err = GpSelFeaturesEnd(A, F);
  if (!err) GpSelChoose(options, F, choice);
  return err;
}
