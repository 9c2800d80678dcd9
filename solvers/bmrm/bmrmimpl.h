/* What the files of the BMRM solver share: the object, the bundle of cuts, and the kernels the tests call. */
#ifndef BMRMIMPL_H
#define BMRMIMPL_H

#include <gpucsrcompat.h>
#include <petsc/private/petscimpl.h>
#include "bmrm.h"

#define BMRM_MAX_MONITORS 5

#define BMRMCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

PETSC_EXTERN PetscLogEvent BMRM_SolveEvent, BMRM_QPEvent, BMRM_LineSearchEvent, BMRM_CutEvent;

/* The cutting-plane model of the risk, R(w) >= max_i <a_i, w> + b_i.  Cut 0 is the constant 0, a lower bound of every
   loss we have; it owns no vector, its a is zero.  Replicated on all ranks but for the vectors. */
typedef struct {
  PetscInt     n, cap; /* cuts in use, cuts there is room for */
  PetscInt     peak;   /* largest n so far */
  Vec         *a;      /* subgradients, a[0] is NULL */
  Vec         *spare;  /* vectors of dropped cuts, to be used again */
  PetscInt     nspare;
  PetscReal   *b;     /* offsets */
  PetscReal   *alpha; /* weights of the last QP solution, a point of the simplex */
  PetscInt    *idle;  /* how many solutions in a row gave the cut no weight */
  PetscReal   *G;     /* Gram matrix <a_i, a_j>, cap columns a row */
  Vec         *va;    /* work: the vectors VecMAXPY() is to add */
  PetscScalar *work;  /* work: their factors */
} BMRMBundle;

/* work space of the inner QP */
typedef struct {
  PetscInt   cap;
  PetscReal *g;         /* gradient of the objective */
  PetscReal *H, *d, *L; /* reduced Hessian, direction, Cholesky factor */
  PetscInt  *S;         /* the cuts with weight */
} BMRMQP;

struct _p_BMRM {
  PETSCHEADER(int);
  Mat      X; /* one example a row */
  Vec      y; /* +1 or -1 */
  PetscInt m; /* examples, on all ranks */

  /* what the user asks for */
  PetscReal lambda;       /* weight of the regulariser */
  PetscReal eps, eps_rel; /* absolute and relative tolerance on the gap */
  PetscInt  max_it;       /* passes over the data at most */
  PetscReal mu;           /* how far past the best point the next cut is taken, first value */
  PetscBool mu_adapt;     /* change mu on the way */
  PetscBool line_search;  /* OCAS, otherwise plain BMRM */
  PetscInt  idle_age;     /* drop a cut after as many idle solutions, 0 keeps all */
  PetscReal qp_rtol;      /* the inner QP is solved to this fraction of the gap */
  PetscBool error_if_not_converged;

  /* the state */
  BMRMBundle          bundle;
  BMRMQP              qp;
  Vec                 w, d;    /* the best point, and the direction to the minimiser of the model */
  Vec                 f, e;    /* X w and X d */
  Vec                 r;       /* derivative of the risk by X w at the cut point */
  PetscReal           J, risk; /* objective and risk of the best point */
  PetscReal           lower;   /* certified: no point has a smaller objective */
  PetscReal           mu_now, step;
  PetscInt            it, matmults, stalled;
  PetscReal           qp_gap;
  PetscInt            qp_its;
  BMRMConvergedReason reason;
  PetscBool           setup;
  PetscBool           broken; /* a cut holds a NaN or infinity */

  PetscInt      nmonitors;
  BMRMMonitorFn monitor[BMRM_MAX_MONITORS];
  void         *monitorctx[BMRM_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[BMRM_MAX_MONITORS])(void **);
};

/* bmrmloss.c: the hinge loss at f + s e, given f = X w, e = X d and labels y; every sum runs over all ranks */
PETSC_INTERN PetscErrorCode BMRMHingeRisk(Vec, Vec, PetscReal, Vec, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMHingeCut(Vec, Vec, PetscReal, Vec, PetscInt, Vec, PetscReal *);

/* bmrmlinesearch.c */
PETSC_INTERN PetscErrorCode BMRMHingeLineSearch(Vec, Vec, Vec, PetscInt, PetscReal, PetscReal, PetscReal *);

/* bmrmqp.c */
PETSC_INTERN PetscErrorCode BMRMQPSolve(BMRMQP *, PetscInt, const PetscReal[], PetscInt, const PetscReal[], PetscReal, PetscReal, PetscReal[], PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode BMRMQPDestroy(BMRMQP *);

/* bmrmbundle.c */
PETSC_INTERN PetscErrorCode BMRMBundleCreate(BMRMBundle *);
PETSC_INTERN PetscErrorCode BMRMBundleDestroy(BMRMBundle *);
PETSC_INTERN PetscErrorCode BMRMBundleGetVec(BMRMBundle *, Vec, Vec *);
PETSC_INTERN PetscErrorCode BMRMBundleAdd(BMRMBundle *, Vec, PetscReal, PetscReal *);
PETSC_INTERN PetscErrorCode BMRMBundleDropIdle(BMRMBundle *, PetscInt, PetscInt *);
PETSC_INTERN PetscErrorCode BMRMBundleCombine(BMRMBundle *, PetscReal, Vec, PetscReal *);

/* bmrmview.c */
PETSC_INTERN PetscErrorCode BMRMMonitor_Private(BMRM);
PETSC_INTERN PetscErrorCode BMRMMonitorSetFromOptions_Private(BMRM, GpOptionItems);
PETSC_INTERN PetscErrorCode BMRMConvergedReasonViewFromOptions_Private(BMRM);

#endif
