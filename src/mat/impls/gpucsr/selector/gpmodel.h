/* Models: what selector/train.c learnt from tables of measured times, one for each GPU that has been measured.  A model expects a time of every
   kernel that is worth choosing: a law (terms.def) times what trees say of matrices like this one. */
#ifndef GPMODEL_H
#define GPMODEL_H

#include "mat/impls/gpucsr/selector/gpterms.h"
#include <stddef.h>

#define GP_SEL_MODELLED 32    /* kernels of a model at most */
#define GP_SEL_STEPS    500.0 /* of a leaf's numbers to 1: they add up to the logarithm of the time over the law's */

typedef struct {
  short  feature;   /* -1: a leaf */
  short  low, high; /* the node for values up to the threshold, and for those above; low of a leaf: its place among the leaves */
  double threshold;
} GpSelNode;

typedef struct {
  const char  *gpu;           /* its name, as the runtime tells it */
  int          compute_units; /* likewise */
  double       cache;
  const char  *source; /* table and commit that it was learnt from */
  int          kernels, trees;
  const short *kernel;           /* [kernels] rows of the kernel table */
  const double (*law)[GP_TERMS]; /* [kernels] microseconds of a term */
  const short       *root;       /* [trees] nodes */
  const GpSelNode   *node;
  const signed char *leaf; /* [leaves * kernels] */
} GpSelModel;

const GpSelModel *GpSelModelNearest(const GpFeatures *F);                                     /* NULL: no model for this runtime */
void              GpSelModelTimes(const GpSelModel *model, const GpFeatures *F, double us[]); /* [kernels] microseconds that it expects */

#endif
