/* The object Network: reset, and the functions that set the graph and the parameters. */
#include "networkimpl.h"
#include "app/text/appcollective.h"

/*@
  NetworkReset - Destroys the results, releases the graph, and keeps the settings

  Collective

  Input Parameter:
. nw - the solver

  Level: advanced

.seealso: `NetworkSetGraph()`, `NetworkDestroy()`
@*/
PetscErrorCode NetworkReset(Network nw)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscCall(VecDestroyVecs(nw->nresults, &nw->x));
  PetscCall(NetworkGroupsDestroy_Private(nw));
  PetscCall(MatDestroy(&nw->links));
  nw->nresults = nw->nquantities = 0;
  nw->residual = nw->bound = -1;
  nw->reason               = NETWORK_CONVERGED_ITERATING;
  nw->setup                = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetGraph - Sets the links of the graph

  Collective

  Input Parameters:
+ nw    - the solver
- links - square matrix with an entry for each link: entry (j,i) is the weight of the link from node i to node j. Its type must
          have `MatMult()`, `MatMultTranspose()`, `MatGetRow()` and a conversion to `MATAIJ`

  Level: beginner

  Notes:
  Weights must be finite and not negative. A matrix of ones means links without weights. An undirected graph has an entry for each direction.
  Call `MatSetOption()` with `MAT_SYMMETRIC` for such a matrix; then the solver does not need the transpose.

  The solver references the matrix. Call this function again after its values or links have changed.

.seealso: `NetworkSolve()`, `NetworkReset()`, `PageRankSetGraph()`
@*/
PetscErrorCode NetworkSetGraph(Network nw, Mat links)
{
  PetscInt m, n, M;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidHeaderSpecific(links, MAT_CLASSID, 2);
  PetscCheckSameComm(nw, 1, links, 2);
  PetscCall(MatGetLocalSize(links, &m, &n));
  PetscCall(MatGetSize(links, &M, NULL));
  PetscCheck(M > 0, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_SIZ, "The matrix of the links has no rows: set a graph with at least one node");
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)nw), "columns of the matrix of the links", n, m, "the rows and columns of each rank must be the same nodes"));
  PetscCall(PetscObjectReference((PetscObject)links));
  PetscCall(NetworkReset(nw));
  nw->links = links;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetScale - Sets how centralities are scaled

  Logically Collective

  Input Parameters:
+ nw    - the solver
- scale - the scale; default `NETWORK_SCALE_AUTO`

  Options Database Key:
. -network_scale <auto> - auto, none, sum, norm or max

  Level: beginner

  Note:
  Numbers of groups and core numbers are never scaled.

.seealso: `NetworkScale`
@*/
PetscErrorCode NetworkSetScale(Network nw, NetworkScale scale)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(nw, scale, 2);
  nw->scale = scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetTolerances - Sets when the iteration stops

  Logically Collective

  Input Parameters:
+ nw        - the solver
. tolerance - greater than 0; default 1e-8. hits, eigenvector: residual of the eigenpair divided by the eigenvalue. katz: bound on the relative error of every value
- max_it    - maximum number of iterations; default 10000. An iteration is a product with L L' (hits) or L (eigenvector), an iteration of the linear solver (katz), or a sweep (labels)

  Options Database Keys:
+ -network_tol <1e-8>     - the tolerance
- -network_max_it <10000> - the maximum

  Level: beginner

.seealso: `NetworkGetTolerances()`, `NetworkGetConvergedReason()`
@*/
PetscErrorCode NetworkSetTolerances(Network nw, PetscReal tolerance, PetscInt max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(nw, tolerance, 2);
  PetscValidLogicalCollectiveInt(nw, max_it, 3);
  PetscCheck(tolerance > 0, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "Tolerance %g: expected a number greater than 0", (double)tolerance);
  PetscCheck(max_it >= 0, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " iterations: expected a number of at least 0", max_it);
  nw->tolerance = tolerance;
  nw->max_it    = max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetBasisSize - Sets the number of basis vectors between two restarts of the measures hits and eigenvector

  Logically Collective

  Input Parameters:
+ nw    - the solver
- basis - from 2 to 1000; default 20. With more vectors the iteration needs fewer products and more memory

  Options Database Key:
. -network_basis <20> - the number

  Level: intermediate

.seealso: `NetworkSetTolerances()`
@*/
PetscErrorCode NetworkSetBasisSize(Network nw, PetscInt basis)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidLogicalCollectiveInt(nw, basis, 2);
  PetscCheck(basis >= 2 && basis <= 1000, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " basis vectors: expected a number from 2 to 1000", basis);
  nw->basis = basis;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetAlpha - Sets the weight of a link in a walk, for the measure katz

  Logically Collective

  Input Parameters:
+ nw    - the solver
- alpha - the weight, less than 1 divided by the largest eigenvalue. The default 0 means the damping divided by the largest eigenvalue

  Options Database Key:
. -network_alpha <0> - the weight

  Level: beginner

.seealso: `NetworkSetDamping()`
@*/
PetscErrorCode NetworkSetAlpha(Network nw, PetscReal alpha)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(nw, alpha, 2);
  PetscCheck(alpha >= 0 && alpha <= PETSC_MAX_REAL, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "Alpha %g: expected a number of at least 0", (double)alpha);
  nw->alpha = alpha;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkSetDamping - Sets the product of alpha and the largest eigenvalue for the measure katz, if alpha is not given

  Logically Collective

  Input Parameters:
+ nw      - the solver
- damping - the product, greater than 0 and less than 1; default 0.85

  Options Database Key:
. -network_damping <0.85> - the product

  Level: beginner

.seealso: `NetworkSetAlpha()`
@*/
PetscErrorCode NetworkSetDamping(Network nw, PetscReal damping)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(nw, damping, 2);
  PetscCheck(damping > 0 && damping < 1, PetscObjectComm((PetscObject)nw), PETSC_ERR_ARG_OUTOFRANGE, "Damping %g: expected a number greater than 0 and less than 1", (double)damping);
  nw->damping = damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  NetworkSetOptionsPrefix - Sets the options prefix of the solver and of its linear solver

  Logically Collective

  Input Parameters:
+ nw     - the solver
- prefix - the prefix without a dash; `NULL` for none. Default network_

  Level: advanced

.seealso: `NetworkSetFromOptions()`
@*/
PetscErrorCode NetworkSetOptionsPrefix(Network nw, const char prefix[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)nw, prefix));
  if (nw->ksp) PetscCall(KSPSetOptionsPrefix(nw->ksp, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
