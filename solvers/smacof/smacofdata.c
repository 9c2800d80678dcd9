/* The data of the solver, and the settings that say how they are read. */
#include "solvers/smacof/smacofimpl.h"
#include "app/text/appcollective.h"

/* Sets a flag of the conversion of the data, which SMACOFSetUp() has not done yet. */
static PetscErrorCode SMACOFSetDataFlag(SMACOF s, PetscBool *flag, PetscBool value)
{
  PetscFunctionBegin;
  PetscValidLogicalCollectiveBool(s, value, 2);
  PetscCheck(value == *flag || s->D.comm == MPI_COMM_NULL || s->dissimilarities || s->features, PetscObjectComm((PetscObject)s), PETSC_ERR_ORDER, "The data are converted already: set the data again first, or call SMACOFReset()");
  *flag = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the matrices of the data.  What was set up for the old data becomes invalid. */
static PetscErrorCode SMACOFSetMatrices(SMACOF s, Mat delta, Mat weight, Mat features)
{
  PetscFunctionBegin;
  if (delta) PetscCall(PetscObjectReference((PetscObject)delta));
  if (weight) PetscCall(PetscObjectReference((PetscObject)weight));
  if (features) PetscCall(PetscObjectReference((PetscObject)features));
  PetscCall(SMACOFReset(s));
  s->dissimilarities = delta;
  s->weights         = weight;
  s->features        = features;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetDissimilarities - Sets the dissimilarities and their weights

  Collective

  Input Parameters:
+ s      - the solver
. delta  - a square matrix; a pair may have an entry on one side of the diagonal only. A sparse matrix holds the listed pairs
- weight - weights of the pairs, with the layout of delta; pairs with weight 0 or without an entry are left out. `NULL`\: all weights are 1

  Level: beginner

  Notes:
  Fixed points and a first configuration of earlier data are removed, as by `SMACOFReset()`.

  Two entries of one pair must agree to a relative difference of 1e-8, unless `SMACOFSetSymmetrize()` takes their mean. The pairs must connect all points.

  Error messages on values begin with the name of the matrix, if it has one.

.seealso: `SMACOFSetFeatures()`, `SMACOFSetMissing()`, `SMACOFSetSymmetrize()`, `SMACOFSetStorage()`
@*/
PetscErrorCode SMACOFSetDissimilarities(SMACOF s, Mat delta, Mat weight)
{
  PetscInt N, n, m, rows;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidHeaderSpecific(delta, MAT_CLASSID, 2);
  PetscCheckSameComm(s, 1, delta, 2);
  PetscCall(MatGetSize(delta, &N, &n));
  PetscCheck(N > 0 && N == n, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_SIZ, "The matrix of dissimilarities has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; it must be square and not empty", N, n);
  if (weight) {
    PetscValidHeaderSpecific(weight, MAT_CLASSID, 3);
    PetscCall(MatGetSize(weight, &rows, &n));
    PetscCheck(N == rows && N == n, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_SIZ, "The matrix of weights has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; it must have %" PetscInt_FMT " of each, as the dissimilarities", rows, n, N);
    PetscCall(MatGetLocalSize(delta, &m, NULL));
    PetscCall(MatGetLocalSize(weight, &rows, NULL));
    PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)s), "matrix of weights", rows, m, "use a matrix with the layout of the dissimilarities"));
  }
  PetscCall(SMACOFSetMatrices(s, delta, weight, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetFeatures - Sets feature vectors, whose distances are the dissimilarities

  Collective

  Input Parameters:
+ s      - the solver
. F      - a dense matrix with a row for each point
- metric - the distance

  Level: beginner

  Note:
  Every rank holds a copy of the features of all points.

.seealso: `SMACOFSetDissimilarities()`, `SMACOFSetMatrixFree()`, `SMACOFSetStorage()`
@*/
PetscErrorCode SMACOFSetFeatures(SMACOF s, Mat F, SMACOFMetric metric)
{
  PetscInt N;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidHeaderSpecific(F, MAT_CLASSID, 2);
  PetscCheckSameComm(s, 1, F, 2);
  PetscValidLogicalCollectiveEnum(s, metric, 3);
  PetscCall(MatGetSize(F, &N, NULL));
  PetscCheck(N > 0, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_SIZ, "The matrix of features has no rows: set the features of at least one point");
  PetscCall(SMACOFSetMatrices(s, NULL, NULL, F));
  s->metric = metric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetMissing - Sets the values that mean a missing dissimilarity, besides an absent entry

  Logically Collective

  Input Parameters:
+ s    - the solver
. nan  - `PETSC_TRUE`\: not-a-number means a missing dissimilarity
- zero - `PETSC_TRUE`\: 0 means a missing dissimilarity

  Level: intermediate

  Note:
  `SMACOFSetUp()` converts the data. A later change of this setting is an error until new data are set.

.seealso: `SMACOFSetDissimilarities()`
@*/
PetscErrorCode SMACOFSetMissing(SMACOF s, PetscBool nan, PetscBool zero)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFSetDataFlag(s, &s->nan_missing, nan));
  PetscCall(SMACOFSetDataFlag(s, &s->zero_missing, zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetSymmetrize - Sets whether the solver takes the mean of two different entries of a pair

  Logically Collective

  Input Parameters:
+ s          - the solver
- symmetrize - `PETSC_TRUE`\: it takes the mean. `PETSC_FALSE`, the default\: different entries are an error

  Level: intermediate

  Note:
  `SMACOFSetUp()` converts the data. A later change of this setting is an error until new data are set.

.seealso: `SMACOFSetDissimilarities()`
@*/
PetscErrorCode SMACOFSetSymmetrize(SMACOF s, PetscBool symmetrize)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFSetDataFlag(s, &s->symmetrize, symmetrize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStorage - Sets the precision of stored dissimilarities and weights

  Logically Collective

  Input Parameters:
+ s       - the solver
- storage - the precision; the default is `SMACOF_STORAGE_SINGLE`

  Level: intermediate

  Note:
  A GPU uses this precision also to compute distances that are not stored. Disparities other than ratio always use double precision.

  `SMACOFSetUp()` converts the data. A later change of this setting is an error until new data are set.

.seealso: `SMACOFSetDissimilarities()`, `SMACOFSetMatrixFree()`, `SMACOFSetArithmetic()`
@*/
PetscErrorCode SMACOFSetStorage(SMACOF s, SMACOFStorage storage)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFSetDataFlag(s, &s->in_double, (PetscBool)(storage == SMACOF_STORAGE_DOUBLE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetMatrixFree - Sets whether distances between features are computed in every pass instead of being stored

  Logically Collective

  Input Parameters:
+ s           - the solver
- matrix_free - `PETSC_TRUE`\: they are computed in every pass. The default is `PETSC_FALSE`

  Level: intermediate

  Note:
  `SMACOFSetUp()` converts the data. A later change of this setting is an error until new data are set.

.seealso: `SMACOFSetFeatures()`
@*/
PetscErrorCode SMACOFSetMatrixFree(SMACOF s, PetscBool matrix_free)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(SMACOFSetDataFlag(s, &s->matrix_free, matrix_free));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetFixedPoints - Sets points that keep prescribed coordinates

  Logically Collective

  Input Parameters:
+ s      - the solver
. n      - number of fixed points, the same on all ranks; 0 removes them
. points - their numbers in ascending order, counted from 0
- x      - [n][dim] their coordinates, where dim is the current dimension of the solver

  Level: intermediate

  Note:
  The arrays are copied. New data remove the fixed points.

.seealso: `SMACOFSetDimension()`, `SMACOFSetDissimilarities()`
@*/
PetscErrorCode SMACOFSetFixedPoints(SMACOF s, PetscInt n, const PetscInt points[], const PetscReal x[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveInt(s, n, 2);
  PetscCheck(n >= 0, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " fixed points: expected a number of at least 0", n);
  if (n) SMACOFCheckPointer(points, 3);
  if (n) SMACOFCheckPointer(x, 4);
  for (PetscInt k = 0; k < n; k++)
    PetscCheck(points[k] > (k ? points[k - 1] : -1), PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_OUTOFRANGE, "Fixed point %" PetscInt_FMT " follows %" PetscInt_FMT "; fixed points must be ascending from 0 on", points[k], k ? points[k - 1] : -1);
  PetscCall(PetscFree2(s->fixed.point, s->fixed.x));
  PetscCall(PetscMalloc2(n, &s->fixed.point, n * s->dim, &s->fixed.x));
  PetscCall(PetscArraycpy(s->fixed.point, points, n));
  PetscCall(PetscArraycpy(s->fixed.x, x, n * s->dim));
  s->fixed.n = n;
  s->setup   = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStartConfiguration - Sets the configuration of the first start

  Logically Collective

  Input Parameters:
+ s - the solver
- x - a sequential vector, the same on every rank, with coordinate c of point i at position c N + i; `NULL` removes it

  Level: intermediate

  Note:
  The solver references the vector. It may be that of `SMACOFGetConfiguration()` of another solver. Pass a copy of a configuration of the same solver,
  because the next solve overwrites its vectors. New data remove the configuration.

.seealso: `SMACOFSetStart()`, `SMACOFGetConfiguration()`
@*/
PetscErrorCode SMACOFSetStartConfiguration(SMACOF s, Vec x)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  if (x) PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  if (x) PetscCall(PetscObjectReference((PetscObject)x));
  PetscCall(VecDestroy(&s->given));
  s->given = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}
