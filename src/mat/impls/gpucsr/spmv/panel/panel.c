/* Format panel (panel.h): number of panels, memory, and the bytes that a product reads. */
#include "mat/impls/gpucsr/spmv/panel/panel.h"

#include <stdlib.h>

#define GP_PANEL_PARTS 2 /* maximum number of parts of rows per nonzero */

/* An allocation costs the host some microseconds, so several arrays share one: those of slices and lanes at base, those of slots at code, those
   of panels at pslice. */
static size_t GpPanelLaneBytes(const GpPanel *P)
{
  return GP_PANEL_ALIGN(((size_t)P->nslices + 1) * sizeof(int32_t)) + 3 * GP_PANEL_ALIGN((size_t)P->nslices * GP_WARP * sizeof(int32_t));
}

static size_t GpPanelCodeBytes(const GpPanel *P)
{
  return GP_PANEL_ALIGN((size_t)P->slots * sizeof(uint16_t));
}

static size_t GpPanelValueBytes(const GpPanel *P, const GpCsr *C)
{
  return (P->same ? 1 : (size_t)P->slots) * GpPrecBytes(C->prec);
}

GpErr GpPanelAllocateLanes(GpPanel *P, GpDev dev)
{
  const size_t lanes = GP_PANEL_ALIGN((size_t)P->nslices * GP_WARP * sizeof(int32_t));
  char        *memory;
  GpErr        err = GpDevAlloc(dev, GpPanelLaneBytes(P), &memory);

  if (err) return err;
  P->base  = (int32_t *)memory;
  P->out   = (int32_t *)(memory + GP_PANEL_ALIGN(((size_t)P->nslices + 1) * sizeof(int32_t)));
  P->from  = (int32_t *)((char *)P->out + lanes);
  P->shape = (int32_t *)((char *)P->from + lanes);
  return GP_SUCCESS;
}

GpErr GpPanelAllocateSlots(GpPanel *P, const GpCsr *C)
{
  char *memory;
  GpErr err = GpDevAlloc(C->dev, GpPanelCodeBytes(P) + GpPanelValueBytes(P, C), &memory);

  if (err) return err;
  P->code = (uint16_t *)memory;
  P->val  = memory + GpPanelCodeBytes(P);
  return GP_SUCCESS;
}

/* Chooses the number of panels so that the thread blocks, one per multiprocessor, divide evenly among them. */
GpErr GpFmtBuild_panel(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr  *C        = A->csr;
  const int64_t capacity = (int64_t)(GpDevSharedBytes(C->dev) / sizeof(double)) - 1, units = GpDevComputeUnits(C->dev), n = C->n > 0 ? C->n : 1; /* sums of these exceed 31 bits */
  const int64_t least = (n + capacity - 1) / capacity, each = units / least > 0 ? units / least : 1, most = units / each > least ? units / each : least;
  GpPanel      *P = (GpPanel *)calloc(1, sizeof(*P));

  (void)rowptr;
  A->data = P;
  if (!P) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  P->width   = (int32_t)(least == 1 ? n : (n + most - 1) / most);
  P->npanels = (int32_t)((n + P->width - 1) / P->width);
  if (P->npanels > 1 && (int64_t)P->npanels * C->m > GP_PANEL_PARTS * (int64_t)C->nnz)
    return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d panels of columns need %lld parts of rows, more than %d for each of %d nonzeros", (int)P->npanels, (long long)P->npanels * C->m, GP_PANEL_PARTS, (int)C->nnz);
  if ((int64_t)P->npanels * C->m >= INT32_MAX) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d panels of %d rows need more than 2^31 - 2 parts of rows", (int)P->npanels, (int)C->m);
  return GP_ON_DEVICE(C->dev, GpPanelBuild, P, C);
}

GpErr GpFmtRefill_panel(GpFmt *A)
{
  const GpPanel *P   = (const GpPanel *)A->data;
  const GpErr    err = P->same ? GpCsrStillSame(A->csr) : GP_SUCCESS;

  return err ? err : GP_ON_DEVICE(A->csr->dev, GpPanelPutValues, P, A->csr);
}

void GpFmtDestroy_panel(GpFmt *A)
{
  GpPanel *P   = (GpPanel *)A->data;
  GpDev    dev = A->csr->dev;

  if (!P) return;
  GpDevFree(dev, &P->base, GpPanelLaneBytes(P));
  GpDevFree(dev, &P->pslice, 2 * ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(dev, &P->span, 3 * (size_t)P->nspans * sizeof(int32_t));
  GpDevFree(dev, &P->code, GpPanelCodeBytes(P) + GpPanelValueBytes(P, A->csr));
  GpDevFree(dev, &P->part, (size_t)P->npieces * sizeof(double));
  free(P);
}

double GpFmtBytes_panel(const GpFmt *A)
{
  const GpPanel *P       = (const GpPanel *)A->data;
  const double   indices = P->nslices + 1.0 + 3.0 * P->nslices * GP_WARP + 2.0 * P->npanels + 2.0 + 3.0 * P->nspans;

  return GpPanelValueBytes(P, A->csr) + (double)P->slots * sizeof(uint16_t) + sizeof(int32_t) * indices + sizeof(double) * (P->nspans ? P->npieces : 0.0);
}

/* Bytes that a product moves: codes, values and destinations. Partial sums count twice, since they are written and read. */
double GpFmtTraffic_panel(const GpFmt *A)
{
  const GpPanel *P     = (const GpPanel *)A->data;
  const double   parts = P->npieces - ((double)A->csr->m - P->nspans);

  return GpPanelValueBytes(P, A->csr) + (double)P->slots * sizeof(uint16_t) + sizeof(int32_t) * (P->nslices + (double)P->nslices * GP_WARP + 3.0 * P->nspans) + 2.0 * sizeof(double) * parts;
}
