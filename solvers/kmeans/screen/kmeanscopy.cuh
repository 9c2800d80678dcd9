/* Asynchronous copies of 16 bytes from device memory to shared memory, and matrix products of a warp. Devices before compute capability 8.0 copy through
   registers and do not have these products. */
#ifndef KMEANSCOPY_CUH
#define KMEANSCOPY_CUH

#include <cuda_fp16.h>
#include <stdint.h>

__device__ static inline void KMeansCopy16(void *shared, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(from) : "memory");
#else
  *(int4 *)shared = *(const int4 *)from;
#endif
}

/* Ends a group of copies of this thread, which may be empty. */
__device__ static inline void KMeansCopyCommit(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until all groups of copies of this thread are complete, except at most the newest `groups`. */
template <int groups>
__device__ static inline void KMeansCopyWait(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Loads four matrices of 8 x 8 numbers of half precision. Lane l gives the address of row l % 8 of matrix l / 8, and receives two numbers of row l / 4 of each. */
__device__ static inline void KMeansLoadMatrices(uint32_t (&r)[4], const __half *row)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((uint32_t)__cvta_generic_to_shared(row)) : "memory");
}

/* sum = c + a b for matrices of 16 x 16 and 16 x 8 numbers of half precision, in the layout of m16n8k16 of the PTX manual. */
__device__ static inline void KMeansMultiplyMatrices(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, const float (&c)[4])
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
#endif

#endif
