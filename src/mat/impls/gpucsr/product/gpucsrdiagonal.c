/* MatGetDiagonal() and MatMultDiagonalBlock().  Both run on the device if the vector is in device memory and the image is current and exact.
   Otherwise they use the host arrays, because a preconditioner must not get a diagonal rounded to single precision.

   MatGetDiagonal() with a vector in device memory uploads the matrix if the image can be exact.  It is usually called for a preconditioner before the first product, and a search for the diagonal on the
   host would take about as long as the upload.  A block of a parallel matrix that has no image is uploaded with the other block only, because the memory for both is planned together. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"

/* Gets the image.  Uploads the matrix if the image is stale, unless its values will be rounded.  op: NULL if there is no image */
static PetscErrorCode MatGPUCSRGetDiagonalImage(Mat A, GpOp *op)
{
  const Mat_SeqAIJGPUCSR *s = (const Mat_SeqAIJGPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(A, op));
  if (*op || s->common.options.storage == MAT_GPUCSR_STORAGE_SINGLE || (s->op ? GpOpIsStreamed(s->op) : s->place.block)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, op));
  if (GpOpIsStreamed(*op)) *op = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_SeqAIJGPUCSR(Mat A, Vec diagonal)
{
  GpOp         op = NULL;
  MatGPUCSRVec d, none;
  PetscBool    there;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(diagonal, &n));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)diagonal, &there, VECSEQGPU, VECMPIGPU, VECSEQCUDA, VECMPICUDA, ""));
  if (there && n == A->rmap->n) PetscCall(MatGPUCSRGetDiagonalImage(A, &op));
  if (!op || !GpOpIsExact(op) || !there || n != A->rmap->n) {
    PetscCall((*MatGPUCSRBase_Private(A)->getdiagonal)(A, diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRVecGetResult_Private(A, 1, diagonal, NULL, &d, &none));
  PetscCallGp(op->dev, "reading the diagonal", GpCsrDiagonal(&op->side[0].csr, d.device));
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, diagonal, NULL, &d, &none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- diagonal blocks of nodes: groups of consecutive rows with one pattern, which PETSc finds at assembly ---------------- */

/* MatMultDiagonalBlock() of the parent type.  The parent type sets the operation at assembly if the matrix has nodes, and clears it otherwise. */
static PetscErrorCode (*MatMultDiagonalBlock_Parent)(Mat, Vec, Vec);

PetscErrorCode MatGPUCSRNodesDestroy_Private(GpDev dev, MatGPUCSRNodes *nodes)
{
  PetscFunctionBegin;
  GpDevFree(dev, &nodes->span, 2 * (size_t)nodes->m * sizeof(int32_t));
  nodes->m = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the node of each row in device memory (MatGPUCSRNodes.span), uploaded once for a pattern.  *span is NULL if there are no nodes. */
static PetscErrorCode MatGPUCSRGetNodes(Mat A, const int32_t **span)
{
  GpDev           dev   = ((Mat_GPUCSR *)A->spptr)->dev;
  MatGPUCSRNodes *nodes = &((Mat_SeqAIJGPUCSR *)A->spptr)->nodes;
  const PetscInt  m     = A->rmap->n;
  PetscInt        n, *sizes, row = 0;
  int32_t        *work;
  GpErr           err;

  PetscFunctionBegin;
  if (nodes->span && nodes->nonzerostate == A->nonzerostate && nodes->m == m) {
    *span = nodes->span;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *span = NULL;
  PetscCall(MatGPUCSRNodesDestroy_Private(dev, nodes));
  PetscCall(MatInodeGetInodeSizes(A, &n, &sizes, NULL));
  if (!n || !sizes || m != A->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(2 * m, &work));
  nodes->flops = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt first = row, size = sizes[0] ? sizes[k] : sizes[k + 1] - sizes[k]; /* newer PETSc releases return offsets beginning with 0 instead of sizes */

    for (; row < first + size; row++) {
      work[2 * row]     = (int32_t)first;
      work[2 * row + 1] = (int32_t)(first + size);
    }
    nodes->flops += 2.0 * size * size;
  }
  nodes->m            = m;
  nodes->nonzerostate = A->nonzerostate;
  err                 = GpDevAlloc(dev, 2 * (size_t)m * sizeof(int32_t), &nodes->span);
  if (!err) err = GpDevUpload(dev, nodes->span, work, 2 * (size_t)m * sizeof(int32_t));
  PetscCall(PetscFree(work));
  if (err) PetscCall(MatGPUCSRNodesDestroy_Private(dev, nodes));
  PetscCallGp(dev, "uploading the nodes", err);
  *span = nodes->span;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector whose newest values are on the host is multiplied there by the parent type, which uses the blocks that its SOR has stored. */
static PetscErrorCode MatMultDiagonalBlock_SeqAIJGPUCSR(Mat A, Vec x, Vec y)
{
  const int32_t *span = NULL;
  MatGPUCSRVec   xa, ya, none;
  PetscBool      there;
  GpOp           op;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(A, &op));
  PetscCall(MatGPUCSRVecIsOnDevice_Private(x, &there));
  if (op && GpOpIsExact(op) && there) PetscCall(MatGPUCSRGetNodes(A, &span));
  if (!span) {
    PetscCall((*MatMultDiagonalBlock_Parent)(A, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRVecGetRead_Private(A, 0, x, &xa));
  PetscCall(MatGPUCSRVecGetResult_Private(A, 1, y, NULL, &ya, &none));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(op->dev));
  PetscCallGp(op->dev, "multiplying with the diagonal blocks", GpCsrMultBlocks(&op->side[0].csr, span, xa.device, ya.device));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(op->dev));
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, y, NULL, &ya, &none));
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, 'r', &xa));
  PetscCall(PetscGPUCSRLogFlops_Private(op->dev, ((Mat_SeqAIJGPUCSR *)A->spptr)->nodes.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRSetDiagonalBlock_Private(Mat A)
{
  PetscFunctionBegin;
  if (!A->ops->multdiagonalblock || A->ops->multdiagonalblock == MatMultDiagonalBlock_SeqAIJGPUCSR) PetscFunctionReturn(PETSC_SUCCESS);
  MatMultDiagonalBlock_Parent = A->ops->multdiagonalblock;
  A->ops->multdiagonalblock   = MatMultDiagonalBlock_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_SeqAIJGPUCSR(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->assemblyend)(A, type));
  if (A->spptr) PetscCall(MatGPUCSRSetDiagonalBlock_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations of a sequential matrix.  A parallel matrix calls them on its diagonal block. */
PetscErrorCode MatGPUCSRSetDiagonals_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->getdiagonal = MatGetDiagonal_SeqAIJGPUCSR;
  A->ops->assemblyend = MatAssemblyEnd_SeqAIJGPUCSR;
  PetscCall(MatGPUCSRSetDiagonalBlock_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores MatMultDiagonalBlock() of the parent type. */
PetscErrorCode MatGPUCSRResetDiagonalBlock_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->ops->multdiagonalblock == MatMultDiagonalBlock_SeqAIJGPUCSR) A->ops->multdiagonalblock = MatMultDiagonalBlock_Parent;
  PetscFunctionReturn(PETSC_SUCCESS);
}
