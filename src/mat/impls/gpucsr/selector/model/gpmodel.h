/* Cost models, one per GPU that was measured; train.c computes them from tables of measured times. A model predicts the time of a product for each of
   its kernels as a sum of terms (terms.def). */
#ifndef GPMODEL_H
#define GPMODEL_H

#include "mat/impls/gpucsr/selector/model/gpterms.h"
#include <stddef.h>

#define GP_SEL_MODELLED 32 /* most kernels of a model */

typedef struct {
  const char  *gpu;           /* name of the GPU as reported by the CUDA runtime */
  int          compute_units; /* number of multiprocessors as reported by the CUDA runtime */
  double       cache;
  const char  *source; /* table of measured times, and the commit that made it */
  int          kernels;
  const short *kernel;                    /* [kernels] indices in GpKernelTable */
  const double (*coefficients)[GP_TERMS]; /* [kernels] coefficients of the terms; see GpSelPredict() */
} GpSelModel;

const GpSelModel *GpSelModelNearest(const GpFeatures *F);                                     /* NULL: no model for this backend */
void              GpSelModelTimes(const GpSelModel *model, const GpFeatures *F, double us[]); /* [kernels] predicted times in microseconds */

#endif
