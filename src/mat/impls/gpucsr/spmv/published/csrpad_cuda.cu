/* Format csrpad: compressed rows padded so that each starts and ends at a multiple of four nonzeros. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"

#include <stdlib.h>

typedef struct {
  GpCsrPad P;
  GpCsr    C;
} Pad;

GP_STEP(PaddedLength)
{
  const Pad *a = (const Pad *)args;

  a->P.start[i] = (a->C.rowptr[i + 1] - a->C.rowptr[i] + GP_PAD - 1) / GP_PAD;
}

/* Fills four consecutive slots. Their row is the last that starts at or before them. */
GP_STEP(FillQuad)
{
  const Pad *a  = (const Pad *)args;
  int32_t    lo = 0, hi = a->C.m, k;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->P.start[mid] <= i) lo = mid;
    else hi = mid;
  }
  k = a->C.rowptr[lo] + ((int32_t)i - a->P.start[lo]) * GP_PAD;
  for (int j = 0; j < GP_PAD; j++, k++) {
    const int     there = k < a->C.rowptr[lo + 1];
    const int64_t to    = i * GP_PAD + j;

    a->P.col[to] = there ? a->C.col[k] : 0;
    if (a->C.prec == GP_F32) ((float *)a->P.val)[to] = there ? ((const float *)a->C.val)[k] : 0.0f;
    else ((double *)a->P.val)[to] = there ? ((const double *)a->C.val)[k] : 0.0;
  }
}

static GpErr GpCsrPadFill(GpCsrPad *P, const GpCsr *C)
{
  Pad a = {*P, *C};

  return GP_EACH(C->dev, Pad, FillQuad, P->slots / GP_PAD, &a);
}

static GpErr GpCsrPadBuild(GpCsrPad *P, const GpCsr *C)
{
  GpDev   dev   = C->dev;
  int32_t quads = 0;
  Pad     a;
  GpErr   err = GpDevAlloc(dev, ((size_t)C->m + 1) * sizeof(int32_t), &P->start);

  a.P = *P;
  a.C = *C;
  if (!err) err = GP_EACH(dev, Pad, PaddedLength, C->m, &a);
  if (!err) err = GpScan_CUDA(dev, C->m, P->start);
  if (!err) err = GpDevDownload(dev, &quads, P->start + C->m, sizeof(quads));
  P->slots = (int64_t)quads * GP_PAD;
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * sizeof(int32_t), &P->col);
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * GpPrecBytes(C->prec), &P->val);
  return err ? err : GpCsrPadFill(P, C);
}

extern "C" GpErr GpFmtBuild_csrpad(GpFmt *A, const int32_t rowptr[])
{
  A->data = calloc(1, sizeof(GpCsrPad));
  (void)rowptr;
  if (!A->data) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a format");
  return GpCsrPadBuild((GpCsrPad *)A->data, A->csr);
}

extern "C" GpErr GpFmtRefill_csrpad(GpFmt *A)
{
  return GpCsrPadFill((GpCsrPad *)A->data, A->csr);
}

extern "C" void GpFmtDestroy_csrpad(GpFmt *A)
{
  GpCsrPad *P = (GpCsrPad *)A->data;

  if (!P) return;
  GpDevFree(A->csr->dev, &P->start, ((size_t)A->csr->m + 1) * sizeof(int32_t));
  GpDevFree(A->csr->dev, &P->col, (size_t)P->slots * sizeof(int32_t));
  GpDevFree(A->csr->dev, &P->val, (size_t)P->slots * GpPrecBytes(A->csr->prec));
  free(P);
}

extern "C" double GpFmtBytes_csrpad(const GpFmt *A)
{
  return (A->csr->m + 1.0) * sizeof(int32_t) + (double)((const GpCsrPad *)A->data)->slots * (sizeof(int32_t) + GpPrecBytes(A->csr->prec));
}

extern "C" double GpFmtTraffic_csrpad(const GpFmt *A)
{
  return GpFmtBytes_csrpad(A) + (A->csr->m + 1.0) * sizeof(int32_t); /* the kernel also reads the unpadded row pointers */
}
