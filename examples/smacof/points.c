/* Readers of what belongs to points: fixed points, labels, coordinates. */
#include "smacof.h"
#include <string.h>

/* Finds the point of each row, by its name or its number; -1: there is none. */
static PetscErrorCode FixedFindPoints(const GpAppTable *T, const double all[], PetscInt N, const char names[], PetscInt point[])
{
  Names       index = {0};
  char       *words = NULL;
  const char *at;

  PetscFunctionBegin;
  if (T->ntext) {
    PetscCall(GpAppTableGatherWords(T, 0, &words));
    PetscCall(NamesCreate(names ? N : 0, names, &index));
  }
  at = words;
  for (PetscInt k = 0; k < T->N; k++) {
    const PetscReal number = all[(size_t)k * (size_t)T->cols];
    const PetscBool good   = (PetscBool)(number >= 0 && number < N && number == PetscFloorReal(number));

    point[k] = T->ntext ? NamesFind(&index, at) : good ? (PetscInt)number : -1;
    if (at) at += strlen(at) + 1;
  }
  PetscCall(NamesDestroy(&index));
  PetscCall(PetscFree(words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads fixed points from a table with rows <point> <coordinates>, for a solver of N points.  Points are names, or numbers counted from 0.  Collective. */
PetscErrorCode FixedRead(SMACOF s, const char file[], PetscInt N, const char names[])
{
  const MPI_Comm       comm = PetscObjectComm((PetscObject)s);
  const GpAppTableSpec spec = {.names = GP_TABLE_NO, .text_first = 1};
  double              *all, *x;
  PetscInt             dim, *order, *point;
  PetscInt64          *line;
  GpAppTable           T;
  GpAppComplaint       C = {0};
  SMACOFInfo           info;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  dim = info.dim;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  TABLE_CHECK(&T, T.cols == dim + 1, "%s: lines of %" PetscInt_FMT " fields; expected a point (its name, or its number counted from 0) and its %" PetscInt_FMT " coordinates", file, T.cols, dim);
  PetscCall(GpAppTableGatherValues(&T, &all));
  PetscCall(GpAppTableGatherLines(&T, &line));
  PetscCall(PetscMalloc3(T.N, &point, (size_t)T.N * (size_t)dim, &x, T.N, &order));
  PetscCall(FixedFindPoints(&T, all, N, names, point));
  for (PetscInt k = 0; k < T.N; k++) {
    order[k] = k;
    if (point[k] < 0 && T.ntext) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[k], "no point, or more than one, has this name%s", names ? "" : " (the dissimilarities have no names: count points from 0)");
    else if (point[k] < 0) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[k], "expected a point from 0 to %" PetscInt_FMT "%s", N - 1, names ? ", or a name (numbers that are names are quoted)" : "");
  }
  PetscCall(PetscSortIntWithArray(T.N, point, order));
  for (PetscInt k = 0; k < T.N; k++) {
    if (k && point[k] == point[k - 1]) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[PetscMax(order[k], order[k - 1])], "this point is fixed twice");
    for (PetscInt c = 0; c < dim; c++) {
      x[k * dim + c] = all[(size_t)order[k] * (size_t)T.cols + 1 + (size_t)c];
      if (PetscIsNanReal(x[k * dim + c])) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[order[k]], "a coordinate is missing");
    }
  }
  if (!C.code) PetscCall(SMACOFSetFixedPoints(s, T.N, point, x));
  PetscCall(PetscFree3(point, x, order));
  PetscCall(PetscFree(line));
  PetscCall(PetscFree(all));
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(GpAppComplaintRaise(comm, file, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a label for each point, as consecutive strings on every rank, to be freed with PetscFree().  The labels of a table are, in this order of preference, the column after the
   row names, a single column, the row names, or the first column.  Collective. */
PetscErrorCode LabelsRead(MPI_Comm comm, const char file[], PetscInt N, char **labels)
{
  const GpAppTableSpec spec = {.text_first = 1, .lines = PETSC_TRUE};
  GpAppTable           T;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  TABLE_CHECK(&T, T.N == N, "%s: %" PetscInt_FMT " labels for %" PetscInt_FMT " points%s", file, T.N, N, T.N == N + 1 && !T.heading ? " (if the first line is a heading, remove it)" : "");
  if (T.named && !(T.heading && T.cols == 1) && !T.ntext) PetscCall(GpAppTableGatherNames(&T, labels));
  else if (T.ntext) PetscCall(GpAppTableGatherWords(&T, 0, labels));
  else PetscCall(NamesFromNumbers(&T, 0, labels));
  PetscCall(GpAppTableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the point of each row of a table of coordinates: by name if every row has the name of a point, by position if no row has.  unknown is
   the first row without a match if only some rows have one, else -1. */
static PetscErrorCode PointsMatchRows(const GpAppTable *T, PetscInt dim, const char names[], PetscInt point[], PetscInt *unknown)
{
  char       *rows = NULL;
  const char *at;
  PetscInt    found = 0;
  Names       index = {0};

  PetscFunctionBegin;
  *unknown = -1;
  for (PetscInt i = 0; i < T->N; i++) point[i] = i;
  if (T->named) PetscCall(GpAppTableGatherNames(T, &rows));
  else if (T->cols == dim + 1) PetscCall(NamesFromNumbers(T, 0, &rows));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NamesCreate(T->N, names, &index));
  at = rows;
  for (PetscInt i = 0; i < T->N && index.distinct.n == index.n; i++, at += strlen(at) + 1) {
    const PetscInt p = NamesFind(&index, at);

    found += p >= 0;
    if (p >= 0) point[i] = p;
    else if (*unknown < 0) *unknown = i;
  }
  if (!names || !found) *unknown = -1;
  if (found < T->N)
    for (PetscInt i = 0; i < T->N; i++) point[i] = i;
  PetscCall(NamesDestroy(&index));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads coordinates as WriteCoordinates() writes them: a row for each point, optionally with its name or number in the first column.  Rows are matched by the names of the points
   (consecutive strings, or NULL).  The vector is one for SMACOFSetStartConfiguration().  Collective. */
PetscErrorCode CoordinatesRead(MPI_Comm comm, const char file[], PetscInt N, PetscInt dim, const char names[], Vec *v)
{
  const GpAppTableSpec spec = {GP_TABLE_AUTO};
  double              *all;
  PetscInt             first, *point, unknown;
  PetscInt64          *line;
  PetscBool           *set;
  PetscScalar         *x;
  GpAppTable           T;
  GpAppComplaint       C = {0};

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  TABLE_CHECK(&T, T.N == N, "%s: %" PetscInt_FMT " lines of coordinates for %" PetscInt_FMT " points", file, T.N, N);
  TABLE_CHECK(&T, T.cols == dim || (T.cols == dim + 1 && !T.named), "%s: lines of %" PetscInt_FMT " numbers; expected %" PetscInt_FMT " coordinates (-smacof_dim), optionally after a name", file, T.cols, dim);
  first = T.cols - dim;
  PetscCall(PetscCalloc2(N, &point, N, &set));
  PetscCall(PointsMatchRows(&T, dim, names, point, &unknown));
  PetscCall(GpAppTableGatherValues(&T, &all));
  PetscCall(GpAppTableGatherLines(&T, &line));
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N * dim, v));
  PetscCall(VecGetArrayWrite(*v, &x));
  if (unknown >= 0) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[unknown], "no point, or more than one, has this name; expected the names of the dissimilarities, or none of them");
  for (PetscInt i = 0; i < N; i++) {
    if (set[point[i]]) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[i], "this point occurs twice in the file");
    set[point[i]] = PETSC_TRUE;
    for (PetscInt c = 0; c < dim; c++) {
      const double value = all[(size_t)i * (size_t)(first + dim) + (size_t)(first + c)];

      x[(size_t)c * (size_t)N + (size_t)point[i]] = value;
      if (PetscIsNanReal(value)) GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, line[i], "a coordinate is missing");
    }
  }
  PetscCall(VecRestoreArrayWrite(*v, &x));
  PetscCall(PetscFree2(point, set));
  PetscCall(PetscFree(line));
  PetscCall(PetscFree(all));
  if (C.code) PetscCall(VecDestroy(v));
  PetscCall(GpAppComplaintRaise(comm, file, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the target of a rotation, a file as for CoordinatesRead().  Collective. */
PetscErrorCode TargetRead(MPI_Comm comm, const char file[], const Points *P, PetscInt dim, Vec *v)
{
  const PetscScalar *x;
  PetscBool          same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(CoordinatesRead(comm, file, P->N, dim, P->names, v));
  PetscCall(VecGetArrayRead(*v, &x));
  for (PetscInt c = 0; c < dim; c++)
    for (PetscInt i = 1; i < P->N; i++) same = (PetscBool)(same && x[(size_t)c * (size_t)P->N + (size_t)i] == x[(size_t)c * (size_t)P->N]);
  PetscCall(VecRestoreArrayRead(*v, &x));
  if (same) PetscCall(VecDestroy(v));
  PetscCheck(!same, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all points of the target are in one place, which determines no rotation; leave -target out", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
