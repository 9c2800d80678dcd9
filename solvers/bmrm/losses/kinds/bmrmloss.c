/* What all kinds of losses have in common. */
#include "bmrmkinds.h"

static int BMRMLabelIsSign(double y)
{
  return y == 1 || y == -1;
}

static int BMRMLabelIsFinite(double y)
{
  return y - y == 0;
}

static int BMRMLabelIsClass(double y)
{
  return y >= 0 && y <= 1e6 && y == floor(y);
}

static int BMRMLabelIsIgnored(double y)
{
  return 1;
}

/* The valid labels of each task */
static const struct {
  int (*fits)(double);
  const char *labels;
} BMRMTaskLabels[] = {[BMRM_TASK_CLASSIFICATION] = {BMRMLabelIsSign, "+1 or -1"}, [BMRM_TASK_REGRESSION] = {BMRMLabelIsFinite, "a finite number"},  [BMRM_TASK_NOVELTY] = {BMRMLabelIsIgnored, "anything"},
                      [BMRM_TASK_RANKING] = {BMRMLabelIsFinite, "a number"},      [BMRM_TASK_MULTICLASS] = {BMRMLabelIsClass, "a class 0, 1, ..."}, [BMRM_TASK_MULTILABEL] = {BMRMLabelIsSign, "+1 or -1 for every class"}};

/*@C
  BMRMLossDescribe - Sets the task, the valid labels and the parameters of a new loss

  Not Collective

  Input Parameters:
+ l         - the loss
. task      - the meaning of the labels
. fits      - function that returns whether a label is valid, or `NULL` for the labels of the task
. labels    - description of the valid labels, or `NULL` for the labels of the task
. n         - number of parameters
- parameter - their options, defaults and ranges

  Level: developer

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMLossSetGrouped()`, `BMRMLossSetClasses()`
@*/
PetscErrorCode BMRMLossDescribe(BMRMLoss l, BMRMTask task, int (*fits)(double), const char labels[], PetscInt n, const BMRMLossParameter parameter[])
{
  PetscFunctionBegin;
  l->task       = task;
  l->fits       = fits ? fits : BMRMTaskLabels[task].fits;
  l->labels     = labels ? labels : BMRMTaskLabels[task].labels;
  l->nparameter = n;
  for (PetscInt k = 0; k < n; k++) {
    l->parameter[k] = parameter[k];
    l->value[k]     = parameter[k].value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMLossDestroy_Private(BMRMLoss *l)
{
  PetscFunctionBegin;
  if (!*l) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*l)->ops->destroy) PetscCall((*(*l)->ops->destroy)(*l));
  PetscCall(PetscFree((*l)->weight));
  PetscCall(PetscFree(*l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lower bounds of a loss whose minimum is 0. */
PetscErrorCode BMRMLossLeastZero_Private(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(least, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
