/* The types of losses: registration, selection, parameters and options. */
#include "solvers/bmrm/bmrmimpl.h"
#include "solvers/bmrm/bmrmloss.h"

PetscFunctionList BMRMLossList = NULL;

#if GP_HAVE_CUDA
  #define DEVICE_TWINS(kind, name) &BMRM##kind##_##name##_CUDA
#else
  #define DEVICE_TWINS(kind, name) NULL
#endif
#define LOSS(name) PETSC_INTERN PetscErrorCode BMRMLossCreate_##name(BMRMLoss);
#define FORMULAS(kind, kernels, name) \
  extern const BMRM##kind BMRM##kind##_##name##_Host; \
  extern const kernels    BMRM##kind##_##name##_CUDA; \
\
  static PetscErrorCode BMRMLossCreate_##name(BMRMLoss l) \
  { \
    PetscFunctionBegin; \
    PetscCall(BMRMLossSet##kind(l, &BMRM##kind##_##name##_Host, DEVICE_TWINS(kind, name))); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
#define POINTWISE(name) FORMULAS(Pointwise, BMRMPointwiseKernels, name)
#define CLASSES(name)   FORMULAS(Classes, BMRMClassKernels, name)
#include "solvers/bmrm/losses.def"
#undef LOSS
#undef POINTWISE
#undef CLASSES
#undef FORMULAS

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

PetscErrorCode BMRMLossRegisterAll_Private(void)
{
  PetscFunctionBegin;
#define LOSS(name)      PetscCall(BMRMLossRegister(#name, BMRMLossCreate_##name));
#define POINTWISE(name) LOSS(name)
#define CLASSES(name)   LOSS(name)
#include "solvers/bmrm/losses.def"
#undef LOSS
#undef POINTWISE
#undef CLASSES
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMLossDestroy_Private(BMRMLoss *l)
{
  PetscFunctionBegin;
  if (!*l) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*l)->ops->destroy) PetscCall((*(*l)->ops->destroy)(*l));
  PetscCall(PetscFree(*l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetLossType - Sets the loss

  Logically Collective

  Input Parameters:
+ b    - the solver
- type - hinge (the default), sqhinge, huberhinge, logistic, exponential, leastsquares, absolute, quantile, epsilon, sqepsilon, huber, poisson, novelty,
         rocarea, fbeta, ordinal, preference, ndcg, multiclass, slackmulticlass, softmax, multilabel, or a name registered by `BMRMLossRegister()`

  Options Database Key:
. -bmrm_loss <type> - the loss

  Level: beginner

  Note:
  The risk is the mean of the loss over the examples, or for preference and ndcg over the queries, see `BMRMSetQueries()`. The losses rocarea, fbeta and ordinal
  are functions of the scores of all examples. Losses of several classes have one score per class, see `BMRMGetClasses()`. The parameters of the loss are set to
  their defaults.

.seealso: `BMRMGetLossType()`, `BMRMSetLossParameter()`, `BMRMSetQueries()`, `BMRMLossRegister()`, `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMSetLossType(BMRM b, const char type[])
{
  PetscErrorCode (*create)(BMRMLoss);
  BMRMLoss l;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  PetscCall(PetscFunctionListFind(BMRMLossList, type, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_UNKNOWN_TYPE, "There is no loss %s; -help lists the available losses", type);
  PetscCall(PetscNew(&l));
  PetscCall((*create)(l));
  PetscCall(BMRMLossDestroy_Private(&b->loss));
  b->loss = l;
  if (type != b->losstype) PetscCall(PetscStrncpy(b->losstype, type, sizeof(b->losstype)));
  PetscCall(BMRMForget_Private(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMGetLossType - Gets the name of the loss

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. type - the name; the solver owns the string

  Level: beginner

.seealso: `BMRMSetLossType()`
@*/
PetscErrorCode BMRMGetLossType(BMRM b, const char *type[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  *type = b->losstype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetTask - Gets the meaning of the labels of the loss

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. task - the meaning, see `BMRMTask`

  Level: intermediate

.seealso: `BMRMSetLossType()`
@*/
PetscErrorCode BMRMGetTask(BMRM b, BMRMTask *task)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(task, 2);
  *task = b->loss->task;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the index of a parameter by the last word of its option. */
static PetscErrorCode BMRMFindLossParameter(BMRM b, const char name[], PetscInt *k)
{
  PetscFunctionBegin;
  for (*k = 0; *k < b->loss->nparameter; (*k)++) {
    char     *tail = NULL;
    PetscBool same;

    PetscCall(PetscStrrchr(b->loss->parameter[*k].option, '_', &tail));
    PetscCall(PetscStrcmp(tail, name, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_WRONG, "The loss %s has no parameter %s", b->losstype, name);
}

/*@C
  BMRMSetLossParameter - Sets a parameter of the loss

  Logically Collective

  Input Parameters:
+ b     - the solver, after `BMRMSetLossType()`
. name  - huber (of huberhinge and huber), quantile, epsilon (of epsilon and sqepsilon), rho (of novelty), beta (of fbeta), places (of ndcg), distance (of multiclass and slackmulticlass)
- value - the value

  Options Database Keys:
+ -bmrm_loss_huber <0.5>    - half the width of the parabola
. -bmrm_loss_quantile <0.5> - the quantile tau
. -bmrm_loss_epsilon <0.1>  - errors up to this size cost nothing
. -bmrm_loss_rho <1>        - the score that an example of the class should reach
. -bmrm_loss_beta <1>       - weight of recall relative to precision
. -bmrm_loss_places <10>    - number of places of a query that count
- -bmrm_loss_distance <0>   - a wrong class costs its distance from the right class to this power

  Level: intermediate

.seealso: `BMRMSetLossType()`
@*/
PetscErrorCode BMRMSetLossParameter(BMRM b, const char name[], PetscReal value)
{
  const BMRMLossParameter *p;
  PetscInt                 k;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, value, 3);
  PetscCall(BMRMFindLossParameter(b, name, &k));
  p = &b->loss->parameter[k];
  PetscCheck(value > p->low && value < p->high, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%s of the loss %s is %g, it must be between %g and %g", name, b->losstype, (double)value, (double)p->low, (double)p->high);
  if (b->loss->value[k] != value) PetscCall(BMRMForget_Private(b));
  b->loss->value[k] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMGetLossParameter - Gets a parameter of the loss

  Not Collective

  Input Parameters:
+ b    - the solver
- name - as for `BMRMSetLossParameter()`

  Output Parameter:
. value - the value

  Level: intermediate

.seealso: `BMRMSetLossParameter()`
@*/
PetscErrorCode BMRMGetLossParameter(BMRM b, const char name[], PetscReal *value)
{
  PetscInt k;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(value, 3);
  PetscCall(BMRMFindLossParameter(b, name, &k));
  *value = b->loss->value[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
PetscErrorCode BMRMLossSetFromOptions_Private(BMRM b, GpOptionItems PetscOptionsObject)
{
  char      type[BMRM_NAME_LEN];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFList("-bmrm_loss", "loss", "BMRMSetLossType", BMRMLossList, b->losstype, type, sizeof(type), &set));
  if (set) PetscCall(BMRMSetLossType(b, type));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) {
    const BMRMLossParameter *p     = &b->loss->parameter[k];
    PetscReal                value = b->loss->value[k];
    char                    *tail  = NULL;

    PetscCall(PetscOptionsReal(p->option, p->help, "BMRMSetLossParameter", value, &value, &set));
    PetscCall(PetscStrrchr(p->option, '_', &tail));
    if (set) PetscCall(BMRMSetLossParameter(b, tail, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossDescribe - Sets the task, the valid labels and the parameters of a new loss

  Not Collective

  Input Parameters:
+ l         - the loss
. task      - the meaning of the labels
. fits      - function that returns whether a label is valid
. labels    - description of the valid labels
. n         - number of parameters
- parameter - their options, defaults and ranges

  Level: developer

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMLossSetGrouped()`, `BMRMLossSetClasses()`
@*/
PetscErrorCode BMRMLossDescribe(BMRMLoss l, BMRMTask task, int (*fits)(double), const char labels[], PetscInt n, const BMRMLossParameter parameter[])
{
  PetscFunctionBegin;
  l->task       = task;
  l->fits       = fits;
  l->labels     = labels;
  l->nparameter = n;
  for (PetscInt k = 0; k < n; k++) {
    l->parameter[k] = parameter[k];
    l->value[k]     = parameter[k].value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
