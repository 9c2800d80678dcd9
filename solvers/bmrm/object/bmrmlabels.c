/* Labels, classes and queries of the examples: setting them, and checking that they suit the loss. */
#include "solvers/bmrm/bmrmimpl.h"

/*@
  BMRMSetClasses - Sets the number of classes, for losses with one score per class

  Logically Collective

  Input Parameters:
+ b - the solver
- k - the number, at least two; `PETSC_DECIDE` (default) uses the largest label plus one

  Level: intermediate

.seealso: `BMRMGetClasses()`, `BMRMSetLossType()`
@*/
PetscErrorCode BMRMSetClasses(BMRM b, PetscInt k)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, k, 2);
  PetscCheck(k == PETSC_DECIDE || k >= 2, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of classes is %" PetscInt_FMT ", it must be two or more", k);
  if (k != b->classes) PetscCall(BMRMForget_Private(b));
  b->classes = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetClasses - Gets the number of scores of an example: one per class for losses of several classes, otherwise one

  Not Collective

  Input Parameter:
. b - the solver, after `BMRMSetUp()`

  Output Parameter:
. k - the number

  Level: intermediate

  Note:
  If there are several scores, the vector of `BMRMGetSolution()` holds on every rank the weights of its features for the first class, then those for the second
  class, and so on. This is the storage of a dense matrix of `MatCreateDense()` with one column per class. The vector of `BMRMGetScores()` holds the scores of the
  examples in the same way.

.seealso: `BMRMSetClasses()`, `BMRMGetSolution()`, `BMRMGetScores()`
@*/
PetscErrorCode BMRMGetClasses(BMRM b, PetscInt *k)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(k, 2);
  PetscCheck(b->setup, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "The number of classes is not known yet: call BMRMSetUp() first");
  *k = b->loss->outputs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetQueries - Sets the query of each example, for losses that compare the examples of a query with each other

  Collective

  Input Parameters:
+ b       - the solver, its data set by `BMRMSetData()`
- queries - a vector with the layout of the labels: examples with the same number belong to the same query. `NULL`: all examples belong to one query

  Level: intermediate

  Note:
  The vector is not copied. Do not change it afterwards. `BMRMSetData()` removes it.

.seealso: `BMRMSetData()`, `BMRMSetLossType()`
@*/
PetscErrorCode BMRMSetQueries(BMRM b, Vec queries)
{
  PetscInt n, m;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCheck(b->y, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "Queries need data: call BMRMSetData() first");
  if (queries) {
    PetscValidHeaderSpecific(queries, VEC_CLASSID, 2);
    PetscCheckSameComm(b, 1, queries, 2);
    PetscCall(VecGetLocalSize(queries, &n));
    PetscCall(VecGetLocalSize(b->y, &m));
    PetscCheck(n == m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " queries for %" PetscInt_FMT " labels on this rank", n, m);
  }
  PetscCall(BMRMTake_Private(b, queries, &b->queries));
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

/* Raises an error if a label does not suit the loss, with the label and its example. Collective. */
static PetscErrorCode BMRMCheckLabels(BMRM b)
{
  const PetscScalar *ya;
  PetscInt           n, start, bad = PETSC_MAX_INT, first;
  PetscReal          label = 0, sum;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b->y, &n));
  PetscCall(VecGetOwnershipRange(b->y, &start, NULL));
  PetscCall(VecGetArrayRead(b->y, &ya));
  for (PetscInt i = n - 1; i >= 0; i--) {
    if (!(*b->loss->fits)(PetscRealPart(ya[i]))) bad = start + i;
  }
  PetscCallMPI(MPI_Allreduce(&bad, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)b)));
  if (first < PETSC_MAX_INT && first == bad) label = PetscRealPart(ya[first - start]);
  PetscCall(VecRestoreArrayRead(b->y, &ya));
  if (first == PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&label, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)b)));
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The label %g of example %" PetscInt_FMT ", counted from 0, does not suit the loss %s, which wants %s", (double)sum, first, b->losstype, b->loss->labels);
}

/* Prepares the loss for the labels; afterwards the number of scores per example is known. */
PetscErrorCode BMRMLossSetUp_Private(BMRM b)
{
  BMRMLoss l = b->loss;
  PetscInt n, m;

  PetscFunctionBegin;
  PetscCall(BMRMCheckLabels(b));
  l->scale   = (PetscReal)1 / b->m;
  l->queries = b->queries;
  l->classes = b->classes;
  l->outputs = 1;
  PetscCall(MatGetLocalSize(b->X, &m, NULL));
  if (l->ops->setup) PetscCall((*l->ops->setup)(l, m, b->y));
  PetscCall(VecGetSize(b->y, &n));
  PetscCheck(n == b->m * (l->many ? l->outputs : 1), PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " labels for %" PetscInt_FMT " examples; the loss %s needs %s", n, b->m, b->losstype,
             l->many ? "one per example and class" : "one per example");
  PetscCheck(!l->parts || b->ncut <= l->parts, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cuts a pass, but the risk of the loss %s has %" PetscInt_FMT " part%s here: use fewer cuts", b->ncut, b->losstype, l->parts,
             l->parts == 1 ? "" : "s, one per query");
  PetscFunctionReturn(PETSC_SUCCESS);
}
