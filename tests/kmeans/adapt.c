static char help[] = "KMeans: auto changes the assignment where error bounds exclude too few centroids; results are those of the definition.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>

#define N 1200
#define D 40 /* more features than `direct` supports */

/* The results of a solve. */
typedef struct {
  PetscReal   inertia;
  PetscInt    it, restart, from; /* restart, from: restart and first iteration after the change of the assignment */
  PetscInt64  distances;
  const char *assign, *before;
  Mat         centroids;
  IS          labels;
} Result;

/* Creates points and moves every second one by `far`. If `far` is large, the differences between the points of a group are below the rounding error of single precision. */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscReal far, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, N, D, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < D; j++) {
      const PetscReal v = (PetscReal)(i + 1) * 0.6180339887498949 + (PetscReal)((i + 3) * (j + 1) % 1009) * 0.4142135623730951;

      PetscCall(MatSetValue(*X, i, j, v - PetscFloorReal(v) + (i % 2 ? far : 0), INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat X, PetscInt k, PetscInt restarts, const char assign[], KMeans *km)
{
  PetscFunctionBegin;
  PetscCall(KMeansCreate(PetscObjectComm((PetscObject)X), km));
  PetscCall(KMeansSetPoints(*km, X));
  PetscCall(KMeansSetClusters(*km, k));
  PetscCall(KMeansSetRestarts(*km, restarts));
  PetscCall(KMeansSetAssign(*km, assign));
  PetscCall(KMeansSetFromOptions(*km)); /* with -kmeans_monitor the host moves the centroids in each iteration, also on a GPU */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KMeans km, Result *r)
{
  PetscFunctionBegin;
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, &r->inertia));
  PetscCall(KMeansGetIterationNumber(km, &r->it));
  PetscCall(KMeansGetDistances(km, &r->distances, NULL));
  PetscCall(KMeansGetAssign(km, &r->assign));
  PetscCall(KMeansGetAssignChange(km, &r->before, &r->restart, &r->from));
  PetscCall(KMeansGetCentroids(km, &r->centroids));
  PetscCall(KMeansGetLabels(km, &r->labels));
  PetscCall(PetscObjectReference((PetscObject)r->labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares result r with the expected one and destroys r. changed: true if the assignment must have changed, false if it must not. */
static PetscErrorCode Check(const char name[], Result *r, const Result *expected, PetscBool changed)
{
  PetscBool labels, centroids;

  PetscFunctionBegin;
  PetscCall(ISEqual(r->labels, expected->labels, &labels));
  PetscCall(MatEqual(r->centroids, expected->centroids, &centroids));
  PetscCheck(labels && centroids && r->inertia == expected->inertia && r->it == expected->it, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s labels, %s centroids, inertia %.17g and not %.17g, %" PetscInt_FMT " and not %" PetscInt_FMT " iterations", name,
             labels ? "the same" : "other", centroids ? "the same" : "other", (double)r->inertia, (double)expected->inertia, r->it, expected->it);
  PetscCheck((PetscBool) !!r->before == changed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the assignment %s changed to %s", name, r->before ? "has" : "has not", r->assign);
  if (changed) PetscCheck(!strcmp(r->assign, "yinyang") && (!strcmp(r->before, "tiled") || !strcmp(r->before, "tensor")), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the assignment has changed from %s to %s", name, r->before, r->assign);
  PetscCall(ISDestroy(&r->labels));
  PetscCall(MatDestroy(&r->centroids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that two solves of one object take the same steps. */
static PetscErrorCode CheckTwice(Mat X, PetscInt k, PetscInt restarts, const Result *expected)
{
  KMeans km;
  Result first, second;

  PetscFunctionBegin;
  PetscCall(Create(X, k, restarts, "auto", &km));
  PetscCall(Solve(km, &first));
  PetscCheck(first.restart == 0 && first.from > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The assignment changed in iteration %" PetscInt_FMT " of restart %" PetscInt_FMT, first.from, first.restart);
  PetscCall(Solve(km, &second));
  PetscCheck(first.from == second.from && first.distances == second.distances, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The assignment of two equal solves changed in iterations %" PetscInt_FMT " and %" PetscInt_FMT " and evaluated %" PetscInt64_FMT " and %" PetscInt64_FMT " distances", first.from, second.from, first.distances, second.distances);
  PetscCall(Check("auto", &first, expected, PETSC_TRUE));
  PetscCall(Check("auto, second solve", &second, expected, PETSC_TRUE));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops a solve soon after its assignment has changed, and continues from its checkpoint. Checks that the result is that of a solve without interruption. The second part
   may change its assignment or not. */
static PetscErrorCode CheckResumed(Mat X, PetscInt k, const Result *expected)
{
  const char file[] = "adapt.checkpoint";
  KMeans     km;
  Result     r;
  PetscInt   it;

  PetscFunctionBegin;
  PetscCall(Create(X, k, 1, "auto", &km));
  PetscCall(KMeansSetCheckpoint(km, file, 3));
  PetscCall(Solve(km, &r));
  it = r.from;
  PetscCall(Check("auto with checkpoints", &r, expected, PETSC_TRUE));
  PetscCall(KMeansSetTolerances(km, 0, 0, it + 1));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansDestroy(&km));
  PetscCall(Create(X, k, 1, "auto", &km));
  PetscCall(KMeansSetRestart(km, file));
  PetscCall(Solve(km, &r));
  PetscCall(Check("auto from a checkpoint", &r, expected, (PetscBool) !!r.before));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with `brute`, which is the definition. Checks that `auto` changes its assignment, that `tiled` by option does not, and that all results are equal. */
static PetscErrorCode Compare(Mat X, PetscInt k, PetscInt restarts)
{
  KMeans km;
  Result expected, r;

  PetscFunctionBegin;
  PetscCall(Create(X, k, restarts, "brute", &km));
  PetscCall(Solve(km, &expected));
  PetscCall(KMeansDestroy(&km));
  PetscCall(CheckTwice(X, k, restarts, &expected));
  if (restarts == 1) PetscCall(CheckResumed(X, k, &expected));
  PetscCall(Create(X, k, restarts, "tiled", &km));
  PetscCall(Solve(km, &r));
  PetscCall(Check("tiled", &r, &expected, PETSC_FALSE));
  PetscCall(KMeansDestroy(&km));
  PetscCall(ISDestroy(&expected.labels));
  PetscCall(MatDestroy(&expected.centroids));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)X), "%" PetscInt_FMT " clusters, %" PetscInt_FMT " restarts: equal\n", k, restarts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat         X;
  KMeans      km;
  const char *before;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreatePoints(PETSC_COMM_WORLD, 1e6, &X));
  PetscCall(Compare(X, 30, 1));
  PetscCall(Compare(X, 70, 1));
  PetscCall(Compare(X, 30, 3));
  PetscCall(MatDestroy(&X));
  PetscCall(CreatePoints(PETSC_COMM_WORLD, 0, &X));
  PetscCall(Create(X, 70, 1, "auto", &km));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetAssignChange(km, &before, NULL, NULL));
  PetscCheck(!before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The assignment changes for ordinary points");
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 3}}

TEST*/
