static char help[] = "Multigrid has gpucsr operators, gpucsr interpolations and gpu vectors on every level. A solve copies only vectors of the coarsest level between host and device.\n\n\
  -dmda  : geometric multigrid on a DMDA instead of GAMG on an assembled matrix\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>

/* A row of the 5-point Laplacian on an n x n grid, with a shift that is exact in single precision. Therefore single storage rounds the coarse levels
   only. */
static PetscErrorCode SetRow(Mat A, PetscInt n, PetscInt row)
{
  const PetscInt i = row % n, j = row / n;

  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, row, row, 4.015625, INSERT_VALUES));
  if (i > 0) PetscCall(MatSetValue(A, row, row - 1, -1, INSERT_VALUES));
  if (i < n - 1) PetscCall(MatSetValue(A, row, row + 1, -1, INSERT_VALUES));
  if (j > 0) PetscCall(MatSetValue(A, row, row - n, -1, INSERT_VALUES));
  if (j < n - 1) PetscCall(MatSetValue(A, row, row + n, -1, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(KSP ksp, Mat J, Mat A, void *context)
{
  DM            da;
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscInt di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1};
      MatStencil     row = {.i = i, .j = j}, column[5];
      PetscScalar    v[5];
      PetscInt       n = 0;

      for (int k = 0; k < 5; k++) {
        const MatStencil c = {.i = i + di[k], .j = j + dj[k]};

        if (c.i < 0 || c.j < 0 || c.i >= info.mx || c.j >= info.my) continue;
        column[n] = c;
        v[n++]    = k ? -1 : 4;
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, n, column, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a solver with matrices and vectors of these types, right-hand side b and solution x. */
static PetscErrorCode Create(MatType type, VecType vectype, PetscBool dmda, KSP *ksp, Vec *b, Vec *x)
{
  const PetscInt n = 40;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, dmda ? PCMG : PCGAMG));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  if (dmda) {
    DM da;

    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 5, 5, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
    PetscCall(DMSetMatType(da, type));
    PetscCall(DMSetVecType(da, vectype));
    PetscCall(DMSetFromOptions(da));
    PetscCall(DMSetUp(da));
    PetscCall(KSPSetDM(*ksp, da));
    PetscCall(KSPSetComputeOperators(*ksp, Operator, NULL));
    PetscCall(DMCreateGlobalVector(da, b));
    PetscCall(DMDestroy(&da));
  } else {
    Mat      A;
    PetscInt start, end;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
    PetscCall(MatGetOwnershipRange(A, &start, &end));
    for (PetscInt row = start; row < end; row++) PetscCall(SetRow(A, n, row));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, NULL, b));
    PetscCall(KSPSetOperators(*ksp, A, A));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(VecDuplicate(*b, x));
  PetscCall(VecSet(*b, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMat(const char what[], PetscInt level, Mat A)
{
  PetscBool is;
  MatType   type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The %s of level %" PetscInt_FMT " is of type %s", what, level, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLevels(KSP ksp)
{
  PC       pc;
  PetscInt levels;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(levels > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The multigrid has one level only, so that nothing is tested");
  for (PetscInt level = 0; level < levels; level++) {
    KSP       smoother;
    Mat       A, P;
    Vec       b;
    VecType   type;
    PetscBool is;

    PetscCall(PCMGGetSmoother(pc, level, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, NULL));
    PetscCall(CheckMat("operator", level, A));
    PetscCall(KSPGetRhs(smoother, &b));
    PetscCall(VecGetType(b, &type));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)b, &is, VECSEQGPU, VECMPIGPU, ""));
    PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The right-hand side of level %" PetscInt_FMT " is of type %s", level, type);
    if (!level) continue;
    PetscCall(PCMGGetInterpolation(pc, level, &P));
    PetscCall(CheckMat("interpolation", level, P));
    PetscCall(PCMGGetRestriction(pc, level, &P));
    PetscCall(CheckMat("restriction", level, P));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrices and vectors of all levels are gpucsr and gpu\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Count(const char name[], PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const events[] = {"GPUCSRUpload", "VecGPUUpload", "VecGPUDownload"};
  PetscInt          most[]   = {0, 0, 0}; /* upper bounds for a cycle */
  KSP               ksp, reference;
  Vec               b, x, c, y;
  PetscInt          before[3], after[3], its, expected;
  PetscReal         error, norm;
  PetscBool         dmda = PETSC_FALSE;
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dmda", &dmda, NULL));
  if (size > 1) most[1] = most[2] = 2; /* PETSc's redundant solver of the coarsest level gathers its vectors on the host */
  PetscCall(Create(MATAIJGPUCSR, VECGPU, dmda, &ksp, &b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(CheckLevels(ksp));
  for (int e = 0; e < 3; e++) PetscCall(Count(events[e], &before[e]));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  for (int e = 0; e < 3; e++) {
    PetscCall(Count(events[e], &after[e]));
    PetscCheck(after[e] - before[e] <= most[e] * (its + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " times in %" PetscInt_FMT " cycles", events[e], after[e] - before[e], its + 1);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "only vectors of the coarsest level are copied\n"));

  PetscCall(Create(MATAIJ, VECSTANDARD, dmda, &reference, &c, &y));
  PetscCall(KSPSolve(reference, c, y));
  PetscCall(KSPGetIterationNumber(reference, &expected));
  PetscCheck(PetscAbsInt(its - expected) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations, with plain AIJ %" PetscInt_FMT, its, expected);
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecCopy(x, c));
  PetscCall(VecAXPY(c, -1, y));
  PetscCall(VecNorm(c, NORM_2, &error));
  PetscCheck(error <= 1e-6 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solution differs from that of plain AIJ by %g of %g", (double)error, (double)norm);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations and solution: equal to plain AIJ\n"));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&reference));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      args: -mat_gpucsr_vec_type gpu -vec_gpu_separate -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_levels_ksp_max_it {{2 4}}
      output_file: output/multigrid_1.out
      test:
         suffix: gamg
         args: -mat_gpucsr_storage {{single double}}
      test:
         suffix: stream
         args: -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      test:
         suffix: dmda
         args: -dmda -da_refine 3 -pc_mg_galerkin {{none both}}

TEST*/
