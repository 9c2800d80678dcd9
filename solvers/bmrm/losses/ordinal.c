/* Ordinal regression: the mean over all pairs with labels y_i > y_j of (y_i - y_j) max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

static int Fits(double y)
{
  return y - y == 0;
}

const BMRMGrouped BMRMGrouped_ordinal = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_RANKING, .labels = "a number", .fits = Fits, .lists = BMRM_LISTS(BMRMDistantPairsCut), .sweep = BMRMDistantPairsSweep};
