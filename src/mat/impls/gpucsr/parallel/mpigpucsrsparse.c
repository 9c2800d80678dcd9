/* MatProduct of parallel gpucsr matrices on the device: A B, A' B, P' A P.

   In the symbolic phase a rank receives the pattern of the rows of B that it needs from other ranks. The numeric phase exchanges only their values. The local products use the functions for sequential matrices. The
   result is downloaded to the host arrays of the blocks of C, which are authoritative. If the blocks have device images, the values are copied there on the device. */
#include "mat/impls/gpucsr/parallel/mpigpucsrrows.h"
#include "device/gpupload.h"

static PetscErrorCode MatGPUCSRParallelReset(MatGPUCSRParallel *d)
{
  const size_t nnz = (size_t)(d->nnz[0] + d->nnz[1]);

  PetscFunctionBegin;
  if (d->dev) {
    GpDevFree(d->dev, &d->perm, (size_t)d->factor.csr.nnz * sizeof(int32_t));
    GpDevFree(d->dev, &d->split, nnz * sizeof(int32_t));
    GpDevFree(d->dev, &d->values, nnz * sizeof(double));
  }
  for (int k = 0; k < 3; k++) GpSpgemmDestroy(&d->plan[k]);
  GpCsrDestroy(&d->transpose);
  GpCsrDestroy(&d->x);
  GpCsrDestroy(&d->y);
  GpCsrDestroy(&d->stacked);
  GpCsrDestroy(&d->selection);
  GpCsrDestroy(&d->result);
  PetscCall(MatGPUCSRRowsDestroy_Private(&d->left));
  PetscCall(MatGPUCSRRowsDestroy_Private(&d->right));
  PetscCall(MatGPUCSRRowsDestroy_Private(&d->factor));
  PetscCall(MatGPUCSRHaloDestroy_Private(&d->halo));
  d->nnz[0] = d->nnz[1] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRParallelDestroy(void *context)
{
  MatGPUCSRParallel *d = *(MatGPUCSRParallel **)context;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRParallelReset(d));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last product. */
static GpCsr *MatGPUCSRParallelGetResult(MatGPUCSRParallel *d)
{
  return d->plan[2] ? &d->result : &d->x;
}

/* Lists where the values of both blocks are in the result. */
static PetscErrorCode MatGPUCSRParallelSplit(Mat C, MatGPUCSRParallel *d, const PetscInt rowptr[], const PetscInt col[])
{
  const PetscInt nnz   = rowptr[C->rmap->n];
  int32_t       *split = NULL;
  GpErr          err;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < nnz; e++) d->nnz[col[e] < C->cmap->rstart || col[e] >= C->cmap->rend]++;
  PetscCall(PetscMalloc1(nnz, &split));
  for (PetscInt e = 0, at = 0, offat = d->nnz[0]; e < nnz; e++) {
    if (col[e] < C->cmap->rstart || col[e] >= C->cmap->rend) split[offat++] = (int32_t)e;
    else split[at++] = (int32_t)e;
  }
  err = GpDevAlloc(d->dev, (size_t)nnz * sizeof(int32_t), &d->split);
  if (!err) err = GpDevAlloc(d->dev, (size_t)nnz * sizeof(double), &d->values);
  if (!err) err = GpDevUpload(d->dev, d->split, split, (size_t)nnz * sizeof(int32_t));
  PetscCall(PetscFree(split));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the pattern of C on the device. The caller frees both arrays, with global columns, by PetscFree2(). */
static PetscErrorCode MatGPUCSRParallelFindPattern(Mat C, MatGPUCSRParallel *d, PetscInt **rowptr, PetscInt **col)
{
  const MatProductType type = C->product->type;
  Mat                  A = C->product->A, B = C->product->B;
  PetscInt             n, *column           = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRParallelReset(d));
  if (type == MATPRODUCT_AtB) PetscCall(MatGPUCSRRowsCreate_Private(B, PETSC_FALSE, -1, NULL, &d->right));
  else {
    PetscCall(MatGPUCSRRowsCreate_Private(A, PETSC_TRUE, -1, NULL, &d->left));
    PetscCall(MatGPUCSRRowsCreate_Private(B, PETSC_FALSE, d->left.n - A->cmap->n, d->left.column + A->cmap->n, &d->right));
    PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmSymbolic(&d->left.csr, &d->right.csr, &d->plan[0], &d->x));
  }
  if (type == MATPRODUCT_AB) PetscCall(MatGPUCSRDownloadPattern_Private(&d->x, d->right.column, rowptr, col));
  else {
    PetscCall(MatGPUCSRSumSymbolic_Private(type == MATPRODUCT_AtB ? A : B, d->plan[0] ? &d->x : &d->right.csr, d->right.n, d->right.column, B->cmap->rstart, B->cmap->rend, d, &n, &column));
    PetscCall(MatGPUCSRDownloadPattern_Private(&d->result, column, rowptr, col));
    PetscCall(PetscFree(column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the pattern again after that of an operand has changed. It must be that of C. */
static PetscErrorCode MatGPUCSRParallelRenew(Mat C, MatGPUCSRParallel *d)
{
  Mat             block[2];
  const PetscInt *ghost;
  PetscInt       *rows, *columns, *own, *owncolumns;
  MatGPUCSRList   L;
  PetscBool       same;
  int             mine, all;

  PetscFunctionBegin;
  PetscCheck(MatGPUCSRIs_Private(C->product->A) && MatGPUCSRIs_Private(C->product->B), PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE,
             "An operand of a product of gpucsr matrices has got another type and pattern; create the product again");
  PetscCall(MatGPUCSRParallelFindPattern(C, d, &rows, &columns));
  PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], &ghost));
  const PetscInt m   = C->rmap->n;
  PetscInt       nnz = 0;

  for (int b = 0; b < 2; b++) {
    const PetscInt *rowptr;

    PetscCall(MatSeqAIJGetCSRAndMemType(block[b], &rowptr, NULL, NULL, NULL));
    if (m) nnz += rowptr[m];
  }
  PetscCall(PetscMalloc3(m + 1, &own, nnz, &owncolumns, nnz, &L.position));
  L.rowptr = own;
  L.column = owncolumns;
  PetscCall(MatGPUCSRListRows_Private(C, block, ghost, &L, NULL));
  PetscCall(PetscArraycmp(own, rows, m + 1, &same));
  if (same) PetscCall(PetscArraycmp(owncolumns, columns, nnz, &same));
  mine = (int)same;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)C)));
  if (all) PetscCall(MatGPUCSRParallelSplit(C, d, rows, columns));
  else PetscCall(MatGPUCSRParallelReset(d)); /* the next call tries again */
  PetscCall(PetscFree3(own, owncolumns, L.position));
  PetscCall(PetscFree2(rows, columns));
  PetscCheck(all, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "The pattern of an operand has changed, so that the product has other nonzeros; create the product again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the values of the result on the device. */
static PetscErrorCode MatGPUCSRParallelComputeValues(Mat C, MatGPUCSRParallel *d)
{
  const MatProductType type = C->product->type;
  Mat                  A = C->product->A, B = C->product->B;
  GpSpgemmInfo         info;
  PetscLogDouble       products = 0;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRRowsRefresh_Private(B, &d->right));
  if (d->plan[0]) {
    PetscCall(MatGPUCSRRowsRefresh_Private(A, &d->left));
    PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmNumeric(d->plan[0], &d->left.csr, &d->right.csr, &d->x));
  }
  if (d->plan[1]) PetscCall(MatGPUCSRSumNumeric_Private(type == MATPRODUCT_AtB ? A : B, d->plan[0] ? &d->x : &d->right.csr, d));
  for (int k = 0; k < 3; k++) {
    if (!d->plan[k]) continue;
    GpSpgemmGetInfo(d->plan[k], &info);
    products += (PetscLogDouble)info.products;
  }
  PetscCall(PetscLogGpuFlops(2.0 * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_MPIAIJGPUCSR(Mat C)
{
  MatGPUCSRParallel  *d       = (MatGPUCSRParallel *)C->product->data;
  const GpVecKernels *kernels = GpVecKernelsOf(d->dev);
  Mat                 block[2];
  PetscBool           same;

  PetscFunctionBegin;
  PetscCheck(C->product->A->assembled && C->product->B->assembled, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  same = MatGPUCSRRowsHavePattern_Private(C->product->B, &d->right);
  if (same && d->plan[0]) same = MatGPUCSRRowsHavePattern_Private(C->product->A, &d->left);
  if (same && d->plan[1]) same = MatGPUCSRRowsHavePattern_Private(C->product->type == MATPRODUCT_AtB ? C->product->A : C->product->B, &d->factor);
  if (!same) PetscCall(MatGPUCSRParallelRenew(C, d));
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscCall(MatGPUCSRParallelComputeValues(C, d));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, kernels->gather(d->dev, (int32_t)(d->nnz[0] + d->nnz[1]), d->split, (const double *)MatGPUCSRParallelGetResult(d)->val, d->values));
  if (MatGPUCSRIs_Private(C)) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(C, block, NULL));
  else PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) {
    const double *from = d->values + (b ? d->nnz[0] : 0);
    PetscScalar  *val;
    GpErr         err;

    PetscCall(MatSeqAIJGetArrayWrite(block[b], &val));
    err = d->nnz[b] ? GpDevDownloadByThreads(d->dev, 0, val, from, (size_t)d->nnz[b] * sizeof(double)) : GP_SUCCESS;
    PetscCall(MatSeqAIJRestoreArrayWrite(block[b], &val));
    PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, err);
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)d->nnz[b] * sizeof(double)));
    if (MatGPUCSRIs_Private(block[b]) && ((Mat_SeqAIJGPUCSR *)block[b]->spptr)->op) PetscCall(MatSeqAIJGPUCSRUpdate_Private(block[b], &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = from}, NULL, 0));
  }
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_MPIAIJGPUCSR(Mat C)
{
  Mat_Product       *product = C->product;
  const PetscBool    first   = (PetscBool)(product->type == MATPRODUCT_AB);
  Mat                A = product->A, B = product->B;
  MatGPUCSRParallel *d;
  PetscInt           arows, acolumns, brows, bcolumns, m = first ? A->rmap->n : product->type == MATPRODUCT_AtB ? A->cmap->n : B->cmap->n, *rowptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  d->self          = d;
  product->data    = d;
  product->destroy = (__typeof__(product->destroy))(void (*)(void))MatGPUCSRParallelDestroy;
  PetscCall(PetscGPUCSRGetDevice(&d->dev));
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscCall(MatGPUCSRParallelFindPattern(C, d, &rowptr, &col));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscCall(MatGetBlockSizes(A, &arows, &acolumns));
  PetscCall(MatGetBlockSizes(B, &brows, &bcolumns));
  PetscCall(MatSetSizes(C, m, B->cmap->n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(C, first ? arows : product->type == MATPRODUCT_AtB ? acolumns : bcolumns, bcolumns));
  PetscCall(MatSetType(C, ((PetscObject)A)->type_name));
  PetscCall(MatMPIAIJSetPreallocationCSR(C, rowptr, col, NULL));
  PetscCall(MatGPUCSRParallelSplit(C, d, rowptr, col));
  PetscCall(PetscFree2(rowptr, col));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE)); /* as the products of PETSc */
  C->ops->productsymbolic = MatProductSymbolic_MPIAIJGPUCSR;             /* MatSetType() has reset it */
  C->ops->productnumeric  = MatProductNumeric_MPIAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the functions of C if the device computes it. Collective. */
PetscErrorCode MatProductSetFromOptions_MPIAIJGPUCSR_Sparse(Mat C, PetscBool *found)
{
  const Mat_Product *product    = C->product;
  Mat                operand[2] = {product->A, product->B}, block[2];
  PetscBool          takes      = PETSC_TRUE, host;
  int                mine, all;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (product->type != MATPRODUCT_AB && product->type != MATPRODUCT_AtB && product->type != MATPRODUCT_PtAP) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    if (!MatGPUCSRIs_Private(operand[k]) || !((Mat_GPUCSR *)operand[k]->spptr)->mpi || !operand[k]->assembled) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(HAVE_DEVICE)
    if (operand[k]->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  }
  PetscCall(MatGPUCSRSparseUsesHost_Private(C, &host));
  if (host) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(operand[k], block, NULL));
    for (int b = 0; b < 2 && takes; b++) PetscCall(MatGPUCSRSparseTakes_Private(block[b], &takes));
  }
  mine = (int)takes;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)C)));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  C->ops->productsymbolic = MatProductSymbolic_MPIAIJGPUCSR;
  *found                  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
