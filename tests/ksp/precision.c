static char help[] = "Effect of the storage of a MATGPUCSR on a solve: the residual that KSP reports, compared with the residual of the given system.\n\
  -expect <double,single> : expected storage. With single the residual of the given system is larger than the one that KSP reports\n\
  -refined : with single storage too the residual of the given system is the one that KSP reports\n\
  -copy : solve with a copy of the matrix in single storage inside another method\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define N 14

/* The conductivity between two neighbouring cells. It is not exact in single precision. */
static PetscReal Coefficient(PetscInt a, PetscInt b)
{
  return 1.0 / (1 + (PetscReal)((a + b) % 7)) + 0.1 * (PetscReal)((a * b) % 3);
}

/* Diffusion with variable coefficients on N^3 cells and Dirichlet conditions on two faces. */
static PetscErrorCode Create(const char prefix[], MatType type, Mat *A)
{
  const PetscInt n = N * N * N, stride[3] = {1, N, N * N};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscReal diagonal = i / (N * N) % (N - 1) ? 0 : 1.1;

    for (int d = 0; d < 3; d++) {
      const PetscInt x = i / stride[d] % N;

      for (int s = -1; s < 2; s += 2) {
        if (x + s < 0 || x + s >= N) continue;
        PetscCall(MatSetValue(*A, i, i + s * stride[d], -Coefficient(PetscMin(i, i + s * stride[d]), PetscMax(i, i + s * stride[d])), INSERT_VALUES));
        diagonal += Coefficient(PetscMin(i, i + s * stride[d]), PetscMax(i, i + s * stride[d]));
      }
    }
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relative residual of the given system, computed with AIJ in double precision. */
static PetscErrorCode Residual(Mat B, Vec b, Vec x, PetscReal *relative)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(B, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const char prefix[], PetscBool single, PetscBool refined)
{
  Mat                A, B;
  Vec                b, x;
  KSP                ksp;
  KSPConvergedReason reason;
  MatGPUCSRInfo      info;
  PetscReal          claimed, norm, relative;

  PetscFunctionBeginUser;
  PetscCall(Create(prefix, MATGPUCSR, &A));
  PetscCall(Create(NULL, MATAIJ, &B));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetResidualNorm(ksp, &claimed));
  PetscCheck(reason == KSP_CONVERGED_RTOL && claimed <= 1e-10 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The converged reason is %d, the residual %g", (int)reason, (double)claimed);
  PetscCall(Residual(B, b, x, &relative));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.storage == (single ? MAT_GPUCSR_STORAGE_SINGLE : MAT_GPUCSR_STORAGE_DOUBLE), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The storage in effect is %d", (int)info.storage);
  PetscCheck(single && !refined ? relative > 1e-8 && relative < 1e-4 : relative < (refined ? 1.05e-10 : 1.2e-10), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s storage: the residual of the given system is %g", single ? "Single" : "Double", (double)relative);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "prefix %s, %s storage: solution of the %s system\n", prefix ? prefix : "none", single ? "single" : "double", single && !refined ? "rounded" : "given"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A double-precision answer whose inner iterations use a copy of the matrix in single precision, as in docs/precision.md. */
static PetscErrorCode SolveWithCopy(KSPType outer)
{
  Mat                A, B, P, inner;
  Vec                b, x;
  KSP                ksp, sub;
  PC                 pc;
  KSPConvergedReason reason;
  MatGPUCSRInfo      info[2];
  PetscReal          relative;

  PetscFunctionBeginUser;
  PetscCall(Create(NULL, MATGPUCSR, &A));
  PetscCall(Create(NULL, MATAIJ, &B));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatGPUCSRSetStorage(P, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "copy_"));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetType(ksp, outer));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 20));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKSP));
  PetscCall(KSPSetFromOptions(ksp));
  for (int k = 0; k < 2; k++) {
    if (k) { /* other values */
      PetscCall(MatShift(A, 0.1));
      PetscCall(MatShift(B, 0.1));
      PetscCall(MatCopy(A, P, SAME_NONZERO_PATTERN));
    }
    PetscCall(VecSet(b, 1));
    PetscCall(KSPSetOperators(ksp, A, P));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(Residual(B, b, x, &relative));
    PetscCheck(reason == KSP_CONVERGED_RTOL && relative <= 1.05e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s outside: the converged reason is %d, the residual of the given system %g", outer, (int)reason, (double)relative);
  }
  PetscCall(PCKSPGetKSP(pc, &sub));
  PetscCall(KSPGetOperators(sub, &inner, NULL));
  PetscCall(MatGPUCSRGetInfo(A, &info[0]));
  PetscCall(MatGPUCSRGetInfo(inner, &info[1]));
  PetscCheck(info[0].storage == MAT_GPUCSR_STORAGE_DOUBLE && info[1].storage == MAT_GPUCSR_STORAGE_SINGLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s outside: storage %d, inside %d", outer, (int)info[0].storage, (int)info[1].storage);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s outside, single storage inside: solution of the given system\n", outer));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks that PCFIELDSPLIT extracts, which have no prefix of their own. */
static PetscErrorCode Split(PetscBool single)
{
  Mat              A;
  KSP              ksp, *sub;
  PC               pc;
  IS               half;
  PetscInt         start, end, n;
  MatGPUCSRStorage storage;

  PetscFunctionBeginUser;
  PetscCall(Create("A_", MATGPUCSR, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCFIELDSPLIT));
  for (int k = 0; k < 2; k++) {
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - start + 1 - k) / 2, start + k, 2, &half));
    PetscCall(PCFieldSplitSetIS(pc, NULL, half));
    PetscCall(ISDestroy(&half));
  }
  PetscCall(PCSetUp(pc));
  PetscCall(PCFieldSplitGetSubKSP(pc, &n, &sub));
  for (PetscInt k = 0; k < n; k++) {
    Mat block;

    PetscCall(KSPGetOperators(sub[k], &block, NULL));
    PetscCall(MatGPUCSRGetStorage(block, &storage));
    PetscCheck((storage == MAT_GPUCSR_STORAGE_SINGLE) == single, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Block %" PetscInt_FMT " has storage %d", k, (int)storage);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " blocks of PCFIELDSPLIT: %s\n", n, single ? "single" : "not single"));
  PetscCall(PetscFree(sub));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const choices[] = {"double", "single"};
  PetscInt          expect    = 0;
  PetscBool         copy, refined;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-expect", choices, 2, &expect, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-copy", &copy));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refined", &refined));
  if (copy) {
    PetscCall(SolveWithCopy(KSPFGMRES));
    PetscCall(SolveWithCopy(KSPRICHARDSON));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(Solve(NULL, (PetscBool)expect, refined));
  PetscCall(Solve("A_", (PetscBool)expect, refined));
  PetscCall(Split((PetscBool)expect));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      args: -ksp_type {{cg gpucg}} -pc_type jacobi
      output_file: output/precision_double.out
      test:
         suffix: process
         args: -gpucsr_storage {{double auto}}
      test:
         suffix: stream
         args: -gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      test:
         suffix: matrix
         args: -mat_gpucsr_storage double -A_mat_gpucsr_storage auto
      test:
         suffix: single
         args: -expect single -ksp_gpu_refine 0
         output_file: output/precision_single.out
   test:
      suffix: refined
      args: -ksp_type {{gpucg gpubcgs}} -pc_type jacobi -expect single -refined
   test:
      suffix: copy
      nsize: {{1 2}}
      args: -copy -copy_ksp_ksp_type {{cg gpucg}} -copy_ksp_ksp_rtol 1e-4 -copy_ksp_ksp_gpu_refine 0 -copy_ksp_pc_type jacobi

TEST*/
