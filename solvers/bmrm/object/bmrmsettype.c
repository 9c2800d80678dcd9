/* The BMRM object: types and parameters of loss and regulariser. */
#include "solvers/bmrm/bmrmimpl.h"

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
  PetscCall(BMRMInvalidate_Private(b));
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

/*@C
  BMRMCheckLabel - Tells whether a label suits the loss

  Not Collective

  Input Parameters:
+ b     - the solver
- label - the label

  Output Parameters:
+ fits  - whether the loss accepts the label
- wants - description of the labels that the loss accepts; the library owns the string

  Level: developer

.seealso: `BMRMSetLossType()`, `BMRMGetTask()`
@*/
PetscErrorCode BMRMCheckLabel(BMRM b, PetscReal label, PetscBool *fits, const char *wants[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  *fits  = (PetscBool)((*b->loss->fits)(label) != 0);
  *wants = b->loss->labels;
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
  if (b->loss->value[k] != value) PetscCall(BMRMInvalidate_Private(b));
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

/* Replaces the regulariser by a new one of the given type. */
static PetscErrorCode BMRMReplaceRegularizer(BMRM b, const char type[], PetscReal ratio)
{
  PetscErrorCode (*create)(BMRMRegularizer);
  BMRMRegularizer r;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(BMRMRegularizerList, type, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_UNKNOWN_TYPE, "There is no regulariser %s; -help lists the available regularisers", type);
  PetscCall(PetscNew(&r));
  r->ratio = ratio;
  PetscCall((*create)(r));
  PetscCall(BMRMRegularizerDestroy_Private(&b->reg));
  b->reg = r;
  if (type != b->regtype) PetscCall(PetscStrncpy(b->regtype, type, sizeof(b->regtype)));
  PetscCall(BMRMInvalidate_Private(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetRegularizerType - Sets the regulariser

  Logically Collective

  Input Parameters:
+ b    - the solver
- type - l2 (the default, ||w||^2/2), l1 (sum of |w_j|), elasticnet, grouplasso (sum over groups of sqrt(n_g) ||w_g||), or a name registered by `BMRMRegularizerRegister()`

  Options Database Key:
. -bmrm_reg <type> - the regulariser

  Level: beginner

.seealso: `BMRMGetRegularizerType()`, `BMRMSetWeights()`, `BMRMSetElasticNetRatio()`, `BMRMSetGroups()`, `BMRMRegularizerRegister()`, `BMRMSetLambda()`
@*/
PetscErrorCode BMRMSetRegularizerType(BMRM b, const char type[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  PetscCall(BMRMReplaceRegularizer(b, type, b->reg ? b->reg->ratio : 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMGetRegularizerType - Gets the name of the regulariser

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. type - the name; the solver owns the string

  Level: beginner

.seealso: `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMGetRegularizerType(BMRM b, const char *type[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  *type = b->regtype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetElasticNetRatio - Sets the weight of the absolute values in the elastic net: ratio ||w||_1 + (1 - ratio)/2 ||w||^2

  Logically Collective

  Input Parameters:
+ b     - the solver
- ratio - the weight, more than 0 and less than 1; 0.5 by default

  Options Database Key:
. -bmrm_reg_ratio <0.5> - the weight

  Level: intermediate

.seealso: `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMSetElasticNetRatio(BMRM b, PetscReal ratio)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, ratio, 2);
  PetscCheck(ratio > 0 && ratio < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The ratio is %g, it must be between 0 and 1; for 0 use the regulariser l2, for 1 the regulariser l1", (double)ratio);
  if (ratio != b->reg->ratio) PetscCall(BMRMReplaceRegularizer(b, b->regtype, ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}
