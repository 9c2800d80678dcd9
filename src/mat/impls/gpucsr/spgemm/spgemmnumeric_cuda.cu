/* Numeric phase. T threads compute a row, or a part of it. They process several rows of B at once: all loads come first, then the additions in the order of the entries of A.

   Of the threads, `L` process one row of B. Its columns differ, so their additions concern different entries of C. A barrier of these threads separates the additions of one row of B from those
   of the next. Sums are in shared memory. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int BLOCK = 256;

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

/* Adds the products of row i to sum[]. search: only the products in the columns of the item. */
template <int T, int L, class Place>
__device__ static void GpSpgemmAccumulate(const GpSpgemmRows &R, const GpSpgemmValues &V, int32_t i, bool search, const Place &place, double *sum)
{
  constexpr int  GROUPS = T / L, AHEAD = L < 4 ? L : 4; /* GROUPS rows of B at once, AHEAD times */
  const unsigned mask = GpSpgemmMask<T>();
  const int      lane = threadIdx.x % T, group = lane / L, first = lane % L;
  const int32_t  end    = R.arow[i + 1];
  int32_t        before = 0;

  for (int32_t k0 = R.arow[i]; k0 < end; k0 += T) {
    const int count = end - k0 < T ? end - k0 : T;
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
        const int32_t other = __shfl_up_sync(mask, total, d, T);

        if (lane >= d) total += other;
      }
    }
    for (int e0 = 0; e0 < count; e0 += AHEAD * GROUPS) {
      int32_t eb[AHEAD], el[AHEAD], eq[AHEAD];
      double  ea[AHEAD], product[AHEAD];
      int     at[AHEAD];

#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int e = e0 + u * GROUPS + group;

        eb[u] = __shfl_sync(mask, start, e, T);
        el[u] = __shfl_sync(mask, length, e, T);
        eq[u] = Place::PARTS ? 0 : before + __shfl_sync(mask, total, e, T) - el[u];
        ea[u] = __shfl_sync(mask, value, e, T);
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const bool live = first < el[u];

        at[u]      = live ? place(eq[u] + first, eb[u] + first) : -1;
        product[u] = live ? __dmul_rn(ea[u], __ldg(V.b + eb[u] + first)) : 0;
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (e0 + u * GROUPS >= count) break; /* the same decision in all T threads */
        for (int g = 0; g < GROUPS; g++) {
          if (group == g) {
            if (at[u] >= 0) sum[at[u]] = __dadd_rn(sum[at[u]], product[u]);
#pragma unroll 4
            for (int32_t x = first + L; x < el[u]; x += L) {
              const int p = place(eq[u] + x, eb[u] + x);

              sum[p] = __dadd_rn(sum[p], __dmul_rn(ea[u], __ldg(V.b + eb[u] + x)));
            }
          }
          __syncwarp(mask);
        }
      }
    }
    if constexpr (!Place::PARTS) before += __shfl_sync(mask, total, T - 1, T);
  }
}

/* Rows of at most `most` nonzeros with a map. T threads compute a row. */
template <int T, int L>
__global__ static void __launch_bounds__(BLOCK) GpSpgemmMapKernel(GpSpgemmRows R, GpSpgemmValues V, const int64_t *mapstart, const uint8_t *map, int most)
{
  extern __shared__ double sums[];
  const int64_t            r    = (int64_t)blockIdx.x * (BLOCK / T) + threadIdx.x / T;
  const unsigned           mask = GpSpgemmMask<T>();
  const int                lane = threadIdx.x % T;
  double                  *sum  = sums + (size_t)(threadIdx.x / T) * (size_t)(most + 8); /* the rows of a warp start in different banks */

  if (r >= R.n) return; /* all T threads return; the masks of the others exclude them */
  const int32_t i = R.Get((int32_t)r), start = V.rowptr[i], c = V.rowptr[i + 1] - start;

  for (int s = lane; s < c; s += T) sum[s] = 0;
  __syncwarp(mask);
  GpSpgemmAccumulate<T, L>(R, V, i, false, GpSpgemmMapPlace{map + mapstart[i]}, sum);
  for (int s = lane; s < c; s += T) V.c[start + s] = sum[s];
}

/* Items of at most MOST nonzeros. A warp computes an item. */
template <int L, int MOST, int THREADS>
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
  GpSpgemmAccumulate<32, L>(R, V, item.row, n < c, GpSpgemmHashPlace<SIZE>{R.bcol, tables[warp], places[warp], col[0], col[n - 1]}, sums[warp]);
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

  if (kind <= GP_SPGEMM_64) {
    const int most = kind == GP_SPGEMM_32 ? 32 : 64;

    return lanes <= 2 ? GpSpgemmLaunchMap<8, 2>(P, R, V, most) : lanes <= 4 ? GpSpgemmLaunchMap<8, 4>(P, R, V, most) : GpSpgemmLaunchMap<8, 8>(P, R, V, most);
  }
  const int most = kind == GP_SPGEMM_128 ? 128 : 256;

  if (lanes <= 4) return GpSpgemmLaunchMap<32, 4>(P, R, V, most);
  return lanes <= 8 ? GpSpgemmLaunchMap<32, 8>(P, R, V, most) : lanes <= 16 ? GpSpgemmLaunchMap<32, 16>(P, R, V, most) : GpSpgemmLaunchMap<32, 32>(P, R, V, most);
}

template <int MOST, int THREADS>
static GpErr GpSpgemmItems(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, const GpSpgemmItem *items)
{
  const GpGrid grid = {GpBlocks((int64_t)R.n * 32, THREADS), THREADS};

  if (!R.n) return GP_SUCCESS;
  return P->lanes <= 8 ? GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<8, MOST, THREADS>, grid, R, V, items) : GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, MOST, THREADS>, grid, R, V, items);
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
