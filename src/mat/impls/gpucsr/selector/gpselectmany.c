/* The choice of an SpMM kernel: by the evenness of the rows, and by how near the columns of neighbouring rows are. */
#include "mat/impls/gpucsr/selector/gpselectmany.h"

double GpSelSpread(int32_t rows, const int32_t rowptr[], const int32_t col[])
{
  int64_t entries = 0, groups = 0;

  for (int32_t e = 0, live = 1; live; e++) { /* the e-th entry of every row that has one */
    int32_t at[GP_SEL_SAMPLE];

    live = 0;
    for (int32_t r = 0; r < rows; r++) {
      const int32_t k = rowptr[r] + e;
      int32_t       group, i;

      if (k >= rowptr[r + 1]) continue;
      group = col[k - rowptr[0]] / 4;
      for (i = 0; i < live && at[i] != group; i++) {}
      if (i == live) at[live++] = group;
      entries++;
    }
    groups += live;
  }
  return entries ? (double)groups / (double)entries : 1.0;
}

/* thread by thread, rows should be about equally long, and not so long that few threads do all the work */
int GpSelMayScatter(const GpFeatures *F)
{
  return F->mean <= 64 && F->longest <= 4 * F->mean + 16;
}

/* Columns that stay where they are save their packing; but a thread's rows of more than some sixteen entries, times eight columns, find little of
   what their neighbours read in the cache any more (tests/bench/results tells the times). */
int GpSelChooseMany(const GpFeatures *F, double spread, int64_t columns)
{
  return GpSelMayScatter(F) && spread < 0.5 && (F->mean <= 16 || columns <= 8) ? GP_SPMM_mmscalar8 : GP_SPMM_mmsplit16;
}
