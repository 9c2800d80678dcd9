/* The package: its class and log events, and the lists of losses and regularisers with the built-in types. */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/bmrmimpl.h"

PetscClassId  BMRM_CLASSID;
PetscLogEvent BMRM_SolveEvent, BMRM_QPEvent, BMRM_LineSearchEvent, BMRM_CutEvent;

static PetscBool BMRMPackageInitialized = PETSC_FALSE;

PetscFunctionList BMRMLossList = NULL, BMRMRegularizerList = NULL;

/* The functions that create the built-in types */
#if GP_HAVE_CUDA
  #define BMRM_CUDA_KERNELS(kind, name) &BMRM##kind##_##name##_CUDA
#else
  #define BMRM_CUDA_KERNELS(kind, name) NULL
#endif
#define BMRM_CREATE(Type, name, ...) \
  static PetscErrorCode Type##Create_##name(Type t) \
  { \
    PetscFunctionBegin; \
    PetscCall(__VA_ARGS__); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
#define FORMULAS(kind, name) \
  extern const BMRM##kind  BMRM##kind##_##name##_Host; \
  extern const BMRMKernels BMRM##kind##_##name##_CUDA; \
  BMRM_CREATE(BMRMLoss, name, BMRMLossSet##kind(t, &BMRM##kind##_##name##_Host, BMRM_CUDA_KERNELS(kind, name)))
#define POINTWISE(name) FORMULAS(Pointwise, name)
#define CLASSES(name)   FORMULAS(Classes, name)
#define GROUPED(name) \
  PETSC_INTERN const BMRMGrouped BMRMGrouped_##name; \
  BMRM_CREATE(BMRMLoss, name, BMRMLossSetGrouped(t, &BMRMGrouped_##name))
#define REGULARIZER(name)                 PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_##name(BMRMRegularizer);
#define SEPARABLE(name, square, absolute) BMRM_CREATE(BMRMRegularizer, name, BMRMRegularizerSetSeparable(t, square, absolute))
#include "solvers/bmrm/losses.def"
#include "solvers/bmrm/regularizers.def"
#undef POINTWISE
#undef CLASSES
#undef GROUPED
#undef REGULARIZER
#undef SEPARABLE

/*@C
  BMRMFinalizePackage - Destroys the lists of losses and regularisers; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `BMRMInitializePackage()`
@*/
PetscErrorCode BMRMFinalizePackage(void)
{
  PetscFunctionBegin;
  BMRMPackageInitialized = PETSC_FALSE;
  PetscCall(PetscFunctionListDestroy(&BMRMLossList));
  PetscCall(PetscFunctionListDestroy(&BMRMRegularizerList));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMInitializePackage - Registers the class and the log events of the solver; `BMRMCreate()` calls it

  Not Collective

  Level: developer

.seealso: `BMRMFinalizePackage()`, `BMRMCreate()`
@*/
PetscErrorCode BMRMInitializePackage(void)
{
  PetscFunctionBegin;
  if (BMRMPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  BMRMPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("BMRM", &BMRM_CLASSID));
  PetscCall(PetscLogEventRegister("BMRMSolve", BMRM_CLASSID, &BMRM_SolveEvent));
  PetscCall(PetscLogEventRegister("BMRMQP", BMRM_CLASSID, &BMRM_QPEvent));
  PetscCall(PetscLogEventRegister("BMRMLineSearch", BMRM_CLASSID, &BMRM_LineSearchEvent));
  PetscCall(PetscLogEventRegister("BMRMCut", BMRM_CLASSID, &BMRM_CutEvent));
#define POINTWISE(name)                   PetscCall(PetscFunctionListAdd(&BMRMLossList, #name, BMRMLossCreate_##name));
#define CLASSES(name)                     POINTWISE(name)
#define GROUPED(name)                     POINTWISE(name)
#define REGULARIZER(name)                 PetscCall(PetscFunctionListAdd(&BMRMRegularizerList, #name, BMRMRegularizerCreate_##name));
#define SEPARABLE(name, square, absolute) REGULARIZER(name)
#include "solvers/bmrm/losses.def"
#include "solvers/bmrm/regularizers.def"
  PetscCall(PetscRegisterFinalize(BMRMFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossRegister - Registers a loss under a name for `BMRMSetLossType()`

  Not Collective

  Input Parameters:
+ name   - the name for `BMRMSetLossType()` and -bmrm_loss
- create - function that sets the operations of a new loss; for a mean over the examples `BMRMLossSetPointwise()` does this

  Level: advanced

.seealso: `BMRMSetLossType()`, `BMRMLossSetPointwise()`, `BMRMRegularizerRegister()`
@*/
PetscErrorCode BMRMLossRegister(const char name[], PetscErrorCode (*create)(BMRMLoss))
{
  PetscFunctionBegin;
  PetscCall(BMRMInitializePackage());
  PetscCall(PetscFunctionListAdd(&BMRMLossList, name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMRegularizerRegister - Registers a regulariser under a name for `BMRMSetRegularizerType()`

  Not Collective

  Input Parameters:
+ name   - the name for `BMRMSetRegularizerType()` and -bmrm_reg
- create - function that sets the operations of a new regulariser; for a sum over the weights `BMRMRegularizerSetSeparable()` does this

  Level: advanced

.seealso: `BMRMSetRegularizerType()`, `BMRMLossRegister()`
@*/
PetscErrorCode BMRMRegularizerRegister(const char name[], PetscErrorCode (*create)(BMRMRegularizer))
{
  PetscFunctionBegin;
  PetscCall(BMRMInitializePackage());
  PetscCall(PetscFunctionListAdd(&BMRMRegularizerList, name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}
