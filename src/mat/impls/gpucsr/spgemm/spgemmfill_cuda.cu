/* Columns of the rows of C, in ascending order, and the positions of the products in small rows (the map). */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"
#include <cub/block/block_scan.cuh>

static constexpr int BLOCK = 256;

struct GpSpgemmPattern {
  const int32_t *rowptr;
  int32_t       *col;
  const uint8_t *follows;  /* NULL: there are no followers */
  const int64_t *mapstart; /* NULL: there is no map */
  uint8_t       *map;
};

/* T threads write a row of at most T E columns. Each thread keeps up to E columns in registers and counts the smaller columns of the row. */
template <int T, int E>
__global__ static void __launch_bounds__(BLOCK) GpSpgemmFillKernel(GpSpgemmRows R, GpSpgemmPattern C)
{
  constexpr int               MOST = T * E, SIZE = 2 * MOST, GROUPS = BLOCK / T;
  typedef GpSpgemmTable<SIZE> Table;
  __shared__ int32_t          tables[GROUPS][SIZE], lists[GROUPS][MOST + 1], counters[GROUPS]; /* lists: the rows of a warp start in different banks */
  __shared__ uint8_t          places[GROUPS][SIZE];
  const int64_t               r     = (int64_t)blockIdx.x * GROUPS + threadIdx.x / T;
  const int                   lane  = threadIdx.x % T;
  int32_t                    *table = tables[threadIdx.x / T], *list = lists[threadIdx.x / T], *counter = &counters[threadIdx.x / T];
  uint8_t                    *place = places[threadIdx.x / T];

  const int32_t i     = r < R.n ? R.Get((int32_t)r) : 0;
  const bool    live  = r < R.n && !(C.follows && C.follows[i]); /* otherwise the threads have no work */
  const int32_t start = C.rowptr[i], c = live ? C.rowptr[i + 1] - start : 0, begin = R.arow[i], end = live ? R.arow[i + 1] : begin, most = GpSpgemmMax<T>(c);
  int32_t       mine[E], rank[E];

  for (int s = lane; s < SIZE; s += T) table[s] = GP_SPGEMM_EMPTY;
  if (lane == 0) *counter = 0;
  __syncwarp();
  GpSpgemmEach<T>(R, begin, end, [&](int32_t, int32_t b) {
    const int32_t j = R.bcol[b];

    if (Table::Insert(table, j)) list[atomicAdd(counter, 1)] = j;
  });
  __syncwarp();
#pragma unroll
  for (int e = 0; e < E; e++) {
    mine[e] = lane + e * T < c ? list[lane + e * T] : 0;
    rank[e] = 0;
  }
  for (int q = 0; q < most; q++) {
    const int32_t other = q < c ? list[q] : INT32_MAX;

#pragma unroll
    for (int e = 0; e < E; e++) rank[e] += other < mine[e];
  }
#pragma unroll
  for (int e = 0; e < E; e++) {
    if (lane + e * T >= c) continue;
    C.col[start + rank[e]]             = mine[e];
    place[Table::Find(table, mine[e])] = (uint8_t)rank[e];
  }
  if (!C.map) return;
  __syncwarp();
  const int64_t first = C.mapstart[i]; /* negative: the row has no map */
  uint8_t      *map   = C.map + first;

  GpSpgemmEach<T>(R, begin, first < 0 ? begin : end, [&](int32_t q, int32_t b) { map[q] = place[Table::Find(table, R.bcol[b])]; });
}

/* Entries of A that the threads of a block process together. */
template <int THREADS>
struct GpSpgemmBlockEntries {
  typedef cub::BlockScan<int32_t, THREADS> Scan;

  typename Scan::TempStorage scan;
  int32_t                    start[THREADS], length[THREADS], number[THREADS]; /* row of B, its length, number of its first product */
};

/* GpSpgemmEach() for a block. f must not synchronise. */
template <int THREADS, class F>
__device__ static void GpSpgemmEachInBlock(const GpSpgemmRows &R, int32_t begin, int32_t end, GpSpgemmBlockEntries<THREADS> &E, F f)
{
  const int t = (int)threadIdx.x, group = t / R.lanes, first = t % R.lanes;
  int32_t   done = 0;

  for (int32_t k0 = begin; k0 < end; k0 += THREADS) {
    const int count = end - k0 < THREADS ? end - k0 : THREADS;
    int32_t   start = 0, length = 0, before, total;

    if (t < count) {
      const int32_t k = R.acol[k0 + t];

      start  = R.brow[k];
      length = R.brow[k + 1] - start;
    }
    typename GpSpgemmBlockEntries<THREADS>::Scan(E.scan).ExclusiveSum(length, before, total);
    E.start[t]  = start;
    E.length[t] = length;
    E.number[t] = done + before;
    __syncthreads();
    for (int e = group; e < count; e += THREADS / R.lanes) {
      const int32_t eb = E.start[e], el = E.length[e], eq = E.number[e];

      for (int32_t x = first; x < el; x += R.lanes) f(eq + x, eb + x);
    }
    done += total;
    __syncthreads(); /* before the arrays are written again */
  }
}

/* Sorts size values, a power of two, in ascending order. The sort is bitonic. */
template <int THREADS>
__device__ static void GpSpgemmSortInBlock(int size, int32_t *list)
{
  for (int span = 2; span <= size; span *= 2) {
    for (int distance = span / 2; distance; distance /= 2) {
      for (int s = (int)threadIdx.x; s < size; s += THREADS) {
        const int t = s ^ distance;

        if (t > s && (list[s] > list[t]) == ((s & span) == 0)) {
          const int32_t other = list[s];

          list[s] = list[t];
          list[t] = other;
        }
      }
      __syncthreads();
    }
  }
}

/* A block writes a row of at most MOST columns. */
template <int MOST, int THREADS>
__global__ static void __launch_bounds__(THREADS) GpSpgemmFillMediumKernel(GpSpgemmRows R, GpSpgemmPattern C)
{
  constexpr int                TABLE = 2 * MOST;
  typedef GpSpgemmTable<TABLE> Table;
  __shared__ GpSpgemmBlockEntries<THREADS> entries;
  __shared__ int32_t                       table[TABLE], list[MOST], counter;
  __shared__ uint16_t                      place[TABLE];
  const int32_t                            i = R.Get((int32_t)blockIdx.x), start = C.rowptr[i], c = C.rowptr[i + 1] - start, begin = R.arow[i], end = R.arow[i + 1];
  const int64_t                            first = C.map ? C.mapstart[i] : -1;
  int                                      size  = 1;

  if (C.follows && C.follows[i]) return; /* the whole block returns */
  while (size < c) size *= 2;            /* at most MOST */
  for (int s = (int)threadIdx.x; s < TABLE; s += THREADS) table[s] = GP_SPGEMM_EMPTY;
  for (int s = (int)threadIdx.x; s < size; s += THREADS) list[s] = INT32_MAX;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  GpSpgemmEachInBlock<THREADS>(R, begin, end, entries, [&](int32_t, int32_t b) {
    const int32_t j = R.bcol[b];

    if (Table::Insert(table, j)) list[atomicAdd(&counter, 1)] = j;
  });
  GpSpgemmSortInBlock<THREADS>(size, list);
  for (int s = (int)threadIdx.x; s < c; s += THREADS) {
    C.col[start + s] = list[s];
    if (first >= 0) place[Table::Find(table, list[s])] = (uint16_t)s;
  }
  if (first < 0) return;
  __syncthreads();
  uint16_t *map = (uint16_t *)(C.map + first); /* rows of these classes that have a map have more than 256 nonzeros */

  GpSpgemmEachInBlock<THREADS>(R, begin, end, entries, [&](int32_t q, int32_t b) { map[q] = place[Table::Find(table, R.bcol[b])]; });
}

template <int T, int E>
static GpErr GpSpgemmLaunchFill(GpDev dev, const GpSpgemmRows &R, const GpSpgemmPattern &C)
{
  return GpLaunch(dev, "columns of a sparse product", GpSpgemmFillKernel<T, E>, GpGrid{GpBlocks((int64_t)R.n * T, BLOCK), BLOCK}, R, C);
}

GpErr GpSpgemmFillRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const uint8_t *follows, const int32_t *list, int32_t n, GpCsr *C)
{
  const GpSpgemmRows    R       = GpSpgemmGetRows(A, B, list, n, kind < GP_SPGEMM_128 && P->lanes > 8 ? 8 : P->lanes);
  const GpSpgemmPattern pattern = {C->rowptr, C->col, follows, P->mapstart, P->map};

  if (!n) return GP_SUCCESS;
  switch (kind) {
  case GP_SPGEMM_32:
    return GpSpgemmLaunchFill<8, 4>(P->dev, R, pattern);
  case GP_SPGEMM_64:
    return GpSpgemmLaunchFill<8, 8>(P->dev, R, pattern);
  case GP_SPGEMM_128:
    return GpSpgemmLaunchFill<32, 4>(P->dev, R, pattern);
  case GP_SPGEMM_256:
    return GpSpgemmLaunchFill<32, 8>(P->dev, R, pattern);
  case GP_SPGEMM_512:
    return GpLaunch(P->dev, "medium columns of a sparse product", GpSpgemmFillMediumKernel<512, 128>, GpGrid{dim3((unsigned)n), 128}, R, pattern);
  default:
    return GpLaunch(P->dev, "medium columns of a sparse product", GpSpgemmFillMediumKernel<GP_SPGEMM_HASHED, BLOCK>, GpGrid{dim3((unsigned)n), BLOCK}, R, pattern);
  }
}
