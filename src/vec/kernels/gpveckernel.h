/* Kernels on vectors, each with its host twin. */
#ifndef GPVECKERNEL_H
#define GPVECKERNEL_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* the twins of one operation, by runtime */
typedef struct {
  GpErr (*gather)(GpDev, int32_t n, const int32_t *index, const double *x, double *packed);     /* packed[k] = x[index[k]] */
  GpErr (*scatteradd)(GpDev, int32_t n, const int32_t *index, const double *packed, double *y); /* y[index[k]] += packed[k]; no index twice */
} GpVecKernels;

extern const GpVecKernels GpVecKernelsHost;
extern const GpVecKernels GpVecKernelsCUDA; /* only with GP_HAVE_CUDA */

#if GP_HAVE_CUDA
  #define GpVecKernelsOf(dev) ((dev)->kind == GP_DEV_CUDA ? &GpVecKernelsCUDA : &GpVecKernelsHost)
#else
  #define GpVecKernelsOf(dev) ((void)(dev), &GpVecKernelsHost)
#endif

#if defined(__cplusplus)
}
#endif
#endif
