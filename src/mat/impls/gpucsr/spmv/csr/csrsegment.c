/* Format csrsegment: compressed rows, with workspace for the sums of segments of long rows. */
#include "mat/impls/gpucsr/spmv/csr/gpsegment.h"

#include <stdlib.h>

size_t GpCsrSegmentSize(const GpCsrSegment *G, int32_t nnz)
{
  return G->longest < 2 * GP_SEGMENT ? 0 : (size_t)(nnz / GP_SEGMENT) + 1;
}

/* Products that use the old workspace are on the same stream, and freeing the memory waits for them. */
GpErr GpCsrSegmentReserve(GpDev dev, GpCsrSegment *G, size_t n)
{
  GpErr err;

  if (n <= G->nwork) return GP_SUCCESS;
  GpCsrSegmentFree(dev, G);
  err = GpDevAlloc(dev, n * sizeof(double), &G->work);
  if (!err) G->nwork = n;
  return err;
}

void GpCsrSegmentFree(GpDev dev, GpCsrSegment *G)
{
  GpDevFree(dev, &G->work, G->nwork * sizeof(double));
  G->nwork  = 0;
  G->packed = 0;
}

GpErr GpFmtBuild_csrsegment(GpFmt *A, const int32_t rowptr[])
{
  GpCsrSegment *G = (GpCsrSegment *)calloc(1, sizeof(*G));

  A->data = G;
  if (!G) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a format");
  for (int32_t i = 0; i < A->csr->m; i++) G->longest = rowptr[i + 1] - rowptr[i] > G->longest ? rowptr[i + 1] - rowptr[i] : G->longest;
  return GpCsrSegmentReserve(A->csr->dev, G, GpCsrSegmentSize(G, A->csr->nnz));
}

GpErr GpFmtRefill_csrsegment(GpFmt *A)
{
  (void)A; /* the workspace depends on the pattern only; the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrsegment(GpFmt *A)
{
  GpCsrSegment *G = (GpCsrSegment *)A->data;

  if (G) GpCsrSegmentFree(A->csr->dev, G);
  free(G);
}

double GpFmtBytes_csrsegment(const GpFmt *A)
{
  return (double)((const GpCsrSegment *)A->data)->nwork * sizeof(double);
}

/* The sums of segments are written and then read. */
double GpFmtTraffic_csrsegment(const GpFmt *A)
{
  return GpCsrBytes(A->csr) + 2.0 * (double)GpCsrSegmentSize((const GpCsrSegment *)A->data, A->csr->nnz) * sizeof(double);
}
