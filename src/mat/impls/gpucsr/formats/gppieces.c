/* Rows in pieces: what they hold, and what a product reads of it. */
#include "mat/impls/gpucsr/formats/gppieces.h"
#include "mat/impls/gpucsr/formats/gpsteps.h"

GpErr GpPiecesRefill(const GpPieces *P, const GpCsr *C)
{
  return GP_ON_DEVICE(C->dev, GpPiecesRefill, P, C);
}

void GpPiecesDestroy(GpPieces *P, const GpCsr *C)
{
  const size_t lanes = (size_t)P->nslices * GP_PIECE_LANES, np1 = (size_t)P->npanels + 1;

  GpDevFree(C->dev, &P->base, ((size_t)P->nslices + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &P->hbase, ((size_t)P->nslices + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &P->out, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->from, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->shape, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->mask, lanes * sizeof(uint64_t));
  GpDevFree(C->dev, &P->pslice, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->pblock, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->span, 3 * (size_t)P->nspans * sizeof(int32_t));
  GpDevFree(C->dev, &P->pack, (size_t)P->packed * sizeof(int32_t));
  GpDevFree(C->dev, &P->hotcode, (size_t)P->hotslots * sizeof(uint16_t));
  GpDevFree(C->dev, &P->code, (size_t)(P->slots - P->hotslots) * (size_t)P->codebytes);
  GpDevFree(C->dev, &P->val, GpPiecesValues(P) * GpPrecBytes(C->prec));
  GpDevFree(C->dev, &P->xp, (size_t)P->packed * sizeof(double));
  GpDevFree(C->dev, &P->part, (size_t)P->npieces * sizeof(double));
}

/* of codes and values */
static double GpPiecesSlots(const GpPieces *P, const GpCsr *C)
{
  return (double)GpPiecesValues(P) * GpPrecBytes(C->prec) + (double)P->hotslots * sizeof(uint16_t) + (double)(P->slots - P->hotslots) * P->codebytes;
}

double GpPiecesBytes(const GpPieces *P, const GpCsr *C)
{
  const double packed  = P->pack ? P->packed : 0.0;
  const double indices = 2.0 * P->nslices + 2.0 + 3.0 * P->nslices * GP_PIECE_LANES + 2.0 * P->npanels + 2.0 + 3.0 * P->nspans + packed + (P->mask ? 2.0 * P->nslices * GP_PIECE_LANES : 0.0);

  return GpPiecesSlots(P, C) + sizeof(int32_t) * indices + sizeof(double) * (packed + (P->nspans ? P->npieces : 0.0));
}

/* codes and values, where the sums go, the partial sums twice, and x packed: written and read */
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C)
{
  const double parts = P->npieces - ((double)C->m - P->nspans), packed = P->pack ? P->packed : 0.0;

  return GpPiecesSlots(P, C) + sizeof(int32_t) * (2.0 * P->nslices + (double)P->nslices * GP_PIECE_LANES + 3.0 * P->nspans + packed) + 2.0 * sizeof(double) * (parts + packed);
}
