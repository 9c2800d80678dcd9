/* The BMRM object: examples, labels, classes and queries, factors and groups of the features. */
#include "solvers/bmrm/bmrmimpl.h"
#include "app/text/appcollective.h"

/*@
  BMRMSetData - Sets the examples and their labels

  Collective

  Input Parameters:
+ b - the solver
. X - the examples, one per row; any type with `MatMult()` and `MatMultTranspose()`
- y - the labels, with the layout of the rows of X; `BMRMSetUp()` checks that they suit the loss

  Level: beginner

  Note:
  For the loss multilabel, y holds on every rank the labels (+1 or -1) of its examples for the first class, then those for the second class, and so on.

.seealso: `BMRMSolve()`, `BMRMReset()`
@*/
PetscErrorCode BMRMSetData(BMRM b, Mat X, Vec y)
{
  PetscInt m, n, my, k;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidHeaderSpecific(X, MAT_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscCheckSameComm(b, 1, X, 2);
  PetscCheckSameComm(b, 1, y, 3);
  PetscCall(MatGetSize(X, &m, NULL));
  PetscCall(VecGetSize(y, &my));
  PetscCheck(m > 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "The matrix X of examples has no rows: set data with at least one example");
  PetscCheck(my > 0 && my % m == 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " rows but there are %" PetscInt_FMT " labels", m, my);
  k = my / m;
  PetscCall(MatGetLocalSize(X, &n, NULL));
  PetscCall(VecGetLocalSize(y, &my));
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)b), "labels", my, k * n, "use a vector with the layout of the rows of the data"));
  PetscCall(PetscObjectReference((PetscObject)X));
  PetscCall(PetscObjectReference((PetscObject)y));
  PetscCall(BMRMReset(b));
  b->X = X;
  b->y = y;
  b->m = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  if (k != b->set.classes) PetscCall(BMRMInvalidate_Private(b));
  b->set.classes = k;
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
    PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)b), "queries", n, m, "use a vector with the layout of the labels"));
  }
  PetscCall(BMRMReplaceVec_Private(b, queries, &b->queries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetExampleWeights - Sets the weights of the examples in the risk

  Collective

  Input Parameters:
+ b      - the solver, its data set by `BMRMSetData()`
- weight - a vector with the layout of the rows of the data; weights are not negative. `NULL` stands for ones

  Level: intermediate

  Notes:
  The vector is not copied. Do not change it afterwards. The risk becomes the weighted mean of the loss. An example of weight 2 has the same effect as two equal
  examples.

  Losses that are means over the examples accept weights. Losses that compare examples with each other do not, such as rocarea and preference. With weights, the
  loss is evaluated on the host, also if the vectors are on a GPU.

.seealso: `BMRMSetData()`, `BMRMSetWeights()`
@*/
PetscErrorCode BMRMSetExampleWeights(BMRM b, Vec weight)
{
  PetscInt n, m;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCheck(b->X, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "Weights of examples need data: call BMRMSetData() first");
  if (weight) {
    PetscValidHeaderSpecific(weight, VEC_CLASSID, 2);
    PetscCheckSameComm(b, 1, weight, 2);
    PetscCall(VecGetLocalSize(weight, &n));
    PetscCall(MatGetLocalSize(b->X, &m, NULL));
    PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)b), "weights of examples", n, m, "use a vector with the layout of the rows of the data"));
  }
  PetscCall(BMRMReplaceVec_Private(b, weight, &b->importance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetWeights - Sets the factors of the weights in the regulariser

  Collective

  Input Parameters:
+ b      - the solver
- factor - a vector with the layout of the columns of the data. Factors are positive, or zero for weights that are free, such as a bias. `NULL` stands for ones

  Level: intermediate

  Notes:
  The vector is not copied. Do not change it afterwards. If examples have one score per class, the factor of a feature applies to its weights of all classes.

  The lower bound holds for all points whose free weights have absolute values of at most 10,000 (1 + the largest one at the minimiser of the model). At most
  1,024 weights can be free.

.seealso: `BMRMSetRegularizerType()`, `BMRMSetExampleWeights()`
@*/
PetscErrorCode BMRMSetWeights(BMRM b, Vec factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMReplaceVec_Private(b, factor, &b->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetGroups - Sets the group of each feature, for the regulariser grouplasso

  Collective

  Input Parameters:
+ b     - the solver
- group - a vector with the layout of the columns of the data: the group of each feature, counted from 0. `NULL` makes groups of `BMRMSetGroupSize()` features

  Level: intermediate

  Notes:
  The vector is not copied. Do not change it afterwards. The features of a group need not be consecutive, and may be on several ranks.

  If examples have one score per class, the weights of a feature for all classes belong to its group.

.seealso: `BMRMSetRegularizerType()`, `BMRMSetGroupSize()`
@*/
PetscErrorCode BMRMSetGroups(BMRM b, Vec group)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMReplaceVec_Private(b, group, &b->groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetGroupSize - Sets the number of consecutive features in a group, for the regulariser grouplasso

  Logically Collective

  Input Parameters:
+ b - the solver
- n - the number, 1 by default; ignored after `BMRMSetGroups()`

  Options Database Key:
. -bmrm_reg_group_size <1> - the number

  Level: intermediate

.seealso: `BMRMSetRegularizerType()`, `BMRMSetGroups()`
@*/
PetscErrorCode BMRMSetGroupSize(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n >= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of features in a group is %" PetscInt_FMT ", it must be one or more", n);
  if (n != b->set.groupsize) PetscCall(BMRMInvalidate_Private(b));
  b->set.groupsize = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
