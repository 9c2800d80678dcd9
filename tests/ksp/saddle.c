static char help[] = "PCFIELDSPLIT on a symmetric saddle point problem with vectors of type gpu gives the same solution as with standard vectors.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define CELLS 12 /* cells of a process, with two unknowns of the first field and one of the second */

/* A symmetric matrix. Rows 3c and 3c + 1 of cell c are a chain with the diagonal entries 4 and 4 + c mod 3. Row 3c + 2 is a constraint with zero
   diagonal: unknown 3c plus half of unknown 3c + 3. */
static PetscErrorCode CreateMatrix(MatType type, VecType vectors, Mat *A)
{
  PetscInt start, end, n;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, 3 * CELLS, 3 * CELLS, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 8, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 8, NULL, 8, NULL));
  PetscCall(MatSetVecType(*A, vectors));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(MatGetSize(*A, &n, NULL));
  for (PetscInt cell = start / 3; cell < end / 3; cell++) {
    const PetscInt i = 3 * cell, before = i - 2, next = i + 3;

    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i + 1, i + 1, 4 + cell % 3, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i + 1, i, -1, INSERT_VALUES));
    if (before >= 0) PetscCall(MatSetValue(*A, i, before, -1, INSERT_VALUES));
    if (next < n) PetscCall(MatSetValue(*A, i + 1, next, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i + 2, i + 2, 0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i + 2, i, 1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i + 2, 1, INSERT_VALUES));
    if (next < n) PetscCall(MatSetValue(*A, i + 2, next, 0.5, INSERT_VALUES));
    if (before >= 0) PetscCall(MatSetValue(*A, i, i - 1, 0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(MatType type, VecType vectors, Vec *x)
{
  const PetscInt     first[] = {0, 1};
  KSPConvergedReason reason;
  PetscInt           start, end, indices[2 * CELLS];
  PetscScalar       *values;
  Mat                A;
  Vec                b;
  KSP                ksp;
  PC                 pc;
  IS                 is[2];

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(type, vectors, &A));
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  PetscCall(VecGetArray(b, &values));
  for (PetscInt i = start; i < end; i++) values[i - start] = i % 3 == 2 ? 0.1 : 1 + PetscSinReal((PetscReal)i);
  PetscCall(VecRestoreArray(b, &values));
  for (PetscInt c = 0; c < CELLS; c++) {
    for (int k = 0; k < 2; k++) indices[2 * c + k] = start + 3 * c + first[k];
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, 2 * CELLS, indices, PETSC_COPY_VALUES, &is[0]));
  for (PetscInt c = 0; c < CELLS; c++) indices[c] = start + 3 * c + 2;
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, CELLS, indices, PETSC_COPY_VALUES, &is[1]));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-11, 0, 1e5, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetIS(pc, "0", is[0]));
  PetscCall(PCFieldSplitSetIS(pc, "1", is[1]));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solve with %s and %s vectors ends with reason %d", type, vectors, (int)reason);
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Vec       gpu, standard, difference;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(Solve(MATAIJ, VECSTANDARD, &standard));
  PetscCall(Solve(MATGPUCSR, VECGPU, &gpu));
  PetscCall(VecDuplicate(standard, &difference));
  PetscCall(VecCopy(gpu, difference));
  PetscCall(VecAXPY(difference, -1, standard));
  PetscCall(VecNorm(standard, NORM_2, &norm));
  PetscCall(VecNorm(difference, NORM_2, &error));
  PetscCheck(norm > 1 && error <= 1e-8 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solutions differ by %g of %g", (double)error, (double)norm);
  PetscCall(VecDestroy(&difference));
  PetscCall(VecDestroy(&gpu));
  PetscCall(VecDestroy(&standard));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the solutions are equal\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      output_file: output/saddle.out
      args: -mat_gpucsr_storage double -vec_gpu_separate -fieldsplit_0_ksp_type cg -fieldsplit_0_pc_type jacobi -fieldsplit_0_ksp_rtol 1e-12
      test:
         suffix: gkb
         args: -pc_fieldsplit_type gkb -pc_fieldsplit_gkb_tol 1e-9
      test:
         suffix: stream
         args: -pc_fieldsplit_type schur -pc_fieldsplit_schur_fact_type full -pc_fieldsplit_schur_precondition self -fieldsplit_1_pc_type none -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      test:
         suffix: schur
         args: -pc_fieldsplit_type schur -pc_fieldsplit_schur_fact_type {{diag full}} -pc_fieldsplit_schur_precondition self -fieldsplit_1_pc_type none

TEST*/
