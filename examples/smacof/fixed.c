/* Points with prescribed coordinates (-fixed). */
#include "solvers/smacof/smacofimpl.h"
#include <string.h>

/* Finds the point of each row, by its name or its number.  wrong is the first row without a valid point, or -1. */
static PetscErrorCode FixedPoints(const GpAppTable *T, const double all[], PetscInt N, const char names[], PetscInt point[], PetscInt *wrong)
{
  Names       index = {0};
  char       *words = NULL;
  const char *at;

  PetscFunctionBegin;
  *wrong = -1;
  if (T->ntext) {
    PetscCall(GpAppTableGatherWords(T, 0, &words));
    PetscCall(NamesCreate(names ? N : 0, names ? names : "", &index));
  }
  at = words;
  for (PetscInt k = 0; k < T->N; k++) {
    const PetscReal number = all[(size_t)k * (size_t)T->cols];
    const PetscBool good   = (PetscBool)(number >= 0 && number < N && number == PetscFloorReal(number));

    point[k] = T->ntext ? NamesFind(&index, at) : good ? (PetscInt)number : -1;
    if (point[k] < 0 && *wrong < 0) *wrong = k;
    if (at) at += strlen(at) + 1;
  }
  PetscCall(NamesDestroy(&index));
  PetscCall(PetscFree(words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  FixedRead - Reads fixed points from a table with rows <point> <coordinates>; points are names, or numbers counted from 0

  Collective

  Input Parameters:
+ comm  - the communicator
. file  - the table
. N     - number of points
. dim   - number of coordinates
- names - names of the points as consecutive strings; NULL if they have no names
*/
PetscErrorCode FixedRead(MPI_Comm comm, const char file[], PetscInt N, PetscInt dim, const char names[], Fixed *F)
{
  const GpAppTableSpec spec = {.names = GP_TABLE_NO, .text_first = 1};
  double              *all;
  PetscInt             wrong, twice = -1, missing = -1, *order;
  PetscInt64          *line, where[3];
  PetscBool            text;
  GpAppTable           T;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  TABLE_CHECK(&T, T.cols == dim + 1, "%s: lines of %" PetscInt_FMT " fields; expected a point (its name, or its number counted from 0) and its %" PetscInt_FMT " coordinates", file, T.cols, dim);
  text = (PetscBool)(T.ntext > 0);
  F->n = T.N;
  PetscCall(GpAppTableGatherValues(&T, &all));
  PetscCall(GpAppTableGatherLines(&T, &line));
  PetscCall(PetscMalloc2(F->n, &F->point, (size_t)F->n * (size_t)dim, &F->x));
  PetscCall(PetscMalloc1(F->n, &order));
  PetscCall(FixedPoints(&T, all, N, names, F->point, &wrong));
  for (PetscInt k = 0; k < F->n; k++) order[k] = k;
  PetscCall(PetscSortIntWithArray(F->n, F->point, order));
  for (PetscInt k = 0; k < F->n; k++) {
    if (k && F->point[k] == F->point[k - 1] && twice < 0) twice = PetscMax(order[k], order[k - 1]);
    for (PetscInt c = 0; c < dim; c++) {
      F->x[k * dim + c] = all[(size_t)order[k] * (size_t)T.cols + 1 + (size_t)c];
      if (PetscIsNanReal(F->x[k * dim + c]) && missing < 0) missing = order[k];
    }
  }
  where[0] = wrong < 0 ? 0 : line[wrong];
  where[1] = twice < 0 ? 0 : line[twice];
  where[2] = missing < 0 ? 0 : line[missing];
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(line));
  PetscCall(PetscFree(all));
  PetscCall(GpAppTableDestroy(&T));
  if (where[0] || where[1] || where[2]) PetscCall(FixedDestroy(F));
  PetscCheck(!where[0] || !text, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": no point, or more than one, has this name%s", file, where[0], names ? "" : " (the dissimilarities have no names: count points from 0)");
  PetscCheck(!where[0], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": expected a point from 0 to %" PetscInt_FMT "%s", file, where[0], N - 1, names ? ", or a name (numbers that are names are quoted)" : "");
  PetscCheck(!where[1], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": this point is fixed twice", file, where[1]);
  PetscCheck(!where[2], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": a coordinate is missing", file, where[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FixedDestroy(Fixed *F)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(F->point, F->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
