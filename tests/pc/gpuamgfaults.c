static char help[] = "PCGPUAMG with singular, indefinite and other difficult matrices; errors.\n\n\
  -test difficult, failures, nullspace, small or errors\n\n";

#include "../mat/refused.h"
#include "amgsolver.h"
#include "pc/impls/gpuamg/gpuamg.h"

#include <math.h>

#define N 24 /* points of the grid in each direction */

/* What is changed in the Laplacian of a grid of N^2 points without boundary conditions. */
typedef struct {
  const char *name;
  PetscReal   shift;    /* added to the diagonal */
  PetscInt    isolated; /* every such row has a diagonal entry only; 0: none */
  PetscInt    zero;     /* every such row has a zero diagonal entry only */
  PetscInt    bad;      /* row whose diagonal entry is `value`; -1: none */
  PetscReal   value;
  PetscInt    limit; /* a level with at most that many rows is inverted; 0: 20 rows */
  PetscReal   skew;  /* added to couplings with the next point, subtracted from those with the previous one */
} Change;

static PetscBool IsAlone(const Change *c, PetscInt i)
{
  return (PetscBool)((c->isolated && i % c->isolated == 1) || (c->zero && i % c->zero == 2));
}

static PetscErrorCode SetChanged(const Change *c, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt step[4]  = {i % N ? -1 : 0, i % N < N - 1 ? 1 : 0, i >= N ? -N : 0, i < N * (N - 1) ? N : 0};
    PetscScalar    diagonal = 0;

    for (int d = 0; d < 4 && !IsAlone(c, i); d++) {
      if (!step[d]) continue;
      diagonal += 1;
      if (!IsAlone(c, i + step[d])) PetscCall(MatSetValue(A, i, i + step[d], -1 + (step[d] > 0 ? c->skew : -c->skew), INSERT_VALUES));
    }
    if (IsAlone(c, i)) diagonal = c->zero && i % c->zero == 2 ? 0 : 2;
    else diagonal += c->shift;
    PetscCall(MatSetValue(A, i, i, i == c->bad ? c->value : diagonal, INSERT_VALUES));
  }
  PetscCall(AmgAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateChanged(const Change *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(AmgCreateMatrix(PETSC_COMM_WORLD, MATGPUCSR, N * N, 1, 5, A));
  PetscCall(MatGPUCSRSetStorage(*A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(SetChanged(c, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the right-hand side A s, s = sin(i), so that it is in the range of A. */
static PetscErrorCode SolveConsistent(KSP ksp, PetscInt *its, KSPConvergedReason *reason)
{
  Mat      A;
  Vec      s, b, x;
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPSetOperators(ksp, A, A)); /* as programs do after they have changed values */
  PetscCall(MatCreateVecs(A, &s, &b));
  PetscCall(VecDuplicate(s, &x));
  PetscCall(VecGetOwnershipRange(s, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(s, i, PetscSinReal((PetscReal)i), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(s));
  PetscCall(VecAssemblyEnd(s));
  PetscCall(MatMult(A, s, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateChangedSolver(Mat A, KSP *ksp, PC_GPUAMG **amg)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateSolver(A, NULL, PCGPUAMG, ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCGPUAMGSetCoarseLimit(pc, 20));
  *amg = (PC_GPUAMG *)pc->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that are difficult, but that CG or GMRES must solve. */
static PetscErrorCode TestDifficult(void)
{
  const Change changes[] = {{.name = "shifted", .shift = 0.01, .bad = -1},
                            {.name = "singular", .bad = -1},
                            {.name = "isolated nodes", .shift = 0.01, .isolated = 5, .bad = -1},
                            {.name = "zero rows", .shift = 0.01, .zero = 7, .bad = -1},
                            {.name = "dominated", .shift = 1e6, .bad = -1},
                            {.name = "not symmetric", .shift = 0.1, .skew = 0.4, .bad = -1},
                            {.name = "large entry", .shift = 0.01, .bad = 100, .value = 1e12}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(changes); k++) {
    const Change       c = changes[k];
    Mat                A;
    KSP                ksp;
    PC_GPUAMG         *amg;
    PetscInt           its;
    KSPConvergedReason reason;

    PetscCall(CreateChanged(&c, &A));
    PetscCall(CreateChangedSolver(A, &ksp, &amg));
    if (c.skew > 0) PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(SolveConsistent(ksp, &its, &reason));
    PetscCheck(reason > 0 && its <= 25, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %" PetscInt_FMT " iterations", c.name, KSPConvergedReasons[reason], its);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: converged, levels %s, coarsest level: %s, dropped: %" PetscInt_FMT "\n", c.name, amg->n > 1 ? "2 or more" : "1", amg->exact ? "inverse" : "smoother", amg->dropped));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices for which the set-up must fail.  With good values the same solver then converges. */
static PetscErrorCode TestFailures(void)
{
  const Change good      = {.shift = 0.01, .bad = -1};
  const Change changes[] = {{.name = "not a number", .shift = 0.01, .bad = 77, .value = NAN},
                            {.name = "infinite", .shift = 0.01, .bad = 77, .value = INFINITY},
                            {.name = "negative diagonal", .shift = 0.01, .bad = 77, .value = -1},
                            {.name = "zero diagonal", .shift = 0.01, .bad = 77},
                            {.name = "indefinite", .shift = -1, .bad = -1},
                            {.name = "hardly indefinite", .shift = -0.01, .bad = -1},
                            {.name = "hardly indefinite, one level", .shift = -0.01, .bad = -1, .limit = 1000}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(changes); k++) {
    Mat                A;
    KSP                ksp;
    PC                 pc;
    PC_GPUAMG         *amg;
    PetscInt           its;
    KSPConvergedReason reason;

    PetscCall(CreateChanged(&changes[k], &A));
    PetscCall(CreateChangedSolver(A, &ksp, &amg));
    PetscCall(KSPGetPC(ksp, &pc));
    if (changes[k].limit) PetscCall(PCGPUAMGSetCoarseLimit(pc, changes[k].limit));
    PetscCall(SolveConsistent(ksp, &its, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %s\n", changes[k].name, KSPConvergedReasons[reason], amg->why));
    PetscCall(SetChanged(&good, A));
    PetscCall(SolveConsistent(ksp, &its, &reason));
    PetscCheck(reason > 0 && !amg->why[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, then good values: %s", changes[k].name, KSPConvergedReasons[reason]);
    PetscCall(SetChanged(&changes[k], A));
    PetscCall(SolveConsistent(ksp, &its, &reason));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, after good values: %s", changes[k].name, KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A singular matrix: with its null space any right-hand side, without it a right-hand side outside of the range, which must end with a reason. */
static PetscErrorCode TestNullSpace(void)
{
  const Change       c = {.name = "singular", .bad = -1};
  Mat                A;
  Vec                x, b;
  MatNullSpace       constant;
  KSP                ksp;
  PC_GPUAMG         *amg;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateChanged(&c, &A));
  PetscCall(CreateChangedSolver(A, &ksp, &amg));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AmgFillRightSide(b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A singular system converged: %s", KSPConvergedReasons[reason]);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(A, constant));
  PetscCall(MatNullSpaceRemove(constant, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCheck(reason > 0 && its <= 12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "With the null space: %s after %" PetscInt_FMT " iterations", KSPConvergedReasons[reason], its);
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "null space: converged\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets orthonormal vectors: 1, x, y and the indicator of one half of the grid.  On most aggregates the last one depends on the others. */
static PetscErrorCode SetDependent(Mat A)
{
  Vec          v[4];
  PetscInt     begin, end;
  MatNullSpace near;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < 4; e++) {
    PetscCall(MatCreateVecs(A, &v[e], NULL));
    PetscCall(VecGetOwnershipRange(v[e], &begin, &end));
    for (PetscInt i = begin; i < end; i++) {
      const PetscReal value[] = {1, i % N, (PetscReal)(i / N), i % N < N / 2};

      PetscCall(VecSetValue(v[e], i, value[e], INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(v[e]));
    PetscCall(VecAssemblyEnd(v[e]));
    for (PetscInt f = 0; f < 2 * e; f++) {
      PetscScalar dot;

      PetscCall(VecDot(v[e], v[f % e], &dot));
      PetscCall(VecAXPY(v[e], -dot, v[f % e]));
    }
    PetscCall(VecNormalize(v[e], NULL));
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 4, v, &near));
  PetscCall(MatSetNearNullSpace(A, near));
  PetscCall(MatNullSpaceDestroy(&near));
  for (PetscInt e = 0; e < 4; e++) PetscCall(VecDestroy(&v[e]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDependent(void)
{
  const Change       c = {.name = "dependent", .shift = 0.001, .bad = -1};
  Mat                A;
  KSP                ksp;
  PC_GPUAMG         *amg;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateChanged(&c, &A));
  PetscCall(SetDependent(A));
  PetscCall(CreateChangedSolver(A, &ksp, &amg));
  PetscCall(SolveConsistent(ksp, &its, &reason));
  PetscCheck(reason > 0 && its <= 15, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s after %" PetscInt_FMT " iterations", KSPConvergedReasons[reason], its);
  PetscCheck(amg->n > 1 && amg->level[1].nempty > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " levels, %" PetscInt_FMT " empty rows", amg->n, amg->level[1].nempty);
  PetscCall(MatScale(A, 2)); /* empty rows are filled again */
  PetscCall(SolveConsistent(ksp, &its, &reason));
  PetscCheck(reason > 0 && its <= 15 && amg->refills == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "After a refill: %s after %" PetscInt_FMT " iterations", KSPConvergedReasons[reason], its);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "dependent vectors: converged\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small matrices: one aggregate, one row, no row; and other matrix types. */
static PetscErrorCode TestSmall(void)
{
  const char *const types[] = {MATAIJ, MATBAIJ, MATSBAIJ, MATGPUCSR};
  const PetscInt    sizes[] = {0, 1, 2, 9};
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
      const PetscInt     n = sizes[k];
      Mat                A;
      KSP                ksp;
      PC                 pc;
      PC_GPUAMG         *amg;
      PetscInt           its, begin, end;
      KSPConvergedReason reason;

      PetscCall(AmgCreateMatrix(PETSC_COMM_WORLD, types[t], n, 1, 9, &A));
      PetscCall(MatSetUp(A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt i = begin; i < end; i++) {
        for (PetscInt j = t == 2 ? i : 0; j < n; j++) PetscCall(MatSetValue(A, i, j, i == j ? n : -1, INSERT_VALUES));
      }
      PetscCall(AmgAssemble(A));
      PetscCall(CreateChangedSolver(A, &ksp, &amg));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCGPUAMGSetCoarseLimit(pc, 1));
      PetscCall(SolveConsistent(ksp, &its, &reason));
      PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " rows: %s", types[t], n, KSPConvergedReasons[reason]);
      PetscCheck(amg->level[amg->n - 1].rows <= size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " rows: %" PetscInt_FMT " on the coarsest level", types[t], n, amg->level[amg->n - 1].rows);
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " rows: converged\n", types[t], n));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(void)
{
  const Change c = {.name = "negative", .shift = 0.01, .bad = 3, .value = -1};
  Mat          A, R;
  KSP          ksp;
  PC           pc;
  PC_GPUAMG   *amg;

  PetscFunctionBeginUser;
  PetscCall(CreateChanged(&c, &A));
  PetscCall(CreateChangedSolver(A, &ksp, &amg));
  PetscCall(KSPGetPC(ksp, &pc));
  Refused("-pc_gpuamg_threshold 1.: must be at least 0 and less than 1", PCGPUAMGSetThreshold(pc, 1));
  Refused("-pc_gpuamg_levels 0: must be from 1 to 30", PCGPUAMGSetLevels(pc, 0));
  Refused("-pc_gpuamg_coarse_limit 5001: must be from 0 to 5000", PCGPUAMGSetCoarseLimit(pc, 5001));
  PetscCall(PCSetOptionsPrefix(pc, "sub_"));
  Refused("-sub_pc_gpuamg_sweeps 0: must be from 1 to 100", PCGPUAMGSetSweeps(pc, 0));
  PetscCall(PCSetOptionsPrefix(pc, NULL));
  Refused("-pc_gpuamg_ratio 1.: must be above 1", PCGPUAMGSetRatio(pc, 1));
  Refused("Unknown cycle 2; use one of PCGPUAMGCycle", PCGPUAMGSetCycle(pc, (PCGPUAMGCycle)2));
  Refused("Unknown smoother 4; use one of PCGPUAMGSmoother", PCGPUAMGSetSmoother(pc, (PCGPUAMGSmoother)4));
  Refused("Unknown storage 3; use one of MatGPUCSRStorage", PCGPUAMGSetStorage(pc, (MatGPUCSRStorage)3));
  Refused("Unknown reuse 2; use one of PCGPUAMGReuse", PCGPUAMGSetReuse(pc, (PCGPUAMGReuse)2));
  Refused("Unknown hierarchy 3; use one of PCGPUAMGHierarchy", PCGPUAMGSetHierarchy(pc, (PCGPUAMGHierarchy)3));
  PetscCall(PCGPUAMGSetHierarchy(pc, PC_GPUAMG_HIERARCHY_DEVICE));
  PetscCall(PCGPUAMGSetSmoother(pc, PC_GPUAMG_SMOOTHER_SOR));
  Refused("-pc_gpuamg_hierarchy device: the levels cannot be on the device, because the smoother is not chebyshev or l1jacobi; use auto or matrices", PCSetUp(pc));
  PetscCall(PCGPUAMGSetSmoother(pc, PC_GPUAMG_SMOOTHER_L1JACOBI));
  PetscCall(PCGPUAMGSetHierarchy(pc, PC_GPUAMG_HIERARCHY_AUTO));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  Refused("PC type gpuamg, level 0, row 3: the diagonal entry is not positive; use another preconditioner", PCSetUp(pc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 4, 1, NULL, &R));
  PetscCall(AmgAssemble(R));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, R, R));
  PetscCall(PCSetType(pc, PCGPUAMG));
  Refused("PC type gpuamg needs a square matrix whose rows and columns are distributed in the same way", PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char test[32] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", test, sizeof(test), NULL));
  if (!strcmp(test, "difficult")) PetscCall(TestDifficult());
  if (!strcmp(test, "failures")) PetscCall(TestFailures());
  if (!strcmp(test, "nullspace")) {
    PetscCall(TestNullSpace());
    PetscCall(TestDependent());
  }
  if (!strcmp(test, "small")) PetscCall(TestSmall());
  if (!strcmp(test, "errors")) PetscCall(TestErrors());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: difficult
      nsize: {{1 2}}
      args: -test difficult

   test:
      suffix: failures
      nsize: {{1 2}}
      args: -test failures

   test:
      suffix: nullspace
      nsize: {{1 2}}
      args: -test nullspace -mat_gpucsr_storage {{single double}}

   test:
      suffix: small
      nsize: {{1 2}}
      args: -test small

   test:
      suffix: errors
      args: -test errors

TEST*/
