/* Reductions of a gpu Vec, and the local parts of split reductions.  The part of a rank is one kernel launch; the host then waits for the result in
   pinned memory.  Functions whose names end in GPU add over the ranks, those that end in GPULocal do not. */
#include "vec/gpuvecimpl.h"

static GpVecWork VecGPUWork; /* workspace of all reductions; created by the first one */

PetscErrorCode VecGPUFreeWork_Private(void)
{
  PetscFunctionBegin;
  GpVecWorkDestroy(&VecGPUWork);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device, and creates the workspace at the first call. */
static PetscErrorCode VecGPUBeginReduction(GpDev *dev)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(dev));
  if (!VecGPUWork.dev) PetscCallGp(*dev, "allocating the workspace of reductions", GpVecWorkCreate(*dev, &VecGPUWork));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the one or two results of a row of vec.def.  y is NULL if the reduction has one operand. */
static PetscErrorCode VecGPUReduce(Vec x, Vec y, GpVecReduceId op, double result[])
{
  const double *px = NULL, *py = NULL;
  GpDev         dev;

  PetscFunctionBegin;
  PetscCall(VecGPUBeginReduction(&dev));
  PetscCall(VecGPUGetOperand_Private(x, &px));
  if (y) PetscCall(VecGPUGetOperand_Private(y, &py));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
  PetscCallGp(dev, GpVecReduceRows[op].name, GpVecKernelsOf(dev)->reduce[op](&VecGPUWork, x->map->n, px, py, 0));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
  PetscCallGp(dev, GpVecReduceRows[op].name, GpVecWait(&VecGPUWork));
  for (int k = 0; k < GpVecReduceRows[op].results; k++) result[k] = VecGPUWork.result[k];
  PetscCall(PetscGPUCSRLogFlops_Private(dev, 2.0 * x->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDot_GPULocal(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  if (!VecGPUIsReachable(y)) PetscCall((*VecGPUState(x)->base->dot_local)(x, y, z));
  else PetscCall(VecGPUReduce(x, y, GP_VEC_dot, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits once for every GP_VEC_RESULTS inner products; each launch computes up to GP_VEC_BATCH of them. */
static PetscErrorCode VecMDot_GPULocal(Vec x, PetscInt many, const Vec y[], PetscScalar result[])
{
  const double *px = NULL;
  GpDev         dev;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < many; j++) {
    if (VecGPUIsReachable(y[j])) continue;
    PetscCall((*VecGPUState(x)->base->mdot_local)(x, many, y, result));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUBeginReduction(&dev));
  PetscCall(VecGPUGetOperand_Private(x, &px));
  for (PetscInt from = 0; from < many; from += GP_VEC_RESULTS) {
    const int here = (int)PetscMin(many - from, GP_VEC_RESULTS);

    for (int slot = 0; slot < here; slot += GP_VEC_BATCH) {
      const int     batch = PetscMin(here - slot, GP_VEC_BATCH);
      const double *py[GP_VEC_BATCH];

      for (int j = 0; j < batch; j++) PetscCall(VecGPUGetOperand_Private(y[from + slot + j], &py[j]));
      PetscCall(PetscGPUCSRLogTimeBegin_Private(dev));
      PetscCallGp(dev, "mdot", GpVecKernelsOf(dev)->mdot(&VecGPUWork, x->map->n, batch, px, py, slot));
      PetscCall(PetscGPUCSRLogTimeEnd_Private(dev));
    }
    PetscCallGp(dev, "mdot", GpVecWait(&VecGPUWork));
    for (int j = 0; j < here; j++) result[from + j] = VecGPUWork.result[j];
  }
  PetscCall(PetscGPUCSRLogFlops_Private(dev, 2.0 * many * x->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reduces results of the ranks.  Does nothing for a vector on one rank. */
static PetscErrorCode VecGPUAllreduce(Vec x, double values[], PetscInt count, MPI_Op op)
{
  PetscMPIInt n;

  PetscFunctionBegin;
  if (x->map->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(count, &n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, op, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDot_GPU(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall((*x->ops->dot_local)(x, y, z));
  PetscCall(VecGPUAllreduce(x, z, 1, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMDot_GPU(Vec x, PetscInt many, const Vec y[], PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecMDot_GPULocal(x, many, y, z));
  PetscCall(VecGPUAllreduce(x, z, many, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes a norm of the entries of this rank, or of all ranks.  The ranks add sums of squares, not norms. */
static PetscErrorCode VecGPUNorm(Vec x, NormType type, PetscBool local, PetscReal *z)
{
  const GpVecReduceId op        = type == NORM_1 ? GP_VEC_norm1 : type == NORM_INFINITY ? GP_VEC_maxabs : type == NORM_1_AND_2 ? GP_VEC_norm12 : GP_VEC_square;
  double              result[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VecGPUReduce(x, NULL, op, result));
  if (type == NORM_INFINITY && result[1] < 0) result[0] = 0; /* no entries */
  if (!local) PetscCall(VecGPUAllreduce(x, result, type == NORM_1_AND_2 ? 2 : 1, type == NORM_INFINITY ? MPIU_MAX : MPI_SUM));
  z[0] = op == GP_VEC_square ? PetscSqrtReal(result[0]) : result[0];
  if (type == NORM_1_AND_2) z[1] = PetscSqrtReal(result[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNorm_GPULocal(Vec x, NormType type, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUNorm(x, type, PETSC_TRUE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNorm_GPU(Vec x, NormType type, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUNorm(x, type, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the local entries; VecSum() of PETSc adds the sums of the ranks. */
static PetscErrorCode VecSum_GPU(Vec x, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(VecGPUReduce(x, NULL, GP_VEC_sum, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the maximum (sign 1) or the minimum (sign -1; the reduction then returns the maximum of -x).  Of equal entries the first
   global index is returned. */
static PetscErrorCode VecGPUExtreme(Vec x, GpVecReduceId op, double sign, PetscInt *place, PetscReal *z)
{
  double local[2], most, where;

  PetscFunctionBegin;
  PetscCall(VecGPUReduce(x, NULL, op, local));
  most = local[1] < 0 ? -PETSC_MAX_REAL : local[0];
  PetscCall(VecGPUAllreduce(x, &most, 1, MPIU_MAX));
  *z = sign * most;
  if (!place) PetscFunctionReturn(PETSC_SUCCESS);
  where = local[1] >= 0 && (local[0] == most || (local[0] != local[0] && most != most)) ? local[1] + x->map->rstart : (double)x->map->N;
  PetscCall(VecGPUAllreduce(x, &where, 1, MPI_MIN));
  *place = where < x->map->N ? (PetscInt)where : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMax_GPU(Vec x, PetscInt *place, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUExtreme(x, GP_VEC_max, 1, place, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMin_GPU(Vec x, PetscInt *place, PetscReal *z)
{
  PetscFunctionBegin;
  PetscCall(VecGPUExtreme(x, GP_VEC_min, -1, place, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If t is not reachable, the parent's local inner products run on the host; they are the same for VECSEQ and VECMPI. */
static PetscErrorCode VecDotNorm2_GPU(Vec s, Vec t, PetscScalar *dot, PetscScalar *square)
{
  double result[2];

  PetscFunctionBegin;
  if (VecGPUIsReachable(t)) PetscCall(VecGPUReduce(s, t, GP_VEC_dotsquare, result));
  else {
    PetscCall((*VecGPUState(s)->base->dot_local)(s, t, &result[0]));
    PetscCall((*VecGPUState(s)->base->dot_local)(t, t, &result[1]));
  }
  PetscCall(VecGPUAllreduce(s, result, 2, MPI_SUM));
  *dot    = result[0];
  *square = result[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMaxPointwiseDivide_GPU(Vec x, Vec y, PetscReal *max)
{
  double result[2];

  PetscFunctionBegin;
  if (!VecGPUIsReachable(y)) {
    PetscCall((*VecGPUState(x)->base->maxpointwisedivide)(x, y, max));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUReduce(x, y, GP_VEC_maxratio, result));
  *max = result[1] < 0 ? 0 : result[0];
  PetscCall(VecGPUAllreduce(x, max, 1, MPIU_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetReductions_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->dot                = VecDot_GPU;
  v->ops->tdot               = VecDot_GPU;
  v->ops->dot_local          = VecDot_GPULocal;
  v->ops->tdot_local         = VecDot_GPULocal;
  v->ops->mdot               = VecMDot_GPU;
  v->ops->mtdot              = VecMDot_GPU;
  v->ops->mdot_local         = VecMDot_GPULocal;
  v->ops->mtdot_local        = VecMDot_GPULocal;
  v->ops->norm               = VecNorm_GPU;
  v->ops->norm_local         = VecNorm_GPULocal;
  v->ops->sum                = VecSum_GPU;
  v->ops->max                = VecMax_GPU;
  v->ops->min                = VecMin_GPU;
  v->ops->dotnorm2           = VecDotNorm2_GPU;
  v->ops->maxpointwisedivide = VecMaxPointwiseDivide_GPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
