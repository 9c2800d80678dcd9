/* The object Network: the functions that get parameters and results. */
#include "networkimpl.h"

/*@C
  NetworkGetMeasure - Gets the name of the measure

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. measure - the name; do not free it

  Level: intermediate

.seealso: `NetworkSetMeasure()`
@*/
PetscErrorCode NetworkGetMeasure(Network nw, NetworkMeasure *measure)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(measure, 2);
  *measure = nw->measure->name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetTolerances - Gets the tolerance and the maximum number of iterations

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameters:
+ tolerance - the tolerance, or `NULL`
- max_it    - the maximum number of iterations, or `NULL`

  Level: intermediate

.seealso: `NetworkSetTolerances()`
@*/
PetscErrorCode NetworkGetTolerances(Network nw, PetscReal *tolerance, PetscInt *max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (tolerance) *tolerance = nw->tolerance;
  if (max_it) *max_it = nw->max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkGetResults - Gets the values of the nodes

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameters:
+ n     - number of results, or `NULL`
. names - [n] their names, or `NULL`: authority and hub for hits and salsa, centrality for eigenvector and katz, component for components, core for core, community for labels
- x     - [n] vectors with a value for each node, or `NULL`. The solver owns them

  Level: beginner

.seealso: `NetworkSolve()`, `NetworkGetResultType()`
@*/
PetscErrorCode NetworkGetResults(Network nw, PetscInt *n, const char *const *names[], const Vec *x[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscCheck(nw->reason, PetscObjectComm((PetscObject)nw), PETSC_ERR_ORDER, "There are no results: call NetworkSolve() first");
  if (n) *n = nw->nresults;
  if (names) *names = nw->measure->results;
  if (x) *x = nw->x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetResultType - Gets the kind of the results of the measure

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. type - the type

  Level: intermediate

.seealso: `NetworkResultType`, `NetworkGetResults()`
@*/
PetscErrorCode NetworkGetResultType(Network nw, NetworkResultType *type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(type, 2);
  *type = nw->measure->type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkGetQuantities - Gets the numbers that the measure has for the whole graph

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameters:
+ n      - how many there are, or `NULL`
. names  - [n] their names, or `NULL`
- values - [n] their values, or `NULL`

  Level: intermediate

  Notes:
  The names are
+ singular_value, error_estimate - hits: the largest singular value; estimate of the 2-norm of the error of the authorities, before scaling
. eigenvalue                     - eigenvector, and katz if alpha is not given: the largest eigenvalue
. alpha                          - katz
. components, largest            - components: number of components, and of nodes in the largest one
. largest_core, largest_core_nodes - core: the largest core number, and how many nodes have it
- communities, largest, modularity - labels: number of communities, number of nodes in the largest one, modularity

.seealso: `NetworkSolve()`
@*/
PetscErrorCode NetworkGetQuantities(Network nw, PetscInt *n, const char *const *names[], const PetscReal *values[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (n) *n = nw->nquantities;
  if (names) *names = nw->quantityname;
  if (values) *values = nw->quantity;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkGetGroups - Gets the groups of the measures components and labels

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameters:
+ n       - number of groups, 0 for other measures; or `NULL`
. sizes   - [n] number of nodes of each group, in descending order, or `NULL`. The solver owns it
- members - [n] the first node of each group, or `NULL`. The solver owns it

  Level: intermediate

  Note:
  Entry k of the arrays belongs to the group whose number in the results is k + 1. The arrays are the same on all processes.

.seealso: `NetworkGetResults()`
@*/
PetscErrorCode NetworkGetGroups(Network nw, PetscInt *n, const PetscInt *sizes[], const PetscInt *members[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (n) *n = nw->groups.n;
  if (sizes) *sizes = nw->groups.size;
  if (members) *members = nw->groups.member;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetResidual - Gets the residual of the last solve and the bound on the error

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameters:
+ residual - hits, eigenvector: 2-norm of the residual of the eigenpair divided by the eigenvalue; katz: largest entry of the residual; salsa: 1-norm of the change in a
             step of the random walk; -1 if there is none; or `NULL`
- bound    - katz: bound on the relative error of every value before scaling, which leaves out rounding errors of the residual; -1 if there is none; or `NULL`

  Level: beginner

.seealso: `NetworkSolve()`, `NetworkSetTolerances()`
@*/
PetscErrorCode NetworkGetResidual(Network nw, PetscReal *residual, PetscReal *bound)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  if (residual) *residual = nw->residual;
  if (bound) *bound = nw->bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetConvergedReason - Gets why the last solve stopped

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. reason - the reason, negative if the iteration did not converge

  Level: beginner

.seealso: `NetworkConvergedReason`, `NetworkSolve()`
@*/
PetscErrorCode NetworkGetConvergedReason(Network nw, NetworkConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(reason, 2);
  *reason = nw->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetIterationNumber - Gets the number of iterations of the last solve

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. it - the number of products with L L' (hits) or L in the Arnoldi iteration (eigenvector), iterations of the linear solver (katz), sweeps (labels), or exchanges between processes (components, core, salsa)

  Level: intermediate

.seealso: `NetworkSolve()`, `NetworkGetMatMults()`
@*/
PetscErrorCode NetworkGetIterationNumber(Network nw, PetscInt *it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(it, 2);
  *it = nw->it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetMatMults - Gets the number of products with the matrix and its transpose in the last solve

  Not Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. n - the number

  Level: intermediate

.seealso: `NetworkGetIterationNumber()`
@*/
PetscErrorCode NetworkGetMatMults(Network nw, PetscInt *n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(n, 2);
  *n = nw->matmults;
  PetscFunctionReturn(PETSC_SUCCESS);
}
