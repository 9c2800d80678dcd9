/* Values that are their own flags: an entry holds GP_TRI_UNSET until it has been computed. */
#ifndef GPTRIFLAG_CUH
#define GPTRIFLAG_CUH

#define GP_TRI_UNSET 0xfff8deadbeef0001ull /* a NaN that no operation returns */
#define GP_TRI_NAN   0x7ff8000000000000ull

/* Relaxed loads and stores of device scope are atomic and are not cached in L1. */
__device__ static inline double GpTriLoad(const double *p)
{
  double v;

  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}

__device__ static inline void GpTriStore(double *p, double v)
{
  if (v != v) v = __longlong_as_double((long long)GP_TRI_NAN);
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

__device__ static inline bool GpTriIsSet(double v)
{
  return (unsigned long long)__double_as_longlong(v) != GP_TRI_UNSET;
}

#endif
