static char help[] = "Divides points in the plane into clusters, prints the centroids, and assigns a new point.\n\n";

/*
  Build it with the installed library:

    mpicc ex_kmeans.c -o ex_kmeans $(pkg-config --cflags --libs gpucsr) $(pkg-config --variable=rpath gpucsr) -lm

  Run it:

    ./ex_kmeans
    mpiexec -n 2 ./ex_kmeans -kmeans_restarts 5 -kmeans_monitor
    ./ex_kmeans -kmeans_assign elkan -kmeans_view
*/
#include <gpucsr.h>
#include <gpucsrkmeans.h>

/* Point i lies near one of the corners (0, 0), (10, 0), (0, 10) and (10, 10). */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscInt N, Mat *points)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, N, 2, NULL, points)); /* a sparse matrix will do too */
  PetscCall(MatGetOwnershipRange(*points, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatSetValue(*points, i, 0, 10 * (i % 2) + (i * 13 % 32) / 16., INSERT_VALUES));
    PetscCall(MatSetValue(*points, i, 1, 10 * (i / 2 % 2) + (i * 5 % 32) / 16., INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*points, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*points, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Prints the centroids and the inertia. All ranks have all centroids. */
static PetscErrorCode PrintResult(KMeans km)
{
  Mat                   centroids;
  PetscInt              k, d, it;
  PetscReal             inertia;
  KMeansConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KMeansGetConvergedReason(km, &reason));
  PetscCall(KMeansGetIterationNumber(km, &it));
  PetscCall(KMeansGetInertia(km, &inertia));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations, inertia %g\n", KMeansConvergedReasons[reason], it, (double)inertia));
  PetscCall(KMeansGetCentroids(km, &centroids));
  PetscCall(MatGetSize(centroids, &k, &d));
  for (PetscInt c = 0; c < k; c++) {
    PetscInt    column[2] = {0, 1};
    PetscScalar m[2];

    PetscCall(MatGetValues(centroids, 1, &c, 2, column, m));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "centroid %" PetscInt_FMT ": %.4f %.4f\n", c, (double)PetscRealPart(m[0]), (double)PetscRealPart(m[1])));
  }
  PetscCall(MatDestroy(&centroids));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  KMeans          km;
  Mat             points, added;
  IS              labels;
  const PetscInt *label;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize()); /* reads the options of the library, for example -gpucsr_device */
  PetscCall(CreatePoints(PETSC_COMM_WORLD, 1000, &points));

  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(KMeansSetPoints(km, points));
  PetscCall(KMeansSetClusters(km, 4));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansSolve(km));
  PetscCall(PrintResult(km));

  PetscCall(CreatePoints(PETSC_COMM_WORLD, 3, &added));
  PetscCall(KMeansPredict(km, added, &labels)); /* one label for each local row */
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(ISGetIndices(labels, &label));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "new point: cluster %" PetscInt_FMT "\n", label[i]));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  PetscCall(ISRestoreIndices(labels, &label));

  PetscCall(ISDestroy(&labels));
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&added));
  PetscCall(MatDestroy(&points));
  PetscCall(PetscFinalize());
  return 0;
}
