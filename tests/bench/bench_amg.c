static char help[] = "Set-up and solve with algebraic multigrid: CSV on standard output.\n\n\
  -matrices <name,...>   names of pcmatrices.h, default grid7-32,grid27-32\n\
  -solvers <ksp/pc,...>  default cg/gpuamg,cg/gamg. GAMG smooths with Jacobi\n\
  -storage <single,double,auto>  storage of the matrix, default double\n\
  -rtol <r>              relative tolerance of the true residual, default 1e-8\n\
  -repeats <n>           set-ups with new values, and solves, of which the median is printed, default 5\n\
  -steps <bool>          also prints the milliseconds of each step of the first set-up and of all others together, as comments\n\n\
The matrix is on the device before the first set-up, and the new values are there before each further one. The first set-up is one of a second preconditioner,\n\
so that loading of kernels does not count; column `cold_ms` is that of the very first one. `total_ms` is first_ms and the solve.\n\n";

#include "bench/order.h"
#include "bench/pcmatrices.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>
#include <petsctime.h>

#define MAX 16

static const char *const Steps[] = {"PCSetUp",      "GPUAMGSetUp",     "GPUAMGRows",      "GPUAMGEstimate", "GPUAMGGraph",   "GPUAMGAggregate", "GPUAMGProlong",   "GPUAMGGalerkin",   "GPUAMGLevel",    "GPUAMGCoarse",   "GPUCSRSparse",
                                    "GPUCSRUpload", "GPUCSRTranspose", "MatPtAPSymbolic", "MatPtAPNumeric", "MatMatMultSym", "MatMatMultNum",   "PCGAMGGraph_AGG", "PCGAMGCoarse_AGG", "PCGAMGProl_AGG", "PCGAMGPOpt_AGG", "GAMG PtAP"};

static PetscErrorCode ReadSteps(double seconds[])
{
  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Steps); s++) {
    PetscEventPerfInfo info;
    PetscLogEvent      event;

    seconds[s] = 0;
    PetscCall(PetscLogEventGetId(Steps[s], &event));
    if (event < 0) continue;
    PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    seconds[s] = info.time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintSteps(const char what[], const double before[], const double after[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s:", what));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Steps); s++) {
    if (after[s] > before[s]) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %s %.2f", Steps[s], 1e3 * (after[s] - before[s])));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, const char spec[], PetscReal rtol, KSP *ksp)
{
  char  type[64];
  char *slash;
  PC    pc;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, spec, sizeof(type)));
  PetscCall(PetscStrchr(type, '/', &slash));
  PetscCheck(slash, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-solvers wants KSP type/PC type, got %s", spec);
  *slash = 0;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, slash + 1));
  PetscCall(KSPSetTolerances(*ksp, rtol, 1e-300, 1e300, 500));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the device by an inner product. */
static PetscErrorCode Wait(Vec x)
{
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(VecDot(x, x, &dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSetUp(KSP ksp, Mat A, Vec x, double *ms)
{
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(Wait(x));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Wait(x));
  PetscCall(PetscTime(&end));
  *ms = 1e3 * (end - begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Median of set-ups with new values. */
static PetscErrorCode TimeNewValues(KSP ksp, Mat A, Vec x, PetscInt repeats, double *ms)
{
  double times[64];

  PetscFunctionBeginUser;
  for (PetscInt r = -2; r < repeats; r++) { /* the first set-ups with new values allocate what the others use again */
    double time = 0;

    PetscCall(MatScale(A, r % 2 ? 2 : 0.5));
    PetscCall(MatGPUCSRUpload(A));
    PetscCall(TimeSetUp(ksp, A, x, &time));
    if (r >= 0) times[r] = time;
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  *ms = times[repeats / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSolves(KSP ksp, Vec b, Vec x, PetscInt repeats, double *ms)
{
  double         times[64];
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  for (PetscInt r = -1; r < repeats; r++) {
    PetscCall(VecSet(x, 0));
    PetscCall(Wait(x));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Wait(x));
    PetscCall(PetscTime(&end));
    if (r >= 0) times[r] = 1e3 * (end - begin);
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  *ms = times[repeats / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetTrueResidual(Mat A, Vec b, Vec x, double *relative)
{
  Vec       r;
  PetscReal norm, all;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &all));
  *relative = norm / all;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char matrix[], Mat A, const char spec[], PetscReal rtol, PetscInt repeats, PetscBool steps)
{
  double   cold = 0, first = 0, again = 0, solve = 0, residual = 0, before[32], between[32], after[32];
  PetscInt its, rows;
  KSP      ksp;
  Vec      x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0));
  PetscCall(MatGPUCSRUpload(A));
  PetscCall(CreateSolver(A, spec, rtol, &ksp));
  PetscCall(TimeSetUp(ksp, A, x, &cold));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateSolver(A, spec, rtol, &ksp));
  if (steps) PetscCall(ReadSteps(before));
  PetscCall(TimeSetUp(ksp, A, x, &first));
  if (steps) PetscCall(ReadSteps(between));
  PetscCall(TimeNewValues(ksp, A, x, repeats, &again));
  if (steps) {
    PetscCall(ReadSteps(after));
    PetscCall(PrintSteps("first set-up, ms", before, between));
    PetscCall(PrintSteps("further set-ups, ms", between, after));
  }
  PetscCall(TimeSolves(ksp, b, x, repeats, &solve));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(GetTrueResidual(A, b, x, &residual));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%" PetscInt_FMT ",%s,%.2f,%.2f,%.2f,%" PetscInt_FMT ",%.1f,%.2e,%.2f\n", matrix, rows, spec, cold, first, again, its, 1e3 * solve / PetscMax(its, 1), residual, first + solve));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the rigid-body modes of elasticity-<n>. */
static PetscErrorCode SetModes(Mat A)
{
  PetscInt     rows, n = 1;
  MatNullSpace modes;
  Vec          at;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  while (3 * n * n * n < rows) n++;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, rows, &at));
  PetscCall(VecSetBlockSize(at, 3));
  for (PetscInt i = 0; i < rows; i++) {
    const PetscInt point[3] = {i / 3 % n, i / 3 / n % n, i / 3 / n / n};

    PetscCall(VecSetValue(at, i, (PetscScalar)point[i % 3], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(at));
  PetscCall(VecAssemblyEnd(at));
  PetscCall(MatNullSpaceCreateRigidBody(at, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt         nm = MAX, ns = MAX, repeats = 5;
  PetscReal        rtol = 1e-8;
  char            *matrices[MAX], *solvers[MAX];
  const char      *device;
  PetscBool        setm, sets, steps = PETSC_FALSE;
  MatGPUCSRStorage storage = MAT_GPUCSR_STORAGE_DOUBLE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", "jacobi"));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-matrices", matrices, &nm, &setm));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-solvers", solvers, &ns, &sets));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-storage", MatGPUCSRStorages, (PetscEnum *)&storage, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &rtol, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-steps", &steps, NULL));
  PetscCheck(repeats > 0 && repeats <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 64");
  for (nm = setm ? nm : 0; !setm && nm < 2; nm++) PetscCall(PetscStrallocpy(nm ? "grid27-32" : "grid7-32", &matrices[nm]));
  for (ns = sets ? ns : 0; !sets && ns < 2; ns++) PetscCall(PetscStrallocpy(ns ? "cg/gamg" : "cg/gpuamg", &solvers[ns]));
  if (steps) PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# gpucsr on %s, matrix in %s storage, relative tolerance %g\nmatrix,rows,solver,cold_ms,first_ms,again_ms,iterations,us_iteration,residual,total_ms\n", device, MatGPUCSRStorages[storage], (double)rtol));
  for (PetscInt m = 0; m < nm; m++) {
    Mat       A;
    PetscBool spd, elastic;

    PetscCall(PCMatrixCreate(matrices[m], &A, &spd));
    PetscCall(PetscStrncmp(matrices[m], "elasticity", 10, &elastic));
    if (elastic) PetscCall(SetModes(A));
    PetscCall(MatConvert(A, MATGPUCSR, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatGPUCSRSetStorage(A, storage));
    PetscCall(MatGPUCSRSetVecType(A, VECGPU));
    for (PetscInt s = 0; s < ns; s++) PetscCall(Run(matrices[m], A, solvers[s], rtol, repeats, steps));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFree(matrices[m]));
  }
  for (PetscInt s = 0; s < ns; s++) PetscCall(PetscFree(solvers[s]));
  PetscCall(PetscFinalize());
  return 0;
}
