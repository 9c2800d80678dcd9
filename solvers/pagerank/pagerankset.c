/* The PageRank object: the functions that set the graph, the vectors and the parameters. */
#include "pagerankimpl.h"
#include "app/text/appcollective.h"

/*@
  PageRankSetGraph - Sets the links of the graph

  Collective

  Input Parameters:
+ pr    - the solver
- links - square matrix with an entry for each link: entry (j,i) is the weight of the link from node i to node j. Any type with `MatMult()` and
          `MatGetRow()`, or a `MATNEST` of such matrices

  Level: beginner

  Notes:
  Weights must be finite and not negative. A matrix of ones means links without weights. A link of a node to itself counts like any other link. The solver divides each
  column by its sum, the total weight of the links that leave the node. The column of a dangling node is empty, or all its entries are 0.

  A `MATNEST` of one column of matrices gives the row blocks of the method gauss_seidel; its number of blocks replaces that of `PageRankSetBlocks()`. Other
  matrices are split: each block is a copy of consecutive rows.

  The solver references the matrix. Call this function again after its values or links have changed.

.seealso: `PageRankSolve()`, `PageRankSetBlocks()`, `PageRankSetDangling()`, `PageRankReset()`
@*/
PetscErrorCode PageRankSetGraph(PageRank pr, Mat links)
{
  PetscInt m, n, M;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidHeaderSpecific(links, MAT_CLASSID, 2);
  PetscCheckSameComm(pr, 1, links, 2);
  PetscCall(MatGetLocalSize(links, &m, &n));
  PetscCall(MatGetSize(links, &M, NULL));
  PetscCheck(M > 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_SIZ, "The matrix of the links has no rows: set a graph with at least one node");
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)pr), "columns of the matrix of the links", n, m, "the rows and columns of each rank must be the same nodes"));
  PetscCall(PetscObjectReference((PetscObject)links));
  PetscCall(MatDestroy(&pr->links));
  PetscCall(PageRankLoopDestroy_Private(pr));
  PetscCall(PageRankGraphDestroy_Private(pr));
  pr->links    = links;
  pr->residual = -1;
  pr->setup    = PETSC_FALSE;
  pr->reason   = PAGERANK_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetDamping - Sets the probability with which the random walk follows a link

  Logically Collective

  Input Parameters:
+ pr      - the solver
- damping - the probability, greater than 0 and less than 1; default 0.85

  Options Database Key:
. -pagerank_damping <0.85> - the probability

  Level: beginner

.seealso: `PageRankGetDamping()`
@*/
PetscErrorCode PageRankSetDamping(PageRank pr, PetscReal damping)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pr, damping, 2);
  PetscCheck(damping > 0 && damping < 1, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "Damping %g: expected a number greater than 0 and less than 1", (double)damping);
  pr->damping = damping;
  pr->setup   = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetDangling - Sets where the random walk continues from a dangling node

  Logically Collective

  Input Parameters:
+ pr   - the solver
. type - the policy; default `PAGERANK_DANGLING_TELEPORT`
- u    - the distribution of `PAGERANK_DANGLING_VECTOR`, with entries of at least 0 and the sum 1. Other policies ignore it, and it may be `NULL`

  Options Database Key:
. -pagerank_dangling <teleport> - the policy

  Level: intermediate

.seealso: `PageRankGetDangling()`, `PageRankDanglingType`
@*/
PetscErrorCode PageRankSetDangling(PageRank pr, PageRankDanglingType type, Vec u)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pr, type, 2);
  if (u) PetscCall(PetscObjectReference((PetscObject)u));
  PetscCall(VecDestroy(&pr->danglingvec));
  pr->danglingvec = u;
  pr->dangling    = type;
  pr->setup       = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the user's vectors that the solver references. */
static PetscErrorCode PageRankKeepVecs(PageRank pr, PetscInt n, const Vec v[], PetscInt *nkept, Vec *kept[])
{
  PetscInt old = *nkept;
  Vec     *was = *kept;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscCheck(n >= 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " vectors: expected a number of at least 0", n);
  PetscCheck(v || !n, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "The array of %" PetscInt_FMT " vectors is a null pointer", n);
  for (PetscInt k = 0; k < n; k++) PetscCheck(v[k], PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Vector %" PetscInt_FMT " of %" PetscInt_FMT " (counted from 0) is a null pointer", k, n);
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscObjectReference((PetscObject)v[k]));
  *nkept = n;
  *kept  = NULL;
  if (n) PetscCall(PetscMalloc1(n, kept));
  for (PetscInt k = 0; k < n; k++) (*kept)[k] = v[k];
  for (PetscInt k = 0; k < old; k++) PetscCall(VecDestroy(&was[k]));
  PetscCall(PetscFree(was));
  pr->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetPersonalizations - Sets the teleportation vectors, the distributions over the nodes to which the random walk restarts

  Collective

  Input Parameters:
+ pr - the solver
. n  - number of vectors; `PageRankSolve()` computes a vector of ranks for each. 0, the default\: one uniform vector
- v  - [n] the vectors, with entries of at least 0 and the sum 1

  Level: intermediate

.seealso: `PageRankSolve()`, `PageRankGetRanks()`
@*/
PetscErrorCode PageRankSetPersonalizations(PageRank pr, PetscInt n, const Vec v[])
{
  PetscFunctionBegin;
  PetscCall(PageRankKeepVecs(pr, n, v, &pr->npersonal, &pr->personal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetInitialRanks - Sets the ranks from which the iteration starts

  Collective

  Input Parameters:
+ pr - the solver
. n  - number of vectors: one for each personalisation, or 1 if none was set. 0, the default\: start from the teleportation vectors
- x  - [n] the ranks, with the sum 1

  Level: intermediate

.seealso: `PageRankSolve()`, `PageRankSetPersonalizations()`
@*/
PetscErrorCode PageRankSetInitialRanks(PageRank pr, PetscInt n, const Vec x[])
{
  PetscFunctionBegin;
  PetscCall(PageRankKeepVecs(pr, n, x, &pr->nstart, &pr->start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankSetMethod - Sets the method

  Logically Collective

  Input Parameters:
+ pr     - the solver
- method - its name

  Options Database Key:
. -pagerank_method <gauss_seidel> - the name

  Level: beginner

  Notes:
  The methods are:
.vb
  gauss_seidel  block Gauss-Seidel iteration with aggregation, usually the fastest; the default
  power         power iteration; computes several personalisations together
  inner_outer   each outer step solves a system of smaller damping by inner power steps
  jacobi        KSPRICHARDSON with PCJACOBI
  ksp           any KSP, see PageRankGetKSP()
.ve
  `PageRankRegister()` adds methods.

.seealso: `PageRankGetMethod()`, `PageRankSetBlocks()`, `PageRankSetExtrapolation()`, `PageRankSetInnerIteration()`, `PageRankGetKSP()`, `PageRankRegister()`
@*/
PetscErrorCode PageRankSetMethod(PageRank pr, const char method[])
{
  PageRankSolveFn solve;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(method, 2);
  PetscCall(PetscFunctionListFind(PageRankMethodList, method, &solve));
  PetscCheck(solve, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown method %s: the manual page of PageRankSetMethod() lists the methods, and PageRankRegister() adds one", method);
  PetscCall(PetscObjectChangeTypeName((PetscObject)pr, method));
  PetscCall(KSPDestroy(&pr->ksp));
  pr->solve = solve;
  pr->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetBlocks - Sets the number of row blocks of each process for the method gauss_seidel

  Logically Collective

  Input Parameters:
+ pr     - the solver
- blocks - the number, at least 1; default 2

  Options Database Key:
. -pagerank_blocks <2> - the number

  Level: intermediate

  Note:
  A block has consecutive rows. Only links between different blocks speed up the convergence, so nodes that link to each other should be in different blocks.
  The program pagerank assigns the nodes to the blocks in turn.

.seealso: `PageRankGetBlocks()`, `PageRankSetGraph()`, `PageRankSetMethod()`
@*/
PetscErrorCode PageRankSetBlocks(PageRank pr, PetscInt blocks)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pr, blocks, 2);
  PetscCheck(blocks > 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " blocks: expected at least 1", blocks);
  pr->blocks = blocks;
  pr->setup  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetExtrapolation - Sets the number of power iterations between two quadratic extrapolations

  Logically Collective

  Input Parameters:
+ pr  - the solver
- its - the number; 0, the default, for no extrapolation

  Options Database Key:
. -pagerank_extrapolate <0> - the number

  Level: intermediate

  Note:
  An extrapolation eliminates the two slowest components of the error. It uses the ranks of the last iterations, so 1 and 2 act as 3.

.seealso: `PageRankSetMethod()`
@*/
PetscErrorCode PageRankSetExtrapolation(PageRank pr, PetscInt its)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pr, its, 2);
  PetscCheck(its >= 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " iterations between extrapolations: expected a number of at least 0", its);
  pr->extrapolate = its;
  pr->setup       = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetInnerIteration - Sets damping and tolerance of the inner iteration of the method inner_outer

  Logically Collective

  Input Parameters:
+ pr        - the solver
. damping   - the inner damping, greater than 0 and less than that of `PageRankSetDamping()`; default 0.5
- tolerance - the inner tolerance, greater than 0; default 0.01

  Options Database Keys:
+ -pagerank_inner_damping <0.5> - the inner damping
- -pagerank_inner_tol <0.01>    - the inner tolerance

  Level: intermediate

.seealso: `PageRankSetMethod()`
@*/
PetscErrorCode PageRankSetInnerIteration(PageRank pr, PetscReal damping, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pr, damping, 2);
  PetscValidLogicalCollectiveReal(pr, tolerance, 3);
  PetscCheck(damping > 0 && tolerance > 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "Inner damping %g and tolerance %g: expected positive numbers", (double)damping, (double)tolerance);
  pr->inner_damping   = damping;
  pr->inner_tolerance = tolerance;
  pr->setup           = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetAssemble - Sets whether the preconditioner of the method ksp gets the assembled matrix I - d A D^-1

  Logically Collective

  Input Parameters:
+ pr       - the solver
- assemble - `PETSC_TRUE` for the assembled matrix; default `PETSC_FALSE`, for a matrix that supports only products

  Options Database Key:
. -pagerank_assemble <false> - whether to assemble

  Level: advanced

  Note:
  The assembled matrix omits the term of the dangling nodes.

.seealso: `PageRankGetKSP()`, `PageRankSetMethod()`
@*/
PetscErrorCode PageRankSetAssemble(PageRank pr, PetscBool assemble)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pr, assemble, 2);
  PetscCall(KSPDestroy(&pr->ksp));
  pr->assemble = assemble;
  pr->setup    = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetDeviceLoop - Sets whether power iterations and Gauss-Seidel sweeps may keep their scalars and the stopping test on the device

  Logically Collective

  Input Parameters:
+ pr   - the solver
- loop - `PETSC_TRUE`, the default, to permit it

  Options Database Key:
. -pagerank_device_loop <true> - whether it is permitted

  Level: advanced

  Note:
  The device loop also requires one process, a matrix of type `MATGPUCSR`, vectors of type `VECGPU`, no extrapolation and no monitor.

.seealso: `PageRankUsesDeviceLoop()`, `PageRankMonitorSet()`
@*/
PetscErrorCode PageRankSetDeviceLoop(PageRank pr, PetscBool loop)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pr, loop, 2);
  pr->device_loop = loop;
  pr->setup       = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankSetTolerances - Sets the tolerance on the error and the maximum number of iterations

  Logically Collective

  Input Parameters:
+ pr        - the solver
. tolerance - upper bound on the error of the ranks in the 1-norm, positive; default 1e-8
- max_it    - maximum number of iterations; default 10000

  Options Database Keys:
+ -pagerank_tol <1e-8>     - the tolerance
- -pagerank_max_it <10000> - the maximum number of iterations

  Level: beginner

.seealso: `PageRankGetTolerances()`, `PageRankGetResidual()`, `PageRankGetConvergedReason()`
@*/
PetscErrorCode PageRankSetTolerances(PageRank pr, PetscReal tolerance, PetscInt max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pr, tolerance, 2);
  PetscValidLogicalCollectiveInt(pr, max_it, 3);
  PetscCheck(tolerance > 0 && max_it >= 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "Tolerance %g and at most %" PetscInt_FMT " iterations: expected a positive tolerance and a number of iterations of at least 0", (double)tolerance,
             max_it);
  pr->tolerance = tolerance;
  pr->max_it    = max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankSetOptionsPrefix - Sets the prefix of the solver's options

  Logically Collective

  Input Parameters:
+ pr     - the solver
- prefix - replaces the default prefix pagerank_; without a leading hyphen. `NULL`\: no prefix

  Level: advanced

  Note:
  The linear solver of `PageRankGetKSP()` gets the same prefix, unless it has been created before.

.seealso: `PageRankSetFromOptions()`
@*/
PetscErrorCode PageRankSetOptionsPrefix(PageRank pr, const char prefix[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)pr, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
