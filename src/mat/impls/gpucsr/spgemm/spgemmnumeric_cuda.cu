/* Numeric phase.

   If rows of A are short, a thread computes a row of at most 32 nonzeros. T threads compute a longer row, or a part of it. They process several rows of B at once: all loads come first, then the additions in the order of the
   entries of A.

   Groups of L of these threads process one row of B each. The columns in a row of B differ, so the threads of a group add to different entries of C. A barrier of the warp separates the additions of one row of B
   from those of the next. Sums are in shared memory. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int BLOCK = 256, SHORT = 32, ALONE = 128, PAD = 4; /* SHORT: maximum number of nonzeros of a row that a thread computes alone; ALONE: threads of such a block; PAD: the arrays of the groups of a warp start in different banks */

struct GpSpgemmValues {
  const double  *a, *b;
  const int32_t *rowptr, *col; /* of C */
  double        *c;
};

/* Position in C of a product: read from the map. */
template <class Position>
struct GpSpgemmMapPlace {
  static constexpr bool PARTS = false;
  const Position       *map;

  __device__ int operator()(int32_t q, int32_t) const { return __ldg(map + q); }
};

/* Position in C of a product: found in a hash table of the columns of the item. */
template <int SIZE, class Position>
struct GpSpgemmHashPlace {
  static constexpr bool PARTS = true; /* an item may be a part of a row */
  const int32_t        *bcol, *table;
  const Position       *place;
  int32_t               lowest, highest; /* columns of the item */

  __device__ int operator()(int32_t, int32_t b) const { return place[GpSpgemmTable<SIZE>::Find(table, __ldg(bcol + b))]; }
};

/* Adds the products of the entries `begin` to end - 1 of A to sum[]. All threads of a warp call this function, and take the same number of steps. search: only the products in the columns of the item. L threads load up to L H entries of a row of B at once. */
template <int T, int L, int H, class Place>
__device__ static void GpSpgemmAccumulate(const GpSpgemmRows &R, const GpSpgemmValues &V, int32_t begin, int32_t end, bool search, const Place &place, double *sum)
{
  constexpr int GROUPS = T / L, AHEAD = L < 4 ? L : H == 1 ? 4 : 2; /* GROUPS rows of B at once, AHEAD times */
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
    const int32_t  i     = R.Get((int32_t)r);
    const int64_t  first = mapstart[i];
    const uint8_t *place = map + first;
    const int32_t  end   = first < 0 ? R.arow[i] : R.arow[i + 1]; /* negative: the row has no map */
    int32_t        k = R.arow[i], b = 0, stop = 0, next = 0;
    double         a = 0;

    start = V.rowptr[i];
    c     = first < 0 ? 0 : V.rowptr[i + 1] - start;
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
template <int T, int L, int H, class Position>
__global__ static void __launch_bounds__(BLOCK) GpSpgemmMapKernel(GpSpgemmRows R, GpSpgemmValues V, const int64_t *mapstart, const uint8_t *map, int most)
{
  extern __shared__ double sums[];
  const int64_t            r    = (int64_t)blockIdx.x * (blockDim.x / T) + threadIdx.x / T;
  const int                lane = threadIdx.x % T;
  double                  *sum  = sums + (size_t)(threadIdx.x / T) * (size_t)(most + PAD);

  const int32_t i     = r < R.n ? R.Get((int32_t)r) : 0;
  const int64_t first = r < R.n ? mapstart[i] : -1;
  const bool    live  = first >= 0; /* otherwise the threads have no work: there is no such row, or the row has no map */
  const int32_t start = V.rowptr[i], c = live ? V.rowptr[i + 1] - start : 0, begin = R.arow[i], end = live ? R.arow[i + 1] : begin;

  for (int s = lane; s < c; s += T) sum[s] = 0;
  __syncwarp();
  GpSpgemmAccumulate<T, L, H>(R, V, begin, end, false, GpSpgemmMapPlace<Position>{(const Position *)(map + first)}, sum);
  for (int s = lane; s < c; s += T) V.c[start + s] = sum[s];
}

/* Items of at most MOST nonzeros. T threads compute an item. If T is less than 32, items are whole rows. */
template <int T, int L, int H, int MOST, int THREADS, class Position>
__global__ static void __launch_bounds__(THREADS) GpSpgemmItemKernel(GpSpgemmRows R, GpSpgemmValues V, const GpSpgemmItem *items)
{
  constexpr int               SIZE = 2 * MOST, GROUPS = THREADS / T;
  typedef GpSpgemmTable<SIZE> Table;
  __shared__ double           sums[GROUPS][MOST + PAD];
  __shared__ int32_t          tables[GROUPS][SIZE + PAD];
  __shared__ Position         places[GROUPS][SIZE];
  const int                   lane = threadIdx.x % T, group = threadIdx.x / T;
  const int64_t               r     = (int64_t)blockIdx.x * GROUPS + group;
  double                     *sum   = sums[group];
  int32_t                    *table = tables[group];

  const GpSpgemmItem item  = r < R.n ? items[r] : GpSpgemmItem{0, 0, 0}; /* threads without an item get an empty one */
  const int32_t      start = V.rowptr[item.row], c = V.rowptr[item.row + 1] - start, n = item.end - item.begin;
  const int32_t     *col = V.col + start + item.begin, begin = R.arow[item.row], end = n ? R.arow[item.row + 1] : begin;

  for (int s = lane; s < SIZE; s += T) table[s] = GP_SPGEMM_EMPTY;
  __syncwarp();
  for (int s = lane; s < n; s += T) {
    (void)Table::Insert(table, col[s]);
    sum[s] = 0;
  }
  __syncwarp();
  for (int s = lane; s < n; s += T) places[group][Table::Find(table, col[s])] = (Position)s;
  __syncwarp();
  const GpSpgemmHashPlace<SIZE, Position> place = {R.bcol, table, places[group], n ? col[0] : 0, n ? col[n - 1] : 0};

  if (T == 32 && n < c) GpSpgemmAccumulate<T, 8, 1>(R, V, begin, end, true, place, sum); /* few entries of a row of B are in the columns of the item */
  else GpSpgemmAccumulate<T, L, H>(R, V, begin, end, false, place, sum);
  for (int s = lane; s < n; s += T) V.c[start + item.begin + s] = sum[s];
}

/* --- calls ---------------------------------------------------------------------------------------------------------------------------------- */

template <int T, int L, int H, class Position>
static GpErr GpSpgemmLaunchMap(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, int most)
{
  const unsigned threads = most > 512 ? 64 : BLOCK;
  const size_t   bytes   = (size_t)(threads / T) * (size_t)(most + PAD) * sizeof(double);

  return GpLaunch(P->dev, "sparse product", GpSpgemmMapKernel<T, L, H, Position>, GpGrid{GpBlocks((int64_t)R.n * T, threads), threads, bytes}, R, V, P->mapstart, P->map, most);
}

/* 8 threads compute a row. */
static GpErr GpSpgemmMapShortRows(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, int most)
{
  switch (P->lanes) {
  case 2:
    return GpSpgemmLaunchMap<8, 2, 1, uint8_t>(P, R, V, most);
  case 4:
    return GpSpgemmLaunchMap<8, 4, 1, uint8_t>(P, R, V, most);
  case 8:
    return GpSpgemmLaunchMap<8, 8, 1, uint8_t>(P, R, V, most);
  case 16:
    return GpSpgemmLaunchMap<8, 8, 2, uint8_t>(P, R, V, most);
  default:
    return GpSpgemmLaunchMap<8, 8, 4, uint8_t>(P, R, V, most);
  }
}

/* A warp computes a row. */
template <class Position>
static GpErr GpSpgemmMapLongRows(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, int most)
{
  if (P->lanes <= 4) return GpSpgemmLaunchMap<32, 4, 1, Position>(P, R, V, most);
  if (P->lanes <= 8) return GpSpgemmLaunchMap<32, 8, 1, Position>(P, R, V, most);
  if (P->lanes <= 16) return GpSpgemmLaunchMap<32, 16, 1, Position>(P, R, V, most);
  const double mean = (double)P->products / P->annz;

  if (mean <= 28) return GpSpgemmLaunchMap<32, 32, 1, Position>(P, R, V, most);
  if (mean <= 56) return GpSpgemmLaunchMap<32, 32, 2, Position>(P, R, V, most);
  return mean <= 88 ? GpSpgemmLaunchMap<32, 32, 3, Position>(P, R, V, most) : GpSpgemmLaunchMap<32, 32, 4, Position>(P, R, V, most);
}

static GpErr GpSpgemmMapRows(GpSpgemm P, int kind, const GpSpgemmRows &R, const GpSpgemmValues &V)
{
  switch (kind) {
  case GP_SPGEMM_32: /* a thread computes a row if rows of A are short */
    if (P->annz <= (int64_t)P->m * 12) return GpLaunch(P->dev, "sparse product", GpSpgemmShortKernel, GpGrid{GpBlocks(R.n, ALONE), ALONE}, R, V, P->mapstart, P->map);
    return GpSpgemmMapShortRows(P, R, V, SHORT);
  case GP_SPGEMM_64:
    return GpSpgemmMapShortRows(P, R, V, 64);
  case GP_SPGEMM_128:
    return GpSpgemmMapLongRows<uint8_t>(P, R, V, 128);
  case GP_SPGEMM_256:
    return GpSpgemmMapLongRows<uint8_t>(P, R, V, 256);
  case GP_SPGEMM_512:
    return GpSpgemmMapLongRows<uint16_t>(P, R, V, 512);
  default:
    return GpSpgemmMapLongRows<uint16_t>(P, R, V, GP_SPGEMM_HASHED);
  }
}

static GpErr GpSpgemmShortItems(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, const GpSpgemmItem *items)
{
  const GpGrid grid = {GpBlocks((int64_t)R.n * 8, BLOCK), BLOCK};

  if (P->lanes <= 4) return GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<8, 4, 1, 64, BLOCK, uint8_t>, grid, R, V, items);
  return P->lanes <= 8 ? GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<8, 8, 1, 64, BLOCK, uint8_t>, grid, R, V, items) : GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<8, 8, 2, 64, BLOCK, uint8_t>, grid, R, V, items);
}

template <int MOST, int THREADS, class Position>
static GpErr GpSpgemmItems(GpSpgemm P, const GpSpgemmRows &R, const GpSpgemmValues &V, const GpSpgemmItem *items)
{
  const GpGrid grid = {GpBlocks((int64_t)R.n * 32, THREADS), THREADS};

  if (P->lanes <= 8) return GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 8, 1, MOST, THREADS, Position>, grid, R, V, items);
  if (P->products <= (int64_t)P->annz * 32) return GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 32, 1, MOST, THREADS, Position>, grid, R, V, items);
  return P->products <= (int64_t)P->annz * 64 ? GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 32, 2, MOST, THREADS, Position>, grid, R, V, items)
                                              : GpLaunch(P->dev, "sparse product", GpSpgemmItemKernel<32, 32, 4, MOST, THREADS, Position>, grid, R, V, items);
}

static GpErr GpSpgemmAddItems(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmRows R, const GpSpgemmValues &V, GpCsr *C)
{
  const GpSpgemmItem *items[GP_SPGEMM_ITEMS] = {P->item};
  GpErr               err                    = GP_SUCCESS;

  for (int w = 1; w < GP_SPGEMM_ITEMS; w++) items[w] = items[w - 1] + P->items[w - 1];
  for (int w = GP_SPGEMM_ITEMS - 1; w >= 0 && !err; w--) { /* the longest items first */
    R.n = P->items[w];
    if (!R.n) continue;
    switch (w) {
    case GP_SPGEMM_ITEM_64:
      err = GpSpgemmShortItems(P, R, V, items[w]);
      break;
    case GP_SPGEMM_ITEM_256:
      err = GpSpgemmItems<256, 256, uint8_t>(P, R, V, items[w]);
      break;
    case GP_SPGEMM_ITEM_512:
      err = GpSpgemmItems<512, 128, uint16_t>(P, R, V, items[w]);
      break;
    case GP_SPGEMM_ITEM_1024:
      err = GpSpgemmItems<1024, 64, uint16_t>(P, R, V, items[w]);
      break;
    default:
      err = GpSpgemmLongItems_CUDA(P, A, B, items[w], R.n, C);
    }
  }
  return err;
}

extern "C" GpErr GpSpgemmAddProducts_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpCsr *C)
{
  const GpSpgemmValues V   = {(const double *)A->val, (const double *)B->val, C->rowptr, C->col, (double *)C->val};
  GpSpgemmRows         R   = GpSpgemmGetRows(A, B, NULL, 0, P->lanes);
  int32_t              at  = 0;
  GpErr                err = GpSpgemmAddItems(P, A, B, R, V, C);

  for (int kind = 0; kind < GP_SPGEMM_LARGE && !err && P->map; kind++) {
    R.list = P->row ? P->row + at : NULL;
    R.n    = P->rows[kind];
    if (R.n) err = GpSpgemmMapRows(P, kind, R, V);
    at += P->rows[kind];
  }
  return err;
}
