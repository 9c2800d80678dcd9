/* The layout of a chunk, its checksum, and checks of chunks that were read from a file. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void GpChunkPlace(GpChunkHeader *head)
{
  const uint64_t nnz = (uint64_t)head->nnz, blocks = head->columns == GP_CHUNK_PLAIN ? 0 : (uint64_t)GpChunkBlocks(head->nnz), each = GpPrecBytes((GpPrec)head->prec);
  const uint64_t bytes[GP_CHUNK_SECTIONS] = {
    [GP_CHUNK_AT_ROWS]    = (uint64_t)head->m * head->rowbytes,
    [GP_CHUNK_AT_LONG]    = (uint64_t)head->nlong * 2 * sizeof(uint32_t),
    [GP_CHUNK_AT_COLUMNS] = nnz * head->colbytes,
    [GP_CHUNK_AT_BASES]   = head->columns == GP_CHUNK_OFFSET ? 4 * blocks : 0,
    [GP_CHUNK_AT_STARTS]  = 4 * blocks,
    [GP_CHUNK_AT_ESCAPES] = (uint64_t)head->nescapes * head->escapebytes,
    [GP_CHUNK_AT_TABLE]   = head->nvalues * each,
    [GP_CHUNK_AT_VALUES]  = nnz * (head->values == GP_CHUNK_ONE      ? 0
                                   : head->values == GP_CHUNK_CODE   ? 1
                                   : head->values == GP_CHUNK_SINGLE ? 4
                                                                     : 8),
  };
  uint64_t at = sizeof(*head);

  for (int s = 0; s < GP_CHUNK_SECTIONS; s++) {
    head->offset[s] = at;
    at              = (at + bytes[s] + GP_CHUNK_ALIGN - 1) / GP_CHUNK_ALIGN * GP_CHUNK_ALIGN;
  }
  head->bytes = at;
}

/* Four independent sums of 64-bit words keep the multiplier of the processor busy. Each step is invertible, so a change of one word always changes the
   sum. */
static void GpChunkAddWords(const void *from, size_t bytes, uint64_t sum[4])
{
  for (size_t at = 0; at < bytes; at += 4 * sizeof(uint64_t)) {
    uint64_t word[4];

    memcpy(word, (const uint8_t *)from + at, sizeof(word));
    for (int i = 0; i < 4; i++) {
      sum[i] = (sum[i] ^ word[i]) * 0x9e3779b97f4a7c15ull;
      sum[i] ^= sum[i] >> 32;
    }
  }
}

static uint64_t GpChunkFold(const uint64_t sum[4])
{
  return GpMix(GpMix(GpMix(GpMix(sum[0]) ^ sum[1]) ^ sum[2]) ^ sum[3]);
}

uint64_t GpChunkSum(const void *memory, size_t bytes)
{
  uint64_t sum[4] = {1, 2, 3, 4};

  GpChunkAddWords(memory, bytes, sum);
  return GpChunkFold(sum);
}

uint64_t GpChunkChecksum(const void *chunk)
{
  GpChunkHeader head;
  uint64_t      sum[4] = {1, 2, 3, 4};

  memcpy(&head, chunk, sizeof(head));
  head.checksum = 0;
  GpChunkAddWords(&head, sizeof(head), sum);
  GpChunkAddWords((const uint8_t *)chunk + sizeof(head), head.bytes - sizeof(head), sum);
  return GpChunkFold(sum);
}

/* If `holds` is 0, writes to `why` that the chunk is damaged and what is wrong, and returns 1. Otherwise returns 0. */
static int GpChunkRefuse(int holds, const char *what, char why[GP_CHUNK_WHY])
{
  if (!holds) (void)snprintf(why, GP_CHUNK_WHY, "the chunk is damaged: %s", what);
  return !holds;
}

/* Checks the counts, on which the layout depends. Returns 1 if one is wrong. */
static int GpChunkRefuseCounts(const GpChunkHeader *h, char why[GP_CHUNK_WHY])
{
  return GpChunkRefuse(h->m >= 1 && h->m <= GP_CHUNK_LIMIT && h->first >= 0 && h->first <= INT64_MAX - h->m, "number of rows", why) || GpChunkRefuse(h->nnz >= 0 && h->nnz <= GP_CHUNK_LIMIT, "number of nonzeros", why) ||
         GpChunkRefuse(h->nlong <= (uint32_t)h->m && (h->nlong == 0 || h->rowbytes < 4), "number of long rows", why) ||
         GpChunkRefuse(h->lowest >= 0 && h->lowest <= h->highest && (h->highest < h->n || (!h->nnz && !h->highest)), "range of columns", why) ||
         GpChunkRefuse(h->nescapes <= (uint32_t)h->nnz && (h->nescapes == 0 || h->columns != GP_CHUNK_PLAIN), "number of escapes", why) ||
         GpChunkRefuse(h->values == GP_CHUNK_ONE    ? h->nvalues == (h->nnz > 0)
                       : h->values == GP_CHUNK_CODE ? h->nvalues >= 1 && h->nvalues <= GP_CHUNK_CODES
                                                    : h->nvalues == 0,
                       "number of distinct values", why);
}

/* Returns 1 if a reserved byte is not 0. */
static int GpChunkHasRest(const GpChunkHeader *h)
{
  int any = 0;

  for (size_t i = 0; i < sizeof(h->zero); i++) any |= h->zero[i];
  for (size_t i = 0; i < sizeof(h->rest); i++) any |= h->rest[i];
  return any != 0;
}

/* Checks the encodings. Returns 1 if one is wrong. */
static int GpChunkRefuseKinds(const GpChunkHeader *h, char why[GP_CHUNK_WHY])
{
  const int columns = h->columns == GP_CHUNK_PLAIN ? h->colbytes >= 1 && h->colbytes <= 4 && h->escapebytes == 0 : h->columns == GP_CHUNK_OFFSET ? h->colbytes == 2 : h->columns == GP_CHUNK_DIFFERENCE && h->colbytes == 1;
  const int width   = h->columns == GP_CHUNK_PLAIN ? h->colbytes : h->escapebytes;

  return GpChunkRefuse(h->prec < GP_PRECISIONS, "precision", why) || GpChunkRefuse(h->values < GP_CHUNK_VALUES && (h->values != GP_CHUNK_DOUBLE || h->prec == GP_F64), "encoding of the values", why) ||
         GpChunkRefuse(columns && width >= (h->columns == GP_CHUNK_PLAIN ? 1 : 2) && width <= 4, "encoding of the columns", why) || GpChunkRefuse((uint32_t)h->highest - (uint32_t)h->lowest <= GpChunkMask(width), "width of the columns", why) ||
         GpChunkRefuse(h->columns != GP_CHUNK_PLAIN || width < 4 || h->lowest == 0, "lowest column", why) || GpChunkRefuse(h->rowbytes == 1 || h->rowbytes == 2 || h->rowbytes == 4, "encoding of the row lengths", why) ||
         GpChunkRefuse(!GpChunkHasRest(h), "reserved bytes", why);
}

GpErr GpChunkCheck(const void *chunk, size_t available, char why[GP_CHUNK_WHY])
{
  GpChunkHeader h, layout;

  if (GpChunkRefuse(available >= sizeof(h), "its header is incomplete", why)) return GP_ERR_ARGUMENT;
  memcpy(&h, chunk, sizeof(h));
  if (GpChunkRefuse(h.magic == GP_CHUNK_MAGIC, "it does not begin with GPCHUNK1", why)) return GP_ERR_ARGUMENT;
  if (h.version != 1) {
    (void)snprintf(why, GP_CHUNK_WHY, "the chunk has version %" PRIu32 "; this library reads version 1", h.version);
    return GP_ERR_ARGUMENT;
  }
  if (GpChunkRefuseKinds(&h, why) || GpChunkRefuseCounts(&h, why)) return GP_ERR_ARGUMENT;
  layout = h;
  GpChunkPlace(&layout);
  if (GpChunkRefuse(layout.bytes == h.bytes && !memcmp(layout.offset, h.offset, sizeof(h.offset)), "offsets of its sections", why)) return GP_ERR_ARGUMENT;
  if (GpChunkRefuse(h.bytes <= available, "it is truncated", why)) return GP_ERR_ARGUMENT;
  return GP_SUCCESS;
}

/* Checks that the row lengths add up to the number of nonzeros, and that codes of values are in the table. Returns 1 if not. */
static int GpChunkRefuseRowsAndValues(const GpChunkHeader *h, const uint8_t *chunk, char why[GP_CHUNK_WHY])
{
  const uint32_t *longer   = (const uint32_t *)(chunk + h->offset[GP_CHUNK_AT_LONG]);
  int64_t         nonzeros = 0;
  uint32_t        most     = 0;

  for (int32_t i = 0; i < h->m; i++) nonzeros += GpChunkLoad(chunk + h->offset[GP_CHUNK_AT_ROWS], h->rowbytes, i);
  for (uint32_t l = 0; l < h->nlong; l++) {
    if (GpChunkRefuse(longer[2 * l] < (uint32_t)h->m && (!l || longer[2 * l] > longer[2 * l - 2]) && !GpChunkLoad(chunk + h->offset[GP_CHUNK_AT_ROWS], h->rowbytes, longer[2 * l]), "long rows", why)) return 1;
    nonzeros += longer[2 * l + 1];
  }
  for (int32_t k = 0; h->values == GP_CHUNK_CODE && k < h->nnz; k++) {
    const uint32_t code = chunk[h->offset[GP_CHUNK_AT_VALUES] + (uint64_t)k];

    most = code > most ? code : most;
  }
  return GpChunkRefuse(nonzeros == h->nnz, "row lengths", why) || GpChunkRefuse(h->values != GP_CHUNK_CODE || most < h->nvalues, "codes of the values", why);
}

/* Decodes the columns without storing them, and checks their range and the list of escapes. Returns 1 if one is wrong. */
static int GpChunkRefuseColumns(const GpChunkHeader *h, const uint8_t *chunk, char why[GP_CHUNK_WHY])
{
  const uint8_t  *code = chunk + h->offset[GP_CHUNK_AT_COLUMNS], *list = chunk + h->offset[GP_CHUNK_AT_ESCAPES];
  const int32_t  *base  = (const int32_t *)(chunk + h->offset[GP_CHUNK_AT_BASES]);
  const uint32_t *start = (const uint32_t *)(chunk + h->offset[GP_CHUNK_AT_STARTS]);
  const uint32_t  range = (uint32_t)h->highest - (uint32_t)h->lowest, none = h->columns == GP_CHUNK_PLAIN ? 1 : 0;
  const uint32_t  escape = h->columns == GP_CHUNK_OFFSET ? GP_CHUNK_OFFSET_ESCAPE : GP_CHUNK_DIFFERENCE_ESCAPE;
  uint32_t        used = 0, sum = 0;

  for (int32_t k = 0; k < h->nnz; k++) {
    const uint32_t c       = GpChunkLoad(code, h->colbytes, k);
    const int      escapes = !none && c == escape;
    uint32_t       v       = c;

    if (!none && k % GP_CHUNK_BLOCK == 0) {
      if (GpChunkRefuse(start[k / GP_CHUNK_BLOCK] == used, "list of escapes", why)) return 1;
      sum = 0;
    }
    if (escapes) {
      if (GpChunkRefuse(used < h->nescapes, "list of escapes", why)) return 1;
      v = GpChunkLoad(list, h->escapebytes, used++);
    }
    if (h->columns == GP_CHUNK_DIFFERENCE) v = sum = (sum + v) & GpChunkMask(h->escapebytes);
    else if (h->columns == GP_CHUNK_OFFSET && !escapes) v = (uint32_t)base[k / GP_CHUNK_BLOCK] + c - (uint32_t)h->lowest;
    if (GpChunkRefuse(v <= range, "a column is out of range", why)) return 1;
  }
  return GpChunkRefuse(used == h->nescapes, "list of escapes", why);
}

GpErr GpChunkVerify(const void *chunk, size_t available, char why[GP_CHUNK_WHY])
{
  const GpErr   err = GpChunkCheck(chunk, available, why);
  GpChunkHeader h;

  if (err) return err;
  memcpy(&h, chunk, sizeof(h));
  if (GpChunkRefuse(h.checksum == GpChunkChecksum(chunk), "checksum", why) || GpChunkRefuseRowsAndValues(&h, (const uint8_t *)chunk, why) || GpChunkRefuseColumns(&h, (const uint8_t *)chunk, why)) return GP_ERR_ARGUMENT;
  return GP_SUCCESS;
}
