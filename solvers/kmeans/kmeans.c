/* The KMeans object: creation, data, reset, destruction and results. The settings are in kmeansset.c. */
#include "kmeansimpl.h"

PetscClassId  KMEANS_CLASSID;
PetscLogEvent KMEANS_SolveEvent, KMEANS_StartEvent, KMEANS_AssignEvent, KMEANS_UpdateEvent, KMEANS_LoopEvent;

static PetscBool KMeansPackageInitialized = PETSC_FALSE;

/*@C
  KMeansFinalizePackage - Forgets that the class is registered; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `KMeansInitializePackage()`
@*/
PetscErrorCode KMeansFinalizePackage(void)
{
  PetscFunctionBegin;
  KMeansPackageInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansInitializePackage - Registers the class and the log events of the solver; `KMeansCreate()` calls it

  Not Collective

  Level: developer

.seealso: `KMeansFinalizePackage()`, `KMeansCreate()`
@*/
PetscErrorCode KMeansInitializePackage(void)
{
  PetscFunctionBegin;
  if (KMeansPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  KMeansPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("KMeans", &KMEANS_CLASSID));
  PetscCall(PetscLogEventRegister("KMeansSolve", KMEANS_CLASSID, &KMEANS_SolveEvent));
  PetscCall(PetscLogEventRegister("KMeansStart", KMEANS_CLASSID, &KMEANS_StartEvent));
  PetscCall(PetscLogEventRegister("KMeansAssign", KMEANS_CLASSID, &KMEANS_AssignEvent));
  PetscCall(PetscLogEventRegister("KMeansUpdate", KMEANS_CLASSID, &KMEANS_UpdateEvent));
  PetscCall(PetscLogEventRegister("KMeansLoop", KMEANS_CLASSID, &KMEANS_LoopEvent));
  PetscCall(PetscRegisterFinalize(KMeansFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansCreate - Creates a solver that divides the rows of a matrix into clusters

  Collective

  Input Parameter:
. comm - the communicator, the same as that of the points

  Output Parameter:
. newkm - the solver

  Level: beginner

  Notes:
  The first call calls `PetscGPUCSRInitialize()`, which is collective on `PETSC_COMM_WORLD`. Call it before if only some ranks create a solver.

  The default is 8 clusters, Euclidean distances, and a start by k-means++.

  The labels are exact: a point belongs to the centroid with the least distance, computed in double precision; the lowest number wins a tie. Sums are
  integers, so the result has the same bits on the host, on a GPU, and on any number of ranks.

.seealso: `KMeansSetPoints()`, `KMeansSetClusters()`, `KMeansSetFromOptions()`, `KMeansSolve()`, `KMeansDestroy()`
@*/
PetscErrorCode KMeansCreate(MPI_Comm comm, KMeans *newkm)
{
  KMeans km;

  PetscFunctionBegin;
  KMeansCheckPointer(newkm, 2);
  *newkm = NULL;
  PetscCall(PetscGPUCSRInitialize()); /* reads -gpucsr_device */
  PetscCall(KMeansInitializePackage());
  PetscCall(PetscHeaderCreate(km, KMEANS_CLASSID, "KMeans", "Clusters of points", "KMeans", comm, KMeansDestroy, KMeansView));
  km->k                = 8;
  km->assign           = KMEANS_AUTO;
  km->update           = KMEANS_AUTO;
  km->start            = KMEANS_START_PLUSPLUS;
  km->restarts         = 1;
  km->max_it           = 300;
  km->checkpoint_every = 10;
  km->reduce           = KMEANS_REDUCE_AUTO;
  km->stream.chunk = km->stream.resident = PETSC_DECIDE;
  *newkm                                 = km;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansReset - Frees the points on the device and the results, and releases the matrices; keeps the settings

  Collective

  Input Parameter:
. km - the solver

  Level: advanced

.seealso: `KMeansSetPoints()`, `KMeansDestroy()`
@*/
PetscErrorCode KMeansReset(KMeans km)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansPointsDestroy_Private(&km->points));
  PetscCall(KMeansBatchesDestroy_Private(&km->batches));
  PetscCall(KMeansRestartsDestroy_Private(&km->ahead));
  PetscCall(PetscFree3(km->centroid, km->best, km->tally));
  PetscCall(PetscFree2(km->saved.run, km->saved.centroid));
  PetscCall(KMeansLabelsDestroy_Private(km));
  PetscCall(MatDestroy(&km->X));
  PetscCall(MatDestroy(&km->given));
  PetscCall(VecDestroy(&km->weights));
  km->setup     = PETSC_FALSE;
  km->reason    = KMEANS_CONVERGED_ITERATING;
  km->inertia   = 0;
  km->it        = 0;
  km->done      = 0;
  km->distances = km->rechecked = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansDestroy - Destroys the solver

  Collective

  Input Parameter:
. km - the solver

  Level: beginner

.seealso: `KMeansCreate()`, `KMeansReset()`
@*/
PetscErrorCode KMeansDestroy(KMeans *km)
{
  PetscFunctionBegin;
  if (!*km) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(*km, KMEANS_CLASSID, 1);
  if (--((PetscObject)*km)->refct > 0) {
    *km = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KMeansReset(*km));
  PetscCall(KMeansMonitorCancel(*km));
  PetscCall(PetscHeaderDestroy(km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetPoints - Sets the points to be clustered

  Collective

  Input Parameters:
+ km - the solver
- X  - the points, one per row: a dense matrix, or any matrix with `MatGetRow()`, which is treated as sparse

  Level: beginner

  Note:
  The next solve copies the points. It copies them again if the matrix has changed since.

.seealso: `KMeansSetWeights()`, `KMeansSetClusters()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetPoints(KMeans km, Mat X)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidHeaderSpecific(X, MAT_CLASSID, 2);
  PetscCheckSameComm(km, 1, X, 2);
  PetscCall(PetscObjectReference((PetscObject)X));
  PetscCall(MatDestroy(&km->X));
  km->X     = X;
  km->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetWeights - Sets the weights of the points

  Collective

  Input Parameters:
+ km - the solver
- w  - one nonnegative weight per point, distributed like the rows of the points; `NULL`: all weights are 1

  Level: intermediate

.seealso: `KMeansSetPoints()`
@*/
PetscErrorCode KMeansSetWeights(KMeans km, Vec w)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (w) PetscValidHeaderSpecific(w, VEC_CLASSID, 2);
  PetscCall(PetscObjectReference((PetscObject)w));
  PetscCall(VecDestroy(&km->weights));
  km->weights = w;
  km->setup   = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetCentroids - Gets the centroids

  Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameter:
. centroids - a new sequential dense matrix with one centroid per row, equal on all ranks; the caller destroys it

  Level: beginner

  Note:
  With `KMEANS_EMPTY_DROP` there may be fewer rows than clusters requested.

.seealso: `KMeansGetLabels()`, `KMeansGetInertia()`
@*/
PetscErrorCode KMeansGetCentroids(KMeans km, Mat *centroids)
{
  const PetscInt d = km->points.data.d;
  PetscScalar   *a;
  PetscInt       lda;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(centroids, 2);
  PetscCheck(km->solved, PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_WRONGSTATE, "There are no centroids before KMeansSolve()");
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, km->kept, d, NULL, centroids));
  PetscCall(MatDenseGetLDA(*centroids, &lda));
  PetscCall(MatDenseGetArrayWrite(*centroids, &a));
  for (PetscInt c = 0; c < km->kept; c++)
    for (PetscInt j = 0; j < d; j++) a[c + j * lda] = km->centroid[c * d + j];
  PetscCall(MatDenseRestoreArrayWrite(*centroids, &a));
  PetscCall(MatAssemblyBegin(*centroids, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*centroids, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetLabels - Gets the cluster of each point

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameter:
. labels - the number of the cluster of each local point; the solver owns the index set

  Level: beginner

.seealso: `KMeansGetCentroids()`, `KMeansPredict()`
@*/
PetscErrorCode KMeansGetLabels(KMeans km, IS *labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(labels, 2);
  PetscCheck(km->solved, PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_WRONGSTATE, "There are no labels before KMeansSolve()");
  if (!km->labels) {
    PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)km), km->points.data.n, km->label, PETSC_OWN_POINTER, &km->labels));
    km->label = NULL;
  }
  *labels = km->labels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetInertia - Gets the sum over all points of weight times distance to the centroid of the label

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameter:
. inertia - the sum; the distance is squared, or 1 minus the cosine

  Level: beginner

.seealso: `KMeansGetCentroids()`, `KMeansSetMetric()`
@*/
PetscErrorCode KMeansGetInertia(KMeans km, PetscReal *inertia)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(inertia, 2);
  *inertia = km->inertia;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetIterationNumber - Gets the number of iterations of the last solve; of its best restart, if there were several

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. it - the number

  Level: beginner

.seealso: `KMeansGetConvergedReason()`
@*/
PetscErrorCode KMeansGetIterationNumber(KMeans km, PetscInt *it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(it, 2);
  *it = km->it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetConvergedReason - Gets the reason why the last solve stopped; that of its best restart, if there were several

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. reason - the reason

  Level: beginner

.seealso: `KMeansSetTolerances()`, `KMeansConvergedReason`
@*/
PetscErrorCode KMeansGetConvergedReason(KMeans km, KMeansConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(reason, 2);
  *reason = km->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetDistances - Gets how many distances the assignments of the last solve evaluated, on all ranks and in all restarts

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameters:
+ distances - the number of distances; `NULL` if not needed
- rechecked - the number of those that were evaluated again in double precision; `NULL` if not needed

  Level: advanced

.seealso: `KMeansSetAssign()`
@*/
PetscErrorCode KMeansGetDistances(KMeans km, PetscInt64 *distances, PetscInt64 *rechecked)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (distances) *distances = km->distances;
  if (rechecked) *rechecked = km->rechecked;
  PetscFunctionReturn(PETSC_SUCCESS);
}
