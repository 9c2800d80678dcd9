/* Examples: the list of their different labels, and their destruction. */
#include "examples.h"

/* Inserts a label into the ascending list of different labels, with the line of its first occurrence. */
void BMRMExamplesNoteClass(BMRMExamples *ex, PetscReal label, PetscInt64 line)
{
  PetscInt lo = 0, hi = ex->nclass;

  if (ex->nclass > BMRM_MAX_CLASSES) return;
  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (ex->classes[mid] < label) lo = mid + 1;
    else hi = mid;
  }
  if (lo < ex->nclass && ex->classes[lo] == label) return;
  for (PetscInt k = ex->nclass++; k > lo; k--) {
    ex->classes[k]   = ex->classes[k - 1];
    ex->classline[k] = ex->classline[k - 1];
  }
  ex->classes[lo]   = label;
  ex->classline[lo] = line;
}

/* Merges the lists of labels of the ranks into one ascending list, the same on all ranks. */
PetscErrorCode BMRMExamplesMergeClasses(BMRMExamples *ex, PetscInt64 linesbefore)
{
  const PetscMPIInt width = 2 * (BMRM_MAX_CLASSES + 1) + 1;
  PetscMPIInt       size;
  double           *mine, *all;
  PetscInt          n = 0;

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
  for (PetscMPIInt r = 0; r < size; r++) {
    const double *of = all + (size_t)r * width;

    for (PetscInt k = 0; k < (PetscInt)of[0]; k++) {
      const PetscReal label = of[1 + 2 * k];
      PetscInt        at    = 0, s;

      while (at < n && ex->classes[at] < label) at++;
      if ((at < n && ex->classes[at] == label) || n > BMRM_MAX_CLASSES) continue;
      for (s = n++; s > at; s--) {
        ex->classes[s]   = ex->classes[s - 1];
        ex->classline[s] = ex->classline[s - 1];
      }
      ex->classes[at]   = label;
      ex->classline[at] = (PetscInt64)of[2 + 2 * k];
    }
  }
  ex->nclass = n;
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
