/* The scan behind the features: one walk over the rows, one over the nonzeros in tiles.  Both twins count the same integers.

   Sets (values, patterns, diagonals) are given up as soon as they pass their limit: then the matrix is not of the kind that they
   tell, and a matrix of the kind finds its few keys in the cache. */
#include "mat/impls/gpucsr/selector/gpselscan.h"

#if !defined(__CUDACC__)
  #include <string.h>

static const int64_t Limits[GP_SETS] = {GP_SEL_VALUES, GP_SEL_PATTERNS, GP_SEL_PATTERNS};

static void Insert(GpSelWork *W, int which, int64_t *count, uint64_t key)
{
  uint64_t *set = W->set[which];
  uint64_t  slot;

  if (*count > Limits[which]) return;
  for (slot = key % GP_SET_SLOTS; set[slot] && set[slot] != key; slot = (slot + 1) % GP_SET_SLOTS) {}
  if (set[slot]) return;
  set[slot] = key;
  (*count)++;
}

/* a row relative to its diagonal, without and with its values */
static void CountPattern(const GpCsr *A, int32_t i, GpSelWork *W)
{
  GpSelCounts  *C     = W->counts;
  const int32_t begin = A->rowptr[i], end = A->rowptr[i + 1];
  uint64_t      shape = 0, whole = 0;

  if (end - begin > GP_SEL_ROW) {
    C->patterns = C->valuepatterns = GP_SEL_PATTERNS + 1;
    return;
  }
  if (C->patterns > GP_SEL_PATTERNS && C->valuepatterns > GP_SEL_PATTERNS) return;
  for (int32_t k = begin; k < end; k++) {
    shape = GpSelMix(shape + (uint32_t)(A->col[k] - i) + 1);
    whole = GpSelMix(whole + shape + GpSelBits(A->val, A->prec, k));
  }
  Insert(W, GP_SET_PATTERNS, &C->patterns, GpSelKey(shape));
  Insert(W, GP_SET_VALUEPATTERNS, &C->valuepatterns, GpSelKey(whole));
}

/* of at most GP_SEL_TILE, by a table of twice (or more) as many slots */
static int64_t Distinct(int32_t n, const int32_t sector[])
{
  const int32_t slots = n > 32 ? 2 * GP_SEL_TILE : 64;
  int32_t       table[2 * GP_SEL_TILE];
  int64_t       distinct = 0;

  memset(table, -1, (size_t)slots * sizeof(int32_t));
  for (int32_t i = 0; i < n; i++) {
    int32_t slot = sector[i] % slots;

    while (table[slot] >= 0 && table[slot] != sector[i]) slot = (slot + 1) % slots;
    distinct += table[slot] < 0;
    table[slot] = sector[i];
  }
  return distinct;
}

static void CountSliceSectors(const GpCsr *A, int32_t first, int32_t last, int32_t longest, GpSelCounts *C)
{
  for (int32_t step = 0; step < longest && step < GP_SEL_SLICE; step++) {
    int32_t sector[GP_SEL_SLICE], n = 0;

    for (int32_t i = first; i < last; i++)
      if (A->rowptr[i] + step < A->rowptr[i + 1]) sector[n++] = A->col[A->rowptr[i] + step] / 4;
    C->steps++;
    C->slicesectors += Distinct(n, sector);
  }
}

/* of the rows of the group that begins at i */
static int32_t LongestOf(const GpCsr *A, int32_t i, int32_t last)
{
  int32_t longest = 0;

  for (int32_t r = i; r < last && r < i + GP_SEL_GROUP; r++) longest = A->rowptr[r + 1] - A->rowptr[r] > longest ? A->rowptr[r + 1] - A->rowptr[r] : longest;
  return longest;
}

static void ScanRows(const GpCsr *A, GpSelWork *W)
{
  GpSelCounts  *C      = W->counts;
  const int64_t slices = ((int64_t)A->m + GP_SEL_SLICE - 1) / GP_SEL_SLICE, stride = GpSelStride(slices);

  for (int64_t s = 0; s < slices; s++) {
    const int32_t first = (int32_t)(s * GP_SEL_SLICE), last = A->m - first > GP_SEL_SLICE ? first + GP_SEL_SLICE : A->m;
    int32_t       longest = 0, low = INT32_MAX, high = 0;

    for (int32_t i = first; i < last; i++) {
      const int32_t begin = A->rowptr[i], length = A->rowptr[i + 1] - begin;

      CountPattern(A, i, W);
      if (!length) continue;
      C->rows[GpSelBin(length)]++;
      C->entries[GpSelBin(length)] += length;
      C->squares += (int64_t)length * length;
      if (A->col[begin + length - 1] - A->col[begin] < 65536) C->rowspan16 += length;
      if (length > longest) longest = length;
      if (A->col[begin] < low) low = A->col[begin];
      if (A->col[begin + length - 1] > high) high = A->col[begin + length - 1];
    }
    for (int32_t i = first; i < last; i += GP_SEL_GROUP) C->paddedgroups += (int64_t)LongestOf(A, i, last) * GP_SEL_GROUP;
    if (longest > C->longest) C->longest = longest;
    C->padded += (int64_t)longest * GP_SEL_SLICE;
    if (longest && high - low < 65536) C->slicespan16 += A->rowptr[last] - A->rowptr[first];
    if (s % stride == 0) CountSliceSectors(A, first, last, longest, C);
  }
}

/* nonzeros begin..end-1 of a sampled tile, the first of them in row i */
static void LookClosely(const GpCsr *A, int32_t i, int32_t begin, int32_t end, GpSelWork *W)
{
  GpSelCounts *C = W->counts;
  int32_t      sector[GP_SEL_TILE];

  for (int32_t k = begin; k < end; k++) {
    const int32_t j = A->col[k];

    while (k >= A->rowptr[i + 1]) i++;
    sector[k - begin] = j / 4;
    C->hubs += GpSelHubs(W->hits[j] + 1) - GpSelHubs(W->hits[j]);
    W->hits[j]++;
    if (k % GP_SEL_SPARSE) continue;
    C->lookups++;
    for (int b = 0; b < GP_SEL_BLOCKS; b++) C->blocks[b] += GpSelFirstOfBlock(A->rowptr, A->col, i, k, GpSelBlockSizes[b]);
  }
  for (int32_t k = begin; k < end; k += 32) {
    C->groups++;
    C->sectors += Distinct(end - k < 32 ? end - k : 32, sector + k - begin);
  }
  C->sampled += end - begin;
  C->tilesectors += Distinct(end - begin, sector);
}

static void ScanTiles(const GpCsr *A, GpSelWork *W)
{
  GpSelCounts  *C     = W->counts;
  const int64_t tiles = ((int64_t)A->nnz + GP_SEL_TILE - 1) / GP_SEL_TILE, stride = GpSelStride(tiles);
  int32_t       i = 0;

  for (int64_t t = 0; t < tiles; t++) {
    const int32_t begin = (int32_t)(t * GP_SEL_TILE), end = A->nnz - begin > GP_SEL_TILE ? begin + GP_SEL_TILE : A->nnz;

    while (A->rowptr[i + 1] <= begin) i++;
    if (t % stride == 0) LookClosely(A, i, begin, end, W);
    for (int32_t k = begin; k < end; k++) {
      const int32_t j = A->col[k];

      while (k >= A->rowptr[i + 1]) i++;
      C->near += GpSelIsNear(i, j, A->m, A->n);
      if (k > A->rowptr[i]) {
        const int64_t delta = (int64_t)j - A->col[k - 1];

        C->unsorted += delta < 0;
        C->delta8 += delta >= 0 && delta < 256;
        C->uneven += GpSelBits(A->val, A->prec, k) != GpSelBits(A->val, A->prec, k - 1);
      }
      Insert(W, GP_SET_VALUES, &C->values, GpSelKey(GpSelMix(GpSelBits(A->val, A->prec, k))));
      if (C->diagonals <= GP_SEL_DIAGONALS) {
        const int64_t  d   = (int64_t)j - i + A->m - 1;
        const uint32_t bit = (uint32_t)1 << (d % 32);

        C->diagonals += !(W->diagonal[d / 32] & bit);
        W->diagonal[d / 32] |= bit;
      }
    }
  }
}

GpErr GpSelScan_Host(const GpCsr *A, GpSelWork *W)
{
  ScanRows(A, W);
  ScanTiles(A, W);
  return GP_SUCCESS;
}

#else
  #include <cub/block/block_scan.cuh>

typedef unsigned long long Count;

static constexpr int      BLOCK = 256, ITEMS = GP_SEL_TILE / BLOCK, WORDS = sizeof(GpSelCounts) / sizeof(Count);
static constexpr unsigned ALL = 0xffffffffu;

struct Larger {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

/* a block adds up in shared memory, and once to the device's counts */
struct Tally {
  Count word[WORDS];

  __device__ GpSelCounts *counts() { return reinterpret_cast<GpSelCounts *>(word); }
  __device__ void         clear()
  {
    for (int w = threadIdx.x; w < WORDS; w += BLOCK) word[w] = 0;
    __syncthreads();
  }
  __device__ void flush(GpSelCounts *to)
  {
    __syncthreads();
    for (int w = threadIdx.x; w < WORDS; w += BLOCK) {
      Count *place = reinterpret_cast<Count *>(to) + w;

      if (!word[w]) continue;
      if (place == reinterpret_cast<Count *>(&to->longest)) atomicMax(place, word[w]);
      else atomicAdd(place, word[w]);
    }
  }
};

__device__ static void Add(int64_t *to, Count what)
{
  atomicAdd(reinterpret_cast<Count *>(to), what);
}

/* of all lanes, by lane 0 */
__device__ static void AddWarp(int64_t *to, int64_t what)
{
  #pragma unroll
  for (int half = 16; half > 0; half /= 2) what += __shfl_down_sync(ALL, what, half);
  if (threadIdx.x % 32 == 0 && what) Add(to, (Count)what);
}

__device__ static bool Full(const int64_t *count, int64_t limit)
{
  return *(const volatile int64_t *)count > limit;
}

/* A plain load may see an older slot in the L1 cache: then the atomic tells the truth.  A new key asks first whether the set is full: else the blocks
   of the first wave, all of which found it empty, would queue for one counter with every nonzero of a matrix of many values. */
__device__ static void Insert(uint64_t *set, int64_t *count, int64_t limit, uint64_t key)
{
  for (uint64_t slot = key % GP_SET_SLOTS, tries = 1;; slot = (slot + 1) % GP_SET_SLOTS, tries++) {
    uint64_t seen = set[slot];

    if (!seen && Full(count, limit)) return;
    if (!seen) seen = atomicCAS(reinterpret_cast<Count *>(set + slot), (Count)0, (Count)key);
    if (!seen) Add(count, 1);
    if (!seen || seen == key || (tries % 8 == 0 && Full(count, limit))) return;
  }
}

__device__ static int Sectors(unsigned lanes, int32_t sector) /* distinct ones of these lanes; to be called by them all */
{
  return __popc(__ballot_sync(lanes, __ffs(__match_any_sync(lanes, sector)) - 1 == (int)(threadIdx.x % 32)));
}

__device__ static void CountPattern(const GpCsr &A, int32_t i, int32_t begin, int32_t length, const GpSelWork &W, bool shapes, bool wholes)
{
  uint64_t shape = 0, whole = 0;

  for (int32_t k = begin; k < begin + length; k++) {
    shape = GpSelMix(shape + (uint32_t)(A.col[k] - i) + 1);
    if (wholes) whole = GpSelMix(whole + shape + GpSelBits(A.val, A.prec, k));
  }
  if (shapes) Insert(W.set[GP_SET_PATTERNS], &W.counts->patterns, GP_SEL_PATTERNS, GpSelKey(shape));
  if (wholes) Insert(W.set[GP_SET_VALUEPATTERNS], &W.counts->valuepatterns, GP_SEL_PATTERNS, GpSelKey(whole));
}

/* rows by the bins of their lengths: neighbours mostly share one */
__device__ static void CountBins(GpSelCounts *C, int32_t length)
{
  const int bin = GpSelBin(length);

  for (unsigned todo = __ballot_sync(ALL, length > 0); todo;) {
    const int      b     = __shfl_sync(ALL, bin, __ffs(todo) - 1);
    const bool     mine  = length > 0 && bin == b;
    const unsigned peers = __ballot_sync(ALL, mine), sum = __reduce_add_sync(ALL, mine ? (unsigned)length : 0u);

    if (threadIdx.x % 32 == 0) {
      Add(&C->rows[b], __popc(peers));
      Add(&C->entries[b], sum);
    }
    todo &= ~peers;
  }
}

/* a lane a row: every lane of a group returns its longest, which is its share of the padded entries */
__device__ static int32_t LongestOfGroup(int32_t length)
{
  #pragma unroll
  for (int half = GP_SEL_GROUP / 2; half > 0; half /= 2) length = max(length, __shfl_xor_sync(ALL, length, half));
  return length;
}

/* a warp takes a slice */
__global__ static void __launch_bounds__(BLOCK) ScanRows(GpCsr A, GpSelWork W)
{
  __shared__ Tally tally;
  GpSelCounts     *C      = tally.counts();
  const int        lane   = threadIdx.x % 32;
  const int64_t    slices = ((int64_t)A.m + GP_SEL_SLICE - 1) / GP_SEL_SLICE, stride = GpSelStride(slices);
  int64_t          squares = 0, rowspan16 = 0, paddedgroups = 0;

  tally.clear();
  for (int64_t s = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32; s < slices; s += (int64_t)gridDim.x * BLOCK / 32) {
    const int64_t i     = s * GP_SEL_SLICE + lane;
    const int32_t begin = i < A.m ? A.rowptr[i] : 0, length = i < A.m ? A.rowptr[i + 1] - begin : 0;
    const int32_t first = length ? A.col[begin] : INT32_MAX, last = length ? A.col[begin + length - 1] : 0;
    const int32_t longest = __reduce_max_sync(ALL, length), entries = (int32_t)__reduce_add_sync(ALL, (unsigned)length);
    const int32_t low = __reduce_min_sync(ALL, first), high = __reduce_max_sync(ALL, last);
    const bool    shapes = !Full(&W.counts->patterns, GP_SEL_PATTERNS), wholes = !Full(&W.counts->valuepatterns, GP_SEL_PATTERNS);

    if (longest > GP_SEL_ROW) {
      if (lane == 0 && shapes) Add(&W.counts->patterns, GP_SEL_PATTERNS + 1);
      if (lane == 0 && wholes) Add(&W.counts->valuepatterns, GP_SEL_PATTERNS + 1);
    } else if (i < A.m && (shapes || wholes)) CountPattern(A, (int32_t)i, begin, length, W, shapes, wholes);
    CountBins(C, length);
    paddedgroups += LongestOfGroup(length);
    squares += (int64_t)length * length;
    if (length && last - first < 65536) rowspan16 += length;
    if (lane == 0) {
      atomicMax(reinterpret_cast<Count *>(&C->longest), (Count)longest);
      Add(&C->padded, (Count)longest * GP_SEL_SLICE);
      if (longest && high - low < 65536) Add(&C->slicespan16, (Count)entries);
    }
    if (s % stride) continue;
    for (int32_t step = 0; step < longest && step < GP_SEL_SLICE; step++) {
      const unsigned lanes = __ballot_sync(ALL, step < length);
      int            found = 0;

      if (step < length) found = Sectors(lanes, A.col[begin + step] / 4);
      found = __reduce_max_sync(ALL, found);
      if (lane == 0) {
        Add(&C->steps, 1);
        Add(&C->slicesectors, (Count)found);
      }
    }
  }
  AddWarp(&C->squares, squares);
  AddWarp(&C->rowspan16, rowspan16);
  AddWarp(&C->paddedgroups, paddedgroups);
  tally.flush(W.counts);
}

/* the row of every nonzero of a tile: rows mark where they start, the last mark before a place is its row */
__device__ static void FindRows(const GpCsr &A, int32_t begin, int32_t end, int32_t row[GP_SEL_TILE])
{
  typedef cub::BlockScan<int32_t, BLOCK> Scan;
  __shared__ typename Scan::TempStorage  temp;
  int32_t                                item[ITEMS], lo = 0, hi = A.m;

  while (hi - lo > 1) { /* the last row that starts at or before the tile's begin, and so has it */
    const int32_t mid = lo + (hi - lo) / 2;

    if (A.rowptr[mid] <= begin) lo = mid;
    else hi = mid;
  }
  for (int k = threadIdx.x; k < GP_SEL_TILE; k += BLOCK) row[k] = k ? 0 : lo;
  __syncthreads();
  for (int64_t i = (int64_t)lo + 1 + threadIdx.x; i < A.m; i += BLOCK) {
    const int32_t start = A.rowptr[i];

    if (start >= end) break;
    if (A.rowptr[i + 1] > start) row[start - begin] = (int32_t)i; /* of those that start there one has nonzeros */
  }
  __syncthreads();
  for (int k = 0; k < ITEMS; k++) item[k] = row[threadIdx.x * ITEMS + k];
  Scan(temp).InclusiveScan(item, item, Larger());
  for (int k = 0; k < ITEMS; k++) row[threadIdx.x * ITEMS + k] = item[k];
  __syncthreads();
}

__device__ static void LookClosely(const GpCsr &A, int32_t begin, int32_t end, const int32_t *row, int32_t *table, const GpSelWork &W, GpSelCounts *C)
{
  constexpr int SLOTS                = 2 * GP_SEL_TILE;
  const int     sizes[GP_SEL_BLOCKS] = {2, 3, 4, 6}; /* GpSelBlockSizes */
  int64_t       groups = 0, sectors = 0, hubs = 0, tilesectors = 0, lookups = 0, blocks[GP_SEL_BLOCKS] = {0};

  for (int k = threadIdx.x; k < SLOTS; k += BLOCK) table[k] = -1;
  __syncthreads();
  for (int k = begin + (int)threadIdx.x; k < begin + GP_SEL_TILE; k += BLOCK) {
    const unsigned lanes = __ballot_sync(ALL, k < end);

    if (k >= end) continue;
    const int32_t  j = A.col[k], sector = j / 4;
    const unsigned peers = __match_any_sync(lanes, j);
    const int      found = Sectors(lanes, sector);

    if (threadIdx.x % 32 == 0) {
      groups++;
      sectors += found;
    }
    if (__ffs(peers) - 1 == (int)(threadIdx.x % 32)) {
      const int64_t before = atomicAdd(W.hits + j, __popc(peers));

      hubs += GpSelHubs(before + __popc(peers)) - GpSelHubs(before);
    }
    for (int slot = sector % SLOTS;; slot = (slot + 1) % SLOTS) {
      const int32_t seen = atomicCAS(table + slot, -1, sector);

      tilesectors += seen == -1;
      if (seen == -1 || seen == sector) break;
    }
  }
  /* bisections, each some loads that wait for one another: side by side in all lanes, not in a few of every turn above */
  for (int64_t k = ((int64_t)(begin + GP_SEL_SPARSE - 1) / GP_SEL_SPARSE + threadIdx.x) * GP_SEL_SPARSE; k < end; k += BLOCK * GP_SEL_SPARSE) {
    lookups++;
  #pragma unroll
    for (int b = 0; b < GP_SEL_BLOCKS; b++) blocks[b] += GpSelFirstOfBlock(A.rowptr, A.col, row[k - begin], (int32_t)k, sizes[b]);
  }
  AddWarp(&C->groups, groups);
  AddWarp(&C->sectors, sectors);
  AddWarp(&C->hubs, hubs);
  AddWarp(&C->tilesectors, tilesectors);
  AddWarp(&C->lookups, lookups);
  for (int b = 0; b < GP_SEL_BLOCKS; b++) AddWarp(&C->blocks[b], blocks[b]);
  if (threadIdx.x == 0) Add(&C->sampled, (Count)(end - begin));
  __syncthreads();
}

/* a block takes tiles */
__global__ static void __launch_bounds__(BLOCK) ScanTiles(GpCsr A, GpSelWork W)
{
  __shared__ Tally   tally;
  __shared__ int32_t row[GP_SEL_TILE], table[2 * GP_SEL_TILE];
  __shared__ bool    values, diagonals; /* are they still counted? */
  GpSelCounts       *C     = tally.counts();
  const int64_t      tiles = ((int64_t)A.nnz + GP_SEL_TILE - 1) / GP_SEL_TILE, stride = GpSelStride(tiles);
  int64_t            near = 0, unsorted = 0, delta8 = 0, uneven = 0;

  tally.clear();
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int32_t begin = (int32_t)(t * GP_SEL_TILE), end = A.nnz - begin > GP_SEL_TILE ? begin + GP_SEL_TILE : A.nnz;

    if (threadIdx.x == 0) {
      values    = !Full(&W.counts->values, GP_SEL_VALUES);
      diagonals = !Full(&W.counts->diagonals, GP_SEL_DIAGONALS);
    }
    FindRows(A, begin, end, row);
    if (t % stride == 0) LookClosely(A, begin, end, row, table, W, C);
    for (int k = begin + (int)threadIdx.x; k < end; k += BLOCK) {
      const int32_t  i = row[k - begin], j = A.col[k];
      const uint64_t bits = GpSelBits(A.val, A.prec, k);

      near += GpSelIsNear(i, j, A.m, A.n);
      if (k > A.rowptr[i]) {
        const int64_t delta = (int64_t)j - A.col[k - 1];

        unsorted += delta < 0;
        delta8 += delta >= 0 && delta < 256;
        uneven += bits != GpSelBits(A.val, A.prec, k - 1);
      }
      if (values) Insert(W.set[GP_SET_VALUES], &W.counts->values, GP_SEL_VALUES, GpSelKey(GpSelMix(bits)));
      if (diagonals) {
        const int64_t  d   = (int64_t)j - i + A.m - 1;
        const uint32_t bit = (uint32_t)1 << (d % 32);

        if (!(W.diagonal[d / 32] & bit) && !Full(&W.counts->diagonals, GP_SEL_DIAGONALS) && !(atomicOr(W.diagonal + d / 32, bit) & bit)) Add(&W.counts->diagonals, 1);
      }
    }
    __syncthreads();
  }
  AddWarp(&C->near, near);
  AddWarp(&C->unsorted, unsorted);
  AddWarp(&C->delta8, delta8);
  AddWarp(&C->uneven, uneven);
  tally.flush(W.counts);
}

static int64_t CommonDivisor(int64_t a, int64_t b)
{
  return b ? CommonDivisor(b, a % b) : a;
}

/* Blocks, at most so many, that take every so many-th of the tiles: if the distance of the tiles that are looked at closely, which
   is most of the work, shared a divisor with that, few blocks would get them all. */
static unsigned Grid(int64_t tiles, int64_t most)
{
  if (tiles <= most) return (unsigned)tiles;
  while (CommonDivisor(most, GpSelStride(tiles)) > 1) most--;
  return (unsigned)most;
}

extern "C" GpErr GpSelScan_CUDA(const GpCsr *A, GpSelWork *W)
{
  cudaStream_t  stream = (cudaStream_t)A->dev->stream;
  const int64_t most = 8 * (int64_t)A->dev->compute_units, slices = ((int64_t)A->m + BLOCK - 1) / BLOCK, tiles = ((int64_t)A->nnz + GP_SEL_TILE - 1) / GP_SEL_TILE;

  ScanRows<<<(unsigned)(slices < most ? slices : most), BLOCK, 0, stream>>>(*A, *W);
  ScanTiles<<<Grid(tiles, most), BLOCK, 0, stream>>>(*A, *W);
  return GpDevCheckLaunch(A->dev, "features");
}
#endif
