/* Properties of the rows of a level of PCGPUAMG: sums, the inverse of the diagonal, a bound of the eigenvalues, a hash of the pattern. */
#include "pc/impls/gpuamg/gpuamg.h"
#include "pc/impls/gpupoly/gpupoly.h"
#include "app/program/apphash.h"

/* Gets the sequential matrix of this rank's columns, and the one of other ranks' columns, which is NULL for a sequential matrix. */
static PetscErrorCode PCGPUAMGGetBlocks(Mat A, Mat block[2])
{
  PetscBool mpi;

  PetscFunctionBegin;
  block[0] = A;
  block[1] = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the entries of a sequential block to the sums of its rows.  here: the block has this rank's columns. */
static PetscErrorCode PCGPUAMGAddRows(Mat A, PetscBool here, PCGPUAMGRows *R)
{
  const PetscInt    *rowptr, *col;
  const PetscScalar *val;
  PetscInt           n;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &val));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++) {
      if (!here) R->far[i] += PetscAbsScalar(val[k]);
      else if (col[k] == i) R->diagonal[i] = PetscRealPart(val[k]);
      else R->near[i] += PetscAbsScalar(val[k]);
    }
  }
  PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first row on all ranks that has an entry that is not finite.  If there is none, it finds the first row that is not zero and whose diagonal entry is not positive.  Sets amg->why if there is such a row. */
static PetscErrorCode PCGPUAMGCheckRows(PC_GPUAMG *amg, PetscInt level, const PCGPUAMGRows *R)
{
  Mat      A = amg->level[level].A;
  PetscInt begin, end, bad[2] = {PETSC_MAX_INT, PETSC_MAX_INT};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = end - begin - 1; i >= 0; i--) {
    if (PetscIsInfOrNanReal(R->diagonal[i] + R->near[i] + R->far[i])) bad[0] = begin + i;
    else if (R->diagonal[i] < 0 || (R->diagonal[i] == 0 && R->near[i] + R->far[i] > 0)) bad[1] = begin + i;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (bad[0] < PETSC_MAX_INT) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ", row %" PetscInt_FMT ": the matrix has an entry that is not finite", level, bad[0]));
  else if (bad[1] < PETSC_MAX_INT) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ", row %" PetscInt_FMT ": the diagonal entry is not positive", level, bad[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGGetRows_Private(PC_GPUAMG *amg, PetscInt level, PCGPUAMGRows *R)
{
  Mat      block[2];
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(amg->level[level].A, &n, NULL));
  PetscCall(PetscCalloc3(n, &R->diagonal, n, &R->near, n, &R->far));
  PetscCall(PCGPUAMGGetBlocks(amg->level[level].A, block));
  PetscCall(PCGPUAMGAddRows(block[0], PETSC_TRUE, R));
  if (block[1]) PetscCall(PCGPUAMGAddRows(block[1], PETSC_FALSE, R));
  PetscCall(PCGPUAMGCheckRows(amg, level, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGFreeRows_Private(PCGPUAMGRows *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(R->diagonal, R->near, R->far));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static uint64_t PCGPUAMGHashIndices(const PetscInt a[], PetscInt n, uint64_t hash)
{
  for (PetscInt i = 0; i < n; i++) hash = (hash ^ (uint64_t)a[i]) * 0x100000001b3u; /* FNV-1a on indices */
  return GpAppHash64(hash);
}

/* Computes a hash of the pattern of the rows of this rank. */
PetscErrorCode PCGPUAMGHashPattern_Private(Mat A, uint64_t *hash)
{
  Mat             block[2];
  const PetscInt *rowptr, *col;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGGetBlocks(A, block));
  *hash = 0;
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscCall(MatGetRowIJ(block[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
    *hash = PCGPUAMGHashIndices(rowptr, n + 1, *hash);
    *hash = PCGPUAMGHashIndices(col, rowptr[n], *hash);
    PetscCall(MatRestoreRowIJ(block[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates vectors with D^(-1/2) and D^-1.  With l1, L->l1 receives 1 divided by the sum of the absolute values of each row.  For zero rows, all entries are 1. */
static PetscErrorCode PCGPUAMGCreateDiagonals(PCGPUAMGLevel *L, const PCGPUAMGRows *R, PetscBool l1, Vec *root, Vec *inverse)
{
  PetscScalar *r, *v, *s = NULL;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(L->A, root, inverse));
  if (l1 && !L->l1) PetscCall(VecDuplicate(*root, &L->l1));
  PetscCall(VecGetLocalSize(*root, &n));
  PetscCall(VecGetArrayWrite(*root, &r));
  PetscCall(VecGetArrayWrite(*inverse, &v));
  if (l1) PetscCall(VecGetArrayWrite(L->l1, &s));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = R->diagonal[i] > 0 ? R->diagonal[i] : 1;

    r[i] = 1 / PetscSqrtReal(d);
    v[i] = 1 / d;
    if (l1) s[i] = 1 / (d + R->near[i] + R->far[i]);
  }
  if (l1) PetscCall(VecRestoreArrayWrite(L->l1, &s));
  PetscCall(VecRestoreArrayWrite(*inverse, &v));
  PetscCall(VecRestoreArrayWrite(*root, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the maximum norm of D^-1 A, an upper bound on the absolute values of its eigenvalues. */
static PetscErrorCode PCGPUAMGGetNorm(Mat A, const PCGPUAMGRows *R, PetscReal *norm)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  *norm = 0;
  for (PetscInt i = 0; i < n; i++) *norm = PetscMax(*norm, 1 + (R->near[i] + R->far[i]) / (R->diagonal[i] > 0 ? R->diagonal[i] : 1));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bounds the largest eigenvalue of D^-1 A.  The largest Ritz value plus the norm of its residual is a bound except in rare cases (gpupolybounds.c); 1 % is added.  The maximum norm is always a bound.  The
   smaller of the two is used, for a nonsymmetric matrix the maximum norm. */
PetscErrorCode PCGPUAMGEstimate_Private(PC pc, PetscInt level, const PCGPUAMGRows *R, Vec *inverse)
{
  PC_GPUAMG     *amg  = (PC_GPUAMG *)pc->data;
  PCGPUAMGLevel *L    = &amg->level[level];
  PC_GPUPoly     poly = {.steps = amg->options.steps};
  Vec            root;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGCreateDiagonals(L, R, (PetscBool)(amg->options.smoother == PC_GPUAMG_SMOOTHER_L1JACOBI), &root, inverse));
  for (int w = 0; w < 2; w++) PetscCall(VecDuplicate(root, &poly.work[w]));
  PetscCall(PCGPUPolyRunLanczos_Private(L->A, &poly, root));
  for (int w = 0; w < 2; w++) PetscCall(VecDestroy(&poly.work[w]));
  PetscCall(VecDestroy(&poly.start));
  PetscCall(VecDestroy(&root));
  if (poly.failure) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ": %s", level, poly.failure));
  else if (!poly.unsymmetric && poly.ritz.low < -1e-6 * poly.ritz.high) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ": a Ritz value is negative, so the matrix is not positive definite", level));
  PetscCall(PCGPUAMGGetNorm(L->A, R, &L->high));
  L->norm = poly.unsymmetric;
  if (!poly.unsymmetric) L->high = PetscMin(L->high, 1.01 * (poly.ritz.high + poly.ritz.high_residual));
  PetscCall(PetscInfo(pc, "Level %" PetscInt_FMT ": %" PetscInt_FMT " Lanczos steps, the eigenvalues are at most %g\n", level, poly.ritz.steps, (double)L->high));
  PetscFunctionReturn(PETSC_SUCCESS);
}
