/* Names of points: look-up by name, and names that are numbers. */
#include "smacof.h"
#include <string.h>

/* Creates an index of n names, stored as consecutive strings.  NULL: the names are the numbers of the points, as WriteCoordinates() writes them. */
PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *index)
{
  PetscFunctionBegin;
  *index = (Names){.n = n};
  PetscCall(PetscMalloc1(n, &index->point));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt64 before = index->distinct.n;
    PetscInt64       number;
    char             digits[24];

    if (!names) (void)snprintf(digits, sizeof(digits), "%" PetscInt_FMT, i);
    PetscCall(GpAppNamesAdd(&index->distinct, names ? names : digits, strlen(names ? names : digits), &number));
    index->point[number] = index->distinct.n > before ? i : -1;
    if (names) names += strlen(names) + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the point with a name; -1 if there is none, or if there are several. */
PetscInt NamesFind(const Names *index, const char name[])
{
  const PetscInt64 number = GpAppNamesFind(&index->distinct, name, strlen(name));

  return number < 0 ? -1 : index->point[number];
}

PetscErrorCode NamesDestroy(Names *index)
{
  PetscFunctionBegin;
  PetscCall(GpAppNamesDestroy(&index->distinct));
  PetscCall(PetscFree(index->point));
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
