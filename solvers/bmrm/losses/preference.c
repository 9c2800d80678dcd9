/* Preferences within queries: for each query the mean over the pairs with labels y_i > y_j of max(0, 1 - (z_i - z_j)); the risk is the mean over
   the queries. */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

const BMRMGrouped BMRMGrouped_preference = {.kind = BMRM_GROUP_QUERY, .task = BMRM_TASK_RANKING, .lists = BMRM_LISTS(BMRMPairsCut), .sweep = BMRMPairsSweep};
