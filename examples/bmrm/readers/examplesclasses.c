/* Examples: the list of their different labels, and their destruction. */
#include "app/text/appcollective.h"
#include "examples.h"

/* Returns the place of a label in an ascending list, or -1 - the place where it would be inserted. */
PetscInt BMRMFindLabel(PetscReal label, PetscInt n, const PetscReal classes[])
{
  PetscInt lo = 0, hi = n;

  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (classes[mid] < label) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && classes[lo] == label ? lo : -1 - lo;
}

/* Inserts a label into the ascending list of different labels, with the line of its first occurrence. */
void BMRMExamplesNoteClass(BMRMExamples *ex, PetscReal label, PetscInt64 line)
{
  const PetscInt at = -1 - BMRMFindLabel(label, PetscMin(ex->nclass, BMRM_MAX_CLASSES), ex->classes);

  if (ex->nclass > BMRM_MAX_CLASSES || at < 0) return;
  for (PetscInt k = ex->nclass++; k > at; k--) {
    ex->classes[k]   = ex->classes[k - 1];
    ex->classline[k] = ex->classline[k - 1];
  }
  ex->classes[at]   = label;
  ex->classline[at] = line;
}

/* Merges the lists of labels of the ranks into one ascending list, the same on all ranks. */
PetscErrorCode BMRMExamplesMergeClasses(BMRMExamples *ex, PetscInt64 linesbefore)
{
  PetscReal  *label;
  PetscInt64 *line, n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ex->nclass; k++) ex->classline[k] += linesbefore;
  PetscCall(GpAppAllgather(ex->comm, ex->classes, ex->nclass, sizeof(*label), &label, &n));
  PetscCall(GpAppAllgather(ex->comm, ex->classline, ex->nclass, sizeof(*line), &line, NULL));
  ex->nclass = 0;
  for (PetscInt64 k = 0; k < n; k++) BMRMExamplesNoteClass(ex, label[k], line[k]);
  PetscCall(PetscFree(label));
  PetscCall(PetscFree(line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMExamplesDestroy(BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ex->i));
  PetscCall(PetscFree(ex->j));
  PetscCall(PetscFree(ex->a));
  PetscCall(PetscFree(ex->label));
  PetscCall(PetscFree(ex->query));
  PetscCall(PetscFree(ex->lines.skip));
  PetscCall(PetscFree(ex->class_names));
  PetscCall(PetscFree(ex->feature_names));
  ex->lines.n = ex->lines.capacity = 0;
  ex->m = ex->M = ex->N = 0;
  ex->nnz               = 0;
  ex->nclass            = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
