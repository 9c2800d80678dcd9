/* Private header of the BMRM solver: the object, the bundle of cuts, the inner QP, and the functions that the solver's files and the tests share. */
#ifndef BMRMIMPL_H
#define BMRMIMPL_H

#include <gpucsrdevice.h>
#include <gpucsrcompat.h>
#include <petsc/private/petscimpl.h>
#include "bmrmloss.h"
#include "bmrmregularizer.h"

#define BMRM_MAX_MONITORS 5
#define BMRM_NAME_LEN     64
#define BMRM_MAX_FREE     1024 /* maximum number of free weights: those of a bias of up to so many classes */
#define BMRM_PRINTS       3    /* length of the fingerprint of the data */

#define BMRMCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

PETSC_EXTERN PetscLogEvent BMRM_SolveEvent, BMRM_QPEvent, BMRM_LineSearchEvent, BMRM_CutEvent;

/* The bundle: a cutting-plane model of the risk, sum over the blocks of examples of max_i <a_i, w> + b_i.

   The first nblock cuts are constants, one for each block: the smallest value of the block's risk. They own no vector, since a = 0. All members
   are replicated on all ranks, except the vectors, which are distributed like w. */
typedef struct {
  PetscInt     n, cap; /* number of cuts; number of cuts that the arrays can hold */
  PetscInt     nblock;
  PetscInt     nfree; /* number of free weights */
  PetscInt     peak;  /* largest n since the bundle was created */
  Vec         *a;     /* subgradients; NULL for the first nblock cuts */
  Vec         *spare; /* vectors of dropped cuts, kept for reuse */
  Vec          image; /* workspace: M^-1 a for the Gram matrix */
  PetscInt     nspare;
  PetscInt    *block; /* block of examples of each cut */
  PetscReal   *b;     /* offset of each cut */
  PetscReal   *z;     /* entries of each a at the free weights, row stride nfree */
  PetscReal   *alpha; /* weights of the cuts in the last QP solution; those of each block form a point of the unit simplex */
  PetscInt    *idle;  /* number of consecutive QP solutions in which the weight of the cut was zero */
  PetscReal   *G;     /* Gram matrix <a_i, M^-1 a_j>, row stride cap; used only if the regulariser is half a squared norm with matrix M */
  Vec         *va;    /* workspace: arguments of VecMAXPY() */
  PetscScalar *work;  /* workspace: coefficients of VecMAXPY() */
} BMRMBundle;

/* Data of a QP on a product of simplices. */
typedef struct {
  PetscInt         n, nblock, ld;
  const PetscInt  *block;
  const PetscReal *G, *b; /* G has row stride ld */
  PetscReal        lambda;
} BMRMQPData;

/* Workspace of the inner QP. */
typedef struct {
  PetscInt   cap;
  PetscReal *g;         /* gradient of the objective */
  PetscReal *H, *d, *L; /* reduced Hessian, search direction, Cholesky factor; row stride cap */
  PetscInt   rows;      /* number of valid rows of L: the Cholesky factor of the leading rows of H plus ridge I */
  PetscInt   clean;     /* leading rows of L that no deletion has modified. The next problem reuses only these, so that its result does not depend on earlier problems */
  PetscReal  ridge;
  PetscInt  *S; /* cuts with nonzero weight, and those that enter */
  PetscInt   steepest[BMRM_MAX_BLOCKS], pivot[BMRM_MAX_BLOCKS];
  PetscReal  gap[BMRM_MAX_BLOCKS];
} BMRMQP;

typedef enum {
  BMRM_ALIKE_UNKNOWN,
  BMRM_ALIKE,
  BMRM_ALIKE_NOT
} BMRMAlike;

/* Settings, which BMRMDuplicate() copies. */
typedef struct {
  PetscInt              classes;      /* number of classes set by the user, or PETSC_DECIDE */
  PetscInt              groupsize;    /* if groups is NULL: number of consecutive features in a group */
  PetscInt              ncut;         /* cuts per pass, which is the number of blocks of examples */
  PetscBool             warm;         /* the next solve starts from the bundle and the solution of the last one */
  PetscReal             lambda;       /* weight of the regulariser */
  PetscReal             eps, eps_rel; /* absolute and relative tolerance on the gap */
  PetscInt              max_it;       /* maximum number of passes over the data */
  PetscReal             mu;           /* position of the next cut between the best point (0) and the minimiser of the model (1); initial value */
  PetscBool             mu_adapt;     /* adapt mu during the solve */
  PetscBool             line_search;  /* OCAS; PETSC_FALSE is plain BMRM */
  PetscBool             best_cut;     /* take a second cut at the best point if it is cheap */
  PetscInt              idle_age;     /* drop a cut after this many QP solutions without weight; 0 keeps all */
  PetscInt              max_cuts;     /* maximum number of cuts; 0 for no limit */
  PetscReal             qp_rtol;      /* tolerance of the inner QP as a fraction of the gap */
  PetscBool             error_if_not_converged;
  BMRMConvergenceTestFn test;
  void                 *testctx;
} BMRMSettings;

struct _p_BMRM {
  PETSCHEADER(int);
  Mat              X;          /* one example per row */
  Vec              y;          /* labels */
  Vec              queries;    /* query of each example, or NULL */
  Vec              importance; /* weight of each example, or NULL for ones */
  Vec              factor;     /* factor of each feature's weight in the regulariser, or NULL for ones */
  Vec              groups;     /* group of each feature, or NULL */
  Mat              A;          /* matrix from weights to scores: X, or X applied for every class if an example has several scores */
  PetscInt         m;          /* number of examples on all ranks */
  PetscBool        rows;       /* products use the rows of A directly (bmrmrows.c) */
  PetscInt        *order;      /* order in which these products visit the rows */
  BMRMAlike        alike;      /* whether all values of A are equal */
  PetscObjectState state;      /* object state of A when alike was determined */
  PetscLogEvent    product[2]; /* log events of these products: with A, with its transpose */

  BMRMSettings    set;
  BMRMLoss        loss;
  BMRMRegularizer reg;
  char            losstype[BMRM_NAME_LEN], regtype[BMRM_NAME_LEN];
  char            checkpoint[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN];
  PetscInt        checkpoint_every;

  /* state of the solve */
  BMRMBundle          bundle;
  BMRMQP              qp;
  Vec                 w, d; /* best point; direction from it to the minimiser of the model */
  Vec                 f, e; /* A w and A d */
  Vec                *r;    /* for each block: derivative of its risk by the scores at the cut point */
  PetscInt            nr;
  PetscBool           pair;                    /* each pass takes two cuts of the whole risk: at the best point and past it */
  PetscInt            taken;                   /* number of cuts of this pass */
  Vec                 rbest, gbest;            /* previous best point: derivative of the risk by the scores, and its product with the transpose of A */
  PetscBool           known;                   /* rbest and gbest are valid */
  Vec                 a[BMRM_MAX_BLOCKS];      /* subgradients of this pass, until the bundle takes them over */
  PetscReal           offset[BMRM_MAX_BLOCKS]; /* offsets of these cuts */
  PetscReal           before[2];               /* objective and lower bound before this pass */
  PetscReal           J, risk;                 /* objective and risk at the best point */
  PetscReal           lower;                   /* lower bound on the objective of every point */
  PetscReal           mu_now, step;
  PetscInt            it, matmults, stalled;
  BMRMConvergedReason reason;
  PetscBool           setup;
  PetscBool           started;            /* bundle and point belong to the current data, loss and regulariser */
  PetscBool           broken;             /* a cut holds a NaN or infinity */
  PetscReal           along[2];           /* if the regulariser is half a squared norm: its derivative along d is along[0] + t along[1] */
  double              print[BMRM_PRINTS]; /* fingerprint of the data, for checkpoints */
  BMRMPieces          pieces;             /* workspace of the line search */
  Vec                 labels;             /* copy of y in the memory space of f */
  Vec                 center, v, u;       /* workspace of model solvers; u and center only if the model is not a single QP */
  PetscReal           rho;                /* weight of the proximal term */
  PetscReal          *free;               /* values of the free weights at the minimiser of the model; NULL stands for zeros */
  PetscReal           freemax;            /* largest absolute value of a sum of the entries of an example at the free weights */
  PetscReal           freenoise;          /* entries of cuts at the free weights that are not larger than this may be rounding errors */
  PetscReal          *H, *bt, *trial;     /* Hessian, linear term and trial weights of the model solvers, for up to ncap cuts */
  PetscInt            ncap;

  PetscInt      nmonitors;
  BMRMMonitorFn monitor[BMRM_MAX_MONITORS];
  void         *monitorctx[BMRM_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[BMRM_MAX_MONITORS])(void **);
};

/* bmrmsetup.c */
PETSC_INTERN PetscErrorCode BMRMInvalidate_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMReplaceVec_Private(BMRM, Vec, Vec *);

/* bmrmblocks.c */
PETSC_INTERN PetscErrorCode BMRMBlocksCreate_Private(Mat, PetscInt, Mat *);

/* bmrmrows.c */
PETSC_INTERN PetscErrorCode BMRMRowsSetUp(BMRM);
PETSC_INTERN PetscErrorCode BMRMRowsProducts(BMRM, PetscBool);

/* bmrmpackage.c */
PETSC_INTERN PetscFunctionList BMRMLossList, BMRMRegularizerList;

/* bmrmloss.c */
PETSC_INTERN PetscErrorCode BMRMLossDestroy_Private(BMRMLoss *);

/* bmrmseparable.c */
PETSC_INTERN PetscErrorCode BMRMRegularizerDestroy_Private(BMRMRegularizer *);

/* bmrmlinesearch.c */
PETSC_INTERN PetscErrorCode BMRMPiecesMinimize(MPI_Comm, BMRMPieces *, PetscReal, PetscReal, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMPiecesDestroy_Private(BMRMPieces *);
PETSC_INTERN PetscErrorCode BMRMLineSearch_Private(BMRM, PetscReal *);

/* bmrmqp.c */
PETSC_INTERN PetscErrorCode BMRMQPSolve(BMRMQP *, const BMRMQPData *, PetscReal, PetscReal[], PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode BMRMQPSolveAlike(MPI_Comm, BMRMQP *, const BMRMQPData *, PetscReal, PetscReal[]);
PETSC_INTERN PetscErrorCode BMRMQPDestroy(BMRMQP *);

/* bmrmbundle.c */
PETSC_INTERN PetscErrorCode BMRMBundleCreate(BMRMBundle *, PetscInt, PetscInt, const PetscReal[]);
PETSC_INTERN PetscErrorCode BMRMBundleDestroy(BMRMBundle *);
PETSC_INTERN PetscErrorCode BMRMBundleGetVec(BMRMBundle *, Vec, Vec *);
PETSC_INTERN PetscErrorCode BMRMBundleAdd(BMRMBundle *, BMRMRegularizer, PetscInt, Vec, PetscReal, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMBundleDropIdle(BMRMBundle *, PetscInt);
PETSC_INTERN PetscErrorCode BMRMBundleCompress(BMRMBundle *, BMRMRegularizer, PetscInt);
PETSC_INTERN PetscErrorCode BMRMBundleRefill(BMRMBundle *, Vec, PetscInt, const double[]);
PETSC_INTERN PetscErrorCode BMRMBundleSum(BMRMBundle *, const PetscReal[], Vec, PetscReal *);

/* bmrmfree.c */
PETSC_INTERN PetscErrorCode BMRMFreeReset_Private(BMRMRegularizer);
PETSC_INTERN PetscErrorCode BMRMFreeSetUp_Private(BMRMRegularizer, Vec, PetscInt, const PetscInt[]);
PETSC_INTERN PetscErrorCode BMRMFreeGet_Private(BMRMRegularizer, Vec, PetscReal[]);
PETSC_INTERN PetscErrorCode BMRMFreeSet_Private(BMRMRegularizer, const PetscReal[], Vec);
PETSC_INTERN PetscReal      BMRMFreeSum_Private(const BMRMBundle *, const PetscReal[], PetscReal[]);
PETSC_INTERN PetscErrorCode BMRMFreeBalance_Private(const BMRMBundle *, PetscReal, PetscReal[]);

/* bmrmmodel.c */
PETSC_INTERN PetscErrorCode BMRMSolveModel_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMModelReset_Private(BMRM);

/* bmrmpath.c */
PETSC_INTERN PetscErrorCode BMRMFoldsAssign_Private(BMRM, PetscInt, PetscInt[]);

/* bmrmcheckpoint.c */
PETSC_INTERN PetscErrorCode BMRMCheckpointSetUp_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMCheckpointSave_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMCheckpointLoad_Private(BMRM);

/* bmrmview.c */
PETSC_INTERN PetscErrorCode BMRMMonitor_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMMonitorSetFromOptions_Private(BMRM, GpOptionItems);
PETSC_INTERN PetscErrorCode BMRMConvergedReasonViewFromOptions_Private(BMRM);

#endif
