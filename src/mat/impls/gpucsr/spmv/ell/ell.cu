/* Builds format ELL. Source: R. G. Grimes, D. R. Kincaid and D. M. Young, "ITPACK 2.0 user's guide", 1979. */
#include "mat/impls/gpucsr/spmv/ell/ell.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

typedef struct {
  GpEll E;
  GpCsr C;
} Ell;

GP_STEP(FillPlace)
{
  const Ell    *a = (const Ell *)args;
  const int64_t c = i / a->E.stride, row = i % a->E.stride;
  const int32_t k     = row < a->C.m ? a->C.rowptr[row] + (int32_t)c : 0;
  const int     there = row < a->C.m && k < a->C.rowptr[row + 1];

  a->E.col[i] = there ? a->C.col[k] : -1;
  if (a->C.prec == GP_F32) ((float *)a->E.val)[i] = there ? ((const float *)a->C.val)[k] : 0.0f;
  else ((double *)a->E.val)[i] = there ? ((const double *)a->C.val)[k] : 0.0;
}

GP_PAIR(GpEllFill, const GpEll *E, const GpCsr *C);
GpErr GP_IMPL(GpEllFill)(const GpEll *E, const GpCsr *C)
{
  const Ell a = {*E, *C};

  return GP_EACH(C->dev, Ell, FillPlace, E->stride * E->width, &a);
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

  #define MOST_PADDING 3.0 /* maximum ratio of stored entries to nonzeros */
  #define FREE_PADDING 1e5 /* number of stored entries that is always accepted */

static inline size_t Places(const GpEll *E)
{
  return (size_t)E->stride * (size_t)E->width;
}

GpErr GpFmtBuild_ell(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr *C   = A->csr;
  GpDev        dev = C->dev;
  GpEll       *E   = (GpEll *)calloc(1, sizeof(*E));
  GpErr        err;

  A->data = E;
  if (!E) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  for (int32_t i = 0; i < C->m; i++)
    if (rowptr[i + 1] - rowptr[i] > E->width) E->width = rowptr[i + 1] - rowptr[i];
  E->stride = ((int64_t)C->m + GP_ELL_WHOLE - 1) / GP_ELL_WHOLE * GP_ELL_WHOLE;
  if ((double)E->stride * E->width > MOST_PADDING * C->nnz + FREE_PADDING) {
    err      = GpDevFail(dev, GP_ERR_ARGUMENT, "uneven row lengths: rows padded to the longest (%d nonzeros) store %.1f times the nonzeros; the limit is %g", (int)E->width, (double)E->stride * E->width / C->nnz, MOST_PADDING);
    E->width = 0; /* no memory is held */
    return err;
  }
  err = GpDevAlloc(dev, Places(E) * sizeof(int32_t), &E->col);
  if (!err) err = GpDevAlloc(dev, Places(E) * GpPrecBytes(C->prec), &E->val);
  return err ? err : GP_ON_DEVICE(dev, GpEllFill, E, C);
}

GpErr GpFmtRefill_ell(GpFmt *A)
{
  return GP_ON_DEVICE(A->csr->dev, GpEllFill, (const GpEll *)A->data, A->csr);
}

void GpFmtDestroy_ell(GpFmt *A)
{
  GpEll *E = (GpEll *)A->data;

  if (!E) return;
  GpDevFree(A->csr->dev, &E->col, Places(E) * sizeof(int32_t));
  GpDevFree(A->csr->dev, &E->val, Places(E) * GpPrecBytes(A->csr->prec));
  free(E);
}

double GpFmtBytes_ell(const GpFmt *A)
{
  return (double)Places((const GpEll *)A->data) * (double)(sizeof(int32_t) + GpPrecBytes(A->csr->prec));
}

double GpFmtTraffic_ell(const GpFmt *A)
{
  return GpFmtBytes_ell(A);
}
#endif
