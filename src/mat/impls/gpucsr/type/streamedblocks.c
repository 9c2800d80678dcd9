/* The diagonal and the off-diagonal block of a matrix of type gpucsrstream on several processes. Each block reads all rows of this process and keeps the nonzeros in its own columns. */
#include "mat/impls/gpucsr/type/streamed.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#include <petsc/private/hashseti.h>
#include <stdio.h>
#include <stdlib.h>

#define MAT_GPUCSR_ROWS_CHANGED "the function or the file has returned other columns than when the matrix was set up; it must return the same rows each time"

/* --- the rows of a block ------------------------------------------------------------------------------------------------------------ */

/* Returns the number that a global column has in the block. The column must be one of the block. */
static int32_t MatGPUCSRBlockColumn(const MatGPUCSRBlockRows *B, int64_t column)
{
  PetscInt lo = 0, hi = B->n;

  if (!B->off) return (int32_t)(column - B->start);
  while (hi - lo > 1) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (B->columns[mid] <= column) lo = mid;
    else hi = mid;
  }
  return (int32_t)lo;
}

/* Implements MatGPUCSRRowsUse: appends the nonzeros of the block. */
static GpErr MatGPUCSRBlockAppend(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRBlockRows *B   = (MatGPUCSRBlockRows *)context;
  const int64_t       nnz = GpChunkRowPointer(piece, piece->m) - GpChunkRowPointer(piece, 0);

  for (int64_t k = 0; k < nnz; k++) {
    const int64_t column = GpChunkColumn(piece, k);

    if ((column < B->start || column >= B->end) != B->off) continue;
    if (B->used == B->capacity || (B->off && (!B->n || column < B->columns[0] || column > B->columns[B->n - 1]))) {
      (void)snprintf(why, GP_CHUNK_WHY, MAT_GPUCSR_ROWS_CHANGED);
      return GP_ERR_ARGUMENT;
    }
    B->col[B->used]   = MatGPUCSRBlockColumn(B, column);
    B->val[B->used++] = piece->val[k];
  }
  return GP_SUCCESS;
}

/* Implements get() of GpRowSource. */
static GpErr MatGPUCSRBlockGet(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  MatGPUCSRBlockRows *B   = (MatGPUCSRBlockRows *)context;
  const int64_t       n   = B->rowptr[end] - B->rowptr[first];
  GpErr               err = GP_SUCCESS;

  if (entries) {
    if (n > B->capacity || !B->col) {
      free(B->col);
      free(B->val);
      B->capacity = n;
      B->col      = (int32_t *)malloc((size_t)(n + 1) * sizeof(*B->col));
      B->val      = (double *)malloc((size_t)(n + 1) * sizeof(*B->val));
    }
    if (!B->col || !B->val) {
      B->capacity = 0;
      (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for %lld nonzeros of a block", (long long)n);
      return GP_ERR_MEMORY;
    }
    B->used = 0;
    err     = n ? MatGPUCSRRowsVisit_Private(B->rows, first, end, MatGPUCSRBlockAppend, B, why) : GP_SUCCESS;
    if (!err && B->used != n) {
      (void)snprintf(why, GP_CHUNK_WHY, MAT_GPUCSR_ROWS_CHANGED);
      err = GP_ERR_ARGUMENT;
    }
  }
  *rows = (GpChunkSource){.start = first, .m = end - first, .n = B->source.n, .prec = B->source.prec, .plain = B->rows->plain, .rowbytes = 8, .colbytes = 4, .rowptr = B->rowptr + first, .col = B->col, .val = B->val};
  return err;
}

/* --- the pattern of the blocks ------------------------------------------------------------------------------------------------------ */

typedef struct {
  Mat_GPUCSRStream *s;
  PetscHSetI        off; /* global columns of the off-diagonal block */
  PetscErrorCode    code;
} MatGPUCSRBlockCount;

/* Implements MatGPUCSRRowsUse: counts the nonzeros of both blocks in each row, and collects the columns of the off-diagonal block. */
static GpErr MatGPUCSRBlockCountPiece(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRBlockCount *C    = (MatGPUCSRBlockCount *)context;
  MatGPUCSRBlockRows  *B    = C->s->block;
  PetscInt             last = -1;

  for (int64_t i = 0, k = 0; i < piece->m; i++) {
    const int64_t end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0), row = piece->start + i;

    for (int b = 0; b < 2; b++) B[b].rowptr[row + 1] = B[b].rowptr[row];
    for (; k < end; k++) {
      const PetscInt column = (PetscInt)GpChunkColumn(piece, k);
      const int      off    = column < B->start || column >= B->end;

      B[off].rowptr[row + 1]++;
      if (!off || column == last || C->code) continue;
      C->code = PetscHSetIAdd(C->off, column);
      last    = column;
    }
  }
  if (!C->code) return GP_SUCCESS;
  (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for the set of columns of other processes; use more MPI ranks");
  return GP_ERR_MEMORY;
}

static PetscErrorCode MatGPUCSRBlocksCount(Mat A, MatGPUCSRBlockCount *C)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  PetscInt          n = 0, got = 0;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRRowsVisitAll_Private(&s->rows, MatGPUCSRBlockCountPiece, C));
  PetscCall(PetscHSetIGetSize(C->off, &n));
  PetscCheck(n < GP_CHUNK_LIMIT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The rows of this process have nonzeros in %" PetscInt_FMT " columns of other processes; the number must be less than %" PetscInt64_FMT "; use more MPI ranks", n,
             (PetscInt64)GP_CHUNK_LIMIT);
  PetscCall(PetscMalloc1(n + 1, &s->columns));
  PetscCall(PetscHSetIGetElems(C->off, &got, s->columns));
  PetscCall(PetscSortInt(n, s->columns));
  s->block[1].n       = n;
  s->block[1].columns = s->columns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRBlocksSetUp_Private(Mat A)
{
  Mat_GPUCSRStream   *s = (Mat_GPUCSRStream *)A->spptr;
  MatGPUCSRBlockCount C = {.s = s};
  PetscErrorCode      err;

  PetscFunctionBegin;
  if (s->columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRBlocksReset_Private(A));
  PetscCheck((PetscInt64)A->cmap->n < GP_CHUNK_LIMIT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "This process has %" PetscInt_FMT " columns; the number must be less than %" PetscInt64_FMT "; use more MPI ranks", A->cmap->n,
             (PetscInt64)GP_CHUNK_LIMIT);
  for (int b = 0; b < 2; b++) {
    s->block[b] = (MatGPUCSRBlockRows){.rows = &s->rows, .start = A->cmap->rstart, .end = A->cmap->rend, .off = (PetscBool)b, .n = b ? 0 : A->cmap->n};
    PetscCall(PetscCalloc1(A->rmap->n + 1, &s->block[b].rowptr));
  }
  PetscCall(PetscHSetICreate(&C.off));
  err = MatGPUCSRBlocksCount(A, &C);
  PetscCall(PetscHSetIDestroy(&C.off));
  if (err) PetscCall(MatGPUCSRBlocksReset_Private(A));
  PetscCall(C.code);
  PetscCall(err);
  for (int b = 0; b < 2; b++) s->block[b].source = (GpRowSource){A->rmap->n, (int32_t)s->block[b].n, GP_F64, &s->block[b], MatGPUCSRBlockGet, NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRBlocksReset_Private(Mat A)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    free(s->block[b].col);
    free(s->block[b].val);
    PetscCall(PetscFree(s->block[b].rowptr));
    s->block[b] = (MatGPUCSRBlockRows){NULL};
  }
  PetscCall(PetscFree(s->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
