/* What a loss of several scores at once is, for those who write one: a convex function of the scores of a group, least 0.

   The risk is its mean over the groups: lists of examples whose scores are compared with each other.  BMRMLossSetGrouped() orders the examples by
   group, adds up, and shares the groups among the cuts of a pass.  A loss is a function of one group on the host, or of all groups at once, in two
   twins (see bmrmlists.h): then scores that one rank has all of stay where they are, on a GPU, too.  Those of several ranks are gathered
   on the first one, on the host. */
#ifndef BMRM_GROUPED_H
#define BMRM_GROUPED_H

#include "solvers/bmrm/bmrmlists.h"
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
  BMRMListsCut lists[2]; /* instead of that: on the host and on a GPU; NULL where there is none */
  BMRMListsCut sweep;    /* on the host where no device has the scores, by one core faster than lists[0]; may be NULL */
} BMRMGrouped;

/* both twins of a function on lists */
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
