/* The choice: candidates in the order that the model, or a simple rule, expects them to be fast. */
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

/* the row of the table with so many lanes a row, from 1 to 32 */
static int GpSelLanes(int lanes)
{
  for (int k = 0; k < GP_KERNELS; k++)
    if (GpKernelTable[k].format == GP_FMT_CSR && GpKernelTable[k].lanes == lanes) return k;
  return -1;
}

/* A rule for compressed rows.  A lane should find up to seven nonzeros: fewer lanes a row leave fewer idle and add up less, as
   long as the loads of neighbouring rows share cache lines.  It pays to share nonzeros instead of rows when one row would
   keep its lanes busy long after the others have gone, or when there are too few rows to fill the GPU. */
static void GpSelRule(const GpFeatures *F, GpChoice *choice, char *why, size_t length)
{
  const double mean = F->mean, longest = F->longest;
  int          lanes = 1;
  double       fill;

  while (lanes < 32 && 7 * lanes < mean) lanes *= 2;
  fill = (double)F->m * lanes / (2048.0 * F->compute_units);
  if (F->runtime == GP_DEV_HOST) {
    snprintf(why, length, "one core walks the rows in order");
    GpSelAppend(F, GP_SPMV_csrscalar, choice);
  } else if (longest > 128.0 * lanes && longest > 8 * mean) {
    snprintf(why, length, "longest row %.0f, mean %.1f: uneven", longest, mean);
    GpSelAppend(F, GP_SPMV_csrsplit, choice);
  } else if (mean > 64 && fill < 1) {
    snprintf(why, length, "%d long rows leave the GPU idle", (int)F->m);
    GpSelAppend(F, GP_SPMV_csrsplit, choice);
  } else snprintf(why, length, "mean row length %.1f", mean);
  GpSelAppend(F, GpSelLanes(lanes), choice);
  GpSelAppend(F, GP_SPMV_csrsplit, choice);
  GpSelAppend(F, GpSelLanes(lanes < 32 ? 2 * lanes : 16), choice);
}

/* the kernels that the model expects to be fastest, with the times that it expects */
static void GpSelExpected(const GpSelModel *model, const GpFeatures *F, GpChoice *choice, char *why, size_t length)
{
  double us[GP_SEL_MODELLED];
  size_t used = (size_t)snprintf(why, length, "model of %s expects", model->gpu);

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
  const int         list  = options->adds && 2.0 * F->empty > F->m && F->nnz && F->longest <= 128; /* whatever the model, whose products write all rows */
  const GpSelModel *model = options->mode == GP_SELECT_FIXED ? NULL : GpSelModelNearest(F);
  char              expected[128], rule[64];

  *choice = (GpChoice){.kernel = -1, .runner_up = -1};
  if (options->kernel >= 0) GpSelAppend(F, options->kernel, choice);
  if (list) GpSelAppend(F, GP_SPMV_csrlist, choice);
  if (model) GpSelExpected(model, F, choice, expected, sizeof(expected));
  GpSelRule(F, choice, rule, sizeof(rule));
  choice->kernel = choice->candidate[0];
  if (choice->candidates > 1) choice->runner_up = choice->candidate[1];
  if (options->kernel >= 0) snprintf(choice->why, sizeof(choice->why), "asked for by -mat_gpucsr_kernel");
  else if (list) snprintf(choice->why, sizeof(choice->why), "%d of %d rows have entries", (int)(F->m - F->empty), (int)F->m);
  else if (model) snprintf(choice->why, sizeof(choice->why), "%s", expected);
  else snprintf(choice->why, sizeof(choice->why), "%s", rule);
}

/* While the device counts, the host chooses for a matrix of which nothing is known: then neither the model nor what reads it has to come from memory when
   the counts are there, which takes several times as long as the choice. */
GpErr GpSelDecide(const GpSelOptions *options, const GpCsr *A, GpFeatures *F, GpChoice *choice)
{
  GpErr err = GpSelFeaturesBegin(A);

  if (err) return err;
  *F = (GpFeatures){.runtime = A->dev->kind, .compute_units = A->dev->compute_units, .cache = A->dev->cache};
  GpSelChoose(options, F, choice);
  err = GpSelFeaturesEnd(A, F);
  if (!err) GpSelChoose(options, F, choice);
  return err;
}
