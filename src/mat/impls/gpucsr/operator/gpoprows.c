/* Sources of rows for chunks: compressed rows in host memory, and the transpose of such rows. */
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static GpErr GpOpGetArrays(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  const GpChunkSource *A    = (const GpChunkSource *)context;
  const int64_t        from = GpChunkRowPointer(A, first) - GpChunkRowPointer(A, 0);

  (void)entries;
  (void)why;
  *rows        = *A;
  rows->start  = first;
  rows->m      = end - first;
  rows->rowptr = (const char *)A->rowptr + first * A->rowbytes;
  rows->col    = A->col ? (const char *)A->col + from * A->colbytes : NULL;
  rows->val    = A->val ? A->val + from : NULL;
  return GP_SUCCESS;
}

void GpOpRowsOfArrays(const GpChunkSource *A, GpRowSource *rows)
{
  *rows = (GpRowSource){A->m, A->n, A->prec, (void *)(uintptr_t)A, GpOpGetArrays, NULL};
}

/* --- the transpose ------------------------------------------------------------------------------------------------------------------ */

/* Gathers rows first to end - 1 of the transpose. Their columns ascend, because the rows of the matrix are read in order. */
static void GpOpGather(GpOpTransposed *T, int64_t first, int64_t end)
{
  const GpChunkSource *A    = &T->A;
  const int64_t        from = T->rowptr[first], zero = GpChunkRowPointer(A, 0);
  int64_t              k = 0;

  for (int64_t j = first; j < end; j++) T->at[j] = T->rowptr[j] - from;
  for (int64_t i = 0; i < A->m; i++) {
    const int64_t last = GpChunkRowPointer(A, i + 1) - zero;

    for (; k < last; k++) {
      const int64_t j = GpChunkColumn(A, k);

      if (j < first || j >= end) continue;
      T->col[T->at[j]]   = (int32_t)i;
      T->val[T->at[j]++] = A->val[k];
    }
  }
}

static GpErr GpOpGetTransposed(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  GpOpTransposed *T = (GpOpTransposed *)context;
  const int64_t   n = T->rowptr[end] - T->rowptr[first];

  if (entries && n > T->capacity) {
    free(T->col);
    free(T->val);
    T->capacity = n;
    T->col      = (int32_t *)malloc((size_t)n * sizeof(*T->col));
    T->val      = (double *)malloc((size_t)n * sizeof(*T->val));
    if (!T->col || !T->val) {
      T->capacity = 0;
      (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for %" PRId64 " nonzeros of the transpose", n);
      return GP_ERR_MEMORY;
    }
  }
  if (entries) GpOpGather(T, first, end);
  *rows = (GpChunkSource){.start = first, .m = end - first, .n = (int32_t)T->A.m, .prec = T->A.prec, .rowbytes = 8, .colbytes = 4, .rowptr = T->rowptr + first, .col = T->col, .val = T->val};
  return GP_SUCCESS;
}

/* The columns must be in range. They are if the matrix itself has been encoded before, because encoding checks them. */
GpErr GpOpTransposedCreate(GpDev dev, const GpChunkSource *A, GpOpTransposed *T, GpRowSource *rows)
{
  const int64_t nnz = GpChunkRowPointer(A, A->m) - GpChunkRowPointer(A, 0);

  *T        = (GpOpTransposed){.A = *A};
  T->rowptr = (int64_t *)calloc((size_t)A->n + 1, sizeof(*T->rowptr));
  T->at     = (int64_t *)calloc((size_t)A->n + 1, sizeof(*T->at));
  if (!T->rowptr || !T->at) {
    GpOpTransposedDestroy(T);
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for the transpose of a matrix with %" PRId32 " columns", A->n);
  }
  for (int64_t k = 0; k < nnz; k++) T->rowptr[GpChunkColumn(A, k) + 1]++;
  for (int64_t j = 0; j < A->n; j++) T->rowptr[j + 1] += T->rowptr[j];
  *rows = (GpRowSource){A->n, (int32_t)A->m, A->prec, T, GpOpGetTransposed, NULL};
  return GP_SUCCESS;
}

void GpOpTransposedDestroy(GpOpTransposed *T)
{
  free(T->rowptr);
  free(T->col);
  free(T->val);
  free(T->at);
  *T = (GpOpTransposed){.capacity = 0};
}
