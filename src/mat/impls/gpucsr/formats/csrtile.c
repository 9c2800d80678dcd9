/* Compressed sparse rows cut into tiles of GP_TILE nonzeros, so that a row of any length is shared by many blocks. */
#include "mat/impls/gpucsr/formats/gpformat.h"

#include <stdlib.h>

/* the rows that cross the end of a tile, in ascending order; with NULL arrays only their number */
static int32_t GpCsrTileSpans(int32_t ntiles, const int32_t tilerow[], const int32_t rowptr[], int32_t spanrow[], int32_t spanend[])
{
  int32_t n = 0, m = tilerow[ntiles];

  for (int32_t t = 0; t < ntiles; t++) { /* only the last row that starts in a tile can leave it */
    int32_t r = tilerow[t + 1] - 1, end;

    if (tilerow[t] > r || r >= m) continue;
    end = rowptr[r + 1] > rowptr[r] ? (rowptr[r + 1] - 1) / GP_TILE : t;
    if (end == t) continue;
    if (spanrow) {
      spanrow[n]         = r;
      spanend[2 * n]     = t;
      spanend[2 * n + 1] = end;
    }
    n++;
  }
  return n;
}

static GpErr GpCsrTileUpload(GpDev dev, const int32_t host[], int32_t n, int32_t **device)
{
  GpErr err = GpDevAlloc(dev, (size_t)n * sizeof(int32_t), device);

  return err ? err : GpDevUpload(dev, *device, host, (size_t)n * sizeof(int32_t));
}

GpErr GpFmtBuild_csrtile(GpFmt *A, const int32_t rowptr[])
{
  GpDev      dev    = A->csr->dev;
  int32_t    m      = A->csr->m;
  int32_t    ntiles = (int32_t)(((int64_t)A->csr->nnz + GP_TILE - 1) / GP_TILE);
  GpCsrTile *T      = (GpCsrTile *)calloc(1, sizeof(*T));
  int32_t   *work;
  GpErr      err;

  if (!T) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a tiling");
  A->data   = T;
  if (!ntiles) ntiles = 1; /* a matrix without nonzeros still has rows to write */
  T->ntiles = ntiles;
  work      = (int32_t *)malloc(((size_t)ntiles * 4 + 1) * sizeof(int32_t)); /* tilerow and, behind it, the spans */
  if (!work) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a tiling");
  work[0] = 0;
  for (int32_t t = 1, r = 0; t < ntiles; t++) {
    int64_t start = (int64_t)t * GP_TILE;
    int32_t hi    = m;

    while (r < hi) { /* first row with rowptr >= start */
      int32_t mid = r + (hi - r) / 2;

      if (rowptr[mid] < start) r = mid + 1;
      else hi = mid;
    }
    work[t] = r;
  }
  work[ntiles] = m;
  T->nspans    = GpCsrTileSpans(ntiles, work, rowptr, work + ntiles + 1, work + 2 * (size_t)ntiles + 1);
  err          = GpCsrTileUpload(dev, work, ntiles + 1, &T->tilerow);
  if (!err) err = GpCsrTileUpload(dev, work + ntiles + 1, T->nspans, &T->spanrow);
  if (!err) err = GpCsrTileUpload(dev, work + 2 * (size_t)ntiles + 1, 2 * T->nspans, &T->spanend);
  if (!err) err = GpDevAlloc(dev, (size_t)ntiles * sizeof(double), &T->head);
  if (!err) err = GpDevAlloc(dev, (size_t)ntiles * sizeof(double), &T->tail);
  free(work);
  return err;
}

GpErr GpFmtRefill_csrtile(GpFmt *A)
{
  (void)A; /* the tiles cut the pattern; the values are those of the rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrtile(GpFmt *A)
{
  GpCsrTile *T   = (GpCsrTile *)A->data;
  GpDev      dev = A->csr->dev;

  if (!T) return;
  GpDevFree(dev, &T->tilerow, ((size_t)T->ntiles + 1) * sizeof(int32_t));
  GpDevFree(dev, &T->spanrow, (size_t)T->nspans * sizeof(int32_t));
  GpDevFree(dev, &T->spanend, 2 * (size_t)T->nspans * sizeof(int32_t));
  GpDevFree(dev, &T->head, (size_t)T->ntiles * sizeof(double));
  GpDevFree(dev, &T->tail, (size_t)T->ntiles * sizeof(double));
  free(T);
}

double GpFmtBytes_csrtile(const GpFmt *A)
{
  const GpCsrTile *T = (const GpCsrTile *)A->data;

  return ((double)T->ntiles + 1 + 3.0 * T->nspans) * sizeof(int32_t) + 2.0 * T->ntiles * sizeof(double);
}
