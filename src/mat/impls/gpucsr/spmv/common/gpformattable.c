/* The table of formats built from formats.def, and the functions that dispatch through it. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"
#include "device/gpupload.h"

#include <stdlib.h>

#if !GP_HAVE_CUDA
  #define FORMAT_CUDA(id, stem, help)
#endif
#define FORMAT(id, stem, host, help) \
  extern GpErr  GpFmtBuild_##stem(GpFmt *, const int32_t[]); \
  extern GpErr  GpFmtRefill_##stem(GpFmt *); \
  extern void   GpFmtDestroy_##stem(GpFmt *); \
  extern double GpFmtBytes_##stem(const GpFmt *); \
  extern double GpFmtTraffic_##stem(const GpFmt *); \
  extern GpErr  GpSpmv_##host##_Host_f32(const GpFmt *, const double *, const double *, double *); \
  extern GpErr  GpSpmv_##host##_Host_f64(const GpFmt *, const double *, const double *, double *);
#include "mat/impls/gpucsr/spmv/common/formats.def"
#undef FORMAT

const GpFmtRow GpFmtTable[GP_FORMATS] = {
#define ROW(id, stem, host, help, where) [GP_FMT_##id] = {#stem, help, where, GpFmtBuild_##stem, GpFmtRefill_##stem, GpFmtDestroy_##stem, GpFmtBytes_##stem, GpFmtTraffic_##stem, {GpSpmv_##host##_Host_f32, GpSpmv_##host##_Host_f64}},
#define FORMAT(id, stem, host, help)     ROW(id, stem, host, help, GP_FMT_BOTH)
#if GP_HAVE_CUDA
  #define FORMAT_CUDA(id, stem, help)   ROW(id, stem, csr, help, GP_FMT_CUDA)
  #define FORMAT_VENDOR(id, stem, help) ROW(id, stem, csr, help, GP_FMT_VENDOR)
#else
  #define FORMAT_CUDA(id, stem, help)   [GP_FMT_##id] = {#stem, help, GP_FMT_CUDA, .mult = {GpSpmv_csr_Host_f32, GpSpmv_csr_Host_f64}},
  #define FORMAT_VENDOR(id, stem, help) [GP_FMT_##id] = {#stem, help, GP_FMT_VENDOR},
#endif
#include "mat/impls/gpucsr/spmv/common/formats.def"
#undef FORMAT
};

/* Returns the functions of a format: those of compressed rows, if the backend keeps the compressed rows. */
static const GpFmtRow *GpFmtGetRow(const GpFmt *A)
{
  return &GpFmtTable[GpFmtTable[A->id].where == GP_FMT_CUDA && GpDevKindOf(A->csr->dev) == GP_DEV_HOST ? GP_FMT_CSR : A->id];
}

/* Tells whether a format is built from the row pointers in host memory. */
static int GpFmtReadsRows(GpFmtId id)
{
  return id == GP_FMT_CSRTILE || id == GP_FMT_CSRSEGMENT || id == GP_FMT_CSRPANEL || id == GP_FMT_CSRBLOCK || id == GP_FMT_BALANCED || id == GP_FMT_HYBRID;
}

/* Builds the format of a matrix whose row pointers are in device memory only. */
static GpErr GpFmtBuildFromDevice(GpFmt *A)
{
  const GpCsr *C     = A->csr;
  const size_t bytes = ((size_t)C->m + 1) * sizeof(int32_t);
  int32_t     *rows;
  GpErr        err;

  if (GpDevKindOf(C->dev) == GP_DEV_HOST) return GpFmtGetRow(A)->build(A, C->rowptr);
  if (!GpFmtReadsRows(A->id)) return GpFmtGetRow(A)->build(A, NULL);
  rows = (int32_t *)malloc(bytes);
  err  = rows ? GpDevDownloadByThreads(C->dev, 0, rows, C->rowptr, bytes) : GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for the row pointers");
  if (!err) err = GpFmtGetRow(A)->build(A, rows);
  free(rows);
  return err;
}

GpErr GpFmtBuild(GpFmt *A, GpFmtId id, const GpCsr *csr, const int32_t rowptr[])
{
  GpErr err;

  if (GpFmtTable[id].where == GP_FMT_VENDOR && GpDevKindOf(csr->dev) == GP_DEV_HOST) {
    A->csr = NULL;
    return GpDevFail(csr->dev, GP_ERR_ARGUMENT, "cuSPARSE needs the CUDA backend");
  }
  A->id   = id;
  A->csr  = csr;
  A->data = NULL;
  err     = rowptr ? GpFmtGetRow(A)->build(A, rowptr) : GpFmtBuildFromDevice(A);
  GpDevMarkMatrixWrite(csr->dev);
  if (err) GpFmtDestroy(A);
  return err;
}

GpErr GpFmtRefill(GpFmt *A)
{
  GpDevMarkMatrixWrite(A->csr->dev);
  return GpFmtGetRow(A)->refill(A);
}

void GpFmtDestroy(GpFmt *A)
{
  if (!A->csr) return;
  GpFmtGetRow(A)->destroy(A);
  A->data = NULL;
  A->csr  = NULL;
}

double GpFmtBytes(const GpFmt *A)
{
  return A->csr ? GpFmtGetRow(A)->bytes(A) : 0.0;
}

double GpFmtTraffic(const GpFmt *A)
{
  return A->csr ? GpFmtGetRow(A)->traffic(A) : 0.0;
}
