/* Rows in pieces (gppieces.h): memory, and the bytes that a product reads. */
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

GpErr GpPiecesRefill(const GpPieces *P, const GpCsr *C)
{
  return GP_ON_DEVICE(C->dev, GpPiecesRefill, P, C);
}

/* An allocation costs the host some microseconds, so several arrays share one: those of slices and lanes at base, those of slots at code, those
   of panels at pslice. */
static size_t GpPiecesLaneBytes(const GpPieces *P, int masked)
{
  const size_t lanes = (size_t)P->nslices * GP_PIECE_LANES, slices = (size_t)P->nslices + 1;

  return 2 * GP_PIECE_ALIGN(slices * sizeof(int32_t)) + 3 * GP_PIECE_ALIGN(lanes * sizeof(int32_t)) + (masked ? lanes * sizeof(uint64_t) : 0);
}

static size_t GpPiecesColdBytes(const GpPieces *P)
{
  return GP_PIECE_ALIGN((size_t)(P->slots - P->hotslots) * (size_t)P->codebytes);
}

static size_t GpPiecesHotBytes(const GpPieces *P)
{
  return GP_PIECE_ALIGN((size_t)P->hotslots * sizeof(uint16_t));
}

GpErr GpPiecesMakeLanes(GpPieces *P, GpDev dev, int masked)
{
  const size_t lanes = GP_PIECE_ALIGN((size_t)P->nslices * GP_PIECE_LANES * sizeof(int32_t)), slices = GP_PIECE_ALIGN(((size_t)P->nslices + 1) * sizeof(int32_t));
  char        *memory;
  GpErr        err = GpDevAlloc(dev, GpPiecesLaneBytes(P, masked), &memory);

  if (err) return err;
  P->base  = (int32_t *)memory;
  P->hbase = (int32_t *)(memory + slices);
  P->out   = (int32_t *)(memory + 2 * slices);
  P->from  = (int32_t *)(memory + 2 * slices + lanes);
  P->shape = (int32_t *)(memory + 2 * slices + 2 * lanes);
  P->mask  = masked ? (uint64_t *)(memory + 2 * slices + 3 * lanes) : NULL;
  return GP_SUCCESS;
}

GpErr GpPiecesMakeSlots(GpPieces *P, const GpCsr *C)
{
  char *memory;
  GpErr err = GpDevAlloc(C->dev, GpPiecesColdBytes(P) + GpPiecesHotBytes(P) + GpPiecesValues(P) * GpPrecBytes(C->prec), &memory);

  if (err || !memory) return err;
  P->code    = memory;
  P->hotcode = (uint16_t *)(memory + GpPiecesColdBytes(P));
  P->val     = memory + GpPiecesColdBytes(P) + GpPiecesHotBytes(P);
  return GP_SUCCESS;
}

void GpPiecesDestroy(GpPieces *P, const GpCsr *C)
{
  GpDevFree(C->dev, &P->base, GpPiecesLaneBytes(P, P->mask != NULL));
  GpDevFree(C->dev, &P->pslice, 2 * ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &P->span, 3 * (size_t)P->nspans * sizeof(int32_t));
  GpDevFree(C->dev, &P->pack, (size_t)P->packed * sizeof(int32_t));
  GpDevFree(C->dev, &P->code, GpPiecesColdBytes(P) + GpPiecesHotBytes(P) + GpPiecesValues(P) * GpPrecBytes(C->prec));
  GpDevFree(C->dev, &P->xp, (size_t)P->packed * sizeof(double));
  GpDevFree(C->dev, &P->part, (size_t)P->npieces * sizeof(double));
}

/* Returns the bytes of codes and values. */
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

/* Bytes that a product moves: codes, values and destinations; partial sums and packed entries of x count twice, since they are written and read. */
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C)
{
  const double parts = P->npieces - ((double)C->m - P->nspans), packed = P->pack ? P->packed : 0.0;

  return GpPiecesSlots(P, C) + sizeof(int32_t) * (2.0 * P->nslices + (double)P->nslices * GP_PIECE_LANES + 3.0 * P->nspans + packed) + 2.0 * sizeof(double) * (parts + packed);
}
