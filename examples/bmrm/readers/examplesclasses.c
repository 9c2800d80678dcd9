/* Examples: the list of their different labels, and their destruction. */
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
  const PetscMPIInt width = 2 * (BMRM_MAX_CLASSES + 1) + 1;
  PetscMPIInt       size;
  double           *mine, *all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(ex->comm, &size));
  PetscCall(PetscMalloc2(width, &mine, (size_t)width * size, &all));
  PetscCall(PetscArrayzero(mine, width));
  mine[0] = (double)ex->nclass;
  for (PetscInt k = 0; k < ex->nclass; k++) {
    mine[1 + 2 * k] = ex->classes[k];
    mine[2 + 2 * k] = (double)(ex->classline[k] + linesbefore);
  }
  PetscCallMPI(MPI_Allgather(mine, width, MPI_DOUBLE, all, width, MPI_DOUBLE, ex->comm));
  ex->nclass = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    const double *of = all + (size_t)r * width;

    for (PetscInt k = 0; k < (PetscInt)of[0]; k++) BMRMExamplesNoteClass(ex, of[1 + 2 * k], (PetscInt64)of[2 + 2 * k]);
  }
  PetscCall(PetscFree2(mine, all));
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
  PetscCall(PetscFree(ex->skip));
  PetscCall(PetscFree(ex->class_names));
  PetscCall(PetscFree(ex->feature_names));
  ex->nskip = ex->skipcap = 0;
  ex->m = ex->M = ex->N = 0;
  ex->nnz               = 0;
  ex->nclass            = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
