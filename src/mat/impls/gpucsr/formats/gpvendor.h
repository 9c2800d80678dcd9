/* The vendor's own SpMV (cuSPARSE) as formats: csrvendor, coovendor, sellvendor.  The library is looked for when the first such
   format is built, so that gpucsr loads, and does everything else, on machines without it. */
#ifndef GPVENDOR_H
#define GPVENDOR_H

#include "mat/impls/gpucsr/formats/gpformat.h"

typedef enum {
  GP_VENDOR_CSR1, /* the faster on many matrices; sums in an order that may change from run to run */
  GP_VENDOR_CSR2,
  GP_VENDOR_COO1, /* as CSR1 */
  GP_VENDOR_COO2,
  GP_VENDOR_SELL
} GpVendorAlg;

typedef struct {
  GpVendorAlg alg;
  void       *matrix, *x, *y; /* cuSPARSE's descriptors */
  void       *buffer;
  size_t      buffersize;
  int32_t    *row;   /* coo: [nnz] */
  int32_t    *slice; /* sell: [nslices+1] first slot */
  int32_t    *col;   /* sell: [slots], -1: none */
  void       *val;   /* sell: [slots] */
  int64_t     slots;
} GpVendor;

#define GP_VENDOR_SLICE 32

#if defined(__cplusplus)
extern "C" {
#endif
GpErr  GpVendorBuild(GpFmt *A, GpVendorAlg alg); /* GP_ERR_ARGUMENT without a GPU, or without the library */
GpErr  GpVendorRefill(GpFmt *A);
void   GpVendorDestroy(GpFmt *A);
double GpVendorBytes(const GpFmt *A);
double GpVendorTraffic(const GpFmt *A);

/* gpvendorlib_cuda.cu */
GpErr GpVendorDescribe(GpVendor *V, const GpCsr *C); /* descriptors, buffer, cuSPARSE's own analysis */
void  GpVendorForget(GpVendor *V, const GpCsr *C);
GpErr GpVendorMult(const GpFmt *A, const double *x, const double *z, double *y);

/* gpvendor.cu: rows of every nonzero, or slices */
GpErr GpVendorLayout_CUDA(GpVendor *V, const GpCsr *C);
GpErr GpVendorValues_CUDA(GpVendor *V, const GpCsr *C);
#if defined(__cplusplus)
}
#endif

/* the functions of one row of formats.def */
#define GP_VENDOR_FORMAT(stem, alg) \
  GpErr GpFmtBuild_##stem(GpFmt *A, const int32_t rowptr[]) \
  { \
    (void)rowptr; \
    return GpVendorBuild(A, alg); \
  } \
  GpErr GpFmtRefill_##stem(GpFmt *A) \
  { \
    return GpVendorRefill(A); \
  } \
  void GpFmtDestroy_##stem(GpFmt *A) \
  { \
    GpVendorDestroy(A); \
  } \
  double GpFmtBytes_##stem(const GpFmt *A) \
  { \
    return GpVendorBytes(A); \
  } \
  double GpFmtTraffic_##stem(const GpFmt *A) \
  { \
    return GpVendorTraffic(A); \
  }

#endif
