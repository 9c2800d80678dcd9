/* Training for several lambdas: the path with one bundle or in step, cross-validation, and scores of held-out folds. */
#include "bmrmimpl.h"
#include "model.h"
#include <math.h>

/* Reads -bmrm_path into a list in descending order, and -bmrm_path_together. *n is the capacity on entry, and the number of lambdas on return. */
PetscErrorCode BMRMPathGetLambdas(MPI_Comm comm, PetscInt *n, PetscReal lambda[], PetscBool *together)
{
  PetscReal all[BMRM_MAX_PATH + 1] = {0}; /* one entry more than the maximum, since PETSc ignores excess values silently */
  PetscInt  count                  = PETSC_STATIC_ARRAY_LENGTH(all);
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Options of the path over lambda", "BMRM");
  PetscCall(PetscOptionsRealArray("-bmrm_path", "train for these lambdas, separated by commas, with one bundle", "BMRMSetWarmStart", all, &count, &set));
  *together = PETSC_FALSE;
  PetscCall(PetscOptionsBool("-bmrm_path_together", "train for all lambdas of the path, or of a fold with -cv, in step, so that a pass reads a gpucsr matrix once", "BMRMSolveMany", *together, together, NULL));
  PetscOptionsEnd();
  if (!set) count = 0;
  PetscCheck(count <= *n, comm, PETSC_ERR_ARG_OUTOFRANGE, "-bmrm_path: there are more than %" PetscInt_FMT " lambdas", *n);
  for (PetscInt k = 0; k < count; k++) PetscCheck(all[k] > 0 && !PetscIsInfOrNanReal(all[k]), comm, PETSC_ERR_ARG_OUTOFRANGE, "-bmrm_path: lambda is %g, it must be positive", (double)all[k]);
  for (PetscInt k = 0; k < count; k++) all[k] = -all[k];
  PetscCall(PetscSortReal(count, all));
  for (PetscInt k = 0; k < count; k++) lambda[k] = -all[k];
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The accuracy, or the root mean square error; NaN for ranking losses, whose scores predict only an order. */
static PetscErrorCode PathComputeQuality(BMRM b, Vec f, Vec y, PetscReal *quality)
{
  BMRMScore s;
  BMRMTask  task;

  PetscFunctionBegin;
  PetscCall(BMRMGetTask(b, &task));
  *quality = (PetscReal)NAN;
  if (task == BMRM_TASK_RANKING) PetscFunctionReturn(PETSC_SUCCESS);
  if (task == BMRM_TASK_CLASSIFICATION) PetscCall(BMRMScoreClasses(f, y, &s));
  else if (task == BMRM_TASK_MULTICLASS) {
    PetscInt k;

    PetscCall(BMRMGetClasses(b, &k));
    PetscCall(BMRMScoreMany(f, y, k, &s));
  } else PetscCall(BMRMScoreNumbers(f, y, &s));
  *quality = PetscIsInfOrNanReal(s.rmse) ? s.accuracy : s.rmse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathCountNonzeros(Vec w, PetscInt *nonzeros)
{
  const PetscScalar *a;
  PetscInt           n, mine = 0;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetArrayRead(w, &a));
  for (PetscInt i = 0; i < n; i++) mine += a[i] != (PetscScalar)0;
  PetscCall(VecRestoreArrayRead(w, &a));
  PetscCallMPI(MPI_Allreduce(&mine, nonzeros, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solvers of a path. together: one solver for each lambda, which are solved in step here. Otherwise: the same solver for all lambdas,
   to be solved one after the other with one bundle. */
static PetscErrorCode PathBegin(BMRM b, PetscBool together, PetscInt n, const BMRMPathPoint point[], BMRM solver[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    if (together && k < n - 1) PetscCall(BMRMDuplicate(b, &solver[k]));
    else solver[k] = b;
  }
  if (together) {
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(BMRMSetLambda(solver[k], point[k].lambda));
      PetscCall(BMRMSetWarmStart(solver[k], PETSC_FALSE));
    }
    PetscCall(BMRMSolveMany(n, solver));
  }
  PetscCall(BMRMSetWarmStart(b, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for one lambda, unless PathBegin() has solved for all lambdas in step. */
static PetscErrorCode PathSolveNext(BMRM b, PetscBool together, PetscReal lambda)
{
  PetscFunctionBegin;
  if (together) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMSetLambda(b, lambda));
  PetscCall(BMRMSolve(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathEnd(BMRM b, PetscInt n, BMRM solver[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    if (solver[k] != b) PetscCall(BMRMDestroy(&solver[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMPathSolve - Solves for several lambdas: one after the other with one bundle, or all in step

  Collective

  Input Parameters:
+ b        - the solver, with its data
. y        - the labels
. together - whether to solve in step, by `BMRMSolveMany()`
. n        - number of lambdas
- point    - with the lambdas

  Output Parameter:
. point - for each lambda: objective, lower bound, passes, reason, number of nonzero weights, quality on the training data

  Level: developer

  Note:
  After the call the solver holds the solution for the last lambda, and can start from it.

.seealso: `BMRMSetWarmStart()`, `BMRMSolveMany()`, `BMRMPathValidate()`
@*/
PetscErrorCode BMRMPathSolve(BMRM b, Vec y, PetscBool together, PetscInt n, BMRMPathPoint point[])
{
  BMRM s[BMRM_MAX_PATH];
  Vec  w, f;

  PetscFunctionBegin;
  PetscCall(PathBegin(b, together, n, point, s));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PathSolveNext(s[k], together, point[k].lambda));
    PetscCall(BMRMGetObjective(s[k], &point[k].objective, &point[k].lower_bound));
    PetscCall(BMRMGetIterationNumber(s[k], &point[k].iterations));
    PetscCall(BMRMGetConvergedReason(s[k], &point[k].reason));
    PetscCall(BMRMGetSolution(s[k], &w));
    PetscCall(PathCountNonzeros(w, &point[k].nonzeros));
    PetscCall(BMRMGetScores(s[k], &f));
    PetscCall(PathComputeQuality(s[k], f, y, &point[k].train));
  }
  PetscCall(PathEnd(b, n, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fold of a row: a hash of the row number, so that the folds are the same on any number of ranks. */
static PetscInt PathFold(PetscInt row, PetscInt k)
{
  uint64_t z = (uint64_t)row + 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (PetscInt)((z ^ (z >> 31)) % (uint64_t)k);
}

/* Extracts the rows of a fold (inside) or all other rows, with their labels. rowsof: optional scatter from a vector of all rows to one of these
   rows. */
static PetscErrorCode PathExtractRows(Mat X, Vec y, PetscInt fold, PetscInt folds, PetscBool inside, Mat *Xs, Vec *ys, VecScatter *rowsof)
{
  IS         rows, columns;
  VecScatter scatter;
  PetscInt   start, end, cstart, cend, n = 0, *index;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  PetscCall(MatGetOwnershipRangeColumn(X, &cstart, &cend));
  PetscCall(PetscMalloc1(end - start, &index));
  for (PetscInt i = start; i < end; i++) {
    if ((PathFold(i, folds) == fold) == (inside == PETSC_TRUE)) index[n++] = i;
  }
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)X), n, index, PETSC_OWN_POINTER, &rows));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)X), cend - cstart, cstart, 1, &columns));
  PetscCall(MatCreateSubMatrix(X, rows, columns, MAT_INITIAL_MATRIX, Xs));
  PetscCall(MatCreateVecs(*Xs, NULL, ys));
  PetscCall(VecScatterCreate(y, rows, *ys, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, y, *ys, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, y, *ys, INSERT_VALUES, SCATTER_FORWARD));
  if (rowsof) *rowsof = scatter;
  else PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&columns));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMPathValidate - Cross-validates every lambda: trains without each fold in turn, and measures the quality of the predictions for that fold

  Collective

  Input Parameters:
+ b        - the solver, with its settings; its data are replaced by those of the last training
. X        - the examples
. y        - their labels
. factor   - factors of the regulariser, or `NULL`
. folds    - number of folds, two or more
. together - whether to solve for all lambdas of a fold in step
. n        - number of lambdas
- point    - with the lambdas

  Output Parameter:
. point - validation: the mean over the folds of the accuracy, or of the root of the mean square error

  Level: developer

  Note:
  Each fold uses one bundle for all lambdas, or, with together, solves for all lambdas in step.

.seealso: `BMRMPathSolve()`
@*/
PetscErrorCode BMRMPathValidate(BMRM b, Mat X, Vec y, Vec factor, PetscInt folds, PetscBool together, PetscInt n, BMRMPathPoint point[])
{
  BMRM     s[BMRM_MAX_PATH];
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &m, NULL));
  PetscCheck(folds >= 2 && folds <= m, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_OUTOFRANGE, "The number of folds is %" PetscInt_FMT ", it must be from 2 to the number of examples, %" PetscInt_FMT, folds, m);
  for (PetscInt k = 0; k < n; k++) point[k].validation = 0;
  for (PetscInt fold = 0; fold < folds; fold++) {
    Mat      Xs, Xv, Av;
    PetscInt outputs;
    Vec      ys, yv, w, f;

    PetscCall(PathExtractRows(X, y, fold, folds, PETSC_FALSE, &Xs, &ys, NULL));
    PetscCall(PathExtractRows(X, y, fold, folds, PETSC_TRUE, &Xv, &yv, NULL));
    PetscCall(MatGetSize(Xv, &m, NULL));
    PetscCheck(m > 0, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_OUTOFRANGE, "Fold %" PetscInt_FMT " of %" PetscInt_FMT " has no examples: use fewer folds", fold, folds);
    PetscCall(BMRMSetData(b, Xs, ys));
    PetscCall(BMRMSetWeights(b, factor));
    PetscCall(PathBegin(b, together, n, point, s));
    PetscCall(BMRMSetUp(b));
    PetscCall(BMRMGetClasses(b, &outputs));
    if (outputs > 1) PetscCall(BMRMBlocksCreate_Private(Xv, outputs, &Av));
    else PetscCall(PetscObjectReference((PetscObject)(Av = Xv)));
    PetscCall(MatCreateVecs(Av, NULL, &f));
    for (PetscInt k = 0; k < n; k++) {
      PetscReal quality;

      PetscCall(PathSolveNext(s[k], together, point[k].lambda));
      PetscCall(BMRMGetSolution(s[k], &w));
      PetscCall(MatMult(Av, w, f));
      PetscCall(PathComputeQuality(s[k], f, yv, &quality));
      point[k].validation += quality / folds;
    }
    PetscCall(PathEnd(b, n, s));
    PetscCall(VecDestroy(&f));
    PetscCall(VecDestroy(&ys));
    PetscCall(VecDestroy(&yv));
    PetscCall(MatDestroy(&Xs));
    PetscCall(MatDestroy(&Xv));
    PetscCall(MatDestroy(&Av));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMPathHoldOut - Computes the score of every example with weights that were trained without its fold

  Collective

  Input Parameters:
+ b      - the solver, with its settings; its data are replaced by those of the last training
. X      - the examples
. y      - their labels
. factor - factors of the regulariser, or `NULL`
- folds  - number of folds, two or more

  Output Parameter:
. f - the scores

  Level: developer

.seealso: `BMRMPlattFit()`, `BMRMPathValidate()`
@*/
PetscErrorCode BMRMPathHoldOut(BMRM b, Mat X, Vec y, Vec factor, PetscInt folds, Vec f)
{
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &m, NULL));
  PetscCheck(folds >= 2 && folds <= m, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_OUTOFRANGE, "The number of folds is %" PetscInt_FMT ", it must be from 2 to the number of examples, %" PetscInt_FMT, folds, m);
  for (PetscInt fold = 0; fold < folds; fold++) {
    Mat        Xs, Xv;
    Vec        ys, fv, w;
    VecScatter rows;

    PetscCall(PathExtractRows(X, y, fold, folds, PETSC_FALSE, &Xs, &ys, NULL));
    PetscCall(PathExtractRows(X, y, fold, folds, PETSC_TRUE, &Xv, &fv, &rows));
    PetscCall(BMRMSetData(b, Xs, ys));
    PetscCall(BMRMSetWeights(b, factor));
    PetscCall(BMRMSolve(b));
    PetscCall(BMRMGetSolution(b, &w));
    PetscCall(MatMult(Xv, w, fv));
    PetscCall(VecScatterBegin(rows, fv, f, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(rows, fv, f, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterDestroy(&rows));
    PetscCall(VecDestroy(&fv));
    PetscCall(VecDestroy(&ys));
    PetscCall(MatDestroy(&Xs));
    PetscCall(MatDestroy(&Xv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the table of a path; the row best is marked, none for -1. */
PetscErrorCode BMRMPathPrint(MPI_Comm comm, PetscBool classify, PetscInt best, PetscInt n, const BMRMPathPoint point[])
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "    lambda       objective     gap         passes  nonzero  %s train / validation\n", classify ? "accuracy" : "error"));
  for (PetscInt k = 0; k < n; k++) {
    const BMRMPathPoint *p = &point[k];

    PetscCall(PetscPrintf(comm, "  %c %-11.4e  %.10f  %.4e  %6" PetscInt_FMT "  %7" PetscInt_FMT "  %.6f", k == best ? '*' : ' ', (double)p->lambda, (double)p->objective, (double)(p->objective - p->lower_bound), p->iterations, p->nonzeros,
                          (double)p->train));
    if (PetscIsInfOrNanReal(p->validation)) PetscCall(PetscPrintf(comm, " / -"));
    else PetscCall(PetscPrintf(comm, " / %.6f", (double)p->validation));
    PetscCall(PetscPrintf(comm, "%s\n", p->reason > 0 ? "" : "  NOT CONVERGED"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
