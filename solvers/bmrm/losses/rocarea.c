/* The area under the ROC curve: the mean over all pairs of a positive example i and a negative example j of max(0, 1 - (z_i - z_j)). */
#include "solvers/bmrm/bmrmgrouped.h"
#include "solvers/bmrm/losses/pairwise.h"

static int Fits(double y)
{
  return y == 1 || y == -1;
}

const BMRMGrouped BMRMGrouped_rocarea = {.kind = BMRM_GROUP_ALL, .task = BMRM_TASK_CLASSIFICATION, .labels = "+1 or -1", .fits = Fits, .lists = BMRM_LISTS(BMRMPairsCut), .sweep = BMRMPairsSweep};
