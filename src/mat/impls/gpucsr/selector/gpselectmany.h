/* Selection of an SpMM kernel. */
#ifndef GPSELECTMANY_H
#define GPSELECTMANY_H

#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"
#include "mat/impls/gpucsr/selector/gpselect.h"

#define GP_SEL_SAMPLE 32 /* consecutive rows of a sample for GpSelSpread() */

/* Ratio of distinct groups of four columns to entries in the rows of a sample, which a warp reads together. 0.25: every byte of a memory transaction
   is used; 1: every entry needs its own transaction. A sample has at most GP_SEL_SAMPLE rows. */
double GpSelSpread(int32_t rows, const int32_t rowptr[], const int32_t col[]);

/* returns the index in GpSpmmTable; spread is the mean of GpSelSpread() over samples */
int GpSelChooseMany(const GpFeatures *F, double spread, int64_t columns);
int GpSelMayScatter(const GpFeatures *F); /* whether the selection depends on the spread */

#endif
