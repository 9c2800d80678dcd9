/* How device code gets at the dissimilarities in the order of its work.  A warp takes 4 R rows at a time, and of a chunk of columns 32 at a step; a block's warps take a strip's rows in turn.
   Eight lanes share a row, with four columns each.  Those that are stored set out for shared memory a step before their turn, also past the ends of chunks, where a block waits for all of its
   warps.  A lane reads there what it has sent for itself, so it waits for nobody else. */
#ifndef GPUCSR_SMACOF_PASSFEED_H
#define GPUCSR_SMACOF_PASSFEED_H

#include "passentries.h"
#include "passruns.h"

#define PASS_STAGES 2 /* steps that there is room for */

/* four that stand beside each other */
__device__ inline void Coordinates(const float *from, float (&to)[4])
{
  const float4 v = *(const float4 *)from;

  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ inline void Coordinates(const double *from, double (&to)[4])
{
  const double2 v = *(const double2 *)from, w = *((const double2 *)from + 1);

  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}

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

/* waits until the oldest step is there; those after it may be under way */
__device__ inline void PassArrived(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(PASS_STAGES - 1) : "memory");
#endif
}

/* The warp's first rows, from i0 on, that have a column from j on, in work of the shape T, which has R, CHUNK and WARPS.  Where both rows and columns get sums, only the columns before its bound are a row's */
template <class T, bool BOTH>
__device__ inline int PassFirstRows(const PassRuns &s, int i0, int j)
{
  constexpr int S = 4 * T::R, ALL = S * T::WARPS;
  const int     top = i0 + (int)threadIdx.x / 32 * S, above = j - s.bound - top - S + 1;

  return BOTH && above > 0 ? top + (above + ALL - 1) / ALL * ALL : top;
}

/* what a warp has sent for */
template <class T, class Stored, bool BOTH>
class Feed {
  static constexpr int PIECES = sizeof(Stored) / sizeof(float), STEP = T::R * PIECES * 32;

  float4  *ring; /* [PASS_STAGES][R][PIECES][32], of the warp */
  uint64_t policy;
  int      bottom, right, j, top, step, stage; /* the end of the strip and of its columns; what is sent for next, and where to */

public:
  static constexpr size_t BYTES = sizeof(float4) * T::WARPS * PASS_STAGES * STEP;

  __device__ Feed(void *shared) : ring((float4 *)shared + threadIdx.x / 32 * PASS_STAGES * STEP + threadIdx.x % 32), policy(PassReadOnce()) {}

  /* a strip's rows from i0 on, its columns from left to right - 1 */
  template <class Job>
  __device__ void Begin(const Job &q, int i0, int i1, int left, int end)
  {
    bottom = i1, right = end, j = left, step = 0, stage = 0;
    top = PassFirstRows<T, BOTH>(q.runs, i0, j);
    for (int k = 1; k < PASS_STAGES; k++) Send(q, i0);
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
        top += 4 * T::R * T::WARPS;
        if (top >= bottom) top = PassFirstRows<T, BOTH>(q.runs, i0, j += T::CHUNK);
      }
    }
    stage = (stage + 1) % PASS_STAGES;
    PassSent();
  }

  /* those of the next step */
  template <class Job, class Real>
  __device__ void Get(const Job &q, int i0, int, int, Real (&delta)[T::R][4])
  {
    Send(q, i0);
    PassArrived();
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
  __device__ void Begin(const Job &, int, int, int, int)
  {
  }

  template <class Job, class Real>
  __device__ void Get(const Job &q, int, int i, int j, Real (&delta)[T::R][4])
  {
    FromFeatures(q, (const Real *)q.feature, q.ldfeature, i, j, delta);
  }
};

#endif
