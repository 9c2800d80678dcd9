/* The area under the ROC curve: the mean over all pairs of a positive example i and a negative example j of max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

const BMRMGrouped BMRMGrouped_rocarea = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_CLASSIFICATION, .lists = BMRM_LISTS(BMRMPairsCut), .sweep = BMRMPairsSweep};
