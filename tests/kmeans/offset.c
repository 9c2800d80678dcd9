static char help[] = "KMeans: the inertia of points whose distances are tiny beside their values.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "points.h"

typedef struct {
  const char   *name;
  PetscReal     step; /* the values are multiples of it, so that 2^20 + value is exact */
  PetscBool     weights, given;
  KMeansStorage storage;
} Case;

enum {
  N = 900, /* points */
  D = 3,   /* features */
  K = 4    /* clusters */
};

/* The values 2^20 + m * step with integers m, as different as single precision of 2^20 allows if step is 1/8. */
static PetscReal Value(const Case *test, PetscInt i, PetscInt j)
{
  return 0x1p20 + test->step * (PetscReal)(int)(64 * (Uniform(i, j) + 2 * Uniform(i % K, j + D)));
}

static PetscErrorCode CreatePoints(MPI_Comm comm, const Case *test, PetscInt n, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, n, D, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < D; j++) PetscCall(MatSetValue(*X, i, j, Value(test, i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inertia by its definition, from the labels and centroids of the solver. The differences of values and centroids are exact, or nearly so. */
static PetscErrorCode Inertia(MPI_Comm comm, const Case *test, KMeans km, Vec w, PetscReal *inertia)
{
  IS                 labels;
  Mat                centroids, all;
  const PetscInt    *label;
  const PetscScalar *weight = NULL, *m;
  PetscInt           n, first = 0;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(KMeansGetCentroids(km, &centroids));
  PetscCall(MatCreateRedundantMatrix(centroids, 0, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, &all));
  PetscCall(MatDenseGetArrayRead(all, &m));
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(ISGetIndices(labels, &label));
  if (w) PetscCall(VecGetArrayRead(w, &weight));
  PetscCallMPI(MPI_Exscan(&n, &first, 1, MPIU_INT, MPI_SUM, comm));
  *inertia = 0;
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j < D; j++) *inertia += (weight ? weight[i] : 1) * PetscSqr(Value(test, first + i, j) - m[label[i] + K * j]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, inertia, 1, MPIU_REAL, MPIU_SUM, comm));
  if (w) PetscCall(VecRestoreArrayRead(w, &weight));
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCall(MatDenseRestoreArrayRead(all, &m));
  PetscCall(MatDestroy(&all));
  PetscCall(MatDestroy(&centroids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(MPI_Comm comm, const Case *test)
{
  KMeans    km;
  Mat       X, start;
  Vec       w = NULL;
  PetscReal expected, inertia;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, test, N, &X));
  PetscCall(CreatePoints(comm, test, K, &start));
  if (test->given) PetscCall(MatScale(start, 1 + 0x1p-24)); /* centroids outside of the range of the points */
  if (test->weights) PetscCall(CreateWeights(X, &w));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, K));
  PetscCall(KMeansSetStorage(km, test->storage));
  PetscCall(KMeansSetStartCentroids(km, start));
  PetscCall(KMeansSetTolerances(km, 0, 0, test->given ? 1 : 20));
  PetscCall(KMeansSetEmpty(km, KMEANS_EMPTY_KEEP));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, &inertia));
  PetscCall(Inertia(comm, test, km, w, &expected));
  PetscCheck(PetscAbsReal(inertia - expected) <= 1e-9 * expected, comm, PETSC_ERR_PLIB, "%s: the inertia is %.17g, not %.17g", test->name, (double)inertia, (double)expected);
  PetscCall(PetscPrintf(comm, "%s: right\n", test->name));
  PetscCall(KMeansDestroy(&km));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&start));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{.name = "single precision", .step = 0x1p-3, .storage = KMEANS_STORAGE_SINGLE},
                        {.name = "double precision", .step = 0x1p-20, .storage = KMEANS_STORAGE_DOUBLE},
                        {.name = "weights", .step = 0x1p-20, .storage = KMEANS_STORAGE_DOUBLE, .weights = PETSC_TRUE},
                        {.name = "values that rounding of the means makes equal", .step = 0x1p-32, .storage = KMEANS_STORAGE_DOUBLE},
                        {.name = "start outside", .step = 0x1p-20, .storage = KMEANS_STORAGE_DOUBLE, .given = PETSC_TRUE}};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) PetscCall(Compare(PETSC_COMM_WORLD, &cases[c]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 3}}
     args: -kmeans_update {{auto fixed host}}
     output_file: output/offset_1.out

TEST*/
