/* How device code gets at the dissimilarities in the order of its work.  A warp takes 4 R rows at a time, and of a chunk of columns 32 at a step; a block's warps take a strip's rows in turn.
   Eight lanes share a row, with four columns each.  Those that are stored set out for shared memory a step before their turn, also past the ends of chunks, where a block waits for all of its
   warps.  A lane reads there what it has sent for itself, so it waits for nobody else. */
#ifndef GPUCSR_SMACOF_PASSFEED_H
#define GPUCSR_SMACOF_PASSFEED_H

#include "passentries.h"
#include "passruns.h"

/* 16 bytes from memory to shared memory, to be kept out of the way of what the cache had better hold */
__device__ inline void PassSend(float4 *to, const void *from, uint64_t policy)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "l"(policy) : "memory");
#else
  *to = __ldcs((const float4 *)from);
#endif
}

__device__ inline uint64_t PassReadOnce(void)
{
  uint64_t policy = 0;

#if __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/* what was sent since the last call is one step */
__device__ inline void PassSent(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* waits until no more than so many of the steps sent for last are under way */
template <int STEPS>
__device__ inline void PassArrived(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(STEPS) : "memory");
#endif
}

/* rows that a block's warps, a power of two, take together, in work of the shape T, which has R, CHUNK, and STAGES: steps that there is room for */
template <class T>
__device__ inline int PassRowsTogether(void)
{
  return T::R * (int)blockDim.x / 8;
}

/* The warp's first rows, from i0 on, that have a column from j on.  Where both rows and columns get sums, only the columns before its bound are a row's */
template <class T, bool BOTH>
__device__ inline int PassFirstRows(int bound, int i0, int j)
{
  constexpr int S   = 4 * T::R;
  const int     all = PassRowsTogether<T>(), top = i0 + (int)threadIdx.x / 32 * S, above = j - bound - top - S + 1;

  return BOTH && above > 0 ? top + ((above + all - 1) & -all) : top;
}

/* what a warp has sent for */
template <class T, class Stored, bool BOTH>
class Feed {
  static constexpr int PIECES = sizeof(Stored) / sizeof(float), STEP = T::R * PIECES * 32;

  float4  *ring; /* [STAGES][R][PIECES][32], of the warp */
  uint64_t policy;
  int      bottom, right, bound, j, top, step, stage; /* the end of the strip, of its columns, and its bound; what is sent for next, and where to */

public:
  static constexpr size_t BYTES = sizeof(float4) * T::STAGES * STEP; /* of a warp */

  __device__ Feed(void *shared) : ring((float4 *)shared + threadIdx.x / 32 * T::STAGES * STEP + threadIdx.x % 32), policy(PassReadOnce()) {}

  /* a strip's rows from i0 on, its columns from left to right - 1, of row i those below limit + i */
  template <class Job>
  __device__ void Begin(const Job &q, int i0, int i1, int left, int end, int limit)
  {
    bottom = i1, right = end, bound = limit, j = left, step = 0, stage = 0;
    top = PassFirstRows<T, BOTH>(bound, i0, j);
    for (int k = 1; k < T::STAGES; k++) Send(q, i0);
  }

  /* sends for the next step: rows and columns past the end are the last ones, which do not count there */
  template <class Job>
  __device__ void Send(const Job &q, int i0)
  {
    if (top < bottom && j < right) {
      const int         i = min(top + (int)threadIdx.x % 32 / 8 * T::R, bottom - 1), last = bottom - 1 - i, column = min(j + step + (int)threadIdx.x % 8 * 4, (int)q.ld - 4);
      const char *const from = (const char *)((const Stored *)q.delta + (uint64_t)i * q.ld + column);
      float4 *const     to   = ring + stage * STEP;

#pragma unroll
      for (int r = 0; r < T::R; r++) {
#pragma unroll
        for (int p = 0; p < PIECES; p++) PassSend(to + (r * PIECES + p) * 32, from + (uint64_t)(uint32_t)min(r, last) * (uint32_t)(q.ld * sizeof(Stored)) + p * sizeof(float4), policy);
      }
      step += PASS_UNIT;
      if (step >= T::CHUNK || j + step >= right) {
        step = 0;
        top += PassRowsTogether<T>();
        if (top >= bottom) top = PassFirstRows<T, BOTH>(bound, i0, j += T::CHUNK);
      }
    }
    stage = (stage + 1) % T::STAGES;
    PassSent();
  }

  /* those of the next step */
  template <class Job, class Real>
  __device__ void Get(const Job &q, int i0, int, int, Real (&delta)[T::R][4])
  {
    Send(q, i0);
    PassArrived<T::STAGES - 1>();
    const float4 *const from = ring + stage * STEP; /* the oldest one */

#pragma unroll
    for (int r = 0; r < T::R; r++) Unpack(from + r * PIECES * 32, delta[r], (Stored *)nullptr);
  }

private:
  template <class Real>
  static __device__ void Unpack(const float4 *from, Real (&to)[4], const float *)
  {
    const float4 v = from[0];

    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  }

  static __device__ void Unpack(const float4 *from, double (&to)[4], const double *)
  {
    const double2 v = *(const double2 *)from, w = *(const double2 *)(from + 32);

    to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
  }
};

/* distances that are computed when they are wanted */
template <class T, bool BOTH>
class Feed<T, Computed, BOTH> {
public:
  static constexpr size_t BYTES = 0;

  __device__ Feed(void *) {}

  template <class Job>
  __device__ void Begin(const Job &, int, int, int, int, int)
  {
  }

  template <class Job, class Real>
  __device__ void Get(const Job &q, int, int i, int j, Real (&delta)[T::R][4])
  {
    FromFeatures<true>(q, (const Real *)q.feature, q.ldfeature, i, j, delta);
  }
};

#endif
