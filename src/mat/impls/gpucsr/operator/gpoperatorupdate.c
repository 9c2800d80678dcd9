/* Changes the values of an operator in place, as the host's values were changed, to avoid an upload. */
#include "mat/impls/gpucsr/operator/gpoperator.h"

/* Tells whether the values on the device equal those on the host, without rounding. */
PetscBool GpOpIsExact(GpOp op)
{
  return (PetscBool)(op->options.prec == GP_F64 || op->loss.at < 0);
}

/* Sets the rounding error as an upload would measure it. The update itself returns the position, but the size only in single precision. */
static PetscErrorCode GpOpSetLoss(GpOp op, const GpLoss *loss, const PetscInt rowptr[], const PetscInt col[], const double val[])
{
  PetscFunctionBegin;
  op->loss     = *loss;
  op->loss_row = op->loss_column = -1;
  op->loss.rounded = op->loss.lost = op->loss.at >= 0 ? -1 : 0;
  if (op->loss.at >= 0) {
    const double v = val[op->loss.at];

    op->loss.worst = PetscAbsReal(v - (double)(float)v) / PetscAbsReal(v);
    PetscCall(GpOpLocate_Private(op, op->loss.at, rowptr, col, &op->loss_row, &op->loss_column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpUpdate(GpOp op, const GpCsrUpdate *update, GpOp other, const PetscInt rowptr[], const PetscInt col[], const double val[], PetscBool *done)
{
  const PetscBool exact = (PetscBool)(GpOpIsExact(op) && (!other || GpOpIsExact(other))), flip = (PetscBool)(update->kind == GP_UPDATE_SCALE && PetscAbsReal(update->factor) == 1);

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  /* From a rounded value the host's new value cannot be computed; only a factor of 1 or -1 commutes with rounding. */
  if (!exact && !flip && update->kind != GP_UPDATE_SET) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t < 2; t++) {
    GpCsrUpdate u = *update;
    GpLoss      loss;

    if (!op->has[t]) continue;
    if (t) { /* in the transpose, rows and columns are exchanged, but the order of the two factors stays */
      u.row         = update->column;
      u.column      = update->row;
      u.columnfirst = !update->columnfirst;
    }
    if (other) {
      u.other     = other->side[t].csr.val;
      u.otherprec = other->side[t].csr.prec;
    }
    if (t && (update->kind == GP_UPDATE_SET || (other && !other->has[t]))) {
      PetscCall(GpOpRefreshTranspose(op));
      continue;
    }
    PetscCallGp(op->dev, "updating the values", GpCsrUpdateValues(&op->side[t].csr, &u, &loss));
    if (loss.overflow >= 0) PetscFunctionReturn(PETSC_SUCCESS);                /* the upload that follows names the value that overflows */
    if (op->options.exact && loss.at >= 0) PetscFunctionReturn(PETSC_SUCCESS); /* the upload that follows uses double precision */
    PetscCall(GpOpRefillSide_Private(op, t));
    if (!t && !(flip && !exact)) PetscCall(GpOpSetLoss(op, &loss, rowptr, col, val));
  }
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpZeroEntries(GpOp op)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    GpCsr *A = &op->side[t].csr;

    if (!op->has[t]) continue;
    PetscCallGp(op->dev, "zeroing the values", GpDevZero(op->dev, A->val, (size_t)A->nnz * GpPrecBytes(A->prec)));
    PetscCall(GpOpRefillSide_Private(op, t));
  }
  op->loss     = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  op->loss_row = op->loss_column = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
