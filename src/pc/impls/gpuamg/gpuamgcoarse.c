/* The inverse of the operator on the coarsest level of PCGPUAMG.  Every rank computes it from all rows, and stores its own rows in a matrix of the type of the operator. */
#include "pc/impls/gpuamg/gpuamg.h"
#include <petscblaslapack.h>

#define PC_GPUAMG_ZERO     1e-11 /* eigenvalues of the scaled operator up to this number times its number of rows are taken for zero */
#define PC_GPUAMG_NEGATIVE 1e-8  /* if an eigenvalue is less than minus this number, the operator is not positive semidefinite */

/* The same if values of the finest level are rounded to single precision. Rounding moves a zero eigenvalue by about 1e-7, and relative to the diagonal entries of the coarsest level by up to some hundred times as
   much, because these are small compared with the sum of the diagonal entries of an aggregate. */
#define PC_GPUAMG_ROUNDED_ZERO     1e-5
#define PC_GPUAMG_ROUNDED_NEGATIVE 1e-4

PetscLogEvent PC_GPUAMG_Coarse;

/* Gathers the operator: D is [N][N], the same on all ranks. */
static PetscErrorCode PCGPUAMGGatherDense(Mat A, PetscInt N, PetscScalar D[])
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscInt     begin, end;
  PetscMPIInt  size, mine, *counts, *offsets;
  PetscScalar *rows;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscCalloc1((end - begin) * N, &rows));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           m;
    const PetscInt    *col;
    const PetscScalar *val;

    PetscCall(MatGetRow(A, i, &m, &col, &val));
    for (PetscInt k = 0; k < m; k++) rows[(i - begin) * N + col[k]] = val[k];
    PetscCall(MatRestoreRow(A, i, &m, &col, &val));
  }
  PetscCall(GpCompatMPIIntCast((PetscInt64)(end - begin) * N, &mine));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0, sum = 0; r < size; sum += counts[r++]) offsets[r] = sum;
  PetscCallMPI(MPI_Allgatherv(rows, mine, MPIU_SCALAR, D, counts, offsets, MPIU_SCALAR, comm));
  PetscCall(PetscFree2(counts, offsets));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales D from both sides by the inverse square roots of its diagonal, which scale receives.  symmetric: receives whether D is symmetric. */
static void PCGPUAMGScaleDense(PetscInt N, PetscScalar D[], PetscReal scale[], PetscBool *symmetric)
{
  *symmetric = PETSC_TRUE;
  for (PetscInt i = 0; i < N; i++) scale[i] = D[i * N + i] > 0 ? 1 / PetscSqrtReal(D[i * N + i]) : 1;
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt j = 0; j < N; j++) D[i * N + j] *= scale[i] * scale[j];
  }
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt j = 0; j < i; j++) {
      if (PetscAbsScalar(D[i * N + j] - D[j * N + i]) > 1e-10) *symmetric = PETSC_FALSE;
    }
  }
}

/* Returns the bound up to which eigenvalues are taken for zero. */
static PetscReal PCGPUAMGGetZero(const PC_GPUAMG *amg, PetscInt N)
{
  return amg->rounded ? PC_GPUAMG_ROUNDED_ZERO : PC_GPUAMG_ZERO * (PetscReal)N;
}

/* Inverts a symmetric matrix by its Cholesky factor.  done: receives PETSC_FALSE if a pivot is small or not positive; D is then unchanged. */
static PetscErrorCode PCGPUAMGInvertCholesky(const PC_GPUAMG *amg, PetscInt N, PetscScalar D[], PetscBool *done)
{
  PetscScalar *L;
  PetscBLASInt n, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(N, &n));
  PetscCall(PetscMalloc1(N * N, &L));
  PetscCall(PetscArraycpy(L, D, N * N));
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &n, L, &n, &info));
  *done = (PetscBool)!info;
  for (PetscInt i = 0; i < N; i++) *done = (PetscBool)(*done && L[i * N + i] * L[i * N + i] > PCGPUAMGGetZero(amg, N));
  if (*done) {
    PetscCallBLAS("LAPACKpotri", LAPACKpotri_("L", &n, L, &n, &info));
    PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine potri returned info = %d", (int)info);
    for (PetscInt i = 0; i < N; i++) {
      for (PetscInt j = 0; j <= i; j++) D[i * N + j] = D[j * N + i] = L[j * N + i];
    }
  }
  PetscCall(PetscFree(L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces a symmetric matrix by its pseudo-inverse, which is computed from its eigenvectors.  Eigenvalues close to zero are dropped. */
static PetscErrorCode PCGPUAMGInvertEigen(PC_GPUAMG *amg, PetscInt N, PetscScalar D[])
{
  PetscScalar *V, *work;
  PetscReal   *w;
  PetscBLASInt n, lwork, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(N, &n));
  PetscCall(PetscBLASIntCast(8 * N, &lwork));
  PetscCall(PetscMalloc3(N * N, &V, N, &w, 8 * N, &work));
  PetscCall(PetscArraycpy(V, D, N * N));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "L", &n, V, &n, w, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine syev returned info = %d", (int)info);
  if (w[0] < (amg->rounded ? -PC_GPUAMG_ROUNDED_NEGATIVE : -PC_GPUAMG_NEGATIVE)) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "the operator of the coarsest level has a negative eigenvalue, so the matrix is not positive definite"));
  PetscCall(PetscArrayzero(D, N * N));
  for (PetscInt e = 0; e < N; e++) {
    const PetscScalar *v = V + e * N;

    if (w[e] <= PCGPUAMGGetZero(amg, N)) {
      amg->dropped++;
      continue;
    }
    for (PetscInt i = 0; i < N; i++) {
      for (PetscInt j = 0; j < N; j++) D[i * N + j] += v[i] * v[j] / w[e];
    }
  }
  PetscCall(PetscFree3(V, w, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces a nonsymmetric matrix by its pseudo-inverse, which is computed from its singular values.  LAPACK stores matrices by columns, so it decomposes the transpose of D. */
static PetscErrorCode PCGPUAMGInvertSingular(PC_GPUAMG *amg, PetscInt N, PetscScalar D[])
{
  PetscScalar *U, *V, *work;
  PetscReal   *s;
  PetscBLASInt n, lwork, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(N, &n));
  PetscCall(PetscBLASIntCast(8 * N, &lwork));
  PetscCall(PetscMalloc4(N * N, &U, N * N, &V, N, &s, 8 * N, &work));
  PetscCallBLAS("LAPACKgesvd", LAPACKgesvd_("A", "A", &n, &n, D, &n, s, U, &n, V, &n, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine gesvd returned info = %d", (int)info);
  PetscCall(PetscArrayzero(D, N * N));
  for (PetscInt e = 0; e < N; e++) { /* adds the term of column e of U and row e of V; U and V are stored by columns */
    if (s[e] <= PCGPUAMGGetZero(amg, N)) {
      amg->dropped++;
      continue;
    }
    for (PetscInt i = 0; i < N; i++) {
      for (PetscInt j = 0; j < N; j++) D[i * N + j] += U[e * N + i] * V[j * N + e] / s[e];
    }
  }
  PetscCall(PetscFree4(U, V, s, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the rows of this rank in amg->inverse, which the first call creates. */
static PetscErrorCode PCGPUAMGStoreInverse(PC pc, Mat A, PetscInt N, const PetscScalar D[])
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;
  PetscInt   n, begin, end, *col;
  MatType    type;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  n = end - begin;
  PetscCall(PetscMalloc1(N, &col));
  for (PetscInt j = 0; j < N; j++) col[j] = j;
  if (!amg->inverse) {
    PetscCall(MatGetType(A, &type));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &amg->inverse));
    PetscCall(MatSetSizes(amg->inverse, n, n, N, N));
    PetscCall(MatSetType(amg->inverse, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(amg->inverse, N, NULL));
    PetscCall(MatMPIAIJSetPreallocation(amg->inverse, n, NULL, N - n, NULL));
    for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValues(amg->inverse, 1, &i, N, col, D + i * N, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(amg->inverse, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(amg->inverse, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(amg->inverse, type, MAT_INPLACE_MATRIX, &amg->inverse));
    PetscCall(PCGPUAMGSetMatrix_Private(pc, amg->inverse));
  } else {
    for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValues(amg->inverse, 1, &i, N, col, D + i * N, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(amg->inverse, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(amg->inverse, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree(col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGInvertDense_Private(PC_GPUAMG *amg, PetscInt N, PetscScalar D[])
{
  PetscReal *scale;
  PetscBool  symmetric, done = PETSC_FALSE;

  PetscFunctionBegin;
  amg->dropped = 0;
  PetscCall(PetscMalloc1(N, &scale));
  PCGPUAMGScaleDense(N, D, scale, &symmetric);
  if (symmetric && N) PetscCall(PCGPUAMGInvertCholesky(amg, N, D, &done));
  if (symmetric && N && !done) PetscCall(PCGPUAMGInvertEigen(amg, N, D));
  if (!symmetric) PetscCall(PCGPUAMGInvertSingular(amg, N, D));
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt j = 0; j < N; j++) D[i * N + j] *= scale[i] * scale[j];
  }
  PetscCall(PetscFree(scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGInvert_Private(PC pc)
{
  PC_GPUAMG   *amg = (PC_GPUAMG *)pc->data;
  Mat          A   = amg->level[amg->n - 1].A;
  PetscInt     N;
  PetscScalar *D;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Coarse, pc, 0, 0, 0));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc1(N * N, &D));
  PetscCall(PCGPUAMGGatherDense(A, N, D));
  amg->rounded = PETSC_FALSE;
  PetscCall(PCGPUAMGInvertDense_Private(amg, N, D));
  if (!amg->why[0]) PetscCall(PCGPUAMGStoreInverse(pc, A, N, D));
  PetscCall(PetscFree(D));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Coarse, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
