/* Interface of the SpMV kernels: the table made from kernels.def, and the macro that opens an implementation.

   Every kernel computes y = A x or y = A x + z in a fixed order. Values have the storage precision; vectors and sums are double. x has csr->n
   entries, y and z have csr->m. y may be z, but never x.

   A kernel (*_kernel.cu) is the CUDA implementation. The host implementation is a plain loop over the format (*_host.c), which all kernels of the
   format share. Both are compiled once for each storage precision, with GP_VALUE_F32 or GP_VALUE_F64. */
#ifndef GPKERNEL_H
#define GPKERNEL_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(GP_VALUE_F32)
typedef float GpScalar;
  #define GP_VALUE f32
#elif defined(GP_VALUE_F64)
typedef double GpScalar;
  #define GP_VALUE f64
#endif

#define GP_PASTE_(stem, runtime, value) GpSpmv_##stem##_##runtime##_##value
#define GP_PASTE(stem, runtime, value)  GP_PASTE_(stem, runtime, value)

/* opens the definition of an implementation: GP_SPMV(csrscalar)(const GpFmt *A, const double *x, const double *z, double *y) */
#if defined(__CUDACC__)
  #define GP_SPMV(stem) extern "C" GpErr GP_PASTE(stem, CUDA, GP_VALUE)
#else
  #define GP_SPMV(stem) GpErr GP_PASTE(stem, Host, GP_VALUE)
#endif

typedef GpErr (*GpSpmvFn)(const GpFmt *A, const double *x, const double *z, double *y); /* z may be NULL */

typedef enum {
  GP_TIER_CORE,     /* the selector uses the kernel */
  GP_TIER_PUBLISHED /* an algorithm of others, kept for comparison */
} GpTier;

typedef struct {
  const char *name;
  GpFmtId     format;
  int         lanes; /* lanes that share a row; 0: nonzeros are distributed instead of rows */
  GpTier      tier;
  const char *help;
  int         repeatable;                        /* 1: every run gives the same bits */
  int         byrow;                             /* 1: the order of the additions in a row depends on this row alone */
  GpSpmvFn    mult[GP_DEV_KINDS][GP_PRECISIONS]; /* implementations; NULL if the library was built without the backend, and for cuSPARSE kernels on the host */
} GpKernelRow;

enum {
#define SPMV(name, format, lanes, tier, help) GP_SPMV_##name,
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
  GP_KERNELS
};

#if defined(__cplusplus)
extern "C" {
#endif
extern const GpKernelRow GpKernelTable[GP_KERNELS];
int                      GpKernelFind(const char name[]); /* index in GpKernelTable, or -1 */
#if defined(__cplusplus)
}
#endif
#endif
