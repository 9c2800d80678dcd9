/* Losses of several classes: apply their host or CUDA kernels to PETSc vectors. */
#include "solvers/bmrm/bmrmimpl.h"

typedef struct {
  const BMRMClasses      *of;
  const BMRMClassKernels *cuda;
  BMRMPlace               at;
  PetscInt                m; /* number of examples on this rank */
} Classes;

/* Gets the arrays, and the kernels for the memory that they are in. */
static PetscErrorCode Get(Classes *cl, Vec f, Vec e, Vec y, const BMRMClassKernels **kernels)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceGet_Private(&cl->at, (PetscBool)(cl->cuda != NULL), f, e, y));
  *kernels = cl->at.gpu ? cl->cuda : &cl->of->kernels;
  PetscFunctionReturn(PETSC_SUCCESS);
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
    PetscCheck(l->classes == PETSC_DECIDE || l->outputs == l->classes, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_SIZ, "There are labels for %" PetscInt_FMT " classes, but BMRMSetClasses() was called with %" PetscInt_FMT, l->outputs, l->classes);
  } else {
    PetscCall(VecMax(y, NULL, &most));
    l->outputs = l->classes == PETSC_DECIDE ? (PetscInt)most + 1 : l->classes;
    PetscCheck(most < l->outputs, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_OUTOFRANGE, "There is a label %g, but classes are counted from 0 and there are %" PetscInt_FMT, (double)most, l->outputs);
  }
  PetscCheck(l->outputs >= 2, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_WRONG, "The labels belong to one class only: training needs two classes or more");
  cl->m = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk_Classes(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  Classes                *cl      = (Classes *)l->data;
  BMRMPlace              *at      = &cl->at;
  const BMRMClassKernels *kernels = NULL;
  PetscReal               sum;

  PetscFunctionBegin;
  PetscCall(Get(cl, f, e, y, &kernels));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->risk)(&at->work, cl->m, (int)l->outputs, l->value, at->f, at->e, s, at->y));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 6.0 * (PetscLogDouble)l->outputs));
  sum = l->scale * at->work.result[0];
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut_Classes(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  Classes                *cl      = (Classes *)l->data;
  BMRMPlace              *at      = &cl->at;
  const BMRMClassKernels *kernels = NULL;
  PetscScalar            *ra;
  PetscReal               sum;

  PetscFunctionBegin;
  PetscCall(Get(cl, f, e, y, &kernels));
  PetscCall(BMRMPlaceGetWrite_Private(at, r, &ra));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->cut)(&at->work, cl->m, at->start / (l->many ? l->outputs : 1), (int)n, (int)k, (int)l->outputs, l->value, l->scale, at->f, at->e, s, at->y, ra));
  PetscCall(BMRMPlaceRestoreWrite_Private(at, r, &ra));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 6.0 * (PetscLogDouble)l->outputs));
  sum = l->scale * at->work.result[0];
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
  Classes                *cl      = (Classes *)l->data;
  BMRMPlace              *at      = &cl->at;
  const BMRMClassKernels *kernels = NULL;

  PetscFunctionBegin;
  PetscCall(Get(cl, f, e, y, &kernels));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->slopes)(&at->work, cl->m, (int)l->outputs, l->value, at->f, at->e, (int)nt, t, at->y));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 8.0 * (PetscLogDouble)nt * (PetscLogDouble)l->outputs));
  for (PetscInt k = 0; k < 2 * nt; k++) d[k] = l->scale * at->work.result[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The maximum of k lines for t >= 0. Starts with the line that is highest at t = 0 (the steepest if several are), and follows the first
  intersection with a steeper line repeatedly. Returns the slope right of 0; the kinks, fewer than k, are the points where the slope increases.
*/
static PetscReal Envelope(const BMRMClasses *of, const BMRMExample *x, PetscReal value[], PetscReal slope[], PetscInt *n, BMRMKink kink[])
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
static PetscErrorCode Pieces_Classes(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  const Classes     *cl = (const Classes *)l->data;
  const PetscInt     k  = l->outputs;
  const PetscScalar *fa, *ea, *ya;
  PetscReal         *value, *slope;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(PetscMalloc2(k, &value, k, &slope));
  for (PetscInt i = 0; i < cl->m; i++) {
    const BMRMExample x = {(int)k, cl->m, fa + i, ea + i, 0, ya + i, l->value};
    PetscInt          n;

    if (p->n + k > p->cap) PetscCall(BMRMPiecesReserve(p, PetscMax(2 * p->cap, p->n + k)));
    p->slope += l->scale * Envelope(cl->of, &x, value, slope, &n, p->kink + p->n);
    for (PetscInt j = 0; j < n; j++) p->kink[p->n++].jump *= l->scale;
  }
  PetscCall(PetscFree2(value, slope));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Classes(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceDestroy_Private(&((Classes *)l->data)->at));
  PetscCall(PetscFree(l->data));
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
PetscErrorCode BMRMLossSetClasses(BMRMLoss l, const BMRMClasses *of, const BMRMClassKernels *cuda)
{
  Classes *cl;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cl));
  cl->of          = of;
  cl->cuda        = cuda;
  l->data         = cl;
  l->ops->setup   = SetUp_Classes;
  l->ops->risk    = Risk_Classes;
  l->ops->cut     = Cut_Classes;
  l->ops->least   = Least_Classes;
  l->ops->slopes  = Slopes_Classes;
  l->ops->destroy = Destroy_Classes;
  if (of->line) l->ops->pieces = Pieces_Classes;
  l->many = (PetscBool)(of->task == BMRM_TASK_MULTILABEL);
  PetscCall(BMRMLossDescribe(l, of->task, l->many ? FitsSign : FitsClass, l->many ? "+1 or -1 for every class" : "a class 0, 1, ...", of->nparameter, of->parameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
