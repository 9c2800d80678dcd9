static char help[] = "The trainer: known optima, an independent solver, the certificate, the options and the errors, for several Mat types.\n\n";

#include "bmrmimpl.h"
#include <gpucsr.h>

#define MROWS 60
#define NCOLS 8

/* a number in [-1, 1) that depends on nothing but its arguments */
static PetscReal Value(PetscInt seed, PetscInt i, PetscInt k)
{
  PetscInt64 s = 4711 + 15485863 * (PetscInt64)seed + 7919 * (PetscInt64)i + 104729 * (PetscInt64)k;

  for (int r = 0; r < 5; r++) s = (s * 1103515245 + 12345) & 0x7fffffff;
  return (PetscReal)s / (PetscReal)0x40000000 - 1;
}

/* noisy labels, some entries missing */
static void Row(PetscInt seed, PetscInt i, PetscReal x[NCOLS], PetscReal *y)
{
  PetscReal sum = 0;

  for (PetscInt k = 0; k < NCOLS; k++) {
    x[k] = (i + k) % 3 ? Value(seed, i, k) : 0;
    sum += (k + 1) * x[k];
  }
  *y = sum + 3 * Value(seed, i, NCOLS) > 0 ? 1 : -1;
}

static PetscErrorCode CreateProblem(PetscInt seed, PetscInt m, MatType type, Mat *X, Vec *y)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, m, NCOLS));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetUp(*X));
  PetscCall(MatCreateVecs(*X, NULL, y));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscReal x[NCOLS], yi;

    Row(seed, i, x, &yi);
    for (PetscInt k = 0; k < NCOLS; k++) {
      if (x[k] != 0) PetscCall(MatSetValue(*X, i, k, x[k], INSERT_VALUES));
    }
    PetscCall(VecSetValue(*y, i, yi, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*y));
  PetscCall(VecAssemblyEnd(*y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Objective(PetscInt seed, PetscInt m, PetscReal lambda, const PetscReal w[])
{
  PetscReal J = 0, x[NCOLS], y;

  for (PetscInt i = 0; i < m; i++) {
    PetscReal f = 0;

    Row(seed, i, x, &y);
    for (PetscInt k = 0; k < NCOLS; k++) f += w[k] * x[k];
    J += PetscMax(0, 1 - y * f) / m;
  }
  for (PetscInt k = 0; k < NCOLS; k++) J += 0.5 * lambda * w[k] * w[k];
  return J;
}

/* An independent solver: dual coordinate descent (Hsieh et al. 2008), to a far higher accuracy than is asked of ours. */
static PetscReal Optimum(PetscInt seed, PetscInt m, PetscReal lambda)
{
  PetscReal alpha[MROWS] = {0}, w[NCOLS] = {0}, dual = 0, x[MROWS][NCOLS], y[MROWS], q[MROWS] = {0};

  for (PetscInt i = 0; i < m; i++) {
    Row(seed, i, x[i], &y[i]);
    for (PetscInt k = 0; k < NCOLS; k++) q[i] += x[i][k] * x[i][k];
  }
  for (int epoch = 0; epoch < 20000; epoch++) {
    PetscReal change = 0;

    for (PetscInt i = 0; i < m; i++) {
      PetscReal g = -1, old = alpha[i];

      if (q[i] == 0) continue;
      for (PetscInt k = 0; k < NCOLS; k++) g += y[i] * w[k] * x[i][k];
      alpha[i] = PetscMin(1, PetscMax(0, old - g * lambda * m / q[i]));
      for (PetscInt k = 0; k < NCOLS; k++) w[k] += (alpha[i] - old) * y[i] * x[i][k] / (lambda * m);
      change = PetscMax(change, PetscAbsReal(alpha[i] - old));
    }
    if (change < 1e-14) break;
  }
  for (PetscInt i = 0; i < m; i++) dual += alpha[i] / m;
  for (PetscInt k = 0; k < NCOLS; k++) dual -= 0.5 * lambda * w[k] * w[k];
  return dual;
}

typedef struct {
  PetscReal J, lower;
  PetscInt  calls;
} History;

/* Objective and bound only ever improve, and the monitor is called for every pass. */
static PetscErrorCode Watch(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  History *h = (History *)ctx;

  PetscFunctionBegin;
  PetscCheck(it == h->calls, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "call %" PetscInt_FMT " of the monitor is for pass %" PetscInt_FMT, h->calls, it);
  PetscCheck(!it || (J <= h->J + 1e-14 && lower >= h->lower), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "pass %" PetscInt_FMT ": from [%.17g, %.17g] to [%.17g, %.17g]", it, (double)h->lower, (double)h->J, (double)lower, (double)J);
  h->J     = J;
  h->lower = lower;
  h->calls++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What one solve promises, against the independent optimum. */
static PetscErrorCode CheckResult(BMRM b, PetscInt seed, PetscInt m, PetscReal lambda, PetscReal eps, PetscReal optimum)
{
  BMRMConvergedReason reason;
  PetscReal           J, lower, here, w[NCOLS];
  Vec                 sol, all;
  VecScatter          scatter;
  const PetscScalar  *a;

  PetscFunctionBegin;
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "seed %" PetscInt_FMT ": %s, gap %g", seed, BMRMConvergedReasons[reason], (double)(J - lower));
  PetscCheck(J - lower <= eps, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "gap %g, tolerance %g", (double)(J - lower), (double)eps);
  PetscCheck(lower <= optimum + 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "seed %" PetscInt_FMT ": the lower bound %.15g is above the optimum %.15g", seed, (double)lower, (double)optimum);
  PetscCheck(J >= optimum - 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "seed %" PetscInt_FMT ": the objective %.15g is below the optimum %.15g", seed, (double)J, (double)optimum);
  PetscCall(BMRMGetSolution(b, &sol));
  PetscCall(VecScatterCreateToAll(sol, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, sol, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, sol, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt k = 0; k < NCOLS; k++) w[k] = PetscRealPart(a[k]);
  PetscCall(VecRestoreArrayRead(all, &a));
  here = Objective(seed, m, lambda, w);
  PetscCheck(PetscAbsReal(here - J) < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the solution has the objective %.17g, reported is %.17g", (double)here, (double)J);
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRandom(void)
{
  const char *types[] = {MATAIJ, MATDENSE};

  PetscFunctionBegin;
  for (PetscInt seed = 0; seed < 8; seed++) {
    const PetscReal lambda  = PetscPowReal(10, -1 - (PetscReal)(seed % 4));
    const PetscReal optimum = Optimum(seed, MROWS, lambda);

    for (PetscInt k = 0; k < 12; k++) {
      const PetscReal eps = k % 3 == 0 ? 1e-2 : k % 3 == 1 ? 1e-4 : 1e-8;
      History         h   = {0, 0, 0};
      Mat             X;
      Vec             y;
      BMRM            b;

      PetscCall(CreateProblem(seed, MROWS, types[k % 2], &X, &y));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetFromOptions(b));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(BMRMSetLambda(b, lambda));
      PetscCall(BMRMSetTolerances(b, eps, 0, 20000));
      PetscCall(BMRMSetLineSearch(b, (PetscBool)(k < 6)));
      PetscCall(BMRMMonitorSet(b, Watch, &h, NULL));
      PetscCall(BMRMSolve(b));
      PetscCall(CheckResult(b, seed, MROWS, lambda, eps, optimum));
      if (k == 0) { /* the same object once more, from the start */
        h.calls = 0;
        PetscCall(BMRMSolve(b));
        PetscCall(CheckResult(b, seed, MROWS, lambda, eps, optimum));
      }
      PetscCall(BMRMDestroy(&b));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the optimum lies between the bounds, with and without line search\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One example x = 1, y = 1: J = lambda w^2/2 + max(0, 1 - w), with the optimum at min(1, 1/lambda). */
static PetscErrorCode TestKnown(void)
{
  const PetscReal lambdas[] = {1e-3, 0.5, 4}, optima[] = {0.5e-3, 0.25, 0.875};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 3; k++) {
    PetscReal J, lower;
    PetscInt  start, end, its, mults;
    Mat       X;
    Vec       y;
    BMRM      b;

    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 1, 1, 1, NULL, 1, NULL, &X));
    PetscCall(MatGetOwnershipRange(X, &start, &end));
    if (start < end) PetscCall(MatSetValue(X, 0, 0, 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(X, NULL, &y));
    PetscCall(VecSet(y, 1));
    PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
    PetscCall(BMRMSetData(b, X, y));
    PetscCall(BMRMSetLambda(b, lambdas[k]));
    PetscCall(BMRMSetTolerances(b, 1e-9, 0, 1000));
    PetscCall(BMRMSolve(b));
    PetscCall(BMRMGetObjective(b, &J, &lower));
    PetscCall(BMRMGetIterationNumber(b, &its));
    PetscCall(BMRMGetMatMults(b, &mults));
    PetscCheck(J >= optima[k] - 1e-15 && lower <= optima[k] + 1e-15 && J - lower <= 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "lambda %g: [%.17g, %.17g]", (double)lambdas[k], (double)lower, (double)J);
    PetscCheck(its < 20 && mults == 2 * its + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " passes, %" PetscInt_FMT " products", its, mults);
    PetscCall(BMRMDestroy(&b));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "one example has its known optimum\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char message[512];

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message, mess, sizeof(message));
  return n;
}

#define Refused(call, what) \
  do { \
    PetscErrorCode refused_; \
    char          *found_; \
    message[0] = 0; \
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL)); \
    refused_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    PetscCall(PetscStrstr(message, what, &found_)); \
    PetscCheck(refused_ &&found_, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: '%s'", #call, message); \
  } while (0)

/* A matrix whose transpose is not its own. */
static PetscErrorCode MultTransposeWrong(Mat A, Vec x, Vec y)
{
  Mat X;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &X));
  PetscCall(MatMultTranspose(X, x, y));
  PetscCall(VecScale(y, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultRight(Mat A, Vec x, Vec y)
{
  Mat X;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &X));
  PetscCall(MatMult(X, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A certificate that cannot be true is an error, not a result. */
static PetscErrorCode TestWrongTranspose(BMRM b, Mat X, Vec y)
{
  Mat      A;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &m, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, X, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void *)MultRight));
  PetscCall(MatShellSetOperation(A, MATOP_MULT_TRANSPOSE, (void *)MultTransposeWrong));
  PetscCall(BMRMSetData(b, A, y));
  PetscCall(BMRMSetTolerances(b, 1e-6, 0, 1000));
  Refused(BMRMSolve(b), "MatMult() and MatMultTranspose() of this Mat are not those of one matrix");
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a transpose that is not one: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every way to stop, and what is refused. */
static PetscErrorCode TestReasons(void)
{
  BMRMConvergedReason reason;
  PetscReal           J, lower;
  PetscInt            now, peak;
  Mat                 X;
  Vec                 y, short_y;
  BMRM                b;

  PetscFunctionBegin;
  PetscCall(CreateProblem(3, MROWS, MATAIJ, &X, &y));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  Refused(BMRMSolve(b), "call BMRMSetData() first");
  Refused(BMRMSetLambda(b, 0), "lambda is 0");
  Refused(BMRMSetLambda(b, -1), "must be positive");
  Refused(BMRMSetTolerances(b, -1e-3, 0, 10), "must not be negative");
  Refused(BMRMSetMu(b, 2, PETSC_TRUE), "must be in (0, 1]");
  Refused(BMRMSetCuts(b, 0), "it must be from 1 to 64");
  Refused(BMRMSetLossType(b, "nonsense"), "There is no loss nonsense");
  Refused(BMRMSetRegularizerType(b, "nonsense"), "There is no regulariser nonsense");
  Refused(BMRMSetLossParameter(b, "epsilon", 1), "The loss hinge has no parameter epsilon");
  Refused(BMRMSetElasticNetRatio(b, 1), "must be between 0 and 1");
  PetscCall(BMRMSetLossType(b, "quantile"));
  Refused(BMRMSetLossParameter(b, "quantile", 1), "quantile of the loss quantile is 1., it must be between 0");
  PetscCall(BMRMSetLossType(b, "hinge"));
  PetscCall(VecDuplicate(y, &short_y));
  PetscCall(VecSet(short_y, 0.5));
  PetscCall(BMRMSetData(b, X, short_y));
  Refused(BMRMSolve(b), "The label 0.5 of example 0, counted from 0, does not suit the loss hinge, which wants +1 or -1");
  PetscCall(BMRMReset(b));
  PetscCall(VecDestroy(&short_y));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, MROWS - 1, &short_y));
  Refused(BMRMSetData(b, X, short_y), "60 rows but there are 59 labels");
  PetscCall(VecDestroy(&short_y));
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(BMRMSetLambda(b, 1e-4));
  PetscCall(BMRMSetTolerances(b, 1e-12, 0, 3));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "too few passes: %s\n", BMRMConvergedReasons[reason]));
  PetscCall(BMRMSetErrorIfNotConverged(b, PETSC_TRUE));
  Refused(BMRMSolve(b), "has not converged: DIVERGED_MAX_IT after 3 passes");
  PetscCall(BMRMSetErrorIfNotConverged(b, PETSC_FALSE));
  PetscCall(BMRMSetTolerances(b, 0, 1e-3, 1000));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative tolerance: %s\n", BMRMConvergedReasons[reason]));
  PetscCall(BMRMSetTolerances(b, 0, 0, 100000));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCheck(reason == BMRM_DIVERGED_STAGNATED || reason == BMRM_CONVERGED_GAP_ATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "tolerance zero: %s", BMRMConvergedReasons[reason]);
  PetscCheck(J - lower < 1e-11, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "tolerance zero: gap %g", (double)(J - lower));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "tolerance zero: ends at the level of rounding\n"));
  PetscCall(BMRMGetCuts(b, &now, &peak));
  PetscCheck(now <= peak && peak < 80, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " cuts at the end, %" PetscInt_FMT " at most", now, peak);
  PetscCall(TestWrongTranspose(b, X, y));
  PetscCall(MatScale(X, PETSC_INFINITY));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "data that is not finite: %s\n", BMRMConvergedReasons[reason]));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One bundle for many lambdas: a bound that holds for each, in fewer passes than from the start. */
static PetscErrorCode TestWarm(void)
{
  PetscInt total[2] = {0, 0};
  Mat      X;
  Vec      y;
  BMRM     b;

  PetscFunctionBegin;
  PetscCall(CreateProblem(5, MROWS, MATAIJ, &X, &y));
  for (PetscInt warm = 0; warm < 2; warm++) {
    PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
    PetscCall(BMRMSetFromOptions(b));
    PetscCall(BMRMSetData(b, X, y));
    PetscCall(BMRMSetWarmStart(b, (PetscBool)warm));
    for (PetscInt k = 0; k < 13; k++) { /* down and up again */
      const PetscReal lambda = PetscPowReal(10, -0.5 * (PetscReal)(k < 7 ? k : 12 - k)), optimum = Optimum(5, MROWS, lambda);
      PetscInt        its;

      PetscCall(BMRMSetLambda(b, lambda));
      PetscCall(BMRMSetTolerances(b, 1e-6, 0, 10000));
      PetscCall(BMRMSolve(b));
      PetscCall(CheckResult(b, 5, MROWS, lambda, 1e-6, optimum));
      PetscCall(BMRMGetIterationNumber(b, &its));
      total[warm] += its;
    }
    PetscCall(BMRMDestroy(&b));
  }
  PetscCheck(total[1] < total[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " passes with one bundle, %" PetscInt_FMT " without", total[1], total[0]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "one bundle serves many lambdas\n"));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MANY 6

/* Several lambdas in step, and another matrix among them: each certified as if it were alone, and where nothing is shared the same to the last bit. */
static PetscErrorCode TestMany(void)
{
  const PetscReal lambda[MANY] = {1e-1, 1e-2, 1e-3, 1e-3, 1e-2, 1e-4};
  const PetscInt  seed[MANY] = {5, 5, 5, 6, 5, 5}, cuts[MANY] = {1, 3, 1, 1, 2, 1};

  PetscFunctionBegin;
  for (PetscInt shared = 0; shared < 2; shared++) {
    Mat  X[2];
    Vec  y[2];
    BMRM b[MANY];

    for (PetscInt k = 0; k < 2; k++) {
      PetscCall(CreateProblem(5 + k, MROWS, MATAIJ, &X[k], &y[k]));
      if (shared) {
        PetscCall(MatConvert(X[k], MATGPUCSR, MAT_INPLACE_MATRIX, &X[k]));
        PetscCall(MatGPUCSRSetStorage(X[k], MAT_GPUCSR_STORAGE_DOUBLE));
      }
    }
    for (PetscInt k = 0; k < MANY; k++) {
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b[k]));
      PetscCall(BMRMSetFromOptions(b[k]));
      PetscCall(BMRMSetData(b[k], X[seed[k] - 5], y[seed[k] - 5]));
      PetscCall(BMRMSetLambda(b[k], lambda[k]));
      PetscCall(BMRMSetCuts(b[k], cuts[k]));
      PetscCall(BMRMSetTolerances(b[k], 1e-6, 0, 10000));
    }
    PetscCall(BMRMSolveMany(MANY, b));
    for (PetscInt k = 0; k < MANY; k++) {
      BMRM      alone;
      PetscReal J[2];
      PetscInt  mults[2];

      PetscCall(CheckResult(b[k], seed[k], MROWS, lambda[k], 1e-6, Optimum(seed[k], MROWS, lambda[k])));
      PetscCall(BMRMGetObjective(b[k], &J[0], NULL));
      PetscCall(BMRMGetMatMults(b[k], &mults[0]));
      PetscCall(BMRMDuplicate(b[k], &alone));
      PetscCall(BMRMSolve(alone));
      PetscCall(BMRMGetObjective(alone, &J[1], NULL));
      PetscCall(BMRMGetMatMults(alone, &mults[1]));
      PetscCall(BMRMDestroy(&alone));
      PetscCheck(shared || (J[0] == J[1] && mults[0] == mults[1]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "solver %" PetscInt_FMT ": %.17g by %" PetscInt_FMT " products, alone %.17g by %" PetscInt_FMT, k, (double)J[0], mults[0], (double)J[1], mults[1]);
    }
    Refused(BMRMSolveMany(2, (BMRM[]){b[0], b[0]}), "Solvers 0 and 1 are the same");
    for (PetscInt k = 0; k < MANY; k++) PetscCall(BMRMDestroy(&b[k]));
    for (PetscInt k = 0; k < 2; k++) {
      PetscCall(VecDestroy(&y[k]));
      PetscCall(MatDestroy(&X[k]));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "several lambdas and matrices in step: certified\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestKnown());
  PetscCall(TestRandom());
  PetscCall(TestWarm());
  PetscCall(TestMany());
  PetscCall(TestReasons());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_bmrm_1.out
      test:
         suffix: 1
      test:
         suffix: 3
         nsize: 3
      test:
         suffix: keep
         args: -bmrm_idle_age 0 -bmrm_mu 0.1 -bmrm_mu_adapt 0 -bmrm_qp_rtol 0
      test:
         suffix: cuts
         nsize: 2
         args: -bmrm_cuts 3
      test:
         suffix: few
         args: -bmrm_max_cuts 16

TEST*/
