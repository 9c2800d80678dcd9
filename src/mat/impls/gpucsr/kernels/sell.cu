/* SpMV on slices of 32 rows (formats/sell.h): a lane a row, slice columns in quads; where slices are few, several warps share
   the quads of one and add their sums in order. */
#include "mat/impls/gpucsr/formats/sell.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
/* slice column c of the others: where in the row's x does lane l look? */
static int32_t Index(const GpSell *S, const GpSlice *P, int32_t c, int l)
{
  const int32_t quad = c / 4, e = 4 * l + c % 4, q8 = GpSliceQuads8(*P), q16 = GpSliceQuads16(*P);

  if (quad < q8) return S->index[((int64_t)P->unit + quad) * 128 + e];
  if (quad < q8 + q16) return ((const uint16_t *)S->index)[((int64_t)P->unit + q8 + 2 * (quad - q8)) * 64 + e];
  return ((const int32_t *)S->index)[((int64_t)P->unit + q8 + 2 * q16 + 4 * (quad - q8 - q16)) * 32 + e];
}

/* the value for lane l in the c-th slice column from the quad on, slice column `column` of all */
static double Value(const GpSell *S, int64_t column, int32_t quad, int32_t c, int l)
{
  if (S->kind == GP_SELL_FULL) return (double)((const GpScalar *)S->value)[column * GP_SLICE + l];
  return S->table[((const uint8_t *)S->value)[((int64_t)quad + c / 4) * 128 + 4 * l + c % 4]];
}

static GpErr Sell(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpSell *S = (const GpSell *)A->data;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const GpSlice *P = &S->slice[i / GP_SLICE];
    const int32_t  l = i % GP_SLICE, row = S->perm ? S->perm[i] : i, others = P->quad + GpSliceQuads(P->diagonals);
    double         sum = 0;

    for (int32_t c = 0; c < P->diagonals; c++)
      if (S->head[GpSliceMask(P->quad, c)] >> l & 1) sum += Value(S, P->column + c, P->quad, c, l) * x[row + S->head[GpSliceBase(P->quad, c)]];
    for (int32_t c = 0; c < P->others; c++)
      if (S->head[GpSliceMask(others, c)] >> l & 1) sum += Value(S, P->column + P->diagonals + c, others, c, l) * x[S->head[GpSliceBase(others, c)] + Index(S, P, c, l)];
    y[row] = z ? z[row] + sum : sum;
  }
  return GP_SUCCESS;
}

  #define TWIN(name, values) \
    GP_SPMV(name)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return Sell(A, x, z, y); \
    }

#else
  #include <cuda_pipeline.h>

static constexpr int WARP = 32, BLOCK = 128, WARPS = BLOCK / WARP;
#ifndef DEP
#define DEP 4
#endif
static constexpr int DEPTH = DEP; /* quads on their way to a warp */

struct Four {
  double a, b, c, d;
};

/* the values of a quad, as they lie in memory and as they are read by a lane */
struct Each {
  static constexpr int  BYTES = 4 * WARP * sizeof(GpScalar);
  static constexpr bool TABLE = false;

  __device__ static const void *At(const GpSell &S, int64_t column, int32_t) { return (const GpScalar *)S.value + column * WARP; }
  __device__ static Four        Get(const void *values, const double *, int lane)
  {
    const GpScalar *v = (const GpScalar *)values + lane;

    return {(double)v[0], (double)v[WARP], (double)v[2 * WARP], (double)v[3 * WARP]};
  }
};

struct Codes {
  static constexpr int  BYTES = 4 * WARP;
  static constexpr bool TABLE = true;

  __device__ static const void *At(const GpSell &S, int64_t, int32_t quad) { return (const unsigned *)S.value + (int64_t)quad * WARP; }
  __device__ static Four        Get(const void *values, const double *table, int lane)
  {
    const unsigned c = ((const unsigned *)values)[lane];

    return {table[c & 255], table[c >> 8 & 255], table[c >> 16 & 255], table[c >> 24]};
  }
};

/* a quad on its way */
template <typename V>
struct __align__(16) Quad {
  char values[V::BYTES];
  char index[16 * WARP];
  int4 base, mask;
};

/* the quads of a slice */
struct Slice : GpSlice {
  int32_t q0, q8, q16, quads;

  __device__ Slice(const GpSell &S, int32_t s)
  {
    const int4 place = __ldg((const int4 *)(S.slice + s)), shape = __ldg((const int4 *)(S.slice + s) + 1);

    quad      = place.x;
    column    = place.y;
    unit      = place.z;
    diagonals = place.w;
    others    = shape.x;
    n8        = shape.y;
    n16       = shape.z;
    q0        = GpSliceQuads(diagonals);
    q8        = q0 + GpSliceQuads8(*this); /* where those with 16 bits begin */
    q16       = q8 + GpSliceQuads16(*this);
    quads     = q0 + GpSliceQuads(others);
  }
  /* bytes of a lane's index in quad q */
  __device__ int IndexBytes(int32_t q) const { return q < q0 ? 0 : q < q8 ? 4 : q < q16 ? 8 : 16; }
  __device__ int64_t Column(int32_t q) const { return column + (q < q0 ? 4 * q : diagonals + 4 * (int64_t)(q - q0)); }
  __device__ int64_t Unit(int32_t q) const { return unit + (int64_t)(q < q8 ? q - q0 : q < q16 ? q8 - q0 + 2 * (q - q8) : q8 - q0 + 2 * (q16 - q8) + 4 * (q - q16)); }
};

/* sends quad q on its way: the lanes copy 16 bytes each */
template <typename V>
__device__ static void Send(const GpSell &S, const Slice &P, int32_t q, int lane, Quad<V> *to)
{
  const char *values = (const char *)V::At(S, P.Column(q), P.quad + q);

  #pragma unroll
  for (int at = 0; at < V::BYTES; at += 16 * WARP)
    if (at + 16 * lane < V::BYTES) __pipeline_memcpy_async(to->values + at + 16 * lane, values + at + 16 * lane, 16);
  if (16 * lane < WARP * P.IndexBytes(q)) __pipeline_memcpy_async(to->index + 16 * lane, S.index + P.Unit(q) * 128 + 16 * lane, 16);
  if (lane < 2) __pipeline_memcpy_async(&to->base + lane, (const int4 *)S.head + 2 * ((int64_t)P.quad + q) + lane, 16);
}

__device__ static int4 Indices(const char *index, int bytes, int lane)
{
  if (bytes == 4) {
    const uchar4 i = ((const uchar4 *)index)[lane];

    return {i.x, i.y, i.z, i.w};
  }
  if (bytes == 8) {
    const ushort4 i = ((const ushort4 *)index)[lane];

    return {i.x, i.y, i.z, i.w};
  }
  return ((const int4 *)index)[lane];
}

/* a lane's sum over the quad; a value that the mask hides may be anything */
template <typename V>
__device__ static double Sum(const Quad<V> &Q, int bytes, int32_t row, const double *table, const double *x, int lane, double sum)
{
  const int4     i = bytes ? Indices(Q.index, bytes, lane) : int4{row, row, row, row}, base = Q.base, mask = Q.mask;
  const unsigned bit = 1u << lane;
  const bool     h0 = mask.x & bit, h1 = mask.y & bit, h2 = mask.z & bit, h3 = mask.w & bit;
  const double   x0 = h0 ? __ldg(x + (base.x + i.x)) : 0, x1 = h1 ? __ldg(x + (base.y + i.y)) : 0;
  const double   x2 = h2 ? __ldg(x + (base.z + i.z)) : 0, x3 = h3 ? __ldg(x + (base.w + i.w)) : 0;
  const Four     v = V::Get(Q.values, table, lane);

  if (h0) sum += v.a * x0;
  if (h1) sum += v.b * x1;
  if (h2) sum += v.c * x2;
  if (h3) sum += v.d * x3;
  return sum;
}

/* the quads part, part + parts, ... of slice s for the row of this lane */
template <typename V>
__device__ static double Sum(const GpSell &S, int32_t s, int part, int parts, int32_t row, const double *table, const double *x, int lane, Quad<V> *ring)
{
  const Slice P(S, s);
  double      sum = 0;

  #pragma unroll
  for (int d = 0; d < DEPTH - 1; d++) {
    if (part + d * parts < P.quads) Send(S, P, part + d * parts, lane, ring + d);
    __pipeline_commit();
  }
  for (int32_t q = part, at = 0; q < P.quads; q += parts) {
    const int32_t next = q + (DEPTH - 1) * parts;

    __pipeline_wait_prior(DEPTH - 2);
    __syncwarp(); /* all lanes' copies are there, and all lanes are done with what the next copies overwrite */
    if (next < P.quads) Send(S, P, next, lane, ring + (at + DEPTH - 1) % DEPTH);
    __pipeline_commit();
    sum = Sum(ring[at], P.IndexBytes(q), row, table, x, lane, sum);
    at  = (at + 1) % DEPTH;
  }
  return sum;
}

template <typename V, bool SHARED>
__global__ static void __launch_bounds__(BLOCK) Sell(GpSell S, int32_t m, int parts, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ Quad<V>    ring[WARPS][DEPTH];
  __shared__ double     partial[SHARED ? BLOCK : 1], table[V::TABLE ? GP_SELL_CODES_MOST : 1];
  const int             lane = threadIdx.x % WARP;
  const int64_t         warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
  const int32_t         s    = (int32_t)(SHARED ? warp / parts : warp);
  const int             part = SHARED ? (int)(warp % parts) : 0;
  const int64_t         i    = (int64_t)s * WARP + lane;
  const int32_t         row  = S.perm && i < m ? S.perm[i] : (int32_t)i;
  double                sum  = 0;

  if (V::TABLE) {
    for (int c = threadIdx.x; c < GP_SELL_CODES_MOST; c += BLOCK) table[c] = S.table[c];
    __syncthreads();
  }
  if (s < S.nslices) sum = Sum(S, s, part, SHARED ? parts : 1, row, table, x, lane, ring[threadIdx.x / WARP]);
  if (SHARED) {
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (part) return;
    for (int p = 1; p < parts; p++) sum += partial[threadIdx.x + p * WARP];
  }
  if (i < m) y[row] = z ? z[row] + sum : sum;
}

/* warps share a slice when there are too few slices to fill the GPU */
template <typename V>
static GpErr Launch(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr  *C     = A->csr;
  const GpSell *S     = (const GpSell *)A->data;
  int           parts = 1;

  if (!C->m) return GP_SUCCESS;
  while (parts < WARPS && (int64_t)S->nslices * parts < 24 * C->dev->compute_units && (int64_t)S->total.quads > 2 * parts * (int64_t)S->nslices) parts *= 2;
  const unsigned blocks = (unsigned)(((int64_t)S->nslices * parts + WARPS - 1) / WARPS);
  if (parts > 1) Sell<V, true><<<blocks, BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*S, C->m, parts, x, z, y);
  else Sell<V, false><<<blocks, BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*S, C->m, parts, x, z, y);
  return GpDevCheckLaunch(C->dev, name);
}

  #define TWIN(name, values) \
    GP_SPMV(name)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return Launch<values>(#name, A, x, z, y); \
    }
#endif

TWIN(sell, Each)
TWIN(sell8, Codes)
