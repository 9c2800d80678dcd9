/* Numeric phase.

   A thread computes a row of at most 32 nonzeros. T threads compute a longer row, or a part of it. They process several rows of B at once: all loads come first, then the additions in the order of the
   entries of A.

   Of the threads, `L` process one row of B. Its columns differ, so their additions concern different entries of C. A barrier of the warp separates the additions of one row of B from those
   of the next. Sums are in shared memory. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int BLOCK = 256, SHORT = 32, ALONE = 128; /* SHORT: maximum number of nonzeros of a row that a thread computes alone; ALONE: threads of such a block */

struct GpSpgemmValues {
  const double  *a, *b;
  const int32_t *rowptr, *col; /* of C */
  double        *c;
};

/* Position in C of a product: read from the map. */
struct GpSpgemmMapPlace {
  static constexpr bool PARTS = false;
  const uint8_t        *map;

  __device__ int operator()(int32_t q, int32_t) const { return __ldg(map + q); }
};

/* Position in C of a product: found in a hash table of the columns of the item. */
template <int SIZE>
struct GpSpgemmHashPlace {
  static constexpr bool PARTS = true; /* an item may be a part of a row */
  const int32_t        *bcol, *table;
  const uint16_t       *place;
  int32_t               lowest, highest; /* columns of the item */

  __device__ int operator()(int32_t, int32_t b) const { return place[GpSpgemmTable<SIZE>::Find(table, __ldg(bcol + b))]; }
};

/* Adds the products of the entries `begin` to end - 1 of A to sum[]. All threads of a warp call this function, and take the same number of steps. search: only the products in the columns of the item. L threads load up to L H entries of a row of B at once. */
template <int T, int L, int H, class Place>
__device__ static void GpSpgemmAccumulate(const GpSpgemmRows &R, const GpSpgemmValues &V, int32_t begin, int32_t end, bool search, const Place &place, double *sum)
{
  constexpr int GROUPS = T / L, AHEAD = L < 4 ? L : 4 / H; /* GROUPS rows of B at once, AHEAD times */
  const int     lane = threadIdx.x % T, group = lane / L, first = lane % L;
  int32_t       before = 0;

  for (int32_t k0 = begin; GpSpgemmAny<T>(k0 < end); k0 += T) {
    const int count = end - k0 < 0 ? 0 : end - k0 < T ? end - k0 : T, most = GpSpgemmMax<T>(count);
    int32_t   start = 0, length = 0, total = 0;
    double    value = 0;

    if (lane < count) {
      const int32_t k = R.acol[k0 + lane];
      int32_t       stop;

      value = V.a[k0 + lane];
      start = R.brow[k];
      stop  = R.brow[k + 1];
      if constexpr (Place::PARTS) {
        if (search) {
          start = GpSpgemmSearch(R.bcol, start, stop, place.lowest);
          stop  = GpSpgemmSearch(R.bcol, start, stop, place.highest + 1);
        }
      }
      length = stop - start;
    }
    if constexpr (!Place::PARTS) {
      total = length;
#pragma unroll
      for (int d = 1; d < T; d *= 2) {
        const int32_t other = __shfl_up_sync(GP_SPGEMM_ALL, total, d, T);

        if (lane >= d) total += other;
      }
    }
    for (int e0 = 0; e0 < most; e0 += AHEAD * GROUPS) {
      int32_t eb[AHEAD], el[AHEAD], eq[AHEAD];
      double  ea[AHEAD], product[AHEAD][H];
      int     at[AHEAD][H];

#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int e = e0 + u * GROUPS + group;

        eb[u] = __shfl_sync(GP_SPGEMM_ALL, start, e, T);
        el[u] = __shfl_sync(GP_SPGEMM_ALL, length, e, T);
        eq[u] = Place::PARTS ? 0 : before + __shfl_sync(GP_SPGEMM_ALL, total, e, T) - el[u];
        ea[u] = __shfl_sync(GP_SPGEMM_ALL, value, e, T);
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
#pragma unroll
        for (int h = 0; h < H; h++) {
          const int32_t x    = first + h * L;
          const bool    live = x < el[u];

          at[u][h]      = live ? place(eq[u] + x, eb[u] + x) : -1;
          product[u][h] = live ? __dmul_rn(ea[u], __ldg(V.b + eb[u] + x)) : 0;
        }
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (e0 + u * GROUPS >= most) break; /* the same decision in all threads of the warp */
        for (int g = 0; g < GROUPS; g++) {
          if (group == g) {
#pragma unroll
            for (int h = 0; h < H; h++) {
              if (at[u][h] >= 0) sum[at[u][h]] = __dadd_rn(sum[at[u][h]], product[u][h]);
            }
#pragma unroll 4
            for (int32_t x = first + L * H; x < el[u]; x += L) {
              const int p = place(eq[u] + x, eb[u] + x);

              sum[p] = __dadd_rn(sum[p], __dmul_rn(ea[u], __ldg(V.b + eb[u] + x)));
            }
          }
          __syncwarp();
        }
      }
    }
    if constexpr (!Place::PARTS) before += __shfl_sync(GP_SPGEMM_ALL, total, T - 1, T);
  }
}

/* Rows of at most SHORT nonzeros with a map. A thread computes a row. It loads the bounds of the next row of B while it adds the products of this one. The threads of a warp write their rows together. */
__global__ static void __launch_bounds__(ALONE) GpSpgemmShortKernel(GpSpgemmRows R, GpSpgemmValues V, const int64_t *mapstart, const uint8_t *map)
{
  __shared__ double sums[SHORT][ALONE + 1]; /* the entries of a row are in different banks */
  const int         t = threadIdx.x, lane = t % 32;
  const int64_t     r     = (int64_t)blockIdx.x * ALONE + t;
  int32_t           start = 0, c = 0;

  if (r < R.n) {
    const int32_t  i = R.Get((int32_t)r), end = R.arow[i + 1];
    const uint8_t *place = map + mapstart[i];
    int32_t        k = R.arow[i], b = 0, stop = 0, next = 0;
    double         a = 0;

    start = V.rowptr[i];
    c     = V.rowptr[i + 1] - start;
    for (int s = 0; s < c; s++) sums[s][t] = 0;
    if (k < end) {
      const int32_t j = R.acol[k];

      a    = V.a[k];
      b    = R.brow[j];
      stop = R.brow[j + 1];
    }
    if (k + 1 < end) next = R.acol[k + 1];
    for (; k < end; k++) {
      int32_t nextb = 0, nextstop = 0, second = 0;
      double  nexta = 0;

      if (k + 1 < end) {
        nexta    = V.a[k + 1];
        nextb    = R.brow[next];
        nextstop = R.brow[next + 1];
      }
      if (k + 2 < end) second = R.acol[k + 2];
#pragma unroll 4
      for (; b < stop; b++, place++) {
        double *sum = &sums[__ldg(place)][t];

        *sum = __dadd_rn(*sum, __dmul_rn(a, __ldg(V.b + b)));
      }
      a    = nexta;
      b    = nextb;
      stop = nextstop;
      next = second;
    }
  }
  __syncwarp();
  for (int row = 0; row < 32; row++) {
    const int32_t n = __shfl_sync(0xffffffffu, c, row), to = __shfl_sync(0xffffffffu, start, row);

    if (lane < n) V.c[to + lane] = sums[lane][t - lane + row];
  }
}

/* Rows of at most `most` nonzeros with a map. T threads compute a row. */
template <int T, int L>
__global__ static void __launch_bounds__(BLOCK) GpSpgemmMapKernel(GpSpgemmRows R, GpSpgemmValues V, const int64_t *mapstart, const uint8_t *map, int most)
{
  extern __shared__ double sums[];
  const int64_t            r    = (int64_t)blockIdx.x * (BLOCK / T) + threadIdx.x / T;
  const int                lane = threadIdx.x % T;
  double                  *sum  = sums + (size_t)(threadIdx.x / T) * (size_t)(most + 8); /* the rows of a warp start in different banks */

  const bool    live = r < R.n; /* otherwise the row is empty */
  const int32_t i = live ? R.Get((int32_t)r) : 0, start = V.rowptr[i], c = live ? V.rowptr[i + 1] - start : 0, begin = R.arow[i], end = live ? R.arow[i + 1] : begin;

  for (int s = lane; s < c; s += T) sum[s] = 0;
  __syncwarp();
  GpSpgemmAccumulate<T, L, 1>(R, V, begin, end, false, GpSpgemmMapPlace{map + mapstart[i]}, sum);
  for (int s = lane; s < c; s += T) V.c[start + s] = sum[s];
}

/* Items of at most MOST nonzeros. A warp computes an item. */
template <int L, int H, int MOST, int THREADS>
__global__ static void __launch_bounds__(THREADS) GpSpgemmItemKernel(GpSpgemmRows R, GpSpgemmValues V, const GpSpgemmItem *items)
{
  constexpr int       SIZE = 2 * MOST, WARPS = THREADS / 32;
  __shared__ double   sums[WARPS][MOST];
  __shared__ int32_t  tables[WARPS][SIZE];
  __shared__ uint16_t places[WARPS][SIZE];
  const int           lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t       r = (int64_t)blockIdx.x * WARPS + warp;

  if (r >= R.n) return; /* the whole warp returns */
  const GpSpgemmItem item  = items[r];
  const int32_t      start = V.rowptr[item.row], c = V.rowptr[item.row + 1] - start, n = item.end - item.begin;
  const int32_t     *col = V.col + start + item.begin;

  for (int s = lane; s < SIZE; s += 32) tables[warp][s] = GP_SPGEMM_EMPTY;
  __syncwarp();
  for (int s = lane; s < n; s += 32) {
    (void)GpSpgemmTable<SIZE>::Insert(tables[warp], col[s]);
    sums[warp][s] = 0;
  }
  __syncwarp();
  for (int s = lane; s < n; s += 32) places[warp][GpSpgemmTable<SIZE>::Find(tables[warp], col[s])] = (uint16_t)s;
  __syncwarp();
  const GpSpgemmHashPlace<SIZE> place = {R.bcol, tables[warp], places[warp], col[0], col[n - 1]};

  if (n < c) GpSpgemmAccumulate<32, 8, 1>(R, V, R.arow[item.row], R.arow[item.row + 1], true, place, sums[warp]); /* few entries of a row of B are in the columns of the item */
  else GpSpgemmAccumulate<32, L, H>(R, V, R.arow[item.row], R.arow[item.row + 1], false, place, sums[warp]);
  for (int s = lane; s < n; s += 32) V.c[start + item.begin + s] = sums[warp][s];
}

/* --- calls ---------------------------------------------------------------------------------------------------------------------------------- */

template <int T, int L>
static GpErr GpSpgemmLaunchMap(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, int most)
{
  const size_t bytes = (size_t)(BLOCK / T) * (size_t)(most + 8) * sizeof(double);

  return GpLaunch(P->dev, "sparse product", GpSpgemmMapKernel<T, L>, GpGrid{GpBlocks((int64_t)R.n * T, BLOCK), BLOCK, bytes}, R, V, P->mapstart, P->map, most);
}

static GpErr GpSpgemmMapRows(GpSpgemm P, int kind, const GpSpgemmRows &R, const GpSpgemmValues &V)
{
  const int lanes = P->lanes;

  if (kind == GP_SPGEMM_32) return GpLaunch(P->dev, "sparse product", GpSpgemmShortKernel, GpGrid{GpBlocks(R.n, ALONE), ALONE}, R, V, P->mapstart, P->map);
  if (kind == GP_SPGEMM_64) return lanes <= 2 ? GpSpgemmLaunchMap<8, 2>(P, R, V, 64) : lanes <= 4 ? GpSpgemmLaunchMap<8, 4>(P, R, V, 64) : GpSpgemmLaunchMap<8, 8>(P, R, V, 64);
  const int most = kind == GP_SPGEMM_128 ? 128 : 256;

  if (lanes <= 4) return GpSpgemmLaunchMap<32, 4>(P, R, V, most);
  return lanes <= 8 ? GpSpgemmLaunchMap<32, 8>(P, R, V, most) : lanes <= 16 ? GpSpgemmLaunchMap<32, 16>(P, R, V, most) : GpSpgemmLaunchMap<32, 32>(P, R, V, most);
}

template <int MOST, int THREADS>
static GpErr GpSpgemmItems(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, const GpSpgemmItem *items)
{
  const GpGrid grid = {GpBlocks((int64_t)R.n * 32, THREADS), THREADS};

  if (!R.n) return GP_SUCCESS;
  if (P->lanes <= 8) return GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<8, 1, MOST, THREADS>, grid, R, V, items);
  if (P->products <= (int64_t)P->annz * 32) return GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 1, MOST, THREADS>, grid, R, V, items);
  return P->products <= (int64_t)P->annz * 64 ? GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 2, MOST, THREADS>, grid, R, V, items) : GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 4, MOST, THREADS>, grid, R, V, items);
}

extern "C" GpErr GpSpgemmAddProducts_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpCsr *C)
{
  const GpSpgemmValues V   = {(const double *)A->val, (const double *)B->val, C->rowptr, C->col, (double *)C->val};
  GpSpgemmRows         R   = GpSpgemmGetRows(A, B, NULL, 0, P->lanes);
  int32_t              at  = 0;
  GpErr                err = GP_SUCCESS;

  for (int w = 0; w < GP_SPGEMM_WIDTHS && !err; w++) { /* the longest rows first */
    const int wide = w == 0;

    R.n = P->items[wide];
    err = wide ? GpSpgemmItems<2 * GP_SPGEMM_ITEM, 64>(P, R, V, P->item + P->items[0]) : GpSpgemmItems<GP_SPGEMM_ITEM, 128>(P, R, V, P->item);
  }
  for (int kind = 0; kind < GP_SPGEMM_MEDIUM && !err && P->map; kind++) {
    R.list = P->row ? P->row + at : NULL;
    R.n    = P->rows[kind];
    if (R.n) err = GpSpgemmMapRows(P, kind, R, V);
    at += P->rows[kind];
  }
  return err;
}
