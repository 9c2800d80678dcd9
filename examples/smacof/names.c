/* Names of points: found by name, compared between files, read as labels. */
#include "smacof.h"
#include <stdlib.h>
#include <string.h>

static int CompareNames(const void *a, const void *b)
{
  const NamedPoint *p = (const NamedPoint *)a, *q = (const NamedPoint *)b;
  const int         order = strcmp(p->name, q->name);

  return order ? order : (p->point > q->point) - (p->point < q->point);
}

/* an index of n names that stand one after another; they must stay */
PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *index)
{
  PetscFunctionBegin;
  index->n = n;
  PetscCall(PetscMalloc1(n, &index->sorted));
  for (PetscInt i = 0; i < n; i++, names += strlen(names) + 1) index->sorted[i] = (NamedPoint){names, i};
  if (n) qsort(index->sorted, (size_t)n, sizeof(*index->sorted), CompareNames);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the point of a name; -1: no point has it, -2: several have */
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

/* whether several points have the same name, such as that of a class */
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
  NamesNumber - Numbers the different strings of pairs in the order in which they come

  Not Collective

  Input Parameters:
+ n    - pairs
- word - [2][n] the strings of the first, of the second points, one after another

  Output Parameters:
+ point - [2][n] their numbers
. N     - how many strings are different
- names - these in the order of their numbers, one after another; to be freed with PetscFree()
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

    for (PetscInt k = 0; k < n; k++, at += strlen(at) + 1) all[s * n + k] = (NamedPoint){at, 2 * k + s}; /* in the order of the lines */
  }
  qsort(all, 2 * (size_t)n, sizeof(*all), CompareNames);
  for (PetscInt k = 0; k < 2 * n; k++) head[all[k].point] = k && !strcmp(all[k].name, all[k - 1].name) ? head[all[k - 1].point] : all[k].point;
  *N = 0;
  for (PetscInt p = 0; p < 2 * n; p++) { /* head[p] is where the string comes first */
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

/* the numbers of a column as names */
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
  LabelsRead - Reads a label for each point: the column behind row names, or a single column, or the row names, or the first column; or a line for each

  Collective

  Output Parameter:
. labels - one after another, on every rank; to be freed with PetscFree()
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

/* which point each row of a table of coordinates belongs to: by name if all rows have a name of a point, by place if no row has one */
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
  if (!names) { /* WriteCoordinates() writes the numbers of points without names */
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
. file  - coordinates, behind a name or number of the point, or alone
. N     - points
. dim   - coordinates of each
- names - of the points, one after another, which may stand in another order in the file; NULL: they have none

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
  TABLE_CHECK(&T, T.cols == dim || (T.cols == dim + 1 && !T.named), "%s: lines of %" PetscInt_FMT " numbers; expected %" PetscInt_FMT " coordinates, as -smacof_dim says, after a name or nothing", file, T.cols, dim);
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
  PetscCheck(!where[1], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": this point stands in the file twice", file, where[1]);
  PetscCheck(!where[2], comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": a coordinate is missing", file, where[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
