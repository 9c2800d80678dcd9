/* Format bin: rows are cut into pieces, and pieces of similar length are adjacent (gppieces.h). A long row is shared by several blocks. */
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

#include <stdlib.h>

GpErr GpFmtBuild_bin(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr *C = A->csr;
  GpPieces    *P = (GpPieces *)calloc(1, sizeof(*P));
  GpErr        err;

  (void)rowptr;
  A->data = P;
  if (!P) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  P->npanels   = 1;
  P->packed    = 1; /* cold code 1 + j is column j */
  P->width     = C->n > 0 ? C->n : 1;
  P->codebytes = C->n < UINT16_MAX ? 2 : 4;
  err          = GpDevAlloc(C->dev, sizeof(double), &P->xp); /* the entry of x that code 0 (padding) reads: zero */
  if (!err) err = C->dev->ops->zero(C->dev, P->xp, sizeof(double));
  return err ? err : GP_ON_DEVICE(C->dev, GpPiecesBuild, P, C, C->rowptr, C->rowptr + 1, NULL);
}

GpErr GpFmtRefill_bin(GpFmt *A)
{
  return GpPiecesRefill((const GpPieces *)A->data, A->csr);
}

void GpFmtDestroy_bin(GpFmt *A)
{
  if (A->data) GpPiecesDestroy((GpPieces *)A->data, A->csr);
  free(A->data);
}

double GpFmtBytes_bin(const GpFmt *A)
{
  return GpPiecesBytes((const GpPieces *)A->data, A->csr);
}

double GpFmtTraffic_bin(const GpFmt *A)
{
  return GpPiecesTraffic((const GpPieces *)A->data, A->csr);
}
