/* The kernel of Richardson's iteration x += omega (b - A x), for the host and for a GPU. */
#ifndef RICHARDSON_H
#define RICHARDSON_H

#include <gpucsrdevicetypes.h>

typedef struct {
  int64_t  n;           /* number of rows */
  double   omega;       /* damping factor */
  double   target;      /* the iteration stops if the 2-norm of the residual is at most this */
  int32_t  it, max_it;  /* iterations so far and at most */
  uint32_t ticket, pad; /* ticket: used by the reduction, 0 between kernels */
  uint64_t loop;        /* handle by which the kernel ends the repetition of the graph; 0: the graph does not repeat */
} RichardsonState;

#if defined(__cplusplus)
extern "C" {
#endif
/* y = A x: updates x and the state, and writes norm[0], the norm of the residual, and norm[1], 1 at the end and otherwise 0. If the graph repeats, it
   writes them at the end only. partial: GP_DEV_PARTS numbers of workspace. */
GpErr RichardsonStep_Host(GpDev, int64_t n, const double *b, const double *y, double *x, double *partial, RichardsonState *, double *norm);
GpErr RichardsonStep_CUDA(GpDev, int64_t n, const double *b, const double *y, double *x, double *partial, RichardsonState *, double *norm);
#if defined(__cplusplus)
}
#endif
#endif
