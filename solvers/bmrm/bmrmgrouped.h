/* Interface of losses over groups of examples: the loss of a group is a convex function of its scores, with minimum 0.

   The risk is the mean over the groups, which are lists of examples whose scores are compared with each other. BMRMLossSetGrouped() sorts the
   examples by group, adds the losses, and distributes the groups among the cuts of a pass.

   A loss is either a host function of one group, or a function of all groups in a host and a CUDA implementation (see bmrmlists.h). With the
   latter, scores that are all on one rank stay in place, also on a GPU. Scores of several ranks are gathered in host memory on rank 0. */
#ifndef BMRM_GROUPED_H
#define BMRM_GROUPED_H

#include "solvers/bmrm/bmrmlists.h"
#include "solvers/bmrm/bmrmloss.h"

typedef enum {
  BMRM_GROUP_ALL,  /* all examples form one list */
  BMRM_GROUP_QUERY /* the examples of a query form a list, see BMRMSetQueries() */
} BMRMGroupKind;

typedef struct {
  PetscInt         n; /* number of scores */
  const PetscReal *z; /* scores */
  const PetscReal *y; /* labels in descending order */
  const PetscReal *p; /* parameters of the loss */
} BMRMGroup;

typedef struct {
  BMRMGroupKind     kind;
  BMRMTask          task;
  const char       *labels; /* description of the labels that fits() accepts; NULL: the labels of the task */
  PetscInt          nparameter;
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  int (*fits)(double y); /* NULL: the labels of the task */
  /* Computes u and offset: u'g + offset is at most the loss at every g, and equal to it at z. */
  PetscErrorCode (*cut)(const BMRMGroup *, PetscReal u[], PetscReal *offset);
  BMRMListsCut lists[2]; /* instead of cut: host and CUDA implementation; NULL if there is none */
  BMRMListsCut sweep;    /* optional serial implementation for vectors in host memory, faster than lists[0] on one core */
} BMRMGrouped;

/* The host and CUDA implementations of a function of lists. */
#if GP_HAVE_CUDA
  #define BMRM_LISTS(function) \
    { \
      function##_Host, function##_CUDA \
    }
#else
  #define BMRM_LISTS(function) \
    { \
      function##_Host, NULL \
    }
#endif

PETSC_EXTERN PetscErrorCode BMRMLossSetGrouped(BMRMLoss, const BMRMGrouped *);

#endif
