/* The table of formats built from formats.def, and the functions that dispatch through it. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

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
#define FORMAT(id, stem, host, help) [GP_FMT_##id] = {#stem, help, GpFmtBuild_##stem, GpFmtRefill_##stem, GpFmtDestroy_##stem, GpFmtBytes_##stem, GpFmtTraffic_##stem, {GpSpmv_##host##_Host_f32, GpSpmv_##host##_Host_f64}},
#include "mat/impls/gpucsr/spmv/common/formats.def"
#undef FORMAT
};

GpErr GpFmtBuild(GpFmt *A, GpFmtId id, const GpCsr *csr, const int32_t rowptr[])
{
  GpErr err;

  A->id   = id;
  A->csr  = csr;
  A->data = NULL;
  err     = GpFmtTable[id].build(A, rowptr);
  GpDevUnsettle(csr->dev);
  if (err) GpFmtDestroy(A);
  return err;
}

GpErr GpFmtRefill(GpFmt *A)
{
  GpDevUnsettle(A->csr->dev);
  return GpFmtTable[A->id].refill(A);
}

void GpFmtDestroy(GpFmt *A)
{
  if (!A->csr) return;
  GpFmtTable[A->id].destroy(A);
  A->data = NULL;
  A->csr  = NULL;
}

double GpFmtBytes(const GpFmt *A)
{
  return A->csr ? GpFmtTable[A->id].bytes(A) : 0.0;
}

double GpFmtTraffic(const GpFmt *A)
{
  return A->csr ? GpFmtTable[A->id].traffic(A) : 0.0;
}
