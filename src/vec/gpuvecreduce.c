/* Reductions of a gpu Vec over one rank, and the local parts of split reductions on several ranks.  A reduction is one kernel launch; the
   host then waits for the result in pinned memory. */
#include "vec/gpuvecimpl.h"

/* Computes the one or two results of a row of vec.def.  y is NULL if the reduction has one operand. */
PetscErrorCode VecGPUReduce_Private(Vec x, Vec y, GpVecReduceId op, double result[])
{
  const double *px = NULL, *py = NULL;
  GpVecWork    *work = NULL;
  GpDev         dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&dev));
  PetscCall(VecGPUGetWork_Private(&work));
  PetscCall(VecGPUGetOperand_Private(x, &px));
  if (y) PetscCall(VecGPUGetOperand_Private(y, &py));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
  PetscCallGp(dev, GpVecReduceRows[op].name, GpVecKernelsOf(dev)->reduce[op](work, x->map->n, px, py, 0));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
  PetscCallGp(dev, GpVecReduceRows[op].name, GpVecWait(work));
  for (int k = 0; k < GpVecReduceRows[op].results; k++) result[k] = work->result[k];
  PetscCall(PetscGPUCSRLogFlops_Private(dev, 2.0 * x->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDot_SeqGPU(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(y)) PetscCall((*VecGPUState(x)->base->dot_local)(x, y, z));
  else PetscCall(VecGPUReduce_Private(x, y, GP_VEC_dot, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits once for every GP_VEC_RESULTS inner products; each launch computes up to GP_VEC_BATCH of them. */
PetscErrorCode VecGPUMDot_Private(Vec x, PetscInt many, const Vec y[], PetscScalar result[])
{
  const double *px   = NULL;
  GpVecWork    *work = NULL;
  GpDev         dev;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < many; j++) {
    if (VecGPUIsReachable(y[j])) continue;
    PetscCall((*VecGPUState(x)->base->mdot_local)(x, many, y, result));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscGPUCSRGetDevice_Private(&dev));
  PetscCall(VecGPUGetWork_Private(&work));
  PetscCall(VecGPUGetOperand_Private(x, &px));
  for (PetscInt from = 0; from < many; from += GP_VEC_RESULTS) {
    const int here = (int)PetscMin(many - from, GP_VEC_RESULTS);

    for (int slot = 0; slot < here; slot += GP_VEC_BATCH) {
      const int     batch = PetscMin(here - slot, GP_VEC_BATCH);
      const double *py[GP_VEC_BATCH];

      for (int j = 0; j < batch; j++) PetscCall(VecGPUGetOperand_Private(y[from + slot + j], &py[j]));
      PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
      PetscCallGp(dev, "mdot", GpVecKernelsOf(dev)->mdot(work, x->map->n, batch, px, py, slot));
      PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
    }
    PetscCallGp(dev, "mdot", GpVecWait(work));
    for (int j = 0; j < here; j++) result[from + j] = work->result[j];
  }
  PetscCall(PetscGPUCSRLogFlops_Private(dev, 2.0 * many * x->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNorm_SeqGPU(Vec x, NormType type, PetscReal *z)
{
  double result[2] = {0, 0};

  PetscFunctionBegin;
  switch (type) {
  case NORM_1:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_norm1, result));
    break;
  case NORM_INFINITY:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_maxabs, result));
    if (result[1] < 0) result[0] = 0; /* no entries */
    break;
  case NORM_1_AND_2:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_norm12, result));
    z[1] = PetscSqrtReal(result[1]);
    break;
  default:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_square, result));
    result[0] = PetscSqrtReal(result[0]);
  }
  z[0] = result[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the local entries; VecSum() of PETSc adds the sums of the ranks. */
static PetscErrorCode VecSum_GPU(Vec x, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_sum, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMax_SeqGPU(Vec x, PetscInt *place, PetscReal *z)
{
  double result[2];

  PetscFunctionBegin;
  PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_max, result));
  *z = result[1] < 0 ? PETSC_MIN_REAL : result[0];
  if (place) *place = (PetscInt)result[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMin_SeqGPU(Vec x, PetscInt *place, PetscReal *z)
{
  double result[2];

  PetscFunctionBegin;
  PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_min, result));
  *z = result[1] < 0 ? PETSC_MAX_REAL : -result[0];
  if (place) *place = (PetscInt)result[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the local results.  If t is not reachable, the parent's local inner products run on the host; they are the same for VECSEQ and
   VECMPI. */
PetscErrorCode VecDotNorm2_SeqGPU(Vec s, Vec t, PetscScalar *dot, PetscScalar *square)
{
  double result[2];

  PetscFunctionBegin;
  if (VecGPUIsReachable(t)) PetscCall(VecGPUReduce_Private(s, t, GP_VEC_dotsquare, result));
  else {
    PetscCall((*VecGPUState(s)->base->dot_local)(s, t, &result[0]));
    PetscCall((*VecGPUState(s)->base->dot_local)(t, t, &result[1]));
  }
  *dot    = result[0];
  *square = result[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMaxPointwiseDivide_SeqGPU(Vec x, Vec y, PetscReal *max)
{
  double result[2];

  PetscFunctionBegin;
  if (!VecGPUIsReachable(y)) {
    PetscCall((*VecGPUState(x)->base->maxpointwisedivide)(x, y, max));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUReduce_Private(x, y, GP_VEC_maxratio, result));
  *max = result[1] < 0 ? 0 : result[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetReductions_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->dot                = VecDot_SeqGPU;
  v->ops->tdot               = VecDot_SeqGPU;
  v->ops->dot_local          = VecDot_SeqGPU;
  v->ops->tdot_local         = VecDot_SeqGPU;
  v->ops->mdot               = VecGPUMDot_Private;
  v->ops->mtdot              = VecGPUMDot_Private;
  v->ops->mdot_local         = VecGPUMDot_Private;
  v->ops->mtdot_local        = VecGPUMDot_Private;
  v->ops->norm               = VecNorm_SeqGPU;
  v->ops->norm_local         = VecNorm_SeqGPU;
  v->ops->sum                = VecSum_GPU;
  v->ops->max                = VecMax_SeqGPU;
  v->ops->min                = VecMin_SeqGPU;
  v->ops->dotnorm2           = VecDotNorm2_SeqGPU;
  v->ops->maxpointwisedivide = VecMaxPointwiseDivide_SeqGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
