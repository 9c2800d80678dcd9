static char help[] = "Preconditioners set up from a MATGPUCSR and applied to gpu vectors give the iterations and the solution of plain AIJ.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define N 20

/* A grid with two coupled unknowns at each point. Pairs of rows have the same pattern. */
static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 2 * N * N, 2 * N * N));
  PetscCall(MatSetBlockSize(*A, 2));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 10, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 10, NULL, 10, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt point = row / 2, i = point % N, j = point / N, di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1};

    for (int k = 0; k < 5; k++) {
      if (i + di[k] < 0 || i + di[k] >= N || j + dj[k] < 0 || j + dj[k] >= N) continue;
      for (PetscInt c = 0; c < 2; c++) {
        const PetscInt    column = 2 * (point + di[k] + N * dj[k]) + c;
        const PetscScalar v      = column == row ? 5 + (i % 3) : k == 0 ? 0.75 : c == row % 2 ? -1 : -0.125;

        PetscCall(MatSetValue(*A, row, column, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves twice, the second time with other values on the same pattern. */
static PetscErrorCode Solve(MatType type, VecType vectype, Vec x[2], PetscInt its[2])
{
  Mat A;
  Vec b, d;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(Create(type, &A));
  PetscCall(MatSetVecType(A, vectype));
  PetscCall(MatCreateVecs(A, &d, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPBCGS));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; round++) {
    if (round) {
      PetscCall(MatShift(A, 2));
      PetscCall(MatScale(A, 0.25));
    }
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(VecSet(b, 1 + round));
    PetscCall(VecSet(d, 0));
    PetscCall(KSPSolve(ksp, b, d));
    PetscCall(KSPGetIterationNumber(ksp, &its[round]));
    PetscCall(VecCopy(d, x[round]));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Close(const char what[], Vec x, Vec expected)
{
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(expected, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1, expected));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCheck(error <= 1e-9 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s differs by %g of %g", what, (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       A;
  Vec       x[2][2];
  PetscInt  its[2][2];
  PetscBool device = PETSC_FALSE, blocks = PETSC_FALSE; /* the device solves with the factors; the factors are those of blocks */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device_solver", &device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device_solver_blocks", &blocks, NULL));
  PetscCall(Create(MATAIJ, &A));
  for (int ours = 0; ours < 2; ours++) {
    PetscCall(MatCreateVecs(A, &x[ours][0], NULL));
    PetscCall(VecDuplicate(x[ours][0], &x[ours][1]));
    if (ours && device) PetscCall(PetscOptionsSetValue(NULL, blocks ? "-sub_pc_factor_mat_solver_type" : "-pc_factor_mat_solver_type", MATSOLVERGPUCSR)); /* plain AIJ does not have this type */
    PetscCall(Solve(ours ? MATGPUCSR : MATAIJ, ours ? VECGPU : VECSTANDARD, x[ours], its[ours]));
  }
  for (int round = 0; round < 2; round++) {
    PetscCheck(PetscAbsInt(its[0][round] - its[1][round]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Solve %d: %" PetscInt_FMT " iterations, with plain AIJ %" PetscInt_FMT, round, its[1][round], its[0][round]);
    PetscCall(Close("The solution", x[1][round], x[0][round]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "equal to plain AIJ\n"));
  for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&x[k / 2][k % 2]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -vec_gpu_separate
      output_file: output/preconditioners_1.out
      test:
         suffix: jacobi
         args: -pc_type jacobi -pc_jacobi_type {{diagonal rowmax rowsum}}
      test:
         suffix: blocks
         nsize: {{1 2 4}}
         args: -pc_type {{pbjacobi bjacobi asm gasm}}
      test:
         suffix: severalblocks
         nsize: {{1 2 4}}
         args: -pc_type {{bjacobi asm}} -pc_bjacobi_local_blocks 3 -pc_asm_local_blocks 3 -device_solver -device_solver_blocks -sub_pc_type ilu -mat_gpucsr_vec_type gpu
      test:
         suffix: sharedblock
         nsize: 4
         args: -pc_type bjacobi -pc_bjacobi_blocks 2 -sub_ksp_type preonly -sub_pc_type {{jacobi bjacobi}} -mat_gpucsr_vec_type gpu
      test:
         suffix: host
         nsize: {{1 2 4}}
         args: -pc_type {{sor eisenstat kaczmarz}}
      test:
         suffix: stream
         args: -pc_type {{jacobi pbjacobi bjacobi asm sor eisenstat}} -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      test:
         suffix: factor
         nsize: {{1 2 4}}
         args: -pc_type bjacobi -device_solver -device_solver_blocks -sub_pc_type {{ilu icc lu cholesky}} -sub_pc_factor_mat_ordering_type {{natural rcm multicolor}} -mat_gpucsr_vec_type gpu
      test:
         suffix: sweeps
         args: -pc_type bjacobi -device_solver -device_solver_blocks -sub_pc_type {{ilu icc}} -gpucsr_trisolve {{jacobi isai}} -gpucsr_trisolve_sweeps 1024
      test:
         suffix: levels
         args: -pc_type {{asm gasm}} -device_solver -device_solver_blocks -sub_pc_type {{ilu icc}} -sub_pc_factor_levels 2 -sub_pc_factor_shift_type {{none nonzero}} -mat_gpucsr_vec_type gpu
      test:
         suffix: gasm
         nsize: 4
         args: -pc_type gasm -pc_gasm_total_subdomains {{2 8}} -pc_gasm_use_hierachical_partitioning {{0 1}} -sub_pc_type bjacobi -mat_partitioning_type average -mat_gpucsr_vec_type gpu
      test:
         suffix: fieldsplit
         nsize: {{1 2 4}}
         args: -pc_type fieldsplit -pc_fieldsplit_type {{additive multiplicative symmetric_multiplicative schur}} -ksp_type fgmres -mat_gpucsr_vec_type gpu
      test:
         suffix: composite
         nsize: {{1 2 4}}
         args: -pc_type composite -pc_composite_type {{additive multiplicative}} -pc_composite_pcs jacobi,bjacobi -mat_gpucsr_vec_type gpu
      test:
         suffix: multigrid
         nsize: {{1 2 4}}
         args: -pc_type gamg -pc_gamg_aggressive_coarsening 0 -mg_levels_ksp_type richardson -mg_levels_pc_type {{sor bjacobi}} -mat_gpucsr_vec_type gpu
      test:
         suffix: petsc
         args: -pc_type bjacobi -sub_pc_type {{ilu icc}} -gpucsr_factor_solver petsc
      test:
         suffix: hypre
         requires: hypre
         args: -pc_type hypre

   test:
      suffix: single
      args: -mat_gpucsr_storage single -pc_type jacobi -ksp_rtol 1e-12
      output_file: output/preconditioners_1.out

   test:
      suffix: singlefactor
      args: -mat_gpucsr_storage double -mat_gpucsr_factor_storage single -device_solver -pc_type {{ilu icc}}
      output_file: output/preconditioners_1.out

TEST*/
