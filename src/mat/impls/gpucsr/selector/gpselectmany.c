/* Selection of an SpMM kernel, by the variation of row lengths and by the spread of the columns of adjacent rows. */
#include "mat/impls/gpucsr/selector/gpselectmany.h"

double GpSelSpread(int32_t rows, const int32_t rowptr[], const int32_t col[])
{
  int64_t entries = 0, groups = 0;

  for (int32_t e = 0, live = 1; live; e++) { /* entry e of every row that has one */
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

/* With one thread a row, rows should have similar lengths, and no thread may have most of the work. */
int GpSelMayScatter(const GpFeatures *F)
{
  return F->mean <= 64 && F->longest <= 4 * F->mean + 16;
}

/* mmscalar8 does not pack columns, which saves time. But if rows have more than about 16 entries and there are more than eight columns, what adjacent
   rows have read is no longer in the cache. Measured times: tests/bench/results. */
int GpSelChooseMany(const GpFeatures *F, double spread, int64_t columns)
{
  return GpSelMayScatter(F) && spread < 0.5 && (F->mean <= 16 || columns <= 8) ? GP_SPMM_mmscalar8 : GP_SPMM_mmsplit16;
}
