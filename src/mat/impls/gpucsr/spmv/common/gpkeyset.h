/* A set of at most `limit` distinct 64-bit keys, each with the least position at which it occurred. It is a hash table with open addressing that
   all threads of a device fill concurrently, or a loop on the host. Its contents do not depend on the order of insertion. */
#ifndef GPKEYSET_H
#define GPKEYSET_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_KEY_NONE 0 /* marks a free slot, so no key may have this value; zeroed memory is an empty set */

typedef struct {
  uint64_t *key;          /* [slots] keys, GP_KEY_NONE in free slots */
  int32_t  *before;       /* [slots] INT32_MAX minus the least position of each key */
  int32_t  *list;         /* [1 + limit] number of keys (more than limit: too many), then their slots in any order */
  int32_t   slots, limit; /* slots is 4 * limit; both are powers of two */
} GpKeySet;

GpErr GpKeySetCreate(GpDev dev, int32_t limit, GpKeySet *S);       /* limit must be a power of two */
GpErr GpKeySetDownload(GpDev dev, const GpKeySet *S, GpKeySet *H); /* copies the set to host memory; the caller frees H->key with free() */
GpErr GpKeySetMove(GpDev dev, GpKeySet *S, GpKeySet *H);           /* copies the set to host memory and destroys it on the device */
void  GpKeySetDestroy(GpDev dev, GpKeySet *S);

#if defined(__cplusplus)
}
#endif

/* The mixing step of splitmix64. Source: G. Steele, D. Lea, C. Flood, OOPSLA 2014. */
GP_INLINE uint64_t GpMix(uint64_t h)
{
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

/* Returns the slot of a key, or -1 if the set does not contain it. */
GP_INLINE int32_t GpKeySetFind(const GpKeySet *S, uint64_t key)
{
  for (int32_t n = 0, slot = (int32_t)(GpMix(key) & (uint64_t)(S->slots - 1)); n < S->slots; n++, slot = (slot + 1) & (S->slots - 1)) {
    if (S->key[slot] == key) return slot;
    if (S->key[slot] == GP_KEY_NONE) return -1;
  }
  return -1;
}

GP_INLINE uint64_t GpKeySetTake(const GpKeySet *S, int32_t slot, uint64_t key) /* returns the previous contents of the slot */
{
#if defined(__CUDACC__)
  const uint64_t held = S->key[slot];

  return held != GP_KEY_NONE ? held : atomicCAS((unsigned long long *)S->key + slot, GP_KEY_NONE, key);
#else
  const uint64_t held = S->key[slot];

  if (held == GP_KEY_NONE) S->key[slot] = key;
  return held;
#endif
}

GP_INLINE void GpKeySetLower(const GpKeySet *S, int32_t slot, int32_t place)
{
  const int32_t before = INT32_MAX - place;

  if (S->before[slot] >= before) return; /* avoids the atomic operation, since most keys occur many times */
#if defined(__CUDACC__)
  atomicMax(S->before + slot, before);
#else
  S->before[slot] = before;
#endif
}

GP_INLINE int32_t GpKeySetCount(const GpKeySet *S)
{
#if defined(__CUDACC__)
  return atomicAdd(S->list, 1);
#else
  return S->list[0]++;
#endif
}

/* Adds a key. Does nothing if the set already has too many keys. */
GP_INLINE void GpKeySetAdd(const GpKeySet *S, uint64_t key, int32_t place)
{
  for (int32_t n = 0, slot = (int32_t)(GpMix(key) & (uint64_t)(S->slots - 1)); n < S->slots; n++, slot = (slot + 1) & (S->slots - 1)) {
    const uint64_t held = GpKeySetTake(S, slot, key);

    if (held == GP_KEY_NONE) {
      const int32_t count = GpKeySetCount(S);

      if (count < S->limit) S->list[1 + count] = slot;
    }
    if (held == GP_KEY_NONE || held == key) {
      GpKeySetLower(S, slot, place);
      return;
    }
    if (*(volatile int32_t *)S->list > S->limit) return;
  }
}
#endif
