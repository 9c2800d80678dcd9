/* Public interface of KMeans: clusters the rows of a matrix. Results are exact and have the same bits on every backend and number of ranks. */
#ifndef GPUCSRKMEANS_H
#define GPUCSRKMEANS_H

/* MANSEC = KMeans */

#include <petscmat.h>
#include "gpucsrkmeanstypes.h"

/*S
  KMeans - Divides points, the rows of a matrix, into clusters around centroids

  Level: beginner

.seealso: `KMeansCreate()`, `KMeansSetPoints()`, `KMeansSolve()`, `KMeansDestroy()`
S*/
typedef struct _p_KMeans *KMeans;

/*S
  KMeansStreamInfo - State of streamed points, summed over all ranks

  Level: intermediate

.seealso: `KMeansGetStreamInfo()`, `KMeansSetStream()`
S*/
typedef struct {
  PetscBool      streamed;       /* PETSC_FALSE if the points are on the device; then all other members are 0 */
  PetscInt64     blocks;         /* number of blocks */
  PetscInt64     passes;         /* number of passes over all points since the set-up, the same on all ranks */
  PetscLogDouble bytes;          /* size of the points in host memory */
  PetscLogDouble pageable_bytes; /* size of the blocks that the system refused to pin, which are copied to pinned buffers in each pass */
  PetscLogDouble resident_bytes; /* size of the blocks that are on the device now */
  PetscLogDouble device_bytes;   /* device memory for resident blocks and buffers */
  PetscLogDouble moved;          /* bytes transferred to the device in all passes */
  PetscLogDouble moved_last;     /* bytes transferred to the device in the last pass */
  PetscLogDouble timed_bytes;    /* size of those transfers that were timed, a sample of all transfers */
  PetscLogDouble timed_seconds;  /* duration in seconds of the timed transfers */
  PetscLogDouble pin_seconds;    /* seconds of allocating and pinning host memory */
  PetscLogDouble wait_seconds;   /* seconds that the host waited for copies of pageable blocks */
} KMeansStreamInfo;

PETSC_EXTERN PetscClassId KMEANS_CLASSID;

PETSC_EXTERN const char *const        KMeansMetrics[];
PETSC_EXTERN const char *const        KMeansStarts[];
PETSC_EXTERN const char *const        KMeansEmpties[];
PETSC_EXTERN const char *const        KMeansStorages[];
PETSC_EXTERN const char *const        KMeansReduces[];
PETSC_EXTERN const char *const        KMeansStreams[];
PETSC_EXTERN const char *const *const KMeansConvergedReasons;

/* A monitor, called after every assignment. Arguments: the solver, the number of the iteration, the inertia, the number of labels that changed, the
   user's context. */
typedef PetscErrorCode (*KMeansMonitorFn)(KMeans, PetscInt, PetscReal, PetscInt64, void *);

PETSC_EXTERN PetscErrorCode KMeansInitializePackage(void);
PETSC_EXTERN PetscErrorCode KMeansFinalizePackage(void);

PETSC_EXTERN PetscErrorCode KMeansCreate(MPI_Comm, KMeans *);
PETSC_EXTERN PetscErrorCode KMeansSetPoints(KMeans, Mat);
PETSC_EXTERN PetscErrorCode KMeansSetWeights(KMeans, Vec);
PETSC_EXTERN PetscErrorCode KMeansSetClusters(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetAssign(KMeans, const char[]);
PETSC_EXTERN PetscErrorCode KMeansSetUpdate(KMeans, const char[]);
PETSC_EXTERN PetscErrorCode KMeansSetMetric(KMeans, KMeansMetric);
PETSC_EXTERN PetscErrorCode KMeansSetStart(KMeans, KMeansStart);
PETSC_EXTERN PetscErrorCode KMeansSetStartCentroids(KMeans, Mat);
PETSC_EXTERN PetscErrorCode KMeansSetEmpty(KMeans, KMeansEmpty);
PETSC_EXTERN PetscErrorCode KMeansSetStorage(KMeans, KMeansStorage);
PETSC_EXTERN PetscErrorCode KMeansSetReduce(KMeans, KMeansReduce);
PETSC_EXTERN PetscErrorCode KMeansSetStream(KMeans, KMeansStream);
PETSC_EXTERN PetscErrorCode KMeansSetStreamChunk(KMeans, PetscReal);
PETSC_EXTERN PetscErrorCode KMeansSetStreamResident(KMeans, PetscReal);
PETSC_EXTERN PetscErrorCode KMeansSetStreamBuffers(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetStreamThreads(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetSeed(KMeans, PetscInt64);
PETSC_EXTERN PetscErrorCode KMeansSetRestarts(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetRestartBatch(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetBatchSize(KMeans, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetTolerances(KMeans, PetscReal, PetscReal, PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetCheckpoint(KMeans, const char[], PetscInt);
PETSC_EXTERN PetscErrorCode KMeansSetRestart(KMeans, const char[]);
PETSC_EXTERN PetscErrorCode KMeansSetOptionsPrefix(KMeans, const char[]);
PETSC_EXTERN PetscErrorCode KMeansSetFromOptions(KMeans);
PETSC_EXTERN PetscErrorCode KMeansSetUp(KMeans);
PETSC_EXTERN PetscErrorCode KMeansSolve(KMeans);
PETSC_EXTERN PetscErrorCode KMeansPredict(KMeans, Mat, IS *);
PETSC_EXTERN PetscErrorCode KMeansReset(KMeans);
PETSC_EXTERN PetscErrorCode KMeansDestroy(KMeans *);

PETSC_EXTERN PetscErrorCode KMeansGetCentroids(KMeans, Mat *);
PETSC_EXTERN PetscErrorCode KMeansGetLabels(KMeans, IS *);
PETSC_EXTERN PetscErrorCode KMeansGetInertia(KMeans, PetscReal *);
PETSC_EXTERN PetscErrorCode KMeansGetIterationNumber(KMeans, PetscInt *);
PETSC_EXTERN PetscErrorCode KMeansGetConvergedReason(KMeans, KMeansConvergedReason *);
PETSC_EXTERN PetscErrorCode KMeansGetDistances(KMeans, PetscInt64 *, PetscInt64 *);
PETSC_EXTERN PetscErrorCode KMeansGetTimes(KMeans, PetscLogDouble *, PetscLogDouble *, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode KMeansGetBytesCopied(KMeans, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode KMeansGetRestarts(KMeans, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode KMeansGetRestartBatch(KMeans, PetscInt *);
PETSC_EXTERN PetscErrorCode KMeansGetAssign(KMeans, const char *[]);
PETSC_EXTERN PetscErrorCode KMeansGetAssignChange(KMeans, const char *[], PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode KMeansGetUpdate(KMeans, const char *[]);
PETSC_EXTERN PetscErrorCode KMeansGetBatchSize(KMeans, PetscInt *);
PETSC_EXTERN PetscErrorCode KMeansGetStart(KMeans, KMeansStart *);
PETSC_EXTERN PetscErrorCode KMeansGetMetric(KMeans, KMeansMetric *);
PETSC_EXTERN PetscErrorCode KMeansGetStorage(KMeans, KMeansStorage *);
PETSC_EXTERN PetscErrorCode KMeansGetReduce(KMeans, KMeansReduce *);
PETSC_EXTERN PetscErrorCode KMeansGetStreamInfo(KMeans, KMeansStreamInfo *);

PETSC_EXTERN PetscErrorCode KMeansMonitorSet(KMeans, KMeansMonitorFn, void *, PetscErrorCode (*)(void **));
PETSC_EXTERN PetscErrorCode KMeansMonitorCancel(KMeans);
PETSC_EXTERN PetscErrorCode KMeansView(KMeans, PetscViewer);
PETSC_EXTERN PetscErrorCode KMeansViewFromOptions(KMeans, PetscObject, const char[]);

#endif
