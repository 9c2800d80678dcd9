static char help[] = "Time of one Krylov iteration, as a PETSc program sees it: CSV on standard output.\n\n\
  -grids <k,...>         k x k x k 7-point Laplacians, default 16,32,64\n\
  -solvers <spec,...>    Mat type/KSP type, default aij/cg,gpucsr/cg,gpucsr/gpucg\n\
  -iterations <n>        of every solve, default 200; with -rtol at most so many\n\
  -rtol <r>              solves to this relative tolerance instead\n\
  -repeats <n>           solves, of which the median is printed, default 7\n\
  -pc <type>             preconditioner, default jacobi\n\
The set-up of the preconditioner is timed apart, with the first solve's uploads. A multigrid solve:\n\
  -grids 128 -solvers aijcusparse/cg,gpucsr/cg -pc gamg -rtol 1e-8 -repeats 3\n\n";

#include "bench/matrices.h"
#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define MAX 32

/* Creates the symmetric 7-point Laplacian. */
static PetscErrorCode Laplacian(PetscInt k, Mat *aij)
{
  BenchMatrix B;
  PetscInt   *ri, *ci;

  PetscFunctionBeginUser;
  BenchStencil(&B, (int)k, 0, 1);
  PetscCall(PetscMalloc2(B.m + 1, &ri, B.nnz, &ci));
  for (int32_t i = 0; i <= B.m; i++) ri[i] = B.rowptr[i];
  for (int32_t i = 0; i < B.m; i++)
    for (int32_t j = B.rowptr[i]; j < B.rowptr[i + 1]; j++) {
      ci[j]    = B.col[j];
      B.val[j] = B.col[j] == i ? 6 : -1;
    }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B.m, B.n, ri, ci, B.val, aij));
  {
    Mat own; /* its arrays must exist longer than the matrix made of them */

    PetscCall(MatDuplicate(*aij, MAT_COPY_VALUES, &own));
    PetscCall(MatDestroy(aij));
    *aij = own;
  }
  PetscCall(PetscFree2(ri, ci));
  BenchMatrixDestroy(&B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscInt k, Mat aij, const char spec[], const char pctype[], PetscReal rtol, PetscInt iterations, PetscInt repeats)
{
  char           type[64];
  char          *slash;
  Mat            A;
  Vec            x, b;
  KSP            ksp;
  PC             pc;
  VecType        vectype;
  PetscReal      norm;
  PetscInt       its = 0;
  PetscLogDouble begin, end, setup = 0;
  double         times[64];

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, spec, sizeof(type)));
  PetscCall(PetscStrchr(type, '/', &slash));
  PetscCheck(slash, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-solvers wants Mat type/KSP type, got %s", spec);
  *slash = 0;
  PetscCall(MatConvert(aij, type, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecGetType(b, &vectype));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, slash + 1));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetTolerances(ksp, rtol, 1e-300, 1e300, iterations));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt r = -1; r < repeats; r++) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PetscTime(&end));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    if (r < 0) setup = end - begin;
    else times[r] = 1e6 * (end - begin) / its;
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ",%s,%s,%s,%s,%.2f,%.12e,%" PetscInt_FMT ",%.3f\n", k, type, slash + 1, pctype, vectype, times[repeats / 2], (double)norm, its, setup - 1e-6 * times[repeats / 2] * (double)its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    grids[MAX] = {16, 32, 64}, ng = MAX, ns = MAX, iterations = 200, repeats = 7;
  PetscReal   rtol = 1e-300;
  char       *solvers[MAX], pc[64] = PCJACOBI;
  const char *defaults[] = {"aij/cg", "gpucsr/cg", "gpucsr/gpucg"}, *device;
  PetscBool   set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-grids", grids, &ng, &set));
  if (!set) ng = 3;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-solvers", solvers, &ns, &set));
  if (!set) {
    ns = 3;
    for (PetscInt s = 0; s < ns; s++) PetscCall(PetscStrallocpy(defaults[s], &solvers[s]));
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &iterations, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &rtol, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc", pc, sizeof(pc), NULL));
  PetscCheck(repeats > 0 && repeats <= 64 && iterations > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 64 and -iterations positive");
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, median of %d solves of at most %d iterations\ngrid,mat,ksp,pc,vec,us_per_iteration,norm,iterations,setup_s\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
                        device, (int)repeats, (int)iterations));
  for (PetscInt g = 0; g < ng; g++) {
    Mat aij;

    PetscCall(Laplacian(grids[g], &aij));
    for (PetscInt s = 0; s < ns; s++) PetscCall(Run(grids[g], aij, solvers[s], pc, rtol, iterations, repeats));
    PetscCall(MatDestroy(&aij));
  }
  for (PetscInt s = 0; s < ns; s++) PetscCall(PetscFree(solvers[s]));
  PetscCall(PetscFinalize());
  return 0;
}
