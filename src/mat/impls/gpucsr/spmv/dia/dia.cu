/* Builds format dia: collects the offsets of the diagonals, then fills them row by row. */
#include "mat/impls/gpucsr/spmv/dia/dia.h"
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"
#include "mat/impls/gpucsr/spmv/common/gpparts.h"

#define MOST_PADDING 1.5 /* maximum ratio of stored entries to nonzeros */
#define SHARE        6.5 /* number of diagonals per thread above which another thread shares the row; seven values are loaded at once */
#define FREE_PADDING 1e5 /* number of stored entries that is always accepted */

#define ASCENDS 1 /* The place of an offset in the key set: 1 if all its nonzeros are to the right of their left neighbour in the row, else 0. The key set keeps the least place. */

GP_INLINE void GpDiaAddOffset(const GpKeySet *set, int32_t offset, int ascends)
{
  GpKeySetAdd(set, (uint64_t)(uint32_t)offset + 1, ascends ? ASCENDS : 0);
}

typedef struct {
  GpCsr A;
  GpDia D;
} Fill;

/* Fills one row, whose columns ascend. */
GP_STEP(PutRow)
{
  const Fill   *f   = (const Fill *)args;
  const GpCsr  *A   = &f->A;
  const int32_t end = A->rowptr[i + 1];
  int32_t       k   = A->rowptr[i];

  for (int32_t d = 0; d < f->D.n; d++) {
    const int on = k < end && A->col[k] - (int32_t)i == f->D.offset[d];

    GpPutOrHole(A->prec == GP_F32, f->D.value, d * f->D.stride + i, A->val, on ? k : -1);
    k += on;
  }
}

GP_PAIR(GpDiaFill, const GpCsr *, const GpDia *);
GpErr GP_IMPL(GpDiaFill)(const GpCsr *A, const GpDia *D)
{
  const Fill f = {*A, *D};

  return GP_EACH(A->dev, Fill, PutRow, A->m, &f);
}

GP_PAIR(GpDiaCollect, const GpCsr *, const GpKeySet *); /* adds the offsets of all nonzeros to the set */

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpDiaCollect_Host(const GpCsr *A, const GpKeySet *set)
{
  for (int32_t i = 0; i < A->m && set->list[0] <= set->limit; i++)
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) GpDiaAddOffset(set, A->col[k] - i, k == A->rowptr[i] || A->col[k] > A->col[k - 1]);
  return GP_SUCCESS;
}

static int GpDiaCompareOffsets(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

  return (x > y) - (x < y);
}

static GpErr GpDiaFindOffsets(const GpCsr *A, GpDia *D)
{
  GpDev    dev = A->dev;
  GpKeySet set, H = {.key = NULL};
  int      ascend = 1;
  GpErr    err    = GpKeySetCreate(dev, GP_DIA_MOST, &set);

  if (!err) err = GP_ON_DEVICE(dev, GpDiaCollect, A, &set);
  if (!err) err = GpKeySetMove(dev, &set, &H);
  else GpKeySetDestroy(dev, &set);
  if (!err && H.list[0] > GP_DIA_MOST) err = GpDevFail(dev, GP_ERR_ARGUMENT, "the matrix has more than %d diagonals", GP_DIA_MOST);
  if (!err) {
    D->n = H.list[0];
    for (int32_t d = 0; d < D->n; d++) {
      D->offset[d] = (int32_t)(uint32_t)(H.key[H.list[1 + d]] - 1);
      ascend &= H.before[H.list[1 + d]] <= INT32_MAX - ASCENDS;
    }
    qsort(D->offset, (size_t)D->n, sizeof(int32_t), GpDiaCompareOffsets);
    if (!ascend) err = GpDevFail(dev, GP_ERR_ARGUMENT, "the column indices of a row do not ascend");
    else if ((double)D->n * A->m > MOST_PADDING * A->nnz + FREE_PADDING)
      err = GpDevFail(dev, GP_ERR_ARGUMENT, "%d diagonals of %d rows store %.1f times the nonzeros; the limit is %g", (int)D->n, (int)A->m, (double)D->n * A->m / A->nnz, MOST_PADDING);
  }
  free(H.key);
  return err;
}

GpErr GpFmtRefill_dia(GpFmt *F)
{
  const GpDia *D = (const GpDia *)F->data;

  return D->n ? GP_ON_DEVICE(F->csr->dev, GpDiaFill, F->csr, D) : GP_SUCCESS;
}

GpErr GpFmtBuild_dia(GpFmt *F, const int32_t rowptr[])
{
  const GpCsr *A = F->csr;
  GpDia       *D = (GpDia *)calloc(1, sizeof(*D));
  GpErr        err;

  (void)rowptr;
  F->data = D;
  if (!D) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for diagonals");
  D->parts = 1;
  if (!A->nnz) return GP_SUCCESS;
  D->stride = ((int64_t)A->m + 31) / 32 * 32;
  err       = GpDiaFindOffsets(A, D);
  D->parts  = GpParts(A->dev, A->m, D->n, SHARE, GP_DIA_CROWD);
  if (!err) err = GpDevAlloc(A->dev, (size_t)D->n * (size_t)D->stride * GpPrecBytes(A->prec), &D->value);
  return err ? err : GpFmtRefill_dia(F);
}

void GpFmtDestroy_dia(GpFmt *F)
{
  GpDia *D = (GpDia *)F->data;

  if (!D) return;
  GpDevFree(F->csr->dev, &D->value, (size_t)D->n * (size_t)D->stride * GpPrecBytes(F->csr->prec));
  free(D);
}

double GpFmtBytes_dia(const GpFmt *F)
{
  const GpDia *D = (const GpDia *)F->data;

  return (double)D->n * (double)D->stride * (double)GpPrecBytes(F->csr->prec);
}

double GpFmtTraffic_dia(const GpFmt *F)
{
  return GpFmtBytes_dia(F);
}

#else
static constexpr int      BLOCK = 256, PATIENCE = 16; /* number of steps between two checks for too many diagonals */
static constexpr unsigned ALL = 0xffffffffu;

/* Collects the offsets; a thread takes a row. If neighbouring rows have the same offset at one step, as in a stencil, one lane adds it for all of
   them. Otherwise thousands of threads would contend for one slot. */
__global__ static void GpDiaCollectKernel(GpCsr A, GpKeySet set)
{
  const int64_t i     = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t begin = i < A.m ? A.rowptr[i] : 0, length = i < A.m ? A.rowptr[i + 1] - begin : 0, longest = __reduce_max_sync(ALL, length);

  for (int32_t step = 0; step < longest; step++) {
    const unsigned lanes = __ballot_sync(ALL, step < length);

    if (step % PATIENCE == 0 && __any_sync(ALL, *(volatile int32_t *)set.list > set.limit)) return;
    if (step >= length) continue;
    const int32_t  column = A.col[begin + step], offset = column - (int32_t)i;
    const unsigned peers = __match_any_sync(lanes, offset), back = __ballot_sync(lanes, step && column <= A.col[begin + step - 1]);

    if (__ffs(peers) - 1 == (int)(threadIdx.x % 32)) GpDiaAddOffset(&set, offset, !(peers & back));
  }
}

GpErr GpDiaCollect_CUDA(const GpCsr *A, const GpKeySet *set)
{
  return GpLaunch(A->dev, "offsets of diagonals", GpDiaCollectKernel, GpGrid{(unsigned)(((int64_t)A->m + BLOCK - 1) / BLOCK), BLOCK}, *A, *set);
}
#endif
