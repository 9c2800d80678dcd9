/* Names of points: look-up by name, and numbering in the order of their first occurrence. */
#include "smacof.h"
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
PetscBool NamesRepeat(const Names *index)
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

/* Numbers the N distinct names in a list of n pairs in the order of their first occurrence.  word holds the names of the first and of the second points, as consecutive strings;
   point is [2][n].  names holds the distinct names in the order of their numbers, to be freed with PetscFree(). */
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
PetscErrorCode NamesFromNumbers(const GpAppTable *T, PetscInt column, char **names)
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
