static char help[] = "Time of one Krylov iteration, as a PETSc program sees it: CSV on standard output.\n\n\
  -grids <k,...>         k x k x k stencils, default 16,32,64\n\
  -points <7|27>         points of the stencil, default 7\n\
  -variable              diffusion with coefficients that vary and that single precision rounds, instead of constant ones\n\
  -solvers <spec,...>    Mat type/KSP type, default aij/cg,gpucsr/cg,gpucsr/gpucg\n\
  -iterations <n>        of every solve, default 200; with -rtol at most so many\n\
  -rtol <r>              solves to this relative tolerance instead\n\
  -repeats <n>           solves, of which the median is printed, default 7\n\
  -pc <type>             preconditioner, default jacobi\n\
bytes: lower bound on the memory traffic of an iteration of CG, BiCGStab or GMRES(30) without preconditioner or with Jacobi: the values of the matrix\n\
and the operands of every pass over vectors. fraction: that traffic divided by the time, as a fraction of the rate of VecCopy() with vectors of this type.\n\
residual: norm of the residual relative to that of the right-hand side, by aij.\n\
The set-up of the preconditioner is timed apart, with the first solve's uploads. A multigrid solve:\n\
  -grids 128 -solvers aijcusparse/cg,gpucsr/cg -pc gamg -rtol 1e-8 -repeats 3\n\n";

#include "bench/matrices.h"
#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define MAX 32

/* Coefficient of the edge between two points: a number between 1/3 and 4/3 that is the same in both directions. */
static double EdgeCoefficient(int32_t i, int32_t j)
{
  const uint32_t a = (uint32_t)PetscMin(i, j), b = (uint32_t)PetscMax(i, j), hash = (a * 2654435761u) ^ (b * 40503u + 1);

  return (double)(1 + hash % 1000 / 333) / 3;
}

/* Creates a symmetric stencil: the Laplacian, or diffusion with variable coefficients. */
static PetscErrorCode CreateStencil(PetscInt k, PetscInt points, PetscBool variable, Mat *aij)
{
  BenchMatrix B;
  PetscInt   *ri, *ci;

  PetscFunctionBeginUser;
  BenchStencil(&B, (int)k, points == 27, 1);
  PetscCall(PetscMalloc2(B.m + 1, &ri, B.nnz, &ci));
  for (int32_t i = 0; i <= B.m; i++) ri[i] = B.rowptr[i];
  for (int32_t i = 0; i < B.m; i++) {
    double  sum      = variable ? (double)(points - 1 - (B.rowptr[i + 1] - B.rowptr[i] - 1)) : (double)(points - 1); /* Dirichlet conditions at the boundary */
    int32_t diagonal = -1;

    for (int32_t j = B.rowptr[i]; j < B.rowptr[i + 1]; j++) {
      ci[j] = B.col[j];
      if (B.col[j] == i) diagonal = j;
      else {
        B.val[j] = variable ? -EdgeCoefficient(i, B.col[j]) : -1;
        if (variable) sum -= B.val[j];
      }
    }
    B.val[diagonal] = sum;
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

/* Bytes per second of VecCopy() of large vectors like x. */
static PetscErrorCode GetCopyRate(Vec x, PetscReal *rate)
{
  Vec            a, b;
  PetscScalar    dot;
  PetscLogDouble begin, end;
  const PetscInt n = 1 << 24, copies = 20;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &a));
  PetscCall(VecSetSizes(a, n, n));
  {
    VecType type;

    PetscCall(VecGetType(x, &type));
    PetscCall(VecSetType(a, type));
  }
  PetscCall(VecDuplicate(a, &b));
  PetscCall(VecSet(a, 1));
  PetscCall(VecCopy(a, b));
  PetscCall(VecDot(a, b, &dot));
  PetscCall(PetscTime(&begin));
  for (PetscInt k = 0; k < copies; k++) PetscCall(VecCopy(a, b));
  PetscCall(VecDot(a, b, &dot));
  PetscCall(PetscTime(&end));
  *rate = (PetscReal)(2 * copies + 2) * n * sizeof(double) / (end - begin); /* the inner product reads two vectors */
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that an iteration must move. */
static PetscErrorCode GetBytes(Mat A, const char type[], const char pctype[], PetscReal *bytes)
{
  const char *const names[]   = {"cg", "bcgs", "gmres", "minres"};
  const int         vectors[] = {12, 22, 36, 19}, jacobi[] = {2, 4, 2, 2}, products[] = {1, 2, 1, 1}; /* passes over vectors, with those of the products; more passes with Jacobi */
  PetscBool         scaled, gpucsr;
  PetscInt          n;
  MatInfo           info;
  PetscReal         size = sizeof(double);

  PetscFunctionBeginUser;
  *bytes = 0;
  PetscCall(PetscStrcmp(pctype, PCJACOBI, &scaled));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &gpucsr, MATSEQAIJGPUCSR, ""));
  if (gpucsr) {
    MatGPUCSRInfo image;

    PetscCall(MatGPUCSRGetInfo(A, &image));
    if (image.storage == MAT_GPUCSR_STORAGE_SINGLE) size = sizeof(float);
  }
  for (int k = 0; k < 4; k++) {
    char     *found;
    PetscBool pc = scaled;

    PetscCall(PetscStrstr(type, names[k], &found));
    if (!found || (k == 0 && strcmp(found, "cg"))) continue;
    *bytes = products[k] * info.nz_used * size + (double)n * sizeof(double) * (vectors[k] + (pc ? jacobi[k] : 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetResidual(Mat aij, Vec b, Vec x, PetscReal *relative)
{
  Vec                c, y, r;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscReal          norm;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(aij, &y, &r));
  PetscCall(VecDuplicate(r, &c));
  PetscCall(VecGetSize(x, &n));
  for (int k = 0; k < 2; k++) { /* the vectors may have different types */
    PetscCall(VecGetArrayRead(k ? b : x, &from));
    PetscCall(VecGetArrayWrite(k ? c : y, &to));
    PetscCall(PetscArraycpy(to, from, n));
    PetscCall(VecRestoreArrayWrite(k ? c : y, &to));
    PetscCall(VecRestoreArrayRead(k ? b : x, &from));
  }
  PetscCall(MatMult(aij, y, r));
  PetscCall(VecAYPX(r, -1, c));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(c, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
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
  PetscReal      norm, bytes, rate = 1, relative;
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
  PetscCall(GetBytes(A, slash + 1, pctype, &bytes));
  PetscCall(GetCopyRate(x, &rate));
  PetscCall(GetResidual(aij, b, x, &relative));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ",%s,%s,%s,%s,%.2f,%.12e,%" PetscInt_FMT ",%.3f,%.4g,%.3f,%.3g,%.3f\n", k, type, slash + 1, pctype, vectype, times[repeats / 2], (double)norm, its,
                        setup - 1e-6 * times[repeats / 2] * (double)its, (double)bytes, (double)(bytes / (1e-6 * times[repeats / 2]) / rate), (double)relative, 1e-3 * times[repeats / 2] * (double)its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    grids[MAX] = {16, 32, 64}, ng = MAX, ns = MAX, iterations = 200, repeats = 7, points = 7;
  PetscReal   rtol = 1e-300;
  char       *solvers[MAX], pc[64] = PCJACOBI;
  const char *defaults[] = {"aij/cg", "gpucsr/cg", "gpucsr/gpucg"}, *device;
  PetscBool   set, variable;

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
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &points, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-variable", &variable));
  PetscCheck(points == 7 || points == 27, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-points must be 7 or 27");
  PetscCheck(repeats > 0 && repeats <= 64 && iterations > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 64 and -iterations positive");
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, median of %d solves of at most %d iterations\ngrid,mat,ksp,pc,vec,us_per_iteration,norm,iterations,setup_s,bytes,fraction,residual,solve_ms\n", PETSC_VERSION_MAJOR,
                        PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, device, (int)repeats, (int)iterations));
  for (PetscInt g = 0; g < ng; g++) {
    Mat aij;

    PetscCall(CreateStencil(grids[g], points, variable, &aij));
    for (PetscInt s = 0; s < ns; s++) PetscCall(Run(grids[g], aij, solvers[s], pc, rtol, iterations, repeats));
    PetscCall(MatDestroy(&aij));
  }
  for (PetscInt s = 0; s < ns; s++) PetscCall(PetscFree(solvers[s]));
  PetscCall(PetscFinalize());
  return 0;
}
