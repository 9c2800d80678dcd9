/* Format hybrid (CSR/ELL): rows of up to 4, 7 and 16 nonzeros are in one ELL array of that width each. The other rows remain compressed. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"

#include <stdlib.h>

typedef struct {
  GpHybrid H;
  GpCsr    C;
} Fill;

/* Fills the slots of row i of the list, unless it is a long row. */
GP_STEP(FillRow)
{
  const Fill *a = (const Fill *)args;
  int64_t     t = i;
  int         c = 0;

  for (; t >= a->H.rows[c]; c++) t -= a->H.rows[c];
  for (int32_t j = 0; j < a->H.width[c]; j++) {
    const int32_t row = a->H.list[i], k = a->C.rowptr[row] + j, there = k < a->C.rowptr[row + 1];
    const int64_t to = a->H.at[c] + (int64_t)j * a->H.rows[c] + t;

    a->H.col[to] = there ? a->C.col[k] : -1;
    if (a->C.prec == GP_F32) ((float *)a->H.val)[to] = there ? ((const float *)a->C.val)[k] : 0.0f;
    else ((double *)a->H.val)[to] = there ? ((const double *)a->C.val)[k] : 0.0;
  }
}

static GpErr GpHybridFill(const GpHybrid *H, const GpCsr *C)
{
  Fill a = {*H, *C};

  return GP_EACH(C->dev, Fill, FillRow, C->m, &a);
}

static const int32_t GpHybridWidths[GP_HYBRID_CLASSES] = {4, 7, 16, 0};

static int GpHybridClass(int32_t length)
{
  int c = 0;

  while (GpHybridWidths[c] && length > GpHybridWidths[c]) c++;
  return c;
}

/* Lists the rows, class by class. */
static void GpHybridSort(GpHybrid *H, int32_t m, const int32_t rowptr[], int32_t list[])
{
  int32_t next[GP_HYBRID_CLASSES] = {0};

  for (int32_t i = 0; i < m; i++) {
    const int c = GpHybridClass(rowptr[i + 1] - rowptr[i]);

    H->rows[c]++;
    if (GpHybridWidths[c]) H->shorts += rowptr[i + 1] - rowptr[i];
  }
  for (int c = 0; c < GP_HYBRID_CLASSES; c++) {
    H->width[c] = GpHybridWidths[c];
    H->at[c]    = c ? H->at[c - 1] + (int64_t)H->rows[c - 1] * H->width[c - 1] : 0;
    next[c]     = c ? next[c - 1] + H->rows[c - 1] : 0;
  }
  for (int32_t i = 0; i < m; i++) list[next[GpHybridClass(rowptr[i + 1] - rowptr[i])]++] = i;
}

extern "C" GpErr GpFmtBuild_hybrid(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr *C    = A->csr;
  GpDev        dev  = C->dev;
  GpHybrid    *H    = (GpHybrid *)calloc(1, sizeof(*H));
  int32_t     *list = (int32_t *)malloc(((size_t)C->m + 1) * sizeof(int32_t));
  GpErr        err  = H && list ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");

  A->data = H;
  if (!err) {
    GpHybridSort(H, C->m, rowptr, list);
    err = GpDevAlloc(dev, (size_t)C->m * sizeof(int32_t), &H->list);
  }
  if (!err) err = GpDevUpload(dev, H->list, list, (size_t)C->m * sizeof(int32_t));
  free(list);
  if (!err) err = GpDevAlloc(dev, (size_t)H->at[GP_HYBRID_CLASSES - 1] * sizeof(int32_t), &H->col);
  if (!err) err = GpDevAlloc(dev, (size_t)H->at[GP_HYBRID_CLASSES - 1] * GpPrecBytes(C->prec), &H->val);
  return err ? err : GpHybridFill(H, C);
}

extern "C" GpErr GpFmtRefill_hybrid(GpFmt *A)
{
  return GpHybridFill((const GpHybrid *)A->data, A->csr);
}

extern "C" void GpFmtDestroy_hybrid(GpFmt *A)
{
  GpHybrid *H = (GpHybrid *)A->data;

  if (!H) return;
  GpDevFree(A->csr->dev, &H->list, (size_t)A->csr->m * sizeof(int32_t));
  GpDevFree(A->csr->dev, &H->col, (size_t)H->at[GP_HYBRID_CLASSES - 1] * sizeof(int32_t));
  GpDevFree(A->csr->dev, &H->val, (size_t)H->at[GP_HYBRID_CLASSES - 1] * GpPrecBytes(A->csr->prec));
  free(H);
}

extern "C" double GpFmtBytes_hybrid(const GpFmt *A)
{
  const GpHybrid *H = (const GpHybrid *)A->data;

  return (double)A->csr->m * sizeof(int32_t) + (double)H->at[GP_HYBRID_CLASSES - 1] * (sizeof(int32_t) + GpPrecBytes(A->csr->prec));
}

/* A product reads the slots of the short rows, and the nonzeros and row pointers of the long rows. */
extern "C" double GpFmtTraffic_hybrid(const GpFmt *A)
{
  const GpHybrid *H     = (const GpHybrid *)A->data;
  const double    each  = sizeof(int32_t) + GpPrecBytes(A->csr->prec);
  const double    longs = (double)A->csr->nnz - (double)H->shorts;

  return GpFmtBytes_hybrid(A) + longs * each + 2.0 * sizeof(int32_t) * H->rows[GP_HYBRID_CLASSES - 1];
}
