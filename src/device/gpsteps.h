/* Code for both backends (docs/dev/device.md): steps that are written once, and calls of the host or the CUDA implementation of a function.

   A file with steps is compiled by the C compiler for the host and by nvcc for the GPU. The body of a step does the work of one index i. The host
   runs the indices in a loop; the GPU runs them in parallel. GP_IMPL(Function) is Function_Host in the one compilation and Function_CUDA in the
   other. GP_PAIR(Function, parameters) declares both, and GP_ON_DEVICE(dev, Function, arguments) calls the one for the backend of dev.

   Between steps there are scans and stable sorts (CUB on the GPU). The results of GP_COUNT(), which increments a counter, and of GP_SET(), which
   sets bits, must not depend on the order of the indices.

       GP_STEP(Square) { const Args *a = (const Args *)args; a->y[i] = a->x[i] * a->x[i]; }
       err = GP_EACH(dev, Args, Square, n, &a); */
#ifndef GPSTEPS_H
#define GPSTEPS_H

#include "device/gpdevice.h"

#if defined(__CUDACC__)
  #define GP_IMPL(name) name##_CUDA
  #define GP_EXTERN     extern "C"
  #define GP_INLINE     __device__ __forceinline__ static
  #define GP_COUNT(p)   ((void)atomicAdd(p, 1))
  #define GP_SET(p, b)  ((void)atomicOr(p, b))
  #define GP_STEP(name) GP_INLINE void name(const void *args, int64_t i)
  #define GP_STEP_BLOCK 256

template <class Args, void (*Step)(const void *, int64_t)>
__global__ static void GpStepKernel(Args args, int64_t n)
{
  const int64_t i = (int64_t)blockIdx.x * GP_STEP_BLOCK + threadIdx.x;

  if (i < n) Step(&args, i);
}

template <class Args, void (*Step)(const void *, int64_t)>
static GpErr GpStepLaunch(GpDev dev, const char *name, int64_t n, const Args *args)
{
  if (n <= 0) return GP_SUCCESS;
  return GpLaunch(dev, name, GpStepKernel<Args, Step>, GpGrid{GpBlocks(n, GP_STEP_BLOCK), GP_STEP_BLOCK}, *args, n);
}

  #define GP_EACH(dev, Args, Step, n, args) GpStepLaunch<Args, Step>(dev, #Step, n, args)
#else
  #define GP_IMPL(name) name##_Host
  #define GP_EXTERN
  #define GP_INLINE     static inline
  #define GP_COUNT(p)   ((void)(*(p))++)
  #define GP_SET(p, b)  ((void)(*(p) |= (b)))
  #define GP_STEP(name) GP_INLINE void name(const void *args, int64_t i)

static inline GpErr GpStepLoop(int64_t n, void (*step)(const void *, int64_t), const void *args)
{
  for (int64_t i = 0; i < n; i++) step(args, i);
  return GP_SUCCESS;
}

  #define GP_EACH(dev, Args, Step, n, args) GpStepLoop(n, Step, args)
#endif

#define GP_PAIR(name, ...) \
  GP_EXTERN GpErr name##_Host(__VA_ARGS__); \
  GP_EXTERN GpErr name##_CUDA(__VA_ARGS__)

/* Exclusive prefix sum in place over n + 1 entries. The last entry becomes the sum of the first n; its old value is ignored. */
GP_PAIR(GpScan, GpDev dev, int64_t n, int32_t *inout);

/* Stable sort of keys and values in place, ascending in the lowest `bits` bits of the keys. */
GP_PAIR(GpSort, GpDev dev, int64_t n, int bits, uint32_t *keys, int32_t *values);

#if GP_HAVE_CUDA
  #define GP_ON_DEVICE(dev, function, ...) (GpDevKindOf(dev) == GP_DEV_CUDA ? function##_CUDA(__VA_ARGS__) : function##_Host(__VA_ARGS__))
#else
  #define GP_ON_DEVICE(dev, function, ...) function##_Host(__VA_ARGS__)
#endif

#endif
