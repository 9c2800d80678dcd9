/* Kernels for lists of examples: scores by position, sorting, prefix sums and totals. */
#include "device/gpsteps.h"
#include "solvers/bmrm/bmrmlists.h"
#include <string.h>

GP_STEP(BMRMListsTakeScore)
{
  const BMRMListScores *a = (const BMRMListScores *)args;

  a->z[i] = a->f[a->of.row[i]] + a->s * a->e[a->of.row[i]];
}

GP_EXTERN GpErr GP_IMPL(BMRMListsScores)(GpDev dev, const BMRMListScores *a)
{
  return GP_EACH(dev, BMRMListScores, BMRMListsTakeScore, a->of.n, a);
}

/* --- sorting: radix sorts by the lower half of the scores' bits, by the upper half, and by the keys --------------------------------------------- */

typedef struct {
  const double  *z;
  const int32_t *key;
  int32_t       *order;
  uint32_t      *bits;
} OrderArgs;

/* An integer that orders doubles as < does; +0 and -0 map to the same integer. */
GP_INLINE uint64_t BMRMListsRisingBits(double z)
{
  const double   sum = z + 0.0;
  const uint64_t top = (uint64_t)1 << 63;
  uint64_t       bits;

  memcpy(&bits, &sum, sizeof(bits));
  return bits & top ? ~bits : bits | top;
}

GP_STEP(BMRMListsLowerHalf)
{
  const OrderArgs *a = (const OrderArgs *)args;

  a->bits[i]  = (uint32_t)BMRMListsRisingBits(a->z[i]);
  a->order[i] = (int32_t)i;
}

GP_STEP(BMRMListsUpperHalf)
{
  const OrderArgs *a = (const OrderArgs *)args;

  a->bits[i] = (uint32_t)(BMRMListsRisingBits(a->z[a->order[i]]) >> 32);
}

GP_STEP(BMRMListsTakeKey)
{
  const OrderArgs *a = (const OrderArgs *)args;

  a->bits[i] = (uint32_t)a->key[a->order[i]];
}

GP_EXTERN GpErr GP_IMPL(BMRMListsOrder)(GpDev dev, int64_t n, const double *z, const int32_t *key, int32_t nkey, int32_t *order)
{
  OrderArgs a    = {z, key, order, NULL};
  int       bits = 0;
  GpErr     err  = GpDevBorrow(dev, (size_t)n * sizeof(*a.bits), &a.bits);

  while (bits < 31 && (int32_t)1 << bits < nkey) bits++;
  if (!err) err = GP_EACH(dev, OrderArgs, BMRMListsLowerHalf, n, &a);
  if (!err) err = GP_IMPL(GpSort)(dev, n, 32, a.bits, order);
  if (!err) err = GP_EACH(dev, OrderArgs, BMRMListsUpperHalf, n, &a);
  if (!err) err = GP_IMPL(GpSort)(dev, n, 32, a.bits, order);
  if (!err && bits) err = GP_EACH(dev, OrderArgs, BMRMListsTakeKey, n, &a);
  if (!err && bits) err = GP_IMPL(GpSort)(dev, n, bits, a.bits, order);
  GpDevReturn(dev, &a.bits, (size_t)n * sizeof(*a.bits));
  return err;
}

/* --- prefix sums: up a tree with SHARE children per node, and down again --------------------------------------------------------------------- */

enum {
  SHARE  = 32,
  LEVELS = 8 /* 32^8 exceeds every possible n */
};

typedef struct {
  double *a, *above; /* a: n numbers. above: the sum of each share of SHARE numbers, later the sum of all shares before it; NULL if there is one share */
  int64_t n;
} ScanArgs;

GP_STEP(BMRMListsSumShare)
{
  const ScanArgs *a   = (const ScanArgs *)args;
  const int64_t   end = (i + 1) * SHARE < a->n ? (i + 1) * SHARE : a->n;
  double          sum = 0;

  for (int64_t k = i * SHARE; k < end; k++) sum += a->a[k];
  a->above[i] = sum;
}

GP_STEP(BMRMListsScanShare)
{
  const ScanArgs *a   = (const ScanArgs *)args;
  const int64_t   end = (i + 1) * SHARE < a->n ? (i + 1) * SHARE : a->n;
  double          sum = a->above ? a->above[i] : 0;

  for (int64_t k = i * SHARE; k < end; k++) {
    const double own = a->a[k];

    a->a[k] = sum;
    sum += own;
  }
}

GP_EXTERN GpErr GP_IMPL(BMRMListsScan)(GpDev dev, int64_t n, double *inout)
{
  ScanArgs a[LEVELS];
  int64_t  total = 0, shares = n + 1;
  int      top  = 0;
  double  *work = NULL;
  GpErr    err;

  do {
    shares = (shares + SHARE - 1) / SHARE;
    total += shares;
  } while (shares > 1);
  err        = GpDevBorrow(dev, (size_t)total * sizeof(*work), &work);
  a[0].a     = inout;
  a[0].n     = n + 1;
  a[0].above = NULL;
  for (double *next = work; !err && a[top].n > SHARE; top++) {
    shares           = (a[top].n + SHARE - 1) / SHARE;
    a[top].above     = next;
    a[top + 1].a     = next;
    a[top + 1].n     = shares;
    a[top + 1].above = NULL;
    next += shares;
    err = GP_EACH(dev, ScanArgs, BMRMListsSumShare, shares, &a[top]);
  }
  for (int k = top; !err && k >= 0; k--) err = GP_EACH(dev, ScanArgs, BMRMListsScanShare, (a[k].n + SHARE - 1) / SHARE, &a[k]);
  GpDevReturn(dev, &work, (size_t)total * sizeof(*work));
  return err;
}

/* --- sums over the lists of a block ---------------------------------------------------------------------------------------------------------- */

typedef struct {
  BMRMListScores of;
  int            nblock, block;
  double         scale, *r;
} SumArgs;

GP_INLINE void BMRMListsAddPosition(const SumArgs *a, int64_t i, double sum[3])
{
  const BMRMListScores *of   = &a->of;
  const int32_t         row  = of->of.row[i];
  const int             mine = of->of.group[i] % a->nblock == a->block;
  const double          z = of->z[i], u = of->u[i], c = of->c[i], bad = z - z;

  if (a->r) a->r[row] = mine ? a->scale * u + bad : 0;
  if (!mine) return;
  sum[0] += u * z + c;
  sum[1] += c + bad;
  sum[2] += u * of->e[row] + bad;
}

#if !defined(__CUDACC__)
GpErr BMRMListsSums_Host(BMRMWork *work, const BMRMListScores *of, int nblock, int block, double scale, double *r)
{
  const SumArgs a      = {*of, nblock, block, scale, r};
  double        sum[3] = {0, 0, 0};

  for (int64_t i = 0; i < of->of.n; i++) BMRMListsAddPosition(&a, i, sum);
  memcpy(work->result, sum, sizeof(sum));
  return GP_SUCCESS;
}
#else
  #include "solvers/bmrm/bmrmsum.h"

struct BMRMListsRule {
  static constexpr int K = 3;
  SumArgs              a;
  __device__ void      add(double (&sum)[K], int64_t i) const { BMRMListsAddPosition(&a, i, sum); }
};

extern "C" GpErr BMRMListsSums_CUDA(BMRMWork *work, const BMRMListScores *of, int nblock, int block, double scale, double *r)
{
  return BMRMSumRows(work, of->of.n, BMRMListsRule{{*of, nblock, block, scale, r}}, 3, "sums over lists");
}
#endif
