/* Public interface of SMACOF: multidimensional scaling by majorisation. */
#ifndef GPUCSRSMACOF_H
#define GPUCSRSMACOF_H

/* MANSEC = SMACOF */
#include <petscksp.h>

#define SMACOF_MAX_DIMENSION 8
#define SMACOF_MAX_HISTORY   20

/*S
  SMACOF - Finds points in a space of few dimensions whose distances approximate given dissimilarities

  Level: beginner

.seealso: `SMACOFCreate()`, `SMACOFSetDissimilarities()`, `SMACOFSetFeatures()`, `SMACOFSolve()`, `SMACOFDestroy()`
S*/
typedef struct _p_SMACOF *SMACOF;

/*E
  SMACOFMetric - Distance between feature vectors

  Values:
+ `SMACOF_METRIC_EUCLIDEAN` - Euclidean distance
. `SMACOF_METRIC_COSINE`    - 1 - cosine of the angle
- `SMACOF_METRIC_MANHATTAN` - sum of the absolute differences

  Level: beginner

.seealso: `SMACOFSetFeatures()`
E*/
typedef enum {
  SMACOF_METRIC_EUCLIDEAN,
  SMACOF_METRIC_COSINE,
  SMACOF_METRIC_MANHATTAN
} SMACOFMetric;

/*E
  SMACOFStorage - Precision of stored dissimilarities and weights

  Values:
+ `SMACOF_STORAGE_SINGLE` - in single precision; sums are always in double precision
- `SMACOF_STORAGE_DOUBLE` - in double precision

  Level: intermediate

.seealso: `SMACOFSetStorage()`
E*/
typedef enum {
  SMACOF_STORAGE_SINGLE,
  SMACOF_STORAGE_DOUBLE
} SMACOFStorage;

/*E
  SMACOFSimilarity - Conversions of similarities s to dissimilarities

  Values:
+ `SMACOF_SIMILARITY_CORR`         - sqrt(1 - s), for correlations
. `SMACOF_SIMILARITY_REVERSE`      - max + min - s
. `SMACOF_SIMILARITY_RECIPROCAL`   - 1 / s
. `SMACOF_SIMILARITY_RANKS`        - rank of s, beginning with the greatest; equal similarities have their mean rank
. `SMACOF_SIMILARITY_EXP`          - -log(s / max), with the machine epsilon added to both
. `SMACOF_SIMILARITY_GAUSSIAN`     - square root of the value for `SMACOF_SIMILARITY_EXP`
. `SMACOF_SIMILARITY_COOCCURRENCE` - 1 / (1 + s sum / (row sum times column sum)), for counts
. `SMACOF_SIMILARITY_GRAVITY`      - sqrt(row sum times column sum / (s sum)), for counts
. `SMACOF_SIMILARITY_CONFUSION`    - 1 - s, for proportions
. `SMACOF_SIMILARITY_TRANSITION`   - 1 / sqrt(s), for frequencies
. `SMACOF_SIMILARITY_MEMBERSHIP`   - 1 - s, for proportions
. `SMACOF_SIMILARITY_PROBABILITY`  - 1 / sqrt(arcsin(s)), for probabilities
- `SMACOF_SIMILARITY_CONSTANT`     - constant - s

  Level: intermediate

.seealso: `SMACOFConvertSimilarities()`
E*/
typedef enum {
  SMACOF_SIMILARITY_CORR,
  SMACOF_SIMILARITY_REVERSE,
  SMACOF_SIMILARITY_RECIPROCAL,
  SMACOF_SIMILARITY_RANKS,
  SMACOF_SIMILARITY_EXP,
  SMACOF_SIMILARITY_GAUSSIAN,
  SMACOF_SIMILARITY_COOCCURRENCE,
  SMACOF_SIMILARITY_GRAVITY,
  SMACOF_SIMILARITY_CONFUSION,
  SMACOF_SIMILARITY_TRANSITION,
  SMACOF_SIMILARITY_MEMBERSHIP,
  SMACOF_SIMILARITY_PROBABILITY,
  SMACOF_SIMILARITY_CONSTANT
} SMACOFSimilarity;

/*E
  SMACOFDisparity - Functions of the dissimilarities that the distances may approximate

  Values:
+ `SMACOF_DISPARITY_RATIO`    - the dissimilarities themselves
. `SMACOF_DISPARITY_INTERVAL` - nonnegative, nondecreasing linear functions
. `SMACOF_DISPARITY_SPLINE`   - nonnegative monotone splines
- `SMACOF_DISPARITY_ORDINAL`  - all monotone functions

  Level: beginner

.seealso: `SMACOFSetDisparity()`
E*/
typedef enum {
  SMACOF_DISPARITY_RATIO,
  SMACOF_DISPARITY_INTERVAL,
  SMACOF_DISPARITY_SPLINE,
  SMACOF_DISPARITY_ORDINAL
} SMACOFDisparity;

/*E
  SMACOFTies - Treatment of equal dissimilarities by `SMACOF_DISPARITY_ORDINAL`

  Values:
+ `SMACOF_TIES_PRIMARY`   - pairs of equal dissimilarity may have different disparities
- `SMACOF_TIES_SECONDARY` - pairs of equal dissimilarity must have equal disparities

  Level: intermediate

.seealso: `SMACOFSetTies()`
E*/
typedef enum {
  SMACOF_TIES_PRIMARY,
  SMACOF_TIES_SECONDARY
} SMACOFTies;

/*E
  SMACOFAcceleration - Steps of the iteration

  Values:
+ `SMACOF_ACCELERATION_NONE`     - Guttman transforms
. `SMACOF_ACCELERATION_RELAXED`  - relaxed steps, twice as long
- `SMACOF_ACCELERATION_ANDERSON` - relaxed steps, then extrapolation from the latest differences

  Level: intermediate

.seealso: `SMACOFSetAcceleration()`
E*/
typedef enum {
  SMACOF_ACCELERATION_NONE,
  SMACOF_ACCELERATION_RELAXED,
  SMACOF_ACCELERATION_ANDERSON
} SMACOFAcceleration;

/*E
  SMACOFStart - First configuration

  Values:
+ `SMACOF_START_AUTO`      - the configuration of `SMACOFSetStartConfiguration()`, else classical scaling if all pairs are present with weight 1, else random
. `SMACOF_START_TORGERSON` - classical scaling
. `SMACOF_START_RANDOM`    - random
- `SMACOF_START_GIVEN`     - the configuration of `SMACOFSetStartConfiguration()`

  Level: intermediate

.seealso: `SMACOFSetStart()`
E*/
typedef enum {
  SMACOF_START_AUTO,
  SMACOF_START_TORGERSON,
  SMACOF_START_RANDOM,
  SMACOF_START_GIVEN
} SMACOFStart;

/*E
  SMACOFArithmetic - Arithmetic on a GPU for dissimilarities in single precision

  Values:
+ `SMACOF_ARITHMETIC_AUTO`   - mixed from 4096 points on
. `SMACOF_ARITHMETIC_MIXED`  - single precision for each pair, double precision for sums
- `SMACOF_ARITHMETIC_DOUBLE` - double precision

  Level: advanced

.seealso: `SMACOFSetArithmetic()`
E*/
typedef enum {
  SMACOF_ARITHMETIC_AUTO,
  SMACOF_ARITHMETIC_MIXED,
  SMACOF_ARITHMETIC_DOUBLE
} SMACOFArithmetic;

/*E
  SMACOFReading - How often a pass reads each pair of complete data

  Values:
+ `SMACOF_READING_HALVES` - once
- `SMACOF_READING_ROWS`   - once for each of its points

  Level: advanced

.seealso: `SMACOFSetReading()`
E*/
typedef enum {
  SMACOF_READING_HALVES,
  SMACOF_READING_ROWS
} SMACOFReading;

/*E
  SMACOFConvergedReason - Why the iteration stopped

  Values:
+ `SMACOF_CONVERGED_STRESS`    - a step lowered the normalised stress by less than the tolerance
. `SMACOF_DIVERGED_ITS`        - the maximum number of iterations was reached
- `SMACOF_CONVERGED_ITERATING` - the solver is running or was not called yet

  Level: beginner

.seealso: `SMACOFGetConvergedReason()`, `SMACOFSetTolerances()`
E*/
typedef enum {
  SMACOF_DIVERGED_ITS        = -1,
  SMACOF_CONVERGED_ITERATING = 0,
  SMACOF_CONVERGED_STRESS    = 1
} SMACOFConvergedReason;

/*E
  SMACOFStream - Whether stored dissimilarities stay in host memory, from which each pass streams them to the device

  Values:
+ `SMACOF_STREAM_AUTO`   - they are streamed if they and the workspace exceed the free device memory
. `SMACOF_STREAM_ALWAYS` - they are streamed
- `SMACOF_STREAM_NEVER`  - they are not streamed; if they do not fit, this is an error

  Level: intermediate

.seealso: `SMACOFSetStream()`
E*/
typedef enum {
  SMACOF_STREAM_AUTO,
  SMACOF_STREAM_ALWAYS,
  SMACOF_STREAM_NEVER
} SMACOFStream;

/*S
  SMACOFInfo - Settings, properties of the data, and statistics of a `SMACOF`

  Level: intermediate

.seealso: `SMACOFGetInfo()`
S*/
typedef struct {
  PetscInt           dim, max_it, starts;
  PetscReal          eps; /* tolerance on the decrease of the normalised stress */
  SMACOFAcceleration acceleration;
  SMACOFDisparity    disparity;
  SMACOFStart        start;
  SMACOFStorage      storage;                      /* precision of stored dissimilarities */
  PetscBool          stored;                       /* dissimilarities are stored, not computed in every pass */
  PetscInt           points;                       /* number of points */
  PetscInt64         pairs;                        /* number of pairs with a dissimilarity */
  PetscBool          complete;                     /* all pairs are present with weight 1 */
  PetscBool          weighted;                     /* pairs have weights */
  PetscReal          sum_squares;                  /* weighted sum of squares of the dissimilarities, which normalises the stress */
  const char        *pass;                         /* where passes run: "host" or "cuda"; "cuda, mixed" with mixed arithmetic */
  PetscInt           best_start;                   /* number of the start with the least stress */
  PetscInt           rejected;                     /* rejected steps of that start */
  PetscInt           ksp_its;                      /* iterations of the KSP of the Laplacian */
  PetscLogDouble     seconds_start, seconds_solve; /* time for the starts, and for the iterations */
  PetscLogDouble     bytes_copied;                 /* bytes copied between host and device during the iterations */
  PetscBool          streamed;                     /* dissimilarities of this rank are streamed from host memory; if not, all following members are 0 */
  PetscInt           stream_blocks;                /* number of blocks of the local dissimilarities */
  PetscLogDouble     stream_bytes;                 /* size of these blocks */
  PetscLogDouble     stream_resident;              /* size of the blocks that stay on the device */
  PetscLogDouble     stream_pageable;              /* size of the blocks that the system refused to pin */
  PetscLogDouble     stream_moved;                 /* bytes transferred to the device in the last pass */
  PetscLogDouble     stream_rate;                  /* bytes per second of those transfers to the device that were timed; 0: none was */
} SMACOFInfo;

/*S
  SMACOFPair - A pair of points with its dissimilarity, disparity and distance

  Level: intermediate

.seealso: `SMACOFGetSample()`
S*/
typedef struct {
  double i, j; /* numbers of the points, i > j */
  double dissimilarity, disparity, distance;
} SMACOFPair;

PETSC_EXTERN PetscClassId SMACOF_CLASSID;

PETSC_EXTERN const char *const        SMACOFMetrics[];
PETSC_EXTERN const char *const        SMACOFStorages[];
PETSC_EXTERN const char *const        SMACOFDisparities[];
PETSC_EXTERN const char *const        SMACOFTiesNames[];
PETSC_EXTERN const char *const        SMACOFAccelerations[];
PETSC_EXTERN const char *const        SMACOFSimilarities[];
PETSC_EXTERN const char *const        SMACOFStarts[];
PETSC_EXTERN const char *const        SMACOFArithmetics[];
PETSC_EXTERN const char *const        SMACOFReadings[];
PETSC_EXTERN const char *const        SMACOFStreams[];
PETSC_EXTERN const char *const *const SMACOFConvergedReasons;

/* A monitor, called after every accepted step, and with a reason when a start has stopped.  Arguments: the solver, the number of the start, the
   iteration, the normalised stress, the reason, the user's context. */
typedef PetscErrorCode (*SMACOFMonitorFn)(SMACOF, PetscInt, PetscInt, PetscReal, SMACOFConvergedReason, void *);

/* An eigensolver.  Arguments: the solver; a symmetric matrix on PETSC_COMM_SELF, the same on every rank; the number n of wanted eigenvectors; n
   vectors, initially random, for the eigenvectors of the n largest eigenvalues; n eigenvalues, descending. */
typedef PetscErrorCode (*SMACOFEigensolverFn)(SMACOF, Mat, PetscInt, Vec[], PetscReal[]);

PETSC_EXTERN PetscErrorCode SMACOFInitializePackage(void);
PETSC_EXTERN PetscErrorCode SMACOFFinalizePackage(void);
PETSC_EXTERN PetscErrorCode SMACOFEigensolverRegister(const char[], SMACOFEigensolverFn);

PETSC_EXTERN PetscErrorCode SMACOFCreate(MPI_Comm, SMACOF *);
PETSC_EXTERN PetscErrorCode SMACOFSetDissimilarities(SMACOF, Mat, Mat);
PETSC_EXTERN PetscErrorCode SMACOFConvertSimilarities(Mat, SMACOFSimilarity, PetscReal, PetscBool, PetscBool, Mat *);
PETSC_EXTERN PetscErrorCode SMACOFSetFeatures(SMACOF, Mat, SMACOFMetric);
PETSC_EXTERN PetscErrorCode SMACOFSetMissing(SMACOF, PetscBool, PetscBool);
PETSC_EXTERN PetscErrorCode SMACOFSetSymmetrize(SMACOF, PetscBool);
PETSC_EXTERN PetscErrorCode SMACOFSetStorage(SMACOF, SMACOFStorage);
PETSC_EXTERN PetscErrorCode SMACOFSetMatrixFree(SMACOF, PetscBool);
PETSC_EXTERN PetscErrorCode SMACOFSetFixedPoints(SMACOF, PetscInt, const PetscInt[], const PetscReal[]);
PETSC_EXTERN PetscErrorCode SMACOFSetStartConfiguration(SMACOF, Vec);
PETSC_EXTERN PetscErrorCode SMACOFSetDimension(SMACOF, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetTolerances(SMACOF, PetscReal, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetDisparity(SMACOF, SMACOFDisparity);
PETSC_EXTERN PetscErrorCode SMACOFSetTies(SMACOF, SMACOFTies);
PETSC_EXTERN PetscErrorCode SMACOFSetSpline(SMACOF, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetAcceleration(SMACOF, SMACOFAcceleration);
PETSC_EXTERN PetscErrorCode SMACOFSetAnderson(SMACOF, PetscInt, PetscReal);
PETSC_EXTERN PetscErrorCode SMACOFSetStart(SMACOF, SMACOFStart);
PETSC_EXTERN PetscErrorCode SMACOFSetStarts(SMACOF, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetEigensolver(SMACOF, const char[]);
PETSC_EXTERN PetscErrorCode SMACOFSetArithmetic(SMACOF, SMACOFArithmetic);
PETSC_EXTERN PetscErrorCode SMACOFSetReading(SMACOF, SMACOFReading);
PETSC_EXTERN PetscErrorCode SMACOFSetStream(SMACOF, SMACOFStream);
PETSC_EXTERN PetscErrorCode SMACOFSetStreamChunk(SMACOF, PetscReal);
PETSC_EXTERN PetscErrorCode SMACOFSetStreamResident(SMACOF, PetscReal);
PETSC_EXTERN PetscErrorCode SMACOFSetStreamBuffers(SMACOF, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetStreamThreads(SMACOF, PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetCheckpoint(SMACOF, const char[], PetscInt);
PETSC_EXTERN PetscErrorCode SMACOFSetRestart(SMACOF, const char[]);
PETSC_EXTERN PetscErrorCode SMACOFSetOptionsPrefix(SMACOF, const char[]);
PETSC_EXTERN PetscErrorCode SMACOFSetFromOptions(SMACOF);
PETSC_EXTERN PetscErrorCode SMACOFSetUp(SMACOF);
PETSC_EXTERN PetscErrorCode SMACOFSolve(SMACOF);
PETSC_EXTERN PetscErrorCode SMACOFInterpolate(SMACOF, Vec, Mat, Mat, SMACOFMetric, Vec *, Vec *);
PETSC_EXTERN PetscErrorCode SMACOFProcrustes(PetscInt, Vec, Vec, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode SMACOFReset(SMACOF);
PETSC_EXTERN PetscErrorCode SMACOFDestroy(SMACOF *);

PETSC_EXTERN PetscErrorCode SMACOFGetConfiguration(SMACOF, Vec *);
PETSC_EXTERN PetscErrorCode SMACOFGetStress(SMACOF, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode SMACOFGetPointStress(SMACOF, Vec *);
PETSC_EXTERN PetscErrorCode SMACOFGetSample(SMACOF, PetscInt, PetscInt *, SMACOFPair **);
PETSC_EXTERN PetscErrorCode SMACOFGetIterationNumber(SMACOF, PetscInt *);
PETSC_EXTERN PetscErrorCode SMACOFGetConvergedReason(SMACOF, SMACOFConvergedReason *);
PETSC_EXTERN PetscErrorCode SMACOFGetInfo(SMACOF, SMACOFInfo *);
PETSC_EXTERN PetscErrorCode SMACOFGetKSP(SMACOF, KSP *);

PETSC_EXTERN PetscErrorCode SMACOFMonitorSet(SMACOF, SMACOFMonitorFn, void *, PetscErrorCode (*)(void **));
PETSC_EXTERN PetscErrorCode SMACOFMonitorCancel(SMACOF);
PETSC_EXTERN PetscErrorCode SMACOFView(SMACOF, PetscViewer);
PETSC_EXTERN PetscErrorCode SMACOFViewFromOptions(SMACOF, PetscObject, const char[]);

#endif
