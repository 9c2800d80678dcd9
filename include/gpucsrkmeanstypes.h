/* Enumerations of KMeans: the part of its interface that does not need PETSc's headers. */
#ifndef GPUCSRKMEANSTYPES_H
#define GPUCSRKMEANSTYPES_H

/* MANSEC = KMeans */

/*E
  KMeansMetric - The distance of points and centroids

  Values:
+ `KMEANS_METRIC_EUCLIDEAN` - the sum of squared differences; a point gets the label of the least one
- `KMEANS_METRIC_COSINE`    - 1 minus the inner product of point and centroid, both scaled to norm 1; a point that is 0 raises an error

  Level: beginner

.seealso: `KMeansSetMetric()`
E*/
typedef enum {
  KMEANS_METRIC_EUCLIDEAN,
  KMEANS_METRIC_COSINE
} KMeansMetric;

/*E
  KMeansStart - How the first centroids are chosen

  Values:
+ `KMEANS_START_RANDOM`   - points drawn with a probability proportional to their weights, without repetition
. `KMEANS_START_PLUSPLUS` - k-means++: one point after another, with a probability proportional to weight times distance to the nearest point drawn before
. `KMEANS_START_PARALLEL` - k-means||: five rounds draw about 2k points each; a weighted k-means of these points gives k centroids
- `KMEANS_START_GIVEN`    - the matrix set by `KMeansSetStartCentroids()`

  Level: beginner

.seealso: `KMeansSetStart()`
E*/
typedef enum {
  KMEANS_START_RANDOM,
  KMEANS_START_PLUSPLUS,
  KMEANS_START_PARALLEL,
  KMEANS_START_GIVEN
} KMeansStart;

/*E
  KMeansEmpty - What happens to a cluster that no point belongs to

  Values:
+ `KMEANS_EMPTY_FARTHEST` - its centroid becomes the point that is farthest from its own centroid
. `KMEANS_EMPTY_SPLIT`    - the cluster with the largest inertia is split: the centroid becomes that cluster's farthest point
. `KMEANS_EMPTY_KEEP`     - its centroid stays where it is
. `KMEANS_EMPTY_DROP`     - the cluster is removed; there are fewer clusters than requested
- `KMEANS_EMPTY_ERROR`    - the solve stops with an error

  Level: intermediate

.seealso: `KMeansSetEmpty()`
E*/
typedef enum {
  KMEANS_EMPTY_FARTHEST,
  KMEANS_EMPTY_SPLIT,
  KMEANS_EMPTY_KEEP,
  KMEANS_EMPTY_DROP,
  KMEANS_EMPTY_ERROR
} KMeansEmpty;

/*E
  KMeansStorage - The precision in which points are stored on the device; sums are always double

  Values:
+ `KMEANS_STORAGE_AUTO`   - single if no value changes, otherwise double
. `KMEANS_STORAGE_SINGLE` - single: values are rounded, and labels are exact for the rounded points
- `KMEANS_STORAGE_DOUBLE` - double

  Level: intermediate

.seealso: `KMeansSetStorage()`
E*/
typedef enum {
  KMEANS_STORAGE_AUTO,
  KMEANS_STORAGE_SINGLE,
  KMEANS_STORAGE_DOUBLE
} KMeansStorage;

/*E
  KMeansReduce - How several ranks add their sums of points; the sums are integers, so that the bits do not depend on it

  Values:
+ `KMEANS_REDUCE_AUTO` - NCCL if it connects the GPUs of all ranks, otherwise MPI
. `KMEANS_REDUCE_NCCL` - NCCL, from GPU to GPU; it needs one GPU for each rank, and is looked for at run time
- `KMEANS_REDUCE_MPI`  - `MPI_Allreduce()` on the host

  Level: intermediate

.seealso: `KMeansSetReduce()`, `KMeansGetReduce()`
E*/
typedef enum {
  KMEANS_REDUCE_AUTO,
  KMEANS_REDUCE_NCCL,
  KMEANS_REDUCE_MPI
} KMeansReduce;

/*E
  KMeansStream - Whether dense points stay in host memory, from which every iteration streams them to the device

  Values:
+ `KMEANS_STREAM_AUTO`   - points are streamed if they do not fit the free device memory of a rank
. `KMEANS_STREAM_ALWAYS` - points are streamed
- `KMEANS_STREAM_NEVER`  - points are not streamed; if they do not fit, this is an error

  Level: intermediate

.seealso: `KMeansSetStream()`, `KMeansGetStreamInfo()`
E*/
typedef enum {
  KMEANS_STREAM_AUTO,
  KMEANS_STREAM_ALWAYS,
  KMEANS_STREAM_NEVER
} KMeansStream;

/*E
  KMeansConvergedReason - Why `KMeansSolve()` stopped

  Values:
+ `KMEANS_CONVERGED_LABELS`    - no label changed
. `KMEANS_CONVERGED_INERTIA`   - the inertia fell by less than the relative tolerance, or rose by rounding errors
. `KMEANS_CONVERGED_SHIFT`     - the centroids moved by at most the tolerance
. `KMEANS_DIVERGED_MAX_IT`     - the maximum number of iterations was reached
- `KMEANS_CONVERGED_ITERATING` - the solver is running or was not called yet

  Level: beginner

.seealso: `KMeansGetConvergedReason()`, `KMeansSetTolerances()`
E*/
typedef enum {
  KMEANS_CONVERGED_LABELS    = 1,
  KMEANS_CONVERGED_INERTIA   = 2,
  KMEANS_CONVERGED_SHIFT     = 3,
  KMEANS_DIVERGED_MAX_IT     = -1,
  KMEANS_CONVERGED_ITERATING = 0
} KMeansConvergedReason;

#endif
