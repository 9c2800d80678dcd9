/* Steps of Krylov methods: fused vector updates with sums, written once for both backends.

   A step has a structure of arguments, whose member `state` is the state of the method, and three functions:

       Begin   copies scalars from the state to the arguments; all threads call it
       Entry   updates entry i and adds its terms to the sums
       Finish  computes from the sums the scalars that depend on them; one thread calls it

   GP_KRYLOV_STEP(Step, K, ORDER) defines the function Step_Launch() of a step with K sums, K > 0. GP_KRYLOV_MAP(Step, ORDER) defines it for a step without sums and without Finish. Such a step may have
   no state (NULL); then Begin is not called. A step does nothing if the method has stopped, unless its member `always` is set.

   ORDER is FORWARD or BACKWARD: on a GPU, a kernel begins with the first or with the last entries. If the kernels of an iteration alternate, each one begins with the entries that its predecessor has read or
   written last, which are still in the L2 cache. Kernels of matrix products are assumed to begin with the first rows. */
#ifndef GPKRYLOVSTEP_H
#define GPKRYLOVSTEP_H

#include "vec/kernels/gpkrylov.h"

#include <math.h>

/* Stores the norm of the current iteration, for monitors and residual histories. */
GP_INLINE void GpKrylovStoreNorm(GpKrylovState *s)
{
  if (s->norms) s->norms[s->it % s->ring] = s->dp;
}

/* Tells whether the norm stops the method. The test is also true for a NaN. */
GP_INLINE int GpKrylovIsLast(const GpKrylovState *s)
{
  return s->norm != GP_KRYLOV_NORM_NONE && !(s->dp > s->small && s->dp < s->large);
}

/* Tells whether the residual may be replaced: the method runs, or it has stopped because of a small residual. */
GP_INLINE int GpKrylovMayReplace(const GpKrylovState *s)
{
  return s->status == GP_KRYLOV_RUNNING || s->status == GP_KRYLOV_ZERO_BETA || s->status == GP_KRYLOV_EXACT || (s->status == GP_KRYLOV_NORM && (s->dp <= s->small || s->dp <= s->early));
}

/* Sets what all methods set after a replacement; dp is the new norm. */
GP_INLINE void GpKrylovFinishReplace(GpKrylovState *s)
{
  s->reference = s->dp;
  s->replaced  = s->it;
  s->replacements++;
  s->status = GpKrylovIsLast(s) ? GP_KRYLOV_NORM : s->it >= s->max_it ? GP_KRYLOV_MAX_IT : GP_KRYLOV_RUNNING;
  GpKrylovStoreNorm(s);
}

#if !defined(__CUDACC__)
  #define GP_KRYLOV_STEP(Step, K, ORDER) \
    static GpErr Step##_Launch(GpDev dev, int32_t n, Step a, double *partial) \
    { \
      double sum[K] = {0}; \
\
      (void)dev; \
      (void)partial; \
      if (a.state->status && !a.always) return GP_SUCCESS; \
      Step##Begin(&a); \
      for (int32_t i = 0; i < n; i++) Step##Entry(&a, i, sum); \
      Step##Finish(&a, sum); \
      return GP_SUCCESS; \
    }

  #define GP_KRYLOV_MAP(Step, ORDER) \
    static GpErr Step##_Launch(GpDev dev, int32_t n, Step a) \
    { \
      (void)dev; \
      if (a.state && a.state->status && !a.always) return GP_SUCCESS; \
      if (a.state) Step##Begin(&a); \
      for (int32_t i = 0; i < n; i++) Step##Entry(&a, i, NULL); \
      return GP_SUCCESS; \
    }
#else
  #include "vec/kernels/gpvecreduce.h"

enum {
  FORWARD,
  BACKWARD
};

/* Number of blocks of a reduction: one thread for each entry, but at most eight blocks for each multiprocessor, and at most GP_DEV_PARTS. There is at least one block, because the reduction must finish for an empty vector too. */
static inline unsigned GpKrylovGrid(GpDev dev, int32_t n)
{
  const int64_t units = GpDevComputeUnits(dev), most = 8 * units < GP_DEV_PARTS ? 8 * units : GP_DEV_PARTS, want = GpBlocks(n, BLOCK);

  return (unsigned)(want < 1 ? 1 : want < most ? want : most);
}

/* Returns the i-th entry in the given order. */
template <int ORDER>
__device__ static inline int64_t GpKrylovPlace(int64_t i, int32_t n)
{
  return ORDER == FORWARD ? i : n - 1 - i;
}

  #define GP_KRYLOV_STEP(Step, K, ORDER) \
    __global__ static void __launch_bounds__(BLOCK) Step##Kernel(int32_t n, Step a, double *partial) \
    { \
      double sum[K] = {0}; \
\
      GpNextMayStart(); \
      GpWait(); \
      if (a.state->status && !a.always) return; /* All blocks read the same status: only the block that finishes last writes it, after all blocks have arrived. */ \
      Step##Begin(&a); \
      for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) Step##Entry(&a, GpKrylovPlace<ORDER>(i, n), sum); \
      if (GpReduceAllBlocks<GpReduceSums, K>(sum, partial, &a.state->ticket) && threadIdx.x == 0) Step##Finish(&a, sum); \
    } \
    static GpErr Step##_Launch(GpDev dev, int32_t n, Step a, double *partial) \
    { \
      return GpLaunchEarly(dev, #Step, Step##Kernel, GpGrid{GpKrylovGrid(dev, n), BLOCK}, n, a, partial); \
    }

  #define GP_KRYLOV_MAP(Step, ORDER) \
    __global__ static void __launch_bounds__(BLOCK) Step##Kernel(int32_t n, Step a) \
    { \
      const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; \
\
      GpNextMayStart(); \
      GpWait(); \
      if (i >= n || (a.state && a.state->status && !a.always)) return; \
      if (a.state) Step##Begin(&a); \
      Step##Entry(&a, GpKrylovPlace<ORDER>(i, n), NULL); \
    } \
    static GpErr Step##_Launch(GpDev dev, int32_t n, Step a) \
    { \
      if (!n) return GP_SUCCESS; \
      return GpLaunchEarly(dev, #Step, Step##Kernel, GpGrid{GpBlocks(n, BLOCK), BLOCK}, n, a); \
    }
#endif
#endif
