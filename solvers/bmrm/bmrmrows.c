/* Products with the rows of an AIJ matrix that one process has alone: what MatMult() and MatMultTranspose() give, with less work. */
#include "bmrmimpl.h"
#include <petsc/private/matimpl.h>

/* Are the rows at hand, and is nobody else to multiply by them? Types derived from AIJ have products of their own. */
PetscErrorCode BMRMRowsUsable(Mat A, PetscBool *usable)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, usable));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt           m, n;
  const PetscInt    *start, *column;
  const PetscScalar *value;
} Rows;

static PetscErrorCode RowsGet(Mat A, Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->start, &rows->column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A matrix of type %s does not show its rows", ((PetscObject)A)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(A, &rows->value));
  PetscCall(MatGetLocalSize(A, NULL, &rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsRestore(Mat A, Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &rows->value));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->start, &rows->column, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <row i, x>, in four sums, none of which waits for another */
static inline PetscScalar RowDot(const Rows *rows, PetscInt i, const PetscScalar x[])
{
  const PetscInt    *column = rows->column;
  const PetscScalar *value  = rows->value;
  const PetscInt     end    = rows->start[i + 1];
  PetscScalar        s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  PetscInt           k = rows->start[i];

  for (; k + 3 < end; k += 4) {
    s0 += value[k] * x[column[k]];
    s1 += value[k + 1] * x[column[k + 1]];
    s2 += value[k + 2] * x[column[k + 2]];
    s3 += value[k + 3] * x[column[k + 3]];
  }
  for (; k < end; k++) s0 += value[k] * x[column[k]];
  return (s0 + s1) + (s2 + s3);
}

/* y = A x */
PetscErrorCode BMRMRowsMult(Mat A, Vec x, Vec y)
{
  Rows               rows;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_Mult, A, x, y, 0));
  PetscCall(RowsGet(A, &rows));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  for (PetscInt i = 0; i < rows.m; i++) ya[i] = RowDot(&rows, i, xa);
  PetscCall(PetscLogFlops(2.0 * rows.start[rows.m]));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(RowsRestore(A, &rows));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A'x from the rows whose factor is not zero. Examples that cost nothing have no part in a cut, nor have those of other cuts of the pass, so
   that several cuts cost as much as one. */
PetscErrorCode BMRMRowsMultTranspose(Mat A, Vec x, Vec y)
{
  Rows               rows;
  const PetscScalar *xa;
  PetscScalar       *ya;
  PetscLogDouble     flops = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_MultTranspose, A, x, y, 0));
  PetscCall(RowsGet(A, &rows));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(PetscArrayzero(ya, rows.n));
  for (PetscInt i = 0; i < rows.m; i++) {
    const PetscScalar s   = xa[i];
    const PetscInt    end = rows.start[i + 1];

    if (s == (PetscScalar)0) continue;
    for (PetscInt k = rows.start[i]; k < end; k++) ya[rows.column[k]] += s * rows.value[k];
    flops += 2.0 * (end - rows.start[i]);
  }
  PetscCall(PetscLogFlops(flops));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(RowsRestore(A, &rows));
  PetscCall(PetscLogEventEnd(MAT_MultTranspose, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
