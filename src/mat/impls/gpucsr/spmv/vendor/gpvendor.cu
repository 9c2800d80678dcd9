/* Arrays that cuSPARSE's formats need in addition to compressed rows: the row of every nonzero (COO), slices of padded rows (sliced ELL). */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

#define GP_VENDOR_PADDING 4 /* maximum number of slots per nonzero */

#if defined(__CUDACC__)
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
  return err ? err : GpVendorValues_CUDA(V, C);
}

extern "C" GpErr GpVendorLayout_CUDA(GpVendor *V, const GpCsr *C)
{
  Layout l = {*V, *C};
  GpErr  err;

  if (V->alg == GP_VENDOR_SELL) return MakeSlices(V, C);
  if (V->alg != GP_VENDOR_COO1 && V->alg != GP_VENDOR_COO2) return GP_SUCCESS;
  err = GpDevAlloc(C->dev, (size_t)C->nnz * sizeof(int32_t), &V->row);
  l.V = *V;
  return err ? err : GP_EACH(C->dev, Layout, RowOfNonzero, C->nnz, &l);
}

extern "C" GpErr GpVendorValues_CUDA(GpVendor *V, const GpCsr *C)
{
  Layout l = {*V, *C};

  return V->alg == GP_VENDOR_SELL ? GP_EACH(C->dev, Layout, FillSlice, (int64_t)Slices(C) * GP_VENDOR_SLICE, &l) : GP_SUCCESS;
}

#else
  #include <stdlib.h>

GpErr GpVendorBuild(GpFmt *A, GpVendorAlg alg)
{
  GpDev     dev = A->csr->dev;
  GpVendor *V   = (GpVendor *)calloc(1, sizeof(*V));

  A->data = V;
  if (!V) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  V->alg = alg;
  #if GP_HAVE_CUDA
  if (GpDevKindOf(dev) == GP_DEV_CUDA) {
    GpErr err = GpVendorLayout_CUDA(V, A->csr);

    return err ? err : GpVendorDescribe(V, A->csr);
  }
  #endif
  return GpDevFail(dev, GP_ERR_ARGUMENT, "cuSPARSE needs the CUDA backend");
}

GpErr GpVendorRefill(GpFmt *A)
{
  #if GP_HAVE_CUDA
  return GpVendorValues_CUDA((GpVendor *)A->data, A->csr);
  #else
  return GpDevFail(A->csr->dev, GP_ERR_NOT_BUILT, "cuSPARSE needs the CUDA backend");
  #endif
}

void GpVendorDestroy(GpFmt *A)
{
  GpVendor    *V = (GpVendor *)A->data;
  const GpCsr *C = A->csr;

  if (!V) return;
  #if GP_HAVE_CUDA
  GpVendorForget(V, C);
  #endif
  GpDevFree(C->dev, &V->row, (size_t)C->nnz * sizeof(int32_t));
  GpDevFree(C->dev, &V->slice, (((size_t)C->m + GP_VENDOR_SLICE - 1) / GP_VENDOR_SLICE + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &V->col, (size_t)V->slots * sizeof(int32_t));
  GpDevFree(C->dev, &V->val, (size_t)V->slots * GpPrecBytes(C->prec));
  free(V);
}

double GpVendorBytes(const GpFmt *A)
{
  const GpVendor *V = (const GpVendor *)A->data;
  const GpCsr    *C = A->csr;

  if (V->alg == GP_VENDOR_SELL) return (double)V->buffersize + (double)V->slots * (sizeof(int32_t) + GpPrecBytes(C->prec)) + sizeof(int32_t) * (1.0 + C->m / GP_VENDOR_SLICE);
  return (double)V->buffersize + (V->row ? (double)C->nnz * sizeof(int32_t) : 0.0);
}

double GpVendorTraffic(const GpFmt *A)
{
  const GpVendor *V = (const GpVendor *)A->data;
  const GpCsr    *C = A->csr;

  if (V->alg == GP_VENDOR_SELL) return GpVendorBytes(A) - (double)V->buffersize;
  if (V->row) return (double)C->nnz * (2 * sizeof(int32_t) + GpPrecBytes(C->prec));
  return GpCsrBytes(C);
}
#endif
