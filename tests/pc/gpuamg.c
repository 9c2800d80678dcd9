static char help[] = "PCGPUAMG in CG: iterations, smoothers, new values, other matrices.\n\n\
  -test iterations, growth, smoothers, sequences, reuse, symmetry, places or view\n\
  -n : number of points of the grid in each direction\n\
  -first : number of the first problem of the test iterations\n\n";

#include "amgproblems.h"
#include "app/program/apphash.h"
#include "pc/impls/gpuamg/gpuamg.h"

static PetscInt N = 16, First = 0;

static const AmgProblem Problems[] = {{.name = "7-point", .jump = 1, .anisotropy = 1, .scale = 1},
                                      {.name = "27-point", .wide = PETSC_TRUE, .jump = 1, .anisotropy = 1, .scale = 1},
                                      {.name = "jumps", .jump = 1e4, .anisotropy = 1, .scale = 1},
                                      {.name = "anisotropy", .jump = 1, .anisotropy = 100, .scale = 1},
                                      {.name = "elasticity", .jump = 1, .anisotropy = 1, .elasticity = PETSC_TRUE, .scale = 1}};

static AmgProblem ProblemOf(size_t k)
{
  AmgProblem p = Problems[k];

  p.n = p.elasticity ? N / 2 : N;
  return p;
}

static PetscErrorCode GetData(KSP ksp, PC_GPUAMG **amg)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  *amg = (PC_GPUAMG *)pc->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a new solver and returns the number of iterations. */
static PetscErrorCode Count(Mat A, const char prefix[], const char pctype[], const char what[], PetscInt *its, Vec *x)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateSolver(A, prefix, pctype, &ksp));
  PetscCall(AmgSolve(ksp, what, its, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of iterations with GAMG; the maximum if it fails: on jumps of the coefficient, its estimate of an eigenvalue can be too small. */
static PetscErrorCode CountGAMG(Mat A, PetscInt *its)
{
  KSP                ksp;
  Vec                x, b;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateSolver(A, "gamg_", PCGAMG, &ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AmgFillRightSide(b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason < 0) *its = 500;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most 1.3 times the iterations of GAMG, and at most 15; those of a matrix of type aij; the same bits in a second solve. */
static PetscErrorCode TestIterations(void)
{
  for (size_t k = (size_t)First; k < PETSC_STATIC_ARRAY_LENGTH(Problems); k++) {
    const AmgProblem p = ProblemOf(k);
    PetscInt         its, again, gamg, aij;
    Mat              A, B;
    Vec              x, y;
    PetscBool        same;

    PetscFunctionBeginUser;
    PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
    PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATAIJ, &B));
    PetscCall(Count(A, "amg_", PCGPUAMG, p.name, &its, &x));
    PetscCall(Count(A, "amg_", PCGPUAMG, p.name, &again, &y));
    PetscCall(VecEqual(x, y, &same));
    PetscCheck(same && its == again, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: two solves differ", p.name);
    PetscCall(CountGAMG(A, &gamg));
    PetscCall(Count(B, "amg_", PCGPUAMG, p.name, &aij, NULL));
    PetscCheck(its <= 1.3 * gamg && its <= 15, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, GAMG %" PetscInt_FMT, p.name, its, gamg);
    PetscCheck(its == aij, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, with type aij %" PetscInt_FMT, p.name, its, aij);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: at most 1.3 times those of GAMG\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of iterations hardly grows with the grid. */
static PetscErrorCode TestGrowth(void)
{
  AmgProblem p = Problems[0];
  PetscInt   small, large;
  Mat        A;

  PetscFunctionBeginUser;
  p.n = 16;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(Count(A, NULL, PCGPUAMG, "16^3", &small, NULL));
  PetscCall(MatDestroy(&A));
  p.n = 48;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(Count(A, NULL, PCGPUAMG, "48^3", &large, NULL));
  PetscCall(MatDestroy(&A));
  PetscCheck(large <= 1.4 * small, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations for 16^3, %" PetscInt_FMT " for 48^3", small, large);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "growth: at most 1.4 times the iterations\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every smoother, both cycles and storages, one level only, and a coarsest level that the smoother solves. */
static PetscErrorCode TestSmoothers(void)
{
  const AmgProblem p = ProblemOf(1);
  Mat              A;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  for (int s = 0; s < 4; s++) {
    for (int w = 0; w < 4; w++) {
      const PCGPUAMGSmoother smoother = (PCGPUAMGSmoother)s;
      const char            *name     = PCGPUAMGSmoothers[s];
      PetscInt               its;
      KSP                    ksp;
      PC                     pc;

      PetscCall(AmgCreateSolver(A, NULL, PCGPUAMG, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCGPUAMGSetSmoother(pc, smoother));
      PetscCall(PCGPUAMGSetCycle(pc, w % 2 ? PC_GPUAMG_CYCLE_W : PC_GPUAMG_CYCLE_V));
      PetscCall(PCGPUAMGSetStorage(pc, w % 2 ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
      PetscCall(PCGPUAMGSetSweeps(pc, 1 + w));
      PetscCall(PCGPUAMGSetCoarseLimit(pc, w == 2 ? 0 : 30));
      PetscCall(PCGPUAMGSetLevels(pc, w == 3 ? 2 : 10));
      PetscCall(AmgSolve(ksp, name, &its, NULL));
      PetscCheck(its < (s == PC_GPUAMG_SMOOTHER_L1JACOBI ? 25 : 20), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, variant %d: %" PetscInt_FMT " iterations", name, w, its);
      PetscCall(KSPDestroy(&ksp));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "smoothers: converged\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same solver solves systems whose values, patterns and sizes change.  A second solver that starts anew must need nearly as many iterations. */
static PetscErrorCode SolveAgain(KSP ksp, Mat A, const char what[], PetscInt refills)
{
  PC_GPUAMG *amg;
  PetscInt   its, fresh;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(AmgSolve(ksp, what, &its, NULL));
  PetscCall(Count(A, NULL, PCGPUAMG, what, &fresh, NULL));
  PetscCall(GetData(ksp, &amg));
  PetscCheck(its <= fresh + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with a new solver", what, its, fresh);
  PetscCheck(amg->refills == refills, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " set-ups kept the interpolation, not %" PetscInt_FMT, what, amg->refills, refills);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSequences(const char type[])
{
  AmgProblem p = ProblemOf(0), wide = ProblemOf(1), small = ProblemOf(4);
  Mat        A, B;
  KSP        ksp;
  PC         pc;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, type, &A));
  PetscCall(AmgCreateSolver(A, NULL, PCGPUAMG, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(SolveAgain(ksp, A, "first values", 0));
  p.scale      = 7;
  p.anisotropy = 1.5;
  PetscCall(AmgSetValues(&p, A));
  PetscCall(SolveAgain(ksp, A, "new values", 1));
  PetscCall(MatScale(A, 0.1));
  PetscCall(SolveAgain(ksp, A, "scaled values", 2));
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, type, &B));
  PetscCall(SolveAgain(ksp, B, "another matrix with the same pattern", 3));
  PetscCall(MatDestroy(&A));
  PetscCall(AmgCreateProblem(&wide, PETSC_COMM_WORLD, type, &A));
  PetscCall(SolveAgain(ksp, A, "another pattern", 3));
  PetscCall(PCGPUAMGSetReuse(pc, PC_GPUAMG_REUSE_NONE));
  PetscCall(MatScale(A, 2));
  PetscCall(SolveAgain(ksp, A, "scaled values, nothing kept", 3));
  PetscCall(PCReset(pc));
  PetscCall(SolveAgain(ksp, A, "after a reset", 3));
  PetscCall(MatDestroy(&B));
  PetscCall(AmgCreateProblem(&small, PETSC_COMM_WORLD, type, &B));
  PetscCall(KSPReset(ksp));
  PetscCall(SolveAgain(ksp, B, "another size", 3));
  PetscCall(PCGPUAMGSetReuse(pc, PC_GPUAMG_REUSE_INTERPOLATION));
  PetscCall(SolveAgain(ksp, B, "another option", 3));
  PetscCall(MatScale(B, 3));
  PetscCall(SolveAgain(ksp, B, "scaled blocks", 4));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequences: as with a new solver\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyPC(KSP ksp, Vec x, Vec y)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCSetReusePreconditioner() keeps the coarse operators, also if the matrix is scaled. */
static PetscErrorCode TestReuse(void)
{
  const AmgProblem p = ProblemOf(0);
  Mat              A;
  KSP              ksp;
  PC_GPUAMG       *amg;
  PetscInt         its;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(AmgCreateSolver(A, NULL, PCGPUAMG, &ksp));
  PetscCall(AmgSolve(ksp, "first", &its, NULL));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(MatScale(A, 1.1));
  PetscCall(AmgSolve(ksp, "kept", &its, NULL));
  PetscCall(GetData(ksp, &amg));
  PetscCheck(amg->setups == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The preconditioner was set up again");
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  PetscCall(AmgSolve(ksp, "renewed", &its, NULL));
  PetscCheck(amg->setups == 2 && amg->refills == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The preconditioner was not set up again");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reuse: kept and renewed\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillVector(Vec x, PetscReal wave)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(x, i, PetscSinReal(wave * (i + 1)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner M of a symmetric matrix is symmetric and positive: x'My = y'Mx, and M'x = Mx. */
static PetscErrorCode TestSymmetry(void)
{
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Problems); k++) {
    const AmgProblem p = ProblemOf(k);
    Mat              A;
    Vec              x, y, Mx, My;
    KSP              ksp;
    PC               pc;
    PetscScalar      xMy, yMx, xMx, yMy, transposed;

    PetscFunctionBeginUser;
    PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
    PetscCall(AmgCreateSolver(A, NULL, PCGPUAMG, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCGPUAMGSetStorage(pc, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(MatCreateVecs(A, &Mx, &My));
    PetscCall(FillVector(x, 0.7));
    PetscCall(FillVector(y, 1.9));
    PetscCall(ApplyPC(ksp, x, Mx));
    PetscCall(ApplyPC(ksp, y, My));
    PetscCall(VecDot(x, My, &xMy));
    PetscCall(VecDot(y, Mx, &yMx));
    PetscCall(VecDot(x, Mx, &xMx));
    PetscCall(VecDot(y, My, &yMy));
    PetscCheck(xMx > 0 && yMy > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: not positive", p.name);
    PetscCheck(PetscAbsScalar(xMy - yMx) < 1e-5 * PetscSqrtReal(xMx * yMy), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %g and %g, not symmetric", p.name, (double)xMy, (double)yMx);
    PetscCall(PCApplyTranspose(pc, x, Mx));
    PetscCall(VecDot(x, Mx, &transposed));
    PetscCheck(PetscAbsScalar(transposed - xMx) < 1e-5 * xMx, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the transpose gives %g, not %g", p.name, (double)transposed, (double)xMx);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&Mx));
    PetscCall(VecDestroy(&My));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "symmetry: symmetric and positive\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A convection-diffusion matrix on a grid of N x N points. */
static PetscErrorCode CreateConvection(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(AmgCreateMatrix(PETSC_COMM_WORLD, MATGPUCSR, N * N, 1, 5, A));
  for (PetscInt i = 0; i < N * N; i++) {
    PetscCall(MatSetValue(*A, i, i, 4.3, INSERT_VALUES));
    if (i % N) PetscCall(MatSetValue(*A, i, i - 1, -1.3, INSERT_VALUES));
    if (i % N < N - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    if (i >= N) PetscCall(MatSetValue(*A, i, i - N, -1, INSERT_VALUES));
    if (i < N * (N - 1)) PetscCall(MatSetValue(*A, i, i + N, -1, INSERT_VALUES));
  }
  PetscCall(AmgAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a preconditioner with levels at a place. */
static PetscErrorCode CreatePlaced(Mat A, PCGPUAMGHierarchy place, PCGPUAMGCycle cycle, PetscInt sweeps, PCGPUAMGSmoother smoother, MatGPUCSRStorage storage, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCGPUAMG));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCGPUAMGSetHierarchy(*pc, place));
  PetscCall(PCGPUAMGSetCycle(*pc, cycle));
  PetscCall(PCGPUAMGSetSweeps(*pc, sweeps));
  PetscCall(PCGPUAMGSetSmoother(*pc, smoother));
  PetscCall(PCGPUAMGSetStorage(*pc, storage));
  PetscCall(PCGPUAMGSetCoarseLimit(*pc, sweeps == 3 ? 0 : 20));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies two preconditioners.  The results may differ by a rounding error. */
static PetscErrorCode ComparePlaces(Mat A, PC device, PC matrices, PetscBool transpose, PetscReal tolerance, const char what[])
{
  Vec       x, y, z, again;
  PetscReal norm, difference;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(A, &z, &again));
  PetscCall(FillVector(x, 0.7));
  if (transpose) {
    PetscCall(PCApplyTranspose(device, x, y));
    PetscCall(PCApplyTranspose(matrices, x, z));
  } else {
    PetscCall(PCApply(device, x, y));
    PetscCall(PCApply(matrices, x, z));
  }
  for (int k = 0; k < 3; k++) { /* on a GPU, a graph runs the later applications */
    if (transpose) PetscCall(PCApplyTranspose(device, x, again));
    else PetscCall(PCApply(device, x, again));
    PetscCall(VecEqual(y, again, &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: two applications differ", what);
  }
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCheck(difference <= tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s%s: the results at the two places differ by %g", what, transpose ? ", transpose" : "", (double)(difference / norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels on the device give the same preconditioner as levels that are matrices, also for new values.  exact: the storage of A does not round its values */
static PetscErrorCode ComparePreconditioners(Mat A, PetscBool exact, const char what[])
{
  for (int v = 0; v < 6; v++) {
    const MatGPUCSRStorage storage   = v % 2 ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE;
    const PetscReal        tolerance = exact && v % 2 ? 1e-10 : 1e-3;
    PC                     pc[2];

    PetscFunctionBeginUser;
    for (int place = 0; place < 2; place++) {
      PetscCall(CreatePlaced(A, place ? PC_GPUAMG_HIERARCHY_MATRICES : PC_GPUAMG_HIERARCHY_DEVICE, v < 3 ? PC_GPUAMG_CYCLE_V : PC_GPUAMG_CYCLE_W, 1 + v % 3, v == 4 ? PC_GPUAMG_SMOOTHER_L1JACOBI : PC_GPUAMG_SMOOTHER_CHEBYSHEV, storage, &pc[place]));
      PetscCheck((((PC_GPUAMG *)pc[place]->data)->device == NULL) == (place == 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the levels are at another place", what);
    }
    PetscCall(ComparePlaces(A, pc[0], pc[1], PETSC_FALSE, tolerance, what));
    PetscCall(ComparePlaces(A, pc[0], pc[1], PETSC_TRUE, tolerance, what));
    PetscCall(MatScale(A, v % 2 ? 0.4 : 2.5));
    for (int place = 0; place < 2; place++) PetscCall(PCSetUp(pc[place]));
    PetscCall(ComparePlaces(A, pc[0], pc[1], PETSC_FALSE, tolerance, what));
    for (int place = 0; place < 2; place++) PetscCall(PCDestroy(&pc[place]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the entries of a symmetric pattern a little, so that no two aggregates have the same sum of weights: rounding errors would decide between them. */
static PetscErrorCode MakeIrregular(Mat A)
{
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(MatSeqAIJGetArray(A, &val));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++) {
      const uint64_t hash = GpAppHash64((uint64_t)PetscMin(i, col[k]) << 32 | (uint64_t)PetscMax(i, col[k]));

      val[k] *= i == col[k] ? 1.01 : 1 - 0.002 * (PetscScalar)(hash >> 11) * 0x1p-53;
    }
  }
  PetscCall(MatSeqAIJRestoreArray(A, &val));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPlaces(void)
{
  Mat A;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Problems); k++) {
    const AmgProblem p = ProblemOf(k);

    PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
    PetscCall(MatGPUCSRSetStorage(A, k % 2 ? MAT_GPUCSR_STORAGE_SINGLE : MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(MakeIrregular(A));
    PetscCall(ComparePreconditioners(A, (PetscBool) !(k % 2), p.name));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CreateConvection(&A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MakeIrregular(A));
  PetscCall(ComparePreconditioners(A, PETSC_TRUE, "convection"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "places: equal preconditioners\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  const AmgProblem p = ProblemOf(0);
  Mat              A;
  PetscInt         its;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateProblem(&p, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(Count(A, "shown_", PCGPUAMG, "view", &its, NULL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char test[32] = "", type[32] = MATGPUCSR;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", test, sizeof(test), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &N, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &First, NULL));
  if (!strcmp(test, "iterations")) PetscCall(TestIterations());
  if (!strcmp(test, "growth")) PetscCall(TestGrowth());
  if (!strcmp(test, "smoothers")) PetscCall(TestSmoothers());
  if (!strcmp(test, "sequences")) PetscCall(TestSequences(type));
  if (!strcmp(test, "reuse")) PetscCall(TestReuse());
  if (!strcmp(test, "symmetry")) PetscCall(TestSymmetry());
  if (!strcmp(test, "places")) PetscCall(TestPlaces());
  if (!strcmp(test, "view")) PetscCall(TestView());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: iterations
      nsize: {{1 2}}
      args: -test iterations -n 12 -gamg_mg_levels_pc_type jacobi

   test:
      suffix: ranks
      nsize: 4
      args: -test iterations -n 12 -first 4 -gamg_mg_levels_pc_type jacobi
      output_file: output/gpuamg_iterations.out

   test:
      suffix: growth
      args: -test growth

   test:
      suffix: smoothers
      nsize: {{1 2}}
      args: -test smoothers -n 12 -gpucsr_sor multicolor

   test:
      suffix: sequences
      nsize: {{1 2}}
      args: -test sequences -n 12 -type {{aij gpucsr}}

   test:
      suffix: reuse
      nsize: {{1 2}}
      args: -test reuse -n 10

   test:
      suffix: symmetry
      nsize: {{1 2}}
      args: -test symmetry -n 10 -vec_gpu_separate -mat_gpucsr_vec_type gpu

   test:
      suffix: places
      args: -test places -n 10

   test:
      suffix: view_device
      args: -test view -n 12 -shown_ksp_view -shown_pc_gpuamg_coarse_limit 30
      filter: grep -E "type: gpuamg|aggregation|smoother:|kept|level [0-9]:|levels: |place of|storage of|D.-1|prolongator|complexity|coarsest"

   test:
      suffix: view
      args: -test view -n 12 -shown_ksp_view ::ascii_info_detail -shown_pc_gpuamg_cycle w -shown_pc_gpuamg_coarse_limit 30 -shown_pc_gpuamg_mg_levels_ksp_max_it 3
      filter: grep -E "type: gpuamg|aggregation|smoother:|kept|level [0-9]:|levels: |storage of|D.-1|prolongator|complexity|iterations=3|coarsest|(levels|coarse)_.*process" | cut -d ";" -f 1

TEST*/
