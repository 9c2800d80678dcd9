/* Models: what selector/train.c learnt from tables of measured times, one for each GPU that has been measured.  A model expects a time of every
   kernel that is worth choosing: a law, which is made of a sum of terms (terms.def). */
#ifndef GPMODEL_H
#define GPMODEL_H

#include "mat/impls/gpucsr/selector/gpterms.h"
#include <stddef.h>

#define GP_SEL_MODELLED 32 /* kernels of a model at most */

typedef struct {
  const char  *gpu;           /* its name, as the runtime tells it */
  int          compute_units; /* likewise */
  double       cache;
  const char  *source; /* table and commit that it was learnt from */
  int          kernels;
  const short *kernel;           /* [kernels] rows of the kernel table */
  const double (*law)[GP_TERMS]; /* [kernels] of a term, see GpSelLaw() */
} GpSelModel;

const GpSelModel *GpSelModelNearest(const GpFeatures *F);                                     /* NULL: no model for this runtime */
void              GpSelModelTimes(const GpSelModel *model, const GpFeatures *F, double us[]); /* [kernels] microseconds that it expects */

#endif
