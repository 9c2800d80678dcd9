/* Makes a loss out of the formulas for one example: the operations that a mean of them over the examples needs.

   A file of losses/ defines, for a score z, a label y and its parameters p, and then includes this one:

     LossValue(z, y, p)            the loss
     LossSlope(z, y, p, side)      its derivative by z, right of z for side > 0, left for side < 0
     LossCurvature(z, y, p, side)  its second derivative there
     LossOffset(u, y, p)           the largest c with u z + c <= loss(z) for every z: the conjugate with the other sign
     LossLabelFits(y)              whether the label makes sense
     LOSS, LOSS_KINKS              its name, and in how many places a piecewise quadratic loss breaks; -1 when it is not one
     LossKink(k, y, p, &z, &jump, &bend)   the places in rising order, and what slope and curvature gain there
     LOSS_TASK, LOSS_LABELS, LOSS_PARAMETERS(l)

   A cut comes from the conjugate of the slope taken, not from values and products: nothing cancels, and rounding of the products
   makes it at worst a little less tight, never wrong. */
#ifndef BMRM_POINTWISE_H
#define BMRM_POINTWISE_H

#include "solvers/bmrm/bmrmloss.h"

static PetscErrorCode CheckLabels(BMRMLoss l, Vec y, PetscInt *bad, PetscInt *first)
{
  BMRMRows rows;

  PetscFunctionBegin;
  *bad   = 0;
  *first = -1;
  PetscCall(BMRMRowsGet(NULL, NULL, y, &rows));
  for (PetscInt i = rows.n - 1; i >= 0; i--) {
    if (LossLabelFits(PetscRealPart(rows.y[i]))) continue;
    (*bad)++;
    *first = rows.start + i;
  }
  PetscCall(BMRMRowsRestore(NULL, NULL, y, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  PetscReal sum = 0;
  BMRMRows  rows;

  PetscFunctionBegin;
  PetscCall(BMRMRowsGet(f, e, y, &rows));
  for (PetscInt i = 0; i < rows.n; i++) sum += LossValue(PetscRealPart(rows.f[i] + s * rows.e[i]), PetscRealPart(rows.y[i]), l->value);
  PetscCall(BMRMRowsRestore(f, e, y, &rows));
  sum *= l->scale;
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscCall(PetscLogFlops(4.0 * rows.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, Vec r, PetscInt n, PetscReal offset[])
{
  PetscReal    sum[BMRM_MAX_BLOCKS] = {0};
  PetscScalar *ra;
  PetscInt     block;
  BMRMRows     rows;

  PetscFunctionBegin;
  PetscCall(BMRMRowsGet(f, e, y, &rows));
  PetscCall(VecGetArrayWrite(r, &ra));
  block = rows.start % n;
  for (PetscInt i = 0; i < rows.n; i++) {
    const PetscReal yi = PetscRealPart(rows.y[i]), u = LossSlope(PetscRealPart(rows.f[i] + s * rows.e[i]), yi, l->value, 1);

    ra[i] = l->scale * u;
    sum[block] += LossOffset(u, yi, l->value);
    block = block + 1 == n ? 0 : block + 1;
  }
  PetscCall(VecRestoreArrayWrite(r, &ra));
  PetscCall(BMRMRowsRestore(f, e, y, &rows));
  for (PetscInt k = 0; k < n; k++) sum[k] *= l->scale;
  PetscCallMPI(MPI_Allreduce(sum, offset, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscCall(PetscLogFlops(6.0 * rows.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The slope 0 belongs to the least value. */
static PetscErrorCode Least(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  PetscReal sum[BMRM_MAX_BLOCKS] = {0};
  BMRMRows  rows;

  PetscFunctionBegin;
  PetscCall(BMRMRowsGet(NULL, NULL, y, &rows));
  for (PetscInt i = 0; i < rows.n; i++) sum[(rows.start + i) % n] += LossOffset(0, PetscRealPart(rows.y[i]), l->value);
  PetscCall(BMRMRowsRestore(NULL, NULL, y, &rows));
  for (PetscInt k = 0; k < n; k++) sum[k] *= l->scale;
  PetscCallMPI(MPI_Allreduce(sum, least, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Derivative(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal d[2])
{
  PetscReal first = 0, second = 0;
  BMRMRows  rows;

  PetscFunctionBegin;
  PetscCall(BMRMRowsGet(f, e, y, &rows));
  for (PetscInt i = 0; i < rows.n; i++) {
    const PetscReal ei = PetscRealPart(rows.e[i]), z = PetscRealPart(rows.f[i]) + s * ei, yi = PetscRealPart(rows.y[i]);

    if (ei == 0) continue; /* an infinite slope there would spoil the sum */
    first += ei * LossSlope(z, yi, l->value, ei);
    second += ei * ei * LossCurvature(z, yi, l->value, ei);
  }
  PetscCall(BMRMRowsRestore(f, e, y, &rows));
  d[0] = l->scale * first;
  d[1] = l->scale * second;
  PetscCall(PetscLogFlops(10.0 * rows.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if LOSS_KINKS >= 0
static PetscErrorCode Pieces(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  PetscReal d[2];
  PetscInt  n = p->n;
  BMRMRows  rows;

  PetscFunctionBegin;
  PetscCall(Derivative(l, f, e, 0, y, d));
  p->slope += d[0];
  p->curve += d[1];
  PetscCall(BMRMRowsGet(f, e, y, &rows));
  PetscCall(BMRMPiecesReserve(p, n + LOSS_KINKS * rows.n));
  for (PetscInt k = 0; k < LOSS_KINKS; k++) {
    for (PetscInt i = 0; i < rows.n; i++) {
      const PetscReal ei = PetscRealPart(rows.e[i]), scaled = l->scale * PetscAbsReal(ei);
      PetscReal       z, jump, bend, way;
      PetscBool       ahead;

      LossKink(k, PetscRealPart(rows.y[i]), l->value, &z, &jump, &bend);
      way   = z - PetscRealPart(rows.f[i]);
      ahead = (PetscBool)(((way > 0) & (ei > 0)) | ((way < 0) & (ei < 0)));

      /* no branches: which way they go is anybody's guess */
      p->kink[n].t    = way / (ahead ? ei : 1);
      p->kink[n].jump = scaled * jump;
      p->kink[n].bend = scaled * ei * bend; /* backwards, a gain is a loss */
      n += ahead;
    }
  }
  PetscCall(BMRMRowsRestore(f, e, y, &rows));
  p->n = n;
  PetscCall(PetscLogFlops(6.0 * LOSS_KINKS * rows.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

#define BMRM_LOSS_CREATE_(name) BMRMLossCreate_##name
#define BMRM_LOSS_CREATE(name)  BMRM_LOSS_CREATE_(name)

PETSC_INTERN PetscErrorCode BMRM_LOSS_CREATE(LOSS)(BMRMLoss);

PetscErrorCode BMRM_LOSS_CREATE(LOSS)(BMRMLoss l)
{
  PetscFunctionBegin;
  l->ops->checklabels = CheckLabels;
  l->ops->risk        = Risk;
  l->ops->cut         = Cut;
  l->ops->least       = Least;
  l->ops->derivative  = Derivative;
#if LOSS_KINKS >= 0
  l->ops->pieces = Pieces;
#endif
  l->task   = LOSS_TASK;
  l->labels = LOSS_LABELS;
#if defined(LOSS_PARAMETERS)
  LOSS_PARAMETERS(l);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
