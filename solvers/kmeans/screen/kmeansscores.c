/* Scores in single precision. The bound of kmeansscreen.h holds with and without contraction of products and sums, so that the compiler may use fused
   multiply-adds. Distributions compile for the x86-64 baseline; these functions are compiled for AVX2 and AVX-512 too. */
#include "kmeansscreen.h"

#include <math.h>

#define KMEANS_TARGET
#define KMEANS_LANES      4
#define KMEANS_NAME(name) name##_Baseline
#include "kmeansscorekernels.h"
#undef KMEANS_TARGET
#undef KMEANS_LANES
#undef KMEANS_NAME

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  #define KMEANS_TARGET     __attribute__((target("avx2,fma")))
  #define KMEANS_LANES      8
  #define KMEANS_NAME(name) name##_AVX2
  #include "kmeansscorekernels.h"
  #undef KMEANS_TARGET
  #undef KMEANS_LANES
  #undef KMEANS_NAME

  #define KMEANS_TARGET     __attribute__((target("avx512f")))
  #define KMEANS_LANES      16
  #define KMEANS_NAME(name) name##_AVX512
  #include "kmeansscorekernels.h"
#endif

const KMeansScoreKernels *KMeansGetScoreKernels(void)
{
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  if (__builtin_cpu_supports("avx512f")) return &KMeansKernels_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &KMeansKernels_AVX2;
#endif
  return &KMeansKernels_Baseline;
}
