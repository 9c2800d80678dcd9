/* Times solves of bmrm whose data are already on the device: solves without a warm start, one after the other, in one process.

   bench_bmrm FILE [-repeats 5] [-tao SECONDS] [-mat_type T] [any option of the solver]: a CSV line. The first solution uploads the data and loads
   kernels; the others do not. With -tao also PETSc's own TAOBMRM on the same matrix, until an evaluation is as good as our solution. */
static char help[] = "Trains on a LIBSVM file again and again and says how long that took: bench_bmrm FILE\n\n";

#include <gpucsr.h>
#include <gpucsrbmrm.h>
#include <petsctao.h>
#include <petsctime.h>
#include <string.h>
#include "examples/bmrm/readers/examples.h"

#define MOST_REPEATS 100

typedef struct {
  Mat            X;
  Vec            y, z;
  PetscReal      lambda, target, best;
  PetscLogDouble begin, limit, seconds;
  PetscInt       evaluations;
} Hinge;

/* The mean hinge loss, to which TAOBMRM adds the regulariser; notes when it was good enough for the first time. */
static PetscErrorCode Evaluate(Tao tao, Vec w, PetscReal *f, Vec g, void *ctx)
{
  Hinge             *h = (Hinge *)ctx;
  PetscScalar       *z;
  const PetscScalar *y;
  PetscInt           m, M;
  PetscReal          sum = 0, norm;
  PetscLogDouble     now;

  PetscFunctionBeginUser;
  PetscCall(MatMult(h->X, w, h->z));
  PetscCall(VecGetLocalSize(h->z, &m));
  PetscCall(VecGetSize(h->z, &M));
  PetscCall(VecGetArray(h->z, &z));
  PetscCall(VecGetArrayRead(h->y, &y));
  for (PetscInt i = 0; i < m; i++) {
    const PetscReal slack = 1 - PetscRealPart(y[i] * z[i]);

    sum += PetscMax(0, slack);
    z[i] = slack > 0 ? -y[i] / M : 0;
  }
  PetscCall(VecRestoreArrayRead(h->y, &y));
  PetscCall(VecRestoreArray(h->z, &z));
  PetscCall(MatMultTranspose(h->X, h->z, g));
  PetscCallMPI(MPI_Allreduce(&sum, f, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  *f /= M;
  PetscCall(VecNorm(w, NORM_2, &norm));
  h->best = PetscMin(h->best, *f + h->lambda / 2 * norm * norm);
  PetscCall(PetscTime(&now));
  h->seconds = now - h->begin;
  h->evaluations++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EnoughOfTao(Tao tao, void *ctx)
{
  const Hinge *h = (const Hinge *)ctx;

  PetscFunctionBeginUser;
  if (h->best <= h->target) PetscCall(TaoSetConvergedReason(tao, TAO_CONVERGED_USER));
  else if (h->seconds > h->limit) PetscCall(TaoSetConvergedReason(tao, TAO_DIVERGED_USER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunTao(Hinge *h)
{
  Tao  tao;
  Vec  w, g;
  char lambda[32];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(lambda, sizeof(lambda), "%.17g", (double)h->lambda));
  PetscCall(PetscOptionsSetValue(NULL, "-tao_bmrm_lambda", lambda));
  PetscCall(MatCreateVecs(h->X, &w, &h->z));
  PetscCall(VecDuplicate(w, &g));
  PetscCall(TaoCreate(PetscObjectComm((PetscObject)h->X), &tao));
  PetscCall(TaoSetType(tao, TAOBMRM));
  PetscCall(TaoSetSolution(tao, w));
  PetscCall(TaoSetObjectiveAndGradient(tao, g, Evaluate, h));
  PetscCall(TaoSetConvergenceTest(tao, EnoughOfTao, h));
  PetscCall(TaoSetMaximumIterations(tao, 1000000));
  PetscCall(TaoSetFromOptions(tao));
  h->best = PETSC_INFINITY;
  PetscCall(PetscTime(&h->begin));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&h->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The seconds of every solution from nothing. */
static PetscErrorCode RunBMRM(BMRM b, PetscInt n, PetscReal seconds[])
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetUp(b));
  for (PetscInt k = 0; k < n; k++) {
    PetscLogDouble begin, end;

    PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)b)));
    PetscCall(PetscTime(&begin));
    PetscCall(BMRMSolve(b));
    PetscCall(PetscTime(&end));
    seconds[k] = end - begin;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(const char file[], Mat *X, Vec *y, PetscInt64 *nnz)
{
  BMRMExamples     ex;
  PetscInt         nclass;
  const PetscReal *classes;

  PetscFunctionBeginUser;
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex));
  PetscCall(BMRMExamplesGetClasses(&ex, PETSC_TRUE, &nclass, &classes));
  PetscCall(BMRMExamplesCreateMat(&ex, ex.N, MATGPUCSR, X));
  PetscCall(BMRMExamplesCreateLabels(&ex, nclass, classes, PETSC_TRUE, *X, y));
  *nnz = ex.nnz;
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *name, *type;
  PetscInt    repeats = 5, rows, cols, passes, mults;
  PetscInt64  nnz;
  PetscReal   limit = 0, J, lower, seconds[MOST_REPEATS + 1];
  PetscMPIInt size;
  Hinge       h = {0};
  BMRM        b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCheck(argc > 1 && argv[1][0] != '-', PETSC_COMM_WORLD, PETSC_ERR_USER, "Usage: bench_bmrm FILE");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tao", &limit, NULL));
  PetscCheck(repeats >= 1 && repeats <= MOST_REPEATS, PETSC_COMM_WORLD, PETSC_ERR_USER, "-repeats is from 1 to %d", MOST_REPEATS);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Load(argv[1], &h.X, &h.y, &nnz));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  PetscCall(BMRMSetData(b, h.X, h.y));
  PetscCall(BMRMSetFromOptions(b));
  PetscCall(RunBMRM(b, repeats + 1, seconds));
  PetscCall(PetscSortReal(repeats, seconds + 1));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCall(BMRMGetIterationNumber(b, &passes));
  PetscCall(BMRMGetMatMults(b, &mults));
  PetscCall(BMRMGetLambda(b, &h.lambda));
  PetscCall(MatGetSize(h.X, &rows, &cols));
  PetscCall(MatGetType(h.X, &type));
  name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "data,rows,cols,nnz,program,ranks,passes,matmults,objective,gap,first_s,least_s,median_s\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt64_FMT ",bmrm %s,%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%.11f,%.4e,%.5f,%.5f,%.5f\n", name, rows, cols, nnz, type, size, passes, mults, (double)J,
                        (double)(J - lower), (double)seconds[0], (double)seconds[1], (double)seconds[1 + repeats / 2]));
  if (limit > 0) {
    h.limit  = limit;
    h.target = J;
    PetscCall(RunTao(&h));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt64_FMT ",TAOBMRM %s %s,%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%.11f,,%.5f,%.5f,%.5f\n", name, rows, cols, nnz, type,
                          h.best <= h.target ? "reached" : "not reached", size, h.evaluations, 2 * h.evaluations, (double)h.best, h.seconds, h.seconds, h.seconds));
  }
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&h.y));
  PetscCall(MatDestroy(&h.X));
  PetscCall(PetscFinalize());
  return 0;
}
