/* What the solver is told of the examples besides their features, and how the loss takes it: labels, classes, queries. */
#include "bmrmimpl.h"

/*@
  BMRMSetClasses - Sets how many classes there are, for losses with a score for every class

  Logically Collective

  Input Parameters:
+ b - the solver
- k - the number, at least two; `PETSC_DECIDE`, the default, takes one more than the largest label

  Level: intermediate

.seealso: `BMRMGetClasses()`, `BMRMSetLossType()`
@*/
PetscErrorCode BMRMSetClasses(BMRM b, PetscInt k)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, k, 2);
  PetscCheck(k == PETSC_DECIDE || k >= 2, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " classes, there must be two or more", k);
  if (k != b->classes) PetscCall(BMRMForget_Private(b));
  b->classes = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetClasses - Gets how many scores an example has: one for every class where the loss wants that, else one

  Not Collective

  Input Parameter:
. b - the solver, after `BMRMSetUp()`

  Output Parameter:
. k - the number

  Level: intermediate

  Note:
  The vector of `BMRMGetSolution()` then holds, on every rank, its features' weights for the first class, then those for the second, and so on: the columns
  of a dense matrix, as `MatCreateDense()` takes them. That of `BMRMGetScores()` holds its examples' scores likewise.

.seealso: `BMRMSetClasses()`, `BMRMGetSolution()`, `BMRMGetScores()`
@*/
PetscErrorCode BMRMGetClasses(BMRM b, PetscInt *k)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(k, 2);
  PetscCheck(b->setup, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "The number of classes is known after BMRMSetUp()");
  *k = b->loss->outputs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetQueries - Sets which examples are answers to the same query, for losses that compare those with each other

  Collective

  Input Parameters:
+ b       - the solver, its data set by `BMRMSetData()`
- queries - laid out as the labels: examples with the same number belong to the same query. `NULL` stands for one query

  Level: intermediate

  Note:
  The vector is not copied, it must not change any more. `BMRMSetData()` forgets it.

.seealso: `BMRMSetData()`, `BMRMSetLossType()`
@*/
PetscErrorCode BMRMSetQueries(BMRM b, Vec queries)
{
  PetscInt n, m;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCheck(b->y, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "Queries of no data: call BMRMSetData() first");
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

/* Tells whether a label suits the loss, and what labels the loss wants. */
PetscErrorCode BMRMLabelFits_Private(BMRM b, PetscReal label, PetscBool *fits, const char *wants[])
{
  PetscFunctionBegin;
  *fits  = (PetscBool)((*b->loss->fits)(label) != 0);
  *wants = b->loss->labels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses labels that the loss cannot take; collective. */
static PetscErrorCode CheckLabels(BMRM b)
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

/* Shows the loss the labels: it prepares itself, and knows how many scores it wants of every example. */
PetscErrorCode BMRMLossSetUp_Private(BMRM b)
{
  BMRMLoss l = b->loss;
  PetscInt n, m;

  PetscFunctionBegin;
  PetscCall(CheckLabels(b));
  l->scale   = (PetscReal)1 / b->m;
  l->queries = b->queries;
  l->classes = b->classes;
  l->outputs = 1;
  PetscCall(MatGetLocalSize(b->X, &m, NULL));
  if (l->ops->setup) PetscCall((*l->ops->setup)(l, m, b->y));
  PetscCall(VecGetSize(b->y, &n));
  PetscCheck(n == b->m * (l->many ? l->outputs : 1), PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " labels for %" PetscInt_FMT " examples; the loss %s takes %s", n, b->m, b->losstype,
             l->many ? "one a class of every example" : "one of each");
  PetscCheck(!l->parts || b->ncut <= l->parts, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cuts a pass, but the risk of the loss %s has %" PetscInt_FMT " part%s here", b->ncut, b->losstype, l->parts,
             l->parts == 1 ? "" : "s, one a query");
  PetscFunctionReturn(PETSC_SUCCESS);
}
