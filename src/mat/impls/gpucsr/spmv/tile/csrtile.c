/* Compressed rows cut into tiles of equal work, so that many blocks share a long row. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#include <stdlib.h>

/* Cuts the matrix into tiles and returns their number. A tile ends after the given number of nonzeros, or after the given number of row starts. */
static int32_t GpCsrTileCut(int32_t nonzeros, int32_t rows, int32_t m, const int32_t rowptr[], int32_t start[], int32_t row[])
{
  const int64_t nnz = rowptr[m];
  int32_t       n   = 0;

  for (int32_t s = 0, r = 0; s < nnz || r < m;) {
    const int32_t last = m - r > rows ? r + rows : m;
    int32_t       end = s + (int64_t)nonzeros < nnz ? s + nonzeros : (int32_t)nnz, lo = r, hi = last;

    start[n] = s;
    row[n++] = r;
    if (rowptr[last] <= end) { /* the row limit, or the end of the matrix, ends the tile */
      end = rowptr[last];
      lo  = last;
    } else {
      while (lo < hi) { /* find the first row that starts at or after the end */
        const int32_t mid = lo + (hi - lo) / 2;

        if (rowptr[mid] < end) lo = mid + 1;
        else hi = mid;
      }
    }
    s = end;
    r = lo;
  }
  start[n] = (int32_t)nnz;
  row[n]   = m;
  return n;
}

/* Lists the rows that cross the end of a tile, in ascending order, and returns their number. Only the last row that starts in a tile can do so. */
static int32_t GpCsrTileSpans(int32_t ntiles, const int32_t start[], const int32_t row[], const int32_t rowptr[], int32_t spanrow[], int32_t spanend[])
{
  int32_t n = 0;

  for (int32_t t = 0; t < ntiles; t++) {
    const int32_t r   = row[t + 1] - 1;
    int32_t       end = t;

    if (row[t] > r) continue;
    while (start[end + 1] < rowptr[r + 1]) end++;
    if (end == t) continue;
    spanrow[n]         = r;
    spanend[2 * n]     = t;
    spanend[2 * n + 1] = end;
    n++;
  }
  return n;
}

static GpErr GpCsrTileUpload(GpDev dev, const int32_t host[], int32_t n, int32_t **device)
{
  GpErr err = GpDevAlloc(dev, (size_t)n * sizeof(int32_t), device);

  return err ? err : GpDevUpload(dev, *device, host, (size_t)n * sizeof(int32_t));
}

GpErr GpCsrTileCreate(const GpCsr *A, const int32_t rowptr[], int32_t nonzeros, int32_t rows, GpCsrTile *T)
{
  GpDev        dev  = A->dev;
  const size_t most = (size_t)A->nnz / (size_t)nonzeros + (size_t)A->m / (size_t)rows + 3; /* every cut ends a full tile or a full set of rows */
  int32_t     *work = (int32_t *)malloc(5 * most * sizeof(int32_t)), *start = work, *row, *spanrow, *spanend;
  GpErr        err;

  if (!work) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for tiles");
  row       = start + most;
  spanrow   = row + most;
  spanend   = spanrow + most;
  T->ntiles = GpCsrTileCut(nonzeros, rows, A->m, rowptr, start, row);
  T->nspans = GpCsrTileSpans(T->ntiles, start, row, rowptr, spanrow, spanend);
  err       = GpCsrTileUpload(dev, start, T->ntiles + 1, &T->start);
  if (!err) err = GpCsrTileUpload(dev, row, T->ntiles + 1, &T->row);
  if (!err) err = GpCsrTileUpload(dev, spanrow, T->nspans, &T->spanrow);
  if (!err) err = GpCsrTileUpload(dev, spanend, 2 * T->nspans, &T->spanend);
  free(work);
  return err;
}

void GpCsrTileDestroy(GpDev dev, GpCsrTile *T)
{
  GpDevFree(dev, &T->head, (size_t)T->ntiles * sizeof(double));
  GpDevFree(dev, &T->tail, (size_t)T->ntiles * sizeof(double));
  GpDevFree(dev, &T->start, ((size_t)T->ntiles + 1) * sizeof(int32_t));
  GpDevFree(dev, &T->row, ((size_t)T->ntiles + 1) * sizeof(int32_t));
  GpDevFree(dev, &T->spanrow, (size_t)T->nspans * sizeof(int32_t));
  GpDevFree(dev, &T->spanend, 2 * (size_t)T->nspans * sizeof(int32_t));
}

GpErr GpFmtBuild_csrtile(GpFmt *A, const int32_t rowptr[])
{
  GpDev      dev = A->csr->dev;
  GpCsrTile *T   = (GpCsrTile *)calloc(1, sizeof(*T));
  GpErr      err;

  A->data = T;
  if (!T) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for tiles");
  err = GpCsrTileCreate(A->csr, rowptr, GP_TILE, GP_TILE_ROWS, T);
  if (!err) err = GpDevAlloc(dev, (size_t)T->ntiles * sizeof(double), &T->head);
  return err ? err : GpDevAlloc(dev, (size_t)T->ntiles * sizeof(double), &T->tail);
}

GpErr GpFmtRefill_csrtile(GpFmt *A)
{
  (void)A; /* tiles depend on the pattern only; the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrtile(GpFmt *A)
{
  GpCsrTile *T = (GpCsrTile *)A->data;

  if (!T) return;
  GpCsrTileDestroy(A->csr->dev, T);
  free(T);
}

double GpFmtBytes_csrtile(const GpFmt *A)
{
  const GpCsrTile *T = (const GpCsrTile *)A->data;

  return (2.0 * T->ntiles + 2.0 + 3.0 * T->nspans) * sizeof(int32_t) + 2.0 * T->ntiles * sizeof(double);
}

double GpFmtTraffic_csrtile(const GpFmt *A)
{
  return GpCsrBytes(A->csr) + GpFmtBytes_csrtile(A) + 2.0 * ((const GpCsrTile *)A->data)->ntiles * sizeof(double); /* partial sums are written and then read */
}
