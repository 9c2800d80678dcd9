/* The selector: chooses a kernel for a matrix and builds its format. It uses features of the matrix and a cost model, a fixed rule, or measured
   times. */
#ifndef GPSELECT_H
#define GPSELECT_H

#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/selector/model/gpmodel.h"

typedef enum {
  GP_SELECT_MODEL,   /* times predicted by the cost model of the nearest GPU */
  GP_SELECT_MEASURE, /* times of the first candidates, measured on the device */
  GP_SELECT_FIXED    /* a rule by mean and longest row length */
} GpSelMode;

typedef struct {
  GpSelMode mode;
  int       kernel; /* index of a kernel set by its name; -1: none */
  double    budget; /* most bytes that a format may take beyond CSR; negative: no bound */
  int       adds;   /* 1: most products add to a vector, as those of an off-diagonal block do */
} GpSelOptions;

#define GP_SEL_LEADING    5 /* kernels that are taken from a cost model, fastest first */
#define GP_SEL_CANDIDATES 8 /* most candidates of a selection */
#define GP_SEL_MEASURED   4 /* most candidates that are timed */

typedef struct {
  int    kernel;    /* index of the selected kernel in GpKernelTable */
  int    runner_up; /* index of the second-best kernel; -1: there is none */
  int    candidates, candidate[GP_SEL_CANDIDATES];
  double seconds[GP_SEL_CANDIDATES]; /* measured seconds of a product; 0: not measured */
  char   why[384];
} GpChoice;

/* Lists the candidates in the order of the given mode. The last ones work on compressed rows, which suit every matrix. */
void GpSelChoose(const GpSelOptions *options, const GpFeatures *F, GpChoice *choice);

/* computes the features, then calls GpSelChoose() */
GpErr GpSelDecide(const GpSelOptions *options, const GpCsr *A, GpFeatures *F, GpChoice *choice);

/* Selects a kernel and builds its format. If a format refuses the matrix, exceeds the budget or does not fit the device, the next candidate is tried,
   and the reason is appended to choice->why. rowptr: the host's copy of A->rowptr, or NULL. */
GpErr GpSelBuild(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], GpFeatures *F, GpChoice *choice, GpFmt *fmt);

#endif
