/* Counting on the device: sums over blocks and warps, and insertion into sets. Included only by the CUDA implementation of the scan. */
#ifndef GPSELCOUNT_H
#define GPSELCOUNT_H

#include "mat/impls/gpucsr/selector/gpselscan.h"

typedef unsigned long long Count;

static constexpr int      BLOCK = 256, WORDS = sizeof(GpSelCounts) / sizeof(Count);
static constexpr int      RECENT = 64; /* recently inserted keys of a set that a block remembers */
static constexpr unsigned ALL    = 0xffffffffu;

/* Counters of a block in shared memory; flush() adds them to the counters of the device. */
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

/* adds the sum over all lanes; lane 0 does so */
__device__ static void AddWarp(int64_t *to, int64_t what)
{
#pragma unroll
  for (int half = 16; half > 0; half /= 2) what += __shfl_down_sync(ALL, what, half);
  if (threadIdx.x % 32 == 0 && what) Add(to, (Count)what);
}

/* whether a set has passed its limit; called by a whole warp, all lanes get the same answer */
__device__ static bool Full(const int64_t *count, int64_t limit)
{
  return __any_sync(ALL, *(const volatile int64_t *)count > limit);
}

/* Counts the lanes that added a key to a set; called by a whole warp. One lane adds for all, because all blocks add to the same counter. */
__device__ static void CountNew(bool added, int64_t *count)
{
  const unsigned news = __ballot_sync(ALL, added);

  if (threadIdx.x % 32 == 0 && news) Add(count, __popc(news));
}

/* Inserts the keys of the lanes with `want` into a set; called by a whole warp, whose lanes probe the table together. Returns to all lanes whether
   the set is still below its limit.

   - New keys are counted before the next probe. A matrix with many keys fills the table long before all keys were
     inserted; only the count then ends the search for a free slot.
   - A plain load may return an old slot from the L1 cache. The atomic operation then returns the current one.
   - The limit is checked before a new key is inserted. Otherwise the blocks of the first wave, all of which found
     an empty set, would queue for one counter.
   - If several threads of a block bring the same key, as the rows of a stencil do, only the first one continues. */
__device__ static bool Insert(bool want, uint64_t *set, Count *recent, int64_t *count, int64_t limit, uint64_t key)
{
  uint64_t slot  = key % GP_SET_SLOTS;
  bool     first = false;

  for (int turn = 1; __any_sync(ALL, want); turn++) {
    uint64_t seen = want ? set[slot] : key;

    if (!seen && !first) {
      first = atomicExch(recent + key % RECENT, (Count)key) != key;
      if (!first) seen = key;
    }
    if ((turn % 8 == 0 || __any_sync(ALL, !seen)) && Full(count, limit)) return false;
    const bool found = !seen;

    if (found) seen = atomicCAS(reinterpret_cast<Count *>(set + slot), (Count)0, (Count)key);
    CountNew(found && !seen, count);
    want = want && seen && seen != key;
    slot = (slot + 1) % GP_SET_SLOTS;
  }
  return true;
}

/* the same for diagonals, which have one bit each */
__device__ static bool Mark(bool want, uint32_t *bits, Count *recent, int64_t *count, int64_t d)
{
  uint32_t      *word = bits + d / 32;
  const uint32_t bit  = (uint32_t)1 << (d % 32);
  const bool     open = want && !(*word & bit) && atomicExch(recent + d % RECENT, (Count)d + 1) != (Count)d + 1;

  if (!__any_sync(ALL, open)) return true;
  if (Full(count, GP_SEL_DIAGONALS)) return false;
  CountNew(open && !(atomicOr(word, bit) & bit), count);
  return true;
}
#endif
