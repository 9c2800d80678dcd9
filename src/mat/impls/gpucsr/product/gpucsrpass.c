/* MatGPUCSRPass(): one pass over the chunks of a matrix. A matrix that is not streamed is one chunk. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"

struct _n_MatGPUCSRChunk {
  GpOp             op;
  GpOpStreamChunk *part; /* NULL: the matrix is not streamed, and the chunk is the whole matrix */
  MatGPUCSRPassFn *fn;
  void            *ctx;
  PetscErrorCode   code; /* error of fn() */
};

static GpErr MatGPUCSRPassUse(void *context, GpOpStreamChunk *part)
{
  MatGPUCSRChunk chunk = (MatGPUCSRChunk)context;

  chunk->part = part;
  chunk->code = (*chunk->fn)(chunk, chunk->ctx);
  return chunk->code ? GP_ERR_ARGUMENT : GP_SUCCESS;
}

static PetscLogDouble MatGPUCSRChunkNonzeros(MatGPUCSRChunk chunk)
{
  return (PetscLogDouble)(chunk->part ? (int64_t)chunk->part->rows.nnz : chunk->op->nnz);
}

/*@C
  MatGPUCSRPass - Calls a function for each chunk of a matrix. The function can compute several products with a chunk that is transferred once

  Not Collective

  Input Parameters:
+ A   - the matrix, of type `MATSEQAIJGPUCSR`, or of type `MATGPUCSRSTREAM` on one process
. fn  - the function that is called for each chunk, in the order of the rows
- ctx - its context

  Level: developer

  Notes:
  `fn` may call `MatGPUCSRChunkGetRows()`, `MatGPUCSRChunkMult()` and `MatGPUCSRChunkMultTransposeAdd()`, and launch kernels of its own on `GpDevStream()`. It must not call other functions with `A`.
  The chunk is valid until `fn` returns. If `fn` returns an error, the pass stops and returns this error.

  Example: y = A'(A x) transfers a streamed matrix once. Set y to 0 first. For each chunk C, `fn` then computes w = C x and y += C' w.

  A matrix that is not streamed is one chunk. Its transpose is built before the pass.

  An array with an entry for each row of the matrix has space for the rows of every chunk.

  A product with the transpose is a sum over the chunks here, also with `MAT_GPUCSR_STREAM_TRANSPOSE_STORED`. Its last bits depend on the size of the chunks (`MatGPUCSRSetStreamChunk()`).

  A parallel matrix is an error, because each chunk would need an exchange of boundary entries. Use `MatMult()` and `MatMultTranspose()`.

.seealso: `MATGPUCSR`, `MATGPUCSRSTREAM`, `MatGPUCSRMultArray()`, `MatGPUCSRChunkGetRows()`, `MatGPUCSRChunkMult()`, `MatGPUCSRChunkMultTransposeAdd()`
@*/
PetscErrorCode MatGPUCSRPass(Mat A, MatGPUCSRPassFn *fn, void *ctx)
{
  struct _n_MatGPUCSRChunk chunk = {.fn = fn, .ctx = ctx};
  Mat_GPUCSR              *g;
  GpErr                    err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCheck(fn, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "The function that MatGPUCSRPass() calls for each chunk is NULL; give a function, see MatGPUCSRPassFn");
  PetscCall(MatGPUCSRCheckAssembled_Private(A));
  PetscCheck(!g->mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatGPUCSRPass() supports one process only; use MatMult() and MatMultTranspose()");
  PetscCall((*g->getoperators)(A, PETSC_FALSE, &chunk.op, NULL));
  if (!GpOpIsStreamed(chunk.op)) {
    PetscCall((*g->getoperators)(A, PETSC_TRUE, &chunk.op, NULL));
    if (!GpOpIsStreamed(chunk.op)) {
      PetscCall((*fn)(&chunk, ctx));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(GpOpPass(chunk.op, MatGPUCSRPassUse, &chunk, &err));
  PetscCall(chunk.code);
  PetscCallGp(chunk.op->dev, "visiting the chunks of the matrix", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRChunkGetRows - Gets the range of rows of a chunk in `MatGPUCSRPass()`

  Not Collective

  Input Parameter:
. chunk - the chunk

  Output Parameters:
+ first - the first row, or `NULL`
- n     - the number of rows, or `NULL`

  Level: developer

.seealso: `MatGPUCSRPass()`
@*/
PetscErrorCode MatGPUCSRChunkGetRows(MatGPUCSRChunk chunk, PetscInt *first, PetscInt *n)
{
  PetscFunctionBegin;
  if (first) *first = chunk->part ? (PetscInt)chunk->part->first : 0;
  if (n) *n = chunk->part ? (PetscInt)chunk->part->m : (PetscInt)chunk->op->side[0].csr.m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRChunkMult - Multiplies the rows of a chunk by an array on the device, in `MatGPUCSRPass()`

  Not Collective

  Input Parameters:
+ chunk - the chunk
- x     - array with one entry for each column of the matrix, in device memory

  Output Parameter:
. y - the product, one entry for each row of the chunk, in device memory

  Level: developer

.seealso: `MatGPUCSRPass()`, `MatGPUCSRChunkMultTransposeAdd()`
@*/
PetscErrorCode MatGPUCSRChunkMult(MatGPUCSRChunk chunk, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  if (chunk->part) PetscCallGp(chunk->op->dev, "multiplying by a chunk", GpOpStreamChunkMult(chunk->part, x, y));
  else PetscCall(GpOpMult(chunk->op, PETSC_FALSE, x, NULL, y));
  PetscCall(PetscGPUCSRLogFlops_Private(chunk->op->dev, 2.0 * MatGPUCSRChunkNonzeros(chunk)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRChunkMultTransposeAdd - Multiplies the transpose of a chunk by an array on the device and adds the product to another array, in `MatGPUCSRPass()`

  Not Collective

  Input Parameters:
+ chunk - the chunk
- x     - array with one entry for each row of the chunk, in device memory

  Input/Output Parameter:
. y - array to which the product is added, one entry for each column of the matrix, in device memory

  Level: developer

  Note:
  The first call with a chunk of a streamed matrix transposes this chunk on the device.

.seealso: `MatGPUCSRPass()`, `MatGPUCSRChunkMult()`
@*/
PetscErrorCode MatGPUCSRChunkMultTransposeAdd(MatGPUCSRChunk chunk, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  if (chunk->part) PetscCallGp(chunk->op->dev, "multiplying by the transpose of a chunk", GpOpStreamChunkMultTransposeAdd(chunk->part, x, y));
  else PetscCall(GpOpMult(chunk->op, PETSC_TRUE, x, y, y));
  PetscCall(PetscGPUCSRLogFlops_Private(chunk->op->dev, 2.0 * MatGPUCSRChunkNonzeros(chunk)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
