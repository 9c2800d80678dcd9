/* Prefetch of the dissimilarities in the order of the pass on the device.  A warp processes 4 R rows at a time and 32 columns of a chunk in
   each step; the warps of a block process the rows of a strip in turn.  Eight lanes share a row, with four columns each.

   Stored dissimilarities are copied to shared memory asynchronously, one step ahead, also across the end of a chunk, where the block
   synchronises.  A lane reads only what it copied itself, so it waits only for its own copies. */
#ifndef GPUCSR_SMACOF_PASSPREFETCH_H
#define GPUCSR_SMACOF_PASSPREFETCH_H

#include "passentries.h"
#include "passruns.h"

/* Copies 16 bytes to shared memory asynchronously, bypassing L1, with an L2 cache policy. */
__device__ inline void SMACOFCopyAsync(float4 *to, const void *from, uint64_t policy)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "l"(policy) : "memory");
#else
  *to = __ldcs((const float4 *)from);
#endif
}

__device__ inline uint64_t SMACOFCreatePolicy(void)
{
  uint64_t policy = 0;

#if __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/* Commits the copies since the last call as one step. */
__device__ inline void SMACOFCommitCopies(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most STEPS steps are in flight. */
template <int STEPS>
__device__ inline void SMACOFWaitCopies(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(STEPS) : "memory");
#endif
}

/* Returns the number of rows that all warps of a block process together.  The number of warps is a power of two.  The shape T has the members
   R (rows of a lane), CHUNK (columns of a chunk) and STAGES (steps that fit the ring buffer). */
template <class T>
__device__ inline int SMACOFCountBlockRows(void)
{
  return T::R * (int)blockDim.x / 8;
}

/* Returns the first row of this warp, from i0 on, that has a column >= j.  If BOTH, row i has only the columns below bound + i. */
template <class T, bool BOTH>
__device__ inline int SMACOFGetFirstRows(int bound, int i0, int j)
{
  constexpr int S   = 4 * T::R;
  const int     all = SMACOFCountBlockRows<T>(), top = i0 + (int)threadIdx.x / 32 * S, above = j - bound - top - S + 1;

  return BOTH && above > 0 ? top + ((above + all - 1) & -all) : top;
}

template <class Value>
struct SMACOFTiled; /* used as the storage type if the dissimilarities are in tiles (passtiles.h) */

/* place of stored dissimilarities: rows with the pitch q.ld */
template <class Stored>
struct SMACOFPlace {
  using Value = Stored;

  /* Finds four entries of row i from column j + step + 4 * quad on.  Columns past the end are replaced by the last ones. */
  template <class SMACOFJob>
  __device__ const char *Find(const SMACOFJob &q, int, int i, int j, int step, int quad) const
  {
    const int column = min(j + step + quad * 4, (int)q.ld - 4);

    return (const char *)((const Stored *)q.delta + (uint64_t)i * q.ld + column);
  }

  template <class SMACOFJob>
  __device__ uint32_t Pitch(const SMACOFJob &q) const
  {
    return (uint32_t)(q.ld * sizeof(Stored));
  }
};

/* place of stored dissimilarities: tiles of PASS_UNIT columns and all rows of a strip */
template <class Stored>
struct SMACOFPlace<SMACOFTiled<Stored>> {
  using Value = Stored;
  const Stored *tile; /* tile that begins at column left */
  int           left;

  template <class SMACOFJob>
  __device__ const char *Find(const SMACOFJob &, int i0, int i, int j, int step, int quad) const
  {
    return (const char *)(tile + (size_t)(j + step - left) * PASS_HEIGHT + (i - i0) * PASS_UNIT + quad * 4);
  }

  template <class SMACOFJob>
  __device__ uint32_t Pitch(const SMACOFJob &) const
  {
    return (uint32_t)(PASS_UNIT * sizeof(Stored));
  }
};

/* prefetch of stored dissimilarities by one warp */
template <class T, class Stored, bool BOTH>
class SMACOFPrefetch {
  using Value                 = typename SMACOFPlace<Stored>::Value;
  static constexpr int PIECES = sizeof(Value) / sizeof(float), STEP = T::R * PIECES * 32;

  SMACOFPlace<Stored> place;

  float4  *ring;                 /* [STAGES][R][PIECES][32] ring buffer of this warp in shared memory */
  uint64_t policy;               /* L2 cache policy: evict first */
  int      bottom, right, bound; /* ends of the rows and of the columns; row i has the columns below bound + i */
  int      j, top, step;         /* next copy: chunk, first row of the warp, first column in the chunk */
  int      stage;                /* stage of the ring buffer that the next copy uses */

public:
  static constexpr size_t BYTES = sizeof(float4) * T::STAGES * STEP; /* shared memory of a warp */

  __device__ SMACOFPrefetch(void *shared, const SMACOFPlace<Stored> &where) : place(where), ring((float4 *)shared + threadIdx.x / 32 * T::STAGES * STEP + threadIdx.x % 32), policy(SMACOFCreatePolicy()) {}

  /* Starts the prefetch for the rows i0 to i1 - 1 and the columns left to end - 1; if BOTH, row i has only the columns below limit + i. */
  template <class SMACOFJob>
  __device__ void Begin(const SMACOFJob &q, int i0, int i1, int left, int end, int limit)
  {
    bottom = i1, right = end, bound = limit, j = left, step = 0, stage = 0;
    top = SMACOFGetFirstRows<T, BOTH>(bound, i0, j);
    for (int k = 1; k < T::STAGES; k++) Send(q, i0);
  }

  /* Starts the copies of the next step.  Rows and columns past the end are replaced by the last ones; the caller ignores them. */
  template <class SMACOFJob>
  __device__ void Send(const SMACOFJob &q, int i0)
  {
    if (top < bottom && j < right) {
      const int         i = min(top + (int)threadIdx.x % 32 / 8 * T::R, bottom - 1), last = bottom - 1 - i;
      const char *const from = place.Find(q, i0, i, j, step, (int)threadIdx.x % 8);
      float4 *const     to   = ring + stage * STEP;

#pragma unroll
      for (int r = 0; r < T::R; r++) {
#pragma unroll
        for (int p = 0; p < PIECES; p++) SMACOFCopyAsync(to + (r * PIECES + p) * 32, from + (uint64_t)(uint32_t)min(r, last) * place.Pitch(q) + p * sizeof(float4), policy);
      }
      step += PASS_UNIT;
      if (step >= T::CHUNK || j + step >= right) {
        step = 0;
        top += SMACOFCountBlockRows<T>();
        if (top >= bottom) top = SMACOFGetFirstRows<T, BOTH>(bound, i0, j += T::CHUNK);
      }
    }
    stage = (stage + 1) % T::STAGES;
    SMACOFCommitCopies();
  }

  /* Gets the dissimilarities of the next step. */
  template <class SMACOFJob, class Real>
  __device__ void Get(const SMACOFJob &q, int i0, int, int, Real (&delta)[T::R][4])
  {
    Send(q, i0);
    SMACOFWaitCopies<T::STAGES - 1>();
    const float4 *const from = ring + stage * STEP; /* the oldest stage */

#pragma unroll
    for (int r = 0; r < T::R; r++) Unpack(from + r * PIECES * 32, delta[r], (Value *)nullptr);
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

template <>
struct SMACOFPlace<SMACOFComputed> {
};

/* distances that are computed from features; there is no prefetch */
template <class T, bool BOTH>
class SMACOFPrefetch<T, SMACOFComputed, BOTH> {
public:
  static constexpr size_t BYTES = 0;

  __device__ SMACOFPrefetch(void *, const SMACOFPlace<SMACOFComputed> &) {}

  template <class SMACOFJob>
  __device__ void Begin(const SMACOFJob &, int, int, int, int, int)
  {
  }

  template <class SMACOFJob, class Real>
  __device__ void Get(const SMACOFJob &q, int, int i, int j, Real (&delta)[T::R][4])
  {
    SMACOFComputeFeatureDistances<true>(q, (const Real *)q.feature, q.ldfeature, i, j, delta);
  }
};

#endif
