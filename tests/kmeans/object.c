static char help[] = "The object KMeans: statistics of a solve, sequences of calls, errors of the caller.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrdevice.h>
#include <gpucsrkmeans.h>

/* Creates n points with d features in five groups. */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscInt n, PetscInt d, PetscBool sparse, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, n, d));
  PetscCall(MatSetType(*X, sparse ? MATAIJ : MATDENSE));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < d; j++)
      if (!sparse || j == i % d || (i + j) % 3) PetscCall(MatSetValue(*X, i, j, (PetscScalar)(8 * ((i * 7 + j) % 5) + (i * (j + 3) * 37) % 101 / 32.), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The statistics of solves. */
static PetscErrorCode CheckStatistics(MPI_Comm comm)
{
  const PetscInt n = 600, d = 3;
  Mat            X;
  KMeans         km;
  PetscLogDouble start, assign, update, first, second;
  PetscInt       done, best, least = 0;
  PetscReal      inertia, each[6];
  KMeansStorage  storage;
  KMeansStart    how;
  const char    *name;
  GpDev          dev;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, n, d, PETSC_FALSE, &X));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, 7));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(KMeansSetSeed(km, 2));
  PetscCall(KMeansGetAssign(km, &name));
  PetscCall(PetscPrintf(comm, "assignment %s before the set-up", name));
  PetscCall(KMeansSetAssign(km, "yinyang"));
  PetscCall(KMeansSetUpdate(km, "fixed")); /* auto depends on the device */
  PetscCall(KMeansSetUp(km));
  PetscCall(KMeansGetAssign(km, &name));
  PetscCall(PetscPrintf(comm, ", %s after it, update ", name));
  PetscCall(KMeansGetUpdate(km, &name));
  PetscCall(KMeansGetStart(km, &how));
  PetscCall(KMeansGetStorage(km, &storage));
  PetscCall(PetscPrintf(comm, "%s, start %s, storage %s\n", name, KMeansStarts[how], KMeansStorages[storage]));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetTimes(km, &start, &assign, &update));
  PetscCall(KMeansGetBytesCopied(km, &first));
  PetscCheck(start > 0 && assign > 0 && update > 0, comm, PETSC_ERR_PLIB, "seconds of start %g, assignment %g, update %g", start, assign, update);
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetBytesCopied(km, &second));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  if (GpDevKindOf(dev) == GP_DEV_HOST) PetscCheck(first == 0 && second == 0, comm, PETSC_ERR_PLIB, "%g and %g bytes copied on the host", first, second);
  else PetscCheck(first - second >= n * d * 4 && second >= n * 4, comm, PETSC_ERR_PLIB, "%g bytes copied by the solve that copies the points, %g by the next", first, second);
  PetscCall(KMeansSetRestarts(km, 6));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetRestarts(km, &done, &best));
  for (PetscInt r = 0; r < 6; r++) { /* restart r is the last of r + 1 restarts */
    PetscInt now;

    PetscCall(KMeansSetRestarts(km, r + 1));
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetInertia(km, &each[r]));
    PetscCall(KMeansGetRestarts(km, NULL, &now));
    PetscCheck(r == 0 ? now == 0 : now == (each[r] < each[r - 1] ? r : least), comm, PETSC_ERR_PLIB, "restart %" PetscInt_FMT " of %" PetscInt_FMT " is called the best", now, r + 1);
    least = now;
  }
  PetscCheck(done == 6 && best == least, comm, PETSC_ERR_PLIB, "%" PetscInt_FMT " restarts, the best %" PetscInt_FMT " and not %" PetscInt_FMT, done, best, least);
  PetscCall(KMeansGetInertia(km, &inertia));
  PetscCall(PetscPrintf(comm, "the best of %" PetscInt_FMT " restarts is number %" PetscInt_FMT ", inertia %.10g\n", done, best, (double)inertia));
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CheckStatistics(PETSC_COMM_WORLD));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2 4}}

TEST*/
