/* Private header of the object Network, for the files of solvers/network/. A file calls only functions of files that follow it in this list: network.c,
   networkset.c, networkget.c, the measures (networkeigenvector.c, networkhits.c, networkkatz.c, networksalsa.c, networkcomponents.c, networkcore.c,
   networklabels.c), networkkrylov.c, networkunion.c, networkgroups.c, networklocal.c, networkmult.c, networkview.c. */
#ifndef NETWORKIMPL_H
#define NETWORKIMPL_H

#include <gpucsrcompat.h>
#include <petsc/private/petscimpl.h>
#include <petscsf.h>
#include <gpucsrnetwork.h>

enum {
  NETWORK_MAX_MONITORS   = 5,
  NETWORK_MAX_RESULTS    = 2,
  NETWORK_MAX_QUANTITIES = 6
};

#define NetworkCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

/* A row of the table of measures. solve: fills the results and sets the reason. */
typedef struct {
  NetworkMeasure    name;
  NetworkResultType type;
  NetworkScale      scale; /* what NETWORK_SCALE_AUTO means */
  PetscInt          nresults;
  const char       *results[NETWORK_MAX_RESULTS]; /* names of the results */
  PetscErrorCode (*solve)(Network);
} NetworkMeasureRow;

/* The rows of the matrix on this process, as compressed rows on the host. A local number below n is a row of this process, others are ghosts. */
typedef struct {
  PetscInt   n, first;       /* rows of this process: their number, and the first one */
  PetscInt   nghost, *ghost; /* [nghost] ascending rows of other processes that occur as columns */
  PetscInt  *i, *j;          /* [n + 1], [i[n]] compressed rows with local numbers, in the order of ascending global columns */
  PetscReal *w;              /* [i[n]] weights */
  PetscSF    sf;             /* roots: rows of all processes. Leaves: the ghosts. */
} NetworkLocal;

/* Groups of nodes, the same on every process, by descending size; groups of equal size by ascending first member. */
typedef struct {
  PetscInt  n;
  PetscInt *size, *member; /* [n] number of nodes, and the first row of each group */
} NetworkGroups;

struct _p_Network {
  PETSCHEADER(int);
  /* settings */
  Mat                      links;
  const NetworkMeasureRow *measure;
  NetworkScale             scale;
  PetscReal                tolerance, alpha, damping; /* If alpha is 0, katz takes damping divided by the largest eigenvalue. */
  PetscInt                 max_it, basis;
  PetscBool                print; /* the option -monitor was given */
  KSP                      ksp;   /* NULL until it is needed */
  PetscInt                 nmonitors;
  NetworkMonitorFn         monitor[NETWORK_MAX_MONITORS];
  void                    *monitorctx[NETWORK_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[NETWORK_MAX_MONITORS])(void **);

  /* created by NetworkSetUp() */
  PetscBool setup, symmetric; /* symmetric: PETSc knows that the matrix is symmetric */
  PetscInt  N, n, first;      /* number of all nodes, number of nodes of this process, first node of this process */
  PetscInt  nresults;         /* number of vectors that exist */
  Vec      *x;                /* [nresults] */

  /* the solve */
  PetscInt               it, matmults;
  PetscReal              residual, bound; /* -1: there is none */
  NetworkConvergedReason reason;
  PetscInt               nquantities;
  const char            *quantityname[NETWORK_MAX_QUANTITIES];
  PetscReal              quantity[NETWORK_MAX_QUANTITIES];
  NetworkGroups          groups;
};

/* y = operator x. It must not change x. */
typedef PetscErrorCode (*NetworkOperator)(Network, Vec x, Vec y);

/* The result of NetworkFindEigenpair_Private(). */
typedef struct {
  PetscReal value;     /* the eigenvalue */
  PetscReal residual;  /* 2-norm of the residual, for an eigenvector of 2-norm 1 */
  PetscReal second;    /* second largest Ritz value, a lower bound on the second largest eigenvalue of a symmetric operator. -1: unknown. */
  PetscBool converged; /* residual <= tolerance * value */
} NetworkEigenpair;

PETSC_INTERN PetscErrorCode NetworkMonitor_Private(Network, PetscInt it, PetscReal value);
PETSC_INTERN PetscErrorCode NetworkMult_Private(Network, Vec, Vec);          /* y = L x */
PETSC_INTERN PetscErrorCode NetworkMultTranspose_Private(Network, Vec, Vec); /* y = L' x */
PETSC_INTERN PetscErrorCode NetworkAddQuantity_Private(Network, const char name[], PetscReal value);
PETSC_INTERN PetscErrorCode NetworkScaleResults_Private(Network);
PETSC_INTERN PetscErrorCode NetworkClip_Private(Network, Vec);                  /* sets negative entries to 0 */
PETSC_INTERN PetscErrorCode NetworkHasCycle_Private(Network, PetscBool *cycle); /* cycle is also true if max_it products do not decide it */
PETSC_INTERN PetscErrorCode NetworkFindEigenpair_Private(Network, NetworkOperator, Vec x, PetscReal tolerance, NetworkEigenpair *);

PETSC_INTERN PetscErrorCode NetworkLocalCreate_Private(Network, PetscBool undirected, NetworkLocal *); /* undirected: the links of L + L' without loops */
PETSC_INTERN PetscErrorCode NetworkLocalAddGhosts_Private(const NetworkLocal *, PetscInt **i, PetscInt **j);
PETSC_INTERN PetscErrorCode NetworkLocalDestroy_Private(NetworkLocal *);
PETSC_INTERN PetscErrorCode NetworkConnect_Private(Network, const NetworkLocal *, PetscBool sides, PetscInt label[]);
PETSC_INTERN PetscErrorCode NetworkSumByLabel_Private(Network, const PetscInt label[], PetscInt k, const PetscReal *const value[], PetscReal *sum[]);
PETSC_INTERN PetscErrorCode NetworkGroupsCreate_Private(Network, const PetscInt label[], Vec x);
PETSC_INTERN PetscErrorCode NetworkGroupsDestroy_Private(Network);

PETSC_INTERN PetscErrorCode NetworkSolve_Eigenvector(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_HITS(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_Katz(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_SALSA(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_Components(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_Core(Network);
PETSC_INTERN PetscErrorCode NetworkSolve_Labels(Network);

#endif
