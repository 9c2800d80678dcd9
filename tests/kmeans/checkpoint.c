static char help[] = "Checkpoints of KMeans: solves that stop anywhere and restart give the bits of solves without interruption.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include <unistd.h>

#define FILE_NAME_LEN 64

typedef struct {
  const char *name;
  PetscBool   sparse, weights;
  KMeansStart start;
  KMeansEmpty empty;
  PetscInt    restarts;
  const char *assign;
  PetscInt    batch;
} Case;

/* What a solve returns. */
typedef struct {
  PetscReal             inertia;
  PetscInt              it, best, done, calls;
  KMeansConvergedReason reason;
  Mat                   centroids;
  IS                    labels;
} Result;

/* Creates 500 points with 3 features in groups. */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscBool sparse, Mat *X, Vec *w)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, 500, 3));
  PetscCall(MatSetType(*X, sparse ? MATAIJ : MATDENSE));
  PetscCall(MatSetUp(*X));
  PetscCall(MatCreateVecs(*X, NULL, w));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = 0; j < 3; j++)
      if (!sparse || j == i % 3 || i % 4) PetscCall(MatSetValue(*X, i, j, (PetscScalar)((i * (j + 3) * 37) % 101 / 7. + (i * i + j) % 13), INSERT_VALUES));
    PetscCall(VecSetValue(*w, i, (PetscScalar)(i % 5) / 3, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*w));
  PetscCall(VecAssemblyEnd(*w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates nine start centroids, some of which attract no point. */
static PetscErrorCode CreateStart(Mat *M)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 9, 3, NULL, M));
  for (PetscInt c = 0; c < 9; c++)
    for (PetscInt j = 0; j < 3; j++) PetscCall(MatSetValue(*M, c, j, (PetscScalar)(c % 4 == 3 ? 500 + c : 2 * c + j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A monitor that counts its calls in ctx[0] and raises an error in call ctx[1]. */
static PetscErrorCode Interrupt(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscInt *calls = (PetscInt *)ctx;

  PetscFunctionBegin;
  if (++calls[0] == calls[1]) PetscFunctionReturn(PETSC_ERR_USER);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves a case. stop: the call of the monitor that ends the solve, or 0; restart: the checkpoint to continue from, or NULL. */
static PetscErrorCode Solve(MPI_Comm comm, const Case *c, Mat X, Vec w, PetscInt max_it, PetscInt stop, const char checkpoint[], const char restart[], Result *r)
{
  PetscInt       calls[2] = {0, stop};
  PetscErrorCode err;
  KMeans         km;
  Mat            M;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  if (c->weights) PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, 9));
  PetscCall(KMeansSetStart(km, c->start));
  if (c->start == KMEANS_START_GIVEN) {
    PetscCall(CreateStart(&M));
    PetscCall(KMeansSetStartCentroids(km, M));
    PetscCall(MatDestroy(&M));
  }
  PetscCall(KMeansSetEmpty(km, c->empty));
  PetscCall(KMeansSetRestarts(km, c->restarts));
  PetscCall(KMeansSetAssign(km, c->assign));
  PetscCall(KMeansSetBatchSize(km, c->batch));
  PetscCall(KMeansSetTolerances(km, 0, 0, max_it));
  PetscCall(KMeansSetCheckpoint(km, checkpoint, stop ? stop - 1 : 3)); /* one checkpoint, in the iteration before that of the error */
  PetscCall(KMeansSetRestart(km, restart));
  PetscCall(KMeansMonitorSet(km, Interrupt, calls, NULL));
  if (stop) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = KMeansSolve(km);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == PETSC_ERR_USER, comm, PETSC_ERR_PLIB, "%s: error %d, not that of the monitor", c->name, (int)err);
  } else {
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetInertia(km, &r->inertia));
    PetscCall(KMeansGetIterationNumber(km, &r->it));
    PetscCall(KMeansGetConvergedReason(km, &r->reason));
    PetscCall(KMeansGetRestarts(km, &r->done, &r->best));
    PetscCall(KMeansGetCentroids(km, &r->centroids));
    PetscCall(KMeansGetLabels(km, &r->labels));
    PetscCall(PetscObjectReference((PetscObject)r->labels));
    r->calls = calls[0];
  }
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ResultDestroy(Result *r)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&r->centroids));
  PetscCall(ISDestroy(&r->labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckEqual(MPI_Comm comm, const char name[], PetscInt stop, const Result *is, const Result *want)
{
  PetscBool labels, centroids;

  PetscFunctionBegin;
  PetscCall(ISEqual(is->labels, want->labels, &labels));
  PetscCall(MatEqual(is->centroids, want->centroids, &centroids));
  PetscCheck(labels && centroids && is->inertia == want->inertia && is->it == want->it && is->reason == want->reason && is->best == want->best && is->done == want->done, comm, PETSC_ERR_PLIB,
             "%s, stopped at %" PetscInt_FMT ": %s labels, %s centroids, inertia %.17g for %.17g, %" PetscInt_FMT " iterations for %" PetscInt_FMT ", %s for %s, best %" PetscInt_FMT " for %" PetscInt_FMT, name, stop, labels ? "same" : "other",
             centroids ? "same" : "other", (double)is->inertia, (double)want->inertia, is->it, want->it, KMeansConvergedReasons[is->reason], KMeansConvergedReasons[want->reason], is->best, want->best);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case  cases[] = {{"random", PETSC_FALSE, PETSC_FALSE, KMEANS_START_RANDOM, KMEANS_EMPTY_FARTHEST, 1, "brute"},
                         {"k-means++, restarts", PETSC_FALSE, PETSC_TRUE, KMEANS_START_PLUSPLUS, KMEANS_EMPTY_FARTHEST, 4, "elkan"},
                         {"k-means||, sparse", PETSC_TRUE, PETSC_FALSE, KMEANS_START_PARALLEL, KMEANS_EMPTY_SPLIT, 2, "yinyang"},
                         {"given, clusters dropped", PETSC_FALSE, PETSC_FALSE, KMEANS_START_GIVEN, KMEANS_EMPTY_DROP, 1, "hamerly"},
                         {"given, clusters replaced", PETSC_FALSE, PETSC_TRUE, KMEANS_START_GIVEN, KMEANS_EMPTY_FARTHEST, 1, "brute"},
                         {"given, clusters kept", PETSC_TRUE, PETSC_TRUE, KMEANS_START_GIVEN, KMEANS_EMPTY_KEEP, 1, "brute"},
                         {"batches", PETSC_FALSE, PETSC_TRUE, KMEANS_START_PLUSPLUS, KMEANS_EMPTY_FARTHEST, 2, "brute", 130},
                         {"batches, clusters dropped", PETSC_TRUE, PETSC_FALSE, KMEANS_START_GIVEN, KMEANS_EMPTY_DROP, 1, "brute", 60},
                         {"batches, clusters split", PETSC_FALSE, PETSC_FALSE, KMEANS_START_GIVEN, KMEANS_EMPTY_SPLIT, 1, "brute", 60}};
  MPI_Comm    comm;
  PetscMPIInt size, rank;
  char        file[FILE_NAME_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  comm = PETSC_COMM_WORLD;
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscSNPrintf(file, sizeof(file), "kmeans%d.checkpoint", (int)size));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    Result whole, part;
    Mat    X;
    Vec    w;

    PetscCall(CreatePoints(comm, cases[c].sparse, &X, &w));
    PetscCall(Solve(comm, &cases[c], X, w, 20, 0, NULL, NULL, &whole));
    for (PetscInt stop = 2; stop <= whole.calls; stop += 1 + stop / 8) {
      PetscCall(Solve(comm, &cases[c], X, w, 20, stop, file, NULL, NULL));
      PetscCall(Solve(comm, &cases[c], X, w, 20, 0, NULL, file, &part));
      PetscCall(CheckEqual(comm, cases[c].name, stop, &part, &whole));
      PetscCall(ResultDestroy(&part));
    }
    if (cases[c].restarts == 1 && whole.it > 4) { /* the maximum number of iterations ends the first solve */
      PetscCall(Solve(comm, &cases[c], X, w, 4, 0, file, NULL, &part));
      PetscCall(ResultDestroy(&part));
      PetscCall(Solve(comm, &cases[c], X, w, 20, 0, NULL, file, &part));
      PetscCall(CheckEqual(comm, cases[c].name, 0, &part, &whole));
      PetscCall(ResultDestroy(&part));
    }
    PetscCall(PetscPrintf(comm, "%s: %s after %" PetscInt_FMT " iterations, restart %" PetscInt_FMT " of %" PetscInt_FMT "\n", cases[c].name, KMeansConvergedReasons[whole.reason], whole.it, whole.best, whole.done));
    PetscCall(ResultDestroy(&whole));
    PetscCall(MatDestroy(&X));
    PetscCall(VecDestroy(&w));
  }
  if (!rank) (void)unlink(file);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 3}}

TEST*/
