/* Products with the rows of an AIJ matrix that one process has alone: what MatMult() and MatMultTranspose() give, with less work. */
#include "bmrmimpl.h"
#include <petsc/private/matimpl.h>

#define BMRM_ANEW 50 /* passes */

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
static PetscErrorCode RowsMult(Mat A, Vec x, Vec y)
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

/*
  y = z + A'(x - from), or without z and from A'x. Rows whose factor is zero are not read: examples that cost nothing, those of other cuts of the pass,
  those whose slope is the same at both points.
*/
static PetscErrorCode RowsMultTranspose(Mat A, Vec from, Vec x, Vec z, Vec y)
{
  Rows               rows;
  const PetscScalar *xa, *fa = NULL;
  PetscScalar       *ya;
  PetscLogDouble     flops = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_MultTranspose, A, x, y, 0));
  PetscCall(RowsGet(A, &rows));
  if (!z) PetscCall(VecSet(y, 0));
  else if (z != y) PetscCall(VecCopy(z, y));
  PetscCall(VecGetArrayRead(x, &xa));
  if (from) PetscCall(VecGetArrayRead(from, &fa));
  PetscCall(VecGetArray(y, &ya));
  for (PetscInt i = 0; i < rows.m; i++) {
    const PetscScalar s   = fa ? xa[i] - fa[i] : xa[i];
    const PetscInt    end = rows.start[i + 1];

    if (s == (PetscScalar)0) continue;
    for (PetscInt k = rows.start[i]; k < end; k++) ya[rows.column[k]] += s * rows.value[k];
    flops += 2.0 * (end - rows.start[i]);
  }
  PetscCall(PetscLogFlops(flops));
  PetscCall(VecRestoreArray(y, &ya));
  if (from) PetscCall(VecRestoreArrayRead(from, &fa));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(RowsRestore(A, &rows));
  PetscCall(PetscLogEventEnd(MAT_MultTranspose, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The cuts at the best point and past it: from the former best point to this one, and on to the other, the slopes of few examples change. Now and then
  the product is made anew, so that rounding does not gather.
*/
static PetscErrorCode Pair(BMRM b)
{
  const PetscBool anew = (PetscBool)(!b->known || b->it % BMRM_ANEW == 0);
  Vec             swap = b->rbest;

  PetscFunctionBegin;
  PetscCall(RowsMultTranspose(b->A, anew ? NULL : b->rbest, b->r[0], anew ? NULL : b->gbest, b->gbest));
  PetscCall(VecCopy(b->gbest, b->a[0]));
  if (b->taken > 1) PetscCall(RowsMultTranspose(b->A, b->r[0], b->r[1], b->gbest, b->a[1]));
  b->rbest = b->r[0];
  b->r[0]  = swap;
  b->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of a pass: e = A d, or with the transpose of A those of the cuts. */
PetscErrorCode BMRMRowsProducts(BMRM b, PetscBool transpose)
{
  PetscFunctionBegin;
  b->matmults += transpose ? b->ncut : 1; /* a pair is hardly more than one product */
  if (!transpose) PetscCall(RowsMult(b->A, b->d, b->e));
  else if (b->pair) PetscCall(Pair(b));
  else {
    for (PetscInt k = 0; k < b->taken; k++) PetscCall(RowsMultTranspose(b->A, NULL, b->r[k], NULL, b->a[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
