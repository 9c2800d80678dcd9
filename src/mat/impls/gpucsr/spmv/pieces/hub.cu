/* Format hub: columns are numbered by frequency, so that the entries of x that most nonzeros use are contiguous. The most frequent are staged in
   shared memory, the next stay in the caches. For power-law graphs and bag-of-words matrices. */
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

/* Bytes of shared memory for x. The rest of the 256 KB of a multiprocessor is its L1 cache, whose lines hold the loads in flight. With the
   maximum shared memory, 28 KB would be left, and gathers of other columns would wait for lines. */
#define GP_HUB_STAGED ((size_t)128 << 10)

/* If x is larger than the part of the L2 cache that the matrix stream leaves, columns with at least GP_HUB_OFTEN nonzeros are packed too, at most
   GP_HUB_WARM. */
#define GP_HUB_CACHED ((int64_t)24 << 20)
#define GP_HUB_OFTEN  8
#define GP_HUB_WARM   ((int32_t)1 << 21)

/* About so many nonzeros are counted. This suffices to find the frequent columns, and limits the contention of atomics on the most frequent ones. */
#define GP_HUB_COUNTED 2000000

typedef struct {
  int32_t        n, packed;
  int32_t        each;   /* one nonzero in so many is counted */
  int32_t        enough; /* minimum number of counted nonzeros of a column to be packed */
  const int32_t *col;
  int32_t       *count;   /* [n+1] count of every column, later its code */
  uint32_t      *key;     /* [n] sort keys */
  int32_t       *column;  /* [n] columns by descending frequency */
  int32_t       *several; /* [1] number of columns with at least `enough` counted nonzeros */
  int32_t       *pack;
} Hub;

/* Counts one nonzero of every `each`, at a pseudo-random position, so that the sample does not align with the rows. */
GP_STEP(CountColumn)
{
  const Hub *h = (const Hub *)args;

  GP_COUNT(h->count + h->col[i * h->each + ((uint32_t)i * 2654435761u >> 8) % (uint32_t)h->each]);
}

GP_STEP(KeyColumn)
{
  const Hub *h = (const Hub *)args;

  h->key[i]    = (uint32_t)(INT32_MAX - h->count[i]);
  h->column[i] = (int32_t)i;
}

GP_STEP(FindSeveral)
{
  const Hub     *h     = (const Hub *)args;
  const uint32_t limit = (uint32_t)(INT32_MAX - h->enough);

  if (h->key[i] <= limit && (i + 1 == h->n || h->key[i + 1] > limit)) *h->several = (int32_t)i + 1;
}

GP_STEP(CodeElsewhere)
{
  const Hub *h = (const Hub *)args;

  h->count[i] = h->packed + (int32_t)i;
}

GP_STEP(CodePacked)
{
  const Hub *h = (const Hub *)args;

  h->pack[i] = i ? h->column[i - 1] : -1;
  if (i) h->count[h->column[i - 1]] = (int32_t)i;
}

/* Returns the number of columns with at least the given number of nonzeros. */
static GpErr Several(GpDev dev, Hub *h, int32_t enough, int32_t *several)
{
  GpErr err;

  h->enough = enough > h->each ? enough / h->each : 1;
  err       = dev->ops->zero(dev, h->several, sizeof(int32_t));
  if (!err) err = GP_EACH(dev, Hub, FindSeveral, h->n, h);
  return err ? err : GpDevDownload(dev, several, h->several, sizeof(int32_t));
}

/* Chooses the numbers of staged and of packed columns. Every thread block reads each staged entry once, which must cost less than it saves. With
   16-bit codes all columns are packed. */
static GpErr Choose(GpDev dev, Hub *h, GpPieces *P)
{
  const int32_t room = (int32_t)((dev->shared_bytes < GP_HUB_STAGED ? dev->shared_bytes : GP_HUB_STAGED) / sizeof(double));
  int32_t       hot = 0, warm = 0;
  GpErr         err = Several(dev, h, dev->compute_units / 4, &hot);

  P->hot       = 1 + (hot < room - 1 ? hot : room - 1);
  P->packed    = P->hot;
  P->codebytes = h->n < UINT16_MAX ? 2 : 4;
  if (err) return err;
  if (P->codebytes == 2) P->packed = h->n + 1;
  else if (h->n * (int64_t)sizeof(double) > GP_HUB_CACHED) {
    err       = Several(dev, h, GP_HUB_OFTEN, &warm);
    P->packed = warm < P->hot ? P->hot : warm < GP_HUB_WARM ? warm + 1 : GP_HUB_WARM;
  }
  return err;
}

GP_PAIR(GpHubBuild, GpPieces *P, const GpCsr *C);
GpErr GP_IMPL(GpHubBuild)(GpPieces *P, const GpCsr *C)
{
  GpDev        dev   = C->dev;
  const size_t bytes = ((size_t)C->n + 1) * sizeof(int32_t);
  Hub          h     = {C->n, 0, 1 + C->nnz / GP_HUB_COUNTED, 0, C->col, NULL, NULL, NULL, NULL, NULL};
  int          bits  = 1;
  GpErr        err   = GpDevBorrow(dev, bytes, &h.count);

  if (!err) err = GpDevBorrow(dev, bytes, &h.key);
  if (!err) err = GpDevBorrow(dev, bytes, &h.column);
  if (!err) err = GpDevBorrow(dev, sizeof(int32_t), &h.several);
  if (!err) err = dev->ops->zero(dev, h.count, bytes);
  if (!err) err = GP_EACH(dev, Hub, CountColumn, C->nnz / h.each, &h);
  if (!err) err = GP_EACH(dev, Hub, KeyColumn, C->n, &h);
  while (C->nnz / h.each >> bits) bits++; /* no count exceeds this, so all keys agree in the higher bits */
  if (!err) err = GP_IMPL(GpSort)(dev, C->n, bits, h.key, h.column);
  if (!err) err = Choose(dev, &h, P);
  if (!err && (int64_t)P->packed + C->n > INT32_MAX) err = GpDevFail(dev, GP_ERR_ARGUMENT, "%d columns and %d packed columns need codes of more than 31 bits", (int)C->n, (int)P->packed);
  h.packed = P->packed;
  if (!err) err = GpDevAlloc(dev, (size_t)P->packed * sizeof(int32_t), &P->pack);
  h.pack = P->pack;
  if (!err) err = GpDevAlloc(dev, (size_t)P->packed * sizeof(double), &P->xp);
  if (!err) err = GP_EACH(dev, Hub, CodeElsewhere, C->n, &h);
  if (!err) err = GP_EACH(dev, Hub, CodePacked, P->packed, &h);
  if (!err) err = GP_IMPL(GpPiecesBuild)(P, C, C->rowptr, C->rowptr + 1, h.count);
  GpDevReturn(dev, &h.count, bytes);
  GpDevReturn(dev, &h.key, bytes);
  GpDevReturn(dev, &h.column, bytes);
  GpDevReturn(dev, &h.several, sizeof(int32_t));
  return err;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpFmtBuild_hub(GpFmt *A, const int32_t rowptr[])
{
  GpPieces *P = (GpPieces *)calloc(1, sizeof(*P));

  (void)rowptr;
  A->data = P;
  if (!P) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a format");
  P->npanels = 1;
  P->width   = A->csr->n;
  return GP_ON_DEVICE(A->csr->dev, GpHubBuild, P, A->csr);
}

GpErr GpFmtRefill_hub(GpFmt *A)
{
  return GpPiecesRefill((const GpPieces *)A->data, A->csr);
}

void GpFmtDestroy_hub(GpFmt *A)
{
  if (A->data) GpPiecesDestroy((GpPieces *)A->data, A->csr);
  free(A->data);
}

double GpFmtBytes_hub(const GpFmt *A)
{
  return GpPiecesBytes((const GpPieces *)A->data, A->csr);
}

double GpFmtTraffic_hub(const GpFmt *A)
{
  return GpPiecesTraffic((const GpPieces *)A->data, A->csr);
}
#endif
