/* Losses over the pairs of examples of one list that have different labels. The example with the larger label should have a score that is larger
   by at least 1.

   Suffix _Host or _CUDA: the steps of pairwise.cu, in which all examples are processed in parallel. Suffix Sweep: a serial algorithm for one core. */
#ifndef BMRM_PAIRWISE_H
#define BMRM_PAIRWISE_H

#include "solvers/bmrm/bmrmlists.h"

#if defined(__cplusplus)
extern "C" {
#endif
/* the mean over the pairs of max(0, 1 - (z_i - z_j)) */
GpErr BMRMPairsCut_Host(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMPairsCut_CUDA(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMPairsSweep(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);

/* the mean over the pairs of (y_i - y_j) max(0, 1 - (z_i - z_j)) */
GpErr BMRMDistantPairsCut_Host(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMDistantPairsCut_CUDA(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMDistantPairsSweep(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
#if defined(__cplusplus)
}
#endif

#endif
