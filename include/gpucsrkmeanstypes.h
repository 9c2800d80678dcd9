/* Enumerations of KMeans: the part of its interface that does not need PETSc's headers. */
#ifndef GPUCSRKMEANSTYPES_H
#define GPUCSRKMEANSTYPES_H

/* MANSEC = KMeans */

/*E
  KMeansMetric - What a point is compared with a centroid by

  Values:
+ `KMEANS_METRIC_EUCLIDEAN` - the sum of squared differences; the least wins
- `KMEANS_METRIC_COSINE`    - the inner product of the point, scaled to norm 1, and the centroid, which has norm 1; the greatest wins

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
+ `KMEANS_START_RANDOM`   - points drawn at random, without repetition
. `KMEANS_START_PLUSPLUS` - k-means++: one point after the other, each with a probability proportional to its distance to those drawn before
. `KMEANS_START_PARALLEL` - k-means||: a few rounds that draw many points each, of which a weighted k-means++ keeps k
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
  KMeansConvergedReason - Why `KMeansSolve()` stopped

  Values:
+ `KMEANS_CONVERGED_LABELS`    - no label changed
. `KMEANS_CONVERGED_INERTIA`   - the inertia fell by less than the relative tolerance
. `KMEANS_CONVERGED_SHIFT`     - the centroids moved by less than the tolerance
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
