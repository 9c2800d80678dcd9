/* The table of SpMM kernels, made from spmm.def. */
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

#include <string.h>

#define GP_DECLARE(name, runtime) \
  extern GpErr GpSpmm_##name##_##runtime##_f32(const GpFmt *, const GpColumns *); \
  extern GpErr GpSpmm_##name##_##runtime##_f64(const GpFmt *, const GpColumns *);
#define GP_ENTRIES(name, runtime) \
  { \
    GpSpmm_##name##_##runtime##_f32, GpSpmm_##name##_##runtime##_f64 \
  }

#if GP_HAVE_CUDA
  #define GP_DECLARE_CUDA(name) GP_DECLARE(name, CUDA)
  #define GP_ENTRIES_CUDA(name) GP_ENTRIES(name, CUDA)
#else
  #define GP_DECLARE_CUDA(name)
  #define GP_ENTRIES_CUDA(name) \
    { \
      NULL, NULL \
    }
#endif

#define SPMM(name, format, width, fewest, help) GP_DECLARE(name, Host) GP_DECLARE_CUDA(name)
#include "mat/impls/gpucsr/spmv/spmm/spmm.def"
#undef SPMM

const GpSpmmRow GpSpmmTable[GP_SPMM_KERNELS] = {
#define SPMM(name, format, width, fewest, help) [GP_SPMM_##name] = {#name, GP_FMT_##format, width, fewest, help, {[GP_DEV_HOST] = GP_ENTRIES(name, Host), [GP_DEV_CUDA] = GP_ENTRIES_CUDA(name)}},
#include "mat/impls/gpucsr/spmv/spmm/spmm.def"
#undef SPMM
};

int GpSpmmFind(const char name[])
{
  for (int k = 0; k < GP_SPMM_KERNELS; k++)
    if (!strcmp(GpSpmmTable[k].name, name)) return k;
  return -1;
}
