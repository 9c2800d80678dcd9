static char help[] = "Quasi-Newton matrices and solvers give the same results with vectors of type gpu as with standard vectors.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsctao.h>

#define LOCAL 23 /* entries on a process */
#define STEPS 6  /* iterations of a solver; after more, rounding errors may lead to other line searches */

/* f(x) = sum of (x_i - 1)^2 (1 + i mod 5) / 2 + (x_i - 1)^4 / 4, and its gradient, with the local arrays. */
static PetscErrorCode Gradient(Vec x, PetscReal *f, Vec g)
{
  const PetscScalar *a;
  PetscScalar       *b;
  PetscInt           start, end;
  double             sum = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArray(g, &b));
  for (PetscInt i = start; i < end; i++) {
    const double d = a[i - start] - 1, w = 1 + i % 5;

    b[i - start] = w * d + d * d * d;
    sum += w * d * d / 2 + d * d * d * d / 4;
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArray(g, &b));
  if (f) PetscCallMPI(MPI_Allreduce(&sum, f, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EvaluateTao(Tao tao, Vec x, PetscReal *f, Vec g, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(Gradient(x, f, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EvaluateSNES(SNES snes, Vec x, Vec g, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(Gradient(x, NULL, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets entry i to 1 + a sin(b i + c). The values do not depend on the number of processes. */
static PetscErrorCode Fill(Vec v, double a, double b, double c)
{
  PetscInt     start, end;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArray(v, &values));
  for (PetscInt i = start; i < end; i++) values[i - start] = 1 + a * PetscSinReal(b * i + c);
  PetscCall(VecRestoreArray(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(VecType type, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, LOCAL, PETSC_DECIDE));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char *name, const char *algorithm, const char *what, PetscReal tolerance, Vec gpu, Vec standard)
{
  Vec       copy;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(standard, &copy));
  PetscCall(VecCopy(gpu, copy));
  PetscCall(VecAXPY(copy, -1, standard));
  PetscCall(VecNorm(standard, NORM_2, &norm));
  PetscCall(VecNorm(copy, NORM_2, &difference));
  PetscCheck(norm > 0 && difference <= tolerance * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %s differs by %g of %g", name, algorithm, what, (double)difference, (double)norm);
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eight updates with a history of five, each followed by a product and a solve, as in a solver; then a reset and three more updates. results: product
   and solve after eight updates, product and solve of a copy at the end. */
static PetscErrorCode UseMatrix(MatType type, const char *algorithm, VecType vectors, Vec results[4])
{
  Mat B, C;
  Vec x, g;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(vectors, &x));
  PetscCall(VecDuplicate(x, &g));
  for (int k = 0; k < 4; k++) PetscCall(VecDuplicate(x, &results[k]));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, LOCAL, LOCAL, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetType(B, type));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_lmvm_mult_algorithm", algorithm));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_lmvm_hist_size", "5"));
  PetscCall(MatSetFromOptions(B));
  PetscCall(MatLMVMAllocate(B, x, g));
  for (int k = 0; k < 11; k++) {
    PetscCall(Fill(x, 1. / (k + 1), 0.3 * (k + 1), k));
    PetscCall(Gradient(x, NULL, g));
    PetscCall(MatLMVMUpdate(B, x, g));
    if (k > 7) continue;
    PetscCall(MatMult(B, g, results[0]));
    PetscCall(MatSolve(B, g, results[1]));
    if (k == 7) PetscCall(MatLMVMReset(B, PETSC_FALSE));
  }
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C)); /* a copy must give the same results */
  PetscCall(MatMult(C, g, results[2]));
  PetscCall(MatSolve(C, g, results[3]));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrices(void)
{
  const char *const types[]   = {"lmvmdfp", "lmvmddfp", "lmvmbfgs", "lmvmdbfgs", "lmvmdqn", "lmvmsr1", "lmvmbroyden", "lmvmbadbroyden", "lmvmsymbroyden", "lmvmsymbadbroyden", "lmvmdiagbroyden"};
  const char *const results[] = {"product", "solve", "product of a copy", "solve of a copy"};
  const char *const names[]   = {"recursive", "dense", "compact_dense"};

  PetscFunctionBeginUser;
  PetscCall(KSPInitializePackage());
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    PetscErrorCode (*constructor)(Mat);

    PetscCall(PetscFunctionListFind(MatList, types[t], &constructor));
    if (!constructor) continue; /* older releases of PETSc do not have this type */
    for (int a = 0; a < 3; a++) {
      Vec gpu[4], standard[4];

      PetscCall(UseMatrix(types[t], names[a], VECSTANDARD, standard));
      PetscCall(UseMatrix(types[t], names[a], VECGPU, gpu));
      for (int k = 0; k < 4; k++) {
        PetscCall(Compare(types[t], names[a], results[k], 1e-10, gpu[k], standard[k]));
        PetscCall(VecDestroy(&gpu[k]));
        PetscCall(VecDestroy(&standard[k]));
      }
    }
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mat_lmvm_mult_algorithm"));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_lmvm_hist_size"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrices: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveTao(TaoType type, VecType vectors, PetscInt *iterations, Vec *x)
{
  Tao tao;
  Vec lower, upper;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(vectors, x));
  PetscCall(Fill(*x, 0.4, 1, 0));
  PetscCall(VecDuplicate(*x, &lower));
  PetscCall(VecDuplicate(*x, &upper));
  PetscCall(VecSet(lower, -4));
  PetscCall(Fill(upper, 0.9, 2.2, 0)); /* the bound is active at about half of the entries */
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, type));
  PetscCall(TaoSetSolution(tao, *x));
  PetscCall(TaoSetVariableBounds(tao, lower, upper));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, EvaluateTao, NULL));
  PetscCall(TaoSetMaximumIterations(tao, STEPS));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetIterationNumber(tao, iterations));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&lower));
  PetscCall(VecDestroy(&upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveSNES(const char *kind, VecType vectors, PetscInt *iterations, Vec *x)
{
  SNES snes;
  Vec  r;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(vectors, x));
  PetscCall(Fill(*x, 0.4, 1, 0));
  PetscCall(VecDuplicate(*x, &r));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetType(snes, SNESQN));
  PetscCall(PetscOptionsSetValue(NULL, "-snes_qn_type", kind));
  PetscCall(SNESSetTolerances(snes, 0, 0, 0, STEPS, 10000));
  PetscCall(SNESSetFunction(snes, r, EvaluateSNES, NULL));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, *x));
  PetscCall(SNESGetIterationNumber(snes, iterations));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolvers(void)
{
  const char *const solvers[][2] = {{"tao", TAOLMVM}, {"tao", TAOBLMVM}, {"tao", TAOBQNLS}, {"tao", TAOBQNKLS}, {"snes", "lbfgs"}, {"snes", "broyden"}, {"snes", "badbroyden"}};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(solvers); s++) {
    const PetscBool tao = (PetscBool)(solvers[s][0][0] == 't');
    Vec             x[2];
    PetscInt        iterations[2];

    for (int k = 0; k < 2; k++) PetscCall((tao ? SolveTao : SolveSNES)(solvers[s][1], k ? VECSTANDARD : VECGPU, &iterations[k], &x[k]));
    PetscCheck(iterations[0] == iterations[1] && iterations[0] > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s takes %" PetscInt_FMT " iterations with gpu vectors, %" PetscInt_FMT " with standard ones", solvers[s][1], iterations[0], iterations[1]);
    PetscCall(Compare(solvers[s][0], solvers[s][1], "iterate", 1e-9, x[0], x[1]));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solvers: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestMatrices());
  PetscCall(TestSolvers());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: equal
      nsize: {{1 2}}
      args: -vec_gpu_separate {{0 1}}

TEST*/
