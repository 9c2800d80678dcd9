/* Format sellcodes: sliced rows whose values are 8-bit codes into a table of at most 256 values. The table contains the bit patterns of the
   distinct values in ascending order, so values are exact, and codes do not depend on the order of collecting. */
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"
#include "mat/impls/gpucsr/spmv/sell/sell.h"

GP_LANEFN void AddValue(const GpCsr *A, const GpKeySet *set, int32_t k)
{
  const uint64_t bits = A->prec == GP_F32 ? ((const uint32_t *)A->val)[k] : ((const uint64_t *)A->val)[k];

  GpKeySetAdd(set, bits + 1 == GP_KEY_NONE ? bits : bits + 1, 0); /* the NaN with all bits set would be GP_KEY_NONE, so it is collected as the NaN before it */
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

static GpErr Collect_Host(const GpCsr *A, const GpKeySet *set)
{
  for (int32_t k = 0; k < A->nnz && set->list[0] <= set->limit; k++) AddValue(A, set, k);
  return GP_SUCCESS;
}

  #if GP_HAVE_CUDA
GpErr GpSellCollect_CUDA(const GpCsr *, const GpKeySet *);
  #endif

static GpErr Collect(const GpCsr *A, const GpKeySet *set)
{
  #if GP_HAVE_CUDA
  if (A->dev->kind == GP_DEV_CUDA) return GpSellCollect_CUDA(A, set);
  #endif
  return Collect_Host(A, set);
}

static int CompareBits(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static double ValueOf(GpPrec prec, uint64_t bits)
{
  union {
    uint32_t u;
    float    f;
  } narrow = {(uint32_t)bits};
  union {
    uint64_t u;
    double   d;
  } wide = {bits};

  return prec == GP_F32 ? (double)narrow.f : wide.d;
}

/* Uploads the table, padded at the end by the largest bit pattern, which keeps it ascending. */
static GpErr UploadTable(const GpCsr *A, GpSell *S, const GpKeySet *H)
{
  uint64_t      bits[GP_SELL_CODES_MOST];
  double        table[GP_SELL_CODES_MOST];
  const int32_t n = H->list[0];
  GpErr         err;

  for (int32_t i = 0; i < n; i++) bits[i] = H->key[H->list[1 + i]] - 1;
  qsort(bits, (size_t)n, sizeof(bits[0]), CompareBits);
  for (int32_t i = n; i < GP_SELL_CODES_MOST; i++) bits[i] = ~(uint64_t)0;
  for (int32_t i = 0; i < GP_SELL_CODES_MOST; i++) table[i] = i < n ? ValueOf(A->prec, bits[i]) : 0.0;
  err = S->bits ? GP_SUCCESS : GpDevAlloc(A->dev, sizeof(bits), &S->bits);
  if (!err && !S->table) err = GpDevAlloc(A->dev, sizeof(table), &S->table);
  if (!err) err = GpDevUpload(A->dev, S->bits, bits, sizeof(bits));
  if (!err) err = GpDevUpload(A->dev, S->table, table, sizeof(table));
  return err;
}

GpErr GpSellTable(GpFmt *F)
{
  const GpCsr *A = F->csr;
  GpKeySet     set, H = {.key = NULL};
  GpErr        err = GpKeySetCreate(A->dev, GP_SELL_CODES_MOST, &set);

  if (!err && A->nnz) err = Collect(A, &set);
  if (!err) err = GpKeySetMove(A->dev, &set, &H);
  else GpKeySetDestroy(A->dev, &set);
  if (!err && H.list[0] > GP_SELL_CODES_MOST) err = GpDevFail(A->dev, GP_ERR_ARGUMENT, "the matrix has more than %d distinct values", GP_SELL_CODES_MOST);
  if (!err) err = UploadTable(A, (GpSell *)F->data, &H);
  free(H.key);
  return err;
}

GpErr GpFmtBuild_sellcodes(GpFmt *F, const int32_t rowptr[])
{
  (void)rowptr;
  return GpSellBuild(F, GP_SELL_CODES);
}

GpErr GpFmtRefill_sellcodes(GpFmt *F)
{
  return GpSellRefill(F);
}

void GpFmtDestroy_sellcodes(GpFmt *F)
{
  GpSellDestroy(F);
}

double GpFmtBytes_sellcodes(const GpFmt *F)
{
  return GpSellBytes(F);
}

double GpFmtTraffic_sellcodes(const GpFmt *F)
{
  return GpSellBytes(F);
}

#else
static constexpr int BLOCK = 256;

__global__ static void Collect(GpCsr A, GpKeySet set)
{
  for (int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x; k < A.nnz && *(volatile int32_t *)set.list <= set.limit; k += (int64_t)gridDim.x * BLOCK) AddValue(&A, &set, (int32_t)k);
}

extern "C" GpErr GpSellCollect_CUDA(const GpCsr *A, const GpKeySet *set)
{
  const int64_t blocks = ((int64_t)A->nnz + BLOCK - 1) / BLOCK, most = 16 * (int64_t)A->dev->compute_units;

  Collect<<<(unsigned)(blocks < most ? blocks : most), BLOCK, 0, (cudaStream_t)A->dev->stream>>>(*A, *set);
  return GpDevCheckLaunch(A->dev, "distinct values");
}
#endif
