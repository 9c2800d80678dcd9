static char help[] = "Krylov solvers with a MATGPUCSR and VECGPUs against MATAIJ and standard vectors: iterations, solutions, repeatability, and bytes copied between host and device.\n\n";

#include "gpucsr.h"
#include "sys/gpucsrsys.h"
#include <petscksp.h>

#define WIDTH 30

/* Convection and diffusion on a grid. The matrix is diagonally dominant, and symmetric without convection. */
static PetscErrorCode Matrix(MatType type, PetscReal convection, Mat *A)
{
  const PetscInt n = WIDTH * WIDTH;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt k = start; k < end; k++) {
    const PetscInt i = k / WIDTH, j = k % WIDTH;

    PetscCall(MatSetValue(*A, k, k, 4.2 + 0.01 * (k % 17), INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, k, k - WIDTH, -1 - convection, INSERT_VALUES));
    if (i < WIDTH - 1) PetscCall(MatSetValue(*A, k, k + WIDTH, -1 + convection, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*A, k, k - 1, -1, INSERT_VALUES));
    if (j < WIDTH - 1) PetscCall(MatSetValue(*A, k, k + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RightHandSide(Vec b)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(b, i, 1 + (i * i) % 13, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solver(Mat A, KSPType type, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes copied in the given number of iterations. A solve before this one must have allocated and uploaded everything. */
static PetscErrorCode Moved(KSP ksp, Vec b, Vec x, PetscInt iterations, double *bytes)
{
  GpDev dev = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
  *bytes = GpDevBytesIn(dev) + GpDevBytesOut(dev);
  PetscCall(KSPSolve(ksp, b, x));
  *bytes = GpDevBytesIn(dev) + GpDevBytesOut(dev) - *bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations copy nothing on one rank. On several ranks they copy the boundary entries: one grid line to and from each neighbour. */
static PetscErrorCode TestTraffic(KSP ksp, Vec b, Vec x, const char name[])
{
  double      few, many, allowed;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(Moved(ksp, b, x, 5, &few));
  PetscCall(Moved(ksp, b, x, 5, &few));
  PetscCall(Moved(ksp, b, x, 15, &many));
  allowed = size == 1 ? 0 : 10. * 2 * 4 * WIDTH * sizeof(double); /* at most two products in each iteration */
  PetscCheck(many - few <= allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: ten more iterations copied %g bytes, expected at most %g", name, many - few, allowed);
  if (size == 1) PetscCheck(few == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a solve copied %g bytes", name, few);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(KSPType type, Mat A, Mat G, PetscReal tolerance)
{
  Mat       pair[2] = {A, G};
  Vec       x[2], b[2], again;
  KSP       ksp[2];
  PetscInt  its[2];
  PetscReal error, norm;
  PetscBool same;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateVecs(pair[k], &x[k], &b[k]));
    PetscCall(RightHandSide(b[k]));
    PetscCall(Solver(pair[k], type, &ksp[k]));
    PetscCall(KSPSolve(ksp[k], b[k], x[k]));
    PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
  }
  PetscCall(VecDuplicate(x[1], &again));
  PetscCall(KSPSolve(ksp[1], b[1], again));
  PetscCall(VecEqual(x[1], again, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: two solves of the same system differ", type);
  PetscCall(TestTraffic(ksp[1], b[1], again, type));
  PetscCall(VecNorm(x[0], NORM_INFINITY, &norm));
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_INFINITY, &error));
  PetscCheck(its[0] == its[1] && its[0] > 5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, type, its[1], its[0]);
  PetscCheck(error <= tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: solutions differ by %g of %g", type, (double)error, (double)norm);
  PetscCall(PetscInfo(NULL, "%s: %" PetscInt_FMT " iterations, difference %g\n", type, its[0], (double)(error / norm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: same iterations, same solution, nothing copied\n", type));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPDestroy(&ksp[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&b[k]));
  }
  PetscCall(VecDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const KSPType symmetric[] = {KSPCG, KSPCHEBYSHEV, KSPMINRES, KSPPIPECG}, others[] = {KSPGMRES, KSPBCGS, KSPFGMRES, KSPTFQMR, KSPBICG, KSPCGS, KSPRICHARDSON};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (int convection = 0; convection < 2; convection++) {
    Mat A, G;

    PetscCall(Matrix(MATAIJ, 0.2 * convection, &A));
    PetscCall(Matrix(MATGPUCSR, 0.2 * convection, &G));
    PetscCall(MatGPUCSRSetStorage(G, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(MatGPUCSRSetVecType(G, VECGPU));
    if (!convection) {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(symmetric); k++) PetscCall(Test(symmetric[k], A, G, symmetric[k] == symmetric[3] ? 1e-10 : 1e-12)); /* pipelined methods amplify rounding errors */
    } else {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others); k++) PetscCall(Test(others[k], A, G, 1e-12));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/vecksp.out
      nsize: {{1 2 3}}
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
