/* Classes of rows: the number of products of each row, the lists of rows of one class, and the items of the numeric phase. */
#include "mat/impls/gpucsr/spgemm/gpspgemmwalk.h"
#include <cub/device/device_scan.cuh>

static constexpr int BLOCK = 1024, SMALL = 256, GROUP = 8;

/* --- checks and counts ---------------------------------------------------------------------------------------------------------------------- */

/* GROUP threads check that the columns of a row of B ascend. */
__global__ static void __launch_bounds__(SMALL) GpSpgemmCheckKernel(int32_t m, int32_t n, const int32_t *rowptr, const int32_t *col, GpSpgemmCounts *counts)
{
  const int64_t i = ((int64_t)blockIdx.x * SMALL + threadIdx.x) / GROUP;

  if (i >= m) return;
  const int32_t begin = rowptr[i], end = rowptr[i + 1];
  bool          bad = false;

  for (int32_t k = begin + (int32_t)(threadIdx.x % GROUP); k < end; k += GROUP) bad = bad || col[k] >= n || (k > begin ? col[k - 1] >= col[k] : col[k] < 0);
  if (bad) atomicMax(&counts->unsorted, (unsigned)(i + 1));
}

/* GROUP threads count the products of a row. */
__global__ static void __launch_bounds__(SMALL) GpSpgemmProductsKernel(int32_t m, const int32_t *arow, const int32_t *acol, const int32_t *brow, int64_t *products)
{
  const int64_t i   = ((int64_t)blockIdx.x * SMALL + threadIdx.x) / GROUP;
  int64_t       sum = 0;

  if (i < m) {
    for (int32_t k = arow[i] + (int32_t)(threadIdx.x % GROUP); k < arow[i + 1]; k += GROUP) {
      const int32_t j = acol[k];

      sum += brow[j + 1] - brow[j];
    }
  }
#pragma unroll
  for (int d = GROUP / 2; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (i < m && threadIdx.x % GROUP == 0) products[i] = sum;
}

/* --- classes -------------------------------------------------------------------------------------------------------------------------------- */

/* Returns the class of a row whose number of nonzeros is not known yet; -1: the row is empty. The bounds are on the number of products and on the number of columns. */
__device__ static int GpSpgemmGetCountClass(int64_t products, int32_t n)
{
  const int64_t most = products < n ? products : n;
  const int     kind = most <= 32 ? GP_SPGEMM_32 : most <= 64 ? GP_SPGEMM_64 : most <= 256 ? GP_SPGEMM_128 : most <= 1024 ? GP_SPGEMM_256 : GP_SPGEMM_MEDIUM;

  if (!most) return -1;
  if (products > GP_SPGEMM_MANY) return GP_SPGEMM_MEDIUM;
  return products > GP_SPGEMM_SOME && kind < GP_SPGEMM_128 ? GP_SPGEMM_128 : kind;
}

/* Returns the class of a row with c nonzeros; -1: the row is empty. A row with many products is in a class with more threads. */
__device__ static int GpSpgemmGetClass(int64_t products, int32_t c)
{
  const int kind = c <= 32 ? GP_SPGEMM_32 : c <= 64 ? GP_SPGEMM_64 : c <= 128 ? GP_SPGEMM_128 : c <= 256 ? GP_SPGEMM_256 : c <= 512 ? GP_SPGEMM_512 : c <= GP_SPGEMM_HASHED ? GP_SPGEMM_MEDIUM : GP_SPGEMM_LARGE;

  if (!c) return -1;
  if (products > GP_SPGEMM_MANY && kind < GP_SPGEMM_MEDIUM) return GP_SPGEMM_MEDIUM;
  return products > GP_SPGEMM_SOME && kind < GP_SPGEMM_128 ? GP_SPGEMM_128 : kind;
}

/* Returns the list of the items of a row without a map, and their size. A row with many products has more and smaller items. n: number of columns of C. */
__device__ static int GpSpgemmGetItems(int64_t products, int32_t c, int32_t n, int32_t *width)
{
  const int32_t most  = c <= 512 ? 512 : 1024;
  int64_t       parts = (c + 63) / 64;
  bool          dense = (int64_t)n * GP_SPGEMM_LONG <= (int64_t)c << 19 || n <= 1 << 19; /* the columns of GP_SPGEMM_LONG entries of this row span at most 2^19 on average. The kernel for long items processes 196,608 columns in a pass. */

  if (c > GP_SPGEMM_HASHED && dense) {
    parts  = (c + GP_SPGEMM_LONG - 1) / GP_SPGEMM_LONG;
    *width = (int32_t)((c + parts - 1) / parts);
    return GP_SPGEMM_ITEM_LONG;
  }
  if (parts > products / 32768) parts = products / 32768;
  if (parts < (c + most - 1) / most) parts = (c + most - 1) / most;
  *width = (int32_t)((c + parts - 1) / parts);
  if (c <= 64 && products <= GP_SPGEMM_SOME) return GP_SPGEMM_ITEM_64;
  return *width <= 256 ? GP_SPGEMM_ITEM_256 : *width <= 512 ? GP_SPGEMM_ITEM_512 : GP_SPGEMM_ITEM_1024;
}

struct GpSpgemmSort {
  int32_t        m, n;
  int            counting; /* 1: the numbers of nonzeros are not known yet, and followers are in no class */
  const int64_t *products; /* [m] */
  const int32_t *rowptr;   /* counting 0: row starts of C; NULL: `count` */
  const int32_t *count;    /* counting 0: number of nonzeros of each row */
  const uint8_t *follows;

  /* Returns the class of row i. map: size of its map in bytes, 0 for none; leads: the row is not a follower */
  __device__ int Load(int64_t i, int64_t *p, int32_t *c, int64_t *map, bool *leads) const
  {
    int32_t rows;

    *map   = 0;
    *p     = i < m ? products[i] : 0;
    *c     = i >= m || counting ? 0 : rowptr ? rowptr[i + 1] - rowptr[i] : count[i];
    *leads = i < m && !(follows && follows[i]);
    if (i >= m || (counting && !*leads)) return -1;
    if (counting) return GpSpgemmGetCountClass(*p, n);
    (void)GpSpgemmGetGroup(follows, (int32_t)i, m, &rows);
    if (*c) *map = GpSpgemmGetMapBytes(*p, *c, rows);
    return GpSpgemmGetClass(*p, *c);
  }
};

__device__ static unsigned long long GpSpgemmAddOverWarp(unsigned long long v)
{
#pragma unroll
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

/* Counts the rows of each class and the items, and adds up the products or the nonzeros, and the sizes of the maps. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmClassKernel(GpSpgemmSort S, GpSpgemmCounts *counts)
{
  const int64_t       i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  __shared__ unsigned number[GP_SPGEMM_SORTS];
  int64_t             p, map;
  int32_t             c;
  bool                leads;

  if (threadIdx.x < GP_SPGEMM_SORTS) number[threadIdx.x] = 0;
  __syncthreads();
  const int                kind  = S.Load(i, &p, &c, &map, &leads);
  const unsigned long long total = GpSpgemmAddOverWarp((unsigned long long)(S.counting ? p : c)), placed = GpSpgemmAddOverWarp(map ? (unsigned long long)p : 0), mapped = GpSpgemmAddOverWarp(leads ? (unsigned long long)map : 0);

  if (kind >= 0) atomicAdd(&number[kind], 1u);
  if (kind >= 0 && !S.counting && !map) {
    int32_t   width;
    const int list = GP_SPGEMM_CLASSES + GpSpgemmGetItems(p, c, S.n, &width);

    atomicAdd(&number[list], (unsigned)((c + width - 1) / width));
  }
  if (threadIdx.x % 32 == 0) {
    if (total) atomicAdd(&counts->total, total);
    if (placed) atomicAdd(&counts->placed, placed);
    if (mapped) atomicAdd(&counts->mapped, mapped);
  }
  __syncthreads();
  if (threadIdx.x < GP_SPGEMM_SORTS && number[threadIdx.x]) atomicAdd(&counts->number[threadIdx.x], number[threadIdx.x]);
}

struct GpSpgemmLists {
  int32_t       first[GP_SPGEMM_SORTS]; /* position of the first row of each class in row[], and of the first item of each list in item[] */
  int32_t      *row;                    /* NULL: no list */
  GpSpgemmItem *item;                   /* NULL: no items */
  int64_t      *mapped;                 /* [m+1] receives the size of the map of each row, 0 for followers; NULL: there is no map */
};

/* Writes the lists. counts->taken counts what earlier blocks wrote; the order of the rows in a list does not change a result. */
__global__ static void __launch_bounds__(BLOCK) GpSpgemmListKernel(GpSpgemmSort S, GpSpgemmLists L, GpSpgemmCounts *counts)
{
  const int64_t       i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  __shared__ unsigned number[GP_SPGEMM_SORTS], base[GP_SPGEMM_SORTS];
  int64_t             p, map;
  int32_t             c, width = 1, items = 0;
  unsigned            at = 0, itemat = 0;
  int                 list = 0;
  bool                leads;

  if (threadIdx.x < GP_SPGEMM_SORTS) number[threadIdx.x] = 0;
  __syncthreads();
  const int kind = S.Load(i, &p, &c, &map, &leads);

  if (kind >= 0) at = atomicAdd(&number[kind], 1u);
  if (kind >= 0 && L.item && !map) {
    list   = GP_SPGEMM_CLASSES + GpSpgemmGetItems(p, c, S.n, &width);
    items  = (c + width - 1) / width;
    itemat = atomicAdd(&number[list], (unsigned)items);
  }
  __syncthreads();
  if (threadIdx.x < GP_SPGEMM_SORTS && number[threadIdx.x]) base[threadIdx.x] = atomicAdd(&counts->taken[threadIdx.x], number[threadIdx.x]);
  __syncthreads();
  if (kind >= 0 && L.row) L.row[L.first[kind] + (int64_t)base[kind] + at] = (int32_t)i;
  for (int32_t k = 0; k < items; k++) {
    const int32_t begin = k * width;

    L.item[L.first[list] + (int64_t)base[list] + itemat + k] = GpSpgemmItem{(int32_t)i, begin, c - begin < width ? c : begin + width};
  }
  if (L.mapped && i < S.m) L.mapped[i] = leads ? map : 0;
}

/* --- calls ---------------------------------------------------------------------------------------------------------------------------------- */

GpErr GpSpgemmCountProducts_CUDA(const GpCsr *A, const GpCsr *B, int64_t *products, GpSpgemmCounts *counts)
{
  GpErr err = GP_SUCCESS;

  if (B->m) err = GpLaunch(A->dev, "check of a sparse product", GpSpgemmCheckKernel, GpGrid{GpBlocks((int64_t)B->m * GROUP, SMALL), SMALL}, B->m, B->n, B->rowptr, B->col, counts);
  if (!err && A->m) err = GpLaunch(A->dev, "number of products", GpSpgemmProductsKernel, GpGrid{GpBlocks((int64_t)A->m * GROUP, SMALL), SMALL}, A->m, A->rowptr, A->col, B->rowptr, products);
  return err;
}

GpErr GpSpgemmCountClasses_CUDA(GpSpgemm P, const GpSpgemmWork *W, int counting)
{
  const GpSpgemmSort S = {P->m, P->n, counting, W->products, NULL, W->count, W->follows};

  return P->m ? GpLaunch(P->dev, "classes of rows", GpSpgemmClassKernel, GpGrid{GpBlocks(P->m, BLOCK), BLOCK}, S, W->counts) : GP_SUCCESS;
}

GpErr GpSpgemmWriteLists_CUDA(GpSpgemm P, const GpSpgemmWork *W, const int32_t *rowptr, const int32_t number[GP_SPGEMM_CLASSES], int32_t *row)
{
  const GpSpgemmSort S = {P->m, P->n, !rowptr, W->products, rowptr, NULL, W->follows};
  GpSpgemmLists      L = {{0}, row, rowptr ? P->item : NULL, rowptr ? P->mapstart : NULL};
  GpErr              err;

  for (int k = 1; k < GP_SPGEMM_CLASSES; k++) L.first[k] = L.first[k - 1] + number[k - 1];
  for (int w = 1; w < GP_SPGEMM_ITEMS; w++) L.first[GP_SPGEMM_CLASSES + w] = L.first[GP_SPGEMM_CLASSES + w - 1] + P->items[w - 1];
  if (!P->m) return GP_SUCCESS;
  err = GpDevZero(P->dev, W->counts->taken, sizeof(W->counts->taken)); /* the address of a member; the host does not read it */
  return err ? err : GpLaunch(P->dev, "lists of rows", GpSpgemmListKernel, GpGrid{GpBlocks(P->m, BLOCK), BLOCK}, S, L, W->counts);
}

/* Exclusive prefix sum over n + 1 numbers, of which the last is ignored. */
GpErr GpSpgemmScan_CUDA(GpDev dev, int64_t n, int64_t *inout)
{
  cudaStream_t stream = (cudaStream_t)GpDevStream(dev);
  size_t       bytes  = 0;
  void        *temp   = NULL;
  GpErr        err    = GpCheckCuda(dev, cub::DeviceScan::ExclusiveSum(NULL, bytes, inout, inout, n + 1, stream), "sizing the scan of a sparse product");

  if (!err) err = GpDevBorrow(dev, bytes, &temp);
  if (err) return err;
  err = GpCheckCuda(dev, cub::DeviceScan::ExclusiveSum(temp, bytes, inout, inout, n + 1, stream), "scan of a sparse product");
  GpDevMarkMatrixWrite(dev);
  GpDevReturn(dev, &temp, bytes);
  return err;
}
