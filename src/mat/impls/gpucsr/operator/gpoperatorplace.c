/* Positions of nonzeros in the user's matrix, and the errors that name them. */
#include "mat/impls/gpucsr/operator/gpoperator.h"

/* Gets the local row and column of nonzero k. */
PetscErrorCode GpOpLocate_Private(GpOp op, int64_t k, const PetscInt rowptr[], const PetscInt col[], PetscInt *row, PetscInt *column)
{
  PetscInt lo = 0, hi = op->side[0].csr.m;

  PetscFunctionBegin;
  while (hi - lo > 1) {
    PetscInt mid = lo + (hi - lo) / 2;

    if (rowptr[mid] <= k) lo = mid;
    else hi = mid;
  }
  *row    = lo;
  *column = col[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises the error for an invalid pattern, which names the first wrong row. */
PetscErrorCode GpOpRefusePattern_Private(PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const GpOpPlace *place)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; i++) {
    PetscCheck(rowptr[i] >= 0 && rowptr[i + 1] >= rowptr[i] && rowptr[i + 1] <= rowptr[m], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "row %" PetscInt_FMT ": row pointers %" PetscInt_FMT " and %" PetscInt_FMT " of a matrix with %" PetscInt_FMT " nonzeros; they must start at 0 and not decrease", place->row + i, rowptr[i], rowptr[i + 1], rowptr[m]);
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++)
      PetscCheck(col[k] >= 0 && col[k] < n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "row %" PetscInt_FMT ": column index %" PetscInt_FMT " of a matrix with %" PetscInt_FMT " columns; indices start at 0%s", place->row + i, col[k], n,
                 place->columns || place->column ? " in this block of a parallel matrix" : "");
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "the first row pointer is %" PetscInt_FMT "; it must be 0", rowptr[0]);
}

/* Raises the error for the value op->loss.overflow, which single precision cannot hold. */
PetscErrorCode GpOpRefuseValue_Private(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  PetscInt i, j;

  PetscFunctionBegin;
  PetscCall(GpOpLocate_Private(op, op->loss.overflow, rowptr, col, &i, &j));
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_gpucsr_storage single: the value %g in row %" PetscInt_FMT ", column %" PetscInt_FMT " overflows single precision; use auto or double", val[op->loss.overflow], place->row + i,
          place->columns ? place->columns[j] : place->column + j);
}
