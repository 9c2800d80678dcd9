/* Private header of the PageRank solver: the object and the functions that its files share. A file calls only files that stand after it in this list:
   pagerank.c, pagerankset.c, pagerankget.c, pagerankksp.c, pagerankgs.c, pagerankpower.c, pagerankloop.c, pagerankmult.c, pagerankgraph.c, pagerankview.c. */
#ifndef PAGERANKIMPL_H
#define PAGERANKIMPL_H

#include <gpucsrdevice.h>
#include <gpucsrcompat.h>
#include <petsc/private/petscimpl.h>
#include <gpucsrpagerank.h>
#include "pagerankstep.h"

#define PAGERANK_MAX_MONITORS 5

#define PageRankCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

PETSC_INTERN PetscFunctionList PageRankMethodList;

/* Functions that give the local entries of a Vec in the memory of the kernels. */
typedef struct {
  PetscErrorCode (*get)(Vec, PetscScalar **), (*restore)(Vec, PetscScalar **);
  PetscErrorCode (*getread)(Vec, const PetscScalar **), (*restoreread)(Vec, const PetscScalar **);
} PageRankAccess;

/* The kernels of pagerankstep.h and the memory in which they work. */
typedef struct {
  GpDev                 dev; /* device of the vectors. NULL: they are on the host. */
  const StepKernels    *table;
  const PageRankAccess *access;
  StepOperator          op;
  double               *partial; /* device: partial sums of the reductions, followed by the state */
  StepState            *state;   /* device: the state. NULL: the caller has the state on the host. */
} PageRankKernels;

typedef struct _n_PageRankLoop *PageRankLoop;

struct _p_PageRank {
  PETSCHEADER(int);
  /* settings */
  Mat                  links;
  PetscReal            damping, tolerance;
  PetscInt             max_it;
  PageRankDanglingType dangling;
  Vec                  danglingvec;       /* distribution of PAGERANK_DANGLING_VECTOR */
  PetscInt             npersonal, nstart; /* number of personalisations and of initial ranks; 0: none were given */
  Vec                 *personal, *start;  /* [npersonal], [nstart] */
  PageRankSolveFn      solve;             /* the method */
  PetscInt             blocks;            /* Gauss-Seidel: wanted number of row blocks of each process */
  PetscInt             extrapolate;       /* power: iterations between two quadratic extrapolations. 0: no extrapolation. */
  PetscReal            inner_damping, inner_tolerance;
  PetscBool            assemble, device_loop;
  PetscBool            print; /* the option -monitor was given */
  KSP                  ksp;   /* NULL until it is needed */
  PetscInt             nmonitors;
  PageRankMonitorFn    monitor[PAGERANK_MAX_MONITORS];
  void                *monitorctx[PAGERANK_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[PAGERANK_MAX_MONITORS])(void **);

  /* the graph, created by PageRankGraphSetUp_Private() */
  PetscInt  N, n;        /* number of nodes, and of nodes of this process */
  PetscInt  nblocks;     /* number of row blocks of each process. 0: the graph is not set up. */
  PetscInt *first, most; /* [nblocks + 1] first local row of each block; rows of the largest block */
  Mat      *A;           /* [nblocks], one matrix for each row block */
  IS       *rows;        /* [nblocks], global rows of each block */
  Vec       out, scale;  /* total weight of the outgoing links of each node, and its reciprocal, which is 0 at dangling nodes */
  Vec       loops;       /* weight of the links of each node to itself. NULL: no node has any. */
  Vec       marks;       /* 1 at dangling nodes, else 0. NULL: there is none. */
  PetscInt  ndangling;   /* number of dangling nodes */

  /* the rest, created by PageRankSetUp() */
  PetscBool    setup;
  PetscInt     nranks;     /* number of vectors of ranks */
  Vec          uniform;    /* 1/N */
  Vec          v, u;       /* teleportation vector, and distribution of the rank of dangling nodes. u NULL: the rank stays at its node or is dropped. */
  Vec         *x, *z, r;   /* [nranks] ranks; [nranks] work vectors; work vector of PageRankCheckRanks() */
  PetscScalar *lost;       /* [nranks] total rank of the dangling nodes */
  Vec          isdangling; /* marks, or NULL if the rank of dangling nodes is dropped */
  Vec          inverse;    /* Gauss-Seidel: 1/(1 - damping p), the inverse diagonal, if P moves the share p of a node's rank to the node itself. NULL: p is 0 for all nodes. */
  PageRankLoop loop;       /* device loop. NULL: the host controls the iteration. */

  /* the solve */
  PetscInt                it, matmults;
  PetscReal               residual, initial; /* 1-norm of the residual, and its first value in the solve. residual -1: there was no solve. */
  PetscReal               solvedamping;      /* damping of the solve, with which the residual gives the bound */
  PageRankConvergedReason reason;
};

PETSC_INTERN PetscErrorCode PageRankMonitor_Private(PageRank, PetscReal residual, PetscReal change);
PETSC_INTERN PetscErrorCode PageRankCheckResidual_Private(PageRank, PetscReal residual); /* records the residual, calls the monitors, and sets the reason if the iteration stops */

PETSC_INTERN PetscErrorCode PageRankGraphSetUp_Private(PageRank, PetscInt blocks);
PETSC_INTERN PetscErrorCode PageRankGraphDestroy_Private(PageRank);

PETSC_INTERN PetscErrorCode PageRankMultMany_Private(PageRank, PetscInt n, const Vec v[], const Vec x[], Vec y[]); /* y[k] = P x[k] */
PETSC_INTERN PetscErrorCode PageRankComputeResidual_Private(PageRank, Vec v, Vec x, Vec r);                        /* r: on entry P x, then the residual of x */
PETSC_INTERN PetscReal      PageRankGetTarget_Private(PageRank);                                                   /* largest 1-norm of a residual with which the iteration converges */

PETSC_INTERN StepRows       PageRankGetRows_Private(PageRank, PetscInt block, PetscBool leads);
PETSC_INTERN PetscErrorCode PageRankKernelsCreate_Private(PageRank, GpDev, PageRankKernels *);
PETSC_INTERN PetscErrorCode PageRankKernelsDestroy_Private(PageRank, PageRankKernels *);
PETSC_INTERN PetscErrorCode PageRankLoopCreate_Private(PageRank, PetscBool sweeps);
PETSC_INTERN PetscErrorCode PageRankLoopRun_Private(PageRank, Vec x);
PETSC_INTERN PetscErrorCode PageRankLoopDestroy_Private(PageRank);

PETSC_INTERN PetscErrorCode PageRankIteratePower_Private(PageRank, PetscInt n, const Vec v[], Vec x[]);
PETSC_INTERN PetscErrorCode PageRankSolve_Power(PageRank, Vec);
PETSC_INTERN PetscErrorCode PageRankSolve_InnerOuter(PageRank, Vec);
PETSC_INTERN PetscErrorCode PageRankSolve_GaussSeidel(PageRank, Vec);
PETSC_INTERN PetscErrorCode PageRankSolve_KSP(PageRank, Vec);
PETSC_INTERN PetscErrorCode PageRankSetUp_GaussSeidel(PageRank);

#endif
