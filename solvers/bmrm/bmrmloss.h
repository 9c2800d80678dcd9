/* Interface of a loss: a convex function of the scores f = X w and of the labels y.

   There are three ways to write one:
      - A loss that is a mean over the examples: a few formulas between two includes (see losses/hinge.cu).
      - A loss that compares examples with each other: a function of a list of examples (see bmrmgrouped.h).
      - Any other loss: the operations below.
   BMRMLossRegister() registers it under a name. */
#ifndef BMRM_LOSS_H
#define BMRM_LOSS_H

#include <gpucsrbmrm.h>
#include <gpucsrcompat.h>
#include "solvers/bmrm/bmrmclasses.h"
#include "solvers/bmrm/bmrmformula.h"

/* This rank's part of a convex, piecewise quadratic function of a step t >= 0. Its derivative right of 0 is slope + curve t. */
typedef struct {
  PetscReal slope, curve;
  PetscReal end;    /* kinks beyond this step may be omitted */
  PetscInt  n, cap; /* number of kinks, all at t > 0; capacity of kink */
  BMRMKink *kink;
} BMRMPieces;

#define BMRM_MAX_BLOCKS 64 /* maximum number of cuts per pass */

/* Operations of a loss. f and e are the products of X with a point and with a direction. The loss is evaluated at f + s e. */
struct _BMRMLossOps {
  /* Prepares the loss for the labels y of the m examples on this rank; scale is set. Collective. NULL if there is nothing to prepare. */
  PetscErrorCode (*setup)(BMRMLoss, PetscInt m, Vec y);
  /* The risk, summed over all ranks. */
  PetscErrorCode (*risk)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk);
  /* A cut of the risk of block k, to which row i (counted over all ranks) belongs if i % n == k. The risk of the block at every g is at least r'g
     + offset. */
  PetscErrorCode (*cut)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset);
  /* Lower bounds least[0 ... n-1] on the risks of the n blocks, which hold for all scores. */
  PetscErrorCode (*least)(BMRMLoss, Vec y, PetscInt n, PetscReal least[]);
  /* This rank's part of the derivatives right of t[k], for k < nt <= BMRM_SLOPES: d[2 k] is the first derivative (or the slope of any cut at
     t[k]), d[2 k + 1] the second derivative. Collective. */
  PetscErrorCode (*slopes)(BMRMLoss, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[]);
  /* Adds this rank's part of the loss along the line. NULL if the loss is not piecewise quadratic. */
  PetscErrorCode (*pieces)(BMRMLoss, Vec f, Vec e, Vec y, BMRMPieces *);
  PetscErrorCode (*destroy)(BMRMLoss);
};

struct _n_BMRMLoss {
  struct _BMRMLossOps ops[1];
  BMRMTask            task;
  int (*fits)(double y);              /* whether a label is valid */
  const char       *labels;           /* description of the labels that fits() accepts */
  PetscReal         scale;            /* factor of the sum of losses in the risk: 1 / (number of examples, or sum of their weights, or number of groups, on all ranks) */
  PetscReal        *weight;           /* weight of each example of this rank, NULL for ones */
  PetscBool         weighable;        /* the loss accepts weights of examples */
  Vec               queries;          /* query number of each example; NULL if all examples belong to one query */
  PetscInt          parts;            /* maximum number of blocks into which the risk can be split, 0 for no limit; set by setup() */
  PetscInt          classes, outputs; /* number of classes, or PETSC_DECIDE to derive it from the labels; scores per example, set by setup() */
  PetscBool         steps;            /* its slopes are piecewise constant: between two near points those of few examples change */
  PetscBool         many;             /* y holds one label per score */
  PetscBool         onebyone;         /* slopes() at n points costs n times as much as at one point */
  PetscInt          nparameter;
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  PetscReal         value[BMRM_LOSS_PARAMETERS]; /* current values of the parameters */
  void             *data;                        /* data of the type of loss */
};

PETSC_EXTERN PetscErrorCode BMRMLossSetPointwise(BMRMLoss, const BMRMPointwise *, const BMRMKernels *);
PETSC_EXTERN PetscErrorCode BMRMLossSetClasses(BMRMLoss, const BMRMClasses *, const BMRMKernels *);
PETSC_EXTERN PetscErrorCode BMRMLossDescribe(BMRMLoss, BMRMTask, int (*)(double), const char[], PetscInt, const BMRMLossParameter[]);
PETSC_EXTERN PetscErrorCode BMRMPiecesReserve(BMRMPieces *, PetscInt);

#endif
