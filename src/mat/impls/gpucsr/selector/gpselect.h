/* The selector: which kernel for which matrix.  The black box: features, a model learnt from measured times, and where asked
   for a measurement, stand behind one call. */
#ifndef GPSELECT_H
#define GPSELECT_H

#include "mat/impls/gpucsr/kernels/gpkernel.h"
#include "mat/impls/gpucsr/selector/gpmodel.h"

typedef enum {
  GP_SELECT_MODEL,   /* the times that the nearest GPU's model expects */
  GP_SELECT_MEASURE, /* time its leading candidates on the device, keep the best */
  GP_SELECT_FIXED    /* a rule by mean and longest row */
} GpSelMode;

typedef struct {
  GpSelMode mode;
  int       kernel; /* asked for by name; -1: none */
  double    budget; /* bytes that the format may hold beyond the compressed rows; negative: any */
  int       adds;   /* do products mostly add to a vector, as those of an off-diagonal block do? */
} GpSelOptions;

#define GP_SEL_LEADING    5 /* kernels that a choice takes from a model, fastest first */
#define GP_SEL_CANDIDATES 8 /* in a choice */
#define GP_SEL_MEASURED   4 /* of which so many are timed */

typedef struct {
  int    kernel;    /* row of the kernel table */
  int    runner_up; /* the next best, -1: none considered */
  int    candidates, candidate[GP_SEL_CANDIDATES];
  double seconds[GP_SEL_CANDIDATES]; /* of a product, where measured; else 0 */
  char   why[384];
} GpChoice;

/* the candidates in the order of the mode's expectation; the last keep to compressed rows, which fit every matrix */
void GpSelChoose(const GpSelOptions *options, const GpFeatures *F, GpChoice *choice);

/* the features, and the choice */
GpErr GpSelDecide(const GpSelOptions *options, const GpCsr *A, GpFeatures *F, GpChoice *choice);

/* Chooses, and builds the format of the choice.  A candidate whose format refuses the matrix, or does not fit the budget or
   the device, leaves its place to the next and its reason in choice->why.  rowptr: the host's copy of A->rowptr. */
GpErr GpSelBuild(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], GpFeatures *F, GpChoice *choice, GpFmt *fmt);

#endif
