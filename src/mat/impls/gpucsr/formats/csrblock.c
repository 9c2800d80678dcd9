/* Compressed rows in blocks of whole rows whose products fit a thread block's shared memory. */
#include "mat/impls/gpucsr/formats/gpseeds.h"

#include <stdlib.h>

/* Writes the first row of every block, returns their number.  A block mostly ends after as many rows as the one before: from there in steps that double, then
   by bisection, since the row pointers come from memory. */
static int32_t GpCsrBlockCut(int32_t m, const int32_t rowptr[], int32_t row[])
{
  int32_t n = 0;

  for (int32_t i = 0, rows = 1; i < m; n++) {
    const int32_t first = i;
    int32_t       most = m - first > GP_BLOCK_ROWS ? first + GP_BLOCK_ROWS : m, step = 1, at = most - first > rows ? first + rows : most;
    int           near = 0, far = 0;

    row[n] = first;
    for (i++; i < most; step *= 2) { /* the last end that is not too far, and one row in any case */
      if (at <= i) at = i + 1;
      if (rowptr[at] - rowptr[first] <= GP_BLOCK_NONZEROS) {
        i    = at;
        near = 1;
      } else {
        most = at - 1;
        far  = 1;
      }
      at = near && far ? most - (most - i) / 2 : far ? most - step : most - i > step ? i + step : most;
    }
    rows = i - first;
  }
  row[n] = m;
  return n;
}

GpErr GpFmtBuild_csrblock(GpFmt *A, const int32_t rowptr[])
{
  GpDev        dev  = A->csr->dev;
  const size_t most = (size_t)A->csr->m / GP_BLOCK_ROWS + 2 * ((size_t)A->csr->nnz / GP_BLOCK_NONZEROS) + 3; /* two blocks with fewer rows hold more than the nonzeros of one */
  GpCsrBlock  *B    = (GpCsrBlock *)calloc(1, sizeof(*B));
  int32_t     *row;
  GpErr        err;

  A->data = B;
  if (!B) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  row = (int32_t *)malloc(most * sizeof(int32_t));
  if (!row) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for row blocks");
  B->nblocks = GpCsrBlockCut(A->csr->m, rowptr, row);
  err        = GpDevAlloc(dev, ((size_t)B->nblocks + 1) * sizeof(int32_t), &B->row);
  if (!err) err = GpDevUpload(dev, B->row, row, ((size_t)B->nblocks + 1) * sizeof(int32_t));
  free(row);
  return err;
}

GpErr GpFmtRefill_csrblock(GpFmt *A)
{
  (void)A; /* the values are those of the rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrblock(GpFmt *A)
{
  GpCsrBlock *B = (GpCsrBlock *)A->data;

  if (!B) return;
  GpDevFree(A->csr->dev, &B->row, ((size_t)B->nblocks + 1) * sizeof(int32_t));
  free(B);
}

double GpFmtBytes_csrblock(const GpFmt *A)
{
  return (((const GpCsrBlock *)A->data)->nblocks + 1.0) * sizeof(int32_t);
}

double GpFmtTraffic_csrblock(const GpFmt *A)
{
  return GpCsrBytes(A->csr) + GpFmtBytes_csrblock(A);
}
