/* The encodings of the values of a chunk: one value, indices into a table, single precision, double precision. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GP_CHUNK_SLOTS (4 * GP_CHUNK_CODES)

typedef union {
  double   d[GP_CHUNK_BLOCK];
  float    f[GP_CHUNK_BLOCK];
  uint64_t wide[GP_CHUNK_BLOCK];
  uint32_t word[GP_CHUNK_BLOCK];
} GpChunkReals;

static uint64_t GpChunkGetBits(const GpChunkReals *V, GpPrec prec, int32_t j)
{
  return prec == GP_F32 ? V->word[j] : V->wide[j];
}

/* Returns the index of a value in key[], or -1. Sets *slot to the place of the value in the hash table. */
static int32_t GpChunkFindKey(const GpChunkPlan *P, uint64_t bits, int32_t *slot)
{
  for (*slot = (int32_t)(GpMix(bits) % GP_CHUNK_SLOTS); P->slot[*slot]; *slot = (*slot + 1) % GP_CHUNK_SLOTS) {
    if (P->key[P->slot[*slot] - 1] == bits) return P->slot[*slot] - 1;
  }
  return -1;
}

/* Adds the values of a block to key[]. If there are more than GP_CHUNK_CODES distinct values, nkeys becomes GP_CHUNK_CODES + 1. */
static void GpChunkAddKeys(GpChunkPlan *P, const GpChunkReals *V, int32_t count)
{
  const GpPrec prec = (GpPrec)P->head.prec;

  for (int32_t j = 0; j < count && P->nkeys <= GP_CHUNK_CODES; j++) {
    const uint64_t bits = GpChunkGetBits(V, prec, j);
    int32_t        slot;

    if ((j && bits == GpChunkGetBits(V, prec, j - 1)) || GpChunkFindKey(P, bits, &slot) >= 0) continue;
    if (P->nkeys < GP_CHUNK_CODES) {
      P->key[P->nkeys] = bits;
      P->slot[slot]    = (int16_t)(P->nkeys + 1);
    }
    P->nkeys++;
  }
}

/* Returns 1 if single precision holds every value of a block. NaNs are not counted as exact, because a conversion to double precision on a GPU does not
   keep their bits. */
static int GpChunkBlockIsSingle(const GpChunkReals *V, int32_t count)
{
  int exact = 1;

  for (int32_t j = 0; j < count; j++) exact &= (double)(float)V->d[j] == V->d[j]; /* 1 for zeros of both signs too; the conversion keeps the sign */
  return exact;
}

/* Copies block b of the values and converts them to the precision of the matrix. */
static GpErr GpChunkLoadValues(const GpChunkSource *A, const GpChunkPlan *P, int64_t b, int32_t *count, GpChunkReals *V, GpLoss *loss)
{
  const int64_t k = b * GP_CHUNK_BLOCK, left = P->head.nnz - k;
  const double *in = A->val + P->nonzero + k;

  *count = (int32_t)(left < GP_CHUNK_BLOCK ? left : GP_CHUNK_BLOCK);
  if (A->prec == GP_F32) return GpCsrNarrow(k, (size_t)*count, in, V->f, loss);
  memcpy(V->d, in, (size_t)*count * sizeof(double));
  return GP_SUCCESS;
}

/* Chooses the encoding that takes the fewest bytes. */
static void GpChunkChooseValues(GpChunkPlan *P, int single)
{
  GpChunkHeader *head = &P->head;
  const int64_t  nnz = head->nnz, each = (int64_t)GpPrecBytes((GpPrec)head->prec);

  head->values = head->prec == GP_F32 || single ? GP_CHUNK_SINGLE : GP_CHUNK_DOUBLE;
  if (P->nkeys <= 1) head->values = GP_CHUNK_ONE;
  else if (P->nkeys <= GP_CHUNK_CODES && nnz + each * P->nkeys < nnz * (head->values == GP_CHUNK_SINGLE ? 4 : 8)) head->values = GP_CHUNK_CODE;
  head->nvalues = head->values <= GP_CHUNK_CODE ? (uint32_t)P->nkeys : 0;
}

GpErr GpChunkPlanValues(const GpChunkSource *A, GpChunkPlan *P, char why[GP_CHUNK_WHY])
{
  int          single = 1;
  GpChunkReals V;

  for (int64_t b = 0; b < GpChunkBlocks(P->head.nnz); b++) {
    int32_t count;

    if (GpChunkLoadValues(A, P, b, &count, &V, &P->loss)) {
      const int64_t k = P->loss.overflow;

      (void)snprintf(why, GP_CHUNK_WHY, "the value %g in row %" PRId64 ", column %" PRId64 " overflows single precision; use double storage", A->val[P->nonzero + k], GpChunkRowOf(A, P, k), GpChunkColumn(A, P->nonzero + k));
      return GP_ERR_ARGUMENT;
    }
    if (A->plain && A->prec == GP_F64) break; /* double precision: no value is rounded, so that none need be checked */
    if (A->plain) continue;
    GpChunkAddKeys(P, &V, count);
    if (A->prec == GP_F64 && single) single = GpChunkBlockIsSingle(&V, count);
    if (A->prec == GP_F64 && !single && P->nkeys > GP_CHUNK_CODES) break;
  }
  if (A->plain) P->head.values = A->prec == GP_F32 ? GP_CHUNK_SINGLE : GP_CHUNK_DOUBLE;
  else GpChunkChooseValues(P, single);
  return GP_SUCCESS;
}

static void GpChunkEncodeTable(const GpChunkPlan *P, void *table)
{
  for (uint32_t c = 0; c < P->head.nvalues; c++) {
    if (P->head.prec == GP_F32) ((uint32_t *)table)[c] = (uint32_t)P->key[c];
    else ((uint64_t *)table)[c] = P->key[c];
  }
}

void GpChunkEncodeValues(const GpChunkSource *A, const GpChunkPlan *P, void *chunk)
{
  const GpChunkHeader *head = &P->head;
  uint8_t             *to   = (uint8_t *)chunk + head->offset[GP_CHUNK_AT_VALUES];
  GpChunkReals         V;
  GpLoss               loss = {.at = -1, .overflow = -1};

  GpChunkEncodeTable(P, (uint8_t *)chunk + head->offset[GP_CHUNK_AT_TABLE]);
  if (head->values == GP_CHUNK_ONE) return;
  for (int64_t b = 0; b < GpChunkBlocks(head->nnz); b++) {
    const int64_t k = b * GP_CHUNK_BLOCK;
    int32_t       count, slot, code = 0;

    (void)GpChunkLoadValues(A, P, b, &count, &V, &loss);
    for (int32_t j = 0; j < count; j++) {
      if (head->values == GP_CHUNK_CODE) {
        const uint64_t bits = GpChunkGetBits(&V, A->prec, j);

        if (!j || bits != P->key[code]) code = GpChunkFindKey(P, bits, &slot);
        to[k + j] = (uint8_t)code;
      } else if (head->values == GP_CHUNK_DOUBLE) ((double *)to)[k + j] = V.d[j];
      else ((float *)to)[k + j] = A->prec == GP_F32 ? V.f[j] : (float)V.d[j];
    }
  }
}
