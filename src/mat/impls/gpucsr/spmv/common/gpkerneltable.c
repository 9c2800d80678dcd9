/* The table of kernels, made from kernels.def. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#include <string.h>

#define GP_DECLARE(name, runtime) \
  extern GpErr GpSpmv_##name##_##runtime##_f32(const GpFmt *, const double *, const double *, double *); \
  extern GpErr GpSpmv_##name##_##runtime##_f64(const GpFmt *, const double *, const double *, double *);
#define GP_ENTRIES(name, runtime) \
  { \
    GpSpmv_##name##_##runtime##_f32, GpSpmv_##name##_##runtime##_f64 \
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

#define SPMV(name, format, lanes, help)        GP_DECLARE(name, Host) GP_DECLARE_CUDA(name)
#define SPMV_VENDOR(name, format, lanes, help) GP_DECLARE_CUDA(name)
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV

const GpKernelRow GpKernelTable[GP_KERNELS] = {
#define SPMV(name, format, lanes, help)        [GP_SPMV_##name] = {#name, GP_FMT_##format, lanes, help, 1, {[GP_DEV_HOST] = GP_ENTRIES(name, Host), [GP_DEV_CUDA] = GP_ENTRIES_CUDA(name)}},
#define SPMV_VENDOR(name, format, lanes, help) [GP_SPMV_##name] = {#name, GP_FMT_##format, lanes, help, 1, {[GP_DEV_CUDA] = GP_ENTRIES_CUDA(name)}},
#define SPMV_LOOSE(name, format, lanes, help)  [GP_SPMV_##name] = {#name, GP_FMT_##format, lanes, help, 0, {[GP_DEV_CUDA] = GP_ENTRIES_CUDA(name)}},
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
};

int GpKernelFind(const char name[])
{
  for (int k = 0; k < GP_KERNELS; k++)
    if (!strcmp(GpKernelTable[k].name, name)) return k;
  return -1;
}
