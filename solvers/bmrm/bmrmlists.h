/* Lists of examples whose scores are compared with each other, all lists at once: what kernels know of them, and the steps that losses have in
   common. Without PETSc; the kernels are compiled for the host and for the GPU from one text (see device/gpsteps.h). */
#ifndef BMRM_LISTS_H
#define BMRM_LISTS_H

#include "solvers/bmrm/bmrmformula.h"

/* Examples in the order of their lists, within a list by falling label: their places. All arrays are on one device. */
typedef struct {
  int64_t  n;
  int32_t  ngroup, nlabel; /* lists; different labels that a list has at most */
  int64_t  first;          /* examples of the first list with its largest label */
  double  *y, *pairs;      /* labels; of every list the pairs with different labels */
  int32_t *begin;          /* where the lists begin, and the last one ends */
  int32_t *group, *rank;   /* of every place: its list, and how many labels of that are larger */
  int32_t *row;            /* of every place: where its score is */
} BMRMLists;

/* what the parts of a loss come from: scores by place, and the linear function that touches it there, also by place */
typedef struct {
  BMRMLists     of;
  const double *f, *e; /* scores at a point and along a line, by row */
  double        s;     /* the place on it */
  double       *z, *u, *c;
} BMRMListScores;

#if defined(__cplusplus)
extern "C" {
#endif

/* u and c by place: over the places of a list, the sum of u g + c is at most its loss at every g, and equal to it at z; p are the parameters */
typedef GpErr (*BMRMListsCut)(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);

/* z = f + s e, by place */
GpErr BMRMListsScores_Host(GpDev, const BMRMListScores *);
GpErr BMRMListsScores_CUDA(GpDev, const BMRMListScores *);

/* Over the lists g with g % nblock == block: result[0] the sum of the losses, [1] of c, [2] of the slopes along the line; r, unless NULL, becomes
   scale u by row, and 0 for other lists. What is not finite in z shows in all sums. */
GpErr BMRMListsSums_Host(BMRMWork *, const BMRMListScores *, int nblock, int block, double scale, double *r);
GpErr BMRMListsSums_CUDA(BMRMWork *, const BMRMListScores *, int nblock, int block, double scale, double *r);

/* order = the places by key (0 <= key < nkey), those of one key by rising z, equal ones as they are */
GpErr BMRMListsOrder_Host(GpDev, int64_t n, const double *z, const int32_t *key, int32_t nkey, int32_t *order);
GpErr BMRMListsOrder_CUDA(GpDev, int64_t n, const double *z, const int32_t *key, int32_t nkey, int32_t *order);

/* in place: every entry becomes the sum of those before it, so that the last of n+1 entries, which is not added, becomes the total; always added in the same order */
GpErr BMRMListsScan_Host(GpDev, int64_t n, double *inout);
GpErr BMRMListsScan_CUDA(GpDev, int64_t n, double *inout);

#if defined(__cplusplus)
}
#endif

#endif
