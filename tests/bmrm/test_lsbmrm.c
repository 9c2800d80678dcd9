static char help[] = "The Tao type lsbmrm on a hinge loss that TAO only evaluates: its certificate, beside the trainer and TAO's own bmrm; and with the structure of the loss.\n\n";

#include "bmrmimpl.h"
#include <gpucsr.h>
#include <petsctao.h>

#define MROWS 1000
#define NCOLS 30

/* a number in [-1, 1) that depends on nothing but its arguments */
static PetscReal Value(PetscInt i, PetscInt k)
{
  PetscInt64 s = 4711 + 7919 * (PetscInt64)i + 104729 * (PetscInt64)k;

  for (int r = 0; r < 5; r++) s = (s * 1103515245 + 12345) & 0x7fffffff;
  return (PetscReal)s / (PetscReal)0x40000000 - 1;
}

typedef struct {
  Mat      X;
  Vec      y, f, r;
  PetscInt calls;
} Data;

static PetscErrorCode Evaluate(Tao tao, Vec w, PetscReal *risk, Vec g, void *ctx)
{
  Data              *data = (Data *)ctx;
  const PetscScalar *f, *y;
  PetscScalar       *r;
  PetscInt           n;
  PetscReal          sum = 0;

  PetscFunctionBegin;
  data->calls++;
  PetscCall(MatMult(data->X, w, data->f));
  PetscCall(VecGetLocalSize(data->f, &n));
  PetscCall(VecGetArrayRead(data->f, &f));
  PetscCall(VecGetArrayRead(data->y, &y));
  PetscCall(VecGetArray(data->r, &r));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal loss = 1 - PetscRealPart(y[i] * f[i]);

    r[i] = loss > 0 ? -y[i] / MROWS : 0;
    sum += PetscMax(0, loss) / MROWS;
  }
  PetscCall(VecRestoreArray(data->r, &r));
  PetscCall(VecRestoreArrayRead(data->y, &y));
  PetscCall(VecRestoreArrayRead(data->f, &f));
  PetscCall(MatMultTranspose(data->X, data->r, g));
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Data *data, const char type[], PetscReal lambda, PetscReal gap, PetscReal *J, PetscReal *residual, PetscReal *here, PetscInt *calls)
{
  Tao                tao;
  Vec                w, g;
  PetscReal          norm;
  TaoConvergedReason reason;

  PetscFunctionBegin;
  data->calls = 0;
  PetscCall(MatCreateVecs(data->X, &w, NULL));
  PetscCall(VecDuplicate(w, &g));
  PetscCall(VecSet(w, 0.5)); /* any start */
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, type));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, Evaluate, data));
  PetscCall(TaoSetSolution(tao, w));
  PetscCall(TaoSetTolerances(tao, gap, 0, 0));
  PetscCall(TaoSetMaximumIterations(tao, 3000));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetSolutionStatus(tao, NULL, J, residual, NULL, NULL, &reason));
  PetscCheck(reason == TAO_CONVERGED_GATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, gap %g", type, TaoConvergedReasons[reason], (double)*residual);
  *calls = data->calls;
  PetscCall(Evaluate(tao, w, here, g, data));
  PetscCall(VecNorm(w, NORM_2, &norm));
  *here += 0.5 * lambda * norm * norm;
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Update(Tao tao, PetscInt it, void *calls)
{
  PetscFunctionBegin;
  (*(PetscInt *)calls)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the structure: no callback at all, and not a product more than the trainer alone. */
static PetscErrorCode SolveStructured(Data *data, PetscReal lambda, PetscReal gap, PetscReal lower, PetscReal optimum, PetscInt *passes)
{
  BMRM               b, alone;
  Tao                tao;
  Vec                w, g;
  PetscReal          J, residual, here, norm, Jalone;
  PetscInt           its, mults, seen = 0;
  TaoConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &alone));
  PetscCall(BMRMSetData(alone, data->X, data->y));
  PetscCall(BMRMSetLambda(alone, lambda));
  PetscCall(BMRMSetTolerances(alone, gap, 0, 3000));
  PetscCall(BMRMSolve(alone));
  PetscCall(BMRMGetObjective(alone, &Jalone, NULL));
  PetscCall(BMRMGetMatMults(alone, passes));
  PetscCall(BMRMDestroy(&alone));
  PetscCall(MatCreateVecs(data->X, &w, NULL));
  PetscCall(VecDuplicate(w, &g));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  PetscCall(BMRMSetData(b, data->X, data->y));
  PetscCall(BMRMSetLambda(b, lambda));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, "lsbmrm"));
  PetscCall(TaoLSBMRMSetBMRM(tao, b));
  PetscCall(TaoSetSolution(tao, w));
  PetscCall(TaoSetTolerances(tao, gap, 0, 0));
  PetscCall(TaoSetMaximumIterations(tao, 3000));
  PetscCall(TaoSetUpdate(tao, Update, &seen));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetSolutionStatus(tao, &its, &J, &residual, NULL, NULL, &reason));
  PetscCheck(reason == TAO_CONVERGED_GATOL && residual <= gap, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "with the structure: %s, gap %g", TaoConvergedReasons[reason], (double)residual);
  PetscCheck(seen == its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the update was called %" PetscInt_FMT " times for %" PetscInt_FMT " iterations", seen, its);
  PetscCheck(J >= lower - 1e-12 && J - residual <= optimum + 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the optimum is in [%.15g, %.15g], not in [%.15g, %.15g]", (double)lower, (double)optimum, (double)(J - residual), (double)J);
  PetscCall(BMRMGetMatMults(b, &mults));
  PetscCheck(mults == *passes && J == Jalone, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " products to %.17g, the trainer alone needs %" PetscInt_FMT " to %.17g", mults, (double)J, *passes, (double)Jalone);
  PetscCall(Evaluate(tao, w, &here, g, data));
  PetscCall(VecNorm(w, NORM_2, &norm));
  here += 0.5 * lambda * norm * norm;
  PetscCheck(PetscAbsReal(here - J) < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the solution has the objective %.17g, reported is %.17g", (double)here, (double)J);
  PetscCall(TaoSetMaximumIterations(tao, 3)); /* TAO's limits hold, too */
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetSolutionStatus(tao, &its, NULL, NULL, NULL, NULL, &reason));
  PetscCheck(reason == TAO_DIVERGED_MAXITS && its == 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s after %" PetscInt_FMT " iterations where 3 were allowed", TaoConvergedReasons[reason], its);
  *passes = mults / 2;
  PetscCall(TaoDestroy(&tao));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal lambdas[] = {1e-1, 1e-2, 1e-3};
  Data            data;
  PetscInt        start, end;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, MROWS, NCOLS, NULL, &data.X));
  PetscCall(MatCreateVecs(data.X, NULL, &data.y));
  PetscCall(VecDuplicate(data.y, &data.f));
  PetscCall(VecDuplicate(data.y, &data.r));
  PetscCall(MatGetOwnershipRange(data.X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscReal sum = 2 * Value(i, NCOLS);

    for (PetscInt k = 0; k < NCOLS; k++) {
      PetscCall(MatSetValue(data.X, i, k, Value(i, k), INSERT_VALUES));
      sum += k * Value(i, k);
    }
    PetscCall(VecSetValue(data.y, i, sum > 0 ? 1 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(data.X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(data.X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(data.y));
  PetscCall(VecAssemblyEnd(data.y));
  for (int k = 0; k < 3; k++) {
    PetscReal J, gap, here, optimum, lower, Jtao, rtao;
    PetscInt  calls, callstao, passes;
    char      value[32];
    BMRM      b;

    PetscCall(PetscSNPrintf(value, sizeof(value), "%.17g", (double)lambdas[k]));
    PetscCall(PetscOptionsSetValue(NULL, "-tao_lsbmrm_lambda", value));
    PetscCall(PetscOptionsSetValue(NULL, "-tao_bmrm_lambda", value));
    PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
    PetscCall(BMRMSetData(b, data.X, data.y));
    PetscCall(BMRMSetLambda(b, lambdas[k]));
    PetscCall(BMRMSetTolerances(b, 1e-10, 0, 10000));
    PetscCall(BMRMSolve(b));
    PetscCall(BMRMGetObjective(b, &optimum, &lower));
    PetscCall(BMRMDestroy(&b));
    PetscCall(Solve(&data, "lsbmrm", lambdas[k], 1e-6, &J, &gap, &here, &calls));
    PetscCheck(gap >= 0 && gap <= 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "gap %g", (double)gap);
    PetscCheck(J >= lower - 1e-12 && J - gap <= optimum + 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the optimum is in [%.15g, %.15g], not in [%.15g, %.15g]", (double)lower, (double)optimum, (double)(J - gap), (double)J);
    PetscCheck(PetscAbsReal(here - J) < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the solution has the objective %.17g, reported is %.17g", (double)here, (double)J);
    PetscCall(Solve(&data, "bmrm", lambdas[k], 1e-6, &Jtao, &rtao, &here, &callstao));
    PetscCheck(PetscAbsReal(J - Jtao) <= 2e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "objective %.15g, TAO's own %.15g", (double)J, (double)Jtao);
    PetscCheck(calls < callstao, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " evaluations, TAO's own type needs %" PetscInt_FMT, calls, callstao);
    PetscCall(SolveStructured(&data, lambdas[k], 1e-6, lower, optimum, &passes));
    PetscCheck(passes < calls, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " passes with the structure, %" PetscInt_FMT " evaluations without", passes, calls);
    PetscCall(PetscInfo(NULL, "lambda %g: %" PetscInt_FMT " passes with the structure, %" PetscInt_FMT " evaluations, bmrm %" PetscInt_FMT "\n", (double)lambdas[k], passes, calls, callstao));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "lambda %g: certified, with fewer evaluations than bmrm, and fewer still with the structure\n", (double)lambdas[k]));
  }
  PetscCall(VecDestroy(&data.y));
  PetscCall(VecDestroy(&data.f));
  PetscCall(VecDestroy(&data.r));
  PetscCall(MatDestroy(&data.X));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_lsbmrm_1.out
      test:
         suffix: 1
      test:
         suffix: 3
         nsize: 3

TEST*/
