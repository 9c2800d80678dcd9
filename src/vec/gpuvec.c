/* The Vec types seqgpu and mpigpu: creation, duplication, destruction, options. */
/* MANSEC = Vec */
#include "vec/gpuvecimpl.h"

static struct _VecOps VecOpsBase[2]; /* operations of VECSEQ and of VECMPI, copied from the most recently created vector */

/* The layouts of PETSc's struct _p_Vec and of VECHEADER are compiled in.  They depend on the release and on how PETSc was configured.
   This check compares the members that our code reads in a standard vector with the values that PETSc's functions return. */
static PetscErrorCode VecGPUCheckLayout(void)
{
  const PetscOffloadMask masks[] = {PETSC_OFFLOAD_GPU, PETSC_OFFLOAD_CPU};
  const PetscScalar     *array;
  Vec                    v;
  PetscLayout            map;
  PetscBool              alike;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 3, &v));
  PetscCall(VecGetLayout(v, &map));
  PetscCall(VecGetArrayRead(v, &array));
  alike = (PetscBool)(v->map == map && v->data && v->petscnative == PETSC_TRUE);
  alike = (PetscBool)(alike && VecGPUHeader(v)->array == array && VecGPUHeader(v)->array_allocated == array && !VecGPUHeader(v)->unplacedarray);
  PetscCall(VecRestoreArrayRead(v, &array));
  for (int k = 0; alike && k < 2; k++) {
    PetscOffloadMask mask;

    v->offloadmask = masks[k];
    PetscCall(VecGetOffloadMask(v, &mask));
    alike = (PetscBool)(mask == masks[k]);
  }
  PetscCall(VecDestroy(&v));
  PetscCheck(alike, PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was compiled for a PETSc with a different layout of Vec (another release, or configured with other options); build it again with PETSC_DIR set to this PETSc");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Attaches a Vec_GPU to v, which is still a VECSEQ or VECMPI by its type name and its operations. */
static PetscErrorCode VecGPUMakeState(Vec v, const struct _VecOps *base)
{
  Vec_GPU *g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  PetscCall(VecGPUAttachData_Private(v, g));
  g->base = base;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  g->shared = (PetscBool)(GpDevKindOf(g->dev) == GP_DEV_HOST && !VecGPUSeparate);
  VecGPUSetValid(v, VEC_GPU_HOST);
  PetscCall(VecGPUAttachGhosts_Private(v));
  if (g->shared) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g->ghosted) {
    PetscCall((*base->replacearray)(v, NULL)); /* the pinned mirror replaces the host array at first need */
    VecGPUSetValid(v, 0);
  }
  /* KSPIBCGS and KSPFBCGSR keep the raw arrays of native vectors between operations, which would give wrong results with our vectors.
     For vectors that are not native they raise an error. */
  v->petscnative = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations that access the values. */
static PetscErrorCode VecGPUSetAccess(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecGPUSetArrays_Private(v));
  v->ops->getsubvector     = VecGetSubVector_GPU;
  v->ops->restoresubvector = VecRestoreSubVector_GPU;
  PetscCall(VecGPUSetLocals_Private(v));
  PetscCall(VecGPUSetScatters_Private(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDestroy_GPU(Vec v)
{
  Vec_GPU              *g    = VecGPUState(v);
  const struct _VecOps *base = g->base;

  PetscFunctionBegin;
  PetscCheck(!g->locals, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecSetType() on a vector with local vectors in use; call VecRestoreLocalVector() or VecRestoreLocalVectorRead() before");
  PetscCall(VecGPUKeepValues_Private(v));
  if (g->original) PetscCall(VecGPUEndLocal_Private(v));
  PetscCall(VecGPUFree_Private(v));
  PetscCall(VecGPUAttachData_Private(v, NULL)); /* VecSetType() destroys the data but keeps the object */
  PetscCall(PetscFree(g));
  PetscCall((*base->destroy)(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Follows the parent's VecDuplicate().  The duplicate takes the operations of the original, because a DM may have replaced some.
   VecGPUSetAccess() then sets the array operations again, because a subvector lacks placearray and replacearray. */
static PetscErrorCode VecDuplicate_GPU(Vec v, Vec *w)
{
  Vec d;

  PetscFunctionBegin;
  if (VecGPUState(v)->ghosted) { /* the parent's function duplicates the ghosts and their scatter */
    PetscCall((*VecGPUState(v)->base->duplicate)(v, w));
    PetscCall(VecGPUMakeState(*w, VecGPUState(v)->base));
    PetscCall(PetscObjectChangeTypeName((PetscObject)*w, ((PetscObject)v)->type_name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), w));
  d = *w;
  PetscCall(PetscLayoutReference(v->map, &d->map));
  PetscCall(VecSetType(d, ((PetscObject)v)->type_name));
  PetscCall(PetscObjectListDuplicate(((PetscObject)v)->olist, &((PetscObject)d)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)v)->qlist, &((PetscObject)d)->qlist));
  d->ops[0] = v->ops[0];
  PetscCall(VecGPUSetAccess(d));
  d->stash.donotstash   = v->stash.donotstash;
  d->stash.ignorenegidx = v->stash.ignorenegidx;
  d->stash.bs           = v->stash.bs;
  d->bstash.bs          = v->bstash.bs;
#if defined(PETSC_HAVE_DEVICE)
  d->boundtocpu        = v->boundtocpu;
  d->bindingpropagates = v->bindingpropagates;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecDuplicateVecs() of the parent in newer releases must not be used: it allocates one host array for all vectors and copies our operations to
   vectors that have no Vec_GPU. */
static PetscErrorCode VecDuplicateVecs_GPU(Vec v, PetscInt many, Vec *w[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(many, w));
  for (PetscInt i = 0; i < many; i++) PetscCall(VecDuplicate(v, &(*w)[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a newly created VECSEQ or VECMPI into a gpu vector of the given type name. */
static PetscErrorCode VecGPUAttach(Vec v, VecType type, struct _VecOps *base)
{
  PetscFunctionBegin;
  PetscCall(VecGPUSLEPcCheck());
  *base = *v->ops;
  PetscCall(VecGPUMakeState(v, base));
  PetscCall(VecGPUSetAccess(v));
  PetscCall(VecGPUSetMaps_Private(v));
  PetscCall(VecGPUSetReductions_Private(v));
  v->ops->duplicate     = VecDuplicate_GPU;
  v->ops->duplicatevecs = VecDuplicateVecs_GPU;
  v->ops->destroy       = VecDestroy_GPU;
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecSetType() on a vector of another type clears the operations before this call but leaves the old type name.  If that were the parent's name,
   the VecSetType() below would return at once.  VecGPUBeginType_Private() clears the name. */
static PetscErrorCode VecGPUCreate(Vec v, PetscBool mpi)
{
  Vec       values;
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(VecGPUBeginType_Private(v, &values));
  PetscCall(VecGPUCreateCUDA_Private(v, mpi ? VECMPICUDA : VECSEQCUDA, &cuda));
  if (!cuda) {
    PetscCall(VecSetType(v, mpi ? VECMPI : VECSEQ));
    if (mpi) PetscCall(VecGPUKeepGhosts_Private(v));
    PetscCall(VecGPUAttach(v, mpi ? VECMPIGPU : VECSEQGPU, &VecOpsBase[mpi]));
  }
  PetscCall(VecGPUEndType_Private(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_SeqGPU(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCreate(v, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_MPIGPU(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCreate(v, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_GPU(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(VecGPUCreate(v, (PetscBool)(size > 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options and registers events.  Collective on PETSC_COMM_WORLD, because PetscOptionsBegin() is. */
PetscErrorCode VecGPUInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCheckLayout());
  if (VecGPUStateId < 0) PetscCall(PetscObjectComposedDataRegister(&VecGPUStateId)); /* PetscFinalize() does not reset these numbers */
  VecGPUSeparate = PETSC_FALSE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr vector options", "Vec");
  PetscCall(PetscOptionsBool("-vec_gpu_separate", "On the host backend, store device values separately from host values, so that a test detects a missing copy", "VECGPU", VecGPUSeparate, &VecGPUSeparate, NULL));
  PetscOptionsEnd();
  PetscCall(VecGPUCUDAInitialize_Private());
  PetscCall(PetscLogEventRegister("VecGPUUpload", VEC_CLASSID, &VEC_GPU_Upload));
  PetscCall(PetscLogEventRegister("VecGPUDownload", VEC_CLASSID, &VEC_GPU_Download));
  /* each rank copies when it needs to, so these events are not collective */
  PetscCall(PetscLogEventSetCollective(VEC_GPU_Upload, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(VEC_GPU_Download, PETSC_FALSE));
  PetscCall(VecGPUScatterInitialize_Private());
  PetscCall(VecGPUGhostInitialize_Private());
  PetscCall(VecGPUSLEPcCheck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUFinalize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUSLEPcFinalize_Private());
  PetscCall(VecGPUGhostFinalize_Private());
  PetscCall(VecGPUScatterFinalize_Private());
  PetscCall(VecGPUFreeWork_Private());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  VECGPU - VECGPU = "gpu" - A vector with values in GPU memory and a copy in pinned host memory. In a PETSc built with CUDA the name stands for `VECCUDA`

  Options Database Keys:
+ -vec_type gpu                   - sets the type in `VecSetFromOptions()`; for a `DM`, use `-dm_vec_type gpu`
. -gpucsr_device <auto,cuda,host> - backend, which decides where the values are stored
. -gpucsr_device_memory <bytes>   - upper bound on the device memory held by this process
. -vec_gpu_cuda <true>            - in a PETSc with CUDA, on a GPU, the name `gpu` stands for PETSc's own type `VECCUDA`
- -vec_gpu_separate               - on the host backend, store host and device values separately, so that a test detects a missing copy

  Level: beginner

  Notes:
  The type is `VECSEQGPU` on one process and `VECMPIGPU` on several. Values are copied between device and host only if the memory that is accessed does not hold the
  current values. Operations that run on the device and products with `MATGPUCSR` copy nothing.

  These operations run on the device\:
+   set, copy - `VecSet()`, `VecCopy()`, `VecSwap()`, `VecScale()`, `VecShift()`
.   sums of vectors - `VecAXPY()`, `VecAYPX()`, `VecAXPBY()`, `VecWAXPY()`, `VecAXPBYPCZ()`, `VecMAXPY()`
.   elementwise - `VecPointwiseMult()`, `VecPointwiseDivide()`, `VecPointwiseMax()`, `VecPointwiseMin()`, `VecPointwiseMaxAbs()`, `VecReciprocal()`, `VecAbs()`, `VecSqrtAbs()`
.   reductions - `VecDot()`, `VecTDot()`, `VecMDot()`, `VecMTDot()`, `VecNorm()`, `VecSum()`, `VecMax()`, `VecMin()`, `VecDotNorm2()`, `VecMaxPointwiseDivide()`, and the local parts of split reductions
-   scatters - in a PETSc without CUDA, `VecScatterBegin()` with general index sets, for example `DMGlobalToLocal()` of a `DMDA`; only entries for other processes are copied to the host

  A contiguous subvector shares the device memory of its vector, and so does a local vector of this type (`VecGetLocalVector()`, `VecGetLocalVectorRead()`). All other operations, for example `VecSetRandom()` and `VecSetValues()`, run on the host.

  Reductions add in a fixed order. They give the same bits in every run on one GPU and one number of processes.

  Ghosts (`VecMPISetGhost()`, or `VecSetType()` on a vector from `VecCreateGhost()`) are supported from PETSc 3.26 on and are stored on the host. In older releases only
  `VECMPI` has ghosts.

  In a PETSc without CUDA, `VecGetArrayAndMemType()` returns host memory.

.seealso: `MATGPUCSR`, `PetscGPUCSRInitialize()`, `VECSTANDARD`, `VECCUDA`
M*/
