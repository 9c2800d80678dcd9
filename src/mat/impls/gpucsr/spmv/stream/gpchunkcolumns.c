/* The encodings of the columns of a chunk: plain integers, 16-bit offsets, 8-bit differences. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "device/gpclones.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GP_CHUNK_BUCKETS (1 << 16) /* buckets of 2^15 columns */

typedef struct {
  int32_t col[GP_CHUNK_BLOCK];
  int32_t count;     /* number of nonzeros of the block */
  int32_t low, high; /* range of its columns */
} GpChunkBlock;

/* Copies the columns of block b. Returns the first nonzero of the block whose column is out of range, or -1. */
static int32_t GpChunkLoadBlock(const GpChunkSource *A, const GpChunkPlan *P, int64_t b, GpChunkBlock *B)
{
  const int64_t k = b * GP_CHUNK_BLOCK, from = P->nonzero + k, left = P->head.nnz - k;
  int32_t       low = INT32_MAX, high = INT32_MIN;

  B->count = (int32_t)(left < GP_CHUNK_BLOCK ? left : GP_CHUNK_BLOCK);
  if (A->colbytes == 8) {
    const int64_t *in    = (const int64_t *)A->col + from;
    int64_t        least = 0, most = 0;

    for (int32_t j = 0; j < B->count; j++) {
      least     = in[j] < least ? in[j] : least;
      most      = in[j] > most ? in[j] : most;
      B->col[j] = (int32_t)in[j];
    }
    if (least < 0 || most >= A->n) low = -1;
  } else memcpy(B->col, (const int32_t *)A->col + from, (size_t)B->count * sizeof(int32_t));
  for (int32_t j = 0; j < B->count; j++) {
    low  = B->col[j] < low ? B->col[j] : low;
    high = B->col[j] > high ? B->col[j] : high;
  }
  B->low  = low;
  B->high = high;
  if (low >= 0 && high < A->n) return -1;
  for (int32_t j = 0; j < B->count; j++) {
    const int64_t col = GpChunkColumn(A, from + j);

    if (col < 0 || col >= A->n) return j;
  }
  return -1;
}

/* Returns the base of a block for 16-bit offsets. If no base fits all columns, it is the start of the two adjacent buckets that hold the most columns.
   bucket[] must be zero, and is zero again when the function returns. */
static int32_t GpChunkFindBase(const GpChunkBlock *B, uint16_t bucket[])
{
  int32_t best = 0, most = 0;

  if ((int64_t)B->high - B->low < GP_CHUNK_OFFSET_ESCAPE) return B->low;
  for (int32_t j = 0; j < B->count; j++) bucket[B->col[j] >> 15]++;
  for (int32_t j = 0; j < B->count; j++) {
    const int32_t at = B->col[j] >> 15, held = bucket[at] + bucket[at + 1];

    if (held > most || (held == most && at < best)) {
      most = held;
      best = at;
    }
  }
  for (int32_t j = 0; j < B->count; j++) bucket[B->col[j] >> 15] = 0;
  return best << 15;
}

GP_CLONES static int32_t GpChunkCountOffsetEscapes(const GpChunkBlock *B, int32_t base)
{
  int32_t n = 0;

  for (int32_t j = 0; j < B->count; j++) n += (uint32_t)B->col[j] - (uint32_t)base >= GP_CHUNK_OFFSET_ESCAPE;
  return n;
}

/* The first nonzero of a block is an escape, so that the block needs no base. */
GP_CLONES static int32_t GpChunkCountDifferenceEscapes(const GpChunkBlock *B)
{
  int32_t n = 1;

  for (int32_t j = 1; j < B->count; j++) n += (uint32_t)B->col[j] - (uint32_t)B->col[j - 1] >= GP_CHUNK_DIFFERENCE_ESCAPE;
  return n;
}

static int GpChunkWidth(uint32_t range)
{
  return range <= 0xff ? 1 : range <= 0xffff ? 2 : range <= 0xffffff ? 3 : 4;
}

/* Chooses the encoding that takes the fewest bytes. If several take as many, it chooses the one that is decoded fastest: plain, then offsets, then differences. */
static void GpChunkChooseColumns(GpChunkHeader *head, int64_t offsets, int64_t differences)
{
  const int     width = GpChunkWidth((uint32_t)(head->highest - head->lowest));
  const int64_t nnz = head->nnz, blocks = GpChunkBlocks(head->nnz);
  const int64_t plain = nnz * width, offset = 2 * nnz + 8 * blocks + offsets * width, difference = nnz + 4 * blocks + differences * (width > 2 ? width : 2);

  head->columns  = GP_CHUNK_PLAIN;
  head->colbytes = (uint8_t)width;
  if (width > 2 && offset < plain && offset <= difference) {
    head->columns     = GP_CHUNK_OFFSET;
    head->colbytes    = 2;
    head->escapebytes = (uint8_t)width;
    head->nescapes    = (uint32_t)offsets;
  } else if (width > 1 && difference < plain) {
    head->columns     = GP_CHUNK_DIFFERENCE;
    head->colbytes    = 1;
    head->escapebytes = (uint8_t)(width > 2 ? width : 2);
    head->nescapes    = (uint32_t)differences;
  } else if (width == 4) head->lowest = 0; /* the kernels then read the section as the array of columns */
}

GpErr GpChunkPlanColumns(const GpChunkSource *A, GpChunkPlan *P, char why[GP_CHUNK_WHY])
{
  const int64_t blocks = GpChunkBlocks(P->head.nnz);
  int32_t       low = INT32_MAX, high = 0;
  int64_t       offsets = 0, differences = 0;
  uint16_t      bucket[GP_CHUNK_BUCKETS + 1] = {0};
  GpChunkBlock  B;

  for (int64_t b = 0; b < blocks; b++) {
    const int32_t wrong = GpChunkLoadBlock(A, P, b, &B);

    if (wrong >= 0) {
      const int64_t k = b * GP_CHUNK_BLOCK + wrong;

      (void)snprintf(why, GP_CHUNK_WHY, "row %" PRId64 " has a nonzero in column %" PRId64 ", but the matrix has %" PRId32 " columns", GpChunkRowOf(A, P, k), GpChunkColumn(A, P->nonzero + k), A->n);
      return GP_ERR_ARGUMENT;
    }
    low  = B.low < low ? B.low : low;
    high = B.high > high ? B.high : high;
    if (A->plain) continue;
    offsets += GpChunkCountOffsetEscapes(&B, GpChunkFindBase(&B, bucket));
    differences += GpChunkCountDifferenceEscapes(&B);
  }
  P->head.lowest  = blocks ? low : 0;
  P->head.highest = high;
  if (A->plain) {
    P->head.columns  = GP_CHUNK_PLAIN;
    P->head.colbytes = 4;
    P->head.lowest   = 0;
  } else GpChunkChooseColumns(&P->head, offsets, differences);
  return GP_SUCCESS;
}

/* Writes a block of 16-bit offsets. `escapes` is the number of escapes before the block. Returns the number up to its end. */
static uint32_t GpChunkEncodeOffsets(const GpChunkHeader *head, const GpChunkBlock *B, int32_t base, uint32_t escapes, uint16_t code[], uint8_t list[])
{
  for (int32_t j = 0; j < B->count; j++) {
    const uint32_t offset = (uint32_t)B->col[j] - (uint32_t)base;

    code[j] = (uint16_t)(offset < GP_CHUNK_OFFSET_ESCAPE ? offset : GP_CHUNK_OFFSET_ESCAPE);
    if (offset >= GP_CHUNK_OFFSET_ESCAPE) GpChunkStore(list, head->escapebytes, escapes++, (uint32_t)(B->col[j] - head->lowest));
  }
  return escapes;
}

/* Writes a block of 8-bit differences. `escapes` is the number of escapes before the block. Returns the number up to its end. */
static uint32_t GpChunkEncodeDifferences(const GpChunkHeader *head, const GpChunkBlock *B, uint32_t escapes, uint8_t code[], uint8_t list[])
{
  for (int32_t j = 0; j < B->count; j++) {
    const uint32_t difference = (uint32_t)B->col[j] - (uint32_t)(j ? B->col[j - 1] : head->lowest);
    const int      escape     = !j || difference >= GP_CHUNK_DIFFERENCE_ESCAPE;

    code[j] = (uint8_t)(escape ? GP_CHUNK_DIFFERENCE_ESCAPE : difference);
    if (escape) GpChunkStore(list, head->escapebytes, escapes++, difference);
  }
  return escapes;
}

void GpChunkEncodeColumns(const GpChunkSource *A, const GpChunkPlan *P, void *chunk)
{
  const GpChunkHeader *head = &P->head;
  uint8_t             *code = (uint8_t *)chunk + head->offset[GP_CHUNK_AT_COLUMNS], *list = (uint8_t *)chunk + head->offset[GP_CHUNK_AT_ESCAPES];
  int32_t             *base                         = (int32_t *)((uint8_t *)chunk + head->offset[GP_CHUNK_AT_BASES]);
  uint32_t            *start                        = (uint32_t *)((uint8_t *)chunk + head->offset[GP_CHUNK_AT_STARTS]);
  uint32_t             escapes                      = 0;
  uint16_t             bucket[GP_CHUNK_BUCKETS + 1] = {0};
  GpChunkBlock         B;

  for (int64_t b = 0; b < GpChunkBlocks(head->nnz); b++) {
    const int64_t k = b * GP_CHUNK_BLOCK;

    (void)GpChunkLoadBlock(A, P, b, &B);
    if (head->columns == GP_CHUNK_PLAIN) {
      for (int32_t j = 0; j < B.count; j++) GpChunkStore(code, head->colbytes, k + j, (uint32_t)(B.col[j] - head->lowest));
      continue;
    }
    start[b] = escapes;
    if (head->columns == GP_CHUNK_OFFSET) {
      base[b] = GpChunkFindBase(&B, bucket);
      escapes = GpChunkEncodeOffsets(head, &B, base[b], escapes, (uint16_t *)code + k, list);
    } else escapes = GpChunkEncodeDifferences(head, &B, escapes, code + k, list);
  }
}
