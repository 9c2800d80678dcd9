static char help[] = "KMeans: restarts that a GPU iterates together give the bits of restarts one after another, for every size of the batches.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "results.h"

#define RESTARTS 7

typedef struct {
  const char   *name;
  PetscInt      n, d, k, max_it, values; /* values: number of different values of a feature; 0: many */
  PetscReal     rtol, stol;
  KMeansEmpty   empty;
  KMeansStart   start;
  KMeansStorage storage;
  PetscBool     weights;
} Case;

static PetscErrorCode CreatePoints(const Case *test, Mat *X, Vec *w)
{
  PetscFunctionBegin;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, NULL, X));
  for (PetscInt i = 0; i < test->n; i++) {
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*X, i, j, test->values ? PetscFloorReal(test->values * Uniform(i, j)) : Uniform(i, j) + Uniform(i % 7, j + test->d), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  *w = NULL;
  if (test->weights) PetscCall(CreateWeights(*X, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks how many restarts were iterated together. most: argument of KMeansSetRestartBatch(). */
static PetscErrorCode CheckBatch(KMeans km, const Case *test, PetscInt most)
{
  const char *device;
  PetscBool   monitor;
  PetscInt    together, expected = 1;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-kmeans_monitor", &monitor));
  if (strcmp(device, "host") && !monitor) { /* batches of nearly equal sizes */
    if (most == 2) expected = 2;
    if (most == 5) expected = 4;
    if (most == PETSC_DECIDE) expected = RESTARTS;
  }
  PetscCall(KMeansGetRestartBatch(km, &together));
  PetscCheck(together == expected || (most == PETSC_DECIDE && test->n > 1000 && together > 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: batches of up to %" PetscInt_FMT " restarts, not of %" PetscInt_FMT, test->name, together, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with RESTARTS restarts, and then, with the same object and another seed, with three. */
static PetscErrorCode Solve(const Case *test, Mat X, Vec w, const char assign[], const char update[], PetscInt most, Result result[2])
{
  KMeans km;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, test->k));
  PetscCall(KMeansSetStorage(km, test->storage));
  PetscCall(KMeansSetStart(km, test->start));
  PetscCall(KMeansSetEmpty(km, test->empty));
  PetscCall(KMeansSetTolerances(km, test->rtol, test->stol, test->max_it));
  PetscCall(KMeansSetAssign(km, assign));
  PetscCall(KMeansSetUpdate(km, update));
  PetscCall(KMeansSetRestarts(km, RESTARTS));
  PetscCall(KMeansSetRestartBatch(km, most));
  PetscCall(KMeansSetFromOptions(km)); /* -kmeans_monitor: on a GPU the host takes part in each iteration */
  PetscCall(KMeansSolve(km));
  PetscCall(CheckBatch(km, test, most));
  PetscCall(GetResult(km, &result[0]));
  PetscCall(KMeansSetRestarts(km, 3));
  PetscCall(KMeansSetSeed(km, 5));
  PetscCall(KMeansSolve(km));
  PetscCall(GetResult(km, &result[1]));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares batches of several sizes with restarts one after another. */
static PetscErrorCode Compare(const Case *test, Mat X, Vec w, const char assign[], const char update[])
{
  const PetscInt most[] = {2, 5, PETSC_DECIDE};
  Result         alone[2], now[2];
  char           what[128];

  PetscFunctionBegin;
  PetscCall(Solve(test, X, w, assign, update, 1, alone));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(most); m++) {
    PetscCall(Solve(test, X, w, assign, update, most[m], now));
    for (int s = 0; s < 2; s++) {
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s, batches of %" PetscInt_FMT ", solve %d", test->name, assign, update, most[m], s));
      PetscCall(CompareResults(what, &alone[s], &now[s], PETSC_TRUE));
    }
    PetscCall(ResultsDestroy(2, now));
  }
  PetscCall(ResultsDestroy(2, alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const assigns[] = {"direct", "tensor", "cells"}, *const updates[] = {"fixed", "changed"};
  const Case cases[] = {{.name = "2 features", .n = 1000, .d = 2, .k = 24, .max_it = 300, .start = KMEANS_START_PLUSPLUS},
                        {.name = "one feature, weights", .n = 1000, .d = 1, .k = 5, .max_it = 300, .weights = PETSC_TRUE, .start = KMEANS_START_RANDOM},
                        {.name = "9 features", .n = 3000, .d = 9, .k = 100, .max_it = 300, .start = KMEANS_START_PLUSPLUS},
                        {.name = "32 features, double precision", .n = 900, .d = 32, .k = 9, .max_it = 300, .storage = KMEANS_STORAGE_DOUBLE, .start = KMEANS_START_RANDOM},
                        {.name = "k-means||, tolerances", .n = 1000, .d = 3, .k = 7, .max_it = 300, .rtol = 0.01, .stol = 0.05, .start = KMEANS_START_PARALLEL},
                        {.name = "few iterations", .n = 1000, .d = 4, .k = 11, .max_it = 6, .weights = PETSC_TRUE, .start = KMEANS_START_RANDOM},
                        {.name = "one cluster", .n = 900, .d = 3, .k = 1, .max_it = 300, .start = KMEANS_START_RANDOM},
                        {.name = "few points", .n = 40, .d = 5, .k = 33, .max_it = 300, .start = KMEANS_START_RANDOM},
                        {.name = "empty clusters farthest", .n = 1000, .d = 2, .k = 20, .max_it = 300, .values = 5, .empty = KMEANS_EMPTY_FARTHEST, .start = KMEANS_START_RANDOM},
                        {.name = "empty clusters split, weights", .n = 1000, .d = 3, .k = 30, .max_it = 300, .values = 4, .weights = PETSC_TRUE, .empty = KMEANS_EMPTY_SPLIT, .start = KMEANS_START_RANDOM},
                        {.name = "empty clusters keep", .n = 1000, .d = 2, .k = 20, .max_it = 300, .values = 5, .empty = KMEANS_EMPTY_KEEP, .start = KMEANS_START_RANDOM},
                        {.name = "empty clusters drop", .n = 1000, .d = 3, .k = 30, .max_it = 300, .values = 4, .empty = KMEANS_EMPTY_DROP, .start = KMEANS_START_RANDOM}};
  PetscInt   every   = 1; /* one of so many cases is tested */
  Mat        X;
  Vec        w;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c += (size_t)every) {
    PetscCall(CreatePoints(&cases[c], &X, &w));
    for (int a = 0; a < (cases[c].d <= 4 ? 3 : 2); a++)
      for (int u = 0; u < 2; u++) PetscCall(Compare(&cases[c], X, w, assigns[a], updates[u]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal\n", cases[c].name));
    PetscCall(MatDestroy(&X));
    PetscCall(VecDestroy(&w));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1

TEST*/
