/* The rows of a matrix of type gpucsrstream on this process: from a function of the user, or from a file in PETSc's binary format. */
#include "mat/impls/gpucsr/type/streamed.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAT_GPUCSR_PIECE_ROWS 65536              /* maximum number of rows of a piece */
#define MAT_GPUCSR_PIECE      ((int64_t)1 << 22) /* maximum number of nonzeros of a piece, unless it is one row */

/* Allocates the arrays of a piece, if the old ones are too small. */
static GpErr MatGPUCSRRowsGrow(MatGPUCSRRows *R, size_t rows, size_t entries, char why[GP_CHUNK_WHY])
{
  if (rows > R->mrows) {
    free(R->length);
    free(R->rowptr);
    R->length = (PetscInt *)malloc(rows * sizeof(*R->length));
    R->rowptr = (int64_t *)malloc((rows + 1) * sizeof(*R->rowptr));
    R->mrows  = R->length && R->rowptr ? rows : 0;
  }
  if (entries > R->mentries) {
    free(R->col);
    free(R->val);
    R->col      = (PetscInt *)malloc(entries * sizeof(*R->col));
    R->val      = (PetscScalar *)malloc(entries * sizeof(*R->val));
    R->mentries = R->col && R->val ? entries : 0;
  }
  if (rows <= R->mrows && entries <= R->mentries) return GP_SUCCESS;
  (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for %zu rows with %zu nonzeros", rows, entries);
  return GP_ERR_MEMORY;
}

/* Calls the user's function. After a failure of this function, R->code is its error. */
static GpErr MatGPUCSRRowsCall(MatGPUCSRRows *R, int64_t first, int64_t n, PetscBool entries, char why[GP_CHUNK_WHY])
{
  R->code = (*R->fn)(R->A, R->A->rmap->rstart + (PetscInt)first, (PetscInt)n, R->length, entries ? R->col : NULL, entries ? R->val : NULL, R->ctx);
  if (!R->code) return GP_SUCCESS;
  (void)snprintf(why, GP_CHUNK_WHY, "the function that returns rows has failed");
  return GP_ERR_ARGUMENT;
}

static GpErr MatGPUCSRRowsGetFromFunction(MatGPUCSRRows *R, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  const int64_t n   = end - first;
  GpErr         err = MatGPUCSRRowsGrow(R, (size_t)n, 0, why);

  if (!err) err = MatGPUCSRRowsCall(R, first, n, PETSC_FALSE, why);
  if (err) return err;
  R->rowptr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    if (R->length[i] < 0 || R->length[i] > R->A->cmap->N) {
      (void)snprintf(why, GP_CHUNK_WHY, "row %" PRId64 ": the function that returns rows gives the length %" PRId64 "; a length is 0 to %" PRId64 ", the number of columns", (int64_t)R->A->rmap->rstart + first + i, (int64_t)R->length[i],
                     (int64_t)R->A->cmap->N);
      return GP_ERR_ARGUMENT;
    }
    R->rowptr[i + 1] = R->rowptr[i] + R->length[i];
  }
  if (entries) err = MatGPUCSRRowsGrow(R, 0, (size_t)R->rowptr[n], why);
  if (!err && entries) err = MatGPUCSRRowsCall(R, first, n, PETSC_TRUE, why);
  *rows = (GpChunkSource){.rowbytes = sizeof(*R->rowptr), .colbytes = sizeof(*R->col), .rowptr = R->rowptr, .col = R->col, .val = R->val};
  return err;
}

/* Finds a column that occurs twice in nonzeros k to end - 1, which are those of a row. */
static GpErr MatGPUCSRRowsFindDuplicate(MatGPUCSRRows *R, const GpChunkSource *rows, int64_t k, int64_t end, int64_t row, char why[GP_CHUNK_WHY])
{
  const size_t words = (size_t)R->A->cmap->N / 64 + 1;
  int64_t      twice = -1;

  if (!R->mark) R->mark = (uint64_t *)calloc(words, sizeof(*R->mark));
  if (!R->mark) {
    (void)snprintf(why, GP_CHUNK_WHY, "out of host memory: %zu bytes to check columns that do not ascend; free host memory or sort the columns of each row", words * sizeof(*R->mark));
    return GP_ERR_MEMORY;
  }
  for (int64_t j = k; j < end; j++) {
    const int64_t  column = GpChunkColumn(rows, j);
    const uint64_t bit    = (uint64_t)1 << column % 64;

    if (R->mark[column / 64] & bit) twice = column;
    R->mark[column / 64] |= bit;
  }
  for (int64_t j = k; j < end; j++) R->mark[GpChunkColumn(rows, j) / 64] = 0;
  if (twice < 0) return GP_SUCCESS;
  (void)snprintf(why, GP_CHUNK_WHY, "row %" PRId64 " has several nonzeros in column %" PRId64 "; add them, the columns of a row must differ", row, twice);
  return GP_ERR_ARGUMENT;
}

/* Checks the columns, and that no value overflows if values are rounded to single precision. */
static GpErr MatGPUCSRRowsCheck(MatGPUCSRRows *R, const GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  const int64_t N = R->A->cmap->N;

  for (int64_t i = 0, k = 0; i < rows->m; i++) {
    const int64_t begin = k, end = GpChunkRowPointer(rows, i + 1) - GpChunkRowPointer(rows, 0), row = R->A->rmap->rstart + rows->start + i;
    int64_t       last    = -1;
    int           ascends = 1;

    for (; k < end; k++) {
      const int64_t column = GpChunkColumn(rows, k);

      if (column < 0 || column >= N) {
        (void)snprintf(why, GP_CHUNK_WHY, "row %" PRId64 ": column index %" PRId64 " is out of range; columns are 0 to %" PRId64, row, column, N - 1);
        return GP_ERR_ARGUMENT;
      }
      if (R->narrow && isinf((float)rows->val[k]) && !isinf(rows->val[k])) {
        (void)snprintf(why, GP_CHUNK_WHY, "-mat_gpucsr_storage single: the value %g in row %" PRId64 ", column %" PRId64 " overflows single precision; use auto or double", rows->val[k], row, column);
        return GP_ERR_ARGUMENT;
      }
      ascends &= column > last;
      last = column;
    }
    if (!ascends) {
      const GpErr err = MatGPUCSRRowsFindDuplicate(R, rows, begin, end, row, why);

      if (err) return err;
    }
  }
  return GP_SUCCESS;
}

/* Implements get() of GpRowSource. */
static GpErr MatGPUCSRRowsGet(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  MatGPUCSRRows *R     = (MatGPUCSRRows *)context;
  const int64_t  start = R->A->rmap->rstart;
  GpErr          err;

  R->code = PETSC_SUCCESS;
  err     = R->fn ? MatGPUCSRRowsGetFromFunction(R, first, end, entries, rows, why) : R->all.get(R->all.context, start + first, start + end, entries, rows, why);
  if (err) return err;
  rows->start = first;
  rows->m     = end - first;
  rows->n     = R->source.n;
  rows->prec  = R->source.prec;
  rows->plain = R->plain;
  return entries ? MatGPUCSRRowsCheck(R, rows, why) : GP_SUCCESS;
}

void MatGPUCSRRowsInit_Private(Mat A, MatGPUCSRRows *R)
{
  R->A      = A;
  R->source = (GpRowSource){A->rmap->n, (int32_t)PetscMin(A->cmap->N, GP_CHUNK_LIMIT), GP_F64, R, MatGPUCSRRowsGet, NULL};
}

void MatGPUCSRRowsReset_Private(MatGPUCSRRows *R)
{
  GpRowFileClose(&R->file);
  free(R->length);
  free(R->rowptr);
  free(R->col);
  free(R->val);
  free(R->mark);
  *R = (MatGPUCSRRows){NULL};
}

/* Returns the end of the piece that begins at row `first`. */
static GpErr MatGPUCSRRowsCut(MatGPUCSRRows *R, int64_t first, int64_t end, int64_t *cut, char why[GP_CHUNK_WHY])
{
  GpChunkSource rows;
  const int64_t n   = PetscMin(end - first, MAT_GPUCSR_PIECE_ROWS);
  GpErr         err = R->source.get(R, first, first + n, 0, &rows, why);
  int64_t       i   = 1;

  if (err) return err;
  while (i < n && GpChunkRowPointer(&rows, i + 1) - GpChunkRowPointer(&rows, 0) <= MAT_GPUCSR_PIECE) i++;
  *cut = first + i;
  return GP_SUCCESS;
}

GpErr MatGPUCSRRowsVisit_Private(MatGPUCSRRows *R, int64_t first, int64_t end, MatGPUCSRRowsUse use, void *context, char why[GP_CHUNK_WHY])
{
  GpErr err = GP_SUCCESS;

  for (int64_t row = first, cut; !err && row < end; row = cut) {
    GpChunkSource piece;

    err = MatGPUCSRRowsCut(R, row, end, &cut, why);
    if (!err) err = R->source.get(R, row, cut, 1, &piece, why);
    if (!err) err = use(context, &piece, why);
  }
  return err;
}

/* Raises the error of a failed access to the rows. */
PetscErrorCode MatGPUCSRRowsRaise_Private(MatGPUCSRRows *R, GpErr err, const char why[])
{
  const PetscErrorCode code = R->code;

  PetscFunctionBegin;
  R->code = PETSC_SUCCESS;
  PetscCall(code); /* an error of the user's function keeps its code */
  PetscCheck(!err, PETSC_COMM_SELF, err == GP_ERR_ARGUMENT ? PETSC_ERR_ARG_OUTOFRANGE : PetscGPUCSRErrorClass(err), "%s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRRowsVisitAll_Private(MatGPUCSRRows *R, MatGPUCSRRowsUse use, void *context)
{
  char  why[GP_CHUNK_WHY] = "";
  GpErr err;

  PetscFunctionBegin;
  R->narrow = PETSC_FALSE;
  err       = MatGPUCSRRowsVisit_Private(R, 0, R->source.m, use, context, why);
  PetscCall(MatGPUCSRRowsRaise_Private(R, err, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
