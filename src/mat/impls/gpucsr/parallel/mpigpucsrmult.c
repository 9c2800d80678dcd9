/* Products of a parallel matrix with one or several vectors.  Only the boundary entries of x (for the transpose: contributions to y on other ranks)
   are communicated, while the diagonal block multiplies.  A message contains the entries of a batch of columns, row by row: all values of one
   entry are adjacent. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* A product: k columns with the device addresses x and y, multiplied by the kernels for several vectors if many is true; otherwise k is 1. */
typedef struct {
  MatGPUCSRHalo      *halo;
  GpOp                op[2]; /* diagonal and off-diagonal block */
  PetscBool           transpose, many;
  PetscInt            k;
  const MatGPUCSRVec *vec; /* arrays of the columns of x */
  double *const *x, *const *y;
  const double *z; /* vector that is added to the product if many is false, or NULL */
} MatGPUCSRProduct;

/* Multiplies by one block.  z: NULL, or the vector to add; if many is true, any other value adds to y.  Entries of a column are incx or incy apart. */
static PetscErrorCode MatMPIGPUCSRMultBlock(const MatGPUCSRProduct *P, GpOp op, const double *z, PetscInt incx, double *const x[], PetscInt incy, double *const y[])
{
  PetscFunctionBegin;
  if (P->many) PetscCall(MatGPUCSRMultOperatorMany_Private(op, P->transpose, P->k, (PetscBool)(z != NULL), incx, (const double *const *)x, incy, y));
  else PetscCall(MatGPUCSRMultOperator_Private(op, P->transpose, x[0], z, y[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes y = Ad x + z while the boundary entries are exchanged, then y += Ao ghosts.  Ad: diagonal block; Ao: off-diagonal block.
   Transpose: computes ghosts = Ao' x, then y = Ad' x + z while the ghost entries are sent to their owners.  Then adds the received entries to y in
   rank order, so that results have the same bits in every run. */
static PetscErrorCode MatMPIGPUCSRMult(const MatGPUCSRProduct *P)
{
  MatGPUCSRHalo *H     = P->halo;
  const GpPeers *peers = &H->side[0].peers;
  double        *ghosts[MAT_GPUCSR_BATCH];

  PetscFunctionBegin;
  PetscCall(MatGPUCSRHaloReserve_Private(H, P->k, PETSC_FALSE));
  for (PetscInt c = 0; c < P->k; c++) ghosts[c] = H->side[1].device + c;
  if (P->transpose && H->side[1].n) PetscCall(MatMPIGPUCSRMultBlock(P, P->op[1], NULL, 1, P->x, P->k, ghosts));
  PetscCall(MatGPUCSRHaloBegin_Private(H, P->k, P->transpose ? NULL : P->vec, P->x));
  PetscCall(MatMPIGPUCSRMultBlock(P, P->op[0], P->z, 1, P->x, 1, P->y));
  PetscCall(MatGPUCSRHaloMark_Private(H, MAT_GPUCSR_MARK_LOCAL));
  PetscCall(MatGPUCSRHaloEnd_Private(H));
  if (!P->transpose && P->op[1]->nnz) PetscCall(MatMPIGPUCSRMultBlock(P, P->op[1], P->y[0], P->k, ghosts, 1, P->y));
  for (int p = 0; P->transpose && p < peers->n; p++) {
    const int32_t from = peers->offset[p], n = peers->offset[p + 1] - from;
    const double *received = H->side[0].device + (size_t)from * (size_t)P->k;

    if (P->k == 1) PetscCallGp(H->dev, "adding boundary entries", GpVecKernelsOf(H->dev)->scatteradd(H->dev, n, H->device_index + from, received, P->y[0]));
    else PetscCallGp(H->dev, "adding boundary entries", GpVecKernelsOf(H->dev)->scatteraddrows(H->dev, n, H->device_index + from, (int)P->k, received, P->y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a product.  A rank that failed completes the exchange.  The error is that of this rank, without communication, unless chunks are read from files: then all ranks raise an error
   if one has failed. */
static PetscErrorCode MatMPIGPUCSREndProduct(Mat A, const MatGPUCSRProduct *P, PetscErrorCode err)
{
  PetscFunctionBegin;
  if (err) (void)MatGPUCSRHaloAbandon_Private(P->halo, P->k, P->transpose); /* the error of the product is raised, not that of this function */
  if (((Mat_GPUCSR *)A->spptr)->agrees) PetscCall(MatGPUCSRAgree_Private(A, err, "A product with the matrix"));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the current device images of the blocks of a MATMPIAIJGPUCSR, and the exchange. */
PetscErrorCode MatMPIAIJGPUCSRGetOperatorsAndHalo_Private(Mat A, PetscBool transpose, GpOp op[2], MatGPUCSRHalo **halo)
{
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRGetHalo_Private(A, block, halo));
  PetscCall(MatMPIAIJGPUCSRGetOperators_Private(A, block, transpose, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the arrays of the vectors, multiplies, and restores the arrays, after a failure of the product too. */
static PetscErrorCode MatMPIGPUCSRMultVectors(Mat A, MatGPUCSRProduct *P, Vec x, Vec z, Vec y)
{
  MatGPUCSRVec   xa, ya, za;
  PetscErrorCode err, restored;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRVecGetRead_Private(A, P->transpose ? 1 : 0, x, &xa));
  PetscCall(MatGPUCSRVecGetResult_Private(A, P->transpose ? 0 : 1, y, z, &ya, &za));
  P->vec = &xa;
  P->x   = &xa.device;
  P->y   = &ya.device;
  P->z   = z ? za.device : NULL;
  PetscCall(MatGPUCSRHaloMark_Private(P->halo, MAT_GPUCSR_MARK_BEGIN));
  err      = MatMPIGPUCSRMult(P);
  restored = MatGPUCSRVecRestoreResult_Private(A, y, z, &ya, &za);
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, 'r', &xa));
  PetscCall(err);
  PetscCall(restored);
  PetscCall(MatGPUCSRHaloMark_Private(P->halo, MAT_GPUCSR_MARK_END));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMPIGPUCSRMult_Private(Mat A, PetscBool transpose, Vec x, Vec z, Vec y)
{
  MatGPUCSRProduct P = {.transpose = transpose, .k = 1};

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&((Mat_GPUCSR *)A->spptr)->dev));
  PetscCall((*((Mat_GPUCSR *)A->spptr)->getoperators)(A, transpose, P.op, &P.halo));
  P.halo->progress = MAT_GPUCSR_EXCHANGE_NONE;
  PetscCall(MatMPIGPUCSREndProduct(A, &P, MatMPIGPUCSRMultVectors(A, &P, x, z, y)));
  PetscCall(PetscGPUCSRLogFlops_Private(P.halo->dev, PetscMax(2.0 * (PetscLogDouble)P.op[0]->nnz + 2.0 * (PetscLogDouble)P.op[1]->nnz - (z ? 0.0 : (PetscLogDouble)(P.op[0]->side[0].csr.m - P.op[0]->side[0].features.empty)), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMPIGPUCSRMultBatch_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  MatGPUCSRProduct P = {.transpose = transpose, .many = PETSC_TRUE, .k = k, .vec = x, .x = dx, .y = dy};

  PetscFunctionBegin;
  PetscCall((*((Mat_GPUCSR *)A->spptr)->getoperators)(A, transpose, P.op, &P.halo));
  P.halo->progress = MAT_GPUCSR_EXCHANGE_NONE;
  PetscCall(MatMPIGPUCSREndProduct(A, &P, dx ? MatMPIGPUCSRMult(&P) : PETSC_ERR_LIB));
  PetscCall(PetscGPUCSRLogFlops_Private(P.halo->dev, (2.0 * (PetscLogDouble)P.op[0]->nnz + 2.0 * (PetscLogDouble)P.op[1]->nnz) * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
