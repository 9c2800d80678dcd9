/* What a loss is, for those who write one: a convex function of the scores f = X w, and of the labels y.

   A loss that is a mean over the examples is four formulas between two includes (see losses/hinge.cu), one that compares
   examples with each other is a function (see bmrmgrouped.h); others fill the operations themselves.  BMRMLossRegister() makes
   each known under a name. */
#ifndef BMRM_LOSS_H
#define BMRM_LOSS_H

#include <gpucsrbmrm.h>
#include <gpucsrcompat.h>
#include "solvers/bmrm/bmrmclasses.h"
#include "solvers/bmrm/bmrmformula.h"

/* This rank's part of a convex, piecewise quadratic function of a step: its derivative right of 0 is slope + curve t. */
typedef struct {
  PetscReal slope, curve;
  PetscReal end;    /* kinks beyond this step may be left out */
  PetscInt  n, cap; /* kinks at t > 0, room for them */
  BMRMKink *kink;
} BMRMPieces;

#define BMRM_MAX_BLOCKS 64 /* cuts that one pass takes at most */

/* f and e are the products of X with a point and a direction; the loss is taken at f + s e */
struct _BMRMLossOps {
  /* knows the labels, of m examples on this rank, and scale now; collective, NULL where there is nothing to prepare */
  PetscErrorCode (*setup)(BMRMLoss, PetscInt m, Vec y);
  /* the risk, summed over all ranks */
  PetscErrorCode (*risk)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk);
  /* the part of block k, to which row i of all ranks belongs when i % n is k: r with r'g + offset <= the risk of the block at g for
     every g, and the least risk of every block */
  PetscErrorCode (*cut)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset);
  PetscErrorCode (*least)(BMRMLoss, Vec y, PetscInt n, PetscReal least[]);
  /* this rank's part of the first derivative right of t[k] (or of the slope of any cut there), d[2 k], and of the second, d[2 k + 1], for
     k < nt <= BMRM_SLOPES; collective */
  PetscErrorCode (*slopes)(BMRMLoss, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[]);
  /* adds this rank's part of the loss along the line; NULL where it is not piecewise quadratic */
  PetscErrorCode (*pieces)(BMRMLoss, Vec f, Vec e, Vec y, BMRMPieces *);
  PetscErrorCode (*destroy)(BMRMLoss);
};

struct _n_BMRMLoss {
  struct _BMRMLossOps ops[1];
  BMRMTask            task;
  int (*fits)(double y);              /* whether a label makes sense */
  const char       *labels;           /* what fits() wants, in words */
  PetscReal         scale;            /* one over the number of examples on all ranks */
  Vec               queries;          /* which query an example belongs to, as numbers; NULL for one and the same */
  PetscInt          parts;            /* blocks that the risk can be shared among at most, 0 for any number; known after setup() */
  PetscInt          classes, outputs; /* the classes there are, PETSC_DECIDE for what the labels say; scores that an example has, known after setup() */
  PetscBool         steps;            /* its slopes take a few values only: from one point to a near one those of few examples change */
  PetscBool         many;             /* there is a label for every score */
  PetscBool         onebyone;         /* slopes() at n places cost n times as much as at one */
  PetscInt          nparameter;
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  PetscReal         value[BMRM_LOSS_PARAMETERS]; /* of the parameters */
  void             *data;                        /* of the type */
};

PETSC_EXTERN PetscErrorCode BMRMLossSetPointwise(BMRMLoss, const BMRMPointwise *, const BMRMPointwiseKernels *);
PETSC_EXTERN PetscErrorCode BMRMLossSetClasses(BMRMLoss, const BMRMClasses *, const BMRMClassKernels *);
PETSC_EXTERN PetscErrorCode BMRMLossDescribe(BMRMLoss, BMRMTask, int (*)(double), const char[], PetscInt, const BMRMLossParameter[]);
PETSC_EXTERN PetscErrorCode BMRMPiecesReserve(BMRMPieces *, PetscInt);

#endif
