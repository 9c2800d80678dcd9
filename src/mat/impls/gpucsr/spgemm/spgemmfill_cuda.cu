/* Columns of the rows of C, in ascending order, and the positions of the products in small rows (the map). */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"

static constexpr int TABLE = 2 * GP_SPGEMM_HASHED, BLOCK = 256;

struct GpSpgemmPattern {
  const int32_t *rowptr;
  int32_t       *col;
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

  const bool    live = r < R.n; /* otherwise the row is empty */
  const int32_t i = live ? R.Get((int32_t)r) : 0, start = C.rowptr[i], c = live ? C.rowptr[i + 1] - start : 0, begin = R.arow[i], end = live ? R.arow[i + 1] : begin, most = GpSpgemmMax<T>(c);
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
  uint8_t *map = C.map + C.mapstart[i];

  GpSpgemmEach<T>(R, begin, end, [&](int32_t q, int32_t b) { map[q] = place[Table::Find(table, R.bcol[b])]; });
}

/* A block writes a row of at most GP_SPGEMM_HASHED columns. The sort is bitonic. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmFillMediumKernel(GpSpgemmRows R, GpSpgemmPattern C)
{
  __shared__ int32_t table[TABLE], list[GP_SPGEMM_HASHED], counter;
  const int32_t      i = R.Get((int32_t)blockIdx.x), start = C.rowptr[i], c = C.rowptr[i + 1] - start, group = (int32_t)threadIdx.x / R.lanes, first = (int32_t)threadIdx.x % R.lanes;
  int                size = 1;

  while (size < c) size *= 2; /* at most GP_SPGEMM_HASHED */
  for (int s = (int)threadIdx.x; s < TABLE; s += BLOCK) table[s] = GP_SPGEMM_EMPTY;
  for (int s = (int)threadIdx.x; s < size; s += BLOCK) list[s] = INT32_MAX;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  for (int32_t k = R.arow[i] + group; k < R.arow[i + 1]; k += BLOCK / R.lanes) {
    const int32_t end = R.brow[R.acol[k] + 1];

    for (int32_t b = R.brow[R.acol[k]] + first; b < end; b += R.lanes) {
      const int32_t j = R.bcol[b];

      if (GpSpgemmTable<TABLE>::Insert(table, j)) list[atomicAdd(&counter, 1)] = j;
    }
  }
  __syncthreads();
  for (int span = 2; span <= size; span *= 2) {
    for (int distance = span / 2; distance; distance /= 2) {
      for (int s = (int)threadIdx.x; s < size; s += BLOCK) {
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
  for (int s = (int)threadIdx.x; s < c; s += BLOCK) C.col[start + s] = list[s];
}

template <int T, int E>
static GpErr GpSpgemmLaunchFill(GpDev dev, const GpSpgemmRows &R, const GpSpgemmPattern &C)
{
  return GpLaunch(dev, "columns of a sparse product", GpSpgemmFillKernel<T, E>, GpGrid{GpBlocks((int64_t)R.n * T, BLOCK), BLOCK}, R, C);
}

GpErr GpSpgemmFillRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, GpCsr *C)
{
  const GpSpgemmRows    R       = GpSpgemmGetRows(A, B, list, n, kind < GP_SPGEMM_128 && P->lanes > 8 ? 8 : P->lanes);
  const GpSpgemmPattern pattern = {C->rowptr, C->col, P->mapstart, P->map};

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
  default:
    return GpLaunch(P->dev, "medium columns of a sparse product", GpSpgemmFillMediumKernel, GpGrid{dim3((unsigned)n), BLOCK}, R, pattern);
  }
}
