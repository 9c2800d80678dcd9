static char help[] = "MatMultDiagonalBlock() of a MATGPUCSR, on the device for vectors on the device and on the host for others, compared with the dense blocks of\n\
neighbouring rows with one pattern; and PCEISENSTAT, which calls it.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define NODES 24 /* number of nodes of a rank, with 1 to 5 rows each */

/* First local row of a node. */
static PetscInt First(PetscInt node)
{
  return node / 5 * 15 + (node % 5) * (node % 5 + 1) / 2;
}

static PetscInt NodeOf(PetscInt row)
{
  PetscInt node = 0;

  while (First(node + 1) <= row) node++;
  return node;
}

static PetscScalar Value(PetscInt i, PetscInt j)
{
  return i == j ? 40 : -1 - 0.125 * ((i + j) % 4); /* symmetric, exact in single precision */
}

/* The rows of a node have nonzeros in all columns of the node and of its two neighbours, also across ranks. */
static PetscErrorCode Create(Mat *A)
{
  const PetscInt m = First(NODES);
  PetscInt       start;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, m, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 15, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 15, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, NULL));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt node = NodeOf(i);

    for (PetscInt j = First(PetscMax(node - 1, 0)); j < PetscMin(First(node + 2), m); j++) PetscCall(MatSetValue(*A, start + i, start + j, Value(i, j), INSERT_VALUES));
    if (node == 0 && start) PetscCall(MatSetValue(*A, start + i, start - 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Downloads(PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("VecGPUDownload", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* factor: the matrix was multiplied by it after its creation. allowed: upper bound on the vectors copied to the host. */
static PetscErrorCode Compare(const char what[], Mat A, PetscScalar factor, Vec x, Vec y, PetscInt allowed)
{
  const PetscScalar *xa, *ya;
  PetscInt           before, after;

  PetscFunctionBeginUser;
  PetscCall(VecSet(y, 77));
  PetscCall(Downloads(&before));
  PetscCall(MatMultDiagonalBlock(A, x, y));
  PetscCall(Downloads(&after));
  PetscCheck(after - before <= allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " vectors were copied to the host", what, after - before);
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < First(NODES); i++) {
    PetscScalar s = 0, sum = 0;

    for (PetscInt j = First(NodeOf(i)); j < First(NodeOf(i) + 1); j++) {
      s += factor * Value(i, j) * xa[j];
      sum += PetscAbsScalar(factor * Value(i, j) * xa[j]);
    }
    PetscCheck(PetscAbsScalar(s - ya[i]) <= 1e-15 * PetscAbsScalar(sum), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %.17g, not %.17g", what, i, (double)PetscRealPart(ya[i]), (double)PetscRealPart(s));
  }
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of iterations of conjugate gradients with Eisenstat's implementation of SSOR. */
static PetscErrorCode Eisenstat(Mat A, PetscInt *its)
{
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCEISENSTAT));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat      A, B, plain;
  Vec      x, y;
  PetscInt start, its[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Create(&A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  for (PetscInt i = 0; i < First(NODES); i++) PetscCall(VecSetValue(x, start + i, 1 + (PetscReal)(i % 7) / 8, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y)); /* creates the image */
  PetscCall(VecScale(x, 1.5));
  PetscCall(Compare("on the device", A, 1, x, y, 0));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatScale(B, 0.5));
  PetscCall(VecScale(x, 0.5));
  PetscCall(Compare("a scaled copy", B, 0.5, x, y, 0));
  PetscCall(MatDestroy(&B));
  PetscCall(MatScale(A, 1 / 3.0)); /* single storage rounds these values; then the operation of the parent type runs, with the inverse blocks that SOR stores on the host */
  PetscCall(MatMult(A, x, y));
  PetscCall(MatSOR(A, x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, y));
  PetscCall(VecScale(x, 3));
  PetscCall(Compare("rounded values", A, 1 / 3.0, x, y, 2));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(Eisenstat(A, &its[0]));
  PetscCall(Eisenstat(plain, &its[1]));
  PetscCheck(its[0] == its[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Eisenstat took %" PetscInt_FMT " iterations, with AIJ %" PetscInt_FMT, its[0], its[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Eisenstat: equal to AIJ\n"));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A)); /* back to AIJ */
  PetscCall(MatSOR(A, x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, y));
  PetscCall(Compare("plain AIJ again", A, 1 / 3.0, x, y, 2));
  PetscCall(MatDestroy(&plain));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      args: -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage {{single double}}

TEST*/
