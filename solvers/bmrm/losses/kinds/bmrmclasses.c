/* Losses that are means over the examples of a function with one score per class. */
#include "bmrmkinds.h"

static PetscErrorCode BMRMLossSetUp_Classes(BMRMLoss l, PetscInt m, Vec y)
{
  PetscReal most;
  PetscInt  n, M;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &n));
  if (l->many) {
    PetscCallMPI(MPI_Allreduce(&m, &M, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)y)));
    l->outputs = n / M;
    PetscCheck(l->classes == PETSC_DECIDE || l->outputs == l->classes, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_SIZ, "There are labels for %" PetscInt_FMT " classes, but BMRMSetClasses() was called with %" PetscInt_FMT, l->outputs, l->classes);
  } else {
    PetscCall(VecMax(y, NULL, &most));
    l->outputs = l->classes == PETSC_DECIDE ? (PetscInt)most + 1 : l->classes;
    PetscCheck(most < l->outputs, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_OUTOFRANGE, "There is a label %g, but classes are counted from 0 and there are %" PetscInt_FMT, (double)most, l->outputs);
  }
  PetscCheck(l->outputs >= 2, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_WRONG, "The labels belong to one class only: training needs two classes or more");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The maximum of k lines for t >= 0. Starts with the line that is highest at t = 0 (the steepest if several are), and follows the first
  intersection with a steeper line repeatedly. Returns the slope right of 0; the kinks, fewer than k, are the points where the slope increases.
*/
static PetscReal BMRMClassesFindEnvelope(const BMRMClasses *of, const BMRMExample *x, PetscReal value[], PetscReal slope[], PetscInt *n, BMRMKink kink[])
{
  PetscInt  at = 0;
  PetscReal first;

  for (PetscInt c = 0; c < x->k; c++) {
    (*of->line)(x, (int)c, &value[c], &slope[c]);
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

/* Runs on the host for all types of vectors. */
static PetscErrorCode BMRMLossPieces_Classes(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  const BMRMClasses *cl = (const BMRMClasses *)((BMRMMean *)l->data)->of;
  const PetscInt     k  = l->outputs;
  const PetscScalar *fa, *ea, *ya;
  PetscReal         *value, *slope;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &m));
  m /= k;
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(PetscMalloc2(k, &value, k, &slope));
  for (PetscInt i = 0; i < m; i++) {
    const BMRMExample x     = {(int)k, m, fa + i, ea + i, 0, ya + i, l->value};
    const PetscReal   scale = l->scale * (l->weight ? l->weight[i] : 1);
    PetscInt          n;

    if (p->n + k > p->cap) PetscCall(BMRMPiecesReserve(p, PetscMax(2 * p->cap, p->n + k)));
    p->slope += scale * BMRMClassesFindEnvelope(cl, &x, value, slope, &n, p->kink + p->n);
    for (PetscInt j = 0; j < n; j++) p->kink[p->n++].jump *= scale;
  }
  PetscCall(PetscFree2(value, slope));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetClasses - Sets the operations of a loss of several classes: a mean over the examples of a function with one score per class

  Not Collective

  Input Parameters:
+ l    - the loss
. of   - the formulas and the host kernels, defined by bmrmclassrows.h; not copied
- cuda - the CUDA kernels, or `NULL`: then vectors on a GPU are copied to the host

  Level: developer

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMLossSetGrouped()`, `BMRMSetClasses()`
@*/
PetscErrorCode BMRMLossSetClasses(BMRMLoss l, const BMRMClasses *of, const BMRMKernels *cuda)
{
  static const PetscLogDouble flops[] = {6, 6, 8};

  PetscFunctionBegin;
  PetscCall(BMRMLossSetMean_Private(l, of, &of->kernels, cuda, flops));
  l->ops->setup = BMRMLossSetUp_Classes;
  l->ops->least = BMRMLossLeastZero_Private;
  if (of->line) l->ops->pieces = BMRMLossPieces_Classes;
  l->many = (PetscBool)(of->task == BMRM_TASK_MULTILABEL);
  PetscCall(BMRMLossDescribe(l, of->task, NULL, NULL, of->nparameter, of->parameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
