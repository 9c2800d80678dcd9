/* Ordinal regression: the mean over all pairs with labels y_i > y_j of (y_i - y_j) max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

const BMRMGrouped BMRMGrouped_ordinal = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_RANKING, .lists = BMRM_LISTS(BMRMDistantPairsCut), .sweep = BMRMDistantPairsSweep};
