/* The choice of an SpMM kernel. */
#ifndef GPSELECTMANY_H
#define GPSELECTMANY_H

#include "mat/impls/gpucsr/kernels/gpspmm.h"
#include "mat/impls/gpucsr/selector/gpselect.h"

#define GP_SEL_SAMPLE 32 /* consecutive rows that GpSelSpread() looks at together */

/* Of how many distinct groups of four columns are the entries of neighbouring rows, relative to the number of entries: from 0.25, when
   a memory transaction for the rows of a warp brings nothing in vain, to 1.  The sample has GP_SEL_SAMPLE rows at most. */
double GpSelSpread(int32_t rows, const int32_t rowptr[], const int32_t col[]);

/* the row of the table of SpMM kernels for so many columns; spread is a mean of GpSelSpread() over samples */
int GpSelChooseMany(const GpFeatures *F, double spread, int64_t columns);
int GpSelMayScatter(const GpFeatures *F); /* does the choice depend on the spread? */

#endif
