/* Format csrflag: compressed rows with one bit per nonzero, which is set where a row starts. It is built by a scan and by setting bits, in the
   time of a few products. */
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

typedef struct {
  GpCsrFlag F;
  GpCsr     C;
  int32_t  *before; /* [m+1] number of nonempty rows before each row */
} Flag;

GP_STEP(CountRow)
{
  const Flag *a = (const Flag *)args;

  a->before[i] = a->C.rowptr[i] < a->C.rowptr[i + 1];
}

/* Sets the bits of row starts, lists nonempty rows and lists empty rows. Index m stands for the end of the matrix and sets the bit behind the
   last nonzero. */
GP_STEP(SetBit)
{
  const Flag   *a     = (const Flag *)args;
  const int32_t start = a->C.rowptr[i];

  if (i == a->C.m || start < a->C.rowptr[i + 1]) {
    GP_SET(&a->F.flag[start / 32], 1u << start % 32);
    if (i < a->C.m && a->F.row) a->F.row[a->before[i]] = (int32_t)i;
  } else a->F.empty[i - a->before[i]] = (int32_t)i;
}

GP_STEP(RankChunk)
{
  const Flag   *a  = (const Flag *)args;
  const int64_t at = i * GP_FLAG_CHUNK;
  int32_t       lo = 0, hi = a->C.m; /* the first row that starts at or behind the chunk */

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->C.rowptr[mid] < at) lo = mid + 1;
    else hi = mid;
  }
  a->F.rank[i] = a->before[lo];
}

static inline size_t FlagBytes(const GpCsrFlag *F)
{
  return ((size_t)F->tile.ntiles * (GP_FLAG_TILE / 32) + 1) * sizeof(uint32_t);
}

static inline size_t Chunks(const GpCsrFlag *F)
{
  return (size_t)F->tile.ntiles * (GP_FLAG_TILE / GP_FLAG_CHUNK) + 1;
}

GP_PAIR(GpCsrFlagBuild, GpCsrFlag *F, const GpCsr *C);
GpErr GP_IMPL(GpCsrFlagBuild)(GpCsrFlag *F, const GpCsr *C)
{
  GpDev        dev   = C->dev;
  Flag         a     = {*F, *C, NULL};
  const size_t bytes = ((size_t)C->m + 1) * sizeof(int32_t);
  GpErr        err   = GpDevBorrow(dev, bytes, &a.before);

  if (!err) err = GP_EACH(dev, Flag, CountRow, C->m, &a);
  if (!err) err = GP_IMPL(GpScan)(dev, C->m, a.before);
  if (!err) err = GpDevDownload(dev, &a.F.n, a.before + C->m, sizeof(int32_t));
  if (err) a.F.n = C->m;
  if (!err) err = GpDevAlloc(dev, FlagBytes(F), &a.F.flag);
  if (!err) err = GpDevAlloc(dev, Chunks(F) * sizeof(int32_t), &a.F.rank);
  if (!err && a.F.n < C->m) err = GpDevAlloc(dev, (size_t)a.F.n * sizeof(int32_t), &a.F.row);
  if (!err && a.F.n < C->m) err = GpDevAlloc(dev, (size_t)(C->m - a.F.n) * sizeof(int32_t), &a.F.empty);
  if (!err) err = dev->ops->zero(dev, a.F.flag, FlagBytes(F));
  if (!err) err = GP_EACH(dev, Flag, SetBit, (int64_t)C->m + 1, &a);
  if (!err) err = GP_EACH(dev, Flag, RankChunk, (int64_t)Chunks(F), &a);
  *F = a.F;
  GpDevReturn(dev, &a.before, bytes);
  return err;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpFmtBuild_csrflag(GpFmt *A, const int32_t rowptr[])
{
  GpDev      dev = A->csr->dev;
  GpCsrFlag *F   = (GpCsrFlag *)calloc(1, sizeof(*F));
  GpErr      err;

  A->data = F;
  if (!F) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  err = GpCsrTileCreate(A->csr, rowptr, GP_FLAG_TILE, INT32_MAX, &F->tile);
  if (!err) err = GpCsrTileSums(dev, &F->tile);
  if (!err) err = GpCsrSame(A->csr, &F->same);
  return err ? err : GP_ON_DEVICE(dev, GpCsrFlagBuild, F, A->csr);
}

GpErr GpFmtRefill_csrflag(GpFmt *A)
{
  return ((const GpCsrFlag *)A->data)->same ? GpCsrStillSame(A->csr) : GP_SUCCESS; /* the values are those of the compressed rows */
}

void GpFmtDestroy_csrflag(GpFmt *A)
{
  GpCsrFlag *F   = (GpCsrFlag *)A->data;
  GpDev      dev = A->csr->dev;

  if (!F) return;
  GpDevFree(dev, &F->flag, FlagBytes(F));
  GpDevFree(dev, &F->rank, Chunks(F) * sizeof(int32_t));
  GpDevFree(dev, &F->row, (size_t)F->n * sizeof(int32_t));
  GpDevFree(dev, &F->empty, (size_t)(A->csr->m - F->n) * sizeof(int32_t));
  GpCsrTileDestroy(dev, &F->tile);
  free(F);
}

double GpFmtBytes_csrflag(const GpFmt *A)
{
  const GpCsrFlag *F = (const GpCsrFlag *)A->data;

  return (double)FlagBytes(F) + sizeof(int32_t) * ((double)Chunks(F) + (F->row ? A->csr->m : 0) + 2.0 * F->tile.ntiles + 2.0 + 3.0 * F->tile.nspans) + 2.0 * F->tile.ntiles * sizeof(double);
}

double GpFmtTraffic_csrflag(const GpFmt *A)
{
  const GpCsrFlag *F = (const GpCsrFlag *)A->data;

  /* A product reads the columns and, unless all values are equal, the values. Partial sums are written and then read. */
  return (double)A->csr->nnz * (sizeof(int32_t) + (F->same ? 0 : GpPrecBytes(A->csr->prec))) + GpFmtBytes_csrflag(A) + 2.0 * F->tile.ntiles * sizeof(double);
}
#endif
