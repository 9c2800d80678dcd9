/* Elementwise operations of a gpu Vec.  If kernels cannot use another operand in place, the parent's operation runs on the host. */
#include "vec/gpuvecimpl.h"

/* Runs z = formula(x, y, z) of a row of vec.def.  x and y may be NULL if the formula does not read them.  flops is the count per entry. */
static PetscErrorCode VecGPUMap(GpVecMapId op, double a, double b, double c, Vec x, Vec y, Vec z, PetscBool readsz, int flops)
{
  const double  scalars[3] = {a, b, c};
  const double *px = NULL, *py = NULL;
  double       *pz = NULL;
  GpDev         dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  if (x) PetscCall(VecGPUGetOperand_Private(x, &px));
  if (y) PetscCall(VecGPUGetOperand_Private(y, &py));
  if (readsz) PetscCall(VecGPUGetDevice_Private(z, &pz));
  else PetscCall(VecGPUGetDeviceWrite_Private(z, &pz));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
  PetscCallGp(dev, GpVecMapRows[op].name, GpVecKernelsOf(dev)->map[op](dev, z->map->n, scalars, px, py, pz));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
  PetscCall(VecGPURestoreDevice_Private(z));
  if (flops) PetscCall(PetscGPUCSRLogFlops_Private(dev, (PetscLogDouble)flops * z->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecSet_GPU(Vec x, PetscScalar alpha)
{
  PetscFunctionBegin;
  PetscCall(VecGPUMap(GP_VEC_set, alpha, 0, 0, NULL, NULL, x, PETSC_FALSE, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As in the parent, a factor of zero sets all entries to zero, also NaNs. */
static PetscErrorCode VecScale_GPU(Vec x, PetscScalar alpha)
{
  PetscFunctionBegin;
  if (alpha == 0.0) PetscCall(VecSet_GPU(x, 0));
  else if (alpha != 1.0) PetscCall(VecGPUMap(GP_VEC_scale, alpha, 0, 0, NULL, NULL, x, PETSC_TRUE, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecShift_GPU(Vec x, PetscScalar shift)
{
  PetscFunctionBegin;
  PetscCall(VecGPUMap(GP_VEC_shift, shift, 0, 0, NULL, NULL, x, PETSC_TRUE, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCopy_GPU(Vec x, Vec y)
{
  const double *px;
  double       *py;
  GpDev         dev;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  if (!VecGPUIsReachable(y)) {
    PetscCall((*VecGPUState(x)->base->copy)(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(VecGPUGetOperand_Private(x, &px));
  PetscCall(VecGPUGetDeviceArrayWrite(y, &py));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
  PetscCallGp(dev, "copying a vector", GpDevCopyWithin(dev, py, px, (size_t)x->map->n * sizeof(double)));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
  PetscCall(VecGPURestoreDeviceArrayWrite(y, &py));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool VecGPUIsMemoryShared(const Vec_GPU *g)
{
  return (PetscBool)(g->window || g->windows || g->original || g->locals);
}

/* Swaps the pointers to device memory, not the values, unless another vector shares that memory. */
static PetscErrorCode VecSwap_GPU(Vec x, Vec y)
{
  Vec_GPU *gx = VecGPUState(x), *gy = VecGPUIs(y) ? VecGPUState(y) : NULL;
  double  *px, *py;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  if (!gy || gx->shared || VecGPUIsMemoryShared(gx) || VecGPUIsMemoryShared(gy)) {
    PetscCall((*gx->base->swap)(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUGetDevice_Private(x, &px));
  PetscCall(VecGPUGetDevice_Private(y, &py));
  gx->device = py;
  gy->device = px;
  PetscCall(VecGPURestoreDevice_Private(x));
  PetscCall(VecGPURestoreDevice_Private(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAXPY_GPU(Vec y, PetscScalar alpha, Vec x)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x)) PetscCall((*VecGPUState(y)->base->axpy)(y, alpha, x));
  else if (alpha != 0.0) PetscCall(VecGPUMap(GP_VEC_axpy, alpha, 0, 0, x, NULL, y, PETSC_TRUE, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAYPX_GPU(Vec y, PetscScalar beta, Vec x)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x)) PetscCall((*VecGPUState(y)->base->aypx)(y, beta, x));
  else if (beta == 0.0) PetscCall(VecCopy_GPU(x, y));
  else PetscCall(VecGPUMap(GP_VEC_aypx, beta, 0, 0, x, NULL, y, PETSC_TRUE, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAXPBY_GPU(Vec y, PetscScalar alpha, PetscScalar beta, Vec x)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x)) PetscCall((*VecGPUState(y)->base->axpby)(y, alpha, beta, x));
  else if (alpha == 0.0) PetscCall(VecScale_GPU(y, beta));
  else if (beta == 0.0) PetscCall(VecGPUMap(GP_VEC_multiple, alpha, 0, 0, x, NULL, y, PETSC_FALSE, 1));
  else PetscCall(VecGPUMap(GP_VEC_axpby, alpha, beta, 0, x, NULL, y, PETSC_TRUE, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecWAXPY_GPU(Vec w, PetscScalar alpha, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x) || !VecGPUIsReachable(y)) PetscCall((*VecGPUState(w)->base->waxpy)(w, alpha, x, y));
  else if (alpha == 0.0) PetscCall(VecCopy_GPU(y, w));
  else PetscCall(VecGPUMap(GP_VEC_waxpy, alpha, 0, 0, x, y, w, PETSC_FALSE, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAXPBYPCZ_GPU(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x) || !VecGPUIsReachable(y)) PetscCall((*VecGPUState(z)->base->axpbypcz)(z, alpha, beta, gamma, x, y));
  else if (gamma == 0.0) PetscCall(VecGPUMap(GP_VEC_combine, alpha, beta, 0, x, y, z, PETSC_FALSE, 3));
  else PetscCall(VecGPUMap(GP_VEC_axpbypcz, alpha, beta, gamma, x, y, z, PETSC_TRUE, 5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMAXPY_GPU(Vec y, PetscInt many, const PetscScalar *alpha, Vec *x)
{
  double *py;
  GpDev   dev;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < many; j++) {
    if (VecGPUIsReachable(x[j])) continue;
    PetscCall((*VecGPUState(y)->base->maxpy)(y, many, alpha, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(VecGPUGetDevice_Private(y, &py));
  for (PetscInt from = 0; from < many; from += GP_VEC_BATCH) {
    const int     batch = (int)PetscMin(many - from, GP_VEC_BATCH);
    const double *px[GP_VEC_BATCH];

    for (int j = 0; j < batch; j++) PetscCall(VecGPUGetOperand_Private(x[from + j], &px[j]));
    PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
    PetscCallGp(dev, "maxpy", GpVecKernelsOf(dev)->maxpy(dev, y->map->n, batch, alpha + from, px, py));
    PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
  }
  PetscCall(VecGPURestoreDevice_Private(y));
  PetscCall(PetscGPUCSRLogFlops_Private(dev, 2.0 * many * y->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = formula(x, y) */
static PetscErrorCode VecGPUPointwise(GpVecMapId op, double a, Vec w, Vec x, Vec y, PetscErrorCode (*base)(Vec, Vec, Vec))
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(x) || !VecGPUIsReachable(y)) PetscCall((*base)(w, x, y));
  else PetscCall(VecGPUMap(op, a, 0, 0, x, y, w, PETSC_FALSE, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define POINTWISE(Name, formula, operation) \
  static PetscErrorCode Vec##Name##_GPU(Vec w, Vec x, Vec y) \
  { \
    PetscFunctionBegin; \
    PetscCall(VecGPUPointwise(GP_VEC_##formula, 0, w, x, y, VecGPUState(w)->base->operation)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
POINTWISE(PointwiseMult, product, pointwisemult)
POINTWISE(PointwiseMax, larger, pointwisemax)
POINTWISE(PointwiseMin, smaller, pointwisemin)
POINTWISE(PointwiseMaxAbs, largerabs, pointwisemaxabs)

#define UNARY(Name, formula, flops) \
  static PetscErrorCode Vec##Name##_GPU(Vec x) \
  { \
    PetscFunctionBegin; \
    PetscCall(VecGPUMap(GP_VEC_##formula, 0, 0, 0, NULL, NULL, x, PETSC_TRUE, flops)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
UNARY(Reciprocal, reciprocal, 1)
UNARY(Abs, absolute, 0)
UNARY(SqrtAbs, sqrtabs, 1)

/* The value of 0 / 0 differs between releases of PETSc.  It is found once, by dividing standard vectors. */
static PetscErrorCode VecPointwiseDivide_GPU(Vec w, Vec x, Vec y)
{
  static PetscBool   asked = PETSC_FALSE;
  static PetscScalar zero[1], quotient[1];

  PetscFunctionBegin;
  if (!asked) {
    Vec z, q;

    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, zero, &z));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, quotient, &q));
    PetscCall(VecPointwiseDivide(q, z, z));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&q));
    asked = PETSC_TRUE;
  }
  PetscCall(VecGPUPointwise(GP_VEC_quotient, quotient[0], w, x, y, VecGPUState(w)->base->pointwisedivide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetMaps_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->set             = VecSet_GPU;
  v->ops->scale           = VecScale_GPU;
  v->ops->shift           = VecShift_GPU;
  v->ops->copy            = VecCopy_GPU;
  v->ops->swap            = VecSwap_GPU;
  v->ops->axpy            = VecAXPY_GPU;
  v->ops->aypx            = VecAYPX_GPU;
  v->ops->axpby           = VecAXPBY_GPU;
  v->ops->waxpy           = VecWAXPY_GPU;
  v->ops->axpbypcz        = VecAXPBYPCZ_GPU;
  v->ops->maxpy           = VecMAXPY_GPU;
  v->ops->pointwisemult   = VecPointwiseMult_GPU;
  v->ops->pointwisedivide = VecPointwiseDivide_GPU;
  v->ops->pointwisemax    = VecPointwiseMax_GPU;
  v->ops->pointwisemin    = VecPointwiseMin_GPU;
  v->ops->pointwisemaxabs = VecPointwiseMaxAbs_GPU;
  v->ops->reciprocal      = VecReciprocal_GPU;
  v->ops->abs             = VecAbs_GPU;
  v->ops->sqrt            = VecSqrtAbs_GPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
