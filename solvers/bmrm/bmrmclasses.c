/* Losses of several classes: from vectors to the scores of every example. */
#include "bmrmimpl.h"
#include "bmrmclasses.h"

typedef struct {
  const BMRMClasses *of;
  PetscReal         *z, *e, *u, *y; /* of one example */
} Classes;

/* the rows of this rank */
typedef struct {
  PetscInt           m, k, start;
  const PetscScalar *f, *e, *y;
} Rows;

static PetscErrorCode RowsGet(BMRMLoss l, Vec f, Vec e, Vec y, Rows *rows)
{
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &rows->m));
  PetscCall(VecGetOwnershipRange(f, &rows->start, NULL));
  rows->k = l->outputs;
  rows->m /= rows->k;
  rows->start /= rows->k;
  PetscCall(VecGetArrayRead(f, &rows->f));
  PetscCall(VecGetArrayRead(e, &rows->e));
  PetscCall(VecGetArrayRead(y, &rows->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsRestore(Vec f, Vec e, Vec y, Rows *rows)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayRead(y, &rows->y));
  PetscCall(VecRestoreArrayRead(e, &rows->e));
  PetscCall(VecRestoreArrayRead(f, &rows->f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scores of row i at the step s, their derivatives, its labels. */
static BMRMExample TakeRow(BMRMLoss l, const Rows *rows, PetscInt i, PetscReal s)
{
  const Classes    *cl = (const Classes *)l->data;
  const BMRMExample x  = {rows->k, cl->z, cl->y, l->value};

  for (PetscInt c = 0; c < rows->k; c++) {
    cl->e[c] = PetscRealPart(rows->e[c * rows->m + i]);
    cl->z[c] = PetscRealPart(rows->f[c * rows->m + i]) + s * cl->e[c];
  }
  for (PetscInt c = 0; c < (l->many ? rows->k : 1); c++) cl->y[c] = PetscRealPart(rows->y[c * rows->m + i]);
  return x;
}

/* u and offset of a row; a score that is no number must not vanish. Returns the value. */
static PetscReal CutRow(const Classes *cl, const BMRMExample *x, PetscReal *offset)
{
  PetscReal sum = 0, value = 0;

  for (PetscInt c = 0; c < x->k; c++) sum += x->z[c];
  if (PetscIsInfOrNanReal(sum)) {
    *offset = sum - sum;
    for (PetscInt c = 0; c < x->k; c++) cl->u[c] = *offset;
  } else (*cl->of->cut)(x, cl->u, offset);
  for (PetscInt c = 0; c < x->k; c++) value += cl->u[c] * x->z[c];
  return value + *offset;
}

static int FitsClass(double y)
{
  return y >= 0 && y <= 1e6 && y == floor(y);
}

static int FitsSign(double y)
{
  return y == 1 || y == -1;
}

static PetscErrorCode SetUp_Classes(BMRMLoss l, PetscInt m, Vec y)
{
  Classes  *cl = (Classes *)l->data;
  PetscReal most;
  PetscInt  n, M;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &n));
  if (l->many) {
    PetscCallMPI(MPI_Allreduce(&m, &M, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)y)));
    l->outputs = n / M;
    PetscCheck(l->classes == PETSC_DECIDE || l->outputs == l->classes, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_SIZ, "There are labels for %" PetscInt_FMT " classes, but %" PetscInt_FMT " are asked for", l->outputs, l->classes);
  } else {
    PetscCall(VecMax(y, NULL, &most));
    l->outputs = l->classes == PETSC_DECIDE ? (PetscInt)most + 1 : l->classes;
    PetscCheck(most < l->outputs, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_OUTOFRANGE, "There is a label %g, but classes are counted from 0 and there are %" PetscInt_FMT, (double)most, l->outputs);
  }
  PetscCheck(l->outputs >= 2, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_WRONG, "All labels are of one class: there is nothing to tell apart");
  PetscCall(PetscFree4(cl->z, cl->e, cl->u, cl->y));
  PetscCall(PetscMalloc4(l->outputs, &cl->z, l->outputs, &cl->e, l->outputs, &cl->u, l->outputs, &cl->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk_Classes(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  PetscReal sum = 0, offset;
  Rows      rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  for (PetscInt i = 0; i < rows.m; i++) {
    const BMRMExample x = TakeRow(l, &rows, i, s);

    sum += CutRow((Classes *)l->data, &x, &offset);
  }
  PetscCall(RowsRestore(f, e, y, &rows));
  sum *= l->scale;
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut_Classes(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  const Classes *cl  = (const Classes *)l->data;
  PetscReal      sum = 0, one;
  PetscScalar   *ra;
  Rows           rows;

  PetscFunctionBegin;
  PetscCall(VecSet(r, 0));
  PetscCall(RowsGet(l, f, e, y, &rows));
  PetscCall(VecGetArray(r, &ra));
  for (PetscInt i = 0; i < rows.m; i++) {
    BMRMExample x;

    if ((rows.start + i) % n != k) continue;
    x = TakeRow(l, &rows, i, s);
    (void)CutRow(cl, &x, &one);
    sum += one;
    for (PetscInt c = 0; c < rows.k; c++) ra[c * rows.m + i] = l->scale * cl->u[c];
  }
  PetscCall(VecRestoreArray(r, &ra));
  PetscCall(RowsRestore(f, e, y, &rows));
  sum *= l->scale;
  PetscCallMPI(MPI_Allreduce(&sum, offset, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Least_Classes(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(least, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slopes_Classes(BMRMLoss l, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[])
{
  const Classes *cl = (const Classes *)l->data;
  Rows           rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  PetscCall(PetscArrayzero(d, 2 * nt));
  for (PetscInt k = 0; k < nt; k++) {
    for (PetscInt i = 0; i < rows.m; i++) {
      const BMRMExample x = TakeRow(l, &rows, i, t[k]);
      PetscReal         offset;

      (void)CutRow(cl, &x, &offset);
      for (PetscInt c = 0; c < rows.k; c++) d[2 * k] += l->scale * cl->u[c] * cl->e[c];
      if (cl->of->curvature) d[2 * k + 1] += l->scale * (*cl->of->curvature)(&x, cl->u, cl->e);
    }
  }
  PetscCall(RowsRestore(f, e, y, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The largest of k lines, from t = 0 on: from the one that is highest there, the steepest of several, to the one that it meets first, and so on.
  Returns the slope at 0; the kinks, fewer than k, are where the slope grows.
*/
static PetscReal Envelope(const BMRMClasses *of, const BMRMExample *x, const PetscReal e[], PetscReal value[], PetscReal slope[], PetscInt *n, BMRMKink kink[])
{
  PetscInt  at = 0;
  PetscReal first;

  for (PetscInt c = 0; c < x->k; c++) {
    (*of->line)(x, e, c, &value[c], &slope[c]);
    if (value[c] > value[at] || (value[c] == value[at] && slope[c] > slope[at])) at = c;
  }
  first = slope[at];
  *n    = 0;
  while (1) {
    PetscReal meet = PETSC_INFINITY;
    PetscInt  next = -1;

    for (PetscInt c = 0; c < x->k; c++) {
      PetscReal t;

      if (!(slope[c] > slope[at])) continue;
      t = (value[at] - value[c]) / (slope[c] - slope[at]);
      if (t < meet || (t == meet && slope[c] > slope[next])) {
        meet = t;
        next = c;
      }
    }
    if (next < 0) return first;
    kink[*n].t        = PetscMax(meet, *n ? kink[*n - 1].t : 0);
    kink[*n].jump     = slope[next] - slope[at];
    kink[(*n)++].bend = 0;
    at                = next;
  }
}

static PetscErrorCode Pieces_Classes(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  const Classes *cl = (const Classes *)l->data;
  PetscReal     *value, *slope;
  Rows           rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  PetscCall(PetscMalloc2(rows.k, &value, rows.k, &slope));
  for (PetscInt i = 0; i < rows.m; i++) {
    const BMRMExample x = TakeRow(l, &rows, i, 0);
    PetscInt          n;

    if (p->n + rows.k > p->cap) PetscCall(BMRMPiecesReserve(p, PetscMax(2 * p->cap, p->n + rows.k)));
    p->slope += l->scale * Envelope(cl->of, &x, cl->e, value, slope, &n, p->kink + p->n);
    for (PetscInt j = 0; j < n; j++) p->kink[p->n++].jump *= l->scale;
  }
  PetscCall(PetscFree2(value, slope));
  PetscCall(RowsRestore(f, e, y, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Classes(BMRMLoss l)
{
  Classes *cl = (Classes *)l->data;

  PetscFunctionBegin;
  PetscCall(PetscFree4(cl->z, cl->e, cl->u, cl->y));
  PetscCall(PetscFree(l->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetClasses - Makes a loss a mean over the examples of a function of their scores, one a class

  Not Collective

  Input Parameters:
+ l  - the loss
- of - what it is; not copied

  Level: developer

  Note:
  It is evaluated on the host, by every rank for its own examples.

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMLossSetGrouped()`, `BMRMSetClasses()`
@*/
PetscErrorCode BMRMLossSetClasses(BMRMLoss l, const BMRMClasses *of)
{
  Classes *cl;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cl));
  cl->of          = of;
  l->data         = cl;
  l->ops->setup   = SetUp_Classes;
  l->ops->risk    = Risk_Classes;
  l->ops->cut     = Cut_Classes;
  l->ops->least   = Least_Classes;
  l->ops->slopes  = Slopes_Classes;
  l->ops->destroy = Destroy_Classes;
  if (of->line) l->ops->pieces = Pieces_Classes;
  l->onebyone = PETSC_TRUE;
  l->many     = (PetscBool)(of->task == BMRM_TASK_MULTILABEL);
  PetscCall(BMRMLossDescribe(l, of->task, l->many ? FitsSign : FitsClass, l->many ? "+1 or -1 for every class" : "a class 0, 1, ...", of->nparameter, of->parameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
