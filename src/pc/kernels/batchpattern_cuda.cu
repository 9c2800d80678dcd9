/* Patterns of the rows of powers of a matrix. A warp visits, from the row, the columns that are reached by one entry, two entries, and so on. */
#include "pc/kernels/gpbatchkernel.h"

enum GpReachTask {
  GP_REACH_COUNT,  /* counts the entries of the pattern */
  GP_REACH_FILL,   /* writes them */
  GP_REACH_COLUMNS /* counts the columns of the rows that are in a given pattern */
};

struct GpReachArgs {
  GpBatchMatrix  A;
  int            power, lower, bits; /* a set has 2^bits slots and 2^(bits - 1) members */
  double         threshold;
  GpBatchPattern P;
  int32_t       *count;
  GpBatchStatus *status;
};

/* Inserts the columns of the given rows of A, until there are too many. Eight lanes read a row. */
__device__ static void GpReachExpand(const GpReachArgs &a, const GpBatchSet &set, const int32_t *rows, int32_t begin, int32_t end)
{
  const int lane = threadIdx.x % GP_BATCH_WARP, group = lane / 8;

  for (int32_t at = begin; at < end; at += 4) {
    const int32_t r = at + group < end ? rows[at + group] : -1;

    for (int32_t k = r < 0 ? 0 : a.A.rowptr[r] + lane % 8; r >= 0 && k < a.A.rowptr[r + 1]; k += 8) {
      const int32_t c = a.A.col[k];

      if (a.threshold > 0 && fabs(GpBatchValue(a.A, k)) <= a.threshold * a.A.root[r] * a.A.root[c]) continue;
      set.Insert(c);
    }
    __syncwarp();
    if (*set.n > set.most) return;
    __syncwarp(); /* every lane has read the size before it changes */
  }
}

/* Visits the columns that the row reaches. */
__device__ static void GpReachVisit(const GpReachArgs &a, const GpBatchSet &set, int32_t row)
{
  int32_t begin = 0;

  if (threadIdx.x % GP_BATCH_WARP == 0) set.Insert(a.A.first + row);
  __syncwarp();
  for (int step = 0; step < a.power; step++) {
    const int32_t end = *set.n;

    __syncwarp(); /* every lane has read the size before it changes */
    if (begin >= end || end > set.most) break;
    GpReachExpand(a, set, set.list, begin, end);
    begin = end;
  }
}

/* Writes the members in ascending order. The position of a member is the number of smaller members. With `lower`, members above the diagonal are left out; all of them are larger. */
__device__ static void GpReachWrite(const GpReachArgs &a, const GpBatchSet &set, int32_t row, int32_t n)
{
  for (int32_t p = threadIdx.x % GP_BATCH_WARP; p < n; p += GP_BATCH_WARP) {
    const int32_t c    = set.list[p];
    int32_t       rank = 0;

    if (a.lower && c > a.A.first + row) continue;
    for (int32_t q = 0; q < n; q++) rank += set.list[q] < c;
    a.P.col[a.P.rowptr[row] + rank] = c;
  }
}

/* Counts the members that the pattern keeps. */
__device__ static int32_t GpReachCount(const GpReachArgs &a, const GpBatchSet &set, int32_t row, int32_t n)
{
  const int lane = threadIdx.x % GP_BATCH_WARP;
  int32_t   kept = 0;

  for (int32_t p = 0; p < n; p += GP_BATCH_WARP) kept += __popc(__ballot_sync(GP_BATCH_ALL, p + lane < n && (!a.lower || set.list[p + lane] <= a.A.first + row)));
  return kept;
}

template <GpReachTask TASK>
__global__ static void GpReachKernel(GpReachArgs a)
{
  extern __shared__ int32_t     memory[];
  __shared__ unsigned long long nnz;
  __shared__ uint32_t           longest;
  const int                     lane = threadIdx.x % GP_BATCH_WARP, warp = threadIdx.x / GP_BATCH_WARP, slots = 1 << a.bits;
  int32_t                      *mine = memory + warp * (slots + slots / 2 + 1);
  const GpBatchSet              set  = {mine, mine + slots, mine + slots + slots / 2, slots / 2, a.bits};
  const int64_t                 i    = (int64_t)blockIdx.x * (blockDim.x / GP_BATCH_WARP) + warp;
  int32_t                       n    = 0;

  if (threadIdx.x == 0) nnz = longest = 0;
  __syncthreads();
  if (i < a.A.rows) {
    set.Clear(lane, GP_BATCH_WARP);
    __syncwarp();
    if (TASK == GP_REACH_COLUMNS) GpReachExpand(a, set, a.P.col, a.P.rowptr[i], a.P.rowptr[i + 1]);
    else GpReachVisit(a, set, (int32_t)i);
    __syncwarp();
    n = *set.n;
    if (n > set.most) {
      if (lane == 0 && TASK != GP_REACH_FILL) atomicMax(&a.status->overflows, 1u);
      n = 0;
    }
    if (TASK == GP_REACH_FILL) GpReachWrite(a, set, (int32_t)i, n);
    if (TASK == GP_REACH_COUNT) n = GpReachCount(a, set, (int32_t)i, n);
    if (lane == 0 && TASK != GP_REACH_FILL) {
      a.count[i] = n;
      atomicAdd(&nnz, (unsigned long long)n);
      atomicMax(&longest, (uint32_t)n);
    }
  }
  if (TASK == GP_REACH_FILL) return;
  __syncthreads();
  if (threadIdx.x) return;
  atomicAdd(&a.status->nnz, nnz);
  atomicMax(&a.status->longest, longest);
}

template <GpReachTask TASK>
static GpErr GpReachLaunch(GpReachArgs a, int reach)
{
  const unsigned warps  = reach <= 128 ? 8 : reach <= 512 ? 4 : 1;
  size_t         shared = 0;

  if (!a.A.rows) return GP_SUCCESS;
  for (a.bits = 1; 1 << a.bits < 2 * reach;) a.bits++;
  shared = warps * (((size_t)3 << (a.bits - 1)) + 1) * sizeof(int32_t);
  return GpLaunch(a.A.dev, "finding the pattern of a power of a matrix", GpReachKernel<TASK>, GpGrid{GpBlocks(a.A.rows, warps), warps * GP_BATCH_WARP, shared}, a);
}

extern "C" GpErr GpBatchCountPattern_CUDA(const GpBatchMatrix *A, int power, double threshold, int lower, int reach, int32_t *count, GpBatchStatus *status)
{
  GpReachArgs a = {*A, power, lower, 0, threshold, {0, 0, nullptr, nullptr}, count, status};

  return GpReachLaunch<GP_REACH_COUNT>(a, reach);
}

extern "C" GpErr GpBatchFillPattern_CUDA(const GpBatchMatrix *A, int power, double threshold, int lower, int reach, const GpBatchPattern *P)
{
  GpReachArgs a = {*A, power, lower, 0, threshold, *P, nullptr, nullptr};

  return GpReachLaunch<GP_REACH_FILL>(a, reach);
}

extern "C" GpErr GpBatchCountColumns_CUDA(const GpBatchMatrix *A, const GpBatchPattern *P, int reach, int32_t *columns, GpBatchStatus *status)
{
  GpReachArgs a = {*A, 0, 0, 0, 0, *P, columns, status};

  return GpReachLaunch<GP_REACH_COLUMNS>(a, reach);
}
