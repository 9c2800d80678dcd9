/* The scan that counts the features, CUDA implementation: the integers of gpselscan.c in one launch. Its blocks are divided among five independent
   tasks.

   For a small matrix the time is that of the longest chain of dependent loads. Therefore chains are short: a warp searches 32 row pointers at a time,
   loads are issued before their first use, and sampled tiles and slices have their own blocks. */
#include "mat/impls/gpucsr/spmv/csr/gprowof.h"
#include "mat/impls/gpucsr/selector/gpselcount.h"

#include <cub/block/block_scan.cuh>

static constexpr int WARPS = BLOCK / 32, ITEMS = GP_SEL_TILE / BLOCK, TOGETHER = ITEMS / 4;
static constexpr int TABLE = 2 * GP_SEL_TILE, SLOTS = 8; /* slots of the hash table; slots that a thread reads together */
static constexpr int PARTS = 2, LOOKERS = 4;             /* blocks that share the lookups of a tile; lanes that share a lookup */
static constexpr int WIDEST = 6, SECOND_WIDEST = 4;      /* the two largest entries of GpSelBlockSizes */

static_assert(GP_SEL_BINS == 32 && GP_SEL_SLICE == 32, "a lane a bin, a lane a row");

typedef cub::BlockScan<int32_t, BLOCK> Scan;

typedef Count Recent[RECENT]; /* the keys that a block inserted most recently; 0: none */

/* number of blocks of each task, in the order of the grid: longest chains first */
struct Tasks {
  unsigned lookups, gathers, steps, rows, tiles;
};

/* shared memory of the tasks; a block runs one task */
union Room {
  struct {
    int32_t                    row[GP_SEL_TILE];
    typename Scan::TempStorage scan;
  } tile;
  struct {
    int32_t column[TABLE], hits[TABLE];
  } table;
  int32_t ends[2];
};

struct Larger {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

__device__ static bool IsFirst(unsigned peers) /* whether this is the first of these lanes */
{
  return __ffs(peers) - 1 == (int)(threadIdx.x % 32);
}

/* Returns a bit for each block size: the block of nonzero k of row i has a nonzero to the left of k, or in one of the rows above that this looker
   searches. */
__device__ static unsigned Preceded(const GpCsr &A, int32_t i, int32_t k, int looker)
{
  constexpr int sizes[GP_SEL_BLOCKS] = {2, 3, SECOND_WIDEST, WIDEST}; /* same as GpSelBlockSizes */
  const int32_t j = A.col[k], left = k > A.rowptr[i] ? A.col[k - 1] : -1, least = min(j / SECOND_WIDEST * SECOND_WIDEST, j / WIDEST * WIDEST);
  unsigned      met = 0;

#pragma unroll
  for (int s = 0; s < GP_SEL_BLOCKS; s++) met |= (unsigned)(left >= j / sizes[s] * sizes[s]) << s;
  for (int32_t up = 1 + looker; up <= max(i % SECOND_WIDEST, i % WIDEST); up += LOOKERS) {
    const int32_t end  = A.rowptr[i - up + 1];
    unsigned      want = 0; /* block sizes whose block includes this row */
    int32_t       lo = A.rowptr[i - up], hi = end;

#pragma unroll
    for (int s = 0; s < GP_SEL_BLOCKS; s++) want |= (unsigned)(up <= i % sizes[s]) << s;
    if (!(want & ~met)) continue;
    while (lo < hi) {
      const int32_t mid = lo + (hi - lo) / 2;

      if (A.col[mid] < least) lo = mid + 1;
      else hi = mid;
    }
    for (; lo < end && abs(A.col[lo] - j) < WIDEST; lo++) {
#pragma unroll
      for (int s = 0; s < GP_SEL_BLOCKS; s++) met |= want & (unsigned)(A.col[lo] / sizes[s] == j / sizes[s]) << s;
    }
  }
  return met;
}

/* runs one block's part of the lookups of a sampled tile */
__device__ static void LookUp(const GpCsr &A, unsigned b, int32_t ends[2], GpSelCounts *C)
{
  const int64_t tiles = ((int64_t)A.nnz + GP_SEL_TILE - 1) / GP_SEL_TILE, begin = b / PARTS * GpSelStride(tiles) * GP_SEL_TILE, end = min(begin + GP_SEL_TILE, (int64_t)A.nnz);
  /* lookups are the nonzeros whose index is a multiple of GP_SEL_SPARSE */
  const int64_t first = (begin + GP_SEL_SPARSE - 1) / GP_SEL_SPARSE, many = (end - 1) / GP_SEL_SPARSE + 1 - first;
  const int64_t from = first + many * (b % PARTS) / PARTS, to = first + many * (b % PARTS + 1) / PARTS;
  int32_t       lookups = 0, blocks[GP_SEL_BLOCKS] = {0};

  if (from == to) return;
  if (threadIdx.x < 64) {
    const int32_t row = GpRowOf(A.rowptr, A.m, (int32_t)((threadIdx.x < 32 ? from : to - 1) * GP_SEL_SPARSE));

    if (threadIdx.x % 32 == 0) ends[threadIdx.x / 32] = row;
  }
  __syncthreads();
  for (int64_t turn = from; turn < to; turn += BLOCK / LOOKERS) {
    const int64_t q      = turn + threadIdx.x / LOOKERS;
    const int     looker = threadIdx.x % LOOKERS;
    unsigned      met    = 0;

    if (q < to) met = Preceded(A, GpRowAmong(A.rowptr, ends[0], ends[1] + 1, (int32_t)(q * GP_SEL_SPARSE)), (int32_t)(q * GP_SEL_SPARSE), looker);
#pragma unroll
    for (int half = LOOKERS / 2; half > 0; half /= 2) met |= __shfl_xor_sync(ALL, met, half);
    if (q >= to || looker) continue;
    lookups++;
#pragma unroll
    for (int s = 0; s < GP_SEL_BLOCKS; s++) blocks[s] += !(met >> s & 1);
  }
  AddWarp(&C->lookups, lookups);
  for (int s = 0; s < GP_SEL_BLOCKS; s++) AddWarp(&C->blocks[s], blocks[s]);
}

/* First slot of a column. The hash scatters adjacent columns; otherwise runs of columns would collide. */
__device__ static unsigned SlotOf(int32_t column)
{
  return (uint32_t)column * 2654435769u / (UINT32_MAX / TABLE + 1);
}

/* whether the table holds a column of the same sector to the left of this one */
__device__ static bool HasLeft(const int32_t *table, int32_t column)
{
  for (int32_t left = column / 4 * 4; left < column; left++) {
    for (unsigned slot = SlotOf(left); table[slot] >= 0; slot = (slot + 1) % TABLE)
      if (table[slot] == left) return true;
  }
  return false;
}

/* Counts the sectors of x and the hub columns of a sampled tile. The nonzeros of a column are first added within the block; otherwise all tiles of a
   graph would queue for the counters of its hubs. */
__device__ static void CountGathers(const GpCsr &A, unsigned b, Room *room, const GpSelWork &W, GpSelCounts *C)
{
  const int64_t tiles = ((int64_t)A.nnz + GP_SEL_TILE - 1) / GP_SEL_TILE, begin = b * GpSelStride(tiles) * GP_SEL_TILE;
  const int     many  = (int)min((int64_t)GP_SEL_TILE, A.nnz - begin);
  int32_t      *table = room->table.column, *hits = room->table.hits;
  int32_t       groups = 0, sectors = 0, hubs = 0, tilesectors = 0;

  for (int k = threadIdx.x; k < TABLE; k += BLOCK) {
    table[k] = -1;
    hits[k]  = 0;
  }
  __syncthreads();
  for (int start = 0; start < many; start += TOGETHER * BLOCK) {
    int32_t column[TOGETHER];

#pragma unroll
    for (int u = 0; u < TOGETHER; u++) {
      const int p = start + u * BLOCK + (int)threadIdx.x;

      column[u] = p < many ? A.col[begin + p] : -1;
    }
#pragma unroll
    for (int u = 0; u < TOGETHER; u++) {
      const unsigned lanes = __ballot_sync(ALL, column[u] >= 0);

      if (column[u] < 0) continue;
      const unsigned peers = __match_any_sync(lanes, column[u]);
      const int      found = __popc(__ballot_sync(lanes, IsFirst(__match_any_sync(lanes, column[u] / 4))));

      if (threadIdx.x % 32 == 0) {
        groups++;
        sectors += found;
      }
      for (unsigned slot = SlotOf(column[u]); IsFirst(peers); slot = (slot + 1) % TABLE) {
        const int32_t seen = atomicCAS(table + slot, -1, column[u]);

        if (seen != -1 && seen != column[u]) continue;
        atomicAdd(hits + slot, __popc(peers));
        break;
      }
    }
  }
  __syncthreads();
  for (int first = threadIdx.x; first < TABLE; first += SLOTS * BLOCK) {
    int32_t before[SLOTS];

#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      const int slot = first + u * BLOCK;

      before[u] = hits[slot] ? atomicAdd(W.hits + table[slot], hits[slot]) : 0;
    }
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      const int slot = first + u * BLOCK;

      hubs += (int32_t)(GpSelHubs(before[u] + hits[slot]) - GpSelHubs(before[u]));
      tilesectors += hits[slot] && !HasLeft(table, table[slot]);
    }
  }
  AddWarp(&C->groups, groups);
  AddWarp(&C->sectors, sectors);
  AddWarp(&C->hubs, hubs);
  AddWarp(&C->tilesectors, tilesectors);
  if (threadIdx.x == 0) Add(&C->sampled, (Count)many);
}

/* counts the sectors of a sampled slice: a warp takes some of its steps, a lane takes a row */
__device__ static void CountSteps(const GpCsr &A, unsigned b, GpSelCounts *C)
{
  const int64_t slices = ((int64_t)A.m + GP_SEL_SLICE - 1) / GP_SEL_SLICE, i = b * GpSelStride(slices) * GP_SEL_SLICE + threadIdx.x % 32;
  const int32_t begin = i < A.m ? A.rowptr[i] : 0, length = i < A.m ? A.rowptr[i + 1] - begin : 0, longest = __reduce_max_sync(ALL, length);
  int32_t       steps = 0, sectors = 0;

#pragma unroll
  for (int step = threadIdx.x / 32; step < GP_SEL_SLICE; step += WARPS) {
    const unsigned lanes = __ballot_sync(ALL, step < length);
    int            found = 0;

    if (step < length) found = __popc(__ballot_sync(lanes, IsFirst(__match_any_sync(lanes, A.col[begin + step] / 4))));
    steps += step < longest;
    sectors += __reduce_max_sync(ALL, found);
  }
  if (threadIdx.x % 32 == 0 && steps) {
    Add(&C->steps, (Count)steps);
    Add(&C->slicesectors, (Count)sectors);
  }
}

/* inserts the patterns of a slice whose rows have at most GP_SEL_ROW nonzeros */
__device__ static void CountPatterns(const GpCsr &A, int64_t i, int32_t begin, int32_t length, const GpSelWork &W, Count *recent)
{
  uint64_t key = 0;

#pragma unroll 4
  for (int32_t k = begin; k < begin + length; k++) key = GpSelChain(key, A.col[k] - (int32_t)i, GpSelBits(A.val, A.prec, k));
  Insert(i < A.m, W.set[GP_SET_PATTERNS], recent, &W.counts->valuepatterns, GP_SEL_PATTERNS, GpSelKey(key));
}

/* Lane b counts the rows and nonzeros of bin b. One iteration per distinct bin of the 32 rows; adjacent rows mostly have the same bin. */
__device__ static void CountBins(int32_t length, int32_t *rows, int32_t *entries)
{
  const int bin = GpSelBin(length);

  for (unsigned todo = __ballot_sync(ALL, length > 0); todo;) {
    const int      common = __shfl_sync(ALL, bin, __ffs(todo) - 1);
    const bool     mine   = length > 0 && bin == common;
    const unsigned peers = __ballot_sync(ALL, mine), sum = __reduce_add_sync(ALL, mine ? (unsigned)length : 0u);

    if ((int)(threadIdx.x % 32) == common) {
      *rows += __popc(peers);
      *entries += (int32_t)sum;
    }
    todo &= ~peers;
  }
}

/* each warp takes slices */
__device__ static void ScanRows(const GpCsr &A, unsigned b, unsigned blocks, const GpSelWork &W, Count *recent, GpSelCounts *C)
{
  const int     lane   = threadIdx.x % 32;
  const int64_t slices = ((int64_t)A.m + GP_SEL_SLICE - 1) / GP_SEL_SLICE;
  int32_t       rows = 0, entries = 0, padded = 0, most = 0; /* counts of one lane; none exceeds the number of nonzeros */

  for (int64_t s = ((int64_t)b * BLOCK + threadIdx.x) / 32; s < slices; s += (int64_t)blocks * WARPS) {
    const int64_t i     = s * GP_SEL_SLICE + lane;
    const int32_t begin = i < A.m ? A.rowptr[i] : 0, length = i < A.m ? A.rowptr[i + 1] - begin : 0;
    const int32_t longest = __reduce_max_sync(ALL, length);

    CountBins(length, &rows, &entries);
    most = max(most, length);
    padded += longest;                                             /* one lane's share of 32 * longest */
    if (Full(&W.counts->valuepatterns, GP_SEL_PATTERNS)) continue; /* checked as late as possible, because another warp may have found a long row meanwhile */
    if (longest <= GP_SEL_ROW) CountPatterns(A, i, begin, length, W, recent);
    else if (lane == 0) Add(&W.counts->valuepatterns, GP_SEL_PATTERNS + 1);
  }
  most = __reduce_max_sync(ALL, most);
  if (rows) Add(&C->rows[lane], (Count)rows);
  if (rows) Add(&C->entries[lane], (Count)entries);
  if (lane == 0) atomicMax(reinterpret_cast<Count *>(&C->longest), (Count)most);
  AddWarp(&C->padded, padded);
}

/* Finds the row of every nonzero of a tile. Rows are marked at their starts, and a maximum scan extends the marks. Returns whether the first row
   begins before the tile. */
__device__ static bool FindRows(const GpCsr &A, int32_t begin, int32_t end, int32_t row[GP_SEL_TILE], typename Scan::TempStorage &temp)
{
  const int32_t lo     = GpRowOf(A.rowptr, A.m, begin);
  const bool    before = A.rowptr[lo] < begin;
  int32_t       item[ITEMS];

  for (int k = threadIdx.x; k < GP_SEL_TILE; k += BLOCK) row[k] = k ? 0 : lo;
  __syncthreads();
  for (int64_t i = (int64_t)lo + 1 + threadIdx.x; i < A.m; i += BLOCK) {
    const int32_t start = A.rowptr[i];

    if (start >= end) break;
    if (A.rowptr[i + 1] > start) row[start - begin] = (int32_t)i; /* of the rows that start at one position, only one has nonzeros */
  }
  __syncthreads();
  for (int k = 0; k < ITEMS; k++) item[k] = row[threadIdx.x * ITEMS + k];
  Scan(temp).InclusiveScan(item, item, Larger());
  for (int k = 0; k < ITEMS; k++) row[threadIdx.x * ITEMS + k] = item[k];
  __syncthreads();
  return before;
}

/* Each block takes tiles, each thread a few nonzeros at a time. Threads beyond the end read the first nonzero of the tile and do not count it. */
__device__ static void ScanTiles(const GpCsr &A, unsigned b, unsigned blocks, Room *room, const GpSelWork &W, Recent *recent, GpSelCounts *C)
{
  const int64_t  tiles = ((int64_t)A.nnz + GP_SEL_TILE - 1) / GP_SEL_TILE;
  const int32_t *row   = room->tile.row;
  int32_t        near = 0, unsorted = 0, adjoining = 0;

  for (int64_t t = b; t < tiles; t += blocks) {
    const int32_t begin = (int32_t)(t * GP_SEL_TILE), many = min(A.nnz - begin, (int32_t)GP_SEL_TILE);
    const bool    before = FindRows(A, begin, begin + many, room->tile.row, room->tile.scan);
    bool          values = !Full(&W.counts->values, GP_SEL_VALUES), diagonals = !Full(&W.counts->diagonals, GP_SEL_DIAGONALS); /* whether the sets are below their limits */

    for (int start = 0; start < many; start += TOGETHER * BLOCK) {
      int32_t  column[TOGETHER], leftcolumn[TOGETHER];
      uint64_t bits[TOGETHER], leftbits[TOGETHER];

#pragma unroll
      for (int u = 0; u < TOGETHER; u++) {
        const int     p = start + u * BLOCK + (int)threadIdx.x;
        const int32_t k = begin + (p < many ? p : 0), left = k ? k - 1 : 0;

        column[u]     = A.col[k];
        leftcolumn[u] = A.col[left];
        bits[u]       = GpSelBits(A.val, A.prec, k);
        leftbits[u]   = GpSelBits(A.val, A.prec, left);
      }
#pragma unroll
      for (int u = 0; u < TOGETHER; u++) {
        const int     p    = start + u * BLOCK + (int)threadIdx.x;
        const bool    mine = p < many, follows = mine && (p ? row[p - 1] == row[p] : before); /* whether the left neighbour is in the same row */
        const int32_t i     = row[mine ? p : 0];
        const int64_t delta = (int64_t)column[u] - leftcolumn[u];

        near += mine && GpSelIsNear(i, column[u], A.m, A.n);
        unsorted += follows && delta < 0;
        adjoining += follows && delta == 1;
        /* if the left neighbour has the same value, its lane inserts it */
        if (values) values = Insert(mine && (p == 0 || bits[u] != leftbits[u]), W.set[GP_SET_VALUES], recent[0], &W.counts->values, GP_SEL_VALUES, GpSelKey(GpSelMix(bits[u])));
        if (diagonals) diagonals = Mark(mine, W.diagonal, recent[1], &W.counts->diagonals, (int64_t)column[u] - i + A.m - 1);
      }
    }
    __syncthreads();
  }
  AddWarp(&C->near, near);
  AddWarp(&C->unsorted, unsorted);
  AddWarp(&C->adjoining, adjoining);
}

__global__ static void __launch_bounds__(BLOCK, 5) ScanAll(GpCsr A, GpSelWork W, Tasks T)
{
  __shared__ Tally  tally;
  __shared__ Room   room;
  __shared__ Recent recent[2];
  unsigned          b = blockIdx.x;

  if (threadIdx.x < RECENT) recent[0][threadIdx.x] = recent[1][threadIdx.x] = 0;
  tally.clear();
  if (b < T.lookups) LookUp(A, b, room.ends, tally.counts());
  else if ((b -= T.lookups) < T.gathers) CountGathers(A, b, &room, W, tally.counts());
  else if ((b -= T.gathers) < T.steps) CountSteps(A, b, tally.counts());
  else if ((b -= T.steps) < T.rows) ScanRows(A, b, T.rows, W, recent[0], tally.counts());
  else ScanTiles(A, b - T.rows, T.tiles, &room, W, recent, tally.counts());
  tally.flush(W.counts);
}

/* number of sampled items */
static unsigned Sampled(int64_t many)
{
  return (unsigned)((many - 1) / GpSelStride(many) + 1);
}

GpErr GpSelScan_CUDA(const GpCsr *A, GpSelWork *W)
{
  const int64_t most = 8 * (int64_t)GpDevComputeUnits(A->dev), slices = ((int64_t)A->m + GP_SEL_SLICE - 1) / GP_SEL_SLICE, tiles = ((int64_t)A->nnz + GP_SEL_TILE - 1) / GP_SEL_TILE;
  const int64_t rows = (slices + WARPS - 1) / WARPS;
  const Tasks   T    = {PARTS * Sampled(tiles), Sampled(tiles), Sampled(slices), (unsigned)(rows < most ? rows : most), (unsigned)(tiles < most ? tiles : most)};

  return GpLaunch(A->dev, "features", ScanAll, GpGrid{T.lookups + T.gathers + T.steps + T.rows + T.tiles, BLOCK}, *A, *W, T);
}
