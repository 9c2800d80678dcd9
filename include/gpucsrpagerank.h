/* Public interface of PageRank: the ranks of the nodes of a graph, with a bound on their error. */
#ifndef GPUCSRPAGERANK_H
#define GPUCSRPAGERANK_H

/* MANSEC = PageRank */
#include <petscksp.h>

/*S
  PageRank - Computes the ranks of the nodes of a graph, with a bound on their error

  Level: beginner

  Notes:
  The matrix of `PageRankSetGraph()` holds the links: entry (j,i) is the weight A(j,i) of the link from node i to node j. The object computes the
  solution x of

      x = d P x + (1 - d) v,     P = A D^-1 + (term of the dangling nodes).

  D is the diagonal matrix of the total weights of the links that leave each node. d is the damping (`PageRankSetDamping()`), and v the distribution
  to which the random walk restarts (`PageRankSetPersonalizations()`). A dangling node has no links; `PageRankSetDangling()` selects where the walk
  continues from it.

  Every method stops when the bound |d P x + (1 - d) v - x|_1 / (1 - d) on the error |x - exact|_1 is at most the tolerance.

.seealso: `PageRankCreate()`, `PageRankSetGraph()`, `PageRankSolve()`, `PageRankGetRanks()`, `PageRankDestroy()`
S*/
typedef struct _p_PageRank *PageRank;

/*E
  PageRankDanglingType - Where the random walk continues from a dangling node, that is, from a node without outgoing links

  Values:
+ `PAGERANK_DANGLING_TELEPORT` - at a node drawn from the teleportation vector v
. `PAGERANK_DANGLING_UNIFORM`  - at any node, with equal probability
. `PAGERANK_DANGLING_VECTOR`   - at a node drawn from a distribution of its own
. `PAGERANK_DANGLING_SELF`     - at the same node, as if the node linked to itself
- `PAGERANK_DANGLING_DROP`     - nowhere: the rank is lost, as in the GAP benchmark, and the ranks sum to less than 1

  Level: beginner

.seealso: `PageRankSetDangling()`
E*/
typedef enum {
  PAGERANK_DANGLING_TELEPORT,
  PAGERANK_DANGLING_UNIFORM,
  PAGERANK_DANGLING_VECTOR,
  PAGERANK_DANGLING_SELF,
  PAGERANK_DANGLING_DROP
} PageRankDanglingType;
PETSC_EXTERN const char *const PageRankDanglingTypes[];

/*E
  PageRankConvergedReason - Why `PageRankSolve()` stopped

  Values:
+ `PAGERANK_CONVERGED_ERROR_BOUND` - the bound on the error is at most the tolerance
. `PAGERANK_DIVERGED_ITS`          - the maximum number of iterations was reached
. `PAGERANK_DIVERGED_STAGNATION`   - ksp, jacobi and user-defined methods: the residual fell by less than half between two checks
- `PAGERANK_CONVERGED_ITERATING`   - the solver is running or was not called yet

  Level: beginner

.seealso: `PageRankGetConvergedReason()`, `PageRankSetTolerances()`
E*/
typedef enum {
  PAGERANK_CONVERGED_ERROR_BOUND = 2,
  PAGERANK_DIVERGED_ITS          = -3,
  PAGERANK_DIVERGED_STAGNATION   = -4,
  PAGERANK_CONVERGED_ITERATING   = 0
} PageRankConvergedReason;
PETSC_EXTERN const char *const *const PageRankConvergedReasons;

/* The methods of PageRankSetMethod(). PageRankRegister() adds others. */
#define PAGERANKPOWER       "power"
#define PAGERANKINNEROUTER  "inner_outer"
#define PAGERANKGAUSSSEIDEL "gauss_seidel"
#define PAGERANKJACOBI      "jacobi"
#define PAGERANKKSP         "ksp"

/* A method. The vector holds the initial ranks. The method improves them in place until PageRankCheckRanks() sets stop. */
typedef PetscErrorCode (*PageRankSolveFn)(PageRank, Vec);

/* A monitor. Arguments: the solver, the number of the iteration, the 1-norm of the residual, the 1-norm of the change of the ranks, the user's context.
   A norm that the iteration does not compute is -1. */
typedef PetscErrorCode (*PageRankMonitorFn)(PageRank, PetscInt, PetscReal, PetscReal, void *);

PETSC_EXTERN PetscClassId PAGERANK_CLASSID;

PETSC_EXTERN PetscErrorCode PageRankInitializePackage(void);
PETSC_EXTERN PetscErrorCode PageRankFinalizePackage(void);

PETSC_EXTERN PetscErrorCode PageRankCreate(MPI_Comm, PageRank *);
PETSC_EXTERN PetscErrorCode PageRankSetGraph(PageRank, Mat);
PETSC_EXTERN PetscErrorCode PageRankSetDamping(PageRank, PetscReal);
PETSC_EXTERN PetscErrorCode PageRankSetDangling(PageRank, PageRankDanglingType, Vec);
PETSC_EXTERN PetscErrorCode PageRankSetPersonalizations(PageRank, PetscInt, const Vec[]);
PETSC_EXTERN PetscErrorCode PageRankSetInitialRanks(PageRank, PetscInt, const Vec[]);
PETSC_EXTERN PetscErrorCode PageRankSetMethod(PageRank, const char[]);
PETSC_EXTERN PetscErrorCode PageRankSetBlocks(PageRank, PetscInt);
PETSC_EXTERN PetscErrorCode PageRankSetExtrapolation(PageRank, PetscInt);
PETSC_EXTERN PetscErrorCode PageRankSetInnerIteration(PageRank, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode PageRankSetAssemble(PageRank, PetscBool);
PETSC_EXTERN PetscErrorCode PageRankSetDeviceLoop(PageRank, PetscBool);
PETSC_EXTERN PetscErrorCode PageRankSetTolerances(PageRank, PetscReal, PetscInt);
PETSC_EXTERN PetscErrorCode PageRankSetOptionsPrefix(PageRank, const char[]);
PETSC_EXTERN PetscErrorCode PageRankSetFromOptions(PageRank);
PETSC_EXTERN PetscErrorCode PageRankSetUp(PageRank);
PETSC_EXTERN PetscErrorCode PageRankSolve(PageRank);
PETSC_EXTERN PetscErrorCode PageRankReset(PageRank);
PETSC_EXTERN PetscErrorCode PageRankDestroy(PageRank *);

PETSC_EXTERN PetscErrorCode PageRankGetDamping(PageRank, PetscReal *);
PETSC_EXTERN PetscErrorCode PageRankGetDangling(PageRank, PageRankDanglingType *, Vec *);
PETSC_EXTERN PetscErrorCode PageRankGetMethod(PageRank, const char *[]);
PETSC_EXTERN PetscErrorCode PageRankGetBlocks(PageRank, PetscInt *);
PETSC_EXTERN PetscErrorCode PageRankGetKSP(PageRank, KSP *);
PETSC_EXTERN PetscErrorCode PageRankGetTolerances(PageRank, PetscReal *, PetscInt *);

PETSC_EXTERN PetscErrorCode PageRankGetRanks(PageRank, PetscInt *, const Vec *[]);
PETSC_EXTERN PetscErrorCode PageRankGetResidual(PageRank, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode PageRankGetConvergedReason(PageRank, PageRankConvergedReason *);
PETSC_EXTERN PetscErrorCode PageRankGetIterationNumber(PageRank, PetscInt *);
PETSC_EXTERN PetscErrorCode PageRankGetMatMults(PageRank, PetscInt *);
PETSC_EXTERN PetscErrorCode PageRankGetDanglingNodes(PageRank, PetscInt *);
PETSC_EXTERN PetscErrorCode PageRankUsesDeviceLoop(PageRank, PetscBool *);

PETSC_EXTERN PetscErrorCode PageRankMonitorSet(PageRank, PageRankMonitorFn, void *, PetscErrorCode (*)(void **));
PETSC_EXTERN PetscErrorCode PageRankMonitorDefault(PageRank, PetscInt, PetscReal, PetscReal, void *);
PETSC_EXTERN PetscErrorCode PageRankMonitorCancel(PageRank);
PETSC_EXTERN PetscErrorCode PageRankView(PageRank, PetscViewer);

/* for methods outside the library */
PETSC_EXTERN PetscErrorCode PageRankRegister(const char[], PageRankSolveFn);
PETSC_EXTERN PetscErrorCode PageRankGetTeleportation(PageRank, Vec *);
PETSC_EXTERN PetscErrorCode PageRankMult(PageRank, Vec, Vec);
PETSC_EXTERN PetscErrorCode PageRankCheckRanks(PageRank, PetscInt, Vec, PetscBool *);

#endif
