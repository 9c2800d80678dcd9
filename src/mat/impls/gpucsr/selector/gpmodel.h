/* Models: decision trees that selector/train.c learnt from tables of measured times, one for each GPU that has been measured. */
#ifndef GPMODEL_H
#define GPMODEL_H

#include "mat/impls/gpucsr/selector/gpfeatures.h"
#include <stddef.h>

#define GP_SEL_LEADING 4 /* candidates of a leaf, best first */

typedef struct {
  short  feature;   /* -1: a leaf */
  short  low, high; /* the node for values up to the threshold, and for those above; low of a leaf: its place among the leaves */
  double threshold;
} GpSelNode;

typedef struct {
  const char      *gpu;           /* its name, as the runtime tells it */
  int              compute_units; /* likewise */
  double           cache;
  const char      *source; /* table and commit that it was learnt from */
  const GpSelNode *nodes;
  const short (*leaves)[GP_SEL_LEADING]; /* rows of the kernel table, -1: none */
} GpSelModel;

const GpSelModel *GpSelModelNearest(const GpFeatures *F);                                                  /* NULL: no model for this runtime */
const short      *GpSelModelWalk(const GpSelModel *model, const GpFeatures *F, char *path, size_t length); /* the leaf; path: the decisions in words */

#endif
