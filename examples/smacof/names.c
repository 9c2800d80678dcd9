/* Names of points: look-up by name, matching of the rows of two files, reading of labels. */
#include "solvers/smacof/smacofimpl.h"
#include <stdlib.h>
#include <string.h>

static int CompareNames(const void *a, const void *b)
{
  const NamedPoint *p = (const NamedPoint *)a, *q = (const NamedPoint *)b;
  const int         order = strcmp(p->name, q->name);

  return order ? order : (p->point > q->point) - (p->point < q->point);
}

/* Creates an index of n names, stored as consecutive strings.  The index references the strings. */
PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *index)
{
  PetscFunctionBegin;
  index->n = n;
  PetscCall(PetscMalloc1(n, &index->sorted));
  for (PetscInt i = 0; i < n; i++, names += strlen(names) + 1) index->sorted[i] = (NamedPoint){names, i};
  if (n) qsort(index->sorted, (size_t)n, sizeof(*index->sorted), CompareNames);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the point with a name; -1 if there is none, -2 if there are several. */
PetscInt NamesFind(const Names *index, const char name[])
{
  PetscInt low = 0, high = index->n;

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (strcmp(index->sorted[middle].name, name) < 0) low = middle + 1;
    else high = middle;
  }
  if (low == index->n || strcmp(index->sorted[low].name, name)) return -1;
  return low + 1 < index->n && !strcmp(index->sorted[low + 1].name, name) ? -2 : index->sorted[low].point;
}

/* Tells whether several points have the same name, for example because names are classes. */
static PetscBool NamesRepeat(const Names *index)
{
  for (PetscInt i = 1; i < index->n; i++)
    if (!strcmp(index->sorted[i].name, index->sorted[i - 1].name)) return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode NamesDestroy(Names *index)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(index->sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  NamesNumber - Numbers the distinct names in a list of pairs in the order of their first occurrence

  Not Collective

  Input Parameters:
+ n    - number of pairs
- word - [2][n] names of the first and of the second points, as consecutive strings

  Output Parameters:
+ point - [2][n] numbers of the points
. N     - number of distinct names
- names - the distinct names in the order of their numbers, as consecutive strings; to be freed with PetscFree()
*/
PetscErrorCode NamesNumber(PetscInt n, const char *const word[2], PetscInt point[], PetscInt *N, char **names)
{
  NamedPoint *all;
  PetscInt   *place, *head;
  size_t      bytes = 0;
  char       *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(2 * (size_t)n, &all, 2 * (size_t)n, &place, 2 * (size_t)n, &head));
  for (int s = 0; s < 2; s++) {
    const char *at = word[s];

    for (PetscInt k = 0; k < n; k++, at += strlen(at) + 1) all[s * n + k] = (NamedPoint){at, 2 * k + s}; /* positions follow the order of the lines */
  }
  qsort(all, 2 * (size_t)n, sizeof(*all), CompareNames);
  for (PetscInt k = 0; k < 2 * n; k++) head[all[k].point] = k && !strcmp(all[k].name, all[k - 1].name) ? head[all[k - 1].point] : all[k].point;
  *N = 0;
  for (PetscInt p = 0; p < 2 * n; p++) { /* head[p] is the first position of the same name */
    place[p]                 = head[p] == p ? (*N)++ : place[head[p]];
    point[p % 2 * n + p / 2] = place[p];
  }
  for (PetscInt k = 0; k < 2 * n; k++) bytes += head[all[k].point] == all[k].point ? strlen(all[k].name) + 1 : 0;
  PetscCall(PetscMalloc1(bytes, names));
  to = *names;
  for (PetscInt k = 0; k < 2 * n; k++) place[all[k].point] = k;
  for (PetscInt p = 0; p < 2 * n; p++)
    if (head[p] == p) {
      const size_t length = strlen(all[place[p]].name) + 1;

      memcpy(to, all[place[p]].name, length);
      to += length;
    }
  PetscCall(PetscFree3(all, place, head));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts the numbers of a column to names. */
static PetscErrorCode NamesFromNumbers(const GpAppTable *T, PetscInt column, char **names)
{
  double *all;
  char   *to;

  PetscFunctionBegin;
  PetscCall(GpAppTableGatherValues(T, &all));
  PetscCall(PetscMalloc1(32 * (size_t)T->N, names));
  to = *names;
  for (PetscInt i = 0; i < T->N; i++) to += snprintf(to, 32, "%.15g", all[(size_t)i * (size_t)T->cols + (size_t)column]) + 1;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LabelsRead - Reads a label for each point from a table, or from a file with a label on each line

  Collective

  Output Parameter:
. labels - the labels as consecutive strings, on every rank; to be freed with PetscFree()

  Note:
  The labels of a table are, in this order of preference, the column after the row names, a single column, the row names, or the first column.
*/
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
static PetscErrorCode MatchRows(const GpAppTable *T, PetscInt dim, const char names[], PetscInt point[], PetscInt *unknown)
{
  char       *rows = NULL, *numbers = NULL;
  const char *at;
  PetscInt    found = 0;
  Names       index = {0};

  PetscFunctionBegin;
  *unknown = -1;
  for (PetscInt i = 0; i < T->N; i++) point[i] = i;
  if (T->named) PetscCall(GpAppTableGatherNames(T, &rows));
  else if (T->cols == dim + 1) PetscCall(NamesFromNumbers(T, 0, &rows));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  if (!names) { /* for points without names, WriteCoordinates() writes their numbers */
    char *to;

    PetscCall(PetscMalloc1(24 * (size_t)T->N, &numbers));
    to = numbers;
    for (PetscInt i = 0; i < T->N; i++) to += snprintf(to, 24, "%" PetscInt_FMT, i) + 1;
  }
  PetscCall(NamesCreate(T->N, names ? names : numbers, &index));
  at = rows;
  for (PetscInt i = 0; i < T->N && !NamesRepeat(&index); i++, at += strlen(at) + 1) {
    const PetscInt p = NamesFind(&index, at);

    found += p >= 0;
    if (p >= 0) point[i] = p;
    else if (*unknown < 0) *unknown = i;
  }
  if (!names || !found) *unknown = -1;
  if (found < T->N)
    for (PetscInt i = 0; i < T->N; i++) point[i] = i;
  PetscCall(NamesDestroy(&index));
  PetscCall(PetscFree(numbers));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CoordinatesRead - Reads coordinates, a row for each point, as WriteCoordinates() writes them

  Collective

  Input Parameters:
+ comm  - the communicator
. file  - a table of coordinates, optionally with the name or number of the point in the first column
. N     - number of points
. dim   - number of coordinates
- names - names of the points as consecutive strings; the rows of the file may have another order. NULL if the points have no names

  Output Parameter:
. x - [dim][N] the coordinates
*/
PetscErrorCode CoordinatesRead(MPI_Comm comm, const char file[], PetscInt N, PetscInt dim, const char names[], double x[])
{
  const GpAppTableSpec spec = {GP_TABLE_AUTO};
  double              *all;
  PetscInt             first, *point, unknown, missing = -1, twice = -1;
  PetscInt64          *line, where[3];
  PetscBool           *set;
  GpAppTable           T;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  TABLE_CHECK(&T, T.N == N, "%s: %" PetscInt_FMT " lines of coordinates for %" PetscInt_FMT " points", file, T.N, N);
  TABLE_CHECK(&T, T.cols == dim || (T.cols == dim + 1 && !T.named), "%s: lines of %" PetscInt_FMT " numbers; expected %" PetscInt_FMT " coordinates (-smacof_dim), optionally after a name", file, T.cols, dim);
  first = T.cols - dim;
  PetscCall(PetscMalloc1(N, &point));
  PetscCall(PetscCalloc1(N, &set));
  PetscCall(MatchRows(&T, dim, names, point, &unknown));
  PetscCall(GpAppTableGatherValues(&T, &all));
  PetscCall(GpAppTableGatherLines(&T, &line));
  for (PetscInt i = 0; i < N; i++) {
    if (set[point[i]] && twice < 0) twice = i;
    set[point[i]] = PETSC_TRUE;
    for (PetscInt c = 0; c < dim; c++) {
      const double v = all[(size_t)i * (size_t)T.cols + (size_t)(first + c)];

      x[(size_t)c * (size_t)N + (size_t)point[i]] = v;
      if (PetscIsNanReal(v) && missing < 0) missing = i;
    }
  }
  where[0] = unknown < 0 ? 0 : line[unknown];
  where[1] = twice < 0 ? 0 : line[twice];
  where[2] = missing < 0 ? 0 : line[missing];
  PetscCall(PetscFree(point));
  PetscCall(PetscFree(set));
  PetscCall(PetscFree(line));
  PetscCall(PetscFree(all));
  PetscCall(GpAppTableDestroy(&T));
  PetscCheck(!where[0], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": no point, or more than one, has this name; expected the names of the dissimilarities, or none of them", file, where[0]);
  PetscCheck(!where[1], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": this point occurs twice in the file", file, where[1]);
  PetscCheck(!where[2], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": a coordinate is missing", file, where[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
