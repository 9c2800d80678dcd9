/* Arrays that cuSPARSE's formats need in addition to compressed rows: the row of every nonzero (COO), slices of padded rows (sliced ELL). */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

#include <stdlib.h>

#define GP_VENDOR_PADDING 4 /* maximum number of slots per nonzero */

typedef struct {
  GpVendor V;
  GpCsr    C;
} Layout;

GP_STEP(RowOfNonzero)
{
  const Layout *l  = (const Layout *)args;
  int32_t       lo = 0, hi = l->C.m;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (l->C.rowptr[mid] <= i) lo = mid;
    else hi = mid;
  }
  l->V.row[i] = lo;
}

GP_STEP(WidthOfSlice)
{
  const Layout *l     = (const Layout *)args;
  int32_t       width = 0;

  for (int64_t row = i * GP_VENDOR_SLICE; row < (i + 1) * GP_VENDOR_SLICE && row < l->C.m; row++) width = max(width, l->C.rowptr[row + 1] - l->C.rowptr[row]);
  l->V.slice[i] = width * GP_VENDOR_SLICE;
}

GP_STEP(FillSlice)
{
  const Layout *l     = (const Layout *)args;
  const int64_t s     = i / GP_VENDOR_SLICE;
  const int32_t start = i < l->C.m ? l->C.rowptr[i] : 0, end = i < l->C.m ? l->C.rowptr[i + 1] : 0;
  int32_t       k = start;

  for (int64_t to = l->V.slice[s] + i % GP_VENDOR_SLICE; to < l->V.slice[s + 1]; to += GP_VENDOR_SLICE, k++) {
    l->V.col[to] = k < end ? l->C.col[k] : -1;
    if (l->C.prec == GP_F32) ((float *)l->V.val)[to] = k < end ? ((const float *)l->C.val)[k] : 0.0f;
    else ((double *)l->V.val)[to] = k < end ? ((const double *)l->C.val)[k] : 0.0;
  }
}

static int32_t Slices(const GpCsr *C)
{
  return (C->m + GP_VENDOR_SLICE - 1) / GP_VENDOR_SLICE;
}

static GpErr GpVendorPutValues(const GpVendor *V, const GpCsr *C)
{
  Layout l = {*V, *C};

  return V->alg == GP_VENDOR_SELL ? GP_EACH(C->dev, Layout, FillSlice, (int64_t)Slices(C) * GP_VENDOR_SLICE, &l) : GP_SUCCESS;
}

/* Builds the slices of padded rows. A negative total means that the scan of the widths overflowed 32 bits; such a matrix is refused, like one
   with too much padding. */
static GpErr MakeSlices(GpVendor *V, const GpCsr *C)
{
  Layout  l    = {*V, *C};
  int32_t last = 0;
  GpErr   err  = GpDevAlloc(C->dev, ((size_t)Slices(C) + 1) * sizeof(int32_t), &V->slice);

  l.V = *V;
  if (!err) err = GP_EACH(C->dev, Layout, WidthOfSlice, Slices(C), &l);
  if (!err) err = GpScan_CUDA(C->dev, Slices(C), V->slice);
  if (!err) err = GpDevDownload(C->dev, &last, V->slice + Slices(C), sizeof(last));
  V->slots = last;
  if (!err && (last < 0 || last > (int64_t)GP_VENDOR_PADDING * C->nnz)) err = GpDevFail(C->dev, GP_ERR_ARGUMENT, "padded slices would store more than %d slots for each of %d nonzeros", GP_VENDOR_PADDING, (int)C->nnz);
  if (!err) err = GpDevAlloc(C->dev, (size_t)V->slots * sizeof(int32_t), &V->col);
  if (!err) err = GpDevAlloc(C->dev, (size_t)V->slots * GpPrecBytes(C->prec), &V->val);
  return err ? err : GpVendorPutValues(V, C);
}

static GpErr GpVendorLayOut(GpVendor *V, const GpCsr *C)
{
  Layout l = {*V, *C};
  GpErr  err;

  if (V->alg == GP_VENDOR_SELL) return MakeSlices(V, C);
  if (V->alg != GP_VENDOR_COO1 && V->alg != GP_VENDOR_COO2) return GP_SUCCESS;
  err = GpDevAlloc(C->dev, (size_t)C->nnz * sizeof(int32_t), &V->row);
  l.V = *V;
  return err ? err : GP_EACH(C->dev, Layout, RowOfNonzero, C->nnz, &l);
}

static GpErr GpVendorBuild(GpFmt *A, GpVendorAlg alg)
{
  GpDev     dev = A->csr->dev;
  GpVendor *V   = (GpVendor *)calloc(1, sizeof(*V));
  GpErr     err;

  A->data = V;
  if (!V) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  V->alg = alg;
  err    = GpVendorLayOut(V, A->csr);
  return err ? err : GpVendorDescribe(V, A->csr);
}

static void GpVendorDestroy(GpFmt *A)
{
  GpVendor    *V = (GpVendor *)A->data;
  const GpCsr *C = A->csr;

  if (!V) return;
  GpVendorForget(V, C);
  GpDevFree(C->dev, &V->row, (size_t)C->nnz * sizeof(int32_t));
  GpDevFree(C->dev, &V->slice, (((size_t)C->m + GP_VENDOR_SLICE - 1) / GP_VENDOR_SLICE + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &V->col, (size_t)V->slots * sizeof(int32_t));
  GpDevFree(C->dev, &V->val, (size_t)V->slots * GpPrecBytes(C->prec));
  free(V);
}

static double GpVendorBytes(const GpFmt *A)
{
  const GpVendor *V = (const GpVendor *)A->data;
  const GpCsr    *C = A->csr;

  if (V->alg == GP_VENDOR_SELL) return (double)V->buffersize + (double)V->slots * (sizeof(int32_t) + GpPrecBytes(C->prec)) + sizeof(int32_t) * (1.0 + C->m / GP_VENDOR_SLICE);
  return (double)V->buffersize + (V->row ? (double)C->nnz * sizeof(int32_t) : 0.0);
}

static double GpVendorTraffic(const GpFmt *A)
{
  const GpVendor *V = (const GpVendor *)A->data;
  const GpCsr    *C = A->csr;

  if (V->alg == GP_VENDOR_SELL) return GpVendorBytes(A) - (double)V->buffersize;
  if (V->row) return (double)C->nnz * (2 * sizeof(int32_t) + GpPrecBytes(C->prec));
  return GpCsrBytes(C);
}

/* Defines the functions of one row of formats.def. */
#define GP_VENDOR_FORMAT(stem, alg) \
  extern "C" GpErr GpFmtBuild_##stem(GpFmt *A, const int32_t rowptr[]) \
  { \
    (void)rowptr; \
    return GpVendorBuild(A, alg); \
  } \
  extern "C" GpErr GpFmtRefill_##stem(GpFmt *A) \
  { \
    return GpVendorPutValues((const GpVendor *)A->data, A->csr); \
  } \
  extern "C" void GpFmtDestroy_##stem(GpFmt *A) \
  { \
    GpVendorDestroy(A); \
  } \
  extern "C" double GpFmtBytes_##stem(const GpFmt *A) \
  { \
    return GpVendorBytes(A); \
  } \
  extern "C" double GpFmtTraffic_##stem(const GpFmt *A) \
  { \
    return GpVendorTraffic(A); \
  }

GP_VENDOR_FORMAT(csrvendor, GP_VENDOR_CSR2)
GP_VENDOR_FORMAT(csrvendorfast, GP_VENDOR_CSR1)
GP_VENDOR_FORMAT(coovendor, GP_VENDOR_COO2)
GP_VENDOR_FORMAT(coovendorfast, GP_VENDOR_COO1)
GP_VENDOR_FORMAT(sellvendor, GP_VENDOR_SELL)
