/* The first selector: by mean and longest row. */
#include "mat/impls/gpucsr/selector/gpselect.h"

#include <stdio.h>

void GpSelFeatures(GpDev dev, int32_t m, int32_t n, const int32_t rowptr[], GpFeatures *F)
{
  int32_t longest = 0, empty = 0;

  for (int32_t i = 0; i < m; i++) {
    const int32_t length = rowptr[i + 1] - rowptr[i];

    if (length > longest) longest = length;
    empty += length == 0;
  }
  F->runtime       = dev->kind;
  F->compute_units = dev->compute_units;
  F->m             = m;
  F->n             = n;
  F->nnz           = rowptr[m];
  F->longest       = longest;
  F->empty         = empty;
  F->mean          = m > empty ? (double)rowptr[m] / (m - empty) : 0.0;
}

/* the row of the table with so many lanes a row, from 1 to 32 */
static int GpSelLanes(int lanes)
{
  for (int k = 0; k < GP_KERNELS; k++)
    if (GpKernelTable[k].format == GP_FMT_CSR && GpKernelTable[k].lanes == lanes) return k;
  return 0;
}

/* A lane should find up to seven nonzeros: fewer lanes a row leave fewer idle and add up less, as long as the loads of
   neighbouring rows share cache lines (tests/bench/results tells the times this was read from).  It pays to
   share nonzeros instead of rows when one row would keep its lanes busy long after the others have gone, or when there
   are too few rows to fill the GPU. */
static void GpSelChooseCUDA(const GpFeatures *F, GpChoice *choice)
{
  int    lanes = 1;
  double fill;

  while (lanes < 32 && 7 * lanes < F->mean) lanes *= 2;
  fill = (double)F->m * lanes / (2048.0 * F->compute_units);
  if (F->longest > 128.0 * lanes && F->longest > 8 * F->mean) {
    choice->kernel    = GP_SPMV_csrsplit;
    choice->runner_up = GpSelLanes(lanes);
    snprintf(choice->why, sizeof(choice->why), "longest row %d, mean %.1f: uneven", (int)F->longest, F->mean);
  } else if (F->mean > 64 && fill < 1) {
    choice->kernel    = GP_SPMV_csrsplit;
    choice->runner_up = GpSelLanes(lanes);
    snprintf(choice->why, sizeof(choice->why), "%d long rows leave the GPU idle", (int)F->m);
  } else {
    choice->kernel    = GpSelLanes(lanes);
    choice->runner_up = GP_SPMV_csrsplit;
    snprintf(choice->why, sizeof(choice->why), "mean row length %.1f", F->mean);
  }
}

void GpSelChoose(const GpFeatures *F, GpChoice *choice)
{
  if (2.0 * F->empty > F->m && F->nnz && F->longest <= 128) { /* an off-diagonal block */
    choice->kernel    = GP_SPMV_csrlist;
    choice->runner_up = GP_SPMV_csrscalar;
    snprintf(choice->why, sizeof(choice->why), "%d of %d rows have entries", (int)(F->m - F->empty), (int)F->m);
  } else if (F->runtime == GP_DEV_CUDA) GpSelChooseCUDA(F, choice);
  else {
    choice->kernel    = GP_SPMV_csrscalar;
    choice->runner_up = -1;
    snprintf(choice->why, sizeof(choice->why), "one core walks the rows in order");
  }
}
