/* The selector: which kernel for which matrix.  The black box that later models fill stands behind these two calls. */
#ifndef GPSELECT_H
#define GPSELECT_H

#include "mat/impls/gpucsr/kernels/gpkernel.h"

/* what the choice is made from */
typedef struct {
  GpDevKind runtime;
  int       compute_units;
  int32_t   m, n, nnz;
  int32_t   longest; /* row */
  int32_t   empty;   /* rows */
  double    mean;    /* length of the rows that are not empty */
} GpFeatures;

typedef struct {
  int  kernel;    /* row of the kernel table */
  int  runner_up; /* the next best, -1: none considered */
  char why[128];
} GpChoice;

void GpSelFeatures(GpDev dev, int32_t m, int32_t n, const int32_t rowptr[], GpFeatures *F);
void GpSelChoose(const GpFeatures *F, GpChoice *choice);

#endif
