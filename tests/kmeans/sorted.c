static char help[] = "KMeans: the update sort gives the bits of fixed for many points, whose values have all sizes.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "results.h"

typedef struct {
  const char   *name;
  PetscInt      n, d, k;
  KMeansStorage storage;
} Case;

/* Values whose integers are exact, are rounded, do not fit single precision as their scale does not, are all zero, or far apart. */
static PetscReal Value(PetscInt i, PetscInt j)
{
  const PetscReal u = Uniform(i, j);

  switch (j % 6) {
  case 0:
    return 2 * u - 1;
  case 1:
    return (PetscReal)(float)(i % 97 ? ldexp(u - 0.5, -24 - (int)(i % 9)) : u);
  case 2:
    return (PetscReal)(float)(1e-36 * u);
  case 3:
    return 0;
  case 4:
    return i % 2 ? u : 0x1.fffffep-1;
  default:
    return (PetscReal)(float)((u - 0.5) * exp(-40 * Uniform(i, j + 1000)));
  }
}

static PetscErrorCode Solve(const Case *test, Mat X, const char update[], Result *result)
{
  KMeans km;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, test->k));
  PetscCall(KMeansSetStorage(km, test->storage));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(KMeansSetEmpty(km, KMEANS_EMPTY_KEEP));
  PetscCall(KMeansSetTolerances(km, 0, 0, 3));
  PetscCall(KMeansSetAssign(km, "tiled"));
  PetscCall(KMeansSetUpdate(km, update));
  PetscCall(KMeansSolve(km));
  PetscCall(GetResult(km, result));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* with more than 2^21 points a sum has two words; the fast sums on a GPU need more than 2^15 points */
  const Case cases[] = {{"8 features", 70001, 8, 37, KMEANS_STORAGE_SINGLE},
                        {"few points", 32768, 8, 5, KMEANS_STORAGE_SINGLE},
                        {"132 features", 40003, 132, 6, KMEANS_STORAGE_SINGLE},
                        {"two words", 2100001, 4, 3, KMEANS_STORAGE_SINGLE},
                        {"double precision", 40003, 8, 9, KMEANS_STORAGE_DOUBLE}};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    const Case  *test = &cases[c];
    Mat          X;
    PetscScalar *a;
    PetscInt     start, end, lda;
    Result       result[2];

    PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, NULL, &X));
    PetscCall(MatGetOwnershipRange(X, &start, &end));
    PetscCall(MatDenseGetLDA(X, &lda));
    PetscCall(MatDenseGetArrayWrite(X, &a));
    for (PetscInt j = 0; j < test->d; j++)
      for (PetscInt i = start; i < end; i++) a[i - start + (size_t)j * lda] = Value(i, j);
    PetscCall(MatDenseRestoreArrayWrite(X, &a));
    PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
    PetscCall(Solve(test, X, "fixed", &result[0]));
    PetscCall(Solve(test, X, "sort", &result[1]));
    PetscCall(CompareResults(test->name, &result[0], &result[1], PETSC_TRUE));
    PetscCall(ResultsDestroy(2, result));
    PetscCall(MatDestroy(&X));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal\n", test->name));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2}}

TEST*/
