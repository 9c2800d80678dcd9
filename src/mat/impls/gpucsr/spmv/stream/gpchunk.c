/* Cuts the rows of a matrix into chunks, chooses the encoding of a chunk, and writes it. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes of rows first to end - 1 as compressed rows with 32-bit row starts and columns. */
static double GpChunkRowBytes(const GpChunkSource *A, int64_t first, int64_t end)
{
  const double nonzeros = (double)(GpChunkRowPointer(A, end) - GpChunkRowPointer(A, first));

  return (double)(end - first) * sizeof(int32_t) + nonzeros * (double)(sizeof(int32_t) + GpPrecBytes(A->prec));
}

static int GpChunkFits(const GpChunkSource *A, int64_t first, int64_t end, size_t bytes)
{
  return end - first <= GP_CHUNK_LIMIT && GpChunkRowPointer(A, end) - GpChunkRowPointer(A, first) <= GP_CHUNK_LIMIT && GpChunkRowBytes(A, first, end) <= (double)bytes;
}

int64_t GpChunkEnd(const GpChunkSource *A, int64_t first, size_t bytes)
{
  int64_t lo = first + 1, hi = A->m; /* the end is at least lo and at most hi */

  while (lo < hi) {
    const int64_t mid = hi - (hi - lo) / 2;

    if (GpChunkFits(A, first, mid, bytes)) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

GpErr GpChunkCut(const GpChunkSource *A, size_t bytes, int64_t *nchunks, int64_t **first, char why[GP_CHUNK_WHY])
{
  int64_t n = 0, capacity = 64, row = 0, *list = (int64_t *)malloc((size_t)capacity * sizeof(*list));

  while (list) {
    list[n] = row;
    if (row >= A->m) {
      *nchunks = n;
      *first   = list;
      return GP_SUCCESS;
    }
    row = GpChunkEnd(A, row, bytes);
    if (++n == capacity) {
      int64_t *more = (int64_t *)realloc(list, 2 * (size_t)capacity * sizeof(*list));

      if (!more) break;
      list = more;
      capacity *= 2;
    }
  }
  free(list);
  (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for the list of %" PRId64 " chunks; choose larger chunks", 2 * capacity);
  return GP_ERR_MEMORY;
}

/* Chooses the width of the row lengths that takes the fewest bytes. above8 and above16: numbers of rows whose length has more than 8 and more than 16 bits. Such a row takes 8
   bytes more if it is in the list of long rows. */
static void GpChunkChooseLengths(GpChunkHeader *head, int64_t above8, int64_t above16)
{
  const int64_t rows = head->m, one = rows + 8 * above8, two = 2 * rows + 8 * above16;

  head->rowbytes = one <= two && one <= 4 * rows ? 1 : two <= 4 * rows ? 2 : 4;
  head->nlong    = (uint32_t)(head->rowbytes == 1 ? above8 : head->rowbytes == 2 ? above16 : 0);
}

/* Checks the row pointers of the chunk and chooses the width of the row lengths. */
static GpErr GpChunkPlanLengths(const GpChunkSource *A, GpChunkPlan *P, char why[GP_CHUNK_WHY])
{
  const int64_t begin = GpChunkRowPointer(A, P->first);
  int64_t       last = begin, above8 = 0, above16 = 0; /* numbers of rows whose length has more than 8 and more than 16 bits */

  for (int64_t i = P->first; i < P->end; i++) {
    const int64_t next = GpChunkRowPointer(A, i + 1);

    if (next < last) {
      (void)snprintf(why, GP_CHUNK_WHY, "the row pointer of row %" PRId64 " is less than that of the row before it", A->start + i + 1);
      return GP_ERR_ARGUMENT;
    }
    above8 += next - last > 0xff;
    above16 += next - last > 0xffff;
    last = next;
  }
  if (P->end - P->first > GP_CHUNK_LIMIT || last - begin > GP_CHUNK_LIMIT) {
    (void)snprintf(why, GP_CHUNK_WHY, "rows %" PRId64 " to %" PRId64 " have %" PRId64 " nonzeros; a chunk holds at most %" PRId64, A->start + P->first, A->start + P->end - 1, last - begin, GP_CHUNK_LIMIT);
    return GP_ERR_ARGUMENT;
  }
  P->head.m   = (int32_t)(P->end - P->first);
  P->head.nnz = (int32_t)(last - begin);
  if (A->plain) P->head.rowbytes = 4;
  else GpChunkChooseLengths(&P->head, above8, above16);
  return GP_SUCCESS;
}

GpErr GpChunkPlanRows(const GpChunkSource *A, int64_t first, int64_t end, GpChunkPlan *P, char why[GP_CHUNK_WHY])
{
  GpErr err;

  memset(P, 0, sizeof(*P));
  P->loss         = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  P->first        = first;
  P->end          = end;
  P->nonzero      = GpChunkRowPointer(A, first) - GpChunkRowPointer(A, 0);
  P->head.magic   = GP_CHUNK_MAGIC;
  P->head.version = 1;
  P->head.prec    = (uint8_t)A->prec;
  P->head.first   = A->start + first;
  P->head.n       = A->n;
  err             = GpChunkPlanLengths(A, P, why);
  if (!err) err = GpChunkPlanColumns(A, P, why);
  if (!err) err = GpChunkPlanValues(A, P, why);
  if (!err) GpChunkPlace(&P->head);
  return err;
}

static void GpChunkEncodeLengths(const GpChunkSource *A, const GpChunkPlan *P, void *chunk)
{
  uint8_t  *rows   = (uint8_t *)chunk + P->head.offset[GP_CHUNK_AT_ROWS];
  uint32_t *longer = (uint32_t *)((uint8_t *)chunk + P->head.offset[GP_CHUNK_AT_LONG]);

  for (int64_t i = P->first; i < P->end; i++) {
    const uint32_t length = (uint32_t)(GpChunkRowPointer(A, i + 1) - GpChunkRowPointer(A, i));
    const int      fits   = length <= GpChunkMask(P->head.rowbytes);

    GpChunkStore(rows, P->head.rowbytes, i - P->first, fits ? length : 0);
    if (fits) continue;
    *longer++ = (uint32_t)(i - P->first);
    *longer++ = length;
  }
}

void GpChunkEncode(const GpChunkSource *A, const GpChunkPlan *P, void *chunk)
{
  GpChunkHeader *head = (GpChunkHeader *)chunk;

  /* Zero the bytes before each section, because some of them are padding. The encoders write the others. */
  for (int s = 0; s <= GP_CHUNK_SECTIONS; s++) {
    const uint64_t at = s < GP_CHUNK_SECTIONS ? P->head.offset[s] : P->head.bytes;

    memset((uint8_t *)chunk + at - GP_CHUNK_ALIGN, 0, GP_CHUNK_ALIGN);
  }
  *head = P->head;
  GpChunkEncodeLengths(A, P, chunk);
  GpChunkEncodeColumns(A, P, chunk);
  GpChunkEncodeValues(A, P, chunk);
  head->checksum = GpChunkChecksum(chunk);
}
