/* A set of at most `limit` distinct 64-bit keys, each with the least place where it was met: open addressing, filled by all
   threads of a device at once, or by a loop on the host.  What it holds does not depend on the order of filling. */
#ifndef GPKEYSET_H
#define GPKEYSET_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gplanes.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_KEY_NONE 0 /* no key may be this: memory that is zero is an empty set */

typedef struct {
  uint64_t *key;          /* [slots] GP_KEY_NONE where free */
  int32_t  *before;       /* [slots] INT32_MAX less the least place */
  int32_t  *list;         /* [1 + limit] how many keys there are, more than limit: too many; their slots in no order */
  int32_t   slots, limit; /* slots: four times the limit, a power of two */
} GpKeySet;

GpErr GpKeySetCreate(GpDev dev, int32_t limit, GpKeySet *S);       /* limit: a power of two */
GpErr GpKeySetDownload(GpDev dev, const GpKeySet *S, GpKeySet *H); /* a copy in host memory, to be given to free(H->key) */
GpErr GpKeySetMove(GpDev dev, GpKeySet *S, GpKeySet *H);           /* the same, and the set is destroyed */
void  GpKeySetDestroy(GpDev dev, GpKeySet *S);

#if defined(__cplusplus)
}
#endif

/* the mixing step of splitmix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014 */
GP_LANEFN uint64_t GpMix(uint64_t h)
{
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

/* the slot of a key, or -1: it is not there */
GP_LANEFN int32_t GpKeySetFind(const GpKeySet *S, uint64_t key)
{
  for (int32_t n = 0, slot = (int32_t)(GpMix(key) & (uint64_t)(S->slots - 1)); n < S->slots; n++, slot = (slot + 1) & (S->slots - 1)) {
    if (S->key[slot] == key) return slot;
    if (S->key[slot] == GP_KEY_NONE) return -1;
  }
  return -1;
}

GP_LANEFN uint64_t GpKeySetTake(const GpKeySet *S, int32_t slot, uint64_t key) /* what the slot held */
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

GP_LANEFN void GpKeySetLower(const GpKeySet *S, int32_t slot, int32_t place)
{
  const int32_t before = INT32_MAX - place;

  if (S->before[slot] >= before) return; /* most keys are met again and again */
#if defined(__CUDACC__)
  atomicMax(S->before + slot, before);
#else
  S->before[slot] = before;
#endif
}

GP_LANEFN int32_t GpKeySetCount(const GpKeySet *S)
{
#if defined(__CUDACC__)
  return atomicAdd(S->list, 1);
#else
  return S->list[0]++;
#endif
}

/* once there are too many nothing is added any more */
GP_LANEFN void GpKeySetAdd(const GpKeySet *S, uint64_t key, int32_t place)
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
