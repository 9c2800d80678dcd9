/* SLEPc's basis vectors (BV) for vectors of type gpu.

   SLEPc's types svec (the default), mat and contiguous keep a basis in one array, and accept template vectors of PETSc's own types
   alone.  Its type vecs is an array of Vec, made by VecDuplicate(), and works with any type; its operations are those of the vectors,
   here on the device.  So the three constructors are registered again: where the template vector is of type gpu, the BV becomes one
   of type vecs; everything else goes to SLEPc's constructor.  Solvers make several BVs under different options prefixes, which is why
   an option in the database would not do.

   This library neither needs SLEPc nor its headers.  The functions are looked up in the process when this library is loaded, and
   when a gpucsr matrix or a gpu vector is made, for programs that load SLEPc later. */
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
  PetscCall((*SLEPc.createvec)(bv, &v)); /* of the template's type; its values are not allocated */
  gpu = VecGPUIs(v);
  PetscCall(VecDestroy(&v));
  if (gpu) {
    PetscCall(PetscInfo(bv, "BV type vecs instead of %s, which does not take vectors of type gpu\n", type));
    PetscCall((*SLEPc.settype)(bv, "vecs"));
  } else PetscCall((*original)(bv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a constructor is not told the type's name, so each type has one */
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

static PetscBool VecGPUSLEPcLookIn(void *library)
{
  *(void **)&SLEPc.registertype = dlsym(library, "BVRegister");
  if (!SLEPc.registertype) return PETSC_FALSE;
  *(void **)&SLEPc.settype   = dlsym(library, "BVSetType");
  *(void **)&SLEPc.createvec = dlsym(library, "BVCreateVec");
  SLEPc.list                 = (PetscFunctionList *)dlsym(library, "BVList");
  return (PetscBool)(SLEPc.settype && SLEPc.createvec && SLEPc.list);
}

#if defined(__linux__)
/* a library that was opened for one user alone, as Python opens slepc4py's, is not in the process' global scope */
static int VecGPUSLEPcVisit(struct dl_phdr_info *info, size_t size, void *found)
{
  const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  void       *library;

  if (!name || !strstr(name, "libslepc")) return 0;
  library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return 0;
  *(PetscBool *)found = VecGPUSLEPcLookIn(library);
  (void)dlclose(library); /* whoever loaded it holds it */
  return *(PetscBool *)found;
}
#endif

PetscErrorCode VecGPUSLEPcLook_Private(void)
{
  PetscErrorCode (*first)(PetscObject);

  PetscFunctionBegin;
  VecGPUSLEPcSeen = PETSC_LARGEST_CLASSID;
  if (Found) PetscFunctionReturn(PETSC_SUCCESS);
  Found = VecGPUSLEPcLookIn(RTLD_DEFAULT);
#if defined(__linux__)
  if (!Found) (void)dl_iterate_phdr(VecGPUSLEPcVisit, &Found);
#endif
  if (!Found) PetscFunctionReturn(PETSC_SUCCESS);
  /* SLEPc fills its list at first use; registering does that */
  PetscCall(PetscFunctionListFind(*SLEPc.list, "vecs", &first));
  if (!first) PetscCall((*SLEPc.registertype)("gpucsr_svec", VecGPUSLEPcCreateBV_svec));
#define BV_REGISTER(type) PetscCall(VecGPUSLEPcRegisterType(#type, &Create_##type, VecGPUSLEPcCreateBV_##type));
  BV_TYPES(BV_REGISTER)
  VecGPUSLEPcSeen = PETSC_LARGEST_CLASSID;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscFinalize() empties SLEPc's list */
PetscErrorCode VecGPUSLEPcFinalize_Private(void)
{
  PetscFunctionBegin;
  Found           = PETSC_FALSE;
  VecGPUSLEPcSeen = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
