/* The kernel room's face: the table made from kernels.def, and the two macros that open a twin.

   Every kernel computes y = A x, or y = A x + z, with the stored values, double vectors and double sums, in a fixed order.
   x has csr->n entries, y and z csr->m; y may be z, and is never x.  A kernel file is compiled once per runtime and stored
   precision: by the C compiler for the host twin, by nvcc for the device twin, with GP_VALUE_F32 or GP_VALUE_F64. */
#ifndef GPKERNEL_H
#define GPKERNEL_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#if defined(GP_VALUE_F32)
typedef float GpScalar;
  #define GP_VALUE f32
#elif defined(GP_VALUE_F64)
typedef double GpScalar;
  #define GP_VALUE f64
#endif

#define GP_PASTE_(stem, runtime, value) GpSpmv_##stem##_##runtime##_##value
#define GP_PASTE(stem, runtime, value)  GP_PASTE_(stem, runtime, value)

/* opens the definition of a twin: GP_SPMV(csrscalar)(const GpFmt *A, const double *x, const double *z, double *y) */
#if defined(__CUDACC__)
  #define GP_SPMV(stem) extern "C" GpErr GP_PASTE(stem, CUDA, GP_VALUE)
#else
  #define GP_SPMV(stem) GpErr GP_PASTE(stem, Host, GP_VALUE)
#endif

typedef GpErr (*GpSpmvFn)(const GpFmt *A, const double *x, const double *z, double *y); /* z may be NULL */

typedef struct {
  const char *name;
  GpFmtId     format;
  int         lanes; /* that share a row; 0: the nonzeros are shared, whatever the rows */
  const char *help;
  int         repeatable;                        /* do two runs give the same bits? */
  GpSpmvFn    mult[GP_DEV_KINDS][GP_PRECISIONS]; /* NULL where this library was built without the runtime, and the vendor's on the host */
} GpKernelRow;

enum {
#define SPMV(name, format, lanes, help) GP_SPMV_##name,
#include "mat/impls/gpucsr/kernels/kernels.def"
#undef SPMV
  GP_KERNELS
};

#if defined(__cplusplus)
extern "C" {
#endif
extern const GpKernelRow GpKernelTable[GP_KERNELS];
int                      GpKernelFind(const char name[]); /* its row, or -1 */
#if defined(__cplusplus)
}
#endif
#endif
