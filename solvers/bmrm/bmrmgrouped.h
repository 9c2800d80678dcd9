/* What a loss of several scores at once is, for those who write one: a convex function of the scores of a group, least 0.

   The risk is its mean over the groups: lists of examples whose scores are compared with each other.  BMRMLossSetGrouped() gathers the scores on
   the first rank, orders them by group, adds up, and shares the groups among the cuts of a pass.  All of it runs on the host, whatever the
   type of the vectors; the operations that it fills in are those of any loss, so that other ways to compute them concern no caller. */
#ifndef BMRM_GROUPED_H
#define BMRM_GROUPED_H

#include "solvers/bmrm/bmrmloss.h"

typedef enum {
  BMRM_GROUP_ALL,  /* all examples are one list */
  BMRM_GROUP_QUERY /* the examples of a query are a list, see BMRMSetQueries() */
} BMRMGroupKind;

typedef struct {
  PetscInt         n; /* scores */
  const PetscReal *z; /* the scores */
  const PetscReal *y; /* their labels, falling */
  const PetscReal *p; /* parameters of the loss */
} BMRMGroup;

typedef struct {
  BMRMGroupKind     kind;
  BMRMTask          task;
  const char       *labels; /* what fits() wants, in words */
  PetscInt          nparameter;
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  int (*fits)(double y);
  /* u and offset with u'g + offset <= the loss at every g, and equal at z */
  PetscErrorCode (*cut)(const BMRMGroup *, PetscReal u[], PetscReal *offset);
} BMRMGrouped;

PETSC_EXTERN PetscErrorCode BMRMLossSetGrouped(BMRMLoss, const BMRMGrouped *);

/* the places from ... to-1 of the list in the order of rising scores, equal ones as they are in the list */
PETSC_EXTERN PetscErrorCode BMRMGroupSort(const BMRMGroup *, PetscInt from, PetscInt to, PetscInt order[]);

#endif
