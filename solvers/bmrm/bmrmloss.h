/* What a loss is, for those who write one: a convex function of the scores f = X w, and of the labels y.

   A loss that is a mean over the examples is four formulas and an include of bmrmpointwise.h (see losses/hinge.c); others
   fill the operations themselves.  BMRMLossRegister() makes either known under a name. */
#ifndef BMRM_LOSS_H
#define BMRM_LOSS_H

#include <gpucsrcompat.h>
#include <petscvec.h>

typedef struct _n_BMRMLoss *BMRMLoss;

/* what the labels are */
typedef enum {
  BMRM_TASK_CLASSIFICATION, /* +1 and -1 */
  BMRM_TASK_REGRESSION,     /* numbers to come close to */
  BMRM_TASK_NOVELTY         /* nothing: they are ignored */
} BMRMTask;

/* Beyond t the derivative along a line gains jump + bend (s - t). */
typedef struct {
  PetscReal t, jump, bend;
} BMRMKink;

/* This rank's part of a convex, piecewise quadratic function of a step: its derivative right of 0 is slope + curve t. */
typedef struct {
  PetscReal slope, curve;
  PetscInt  n, cap; /* kinks at t > 0, room for them */
  BMRMKink *kink;
} BMRMPieces;

/* a number that shapes a loss, and its option */
typedef struct {
  const char *option, *help;
  PetscReal   low, high; /* between them, not one of them */
} BMRMLossParameter;

#define BMRM_LOSS_PARAMETERS 2
#define BMRM_MAX_BLOCKS      64 /* cuts that one pass takes at most */

/* f and e are the products of X with a point and a direction; the loss is taken at f + s e */
struct _BMRMLossOps {
  /* the number of labels that make no sense, on this rank, and the place of the first of them */
  PetscErrorCode (*checklabels)(BMRMLoss, Vec y, PetscInt *bad, PetscInt *first);
  /* the risk, summed over all ranks */
  PetscErrorCode (*risk)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk);
  /* r with r'g + sum of offset[] <= risk(g) for every g; row i of all ranks counts for offset[i % n]; and the least risk of every such part */
  PetscErrorCode (*cut)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, Vec r, PetscInt n, PetscReal offset[]);
  PetscErrorCode (*least)(BMRMLoss, Vec y, PetscInt n, PetscReal least[]);
  /* this rank's part of the first derivative right of s, and of the second */
  PetscErrorCode (*derivative)(BMRMLoss, Vec f, Vec e, PetscReal s, Vec y, PetscReal d[2]);
  /* adds this rank's part of the loss along the line; NULL where it is not piecewise quadratic */
  PetscErrorCode (*pieces)(BMRMLoss, Vec f, Vec e, Vec y, BMRMPieces *);
  PetscErrorCode (*destroy)(BMRMLoss);
};

struct _n_BMRMLoss {
  struct _BMRMLossOps ops[1];
  BMRMTask            task;
  const char         *labels; /* what checklabels() wants, in words */
  PetscReal           scale;  /* one over the number of examples on all ranks */
  PetscInt            nparameter;
  BMRMLossParameter   parameter[BMRM_LOSS_PARAMETERS];
  PetscReal           value[BMRM_LOSS_PARAMETERS]; /* of the parameters */
  void               *data;                        /* of the type */
};

PETSC_EXTERN PetscErrorCode BMRMLossRegister(const char[], PetscErrorCode (*)(BMRMLoss));
PETSC_EXTERN PetscErrorCode BMRMLossAddParameter(BMRMLoss, const char[], const char[], PetscReal, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode BMRMPiecesReserve(BMRMPieces *, PetscInt);

/* the arrays of this rank's rows */
typedef struct {
  PetscInt           n, start;
  const PetscScalar *f, *e, *y;
} BMRMRows;

PETSC_EXTERN PetscErrorCode BMRMRowsGet(Vec f, Vec e, Vec y, BMRMRows *);
PETSC_EXTERN PetscErrorCode BMRMRowsRestore(Vec f, Vec e, Vec y, BMRMRows *);

#endif
