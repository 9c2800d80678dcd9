/* The levels of PCGPUAMG: creation, and new values with the same interpolation. */
#include "pc/impls/gpuamg/gpuamg.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

PetscLogEvent PC_GPUAMG_Galerkin;

/* Gets the operator of the finest level: the matrix, or a copy of type AIJ. */
static PetscErrorCode PCGPUAMGGetOperator(PC pc, Mat *A)
{
  PetscObjectState state;
  PetscBool        plain, square;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(pc->pmat, &square));
  PetscCheck(square, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "PC type %s needs a square matrix whose rows and columns are distributed in the same way", PCGPUAMG);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  *A = pc->pmat;
  if (plain) PetscCall(PetscObjectReference((PetscObject)*A));
  else {
    /* Some conversions increase the state of the matrix that they read.  The next PCSetUp() would take this for new values. */
    PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
    PetscCall(MatConvert(pc->pmat, MATAIJ, MAT_INITIAL_MATRIX, A));
    PetscCall(PetscObjectStateSet((PetscObject)pc->pmat, state));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUAMGCountNonzeros(PCGPUAMGLevel *L)
{
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(L->A, &L->rows, NULL));
  PetscCall(MatGetInfo(L->A, MAT_GLOBAL_SUM, &info));
  L->nonzeros = (PetscInt64)info.nz_used;
  if (L->P) {
    PetscCall(MatGetInfo(L->P, MAT_GLOBAL_SUM, &info));
    L->pnonzeros = (PetscInt64)info.nz_used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the diagonal entry of each empty row to the largest diagonal entry of its node, so that empty rows do not make the operator singular.  The right-hand sides of these rows are zero in every cycle. */
static PetscErrorCode PCGPUAMGFillEmpty(PCGPUAMGLevel *L)
{
  PetscInt           begin, most;
  Vec                diagonal;
  const PetscScalar *d;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&L->nempty, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)L->A)));
  if (!most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(L->A, &begin, NULL));
  PetscCall(MatCreateVecs(L->A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(L->A, diagonal));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt e = 0; e < L->nempty; e++) {
    const PetscInt node    = L->empty[e] / L->block * L->block;
    PetscScalar    largest = 0;

    for (PetscInt i = node; i < node + L->block; i++) largest = PetscMax(largest, d[i]);
    PetscCall(MatSetValue(L->A, begin + L->empty[e], begin + L->empty[e], largest > 0 ? largest : 1, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatAssemblyBegin(L->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(L->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the operator of the next level.  If it exists and is the product of the same matrices, only its values are computed. */
static PetscErrorCode PCGPUAMGMultiply(PC pc, PetscInt level)
{
  PC_GPUAMG     *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGLevel *L = &amg->level[level], *next = L + 1;
  PetscBool      known, symmetric, refill;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Galerkin, pc, 0, 0, 0));
  refill = (PetscBool)(next->A && next->A->product && next->A->product->A == L->A && next->A->product->B == L->P);
  if (!refill) PetscCall(MatDestroy(&next->A));
  PetscCall(MatPtAP(L->A, L->P, refill ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &next->A));
  if (!refill) {
    PetscCall(PCGPUAMGSetMatrix_Private(pc, next->A));
    if (MatGPUCSRIs_Private(next->A)) PetscCall(MatGPUCSRSetTranspose(next->A, MAT_GPUCSR_TRANSPOSE_LAZY));
    PetscCall(MatIsSymmetricKnown(L->A, &known, &symmetric));
    if (known) PetscCall(MatSetOption(next->A, MAT_SYMMETRIC, symmetric));
  }
  PetscCall(PCGPUAMGFillEmpty(next));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Galerkin, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the next level, unless this level is the coarsest one, and sets amg->n to the number of levels up to this one. */
static PetscErrorCode PCGPUAMGBuildLevel(PC pc, PetscInt level, PetscInt vectors, PetscReal **B)
{
  PC_GPUAMG     *amg     = (PC_GPUAMG *)pc->data;
  PCGPUAMGLevel *L       = &amg->level[level];
  PCGPUAMGRows   R       = {0};
  Vec            inverse = NULL;
  PetscBool      last;

  PetscFunctionBegin;
  amg->n = level + 1;
  PetscCall(PCGPUAMGCountNonzeros(L));
  amg->exact = (PetscBool)(L->rows <= amg->options.limit);
  PetscCall(PCGPUAMGGetRows_Private(amg, level, &R));
  last = (PetscBool)(amg->why[0] || amg->exact);
  if (!last) PetscCall(PCGPUAMGEstimate_Private(pc, level, &R, &inverse));
  if (!last && !amg->why[0] && level + 1 < amg->options.levels) PetscCall(PCGPUAMGCreateProlongator_Private(pc, level, &R, vectors, B, inverse));
  PetscCall(VecDestroy(&inverse));
  PetscCall(PCGPUAMGFreeRows_Private(&R));
  if (L->P) {
    PetscCall(PCGPUAMGCountNonzeros(L));
    PetscCall(PCGPUAMGMultiply(pc, level));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGBuild_Private(PC pc)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;
  PetscInt   vectors;
  PetscReal *B = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetOperator(pc, &amg->level[0].A));
  PetscCall(MatGetBlockSize(amg->level[0].A, &amg->level[0].block));
  amg->obstacle = NULL;
  if (amg->options.hierarchy != PC_GPUAMG_HIERARCHY_MATRICES) {
    PetscCall(PCGPUAMGDeviceGetObstacle_Private(pc, &amg->obstacle));
    if (!amg->obstacle) PetscCall(PCGPUAMGDeviceBuild_Private(pc, &amg->obstacle));
    PetscCheck(!amg->obstacle || amg->options.hierarchy == PC_GPUAMG_HIERARCHY_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-%spc_gpuamg_hierarchy device: the levels cannot be on the device, because %s; use auto or matrices",
               ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "", amg->obstacle);
    if (!amg->obstacle) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGPUAMGGetNearNullSpace_Private(pc, &vectors, &B));
  for (PetscInt level = 0; !level || amg->level[level].A; level++) PetscCall(PCGPUAMGBuildLevel(pc, level, vectors, &B));
  PetscCall(PetscFree(B));
  if (!amg->why[0] && amg->exact) PetscCall(PCGPUAMGInvert_Private(pc));
  amg->setups++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the prolongators and computes everything else from the new values. */
PetscErrorCode PCGPUAMGRefill_Private(PC pc)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&amg->level[0].A));
  PetscCall(PCGPUAMGGetOperator(pc, &amg->level[0].A));
  if (amg->device) {
    PetscCall(PCGPUAMGDeviceRefill_Private(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt level = 0; level < amg->n && !amg->why[0]; level++) {
    PCGPUAMGRows R       = {0};
    Vec          inverse = NULL;

    PetscCall(PCGPUAMGGetRows_Private(amg, level, &R));
    if (!amg->why[0] && (level + 1 < amg->n || !amg->exact)) PetscCall(PCGPUAMGEstimate_Private(pc, level, &R, &inverse));
    PetscCall(VecDestroy(&inverse));
    PetscCall(PCGPUAMGFreeRows_Private(&R));
    if (!amg->why[0] && level + 1 < amg->n) PetscCall(PCGPUAMGMultiply(pc, level));
  }
  if (!amg->why[0] && amg->exact) PetscCall(PCGPUAMGInvert_Private(pc));
  amg->setups++;
  amg->refills++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGDestroyLevels_Private(PC_GPUAMG *amg)
{
  PetscFunctionBegin;
  PetscCall(PCGPUAMGDeviceDestroy_Private(amg));
  for (PetscInt level = 0; level < PC_GPUAMG_MOST_LEVELS; level++) {
    PCGPUAMGLevel *L = &amg->level[level];

    PetscCall(MatDestroy(&L->A));
    PetscCall(MatDestroy(&L->P));
    PetscCall(VecDestroy(&L->l1));
    PetscCall(PetscFree(L->empty));
    PetscCall(PetscMemzero(L, sizeof(*L)));
  }
  PetscCall(MatDestroy(&amg->inverse));
  amg->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
