/* Format csrpanel: compressed rows in small tiles, with the workspace of products with several vectors. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#include <stdlib.h>

GpErr GpFmtBuild_csrpanel(GpFmt *A, const int32_t rowptr[])
{
  GpCsrPanel *P = (GpCsrPanel *)calloc(1, sizeof(*P));

  A->data = P;
  if (!P) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for tiles");
  return GpCsrTileCreate(A->csr, rowptr, GP_PANEL_TILE, GP_PANEL_ROWS, &P->tile);
}

/* Returns workspace for n doubles. Products that use the old workspace are on the same stream, and freeing the memory waits for them. */
GpErr GpCsrPanelWork(const GpFmt *A, size_t n, double **work)
{
  GpCsrPanel *P   = (GpCsrPanel *)A->data;
  GpErr       err = GP_SUCCESS;

  if (n > P->nwork) {
    GpDevFree(A->csr->dev, &P->work, P->nwork * sizeof(double));
    P->nwork = 0;
    err      = GpDevAlloc(A->csr->dev, n * sizeof(double), &P->work);
    if (!err) P->nwork = n;
  }
  *work = P->work;
  return err;
}

GpErr GpFmtRefill_csrpanel(GpFmt *A)
{
  (void)A; /* tiles depend on the pattern only; the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrpanel(GpFmt *A)
{
  GpCsrPanel *P   = (GpCsrPanel *)A->data;
  GpDev       dev = A->csr->dev;

  if (!P) return;
  GpDevFree(dev, &P->work, P->nwork * sizeof(double));
  GpCsrTileDestroy(dev, &P->tile);
  free(P);
}

double GpFmtBytes_csrpanel(const GpFmt *A)
{
  const GpCsrPanel *P = (const GpCsrPanel *)A->data;

  return (2.0 * P->tile.ntiles + 2.0 + 3.0 * P->tile.nspans) * sizeof(int32_t) + (double)P->nwork * sizeof(double);
}

/* Bytes of a product with one panel of vectors. The cost of vectors and of partial sums is counted elsewhere. */
double GpFmtTraffic_csrpanel(const GpFmt *A)
{
  const GpCsrPanel *P = (const GpCsrPanel *)A->data;

  return GpCsrBytes(A->csr) + (2.0 * P->tile.ntiles + 2.0) * sizeof(int32_t);
}
