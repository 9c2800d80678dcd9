/* Losses of pairs of examples of a list with different labels: the one with the larger label should have the higher score, by 1. */
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

/* the same, every pair times y_i - y_j */
GpErr BMRMDistantPairsCut_Host(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMDistantPairsCut_CUDA(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMDistantPairsSweep(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
#if defined(__cplusplus)
}
#endif

#endif
