/* Reader of the file of -groups: one line a feature, with the number of its group. */
#include "app/text/appscan.h"
#include "examples.h"

/* Reads the vector for BMRMSetGroups() from a text file: line j holds the number of the group of feature j, from 0. n: number of features in the
   file; each feature after these forms a group of its own. */
PetscErrorCode BMRMGroupsLoad(const char file[], Mat X, PetscInt n, Vec *groups)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)X);
  GpAppText      text;
  GpAppComplaint wrong = {0};
  PetscInt64     all;
  GpAppLines     lines;
  PetscInt       N;
  PetscReal      largest = -1, most;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, &text));
  PetscCall(MatGetSize(X, NULL, &N));
  PetscCall(MatCreateVecs(X, groups, NULL));
  PetscCall(VecSet(*groups, -1));
  lines = (GpAppLines){text.text, text.text + text.length, NULL, 0, 0};
  for (const char *p = GpAppLinesNext(&lines, NULL), *q; p && !wrong.code; p = GpAppLinesNext(&lines, NULL)) {
    double group;

    q = GpAppScanReal(p, &group);
    if (!q || GpAppSkipBlanks(q) != lines.eol || !(group >= 0 && group <= PETSC_MAX_INT - N) || group != PetscFloorReal((PetscReal)group))
      GpAppComplain(&wrong, lines.line, p, lines.eol, "expected the number of a group, an integer that is not negative, and nothing else");
    else if (text.before + lines.line <= n) {
      PetscCall(VecSetValue(*groups, (PetscInt)(text.before + lines.line - 1), group, INSERT_VALUES));
      largest = PetscMax(largest, (PetscReal)group);
    }
  }
  ierr = GpAppTextRaise(&text, &wrong);
  if (ierr) PetscCall(VecDestroy(groups));
  PetscCall(ierr);
  PetscCall(GpAppTextDestroy(&text));
  PetscCallMPI(MPI_Allreduce(&lines.line, &all, 1, MPIU_INT64, MPI_SUM, comm));
  if (all != n) PetscCall(VecDestroy(groups));
  PetscCheck(all == n, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " lines with groups, but the data have %" PetscInt_FMT " features: expected one line for each feature", file, all, n);
  PetscCallMPI(MPI_Allreduce(&largest, &most, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscCall(VecAssemblyBegin(*groups));
  PetscCall(VecAssemblyEnd(*groups));
  for (PetscInt j = n; j < N; j++) PetscCall(VecSetValue(*groups, j, most + 1 + j - n, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*groups));
  PetscCall(VecAssemblyEnd(*groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}
