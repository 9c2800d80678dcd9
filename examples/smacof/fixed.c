/* Points that stay where they are. */
#include "smacof.h"

/*
  FixedRead - Reads fixed points, a line <point> <coordinates> for each, points counted from 0

  Collective
*/
PetscErrorCode FixedRead(MPI_Comm comm, const char file[], PetscInt N, PetscInt dim, Fixed *F)
{
  PetscReal *all;
  PetscInt  *order;
  Table      T;

  PetscFunctionBegin;
  PetscCall(TableRead(comm, file, PETSC_FALSE, &T));
  PetscCheck(T.cols == dim + 1 && !T.names, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected lines of a point, counted from 0, and its %" PetscInt_FMT " coordinates", file, dim);
  PetscCall(TableGather(&T, &all));
  F->n = T.N;
  PetscCall(PetscMalloc2(F->n, &F->point, (size_t)F->n * dim, &F->x));
  PetscCall(PetscMalloc1(F->n, &order));
  for (PetscInt k = 0; k < F->n; k++) {
    const PetscReal point = all[k * T.cols];

    PetscCheck(point >= 0 && point < N && point == PetscFloorReal(point), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: line %" PetscInt_FMT ": expected a point from 0 to %" PetscInt_FMT ", got %g", file, k + 1, N - 1, (double)point);
    F->point[k] = (PetscInt)point;
    order[k]    = k;
  }
  PetscCall(PetscSortIntWithArray(F->n, F->point, order));
  for (PetscInt k = 0; k < F->n; k++) {
    PetscCheck(!k || F->point[k] > F->point[k - 1], comm, PETSC_ERR_FILE_UNEXPECTED, "%s: point %" PetscInt_FMT " is fixed twice", file, F->point[k]);
    for (PetscInt c = 0; c < dim; c++) {
      F->x[k * dim + c] = all[order[k] * T.cols + 1 + c];
      PetscCheck(!PetscIsNanReal(F->x[k * dim + c]), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a coordinate of point %" PetscInt_FMT " is missing", file, F->point[k]);
    }
  }
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(all));
  PetscCall(TableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FixedDestroy(Fixed *F)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(F->point, F->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
