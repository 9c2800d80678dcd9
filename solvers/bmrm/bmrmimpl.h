/* What the files of the BMRM solver share: the object, the bundle of cuts, and the kernels the tests call. */
#ifndef BMRMIMPL_H
#define BMRMIMPL_H

#include "app/appdevice.h"
#include <gpucsrcompat.h>
#include <petsc/private/petscimpl.h>
#include "bmrmloss.h"
#include "bmrmregularizer.h"

#define BMRM_MAX_MONITORS 5
#define BMRM_NAME_LEN     64
#define BMRM_PRINTS       3 /* numbers that tell data apart */

#define BMRMCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

PETSC_EXTERN PetscLogEvent BMRM_SolveEvent, BMRM_QPEvent, BMRM_LineSearchEvent, BMRM_CutEvent;

/* The cutting-plane model of the risk, the sum over blocks of examples of max_i <a_i, w> + b_i. The first cut of every block is its
   least risk, a constant; it owns no vector, its a is zero.  Replicated on all ranks but for the vectors. */
typedef struct {
  PetscInt     n, cap; /* cuts in use, cuts there is room for */
  PetscInt     nblock;
  PetscInt     peak;  /* largest n so far */
  Vec         *a;     /* subgradients, those of the first cuts are NULL */
  Vec         *spare; /* vectors of dropped cuts, to be used again */
  Vec          image; /* work: M^-1 a for the Gram matrix */
  PetscInt     nspare;
  PetscInt    *block; /* of which examples */
  PetscReal   *b;     /* offsets */
  PetscReal   *z;     /* the entries of the free weight */
  PetscReal   *alpha; /* weights of the last QP solution, those of every block a point of the simplex */
  PetscInt    *idle;  /* how many solutions in a row gave the cut no weight */
  PetscReal   *G;     /* Gram matrix <a_i, M^-1 a_j>, cap columns a row; for half squared norms only */
  Vec         *va;    /* work: the vectors VecMAXPY() is to add */
  PetscScalar *work;  /* work: their factors */
} BMRMBundle;

/* a QP on a product of simplices */
typedef struct {
  PetscInt         n, nblock, ld;
  const PetscInt  *block;
  const PetscReal *G, *b; /* ld columns a row */
  PetscReal        lambda;
} BMRMQPData;

/* work space of the inner QP */
typedef struct {
  PetscInt   cap;
  PetscReal *g;         /* gradient of the objective */
  PetscReal *H, *d, *L; /* reduced Hessian, direction, Cholesky factor; cap numbers a row */
  PetscInt   rows;      /* of the factor, which are those of the first rows of H and this ridge */
  PetscInt   clean;     /* rows that no deletion has touched: those that the next problem may go on with, so that what is done depends on the problem alone */
  PetscReal  ridge;
  PetscInt  *S; /* the cuts with weight */
  PetscInt   steepest[BMRM_MAX_BLOCKS], pivot[BMRM_MAX_BLOCKS];
  PetscReal  gap[BMRM_MAX_BLOCKS];
} BMRMQP;

typedef enum {
  BMRM_ALIKE_UNKNOWN,
  BMRM_ALIKE,
  BMRM_ALIKE_NOT
} BMRMAlike;

struct _p_BMRM {
  PETSCHEADER(int);
  Mat              X;          /* one example a row */
  Vec              y;          /* labels */
  Vec              queries;    /* of the examples, or NULL */
  PetscInt         classes;    /* as the user says, or PETSC_DECIDE */
  Vec              factor;     /* of the features' weights in the regulariser, or NULL for ones */
  Vec              groups;     /* of the features, or NULL */
  PetscInt         groupsize;  /* without them so many features are a group */
  Mat              A;          /* X, or where an example has several scores X for every class; from weights to scores */
  PetscInt         m;          /* examples, on all ranks */
  PetscBool        rows;       /* A is multiplied by from its rows */
  PetscInt        *order;      /* in which these are taken then */
  BMRMAlike        alike;      /* are all values of A one */
  PetscObjectState state;      /* of A, when this was looked at */
  PetscLogEvent    product[2]; /* as which products with the rows, and with their transpose, are logged */

  /* what the user asks for */
  BMRMLoss              loss;
  BMRMRegularizer       reg;
  char                  losstype[BMRM_NAME_LEN], regtype[BMRM_NAME_LEN];
  char                  checkpoint[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN];
  PetscInt              checkpoint_every;
  PetscInt              ncut;         /* cuts a pass: blocks of examples */
  PetscBool             warm;         /* the next solve goes on from the bundle and the point of the last */
  PetscReal             lambda;       /* weight of the regulariser */
  PetscReal             eps, eps_rel; /* absolute and relative tolerance on the gap */
  PetscInt              max_it;       /* passes over the data at most */
  PetscReal             mu;           /* how far past the best point the next cut is taken, first value */
  PetscBool             mu_adapt;     /* change mu on the way */
  PetscBool             line_search;  /* OCAS, otherwise plain BMRM */
  PetscBool             best_cut;     /* take a second cut at the best point, where it costs little */
  PetscInt              idle_age;     /* drop a cut after as many idle solutions, 0 keeps all */
  PetscInt              max_cuts;     /* keep no more than that, 0 any number */
  PetscReal             qp_rtol;      /* the inner QP is solved to this fraction of the gap */
  PetscBool             error_if_not_converged;
  void                 *testctx;
  BMRMConvergenceTestFn test;

  /* the state */
  BMRMBundle          bundle;
  BMRMQP              qp;
  Vec                 w, d; /* the best point, and the direction to the minimiser of the model */
  Vec                 f, e; /* X w and X d */
  Vec                *r;    /* derivative of the risk by X w at the cut point, of every block of examples */
  PetscInt            nr;
  PetscBool           pair;                    /* passes take two cuts of the whole risk: at the best point, and past it */
  PetscInt            taken;                   /* the cuts of this pass */
  Vec                 rbest, gbest;            /* of the former best point: the derivative of the risk by X w, and its product with the transpose */
  PetscBool           known;                   /* these two are there */
  Vec                 a[BMRM_MAX_BLOCKS];      /* the cuts of this pass, before the bundle has them */
  PetscReal           offset[BMRM_MAX_BLOCKS]; /* their offsets */
  PetscReal           before[2];               /* objective and bound before this pass */
  PetscReal           J, risk;                 /* objective and risk of the best point */
  PetscReal           lower;                   /* certified: no point has a smaller objective */
  PetscReal           mu_now, step;
  PetscInt            it, matmults, stalled;
  PetscReal           qp_gap;
  PetscInt            qp_its;
  BMRMConvergedReason reason;
  PetscBool           setup;
  PetscBool           started;            /* bundle and point belong to the data, loss and regulariser set now */
  PetscBool           broken;             /* a cut holds a NaN or infinity */
  PetscReal           along[2];           /* of a regulariser that is half a squared norm: its derivative along d is along[0] + t along[1] */
  double              print[BMRM_PRINTS]; /* of the data, for checkpoints */
  BMRMPieces          pieces;             /* work of the line search */
  Vec                 labels;             /* a copy of y that lives where f does */
  Vec                 center, v, u;       /* work of models that need more than a QP */
  PetscReal           rho, free;          /* their proximal term; the model's free weight */
  PetscReal          *H, *bt, *trial;     /* their Hessian, offsets, weights; room for ncap cuts */
  PetscInt            ncap;

  PetscInt      nmonitors;
  BMRMMonitorFn monitor[BMRM_MAX_MONITORS];
  void         *monitorctx[BMRM_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[BMRM_MAX_MONITORS])(void **);
};

/* bmrm.c */
PETSC_INTERN PetscErrorCode BMRMForget_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMTake_Private(BMRM, Vec, Vec *);
PETSC_INTERN PetscErrorCode BMRMVectorsDestroy_Private(BMRM);

/* bmrmblocks.c */
PETSC_INTERN PetscErrorCode BMRMBlocksCreate_Private(Mat, PetscInt, Mat *);

/* bmrmrows.c */
PETSC_INTERN PetscErrorCode BMRMRowsSetUp(BMRM);
PETSC_INTERN PetscErrorCode BMRMRowsProducts(BMRM, PetscBool);

/* bmrmplace.c: what the kernels of a loss work on, between Get and Restore */
typedef struct {
  PetscInt           n, start;    /* labels of this rank */
  PetscBool          device, gpu; /* are the arrays those of a runtime's device, and is that a GPU */
  const PetscScalar *f, *e, *y;
  BMRMWork           work;
  double             result[2 * BMRM_SLOPES]; /* of the host's kernels */
} BMRMPlace;

PETSC_INTERN PetscErrorCode BMRMPlaceGet_Private(BMRMPlace *, PetscBool, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode BMRMPlaceRestore_Private(BMRMPlace *, Vec, Vec, Vec, PetscLogDouble);
PETSC_INTERN PetscErrorCode BMRMPlaceGetWrite_Private(const BMRMPlace *, Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode BMRMPlaceRestoreWrite_Private(const BMRMPlace *, Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode BMRMPlaceDestroy_Private(BMRMPlace *);

/* bmrmloss.c */
PETSC_INTERN PetscFunctionList BMRMLossList;
PETSC_INTERN PetscErrorCode    BMRMLossRegisterAll_Private(void);
PETSC_INTERN PetscErrorCode    BMRMLossDestroy_Private(BMRMLoss *);
PETSC_INTERN PetscErrorCode    BMRMLossSetFromOptions_Private(BMRM, GpOptionItems);

/* bmrmlabels.c */
PETSC_INTERN PetscErrorCode BMRMLossSetUp_Private(BMRM);

/* bmrmregularizer.c */
PETSC_INTERN PetscFunctionList BMRMRegularizerList;
PETSC_INTERN PetscErrorCode    BMRMRegularizerRegisterAll_Private(void);
PETSC_INTERN PetscErrorCode    BMRMRegularizerDestroy_Private(BMRMRegularizer *);
PETSC_INTERN PetscErrorCode    BMRMRegularizerSetFromOptions_Private(BMRM, GpOptionItems);
PETSC_INTERN PetscErrorCode    BMRMRegularizerSetUp_Private(BMRM);

/* bmrmlinesearch.c */
PETSC_INTERN PetscErrorCode BMRMPiecesMinimize(MPI_Comm, BMRMPieces *, PetscReal, PetscReal, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMPiecesDestroy_Private(BMRMPieces *);
PETSC_INTERN PetscErrorCode BMRMLineSearch_Private(BMRM, PetscReal *);

/* bmrmqp.c */
PETSC_INTERN PetscErrorCode BMRMQPSolve(BMRMQP *, const BMRMQPData *, PetscReal, PetscReal[], PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode BMRMQPDestroy(BMRMQP *);

/* bmrmbundle.c */
PETSC_INTERN PetscErrorCode BMRMBundleCreate(BMRMBundle *, PetscInt, const PetscReal[]);
PETSC_INTERN PetscErrorCode BMRMBundleDestroy(BMRMBundle *);
PETSC_INTERN PetscErrorCode BMRMBundleGetVec(BMRMBundle *, Vec, Vec *);
PETSC_INTERN PetscErrorCode BMRMBundleAdd(BMRMBundle *, BMRMRegularizer, PetscInt, Vec, PetscReal, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMBundleDropIdle(BMRMBundle *, PetscInt, PetscInt *);
PETSC_INTERN PetscErrorCode BMRMBundleCompress(BMRMBundle *, BMRMRegularizer, PetscInt);
PETSC_INTERN PetscErrorCode BMRMBundleRefill(BMRMBundle *, Vec, PetscInt, const double[]);
PETSC_INTERN PetscErrorCode BMRMBundleSum(BMRMBundle *, const PetscReal[], Vec, PetscReal *);

/* bmrmmodel.c */
PETSC_INTERN PetscErrorCode BMRMSolveModel_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMModelReset_Private(BMRM);

/* bmrmcheckpoint.c */
PETSC_INTERN PetscErrorCode BMRMCheckpointSetUp_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMCheckpointSave_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMCheckpointLoad_Private(BMRM);

/* bmrmview.c */
PETSC_INTERN PetscErrorCode BMRMMonitor_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMMonitorSetFromOptions_Private(BMRM, GpOptionItems);
PETSC_INTERN PetscErrorCode BMRMConvergedReasonViewFromOptions_Private(BMRM);

#endif
