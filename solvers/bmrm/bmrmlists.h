/* Kernels for lists of examples whose scores are compared with each other; all lists are processed in parallel. Without PETSc. The kernels are
   compiled for the host and for CUDA from one source (see device/gpsteps.h). */
#ifndef BMRM_LISTS_H
#define BMRM_LISTS_H

#include "solvers/bmrm/bmrmformula.h"

/* Examples sorted by list, and within a list by descending label. An index into this order is called a position. All arrays are on one device. */
typedef struct {
  int64_t  n;
  int32_t  ngroup, nlabel; /* number of lists; largest number of different labels in a list */
  int64_t  first;          /* number of examples of the first list that have its largest label */
  double  *y, *pairs;      /* label of each position; for each list the number of pairs with different labels */
  int32_t *begin;          /* first position of each list, then n */
  int32_t *group, *rank;   /* list of each position; number of larger labels in its list */
  int32_t *row;            /* row of the score vectors for each position */
} BMRMLists;

/* Scores by position, and a linear function that supports the loss at these scores. */
typedef struct {
  BMRMLists     of;
  const double *f, *e;     /* scores at a point, and their derivatives along a line, by row */
  double        s;         /* step along the line */
  double       *z, *u, *c; /* by position: scores f + s e, slopes and offsets of the linear function */
} BMRMListScores;

#if defined(__cplusplus)
extern "C" {
#endif

/* Computes u and c by position. Summed over the positions of a list, u g + c is at most the loss of the list at every g, and equal to it at z. p
   holds the parameters of the loss. */
typedef GpErr (*BMRMListsCut)(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);

/* z = f + s e, by position */
GpErr BMRMListsScores_Host(GpDev, const BMRMListScores *);
GpErr BMRMListsScores_CUDA(GpDev, const BMRMListScores *);

/* Sums over the lists g with g % nblock == block: result[0] of the losses, result[1] of c, result[2] of the slopes along the line. If r is not
   NULL, r = scale u by row, and 0 for the other lists. A NaN or infinity in z makes all sums NaN or infinite. */
GpErr BMRMListsSums_Host(BMRMWork *, const BMRMListScores *, int nblock, int block, double scale, double *r);
GpErr BMRMListsSums_CUDA(BMRMWork *, const BMRMListScores *, int nblock, int block, double scale, double *r);

/* order = the positions sorted by key (0 <= key < nkey), then by ascending z. The sort is stable. */
GpErr BMRMListsOrder_Host(GpDev, int64_t n, const double *z, const int32_t *key, int32_t nkey, int32_t *order);
GpErr BMRMListsOrder_CUDA(GpDev, int64_t n, const double *z, const int32_t *key, int32_t nkey, int32_t *order);

/* Exclusive prefix sums in place, always added in the same order. inout has n + 1 entries; the last one is overwritten by the total. */
GpErr BMRMListsScan_Host(GpDev, int64_t n, double *inout);
GpErr BMRMListsScan_CUDA(GpDev, int64_t n, double *inout);

#if defined(__cplusplus)
}
#endif

#endif
