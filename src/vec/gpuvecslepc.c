/* Support of SLEPc's basis vectors (BV) with vectors of type gpu.

   SLEPc's BV types svec (the default), mat and contiguous store a basis in one array and accept only template vectors of PETSc's own types.
   The type vecs is an array of Vec from VecDuplicate() and works with every Vec type; its operations are those of the vectors.  The
   constructors of the three types are therefore registered again.  If the template vector is of type gpu, the BV gets the type vecs.
   Otherwise SLEPc's constructor runs.  Setting -bv_type in the options database would not suffice, because solvers create several
   BVs with different options prefixes.

   This library needs neither SLEPc nor its headers.  It looks up SLEPc's functions in the process when it is loaded.  It looks again
   when a gpucsr matrix or a gpu vector is created, for programs that load SLEPc later. */
#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* RTLD_DEFAULT, dl_iterate_phdr() */
#endif
#include "vec/gpuvecimpl.h"
#include <dlfcn.h>
#if defined(__linux__)
  #include <link.h>
#endif

PetscClassId VecGPUSLEPcSeen = -1;

static struct {
  PetscErrorCode (*registertype)(const char[], PetscErrorCode (*)(PetscObject)); /* BVRegister() */
  PetscErrorCode (*settype)(PetscObject, const char *);                          /* BVSetType() */
  PetscErrorCode (*createvec)(PetscObject, Vec *);                               /* BVCreateVec() */
  PetscFunctionList *list;                                                       /* BVList */
} SLEPc;
static PetscBool Found = PETSC_FALSE;

#define BV_TYPES(entry) entry(svec) entry(mat) entry(contiguous)

static PetscErrorCode VecGPUSLEPcCreateBV(PetscObject bv, const char type[], PetscErrorCode (*original)(PetscObject))
{
  Vec       v;
  PetscBool gpu;

  PetscFunctionBegin;
  PetscCall((*SLEPc.createvec)(bv, &v)); /* has the template's type; a gpu vector allocates no values yet */
  gpu = VecGPUIs(v);
  PetscCall(VecDestroy(&v));
  if (gpu) {
    PetscCall(PetscInfo(bv, "BV type %s does not support vectors of type gpu; using BV type vecs\n", type));
    PetscCall((*SLEPc.settype)(bv, "vecs"));
  } else PetscCall((*original)(bv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SLEPc does not pass the type name to a constructor, so each type has its own constructor. */
#define BV_CONSTRUCTOR(type) \
  static PetscErrorCode (*Create_##type)(PetscObject); \
  static PetscErrorCode VecGPUSLEPcCreateBV_##type(PetscObject bv) \
  { \
    PetscFunctionBegin; \
    PetscCall(VecGPUSLEPcCreateBV(bv, #type, Create_##type)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
BV_TYPES(BV_CONSTRUCTOR)

static PetscErrorCode VecGPUSLEPcRegisterType(const char type[], PetscErrorCode (**original)(PetscObject), PetscErrorCode (*ours)(PetscObject))
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(*SLEPc.list, type, original));
  if (*original) PetscCall((*SLEPc.registertype)(type, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool VecGPUSLEPcFindSymbols(void *library)
{
  *(void **)&SLEPc.registertype = dlsym(library, "BVRegister");
  if (!SLEPc.registertype) return PETSC_FALSE;
  *(void **)&SLEPc.settype   = dlsym(library, "BVSetType");
  *(void **)&SLEPc.createvec = dlsym(library, "BVCreateVec");
  SLEPc.list                 = (PetscFunctionList *)dlsym(library, "BVList");
  return (PetscBool)(SLEPc.settype && SLEPc.createvec && SLEPc.list);
}

#if defined(__linux__)
/* Looks for SLEPc in one loaded library, for dl_iterate_phdr().  A library that was opened with RTLD_LOCAL, as Python opens that of slepc4py, is
   not in the global scope of the process. */
static int VecGPUSLEPcSearchLibrary(struct dl_phdr_info *info, size_t size, void *found)
{
  const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  void       *library;

  if (!name || !strstr(name, "libslepc")) return 0;
  library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return 0;
  *(PetscBool *)found = VecGPUSLEPcFindSymbols(library);
  (void)dlclose(library); /* the process still holds its own reference to the library */
  return *(PetscBool *)found;
}
#endif

PetscErrorCode VecGPUSLEPcFind_Private(void)
{
  PetscErrorCode (*first)(PetscObject);

  PetscFunctionBegin;
  VecGPUSLEPcSeen = PETSC_LARGEST_CLASSID;
  if (Found) PetscFunctionReturn(PETSC_SUCCESS);
  Found = VecGPUSLEPcFindSymbols(RTLD_DEFAULT);
#if defined(__linux__)
  if (!Found) (void)dl_iterate_phdr(VecGPUSLEPcSearchLibrary, &Found);
#endif
  if (!Found) PetscFunctionReturn(PETSC_SUCCESS);
  /* SLEPc fills the list of BV types at its first use.  If the list is still empty, registering a type fills it. */
  PetscCall(PetscFunctionListFind(*SLEPc.list, "vecs", &first));
  if (!first) PetscCall((*SLEPc.registertype)("gpucsr_svec", VecGPUSLEPcCreateBV_svec));
#define BV_REGISTER(type) PetscCall(VecGPUSLEPcRegisterType(#type, &Create_##type, VecGPUSLEPcCreateBV_##type));
  BV_TYPES(BV_REGISTER)
  VecGPUSLEPcSeen = PETSC_LARGEST_CLASSID;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscFinalize() empties SLEPc's list of BV types, so the next PetscInitialize() must register ours again. */
PetscErrorCode VecGPUSLEPcFinalize_Private(void)
{
  PetscFunctionBegin;
  Found           = PETSC_FALSE;
  VecGPUSLEPcSeen = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
