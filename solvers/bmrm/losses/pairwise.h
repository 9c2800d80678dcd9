/* Losses of pairs of examples with different labels: the one with the larger label should have the higher score, by 1. */
#ifndef BMRM_PAIRWISE_H
#define BMRM_PAIRWISE_H

#include "solvers/bmrm/bmrmgrouped.h"

/* the mean over the pairs of c max(0, 1 - (z_i - z_j)), c = y_i - y_j or 1 */
PETSC_INTERN PetscErrorCode BMRMPairwiseCut(const BMRMGroup *, PetscBool distance, PetscReal u[], PetscReal *offset);

#endif
