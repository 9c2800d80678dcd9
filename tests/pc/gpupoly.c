static char help[] = "The polynomials of PCGPUPOLY compared with explicit formulas, with published coefficients and with KSPCHEBYSHEV; bounds of known spectra; iterations of CG.\n\n";

#include "gpucsrpc.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

/* --- polynomials of a number ----------------------------------------------------------------------------------------------------- */

/* T[i](x) by its trigonometric and hyperbolic formulas. */
static PetscReal ChebyshevT(PetscInt i, PetscReal x)
{
  if (PetscAbsReal(x) <= 1) return PetscCosReal(i * PetscAcosReal(x));
  return (x < 0 && i % 2 ? -1 : 1) * PetscCoshReal(i * PetscLogReal(PetscAbsReal(x) + PetscSqrtReal(x * x - 1)));
}

/* The residual polynomial 1 - t P(t): of Chebyshev's iteration, or the kernel polynomial of Chebyshev's weight. */
static PetscReal Residual(PCGPUPolyType type, PetscInt degree, PetscReal low, PetscReal high, PetscReal t)
{
  const PetscReal theta = (low + high) / 2, delta = (high - low) / 2;
  PetscReal       above = 0.5, below = 0.5;

  if (type == PC_GPUPOLY_CHEBYSHEV) return ChebyshevT(degree + 1, (theta - t) / delta) / ChebyshevT(degree + 1, theta / delta);
  for (PetscInt i = 1; i <= degree + 1; i++) {
    above += ChebyshevT(i, theta / delta) * ChebyshevT(i, (theta - t) / delta);
    below += ChebyshevT(i, theta / delta) * ChebyshevT(i, theta / delta);
  }
  return above / below;
}

static PetscErrorCode CreatePC(Mat A, PCGPUPolyType type, PetscInt degree, PetscReal low, PetscReal high, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetType(*pc, PCGPUPOLY));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCGPUPolySetType(*pc, type));
  PetscCall(PCGPUPolySetDegree(*pc, degree));
  PetscCall(PCGPUPolySetEigenvalues(*pc, low, high));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(PetscInt n, PetscInt row, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, row, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, row, NULL, row, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a diagonal matrix and without scaling, the preconditioner applied to ones has the entries P(t).  The last points are beyond the upper bound. */
static PetscErrorCode TestScalar(PCGPUPolyType type, PetscInt degree, PetscReal low, PetscReal high)
{
  const PetscInt     n = 300, inside = 280;
  Mat                A;
  Vec                x, y;
  PC                 pc;
  const PetscScalar *a;
  PetscInt           from, to;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, 1, &A));
  PetscCall(MatGetOwnershipRange(A, &from, &to));
  for (PetscInt i = from; i < to; i++) PetscCall(MatSetValue(A, i, i, high * (i + 1) / inside, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(CreatePC(A, type, degree, low, high, &pc));
  PetscCall(PCGPUPolySetScale(pc, PC_GPUPOLY_SCALE_NONE));
  PetscCall(PCApply(pc, x, y));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = from; i < to; i++) {
    const PetscReal t = high * (i + 1) / inside, p = (1 - Residual(type, degree, low, high, t)) / t;

    PetscCheck(PetscAbsReal(a[i - from] - p) <= 1e-12 * (PetscAbsReal(p) + 1 / t), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, degree %" PetscInt_FMT ", [%g, %g]: P(%g) = %g, not %g", PCGPUPolyTypes[type], degree, (double)low, (double)high, (double)t,
               (double)a[i - from], (double)p);
    PetscCheck(a[i - from] > 0 || (i >= inside && degree % 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, degree %" PetscInt_FMT ", [%g, %g]: P(%g) = %g is not positive", PCGPUPolyTypes[type], degree, (double)low, (double)high, (double)t,
               (double)a[i - from]);
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Saad's table of least-squares polynomials of this weight on [0, 4] (1985; Iterative Methods for Sparse Linear Systems, section 12.3.3), which determines them up to a factor. */
static PetscErrorCode TestTable(void)
{
  static const PetscReal table[3][4] = {{5, -1}, {14, -7, 1}, {30, -27, 9, -1}};

  PetscFunctionBeginUser;
  for (PetscInt degree = 1; degree <= 3; degree++) {
    for (PetscReal t = 0.25; t <= 4; t += 0.25) {
      const PetscReal *c = table[degree - 1];
      const PetscReal  p = (c[0] + t * (c[1] + t * (c[2] + t * c[3]))) / (2 * degree + 3), own = (1 - Residual(PC_GPUPOLY_LEASTSQUARES, degree, 0, 4, t)) / t;

      PetscCheck(PetscAbsReal(p - own) < 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "degree %" PetscInt_FMT ": P(%g) is %g, published %g", degree, (double)t, (double)own, (double)p);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- polynomials of a matrix ----------------------------------------------------------------------------------------------------- */

/* Entry of a full matrix, symmetric or not, with different numbers on its diagonal. */
static PetscScalar Entry(PetscBool symmetric, PetscInt i, PetscInt j)
{
  const PetscScalar skew = symmetric ? 0 : 0.02 * PetscSinReal(1.0 + 3 * i + 7 * j);

  return i == j ? 2 + i % 4 : 0.06 * PetscCosReal((PetscReal)(i + j)) + skew;
}

#define N 15

/* z = X v for X = (theta - D^-1 A) / delta, or D^-1 A' */
static void MultX(PetscBool symmetric, PetscBool transpose, PetscReal theta, PetscReal delta, const PetscScalar v[], PetscScalar z[])
{
  for (PetscInt i = 0; i < N; i++) {
    PetscScalar sum = 0;

    for (PetscInt j = 0; j < N; j++) sum += (transpose ? Entry(symmetric, j, i) : Entry(symmetric, i, j)) * v[j];
    z[i] = (theta * v[i] - sum / Entry(symmetric, i, i)) / delta;
  }
}

/* r = R(D^-1 A) s as a combination of the T[i](X) s */
static void ResidualOfMatrix(PCGPUPolyType type, PetscBool symmetric, PetscBool transpose, PetscInt degree, PetscReal low, PetscReal high, const PetscScalar s[], PetscScalar r[])
{
  const PetscReal theta = (low + high) / 2, delta = (high - low) / 2;
  PetscReal       below = 0;
  PetscScalar     t[3][N];

  for (PetscInt k = 0; k < N; k++) r[k] = 0;
  for (PetscInt i = 0; i <= degree + 1; i++) {
    const PetscReal weight = type == PC_GPUPOLY_LEASTSQUARES ? (i ? 1 : 0.5) * ChebyshevT(i, theta / delta) : i == degree + 1;
    PetscScalar    *v = t[i % 3], *before = t[(i + 2) % 3], *earlier = t[(i + 1) % 3];

    if (i == 0) PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(v, s, N));
    else MultX(symmetric, transpose, theta, delta, before, v);
    if (i > 1) {
      for (PetscInt k = 0; k < N; k++) v[k] = 2 * v[k] - earlier[k];
    }
    for (PetscInt k = 0; k < N; k++) r[k] += weight * v[k];
    below += weight * ChebyshevT(i, theta / delta);
  }
  for (PetscInt k = 0; k < N; k++) r[k] /= below;
}

/* The residual of the preconditioner's result z, for a unit vector, must be R(D^-1 A) s with s the scaled unit vector. */
static PetscErrorCode TestUnit(PC pc, PCGPUPolyType type, PetscBool symmetric, PetscBool transpose, PetscInt degree, PetscReal low, PetscReal high, PetscInt unit, Vec x, Vec y)
{
  VecScatter         all;
  Vec                full;
  const PetscScalar *z;
  PetscScalar        s[N] = {0}, r[N], own[N];

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  PetscCall(VecSetValue(x, unit, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  if (transpose) PetscCall(PCApplyTranspose(pc, x, y));
  else PetscCall(PCApply(pc, x, y));
  PetscCall(VecScatterCreateToAll(y, &all, &full));
  PetscCall(VecScatterBegin(all, y, full, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(all, y, full, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(full, &z));
  s[unit] = 1 / Entry(symmetric, unit, unit);
  ResidualOfMatrix(type, symmetric, transpose, degree, low, high, s, r);
  MultX(symmetric, transpose, 0, -1, z, own); /* D^-1 A z */
  for (PetscInt i = 0; i < N; i++) {
    PetscCheck(PetscAbsScalar(s[i] - own[i] - r[i]) < 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, degree %" PetscInt_FMT ", %s: the residual of column %" PetscInt_FMT " is %g in row %" PetscInt_FMT ", not %g", PCGPUPolyTypes[type], degree,
               transpose ? "transpose" : "no transpose", unit, (double)(s[i] - own[i]), i, (double)r[i]);
  }
  PetscCall(VecRestoreArrayRead(full, &z));
  PetscCall(VecDestroy(&full));
  PetscCall(VecScatterDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrix(PCGPUPolyType type, PetscBool symmetric)
{
  const PetscReal low = type == PC_GPUPOLY_CHEBYSHEV ? 0.4 : 0, high = 1.7;
  PetscInt        from, to;
  Mat             A;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(N, N, &A));
  PetscCall(MatGetOwnershipRange(A, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    for (PetscInt j = 0; j < N; j++) PetscCall(MatSetValue(A, i, j, Entry(symmetric, i, j), INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt degree = 0; degree < 8; degree++) {
    PC pc;

    PetscCall(CreatePC(A, type, degree, low, high, &pc));
    for (PetscInt unit = 0; unit < N; unit++) {
      PetscCall(TestUnit(pc, type, symmetric, PETSC_FALSE, degree, low, high, unit, x, y));
      PetscCall(TestUnit(pc, type, symmetric, PETSC_TRUE, degree, low, high, unit, x, y));
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- a grid ---------------------------------------------------------------------------------------------------------------------- */

/* The 7-point matrix of an n x n x n grid.  Scaled by its diagonal, it has the eigenvalues 1 - (cos a + cos b + cos c) / 3 with a, b, c multiples of pi / (n + 1).  If varies,
   the couplings vary and the eigenvalues are not known. */
static PetscErrorCode CreateGrid(PetscInt n, PetscBool varies, Mat *A)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n * n * n, 7, A));
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  for (PetscInt row = from; row < to; row++) {
    const PetscInt at[3] = {row % n, row / n % n, row / n / n}, stride[3] = {1, n, n * n};
    PetscScalar    sum = 0;

    for (int k = 0; k < 6; k++) {
      const PetscInt    step = k % 2 ? 1 : -1, column = row + step * stride[k / 2], to_axis = at[k / 2] + step;
      const PetscScalar v = varies ? 1 + 0.4 * PetscSinReal(0.37 * (row + column)) : 1;

      sum += v;
      if (to_axis >= 0 && to_axis < n) PetscCall(MatSetValue(*A, row, column, -v, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, row, row, sum, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Degree d must give the iterate of Chebyshev's method after d + 1 iterations. */
static PetscErrorCode TestChebyshev(Mat A)
{
  Vec b, x, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSet(b, 1));
  for (PetscInt degree = 0; degree < 10; degree++) {
    KSP       ksp;
    PC        pc, jacobi;
    PetscReal error, norm;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
    PetscCall(KSPChebyshevSetEigenvalues(ksp, 2, 0.05));
    PetscCall(KSPGetPC(ksp, &jacobi));
    PetscCall(PCSetType(jacobi, PCJACOBI));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, degree + 1));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(CreatePC(A, PC_GPUPOLY_CHEBYSHEV, degree, 0.05, 2, &pc));
    PetscCall(PCApply(pc, b, z));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1, x));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    PetscCheck(error <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "degree %" PetscInt_FMT ": differs from KSPCHEBYSHEV by %g of %g", degree, (double)error, (double)norm);
    PetscCall(PCDestroy(&pc));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBounds(PetscInt n)
{
  const PetscReal least = 1 - PetscCosReal(PETSC_PI / (n + 1)), largest = 2 - least;
  Mat             A;
  PC              pc;
  PetscReal       low, high;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(n, PETSC_FALSE, &A));
  for (PetscInt steps = 8; steps <= 100; steps += 23) {
    PetscCall(CreatePC(A, PC_GPUPOLY_CHEBYSHEV, 4, 0, 0, &pc));
    PetscCall(PCGPUPolySetLanczosSteps(pc, steps));
    PetscCall(PCGPUPolySetRatio(pc, 100));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGPUPolyGetEigenvalues(pc, &low, &high));
    PetscCheck(high >= largest && high <= 1.05 * largest, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " steps: upper bound %g of %g", steps, (double)high, (double)largest);
    PetscCheck(steps < 50 || PetscAbsReal(low - least) <= 0.02 * least, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " steps: lower bound %g of %g", steps, (double)low, (double)least);
    PetscCheck(low >= high / 100.001, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " steps: the lower bound %g is smaller than the ratio allows", steps, (double)low);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, PCType pctype, PCGPUPolyType type, PetscInt degree, PetscInt *its)
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  PetscInt           n;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecGetSize(b, &n));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSetValue(b, n / 3, n, ADD_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(PCGPUPolySetType(pc, type));
  PetscCall(PCGPUPolySetDegree(pc, degree));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s of degree %" PetscInt_FMT ": %s", PCGPUPolyTypes[type], degree, KSPConvergedReasons[reason]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(Mat A)
{
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, PCJACOBI, PC_GPUPOLY_CHEBYSHEV, 0, &its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations of CG with jacobi: %" PetscInt_FMT "\n", its));
  for (PetscInt type = 0; type < 2; type++) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "with %s, degree 0, 1, 2, 4, 8, 16:", PCGPUPolyTypes[type]));
    for (PetscInt degree = 0; degree <= 16; degree = degree ? 2 * degree : 1) {
      PetscCall(Solve(A, PCGPUPOLY, (PCGPUPolyType)type, degree, &its));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT, its));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestTable());
  for (PetscInt degree = 0; degree <= 20; degree++) {
    PetscCall(TestScalar(PC_GPUPOLY_CHEBYSHEV, degree, 0.01, 2));
    PetscCall(TestScalar(PC_GPUPOLY_CHEBYSHEV, degree, 0.7, 5));
    PetscCall(TestScalar(PC_GPUPOLY_LEASTSQUARES, degree, 0, 4));
    PetscCall(TestScalar(PC_GPUPOLY_LEASTSQUARES, degree, 0.02, 2));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "polynomials: equal to formulas, positive\n"));
  for (PetscInt type = 0; type < 2; type++) {
    PetscCall(TestMatrix((PCGPUPolyType)type, PETSC_TRUE));
    PetscCall(TestMatrix((PCGPUPolyType)type, PETSC_FALSE));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "columns of the preconditioner and of its transpose: equal to the reference\n"));
  PetscCall(TestBounds(9));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "bounds: contain the spectrum\n"));
  PetscCall(CreateGrid(12, PETSC_TRUE, &A));
  PetscCall(TestChebyshev(A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Chebyshev: equal to KSPCHEBYSHEV\n"));
  PetscCall(TestIterations(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: double
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage double
      output_file: output/gpupoly.out

   test:
      suffix: gpu
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate
      output_file: output/gpupoly.out

   test:
      suffix: stream
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384
      output_file: output/gpupoly.out

   test:
      suffix: aij
      nsize: {{1 2}}
      args: -mat_type aij
      output_file: output/gpupoly.out

TEST*/
