/* Training for several lambdas: the path with one bundle or in step, cross-validation, and scores of held-out folds. */
#include "solvers/bmrm/bmrmimpl.h"
#include "app/program/apphash.h"
#include <gpucsrbmrmpredict.h>
#include <math.h>

/* Computes the accuracy, or the root mean square error; NaN for ranking losses, whose scores predict only an order. */
static PetscErrorCode BMRMPathComputeQuality(BMRM b, Vec f, Vec y, PetscReal *quality)
{
  BMRMTask    task;
  BMRMQuality q;

  PetscFunctionBegin;
  PetscCall(BMRMGetTask(b, &task));
  if (task == BMRM_TASK_NOVELTY) task = BMRM_TASK_REGRESSION;
  PetscCall(BMRMComputeQuality(task, b->loss->outputs, f, y, &q));
  *quality = PetscIsInfOrNanReal(q.rmse) ? q.accuracy : q.rmse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMPathCountNonzeros(Vec w, PetscInt *nonzeros)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBegin;
  *nonzeros = 0;
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetArrayRead(w, &a));
  for (PetscInt i = 0; i < n; i++) *nonzeros += a[i] != (PetscScalar)0;
  PetscCall(VecRestoreArrayRead(w, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, nonzeros, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solvers of a path. together: one solver for each lambda, which are solved in step here. Otherwise: the same solver for all lambdas,
   to be solved one after the other with one bundle. */
static PetscErrorCode BMRMPathCreateSolvers(BMRM b, PetscBool together, PetscInt n, const BMRMPathPoint point[], BMRM *solver[])
{
  BMRM *s;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &s));
  for (PetscInt k = 0; k < n; k++) {
    if (together && k < n - 1) PetscCall(BMRMDuplicate(b, &s[k]));
    else s[k] = b;
    if (!together) continue;
    PetscCall(BMRMSetLambda(s[k], point[k].lambda));
    PetscCall(BMRMSetWarmStart(s[k], PETSC_FALSE));
  }
  if (together) PetscCall(BMRMSolveMany(n, s));
  PetscCall(BMRMSetWarmStart(b, PETSC_TRUE));
  *solver = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for one lambda, unless BMRMPathCreateSolvers() has solved for all lambdas in step. */
static PetscErrorCode BMRMPathSolveNext(BMRM b, PetscBool together, PetscReal lambda)
{
  PetscFunctionBegin;
  if (together) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMSetLambda(b, lambda));
  PetscCall(BMRMSolve(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMPathDestroySolvers(BMRM b, PetscInt n, BMRM *solver[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    if ((*solver)[k] != b) PetscCall(BMRMDestroy(&(*solver)[k]));
  }
  PetscCall(PetscFree(*solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSolvePath - Solves for several lambdas: one after the other with one bundle, or all in step

  Collective

  Input Parameters:
+ b        - the solver, with its data
. together - whether to solve in step, by `BMRMSolveMany()`
. n        - number of lambdas
- point    - with the lambdas

  Output Parameter:
. point - for each lambda: objective, lower bound, passes, reason, number of nonzero weights, quality on the training data

  Level: intermediate

  Note:
  After the call the solver holds the solution for the last lambda, and can start from it.

.seealso: `BMRMPathPoint`, `BMRMSetWarmStart()`, `BMRMSolveMany()`, `BMRMCrossValidate()`
@*/
PetscErrorCode BMRMSolvePath(BMRM b, PetscBool together, PetscInt n, BMRMPathPoint point[])
{
  BMRM *s;
  Vec   w, f;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMPathCreateSolvers(b, together, n, point, &s));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(BMRMPathSolveNext(s[k], together, point[k].lambda));
    PetscCall(BMRMGetObjective(s[k], &point[k].objective, &point[k].lower_bound));
    PetscCall(BMRMGetIterationNumber(s[k], &point[k].iterations));
    PetscCall(BMRMGetConvergedReason(s[k], &point[k].reason));
    PetscCall(BMRMGetSolution(s[k], &w));
    PetscCall(BMRMPathCountNonzeros(w, &point[k].nonzeros));
    PetscCall(BMRMGetScores(s[k], &f));
    PetscCall(BMRMPathComputeQuality(s[k], f, b->y, &point[k].train));
  }
  PetscCall(BMRMPathDestroySolvers(b, n, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data of a solver, which the training without a fold replaces; and one division into a fold and the other rows. */
typedef struct {
  Mat        X, Xtrain, Xfold;
  Vec        y, queries, weight, ytrain, yfold;
  VecScatter scatter; /* from a vector of all rows to one of the rows of the fold */
  PetscInt  *fold;    /* fold of each row of this rank */
} BMRMFolds;

/* Returns the fold of an example in an order in which `folds` consecutive examples belong to different folds. Their permutation p -> a p + b is random. */
static PetscInt BMRMFoldsDeal(PetscInt64 place, PetscInt folds)
{
  const uint64_t block = (uint64_t)(place / folds), p = (uint64_t)(place % folds), n = (uint64_t)folds;
  uint64_t       a = GpAppHash64(2 * block) % n;

  for (;; a++) { /* a and the number of folds must have no common divisor */
    uint64_t x = a % n, y = n;

    for (uint64_t rest; x; x = rest) {
      rest = y % x;
      y    = x;
    }
    if (y == 1) break;
  }
  return (PetscInt)((a % n * p + GpAppHash64(2 * block + 1) % n) % n);
}

/*
  Assigns the examples of this rank to folds, the same on any number of ranks. The examples are ordered by class, then by row, and dealt to the folds in
  this order. The sizes of the folds differ by at most one, and the numbers of examples of a class in two folds by at most two.
*/
PetscErrorCode BMRMFoldsAssign_Private(BMRM b, PetscInt folds, PetscInt fold[])
{
  const PetscScalar *ya;
  PetscInt           m, classes = 1;
  PetscInt64        *next, *all;
  BMRMTask           task;

  PetscFunctionBegin;
  PetscCall(BMRMGetTask(b, &task));
  PetscCall(MatGetLocalSize(b->X, &m, NULL));
  if (task == BMRM_TASK_CLASSIFICATION) classes = 2;
  if (task == BMRM_TASK_MULTICLASS) {
    PetscReal most;

    PetscCall(VecMax(b->y, NULL, &most));
    classes = (PetscInt)most + 1;
  }
  PetscCall(PetscCalloc2(classes, &next, classes, &all));
  PetscCall(VecGetArrayRead(b->y, &ya));
  for (PetscInt i = 0; i < m; i++) {
    fold[i] = task == BMRM_TASK_MULTICLASS ? (PetscInt)PetscRealPart(ya[i]) : classes == 2 && PetscRealPart(ya[i]) > 0;
    next[fold[i]]++;
  }
  PetscCall(VecRestoreArrayRead(b->y, &ya));
  PetscCallMPI(MPI_Allreduce(next, all, (PetscMPIInt)classes, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)b)));
  for (PetscInt c = 0; c < classes; c++) {
    const PetscInt64 mine = next[c];

    PetscCallMPI(MPI_Scan(&mine, &next[c], 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)b)));
    next[c] -= mine; /* number of examples of the class on lower ranks */
    for (PetscInt other = 0; other < c; other++) next[c] += all[other];
  }
  for (PetscInt i = 0; i < m; i++) fold[i] = BMRMFoldsDeal(next[fold[i]]++, folds);
  PetscCall(PetscFree2(next, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extracts the rows of a fold (inside) or all other rows, with their labels and the scatter to them. */
static PetscErrorCode BMRMFoldsExtractRows(const BMRMFolds *fo, PetscInt fold, PetscBool inside, Mat *Xs, Vec *ys, VecScatter *scatter)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)fo->X);
  IS             rows, columns;
  PetscInt       start, end, cstart, cend, n = 0, *index;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(fo->X, &start, &end));
  PetscCall(MatGetOwnershipRangeColumn(fo->X, &cstart, &cend));
  PetscCall(PetscMalloc1(end - start, &index));
  for (PetscInt i = start; i < end; i++) {
    if ((fo->fold[i - start] == fold) == (inside == PETSC_TRUE)) index[n++] = i;
  }
  PetscCall(ISCreateGeneral(comm, n, index, PETSC_OWN_POINTER, &rows));
  PetscCall(ISCreateStride(comm, cend - cstart, cstart, 1, &columns));
  PetscCall(MatCreateSubMatrix(fo->X, rows, columns, MAT_INITIAL_MATRIX, Xs));
  PetscCall(MatCreateVecs(*Xs, NULL, ys));
  PetscCall(VecScatterCreate(fo->y, rows, *ys, NULL, scatter));
  PetscCall(VecScatterBegin(*scatter, fo->y, *ys, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(*scatter, fo->y, *ys, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(ISDestroy(&columns));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the data of the solver. */
static PetscErrorCode BMRMFoldsCreate(BMRM b, PetscInt folds, BMRMFolds *fo)
{
  PetscInt m;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCheck(b->X, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "There are no examples to divide into folds: call BMRMSetData() first");
  PetscCheck(folds >= 2 && folds <= b->m, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of folds is %" PetscInt_FMT ", it must be from 2 to the number of examples, %" PetscInt_FMT, folds, b->m);
  PetscCall(PetscMemzero(fo, sizeof(*fo)));
  PetscCall(MatGetLocalSize(b->X, &m, NULL));
  PetscCall(PetscMalloc1(m, &fo->fold));
  PetscCall(BMRMFoldsAssign_Private(b, folds, fo->fold));
  PetscCall(PetscObjectReference((PetscObject)(fo->X = b->X)));
  PetscCall(PetscObjectReference((PetscObject)(fo->y = b->y)));
  if (b->queries) PetscCall(PetscObjectReference((PetscObject)(fo->queries = b->queries)));
  if (b->importance) PetscCall(PetscObjectReference((PetscObject)(fo->weight = b->importance)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Divides the rows into those of a fold and the others, which become the data of the solver. */
static PetscErrorCode BMRMFoldsDivide(BMRM b, PetscInt fold, BMRMFolds *fo)
{
  VecScatter others;
  Vec        weight;

  PetscFunctionBegin;
  PetscCall(BMRMFoldsExtractRows(fo, fold, PETSC_FALSE, &fo->Xtrain, &fo->ytrain, &others));
  PetscCall(BMRMFoldsExtractRows(fo, fold, PETSC_TRUE, &fo->Xfold, &fo->yfold, &fo->scatter));
  PetscCall(BMRMSetData(b, fo->Xtrain, fo->ytrain));
  if (fo->weight) {
    PetscCall(VecDuplicate(fo->ytrain, &weight));
    PetscCall(VecScatterBegin(others, fo->weight, weight, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(others, fo->weight, weight, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(BMRMSetExampleWeights(b, weight));
    PetscCall(VecDestroy(&weight));
  }
  PetscCall(VecScatterDestroy(&others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMFoldsUnite(BMRMFolds *fo)
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&fo->scatter));
  PetscCall(VecDestroy(&fo->ytrain));
  PetscCall(VecDestroy(&fo->yfold));
  PetscCall(MatDestroy(&fo->Xtrain));
  PetscCall(MatDestroy(&fo->Xfold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the solver its data back. */
static PetscErrorCode BMRMFoldsDestroy(BMRM b, BMRMFolds *fo)
{
  PetscFunctionBegin;
  PetscCall(BMRMSetData(b, fo->X, fo->y));
  PetscCall(BMRMSetQueries(b, fo->queries));
  PetscCall(BMRMSetExampleWeights(b, fo->weight));
  PetscCall(PetscFree(fo->fold));
  PetscCall(VecDestroy(&fo->queries));
  PetscCall(VecDestroy(&fo->weight));
  PetscCall(VecDestroy(&fo->y));
  PetscCall(MatDestroy(&fo->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMCrossValidate - Cross-validates every lambda: trains without each fold in turn, and measures the quality of the predictions for that fold

  Collective

  Input Parameters:
+ b        - the solver, with its data; its solution is lost
. folds    - number of folds, two or more
. together - whether to solve for all lambdas of a fold in step
. n        - number of lambdas
- point    - with the lambdas

  Output Parameter:
. point - validation: the mean over the folds of the accuracy, or of the root of the mean square error; deviation: the standard error of this mean

  Level: intermediate

  Notes:
  Each fold uses one bundle for all lambdas, or, with together, solves for all lambdas in step.

  The folds are stratified: their sizes differ by at most one, and their numbers of examples of a class by at most two. They do not depend on the number of ranks.

.seealso: `BMRMSolvePath()`, `BMRMPathPoint`
@*/
PetscErrorCode BMRMCrossValidate(BMRM b, PetscInt folds, PetscBool together, PetscInt n, BMRMPathPoint point[])
{
  BMRM     *s;
  BMRMFolds fo;

  PetscFunctionBegin;
  PetscCall(BMRMFoldsCreate(b, folds, &fo));
  for (PetscInt k = 0; k < n; k++) point[k].validation = point[k].deviation = 0;
  for (PetscInt fold = 0; fold < folds; fold++) {
    PetscCall(BMRMFoldsDivide(b, fold, &fo));
    PetscCall(BMRMPathCreateSolvers(b, together, n, point, &s));
    for (PetscInt k = 0; k < n; k++) {
      PetscReal quality;
      Vec       w, f;

      PetscCall(BMRMPathSolveNext(s[k], together, point[k].lambda));
      PetscCall(BMRMGetSolution(s[k], &w));
      PetscCall(BMRMComputeScores(fo.Xfold, s[k]->loss->outputs, w, &f));
      PetscCall(BMRMPathComputeQuality(s[k], f, fo.yfold, &quality));
      PetscCall(VecDestroy(&f));
      quality -= point[k].validation; /* mean and sum of squares are updated without cancellation */
      point[k].validation += quality / (fold + 1);
      point[k].deviation += quality * quality * fold / (fold + 1);
    }
    PetscCall(BMRMPathDestroySolvers(b, n, &s));
    PetscCall(BMRMFoldsUnite(&fo));
  }
  for (PetscInt k = 0; k < n; k++) point[k].deviation = PetscSqrtReal(point[k].deviation / (folds - 1) / folds);
  PetscCall(BMRMFoldsDestroy(b, &fo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the scores of the examples of a fold into the vector of all scores. part: workspace with the layout of the labels. */
static PetscErrorCode BMRMFoldsInsertScores(BMRMFolds *fo, PetscInt fold, PetscInt k, Vec scores, Vec part, Vec f)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           m, n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(part, &m));
  PetscCall(VecGetLocalSize(fo->yfold, &n));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(VecGetArrayRead(scores, &from));
    PetscCall(VecGetArrayWrite(fo->yfold, &to));
    PetscCall(PetscArraycpy(to, from + c * n, n));
    PetscCall(VecRestoreArrayWrite(fo->yfold, &to));
    PetscCall(VecRestoreArrayRead(scores, &from));
    PetscCall(VecScatterBegin(fo->scatter, fo->yfold, part, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(fo->scatter, fo->yfold, part, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecGetArrayRead(part, &from));
    PetscCall(VecGetArray(f, &to));
    for (PetscInt i = 0; i < m; i++) to[c * m + i] = fo->fold[i] == fold ? from[i] : to[c * m + i];
    PetscCall(VecRestoreArray(f, &to));
    PetscCall(VecRestoreArrayRead(part, &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMComputeHeldOutScores - Computes the scores of every example with weights that were trained without its fold

  Collective

  Input Parameters:
+ b     - the solver, with its data; its solution is lost
- folds - number of folds, two or more

  Output Parameter:
. f - the scores, a vector with the layout of `BMRMGetScores()`

  Level: intermediate

  Note:
  With several classes, call `BMRMSetClasses()` first, because a fold need not contain every class.

.seealso: `BMRMFitProbabilities()`, `BMRMFitTemperature()`, `BMRMCrossValidate()`
@*/
PetscErrorCode BMRMComputeHeldOutScores(BMRM b, PetscInt folds, Vec f)
{
  BMRMFolds fo;
  Vec       w, scores, part;

  PetscFunctionBegin;
  PetscCall(BMRMFoldsCreate(b, folds, &fo));
  PetscCall(VecDuplicate(fo.y, &part));
  PetscCall(VecSet(part, 0));
  PetscCall(VecSet(f, 0));
  for (PetscInt fold = 0; fold < folds; fold++) {
    PetscCall(BMRMFoldsDivide(b, fold, &fo));
    PetscCall(BMRMSolve(b));
    PetscCall(BMRMGetSolution(b, &w));
    PetscCall(BMRMComputeScores(fo.Xfold, b->loss->outputs, w, &scores));
    PetscCall(BMRMFoldsInsertScores(&fo, fold, b->loss->outputs, scores, part, f));
    PetscCall(VecDestroy(&scores));
    PetscCall(BMRMFoldsUnite(&fo));
  }
  PetscCall(VecDestroy(&part));
  PetscCall(BMRMFoldsDestroy(b, &fo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
