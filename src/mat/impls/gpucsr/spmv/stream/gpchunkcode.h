/* Functions that the source files for chunks share: access to integers of 8 to 32 bits, the layout, and the encodings of columns and values. */
#ifndef GPCHUNKCODE_H
#define GPCHUNKCODE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

#define GP_CHUNK_OFFSET_ESCAPE     0xffffu
#define GP_CHUNK_DIFFERENCE_ESCAPE 0xffu

/* Returns integer k of an array whose integers have `width` bytes (1 to 4). */
GP_INLINE uint32_t GpChunkLoad(const void *array, int width, int64_t k)
{
  const uint8_t *p = (const uint8_t *)array;

  switch (width) {
  case 1:
    return p[k];
  case 2:
    return ((const uint16_t *)array)[k];
  case 3:
    return (uint32_t)p[3 * k] | (uint32_t)p[3 * k + 1] << 8 | (uint32_t)p[3 * k + 2] << 16;
  default:
    return ((const uint32_t *)array)[k];
  }
}

/* Returns the largest integer of `width` bytes. Differences are computed modulo this number plus 1, so that negative differences need no sign. */
GP_INLINE uint32_t GpChunkMask(int width)
{
  return 0xffffffffu >> (32 - 8 * width);
}

static inline int64_t GpChunkBlocks(int32_t nnz)
{
  return ((int64_t)nnz + GP_CHUNK_BLOCK - 1) / GP_CHUNK_BLOCK;
}

#if defined(__cplusplus)
extern "C" {
#endif

void GpChunkPlace(GpChunkHeader *head); /* computes the offsets of the sections and the size of the chunk from the other members */

/* Returns the checksum of memory whose size is a multiple of 32 bytes. */
uint64_t GpChunkSum(const void *memory, size_t bytes);

GpErr GpChunkPlanColumns(const GpChunkSource *A, GpChunkPlan *P, char why[GP_CHUNK_WHY]);
void  GpChunkEncodeColumns(const GpChunkSource *A, const GpChunkPlan *P, void *chunk);
GpErr GpChunkPlanValues(const GpChunkSource *A, GpChunkPlan *P, char why[GP_CHUNK_WHY]);
void  GpChunkEncodeValues(const GpChunkSource *A, const GpChunkPlan *P, void *chunk);

#if defined(__cplusplus)
}
#endif

#if !defined(__CUDACC__)
/* Stores integer k of an array whose integers have `width` bytes. */
static inline void GpChunkStore(void *array, int width, int64_t k, uint32_t v)
{
  uint8_t *p = (uint8_t *)array;

  switch (width) {
  case 1:
    p[k] = (uint8_t)v;
    break;
  case 2:
    ((uint16_t *)array)[k] = (uint16_t)v;
    break;
  case 3:
    p[3 * k]     = (uint8_t)v;
    p[3 * k + 1] = (uint8_t)(v >> 8);
    p[3 * k + 2] = (uint8_t)(v >> 16);
    break;
  default:
    ((uint32_t *)array)[k] = v;
  }
}

static inline int64_t GpChunkRowPointer(const GpChunkSource *A, int64_t i)
{
  return A->rowbytes == 8 ? ((const int64_t *)A->rowptr)[i] : ((const int32_t *)A->rowptr)[i];
}

/* Returns the row of nonzero k of the chunk, counted from the first row of the matrix. Error messages use it. */
static inline int64_t GpChunkRowOf(const GpChunkSource *A, const GpChunkPlan *P, int64_t k)
{
  int64_t i = P->first;

  while (i + 1 < P->end && GpChunkRowPointer(A, i + 1) - GpChunkRowPointer(A, P->first) <= k) i++;
  return A->start + i;
}

static inline int64_t GpChunkColumn(const GpChunkSource *A, int64_t k)
{
  return A->colbytes == 8 ? ((const int64_t *)A->col)[k] : ((const int32_t *)A->col)[k];
}
#endif
#endif
