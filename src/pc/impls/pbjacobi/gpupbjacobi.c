/* Point block Jacobi on the device: the types pbjacobi and vpbjacobi.

   PETSc inverts the diagonal blocks and applies them on the host.  The inverted blocks are a block diagonal matrix.  If the matrix is of type
   gpucsr and its vectors are on the device, the local rows of this matrix are stored as a sequential gpucsr matrix in double precision, and the
   preconditioner is applied by its product.  Everything else is PETSc's. */
#include "pc/impls/pbjacobi/gpupbjacobi.h"
#include "pc/gpupcderived.h"
#include "vec/gpuvecimpl.h"

typedef struct {
  Mat inverse; /* the inverted blocks of this rank; NULL if PETSc applies the preconditioner */
  Vec x, y;    /* local vectors for the product */
} PC_GPUBlocks;

static PetscErrorCode (*CreatePBJacobi)(PC); /* PETSc's constructors */
static PetscErrorCode (*CreateVPBJacobi)(PC);

static PetscErrorCode PCGPUBlocksReset(void *data)
{
  PC_GPUBlocks *b = (PC_GPUBlocks *)data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&b->inverse));
  PetscCall(VecDestroy(&b->x));
  PetscCall(VecDestroy(&b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the preconditioner is to be applied on the device: the matrix is of type gpucsr, and MatCreateVecs() creates vectors there. */
static PetscErrorCode PCGPUBlocksIsOnDevice(PC pc, PetscBool *is)
{
  const VecType types[] = {VECGPU, VECSEQGPU, VECMPIGPU, VECCUDA, VECSEQCUDA, VECMPICUDA};
  PetscInt      n;
  VecType       type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, is, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetVecType(pc->pmat, &type));
  *is = PETSC_FALSE;
  for (size_t k = 0; !*is && k < PETSC_STATIC_ARRAY_LENGTH(types); k++) PetscCall(PetscStrcmp(type, types[k], is));
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  *is = (PetscBool)(*is && n && !pc->failedreason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether row k of a matrix of n rows has the length lengths[k], for all k.  For a block diagonal matrix this determines the blocks. */
static PetscErrorCode PCGPUBlocksHasLengths(Mat A, PetscInt n, const PetscInt lengths[], PetscBool *has)
{
  const PetscInt *rows, *columns;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &rows, &columns, &done));
  *has = (PetscBool)(done && m == n);
  for (PetscInt k = 0; *has && k < n; k++) *has = (PetscBool)(rows[k + 1] - rows[k] == lengths[k]);
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &rows, &columns, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a block diagonal matrix without values.  lengths[k] is the size of the block of row k. */
static PetscErrorCode PCGPUBlocksCreate(PC pc, PetscInt n, PetscInt bs, const PetscInt lengths[], Mat *A)
{
  PetscInt *rows, *columns, nonzeros = 0;
  VecType   type;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscIntSumError(nonzeros, lengths[k], &nonzeros));
  PetscCall(PetscMalloc2(n + 1, &rows, nonzeros, &columns));
  rows[0] = 0;
  for (PetscInt first = 0; first < n; first += lengths[first])
    for (PetscInt k = first; k < first + lengths[first]; k++) {
      for (PetscInt j = 0; j < lengths[first]; j++) columns[rows[k] + j] = first + j;
      rows[k + 1] = rows[k] + lengths[first];
    }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, MATSEQAIJGPUCSR));
  PetscCall(MatGPUCSRSetStorage(*A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatGPUCSRSetTranspose(*A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(MatGetVecType(pc->pmat, &type));
  PetscCall(MatSetVecType(*A, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, rows, columns, NULL));
  PetscCall(PetscFree2(rows, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the inverted blocks, which PETSc gives one after the other, each in column-major order.  An existing matrix with the same blocks is
   reused.  bs is the common size of the blocks, or 1. */
static PetscErrorCode PCGPUBlocksStore(PC pc, PC_GPUBlocks *b, PetscInt bs, PetscInt blocks, const PetscInt sizes[], const PetscScalar *values)
{
  PetscInt     n, row = 0, *lengths;
  PetscBool    same;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  PetscCall(PetscMalloc1(n, &lengths));
  for (PetscInt k = 0; k < blocks; k++)
    for (PetscInt i = 0; i < (sizes ? sizes[k] : bs); i++) lengths[row++] = sizes ? sizes[k] : bs;
  PetscCall(PCGPUBlocksHasLengths(b->inverse, n, lengths, &same));
  if (!same) {
    PetscCall(PCGPUBlocksReset(b));
    PetscCall(PCGPUBlocksCreate(pc, n, bs, lengths, &b->inverse));
  }
  PetscCall(PetscFree(lengths));
  PetscCall(MatSeqAIJGetArray(b->inverse, &a));
  for (PetscInt k = 0; k < blocks; k++) {
    const PetscInt m = sizes ? sizes[k] : bs;

    for (PetscInt i = 0; i < m; i++)
      for (PetscInt j = 0; j < m; j++) a[i * m + j] = values[i + j * m];
    a += m * m;
    values += m * m;
  }
  PetscCall(MatSeqAIJRestoreArray(b->inverse, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUBlocksMult(PC pc, PetscBool transpose, Vec x, Vec y)
{
  PC_GPUBlocks        *b;
  const struct _PCOps *petscs;

  PetscFunctionBegin;
  PetscCall(PCGPUDerivedGet_Private(pc, &b, &petscs));
  if (!b->inverse || !VecGPUIsReachable(x) || !VecGPUIsReachable(y)) {
    PetscCall((*(transpose ? petscs->applytranspose : petscs->apply))(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!b->x) PetscCall(VecCreateLocalVector(x, &b->x));
  if (!b->y) PetscCall(VecCreateLocalVector(y, &b->y));
  PetscCall(VecGetLocalVectorRead(x, b->x));
  PetscCall(VecGetLocalVector(y, b->y));
  if (transpose) PetscCall(MatMultTranspose(b->inverse, b->x, b->y));
  else PetscCall(MatMult(b->inverse, b->x, b->y));
  PetscCall(VecRestoreLocalVectorRead(x, b->x));
  PetscCall(VecRestoreLocalVector(y, b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_GPUBlocks(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCGPUBlocksMult(pc, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_GPUBlocks(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCGPUBlocksMult(pc, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PCGPUBlocksReplace(PC pc)
{
  if (pc->ops->apply) pc->ops->apply = PCApply_GPUBlocks;
  if (pc->ops->applytranspose) pc->ops->applytranspose = PCApplyTranspose_GPUBlocks;
}

/* The matrix keeps the inverted blocks of PETSc's set-up, so they are not computed again. */
static PetscErrorCode PCSetUp_GPUPBJacobi(PC pc, void *data)
{
  const PetscScalar *values;
  PetscInt           bs, n;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(PCGPUBlocksIsOnDevice(pc, &device));
  if (device) {
    PetscCall(MatGetBlockSize(pc->pmat, &bs));
    PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
    PetscCall(MatInvertBlockDiagonal(pc->pmat, &values));
    PetscCall(PCGPUBlocksStore(pc, (PC_GPUBlocks *)data, bs, n / bs, NULL, values));
    PCGPUBlocksReplace(pc);
  } else PetscCall(PCGPUBlocksReset(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc keeps the inverted blocks in its private data, so they are computed again. */
static PetscErrorCode PCSetUp_GPUVPBJacobi(PC pc, void *data)
{
  PetscScalar    *values;
  PetscInt        blocks, count = 0;
  const PetscInt *sizes;
  PetscBool       device;

  PetscFunctionBegin;
  PetscCall(PCGPUBlocksIsOnDevice(pc, &device));
  if (device) {
    PetscCall(MatGetVariableBlockSizes(pc->pmat, &blocks, &sizes));
    for (PetscInt k = 0; k < blocks; k++) count += sizes[k] * sizes[k];
    PetscCall(PetscMalloc1(count, &values));
    PetscCall(MatInvertVariableBlockDiagonal(pc->pmat, blocks, sizes, values));
    PetscCall(PCGPUBlocksStore(pc, (PC_GPUBlocks *)data, 1, blocks, sizes, values));
    PetscCall(PetscFree(values));
    PCGPUBlocksReplace(pc);
  } else PetscCall(PCGPUBlocksReset(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GPUPBJacobi(PC pc)
{
  static const PCGPUDerivedOps ops = {PCSetUp_GPUPBJacobi, PCGPUBlocksReset, sizeof(PC_GPUBlocks)};

  PetscFunctionBegin;
  PetscCall((*CreatePBJacobi)(pc));
  PetscCall(PCGPUDerive_Private(pc, &ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GPUVPBJacobi(PC pc)
{
  static const PCGPUDerivedOps ops = {PCSetUp_GPUVPBJacobi, PCGPUBlocksReset, sizeof(PC_GPUBlocks)};

  PetscFunctionBegin;
  PetscCall((*CreateVPBJacobi)(pc));
  PetscCall(PCGPUDerive_Private(pc, &ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPURegisterPBJacobi_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCGPURegisterDerived_Private(PCPBJACOBI, &CreatePBJacobi, PCCreate_GPUPBJacobi));
  PetscCall(PCGPURegisterDerived_Private(PCVPBJACOBI, &CreateVPBJacobi, PCCreate_GPUVPBJacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}
