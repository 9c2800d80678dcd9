/* Public interface of the object Network: centralities, groups and core numbers of the nodes of a graph. */
#ifndef GPUCSRNETWORK_H
#define GPUCSRNETWORK_H

/* MANSEC = Network */
#include <petscksp.h>

/*S
  Network - Solver that computes a measure of the nodes of a graph: a centrality, the number of a group, or a core number

  Level: beginner

  Notes:
  The matrix of `NetworkSetGraph()` holds the links: entry (j,i) is the weight L(j,i) of the link from node i to node j, as for `PageRank`.
  `NetworkSetMeasure()` selects the measure.

.seealso: `NetworkCreate()`, `NetworkSetGraph()`, `NetworkSetMeasure()`, `NetworkSolve()`, `NetworkGetResults()`, `NetworkDestroy()`, `PageRank`
S*/
typedef struct _p_Network *Network;

/*J
  NetworkMeasure - String with the name of a measure

  Values:
+ `NETWORKHITS`        - authorities a and hubs h, the singular vectors of the matrix L of the links for its largest singular value s: a = L h / s and h = L' a / s
. `NETWORKEIGENVECTOR` - eigenvector of L for its largest eigenvalue
. `NETWORKKATZ`        - solution x of x = alpha L x + 1
. `NETWORKSALSA`       - authorities and hubs, the stationary distributions of random walks that follow links backwards and forwards in turn
. `NETWORKCOMPONENTS`  - number of the weakly connected component that has the node, from 1 by descending size
. `NETWORKCORE`        - core number: the largest k such that the node is in a subgraph whose nodes all have at least k neighbours in the subgraph
- `NETWORKLABELS`      - number of the community that has the node, from 1 by descending size; label propagation finds the communities

  Level: beginner

.seealso: `NetworkSetMeasure()`
J*/
typedef const char *NetworkMeasure;
#define NETWORKHITS        "hits"
#define NETWORKEIGENVECTOR "eigenvector"
#define NETWORKKATZ        "katz"
#define NETWORKSALSA       "salsa"
#define NETWORKCOMPONENTS  "components"
#define NETWORKCORE        "core"
#define NETWORKLABELS      "labels"

/*E
  NetworkScale - How centralities are scaled

  Values:
+ `NETWORK_SCALE_AUTO` - `NETWORK_SCALE_NONE` for `NETWORKKATZ`, `NETWORK_SCALE_SUM` for other centralities
. `NETWORK_SCALE_NONE` - not scaled; eigenvectors and singular vectors have the 2-norm 1
. `NETWORK_SCALE_SUM`  - sum 1
. `NETWORK_SCALE_NORM` - 2-norm 1
- `NETWORK_SCALE_MAX`  - largest value 1

  Level: beginner

.seealso: `NetworkSetScale()`
E*/
typedef enum {
  NETWORK_SCALE_AUTO,
  NETWORK_SCALE_NONE,
  NETWORK_SCALE_SUM,
  NETWORK_SCALE_NORM,
  NETWORK_SCALE_MAX
} NetworkScale;
PETSC_EXTERN const char *const NetworkScales[];

/*E
  NetworkResultType - Kind of the results of a measure

  Values:
+ `NETWORK_RESULT_SCORE` - centralities, real numbers of at least 0
. `NETWORK_RESULT_COUNT` - integers that order the nodes
- `NETWORK_RESULT_GROUP` - numbers of groups, counted from 1 by descending size

  Level: intermediate

.seealso: `NetworkGetResultType()`, `NetworkGetGroups()`
E*/
typedef enum {
  NETWORK_RESULT_SCORE,
  NETWORK_RESULT_COUNT,
  NETWORK_RESULT_GROUP
} NetworkResultType;

/*E
  NetworkConvergedReason - Why `NetworkSolve()` stopped

  Values:
+ `NETWORK_CONVERGED_RESIDUAL`    - hits, eigenvector: the residual of the eigenpair, divided by the eigenvalue, is at most the tolerance
. `NETWORK_CONVERGED_ERROR_BOUND` - katz: the bound on the relative error of every value is at most the tolerance
. `NETWORK_CONVERGED_EXACT`       - salsa, components, core: the result is exact, except for rounding errors
. `NETWORK_CONVERGED_STABLE`      - labels: every node has a label of the largest weight among its neighbours
. `NETWORK_DIVERGED_ITS`          - the maximum number of iterations was reached
. `NETWORK_DIVERGED_STAGNATION`   - katz: a linear solve has reduced the residual by less than half, or the residual is not finite
. `NETWORK_DIVERGED_ZERO`         - the matrix has no positive eigenvalue: a graph without links (hits, salsa) or without cycles (eigenvector); all values are 0
. `NETWORK_DIVERGED_ALPHA`        - katz: alpha is too large, so that the series of walks diverges; the values are meaningless
- `NETWORK_CONVERGED_ITERATING`   - the solver is running or was not called yet

  Level: beginner

.seealso: `NetworkGetConvergedReason()`, `NetworkSetTolerances()`
E*/
typedef enum {
  NETWORK_CONVERGED_RESIDUAL    = 1,
  NETWORK_CONVERGED_ERROR_BOUND = 2,
  NETWORK_CONVERGED_EXACT       = 3,
  NETWORK_CONVERGED_STABLE      = 4,
  NETWORK_DIVERGED_ITS          = -3,
  NETWORK_DIVERGED_STAGNATION   = -4,
  NETWORK_DIVERGED_ZERO         = -5,
  NETWORK_DIVERGED_ALPHA        = -6,
  NETWORK_CONVERGED_ITERATING   = 0
} NetworkConvergedReason;
PETSC_EXTERN const char *const *const NetworkConvergedReasons;

/* A monitor. Its arguments are the solver, the number of the iteration, a number that falls as the iteration converges, and the context of the user. */
typedef PetscErrorCode (*NetworkMonitorFn)(Network, PetscInt, PetscReal, void *);

PETSC_EXTERN PetscClassId NETWORK_CLASSID;

PETSC_EXTERN PetscErrorCode NetworkInitializePackage(void);
PETSC_EXTERN PetscErrorCode NetworkFinalizePackage(void);

PETSC_EXTERN PetscErrorCode NetworkCreate(MPI_Comm, Network *);
PETSC_EXTERN PetscErrorCode NetworkSetGraph(Network, Mat);
PETSC_EXTERN PetscErrorCode NetworkSetMeasure(Network, NetworkMeasure);
PETSC_EXTERN PetscErrorCode NetworkSetScale(Network, NetworkScale);
PETSC_EXTERN PetscErrorCode NetworkSetTolerances(Network, PetscReal, PetscInt);
PETSC_EXTERN PetscErrorCode NetworkSetBasisSize(Network, PetscInt);
PETSC_EXTERN PetscErrorCode NetworkSetAlpha(Network, PetscReal);
PETSC_EXTERN PetscErrorCode NetworkSetDamping(Network, PetscReal);
PETSC_EXTERN PetscErrorCode NetworkSetOptionsPrefix(Network, const char[]);
PETSC_EXTERN PetscErrorCode NetworkSetFromOptions(Network);
PETSC_EXTERN PetscErrorCode NetworkSetUp(Network);
PETSC_EXTERN PetscErrorCode NetworkSolve(Network);
PETSC_EXTERN PetscErrorCode NetworkReset(Network);
PETSC_EXTERN PetscErrorCode NetworkDestroy(Network *);

PETSC_EXTERN PetscErrorCode NetworkGetMeasure(Network, NetworkMeasure *);
PETSC_EXTERN PetscErrorCode NetworkGetTolerances(Network, PetscReal *, PetscInt *);
PETSC_EXTERN PetscErrorCode NetworkGetKSP(Network, KSP *);

PETSC_EXTERN PetscErrorCode NetworkGetResults(Network, PetscInt *, const char *const *[], const Vec *[]);
PETSC_EXTERN PetscErrorCode NetworkGetResultType(Network, NetworkResultType *);
PETSC_EXTERN PetscErrorCode NetworkGetQuantities(Network, PetscInt *, const char *const *[], const PetscReal *[]);
PETSC_EXTERN PetscErrorCode NetworkGetGroups(Network, PetscInt *, const PetscInt *[], const PetscInt *[]);
PETSC_EXTERN PetscErrorCode NetworkGetResidual(Network, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode NetworkGetConvergedReason(Network, NetworkConvergedReason *);
PETSC_EXTERN PetscErrorCode NetworkGetIterationNumber(Network, PetscInt *);
PETSC_EXTERN PetscErrorCode NetworkGetMatMults(Network, PetscInt *);

PETSC_EXTERN PetscErrorCode NetworkMonitorSet(Network, NetworkMonitorFn, void *, PetscErrorCode (*)(void **));
PETSC_EXTERN PetscErrorCode NetworkMonitorDefault(Network, PetscInt, PetscReal, void *);
PETSC_EXTERN PetscErrorCode NetworkMonitorCancel(Network);
PETSC_EXTERN PetscErrorCode NetworkView(Network, PetscViewer);

#endif
