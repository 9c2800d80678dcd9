/* The table of kernels, made from kernels.def. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#include <string.h>

#if GP_HAVE_CUDA
  #define SPMV(name, format, lanes, tier, help) \
    extern GpErr GpSpmv_##name##_CUDA_f32(const GpFmt *, const double *, const double *, double *); \
    extern GpErr GpSpmv_##name##_CUDA_f64(const GpFmt *, const double *, const double *, double *);
  #include "mat/impls/gpucsr/spmv/common/kernels.def"
  #undef SPMV
  #define CUDA(name) \
    { \
      GpSpmv_##name##_CUDA_f32, GpSpmv_##name##_CUDA_f64 \
    }
#else
  #define CUDA(name) \
    { \
      NULL, NULL \
    }
#endif

static GpErr GpKernelMultHost(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpFmtTable[A->id].mult[A->csr->prec](A, x, z, y);
}

const GpKernelRow GpKernelTable[GP_KERNELS] = {
#define ROW(name, format, lanes, tier, help, repeatable, byrow, host) [GP_SPMV_##name] = {#name, GP_FMT_##format, lanes, GP_TIER_##tier, help, repeatable, byrow, {[GP_DEV_HOST] = {host, host}, [GP_DEV_CUDA] = CUDA(name)}},
#define SPMV(name, format, lanes, tier, help)                         ROW(name, format, lanes, tier, help, 1, 0, GpKernelMultHost)
#define SPMV_BYROW(name, format, lanes, tier, help)                   ROW(name, format, lanes, tier, help, 1, 1, GpKernelMultHost)
#define SPMV_VENDOR(name, format, lanes, tier, help)                  ROW(name, format, lanes, tier, help, 1, 0, NULL)
#define SPMV_LOOSE(name, format, lanes, tier, help)                   ROW(name, format, lanes, tier, help, 0, 0, NULL)
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
#undef ROW
};

int GpKernelFind(const char name[])
{
  for (int k = 0; k < GP_KERNELS; k++)
    if (!strcmp(GpKernelTable[k].name, name)) return k;
  return -1;
}
