/* Examples with names are brought into the order of a model. */
#include "model.h"
#include <string.h>

/* Returns the index of a name among n names, -1 if it is not there. */
static PetscInt BMRMFindName(const char *names, PetscInt n, const char name[])
{
  for (PetscInt k = 0; k < n; k++, names += strlen(names) + 1)
    if (!strcmp(names, name)) return k;
  return -1;
}

/* Brings columns and classes of a table into the order of a model, by their names; nothing changes if the table or the model has no names. Columns
   that the model does not know are left out. known: every class must be one of the model. */
PetscErrorCode BMRMExamplesMatchModel(BMRMExamples *ex, const BMRMModel *model, PetscBool known)
{
  const PetscInt nclass = model->nclass ? model->nclass : 2;
  const char    *at     = model->feature_names;

  PetscFunctionBegin;
  if (ex->feature_names && model->feature_names) {
    PetscInt    *place, nz = 0;
    PetscScalar *row;

    PetscCall(PetscMalloc1(ex->N, &place));
    for (PetscInt j = 0; j < ex->N; j++) place[j] = -1;
    for (PetscInt k = 0; k < model->n; k++, at += strlen(at) + 1) {
      const PetscInt j = BMRMFindName(ex->feature_names, ex->N, at);

      if (j < 0) PetscCall(PetscFree(place));
      PetscCheck(j >= 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no column has the heading '%s', a feature of the model", ex->file, at);
      place[j] = k;
    }
    PetscCall(PetscCalloc1(model->n, &row));
    for (PetscInt r = 0, from = 0; r < ex->m; r++) { /* the loop works in place, because rows do not become longer */
      const PetscInt end = ex->i[r + 1];

      for (; from < end; from++)
        if (place[ex->j[from]] >= 0) row[place[ex->j[from]]] = ex->a[from];
      for (PetscInt j = 0; j < model->n; j++) {
        if (row[j] == 0) continue;
        ex->j[nz]   = j;
        ex->a[nz++] = row[j];
        row[j]      = 0;
      }
      ex->i[r + 1] = nz;
    }
    PetscCall(PetscFree(row));
    PetscCall(PetscFree(place));
    ex->N = model->n;
  }
  if (ex->class_names && model->class_names) {
    PetscInt old = 0;

    at = ex->class_names;
    for (PetscInt k = 0; k < ex->nclass && ex->nclass <= BMRM_MAX_CLASSES; k++, at += strlen(at) + 1) {
      const PetscInt found = BMRMFindName(model->class_names, nclass, at);

      PetscCheck(found >= 0 || !known, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": the model has no class '%s'", ex->file, ex->classline[k], at);
      ex->classes[k] = found < 0 ? -1 - k : model->nclass ? model->label[found] : model->classes[found];
      old++;
    }
    for (PetscInt r = 0; r < ex->m; r++)
      if ((PetscInt)ex->label[r] < old) ex->label[r] = ex->classes[(PetscInt)ex->label[r]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
