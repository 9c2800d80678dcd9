/* VECSEQGPU and what both types share: making, duplicating and destroying them. */
#include "vec/gpuvecimpl.h"

static struct _VecOps VecOpsBase_Seq; /* of VECSEQ, as the latest vector had them */

PetscInt VecGPUStateId = -1;

PetscErrorCode VecGPUAttachData_Private(Vec v, void *data)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposedDataSetIntstar((PetscObject)v, VecGPUStateId, (PetscInt *)data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The layouts of PETSc's struct _p_Vec and of VECHEADER are compiled in.  They depend on the release and on how PETSc was configured,
   so what our code reads in a standard vector is compared with what PETSc's functions answer. */
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
  PetscCheck(alike, PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was compiled for a PETSc whose vectors are laid out differently (another release, or configured with other options); build it again with PETSC_DIR set to this PETSc");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUStateInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCheckLayout());
  if (VecGPUStateId < 0) PetscCall(PetscObjectComposedDataRegister(&VecGPUStateId)); /* numbers outlive PetscFinalize() */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v is still a VECSEQ or VECMPI, as its type name says */
static PetscErrorCode VecGPUMakeState(Vec v, const struct _VecOps *base)
{
  Vec_GPU *g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  PetscCall(VecGPUAttachData_Private(v, g));
  g->base = base;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  g->shared = (PetscBool)(g->dev->kind == GP_DEV_HOST && !VecGPUSeparate);
  VecGPUSetValid(v, VEC_GPU_HOST);
  PetscCall(VecGPUAttachGhosts_Private(v));
  if (g->shared) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g->ghosted) {
    PetscCall((*base->replacearray)(v, NULL)); /* the host's array comes when it is needed, and pinned */
    VecGPUSetValid(v, 0);
  }
  /* KSPIBCGS and KSPFBCGSR keep the arrays of such vectors and never ask again: better their error than wrong results */
  v->petscnative = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDestroy_GPU(Vec v)
{
  Vec_GPU              *g    = VecGPUState(v);
  const struct _VecOps *base = g->base;

  PetscFunctionBegin;
  PetscCall(VecGPUKeepValues_Private(v));
  PetscCall(VecGPUFree_Private(v));
  PetscCall(VecGPUAttachData_Private(v, NULL)); /* the object may live on with another type */
  PetscCall(PetscFree(g));
  PetscCall((*base->destroy)(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's would do, but for the operations: those of the original count, since DMs replace some, except where a subvector has
   its own taken away. */
static PetscErrorCode VecDuplicate_GPU(Vec v, Vec *w)
{
  Vec d;

  PetscFunctionBegin;
  if (VecGPUState(v)->ghosted) { /* ghosts and their scatter are the parent's to share out */
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
  PetscCall(VecGPUSetArrays_Private(d));
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

/* newer parents allocate all vectors in one piece of host memory and copy our operations to them */
static PetscErrorCode VecDuplicateVecs_GPU(Vec v, PetscInt many, Vec *w[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(many, w));
  for (PetscInt i = 0; i < many; i++) PetscCall(VecDuplicate(v, &(*w)[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* real scalars (dlregisgpucsr.c) */
static PetscErrorCode VecConjugate_GPU(Vec v)
{
  PetscFunctionBegin;
  (void)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes a fresh VECSEQ or VECMPI ours */
PetscErrorCode VecGPUAttach_Private(Vec v, VecType type, struct _VecOps *base)
{
  PetscFunctionBegin;
  PetscCall(VecGPUSLEPcCheck());
  *base = *v->ops;
  PetscCall(VecGPUMakeState(v, base));
  PetscCall(VecGPUSetArrays_Private(v));
  PetscCall(VecGPUSetMaps_Private(v));
  PetscCall(VecGPUSetReductions_Private(v));
  v->ops->duplicate     = VecDuplicate_GPU;
  v->ops->duplicatevecs = VecDuplicateVecs_GPU;
  v->ops->destroy       = VecDestroy_GPU;
  v->ops->conjugate     = VecConjugate_GPU;
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_SeqGPU(Vec v)
{
  Vec       values;
  PetscBool cuda;

  PetscFunctionBegin;
  /* VecSetType() on a vector of another type comes here without operations, but with the old name, which could be the parent's */
  PetscCall(VecGPUBeginType_Private(v, &values));
  PetscCall(VecGPUCreateCUDA_Private(v, VECSEQCUDA, &cuda));
  if (!cuda) {
    PetscCall(VecSetType(v, VECSEQ));
    PetscCall(VecGPUAttach_Private(v, VECSEQGPU, &VecOpsBase_Seq));
  }
  PetscCall(VecGPUEndType_Private(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreate_GPU(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(size == 1 ? VecCreate_SeqGPU(v) : VecCreate_MPIGPU(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  VECGPU - VECGPU = "gpu" - A vector whose values live on the GPU, with a mirror on the host. In a PETSc built with CUDA the name stands for `VECCUDA`

  Options Database Keys:
+ -vec_type gpu                   - sets the type in `VecSetFromOptions()`; `-dm_vec_type gpu` does in a `DM`
. -gpucsr_device <auto,cuda,host> - where the values live
. -gpucsr_device_memory <bytes>   - how much of the device's memory a process may hold
. -vec_gpu_cuda <true>            - in a PETSc with CUDA, and on a GPU, the name stands for PETSc's own type `VECCUDA`
- -vec_gpu_separate               - on the host runtime, keep two copies, so that a test sees a missing synchronisation

  Level: beginner

  Notes:
  `VECSEQGPU` on one process, `VECMPIGPU` on several. Values move between device and host when the side that is asked for is behind, never
  otherwise: while vectors are used by operations that run on the device, and multiplied by `MATGPUCSR`, nothing moves.

  On the device run `VecSet()`, `VecCopy()`, `VecSwap()`, `VecScale()`, `VecShift()`, `VecAXPY()` and its kin, `VecMAXPY()`, `VecDot()`, `VecTDot()`, `VecMDot()`,
  `VecNorm()`, `VecSum()`, `VecMax()`, `VecMin()`, `VecDotNorm2()`, `VecMaxPointwiseDivide()`, `VecPointwiseMult()` and its kin, `VecReciprocal()`, `VecAbs()`, `VecSqrtAbs()`, and the local parts
  of split reductions. In a PETSc without CUDA so do `VecScatterBegin()` with scatters of general index sets, thus `DMGlobalToLocal()` of a `DMDA`: only entries that
  go to other processes cross. A contiguous subvector is a window on the device's memory. All else, `VecSetRandom()` and `VecSetValues()` among it, works on the
  host's mirror.

  Reductions add in a fixed order: on one GPU, and one number of processes, they give the same bits every time.

  Ghosts (`VecMPISetGhost()`; `VecSetType()` on a vector from `VecCreateGhost()`) are kept from PETSc 3.26 on, on the host. In older releases only `VECMPI` has ghosts.

  `VecGetArrayAndMemType()` gives host memory, as a PETSc without CUDA knows no other.

.seealso: `MATGPUCSR`, `PetscGPUCSRInitialize()`, `VECSTANDARD`, `VECCUDA`
M*/
