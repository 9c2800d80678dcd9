static char help[] = "Krylov methods on the device with matrices whose values single storage rounds: iterations and residuals of the given matrix beside those of PETSc's type with aij. CSV on standard output. Returns an error\n\
if a residual exceeds 1.05 times the tolerance, and 1.05 times that of aij.\n\n\
  -matrices <name,...>  as for bench_pc; default grid7-12\n\
  -methods <type,...>   default gpucg,gpubcgs,gpugmres; gpucg only solves with matrices that are symmetric positive definite\n\
  -tolerance <r>        relative tolerance of the solves; default 1e-8\n\
The preconditioner is Jacobi. The values of the matrix are divided by 3, so that single precision rounds most of them.\n\n";

#include "bench/pcmatrices.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>
#include <string.h>

typedef struct {
  PetscInt           its[2]; /* of the first and of the second solve */
  KSPConvergedReason reason;
  PetscReal          residual; /* in the norm that the method tests, relative to that of the right-hand side */
} Result;

static PetscErrorCode Solve(Mat A, Mat given, const char type[], PetscReal tolerance, Result *result)
{
  Vec       b, x, r, z;
  KSP       ksp;
  PC        pc;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(given, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &z));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetTolerances(ksp, tolerance, 1e-300, 1e30, 3000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &result->its[k]));
  }
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(MatMult(given, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecNorm(z, NORM_2, &result->residual));
  PetscCall(PCApply(pc, b, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  result->residual /= norm;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], PetscInt methods, char *const types[], PetscReal tolerance, PetscInt *wrong)
{
  Mat       host, A;
  PetscBool spd, cg;
  PetscInt  n;
  MatInfo   info;

  PetscFunctionBeginUser;
  PetscCall(PCMatrixCreate(name, &host, &spd));
  PetscCall(MatScale(host, 1.0 / 3));
  PetscCall(MatConvert(host, MATGPUCSR, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatGetSize(host, &n, NULL));
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  for (PetscInt m = 0; m < methods; m++) {
    Result    r[2];
    PetscBool right;

    PetscCall(PetscStrcmp(types[m], KSPGPUCG, &cg));
    if (cg && !spd) continue;
    PetscCall(Solve(host, host, types[m] + 3, tolerance, &r[0])); /* the name of PETSc's type follows "gpu" */
    PetscCall(Solve(A, host, types[m], tolerance, &r[1]));
    right = (PetscBool)(r[0].reason < 0 || (r[1].reason > 0 && r[1].residual <= 1.05 * PetscMax(tolerance, r[0].residual)));
    if (!right) (*wrong)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%" PetscInt_FMT ",%.0f,%s,%" PetscInt_FMT ",%s,%.3g,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%.3g,%s\n", strrchr(name, '/') ? strrchr(name, '/') + 1 : name, n, info.nz_used, types[m], r[0].its[1],
                          KSPConvergedReasons[r[0].reason], (double)r[0].residual, r[1].its[0], r[1].its[1], KSPConvergedReasons[r[1].reason], (double)r[1].residual, right ? "ok" : "not ok"));
    fflush(stdout);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char       *names[64], *types[8];
  const char *defaults[] = {KSPGPUCG, KSPGPUBCGS, KSPGPUGMRES}, *device;
  PetscInt    n = 64, methods = 8, wrong = 0;
  PetscReal   tolerance = 1e-8;
  PetscBool   set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &tolerance, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-matrices", names, &n, &set));
  if (!set) PetscCall(PetscStrallocpy("grid7-12", &names[0]));
  if (!set) n = 1;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-methods", types, &methods, &set));
  if (!set) methods = 3;
  for (PetscInt m = 0; m < methods && !set; m++) PetscCall(PetscStrallocpy(defaults[m], &types[m]));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, relative tolerance %g\nmatrix,rows,nonzeros,method,aij_iterations,aij_reason,aij_residual,first_iterations,iterations,reason,residual,verdict\n", PETSC_VERSION_MAJOR,
                        PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, device, (double)tolerance));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(Compare(names[k], methods, types, tolerance, &wrong));
    PetscCall(PetscFree(names[k]));
  }
  for (PetscInt m = 0; m < methods; m++) PetscCall(PetscFree(types[m]));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}
