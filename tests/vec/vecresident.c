static char help[] = "While PETSc's solvers iterate with MATGPUCSR and VECGPU, no vector is copied between host and device.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscdmda.h>
#include <petscsnes.h>
#include <petsctao.h>
#if !defined(SNESLINESEARCHNONE) /* name until PETSc 3.25 */
  #define SNESLINESEARCHNONE SNESLINESEARCHBASIC
#endif

/* Copies of whole vectors on this rank so far, as -log_view counts them. */
static PetscErrorCode Copies(PetscInt *copies)
{
  const char *const  names[] = {"VecGPUUpload", "VecGPUDownload"};
  PetscEventPerfInfo info;
  PetscLogEvent      event;

  PetscFunctionBeginUser;
  *copies = 0;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscLogEventGetId(names[k], &event));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    *copies += (PetscInt)info.count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Laplacian of a grid, as in KSP ex2 and ex45. */
static PetscErrorCode Laplacian(PetscInt dim, PetscInt m, Mat *A, Vec *x, Vec *b)
{
  PetscInt n = 1, start, end;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < dim; d++) n *= m;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt k = start; k < end; k++) {
    PetscCall(MatSetValue(*A, k, k, 2 * dim + 1e-3 * (k % 7), INSERT_VALUES));
    for (PetscInt d = 0, stride = 1; d < dim; d++, stride *= m) {
      if (k / stride % m > 0) PetscCall(MatSetValue(*A, k, k - stride, -1, INSERT_VALUES));
      if (k / stride % m < m - 1) PetscCall(MatSetValue(*A, k, k + stride, -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGPUCSRSetVecType(*A, VECGPU));
  PetscCall(MatCreateVecs(*A, x, b));
  PetscCall(VecSet(*b, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A first solve allocates and uploads everything. A short and a long solve follow. */
static PetscErrorCode TestKSP(PetscInt dim, PetscInt m)
{
  const KSPType types[] = {KSPCG, KSPBCGS, KSPGMRES, KSPCHEBYSHEV, KSPTFQMR};
  const PCType  pcs[]   = {PCJACOBI, PCNONE};
  Mat           A;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(Laplacian(dim, m, &A, &x, &b));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++)
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pcs); p++) {
      KSP ksp;
      PC  pc;

      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, types[t]));
      if (types[t] == (KSPType)KSPGMRES) PetscCall(KSPGMRESSetRestart(ksp, 8));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, pcs[p]));
      PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
      for (int run = 0; run < 3; run++) {
        const PetscInt most = run == 2 ? 25 : 5;
        PetscInt       before, after, its;

        PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most));
        PetscCall(Copies(&before));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(Copies(&after));
        PetscCall(KSPGetIterationNumber(ksp, &its));
        PetscCheck(its == most, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s with %s ended after %" PetscInt_FMT " iterations", types[t], pcs[p], its);
        if (run) PetscCheck(after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s with %s: %" PetscInt_FMT " iterations copied %" PetscInt_FMT " vectors", types[t], pcs[p], its, after - before);
      }
      PetscCall(KSPDestroy(&ksp));
    }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Krylov solvers in %" PetscInt_FMT "D: no vector was copied\n", dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Mat A;
  Vec b, work;
} Quadratic;

/* f(x) = x'Ax / 2 - b'x */
static PetscErrorCode Objective(Tao tao, Vec x, PetscReal *f, Vec g, void *context)
{
  Quadratic  *q = (Quadratic *)context;
  PetscScalar xax, bx;

  PetscFunctionBeginUser;
  PetscCall(MatMult(q->A, x, g));
  PetscCall(VecDot(x, g, &xax));
  PetscCall(VecDot(x, q->b, &bx));
  PetscCall(VecAXPY(g, -1, q->b));
  *f = PetscRealPart(xax / 2 - bx);
  (void)tao;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BNCG runs without its scaling, because newer releases of PETSc need a VecType of their own for it. */
static PetscErrorCode TestTao(TaoType type)
{
  Quadratic q;
  Tao       tao;
  Vec       x;
  PetscInt  copies[3];

  PetscFunctionBeginUser;
  PetscCall(Laplacian(2, 20, &q.A, &x, &q.b));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, type));
  PetscCall(TaoSetSolution(tao, x));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, Objective, &q));
  PetscCall(TaoSetTolerances(tao, 0, 0, 0));
  PetscCall(TaoSetFromOptions(tao));
  for (int run = 0; run < 3; run++) {
    PetscInt before, its;

    PetscCall(VecSet(x, 0));
    PetscCall(TaoSetMaximumIterations(tao, run == 2 ? 9 : 3)); /* few iterations, far from the solution, so that no run stops earlier */
    PetscCall(Copies(&before));
    PetscCall(TaoSolve(tao));
    PetscCall(Copies(&copies[run]));
    copies[run] -= before;
    PetscCall(TaoGetIterationNumber(tao, &its));
    PetscCheck(its == (run == 2 ? 9 : 3), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s ended after %" PetscInt_FMT " iterations", type, its);
  }
  PetscCheck(copies[1] == copies[2], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: 3 iterations copied %" PetscInt_FMT " vectors, 9 copied %" PetscInt_FMT, type, copies[1], copies[2]);
  PetscCall(TaoDestroy(&tao));
  PetscCall(MatDestroy(&q.A));
  PetscCall(VecDestroy(&q.b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Tao %s: no iteration copied a vector\n", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Bratu problem of SNES ex5. The function runs on the host. */
static PetscErrorCode Function(DMDALocalInfo *info, PetscScalar **x, PetscScalar **f, void *context)
{
  const PetscReal h = 1 / (PetscReal)(info->mx - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      const PetscBool border = (PetscBool)(!i || !j || i == info->mx - 1 || j == info->my - 1);

      f[j][i] = border ? 4 * x[j][i] : 4 * x[j][i] - x[j][i - 1] - x[j][i + 1] - x[j - 1][i] - x[j + 1][i] - 6 * h * h * PetscExpScalar(x[j][i]);
    }
  ++*(PetscInt *)context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(DMDALocalInfo *info, PetscScalar **x, Mat J, Mat P, void *context)
{
  const PetscReal h = 1 / (PetscReal)(info->mx - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      const PetscBool   border = (PetscBool)(!i || !j || i == info->mx - 1 || j == info->my - 1);
      const MatStencil  row = {0, j, i, 0}, columns[] = {{0, j, i, 0}, {0, j, i - 1, 0}, {0, j, i + 1, 0}, {0, j - 1, i, 0}, {0, j + 1, i, 0}};
      const PetscScalar v[] = {border ? 4 : 4 - 6 * h * h * PetscExpScalar(x[j][i]), -1, -1, -1, -1};

      PetscCall(MatSetValuesStencil(P, 1, &row, border ? 1 : 5, columns, v, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  ++((PetscInt *)context)[1];
  (void)J;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The function of a DMDA reads one vector on the host and writes another, whose former values are copied to the host and new values to the device. A
   Jacobian reads one vector, and its diagonal is uploaded. Linear iterations copy nothing: three times as many make no difference. */
static PetscErrorCode TestSNES(void)
{
  PetscInt copies[3], calls[2];

  PetscFunctionBeginUser;
  for (int run = 0; run < 3; run++) {
    DM             da;
    SNES           snes;
    KSP            ksp;
    PC             pc;
    SNESLineSearch search;
    Vec            x;
    Mat            J;
    PetscInt       before, linear;

    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 19, 19, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
    PetscCall(DMSetVecType(da, VECGPU));
    PetscCall(DMSetMatType(da, MATGPUCSR));
    PetscCall(DMSetUp(da));
    calls[0] = calls[1] = 0;
    PetscCall(DMDASNESSetFunctionLocal(da, INSERT_VALUES, (PetscErrorCode(*)(DMDALocalInfo *, void *, void *, void *))Function, calls));
    PetscCall(DMDASNESSetJacobianLocal(da, (PetscErrorCode(*)(DMDALocalInfo *, void *, Mat, Mat, void *))Jacobian, calls));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, da));
    PetscCall(DMCreateMatrix(da, &J));
    PetscCall(MatGPUCSRSetVecType(J, VECGPU));
    PetscCall(SNESSetJacobian(snes, J, J, NULL, NULL));
    PetscCall(SNESGetLineSearch(snes, &search));
    PetscCall(SNESLineSearchSetType(search, SNESLINESEARCHNONE));
    PetscCall(SNESSetTolerances(snes, 0, 0, 0, 3, 1000));
    PetscCall(SNESSetConvergenceTest(snes, SNESConvergedSkip, NULL, NULL));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, run == 2 ? 15 : 5));
    PetscCall(DMCreateGlobalVector(da, &x));
    PetscCall(VecSet(x, 0.1));
    PetscCall(Copies(&before));
    PetscCall(SNESSolve(snes, NULL, x));
    PetscCall(Copies(&copies[run]));
    copies[run] -= before;
    PetscCall(SNESGetLinearSolveIterations(snes, &linear));
    PetscCheck(linear == 3 * (run == 2 ? 15 : 5) && calls[0] == 4 && calls[1] == 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "SNES took %" PetscInt_FMT " linear iterations, %" PetscInt_FMT " functions, %" PetscInt_FMT " Jacobians", linear, calls[0],
               calls[1]);
    PetscCheck(copies[run] <= 3 * calls[0] + 3 * calls[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "SNES copied %" PetscInt_FMT " vectors for %" PetscInt_FMT " functions and %" PetscInt_FMT " Jacobians", copies[run], calls[0], calls[1]);
    PetscCall(SNESDestroy(&snes));
    PetscCall(MatDestroy(&J));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&da));
  }
  PetscCheck(copies[1] == copies[2], PETSC_COMM_SELF, PETSC_ERR_PLIB, "SNES copied %" PetscInt_FMT " vectors with 15 linear iterations, %" PetscInt_FMT " with 45", copies[1], copies[2]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SNES: only functions and Jacobians copied vectors\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(TestKSP(2, 24));
  PetscCall(TestKSP(3, 9));
  PetscCall(TestTao(TAOCG));
  PetscCall(TestTao(TAOBNCG));
  PetscCall(TestSNES());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2 3}}
      args: -vec_gpu_separate -tao_bncg_diag_scaling 0

TEST*/
