/* cuSPARSE's SpMV as formats: csrvendor, coovendor, sellvendor and the variants with default algorithms. The library is opened when the first
   such format is built, so gpucsr runs without it. */
#ifndef GPVENDOR_H
#define GPVENDOR_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

typedef enum {
  GP_VENDOR_CSR1, /* default algorithm; the order of additions may change from run to run */
  GP_VENDOR_CSR2,
  GP_VENDOR_COO1, /* default algorithm; the order of additions may change from run to run */
  GP_VENDOR_COO2,
  GP_VENDOR_SELL
} GpVendorAlg;

typedef struct {
  GpVendorAlg alg;
  void       *matrix, *x, *y; /* cuSPARSE's descriptors */
  void       *buffer;         /* cuSPARSE's workspace */
  size_t      buffersize;
  int32_t    *row;   /* COO: [nnz] row of each nonzero */
  int32_t    *slice; /* sliced ELL: [nslices+1] first slot of each slice */
  int32_t    *col;   /* sliced ELL: [slots] column, -1 for padding */
  void       *val;   /* sliced ELL: [slots] float or double */
  int64_t     slots;
} GpVendor;

#define GP_VENDOR_SLICE 32

#if defined(__cplusplus)
extern "C" {
#endif
/* Functions in gpvendorlib_cuda.cu. */
GpErr GpVendorDescribe(GpVendor *V, const GpCsr *C); /* creates descriptors and the buffer, and runs cuSPARSE's analysis */
void  GpVendorForget(GpVendor *V, const GpCsr *C);
GpErr GpVendorMult(const GpFmt *A, const double *x, const double *z, double *y);
#if defined(__cplusplus)
}
#endif

#endif
