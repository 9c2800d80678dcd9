/* MatConvert() from the type gpucsrstream: to AIJ, and through AIJ to other types. */
#include "mat/impls/gpucsr/type/streamed.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

typedef struct {
  Mat            A, B;
  PetscInt      *count[2]; /* number of nonzeros of each row in the diagonal and in the off-diagonal block */
  PetscInt      *col;      /* columns of a row */
  PetscErrorCode code;
} MatGPUCSRConversion;

/* Implements MatGPUCSRRowsUse: counts the nonzeros of each row. */
static GpErr MatGPUCSRConvertCount(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRConversion *C = (MatGPUCSRConversion *)context;

  (void)why;
  for (int64_t i = 0, k = 0; i < piece->m; i++) {
    const int64_t end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0);

    for (; k < end; k++) {
      const int64_t column = GpChunkColumn(piece, k);

      C->count[column < C->A->cmap->rstart || column >= C->A->cmap->rend][piece->start + i]++;
    }
  }
  return GP_SUCCESS;
}

/* Implements MatGPUCSRRowsUse: sets the values of each row. */
static GpErr MatGPUCSRConvertSet(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRConversion *C = (MatGPUCSRConversion *)context;

  (void)why;
  for (int64_t i = 0, k = 0; i < piece->m && !C->code; i++) {
    const int64_t  end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0), first = k;
    const PetscInt row = C->A->rmap->rstart + (PetscInt)(piece->start + i);

    for (; k < end; k++) C->col[k - first] = (PetscInt)GpChunkColumn(piece, k);
    C->code = MatSetValues(C->B, 1, &row, (PetscInt)(end - first), C->col, piece->val + first, ADD_VALUES);
  }
  return C->code ? GP_ERR_ARGUMENT : GP_SUCCESS;
}

static PetscErrorCode MatGPUCSRConvertPreallocate(MatGPUCSRConversion *C)
{
  const PetscInt m     = C->A->rmap->n;
  PetscInt64     sum[] = {0, 0};

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    for (PetscInt i = 0; i < m; i++) sum[b] += C->count[b][i];
  PetscCheck(sum[0] <= PETSC_MAX_INT && sum[1] <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt64_FMT " nonzeros on this process are too many for a matrix of type aij; use more MPI ranks or a PETSc with 64-bit indices",
             sum[0] + sum[1]);
  PetscCall(MatXAIJSetPreallocation(C->B, 1, C->count[0], C->count[1], NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates an AIJ matrix with the layout of A and space for its nonzeros. */
static PetscErrorCode MatGPUCSRConvertCreate(MatGPUCSRConversion *C)
{
  MatGPUCSRRows *rows = &((Mat_GPUCSRStream *)C->A->spptr)->rows;
  const PetscInt m    = C->A->rmap->n;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(m, &C->count[0], m, &C->count[1]));
  err = MatGPUCSRRowsVisitAll_Private(rows, MatGPUCSRConvertCount, C);
  err = MatGPUCSRAgree_Private(C->A, err, "Reading the rows of the matrix");
  if (err) PetscCall(PetscFree2(C->count[0], C->count[1]));
  PetscCall(err);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)C->A), &C->B));
  PetscCall(MatSetLayouts(C->B, C->A->rmap, C->A->cmap));
  PetscCall(MatSetType(C->B, MATAIJ));
  err = MatGPUCSRConvertPreallocate(C);
  PetscCall(PetscFree2(C->count[0], C->count[1]));
  err = MatGPUCSRAgree_Private(C->A, err, "Converting the matrix");
  if (err) PetscCall(MatDestroy(&C->B));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_GPUCSRStream(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  MatGPUCSRRows      *rows    = &((Mat_GPUCSRStream *)A->spptr)->rows;
  MatGPUCSRConversion C       = {.A = A};
  const char *const   names[] = {MATAIJ, MATSEQAIJ, MATMPIAIJ};
  PetscBool           aij     = PETSC_FALSE, plain;
  PetscErrorCode      err;

  PetscFunctionBegin;
  for (int k = 0; k < 3 && !aij; k++) PetscCall(PetscStrcmp(type, names[k], &aij));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)*B, &plain, MATSEQAIJ, MATMPIAIJ, ""));
    PetscCheck(aij && plain, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatConvert() with MAT_REUSE_MATRIX from a matrix of type %s needs a result of type aij, not %s; use MAT_INITIAL_MATRIX", MATGPUCSRSTREAM, type);
    C.B = *B;
    PetscCall(MatZeroEntries(C.B));
  } else PetscCall(MatGPUCSRConvertCreate(&C));
  PetscCall(PetscMalloc1(A->cmap->N, &C.col));
  err = MatGPUCSRRowsVisitAll_Private(rows, MatGPUCSRConvertSet, &C);
  PetscCall(PetscFree(C.col));
  err = MatGPUCSRAgree_Private(A, C.code ? C.code : err, "Converting the matrix");
  if (err && reuse != MAT_REUSE_MATRIX) PetscCall(MatDestroy(&C.B));
  PetscCall(err);
  PetscCall(MatAssemblyBegin(C.B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C.B, MAT_FINAL_ASSEMBLY));
  if (!aij) PetscCall(MatConvert(C.B, type, MAT_INPLACE_MATRIX, &C.B));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(A, &C.B));
  else *B = C.B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
