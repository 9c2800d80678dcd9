/* Format panel: columns are divided into panels whose part of x fits in shared memory. Every panel has its own parts of rows, whose sums a second
   kernel adds. For long rows over many columns of similar frequency, such as the transpose of a bag-of-words matrix. */
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

#define GP_PANEL_PIECES 2 /* maximum number of parts of rows per nonzero */

typedef struct {
  int32_t        m, nnz, npanels, width;
  const int32_t *rowptr, *col;
  int32_t       *seg;   /* [(npanels+1)*m] first nonzero of each row in each panel */
  int32_t       *falls; /* [2] number of columns smaller than the one before: all, and those at the start of a row */
} Panel;

GP_STEP(CountFalls)
{
  const Panel *a = (const Panel *)args;

  if (i + 1 < a->nnz && a->col[i] > a->col[i + 1]) GP_COUNT(a->falls);
}

GP_STEP(CountRowEnds)
{
  const Panel  *a = (const Panel *)args;
  const int32_t k = a->rowptr[i];

  if (k > 0 && k < a->rowptr[i + 1] && a->col[k - 1] > a->col[k]) GP_COUNT(a->falls + 1);
}

GP_STEP(EnterPanel)
{
  const Panel  *a   = (const Panel *)args;
  const int32_t row = (int32_t)(i % a->m);
  const int64_t c   = i / a->m * a->width;
  int32_t       lo = a->rowptr[row], hi = a->rowptr[row + 1];

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->col[mid] < c) lo = mid + 1;
    else hi = mid;
  }
  a->seg[i] = lo;
}

GP_PAIR(GpPanelBuild, GpPieces *P, const GpCsr *C);
GpErr GP_IMPL(GpPanelBuild)(GpPieces *P, const GpCsr *C)
{
  GpDev        dev      = C->dev;
  const size_t bytes    = ((size_t)P->npanels + 1) * (size_t)C->m * sizeof(int32_t);
  int32_t      falls[2] = {0, 0};
  Panel        a        = {C->m, C->nnz, P->npanels, P->width, C->rowptr, C->col, NULL, NULL};
  GpErr        err      = GpDevBorrow(dev, bytes, &a.seg);

  if (!err) err = GpDevBorrow(dev, sizeof(falls), &a.falls);
  if (!err) err = dev->ops->zero(dev, a.falls, sizeof(falls));
  if (!err) err = GP_EACH(dev, Panel, CountFalls, C->nnz, &a);
  if (!err) err = GP_EACH(dev, Panel, CountRowEnds, C->m, &a);
  if (!err) err = GpDevDownload(dev, falls, a.falls, sizeof(falls));
  if (!err && falls[0] != falls[1]) err = GpDevFail(dev, GP_ERR_ARGUMENT, "%d column indices do not ascend within their rows; panels of columns need sorted rows", (int)(falls[0] - falls[1]));
  if (!err) err = GP_EACH(dev, Panel, EnterPanel, ((int64_t)P->npanels + 1) * C->m, &a);
  if (!err) err = GP_IMPL(GpPiecesBuild)(P, C, a.seg, a.seg + C->m, NULL);
  GpDevReturn(dev, &a.seg, bytes);
  GpDevReturn(dev, &a.falls, sizeof(falls));
  return err;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

/* Chooses the number of panels so that the thread blocks, one per multiprocessor, divide evenly among them. */
GpErr GpFmtBuild_panel(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr  *C    = A->csr;
  const int64_t room = (int64_t)(C->dev->shared_bytes / sizeof(double)) - 1, units = C->dev->compute_units, n = C->n > 0 ? C->n : 1; /* sums of these exceed 31 bits */
  const int64_t least = (n + room - 1) / room, each = units / least > 0 ? units / least : 1, most = units / each > least ? units / each : least;
  GpPieces     *P = (GpPieces *)calloc(1, sizeof(*P));

  (void)rowptr;
  A->data = P;
  if (!P) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  P->width     = (int32_t)(least == 1 ? n : (n + most - 1) / most);
  P->npanels   = (int32_t)((n + P->width - 1) / P->width);
  P->hot       = P->width + 1;
  P->codebytes = 2;
  if (P->npanels > 1 && (int64_t)P->npanels * C->m > GP_PANEL_PIECES * (int64_t)C->nnz)
    return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d panels of columns need %lld parts of rows, more than %d for each of %d nonzeros", (int)P->npanels, (long long)P->npanels * C->m, GP_PANEL_PIECES, (int)C->nnz);
  if ((int64_t)P->npanels * C->m >= INT32_MAX) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d panels of %d rows need more than 2^31 - 2 parts of rows", (int)P->npanels, (int)C->m);
  return GP_ON_DEVICE(C->dev, GpPanelBuild, P, C);
}

GpErr GpFmtRefill_panel(GpFmt *A)
{
  return GpPiecesRefill((const GpPieces *)A->data, A->csr);
}

void GpFmtDestroy_panel(GpFmt *A)
{
  if (A->data) GpPiecesDestroy((GpPieces *)A->data, A->csr);
  free(A->data);
}

double GpFmtBytes_panel(const GpFmt *A)
{
  return GpPiecesBytes((const GpPieces *)A->data, A->csr);
}

double GpFmtTraffic_panel(const GpFmt *A)
{
  return GpPiecesTraffic((const GpPieces *)A->data, A->csr);
}
#endif
