/* VecScatter with gpu vectors.

   In a PETSc without CUDA, a kernel moves the entries that stay on a rank.  Another kernel packs the entries for other ranks, and only
   these are copied to the host.  A VecScatter is a PetscSF, whose functions do not accept device memory in such a PETSc.  The general SF
   types, basic and neighbor, are therefore registered again with replaced begin and end functions.

   VecScatterBegin() calls VecGetArrayReadAndMemType() and its writing counterpart, and stores the answers in members of the PetscSF.  No
   other caller does.  A gpu vector recognises VecScatterBegin() by the address at which the answer is stored: it must be that member of a
   PetscSF from the constructors below.  The vector then returns the address of the Vec itself as "device memory", and the replaced begin
   function takes it as a Vec.  All other callers get the host array; so do PetscSFs of other types, and those created before this
   library was loaded. */
#include "vec/scatter/gpuvecscatter.h"

#if !defined(PETSC_HAVE_CUDA) /* see gpuveccuda.c for a PETSc with CUDA */
  #include <petsc/private/hashmap.h>
  #include <stddef.h>

static inline PetscHash_t VecGPUScatterHash(PetscSF sf)
{
  return PetscHashPointer(sf);
}
PETSC_HASH_MAP(HMapScatter, PetscSF, VecGPUScatter, VecGPUScatterHash, PetscHashEqual, NULL)

static PetscHMapScatter Scatters; /* every PetscSF from our constructors; the value is NULL until the PetscSF is used with a gpu vector */

typedef struct {
  const char *name;
  PetscErrorCode (*create)(PetscSF);
  struct _PetscSFOps ops;
} Base;

static Base Bases[] = {{PETSCSFBASIC}, {PETSCSFNEIGHBOR}};

static Base *VecGPUScatterGetBase(PetscSF sf)
{
  return &Bases[!strcmp(Bases[1].name, ((PetscObject)sf)->type_name)];
}

/* Tells whether v may decide that the scatter uses our communication, which all ranks must decide alike.  The type of a vector that is as
   parallel as the scatter is the same on all ranks.  The type of a sequential vector need not be. */
static PetscErrorCode VecGPUScatterVecDecides(PetscSF sf, Vec v, PetscBool *decides)
{
  PetscMPIInt size, all;

  PetscFunctionBegin;
  *decides = PETSC_FALSE;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sf), &all));
  *decides = (PetscBool)(size == all || all == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins a broadcast (to is LEAF) or a reduction (to is ROOT) from x to y. */
static PetscErrorCode VecGPUScatterBeginSF(PetscSF sf, int to, MPI_Datatype unit, PetscMemType xtype, const void *x, PetscMemType ytype, void *y, MPI_Op op)
{
  PetscErrorCode (*const base)(PetscSF, MPI_Datatype, PetscMemType, const void *, PetscMemType, void *, MPI_Op) = to == LEAF ? VecGPUScatterGetBase(sf)->ops.BcastBegin : VecGPUScatterGetBase(sf)->ops.ReduceBegin;
  VecGPUScatter s                                                                                               = NULL;
  PetscBool     decides[2];
  PetscMPIInt   bytes;

  PetscFunctionBegin;
  if (PetscMemTypeHost(xtype) && PetscMemTypeHost(ytype)) {
    PetscCall((*base)(sf, unit, xtype, x, ytype, y, op));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscHMapScatterGet(Scatters, sf, &s));
  if (!s) {
    PetscCall(PetscNew(&s));
    PetscCall(PetscHMapScatterSet(Scatters, sf, s));
  }
  PetscCheck(!s->busy, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecScatterBegin() was called twice on this VecScatter; call VecScatterEnd() before");
  /* an argument is host memory, or the address of a gpu Vec that is declared as device memory */
  s->from = PetscMemTypeHost(xtype) ? (VecGPUSide){.values = (double *)x} : (VecGPUSide){.vec = (Vec)x};
  s->to   = PetscMemTypeHost(ytype) ? (VecGPUSide){.values = (double *)y} : (VecGPUSide){.vec = (Vec)y};
  PetscCall(VecGPUScatterVecDecides(sf, s->from.vec, &decides[0]));
  PetscCall(VecGPUScatterVecDecides(sf, s->to.vec, &decides[1]));
  s->ours = (PetscBool)(decides[0] || decides[1]);
  PetscCallMPI(MPI_Type_size(unit, &bytes));
  if (s->ours && !s->built) PetscCall(VecGPUScatterSetUp_Private(sf, s, bytes / (int)sizeof(double), VecGPUState(s->from.vec ? s->from.vec : s->to.vec)->shared));
  else if (s->ours && !s->plain) PetscCall(VecGPUScatterUpdate_Private(sf, s));
  s->ours     = (PetscBool)(s->ours && !s->plain);
  s->busy     = PETSC_TRUE;
  s->fromdata = x;
  s->todata   = y;
  PetscCall(VecGPUScatterBegin_Private(sf, s, to, unit, op));
  if (!s->ours) PetscCall((*base)(sf, unit, PETSC_MEMTYPE_HOST, s->from.values, PETSC_MEMTYPE_HOST, s->to.values, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUScatterEndSF(PetscSF sf, int to, MPI_Datatype unit, const void *x, void *y, MPI_Op op)
{
  PetscErrorCode (*const base)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op) = to == LEAF ? VecGPUScatterGetBase(sf)->ops.BcastEnd : VecGPUScatterGetBase(sf)->ops.ReduceEnd;
  VecGPUScatter s                                                                   = NULL;

  PetscFunctionBegin;
  if (Scatters) PetscCall(PetscHMapScatterGet(Scatters, sf, &s));
  if (!s || !s->busy || x != s->fromdata || y != s->todata) PetscCall((*base)(sf, unit, x, y, op));
  else {
    if (s->ours) PetscCall(VecGPUScatterEnd_Private(sf, s, to, unit, op));
    else PetscCall((*base)(sf, unit, s->from.values, s->to.values, op));
    s->busy = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines the begin and end functions of a direction; to is the receiving side. */
  #define SCATTER(Name, to) \
    static PetscErrorCode PetscSF##Name##Begin_GPU(PetscSF sf, MPI_Datatype unit, PetscMemType xtype, const void *x, PetscMemType ytype, void *y, MPI_Op op) \
    { \
      PetscFunctionBegin; \
      PetscCall(VecGPUScatterBeginSF(sf, to, unit, xtype, x, ytype, y, op)); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    } \
    static PetscErrorCode PetscSF##Name##End_GPU(PetscSF sf, MPI_Datatype unit, const void *x, void *y, MPI_Op op) \
    { \
      PetscFunctionBegin; \
      PetscCall(VecGPUScatterEndSF(sf, to, unit, x, y, op)); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }
SCATTER(Bcast, LEAF)
SCATTER(Reduce, ROOT)

static PetscErrorCode PetscSFReset_GPU(PetscSF sf)
{
  Base         *base = VecGPUScatterGetBase(sf);
  VecGPUScatter s    = NULL;

  PetscFunctionBegin;
  if (Scatters) PetscCall(PetscHMapScatterGet(Scatters, sf, &s));
  if (s) PetscCall(VecGPUScatterReset_Private(s));
  PetscCall((*base->ops.Reset)(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscSFDestroy_GPU(PetscSF sf)
{
  Base         *base = VecGPUScatterGetBase(sf);
  VecGPUScatter s    = NULL;

  PetscFunctionBegin;
  if (Scatters) {
    PetscCall(PetscHMapScatterGet(Scatters, sf, &s));
    PetscCall(PetscHMapScatterDel(Scatters, sf));
  }
  if (s) PetscCall(VecGPUScatterReset_Private(s));
  PetscCall(PetscFree(s));
  PetscCall((*base->ops.Destroy)(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscSFCreate_GPU(PetscSF sf)
{
  Base *base = VecGPUScatterGetBase(sf);

  PetscFunctionBegin;
  PetscCall((*base->create)(sf));
  base->ops            = *sf->ops;
  sf->ops->BcastBegin  = PetscSFBcastBegin_GPU;
  sf->ops->BcastEnd    = PetscSFBcastEnd_GPU;
  sf->ops->ReduceBegin = PetscSFReduceBegin_GPU;
  sf->ops->ReduceEnd   = PetscSFReduceEnd_GPU;
  sf->ops->Reset       = PetscSFReset_GPU;
  sf->ops->Destroy     = PetscSFDestroy_GPU;
  if (Scatters) PetscCall(PetscHMapScatterSet(Scatters, sf, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the caller is VecScatterBegin() of a scatter that accepts the vector itself.  place is the address where the answer will be
   stored, and offset that of the member in the PetscSF. */
static PetscErrorCode VecGPUScatterAcceptsVec(Vec v, const void *place, size_t offset, PetscBool *asks)
{
  const PetscSF sf = (PetscSF)((char *)place - offset);
  VecGPUScatter s  = NULL;

  PetscFunctionBegin;
  PetscCall(PetscHMapScatterHas(Scatters, sf, asks));
  if (!*asks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscHMapScatterGet(Scatters, sf, &s));
  if (s && s->plain) *asks = PETSC_FALSE;
  else if (VecGPUState(v)->shared) {
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sf), &size));
    *asks = (PetscBool)(size > 1); /* several ranks must first agree on the path, in VecGPUScatterSetUp_Private() */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayReadAndMemType_GPU(Vec v, const PetscScalar **array, PetscMemType *type)
{
  PetscBool scatter;

  PetscFunctionBegin;
  PetscCall(VecGPUScatterAcceptsVec(v, array, offsetof(struct _p_PetscSF, vscat.xdata), &scatter));
  if (scatter) *array = (const PetscScalar *)v;
  else PetscCall((*v->ops->getarrayread)(v, array));
  if (type) *type = scatter ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayAndMemType_GPU(Vec v, PetscScalar **array, PetscMemType *type)
{
  PetscBool scatter;

  PetscFunctionBegin;
  PetscCall(VecGPUScatterAcceptsVec(v, array, offsetof(struct _p_PetscSF, vscat.ydata), &scatter));
  if (scatter) *array = (PetscScalar *)v;
  else if (array) PetscCall(VecGetArray_GPU(v, array));
  if (type) *type = scatter ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArrayAndMemType_GPU(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  if (!array || *array != (PetscScalar *)v) PetscCall((*v->ops->restorearray)(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetScatters_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->getarrayandmemtype         = VecGetArrayAndMemType_GPU;
  v->ops->restorearrayandmemtype     = VecRestoreArrayAndMemType_GPU;
  v->ops->getarrayreadandmemtype     = VecGetArrayReadAndMemType_GPU;
  v->ops->restorearrayreadandmemtype = VecRestoreArrayRead_GPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUScatterInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscSFInitializePackage());
  PetscCall(PetscHMapScatterCreate(&Scatters));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Bases); k++) {
    PetscCall(PetscFunctionListFind(PetscSFList, Bases[k].name, &Bases[k].create));
    if (Bases[k].create) PetscCall(PetscSFRegister(Bases[k].name, PetscSFCreate_GPU));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data of all scatters.  PETSc destroys some PetscSFs only later; the functions above therefore test whether Scatters is NULL. */
PetscErrorCode VecGPUScatterFinalize_Private(void)
{
  PetscHashIter at;

  PetscFunctionBegin;
  PetscHashIterBegin(Scatters, at);
  while (!PetscHashIterAtEnd(Scatters, at)) {
    VecGPUScatter s;

    PetscHashIterGetVal(Scatters, at, s);
    if (s) PetscCall(VecGPUScatterReset_Private(s));
    PetscCall(PetscFree(s));
    PetscHashIterNext(Scatters, at);
  }
  PetscCall(PetscHMapScatterDestroy(&Scatters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
