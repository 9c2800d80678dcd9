/* The table of SpMM kernels, made from spmm.def. */
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

#include <string.h>

extern GpErr GpSpmm_csr_Host_f32(const GpFmt *, const GpColumns *);
extern GpErr GpSpmm_csr_Host_f64(const GpFmt *, const GpColumns *);

#if GP_HAVE_CUDA
  #define SPMM(name, format, width, fewest, help) \
    extern GpErr GpSpmm_##name##_CUDA_f32(const GpFmt *, const GpColumns *); \
    extern GpErr GpSpmm_##name##_CUDA_f64(const GpFmt *, const GpColumns *);
  #include "mat/impls/gpucsr/spmv/spmm/spmm.def"
  #undef SPMM
  #define CUDA(name) \
    { \
      GpSpmm_##name##_CUDA_f32, GpSpmm_##name##_CUDA_f64 \
    }
#else
  #define CUDA(name) \
    { \
      NULL, NULL \
    }
#endif

const GpSpmmRow GpSpmmTable[GP_SPMM_KERNELS] = {
#define SPMM(name, format, width, fewest, help) [GP_SPMM_##name] = {#name, GP_FMT_##format, width, fewest, help, {[GP_DEV_HOST] = {GpSpmm_csr_Host_f32, GpSpmm_csr_Host_f64}, [GP_DEV_CUDA] = CUDA(name)}},
#include "mat/impls/gpucsr/spmv/spmm/spmm.def"
#undef SPMM
};

int GpSpmmFind(const char name[])
{
  for (int k = 0; k < GP_SPMM_KERNELS; k++)
    if (!strcmp(GpSpmmTable[k].name, name)) return k;
  return -1;
}
