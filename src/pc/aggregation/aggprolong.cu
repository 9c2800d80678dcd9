/* Prolongators and other arrays of a level (gpagg.h). */
#include "pc/aggregation/gpagg.h"
#include "pc/aggregation/aggstep.h"

#include <math.h>

typedef struct {
  GpAggAggregates a;
  int32_t         block, k;
  const double   *near, *B;
  double         *Q;      /* [rows][k] the bases by aggregates: that of aggregate c is an array [k][m] at position ptr[c] * block * k, where m is the number of unknowns of the aggregate */
  double         *rows;   /* [rows][k] the same numbers by rows of P0 */
  double         *next;   /* [count][k][k] */
  int32_t        *empty;  /* [count k] */
  int32_t        *rowptr; /* [rows + 1] */
  int32_t        *col;
  double         *val;
} GpAggBases;

GP_INLINE double GpAggDot(int32_t m, const double *x, const double *y)
{
  double sum = 0;

  for (int32_t e = 0; e < m; e++) sum += x[e] * y[e];
  return sum;
}

/* The modified Gram-Schmidt process. Each vector is orthogonalised twice, which keeps rounding errors small. A vector that depends linearly on the vectors before it becomes zero. */
GP_INLINE void GpAggOrthonormalizeColumn(int32_t m, int32_t k, int32_t j, double *Q, double *R)
{
  double      *q    = Q + (int64_t)j * m;
  const double size = sqrt(GpAggDot(m, q, q));
  double       norm;

  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < j; i++) {
      const double dot = GpAggDot(m, Q + (int64_t)i * m, q);

      R[i * k + j] += dot;
      for (int32_t e = 0; e < m; e++) q[e] -= dot * Q[(int64_t)i * m + e];
    }
  }
  norm = sqrt(GpAggDot(m, q, q));
  if (norm > 1e-10 * size) R[j * k + j] = norm;
  for (int32_t e = 0; e < m; e++) q[e] = R[j * k + j] > 0 ? q[e] / norm : 0;
}

/* Computes the basis of one aggregate. Unknowns whose row has no entry besides the diagonal get zeros. */
GP_STEP(GpAggComputeBasis)
{
  const GpAggBases *a     = (const GpAggBases *)args;
  const int32_t     first = a->a.ptr[i], m = (a->a.ptr[i + 1] - first) * a->block, k = a->k;
  double           *Q = a->Q + (int64_t)first * a->block * k, *R = a->next + i * k * k;

  for (int32_t e = 0; e < m; e++) {
    const int64_t row = (int64_t)a->a.row[first + e / a->block] * a->block + e % a->block;

    for (int32_t v = 0; v < k; v++) Q[(int64_t)v * m + e] = a->near[row] > 0 ? a->B[row * k + v] : 0;
  }
  for (int32_t e = 0; e < k * k; e++) R[e] = 0;
  for (int32_t j = 0; j < k; j++) {
    GpAggOrthonormalizeColumn(m, k, j, Q, R);
    a->empty[i * k + j] = R[j * k + j] == 0;
  }
  for (int32_t e = 0; e < m; e++) {
    const int64_t row = (int64_t)a->a.row[first + e / a->block] * a->block + e % a->block;

    for (int32_t v = 0; v < k; v++) a->rows[row * k + v] = Q[(int64_t)v * m + e];
  }
}

GP_STEP(GpAggCountTentative)
{
  const GpAggBases *a = (const GpAggBases *)args;

  a->rowptr[i] = a->a.of[i / a->block] >= 0 && a->near[i] > 0 ? a->k : 0;
}

GP_STEP(GpAggFillTentative)
{
  const GpAggBases *a  = (const GpAggBases *)args;
  const int32_t     to = a->rowptr[i];

  for (int32_t v = 0; v < a->rowptr[i + 1] - to; v++) {
    a->col[to + v] = a->a.of[i / a->block] * a->k + v;
    a->val[to + v] = a->rows[i * a->k + v];
  }
}

GP_PAIR(GpAggComputeBases, GpDev dev, const GpAggBases *a, int32_t rows);
GpErr GP_IMPL(GpAggComputeBases)(GpDev dev, const GpAggBases *a, int32_t rows)
{
  GpErr err = GP_EACH(dev, GpAggBases, GpAggComputeBasis, a->a.count, a);

  if (!err) err = GP_EACH(dev, GpAggBases, GpAggCountTentative, rows, a);
  return err ? err : GP_IMPL(GpScan)(dev, rows, a->rowptr);
}

GP_PAIR(GpAggFillRows, GpDev dev, const GpAggBases *a, int32_t rows);
GpErr GP_IMPL(GpAggFillRows)(GpDev dev, const GpAggBases *a, int32_t rows)
{
  return GP_EACH(dev, GpAggBases, GpAggFillTentative, rows, a);
}

typedef struct {
  GpCsr         P, P0;
  double        factor;
  const double *diagonal;
} GpAggSmoothing;

GP_STEP(GpAggSmoothRow)
{
  const GpAggSmoothing *a     = (const GpAggSmoothing *)args;
  const double          scale = 1 / (a->diagonal[i] > 0 ? a->diagonal[i] : 1) * -a->factor;
  double               *p     = (double *)a->P.val;
  int32_t               e     = a->P0.rowptr[i];

  for (int32_t k = a->P.rowptr[i]; k < a->P.rowptr[i + 1]; k++) {
    p[k] *= scale;
    if (e < a->P0.rowptr[i + 1] && a->P0.col[e] == a->P.col[k]) p[k] += ((const double *)a->P0.val)[e++];
  }
}

GP_PAIR(GpAggSmoothRows, GpCsr *P, const GpCsr *P0, double factor, const double *diagonal);
GpErr GP_IMPL(GpAggSmoothRows)(GpCsr *P, const GpCsr *P0, double factor, const double *diagonal)
{
  const GpAggSmoothing a = {*P, *P0, factor, diagonal};

  return GP_EACH(P->dev, GpAggSmoothing, GpAggSmoothRow, P->m, &a);
}

typedef struct {
  GpCsr          A;
  int32_t        block;
  const int32_t *empty;
} GpAggEmptyArgs;

GP_INLINE int32_t GpAggFindDiagonal(const GpCsr *A, int64_t i)
{
  int32_t k = A->rowptr[i];

  while (k < A->rowptr[i + 1] && A->col[k] < i) k++;
  return k < A->rowptr[i + 1] && A->col[k] == i ? k : -1;
}

/* The diagonal entries of other empty rows of the node are zero, so it does not matter whether they have been set. */
GP_STEP(GpAggFillRow)
{
  const GpAggEmptyArgs *a       = (const GpAggEmptyArgs *)args;
  double               *val     = (double *)a->A.val;
  const int64_t         node    = i / a->block * a->block;
  double                largest = 0;

  if (!a->empty[i]) return;
  for (int64_t r = node; r < node + a->block; r++) {
    const int32_t k = a->empty[r] ? -1 : GpAggFindDiagonal(&a->A, r);

    if (k >= 0 && val[k] > largest) largest = val[k];
  }
  if (GpAggFindDiagonal(&a->A, i) >= 0) val[GpAggFindDiagonal(&a->A, i)] = largest > 0 ? largest : 1;
}

GP_PAIR(GpAggFillEmptyRows, GpCsr *A, int32_t block, const int32_t *empty);
GpErr GP_IMPL(GpAggFillEmptyRows)(GpCsr *A, int32_t block, const int32_t *empty)
{
  const GpAggEmptyArgs a = {*A, block, empty};

  return GP_EACH(A->dev, GpAggEmptyArgs, GpAggFillRow, A->m, &a);
}

/* Arguments of the steps below. Each step uses some of the members. */
typedef struct {
  GpCsr          A;
  int32_t        k;
  const int32_t *flags;
  const double  *diagonal, *near, *from;
  double        *to, *root, *l1;
  float         *narrow;
  int32_t       *count;
  uint64_t      *hash;
} GpAggArrays;

GP_STEP(GpAggFillOne)
{
  const GpAggArrays *a = (const GpAggArrays *)args;

  a->to[i] = i / a->k % a->k == i % a->k;
}

GP_STEP(GpAggCountFlag)
{
  const GpAggArrays *a = (const GpAggArrays *)args;

  if (a->flags[i]) GP_COUNT(a->count);
}

GP_STEP(GpAggInvertOne)
{
  const GpAggArrays *a = (const GpAggArrays *)args;
  const double       d = a->diagonal[i] > 0 ? a->diagonal[i] : 1;

  if (a->to) a->to[i] = 1 / d;
  if (a->root) a->root[i] = 1 / sqrt(d);
  if (a->l1) a->l1[i] = 1 / (d + a->near[i]);
}

GP_STEP(GpAggNarrowOne)
{
  const GpAggArrays *a = (const GpAggArrays *)args;

  a->narrow[i] = (float)a->from[i];
  if (isinf(a->narrow[i]) && !isinf(a->from[i])) GP_SET(a->count, 1);
}

GP_STEP(GpAggWidenOne)
{
  const GpAggArrays *a = (const GpAggArrays *)args;

  a->to[i] = (double)a->narrow[i];
}

GP_STEP(GpAggHashRow)
{
  const GpAggArrays *a    = (const GpAggArrays *)args;
  uint64_t           hash = GpAggHash((uint64_t)i);

  for (int32_t k = a->A.rowptr[i]; k < a->A.rowptr[i + 1]; k++) hash = (hash ^ (uint64_t)a->A.col[k]) * 0x100000001b3u; /* FNV-1a on indices */
  GP_AGG_ADD64(a->hash, GpAggHash(hash));
}

GP_PAIR(GpAggFillOnes, GpDev dev, int32_t n, const GpAggArrays *a);
GpErr GP_IMPL(GpAggFillOnes)(GpDev dev, int32_t n, const GpAggArrays *a)
{
  return GP_EACH(dev, GpAggArrays, GpAggFillOne, (int64_t)n * a->k, a);
}

GP_PAIR(GpAggCountFlags, GpDev dev, int32_t n, const GpAggArrays *a);
GpErr GP_IMPL(GpAggCountFlags)(GpDev dev, int32_t n, const GpAggArrays *a)
{
  return GP_EACH(dev, GpAggArrays, GpAggCountFlag, n, a);
}

GP_PAIR(GpAggInvertAll, GpDev dev, int32_t n, const GpAggArrays *a);
GpErr GP_IMPL(GpAggInvertAll)(GpDev dev, int32_t n, const GpAggArrays *a)
{
  return GP_EACH(dev, GpAggArrays, GpAggInvertOne, n, a);
}

GP_PAIR(GpAggNarrowAll, GpDev dev, int32_t n, const GpAggArrays *a);
GpErr GP_IMPL(GpAggNarrowAll)(GpDev dev, int32_t n, const GpAggArrays *a)
{
  return GP_EACH(dev, GpAggArrays, GpAggNarrowOne, n, a);
}

GP_PAIR(GpAggWidenAll, GpDev dev, int32_t n, const GpAggArrays *a);
GpErr GP_IMPL(GpAggWidenAll)(GpDev dev, int32_t n, const GpAggArrays *a)
{
  return GP_EACH(dev, GpAggArrays, GpAggWidenOne, n, a);
}

GP_PAIR(GpAggHashRows, const GpAggArrays *a);
GpErr GP_IMPL(GpAggHashRows)(const GpAggArrays *a)
{
  return GP_EACH(a->A.dev, GpAggArrays, GpAggHashRow, a->A.m, a);
}

#if !defined(__CUDACC__)
/* Creates P0 from the bases. */
static GpErr GpAggCreateRows(GpDev dev, GpAggBases *a, int32_t rows, GpCsr *P0)
{
  int32_t nnz = 0;
  GpErr   err = GpDevDownload(dev, &nnz, a->rowptr + rows, sizeof(nnz));

  if (!err) err = GpCsrCreate(dev, GP_F64, rows, a->a.count * a->k, nnz, P0);
  if (!err) err = GpDevCopyWithin(dev, P0->rowptr, a->rowptr, ((size_t)rows + 1) * sizeof(int32_t));
  if (err) return err;
  a->col = P0->col;
  a->val = (double *)P0->val;
  return GP_ON_DEVICE(dev, GpAggFillRows, dev, a, rows);
}

GpErr GpAggCreateTentative(GpDev dev, const GpAggAggregates *aggregates, int32_t block, int32_t k, const double *near, const double *B, double *next, int32_t *empty, GpCsr *P0)
{
  const int32_t rows = aggregates->n * block;
  const size_t  all = ((size_t)rows * (size_t)k + 1) * sizeof(double), index = ((size_t)rows + 1) * sizeof(int32_t);
  GpAggBases    a   = {.a = *aggregates, .block = block, .k = k, .near = near, .B = B, .next = next, .empty = empty};
  GpErr         err = GpDevBorrow(dev, all, &a.Q);

  *P0 = (GpCsr){0};
  if (!err) err = GpDevBorrow(dev, all, &a.rows);
  if (!err) err = GpDevBorrow(dev, index, &a.rowptr);
  if (!err) err = GP_ON_DEVICE(dev, GpAggComputeBases, dev, &a, rows);
  if (!err) err = GpAggCreateRows(dev, &a, rows, P0);
  GpDevReturn(dev, &a.rowptr, index);
  GpDevReturn(dev, &a.rows, all);
  GpDevReturn(dev, &a.Q, all);
  if (err) GpCsrDestroy(P0);
  return err;
}

GpErr GpAggFillConstant(GpDev dev, int32_t n, int32_t k, double *B)
{
  const GpAggArrays a = {.k = k, .to = B};

  return GP_ON_DEVICE(dev, GpAggFillOnes, dev, n, &a);
}

GpErr GpAggSmooth(GpCsr *P, const GpCsr *P0, double factor, const double *diagonal)
{
  return GP_ON_DEVICE(P->dev, GpAggSmoothRows, P, P0, factor, diagonal);
}

GpErr GpAggFillEmpty(GpCsr *A, int32_t block, const int32_t *empty)
{
  return GP_ON_DEVICE(A->dev, GpAggFillEmptyRows, A, block, empty);
}

GpErr GpAggCount(GpDev dev, int32_t n, const int32_t *flags, int32_t *count)
{
  GpAggArrays a   = {.flags = flags};
  GpErr       err = GpDevBorrow(dev, sizeof(int32_t), &a.count);

  if (!err) err = GpDevZero(dev, a.count, sizeof(int32_t));
  if (!err) err = GP_ON_DEVICE(dev, GpAggCountFlags, dev, n, &a);
  if (!err) err = GpDevDownload(dev, count, a.count, sizeof(int32_t));
  GpDevReturn(dev, &a.count, sizeof(int32_t));
  return err;
}

GpErr GpAggInvert(GpDev dev, int32_t n, const GpAggMeasure *R, double *inverse, double *root, double *l1)
{
  const GpAggArrays a = {.diagonal = R->diagonal, .near = R->near, .to = inverse, .root = root, .l1 = l1};

  return GP_ON_DEVICE(dev, GpAggInvertAll, dev, n, &a);
}

GpErr GpAggNarrow(GpDev dev, int32_t n, const double *val, float *to, int32_t *overflow)
{
  const GpAggArrays a = {.from = val, .narrow = to, .count = overflow};

  return GP_ON_DEVICE(dev, GpAggNarrowAll, dev, n, &a);
}

GpErr GpAggWiden(GpDev dev, int32_t n, const float *val, double *to)
{
  const GpAggArrays a = {.to = to, .narrow = (float *)val};

  return GP_ON_DEVICE(dev, GpAggWidenAll, dev, n, &a);
}

GpErr GpAggHashPattern(const GpCsr *A, uint64_t *hash)
{
  GpAggArrays a   = {.A = *A};
  GpErr       err = GpDevBorrow(A->dev, sizeof(uint64_t), &a.hash);

  if (!err) err = GpDevZero(A->dev, a.hash, sizeof(uint64_t));
  if (!err) err = GP_ON_DEVICE(A->dev, GpAggHashRows, &a);
  if (!err) err = GpDevDownload(A->dev, hash, a.hash, sizeof(uint64_t));
  GpDevReturn(A->dev, &a.hash, sizeof(uint64_t));
  return err;
}
#endif
