/* What all kinds of losses have in common. */
#include "solvers/bmrm/bmrmimpl.h"

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

PetscErrorCode BMRMLossDestroy_Private(BMRMLoss *l)
{
  PetscFunctionBegin;
  if (!*l) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*l)->ops->destroy) PetscCall((*(*l)->ops->destroy)(*l));
  PetscCall(PetscFree(*l));
  PetscFunctionReturn(PETSC_SUCCESS);
}
