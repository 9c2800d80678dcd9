/* SpMV on slices of 32 rows (sell.h): one lane a row, slice columns in quads. If there are few slices, several warps share the quads of a
   slice and their sums are added in order. */
#include "mat/impls/gpucsr/spmv/sell/sell.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

static constexpr int WARP = 32, BLOCK = 256, WARPS = BLOCK / WARP;

/* the four column indices of a lane in a quad */
struct NoIndex {};

__device__ static int4 Index(const NoIndex *)
{
  return {0, 0, 0, 0};
}
__device__ static int4 Index(const uchar4 *p)
{
  const uchar4 i = __ldcs(p);

  return {i.x, i.y, i.z, i.w};
}
__device__ static int4 Index(const ushort4 *p)
{
  const ushort4 i = __ldcs(p);

  return {i.x, i.y, i.z, i.w};
}
__device__ static int4 Index(const int4 *p)
{
  return __ldcs(p);
}

struct Four {
  double a, b, c, d;
};

/* The values of a slice for one lane. Get(q) returns the four values of quad q; Skip(quads, columns) advances by that many quads, which hold that
   many slice columns. */
struct Each {
  static constexpr bool TABLE = false;

  const GpScalar *at;

  __device__      Each(const GpSell &S, const GpSlice &P, const double *, int lane) : at((const GpScalar *)S.value + (int64_t)P.column * WARP + lane) {}
  __device__ Four Get(int32_t q) const
  {
    const GpScalar *v = at + (int64_t)q * 4 * WARP;

    return {(double)__ldcs(v), (double)__ldcs(v + WARP), (double)__ldcs(v + 2 * WARP), (double)__ldcs(v + 3 * WARP)};
  }
  __device__ void Skip(int32_t, int32_t columns) { at += (int64_t)columns * WARP; }
};

struct Codes {
  static constexpr bool TABLE = true;

  const unsigned *at;
  const double   *table;

  __device__      Codes(const GpSell &S, const GpSlice &P, const double *shared, int lane) : at((const unsigned *)S.value + (int64_t)P.quad * WARP + lane), table(shared) {}
  __device__ Four Get(int32_t q) const
  {
    const unsigned c = __ldcs(at + (int64_t)q * WARP);

    return {table[c & 255], table[c >> 8 & 255], table[c >> 16 & 255], table[c >> 24]};
  }
  __device__ void Skip(int32_t quads, int32_t) { at += (int64_t)quads * WARP; }
};

/* Adds n quads with indices of type I; the warp takes quads part, part + parts, ... Values whose mask bit is 0 are undefined. */
template <typename V, typename I>
__device__ static double Quads(const int4 *head, const V &values, const I *index, int32_t n, int32_t part, int32_t parts, const double *x, unsigned bit)
{
  double sum = 0;

#pragma unroll 2
  for (int32_t q = part; q < n; q += parts) {
    const int4   base = __ldg(head + 2 * (int64_t)q), mask = __ldg(head + 2 * (int64_t)q + 1), at = Index(index + (int64_t)q * WARP);
    const Four   v  = values.Get(q);
    const bool   h0 = mask.x & bit, h1 = mask.y & bit, h2 = mask.z & bit, h3 = mask.w & bit;
    const double x0 = h0 ? __ldg(x + (base.x + at.x)) : 0, x1 = h1 ? __ldg(x + (base.y + at.y)) : 0;
    const double x2 = h2 ? __ldg(x + (base.z + at.z)) : 0, x3 = h3 ? __ldg(x + (base.w + at.w)) : 0;

    if (h0) sum += v.a * x0;
    if (h1) sum += v.b * x1;
    if (h2) sum += v.c * x2;
    if (h3) sum += v.d * x3;
  }
  return sum;
}

template <typename V, bool SHARED>
__global__ static void __launch_bounds__(BLOCK) Sell(GpSell S, int32_t m, int parts, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ double part_sum[SHARED ? BLOCK : 1], table[V::TABLE ? GP_SELL_CODES_MOST : 1];
  const int         lane = threadIdx.x % WARP;
  const int64_t     warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
  const int32_t     s    = (int32_t)(SHARED ? warp / parts : warp);
  const int         part = SHARED ? (int)(warp % parts) : 0, step = SHARED ? parts : 1;
  const int64_t     i   = (int64_t)s * WARP + lane;
  double            sum = 0;
  int32_t           row = (int32_t)i;

  if (V::TABLE) {
    table[threadIdx.x] = S.table[threadIdx.x];
    __syncthreads();
  }
  if (s < S.nslices) {
    const int4     place = __ldg((const int4 *)(S.slice + s)), shape = __ldg((const int4 *)(S.slice + s) + 1);
    const GpSlice  P   = {place.x, place.y, place.z, place.w, shape.x, shape.y, shape.z, shape.w};
    const unsigned bit = 1u << lane;
    const int32_t  q0 = GpSliceQuads(P.diagonals), q8 = GpSliceQuads8(P), q16 = GpSliceQuads16(P), q32 = GpSliceQuads32(P);
    const int4    *head  = (const int4 *)S.head + 2 * (int64_t)P.quad;
    const uint8_t *index = S.index + (int64_t)P.unit * 128;
    V              values(S, P, table, lane);

    if (S.perm && i < m) row = S.perm[i];
    if (q0) sum = Quads(head, values, (const NoIndex *)NULL, q0, part, step, x + row, bit);
    head += 2 * (int64_t)q0;
    values.Skip(q0, P.diagonals);
    if (q8) sum += Quads(head, values, (const uchar4 *)index + lane, q8, part, step, x, bit);
    head += 2 * (int64_t)q8;
    values.Skip(q8, 4 * q8);
    index += (int64_t)q8 * 128;
    if (q16) sum += Quads(head, values, (const ushort4 *)index + lane, q16, part, step, x, bit);
    head += 2 * (int64_t)q16;
    values.Skip(q16, 4 * q16);
    index += (int64_t)q16 * 256;
    if (q32) sum += Quads(head, values, (const int4 *)index + lane, q32, part, step, x, bit);
  }
  if (SHARED) {
    part_sum[threadIdx.x] = sum;
    __syncthreads();
    if (part) return;
    for (int p = 1; p < parts; p++) sum += part_sum[threadIdx.x + p * WARP];
  }
  if (i < m) y[row] = z ? z[row] + sum : sum;
}

/* warps share a slice if there are too few slices to fill the GPU */
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

#define KERNEL(bits, values) \
  GP_SPMV(sell##bits)(const GpFmt *A, const double *x, const double *z, double *y) \
  { \
    return Launch<values>("sell" #bits, A, x, z, y); \
  }

KERNEL(, Each)
KERNEL(8, Codes)
