/* How blocks and warps count on the device: what adds up, and what is new to a set.  Included by the device twin of the scan alone. */
#ifndef GPSELCOUNT_H
#define GPSELCOUNT_H

#include "mat/impls/gpucsr/selector/gpselscan.h"

typedef unsigned long long Count;

static constexpr int      BLOCK = 256, WORDS = sizeof(GpSelCounts) / sizeof(Count);
static constexpr int      RECENT = 64; /* keys that a block remembers of a set */
static constexpr unsigned ALL    = 0xffffffffu;

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

/* Has a set passed its limit?  By a whole warp, whose lanes get one answer. */
__device__ static bool Full(const int64_t *count, int64_t limit)
{
  return __any_sync(ALL, *(const volatile int64_t *)count > limit);
}

/* what is new to a set, by a whole warp: one lane counts for all, as every block counts in the same place */
__device__ static void CountNew(bool added, int64_t *count)
{
  const unsigned news = __ballot_sync(ALL, added);

  if (threadIdx.x % 32 == 0 && news) Add(count, __popc(news));
}

/* The lanes that want to put their key into a set, the whole warp turn by turn, so that what is new is counted before the next turn: the set of a matrix of many keys is
   full long before all of them have been there, and only the count lets go of who waits for a place.  A plain load may see an older slot in the L1
   cache: then the atomic tells the truth.  A new key asks first whether the set is full: else the blocks of the first wave, all of which found it empty,
   would queue for one counter; and of those that bring the same key, as all rows of a stencil do, only the first of a block goes on.
   Returns whether the set takes more, to the whole warp. */
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

/* the same of the diagonals, which have a bit each */
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
