/* The Vec type mpigpu: the operations of seqgpu on each rank, and reductions of their results over the ranks. */
#include "vec/gpuvecimpl.h"

static struct _VecOps VecOpsBase_MPI; /* operations of VECMPI, copied from the most recently created vector */

static PetscErrorCode VecGPUAllreduce(Vec x, double values[], PetscInt count, MPI_Op op)
{
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(count, &n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, op, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDot_MPIGPU(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall((*x->ops->dot_local)(x, y, z));
  PetscCall(VecGPUAllreduce(x, z, 1, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMDot_MPIGPU(Vec x, PetscInt many, const Vec y[], PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUMDot_Private(x, many, y, z));
  PetscCall(VecGPUAllreduce(x, z, many, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ranks add sums of squares, not norms. */
static PetscErrorCode VecNorm_MPIGPU(Vec x, NormType type, PetscReal *z)
{
  double result[2] = {0, 0};

  PetscFunctionBegin;
  switch (type) {
  case NORM_1:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_norm1, result));
    PetscCall(VecGPUAllreduce(x, result, 1, MPI_SUM));
    break;
  case NORM_INFINITY:
    PetscCall((*x->ops->norm_local)(x, type, result));
    PetscCall(VecGPUAllreduce(x, result, 1, MPIU_MAX));
    break;
  case NORM_1_AND_2:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_norm12, result));
    PetscCall(VecGPUAllreduce(x, result, 2, MPI_SUM));
    z[1] = PetscSqrtReal(result[1]);
    break;
  default:
    PetscCall(VecGPUReduce_Private(x, NULL, GP_VEC_square, result));
    PetscCall(VecGPUAllreduce(x, result, 1, MPI_SUM));
    result[0] = PetscSqrtReal(result[0]);
  }
  z[0] = result[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the maximum (sign 1) or the minimum (sign -1; the reduction then returns the maximum of -x).  Of equal entries the first
   global index is returned. */
static PetscErrorCode VecGPUExtreme(Vec x, GpVecReduceId op, double sign, PetscInt *place, PetscReal *z)
{
  double local[2], most, where;

  PetscFunctionBegin;
  PetscCall(VecGPUReduce_Private(x, NULL, op, local));
  most = local[1] < 0 ? -PETSC_MAX_REAL : local[0];
  PetscCall(VecGPUAllreduce(x, &most, 1, MPIU_MAX));
  *z = sign * most;
  if (!place) PetscFunctionReturn(PETSC_SUCCESS);
  where = local[1] >= 0 && (local[0] == most || (local[0] != local[0] && most != most)) ? local[1] + x->map->rstart : (double)x->map->N;
  PetscCall(VecGPUAllreduce(x, &where, 1, MPI_MIN));
  *place = where < x->map->N ? (PetscInt)where : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMax_MPIGPU(Vec x, PetscInt *place, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUExtreme(x, GP_VEC_max, 1, place, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMin_MPIGPU(Vec x, PetscInt *place, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUExtreme(x, GP_VEC_min, -1, place, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDotNorm2_MPIGPU(Vec s, Vec t, PetscScalar *dot, PetscScalar *square)
{
  double result[2];

  PetscFunctionBegin;
  PetscCall(VecDotNorm2_SeqGPU(s, t, &result[0], &result[1]));
  PetscCall(VecGPUAllreduce(s, result, 2, MPI_SUM));
  *dot    = result[0];
  *square = result[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMaxPointwiseDivide_MPIGPU(Vec x, Vec y, PetscReal *max)
{
  double result[2];

  PetscFunctionBegin;
  if (!VecGPUIsReachable(y)) {
    PetscCall((*VecGPUState(x)->base->maxpointwisedivide)(x, y, max));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUReduce_Private(x, y, GP_VEC_maxratio, result));
  *max = result[1] < 0 ? 0 : result[0];
  PetscCall(VecGPUAllreduce(x, max, 1, MPIU_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUAttach_MPI(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecSetType(v, VECMPI));
  PetscCall(VecGPUKeepGhosts_Private(v));
  PetscCall(VecGPUAttach_Private(v, VECMPIGPU, &VecOpsBase_MPI));
  v->ops->dot                = VecDot_MPIGPU;
  v->ops->tdot               = VecDot_MPIGPU;
  v->ops->mdot               = VecMDot_MPIGPU;
  v->ops->mtdot              = VecMDot_MPIGPU;
  v->ops->norm               = VecNorm_MPIGPU;
  v->ops->max                = VecMax_MPIGPU;
  v->ops->min                = VecMin_MPIGPU;
  v->ops->dotnorm2           = VecDotNorm2_MPIGPU;
  v->ops->maxpointwisedivide = VecMaxPointwiseDivide_MPIGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_MPIGPU(Vec v)
{
  Vec       values;
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(VecGPUBeginType_Private(v, &values)); /* see VecCreate_SeqGPU() */
  PetscCall(VecGPUCreateCUDA_Private(v, VECMPICUDA, &cuda));
  if (!cuda) PetscCall(VecGPUAttach_MPI(v));
  PetscCall(VecGPUEndType_Private(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
