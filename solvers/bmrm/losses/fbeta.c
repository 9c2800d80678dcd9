/* The F-beta score as a loss: labels, parameter and kernels. The kernels are in fbeta.cu. */
#include "solvers/bmrm/bmrmgrouped.h"

GpErr BMRMFbetaCut_Host(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);
GpErr BMRMFbetaCut_CUDA(GpDev, const BMRMLists *, const double p[], const double *z, double *u, double *c);

const BMRMGrouped BMRMGrouped_fbeta = {
  .kind = BMRM_GROUP_ALL, .task = BMRM_TASK_CLASSIFICATION, .nparameter = 1, .parameter = {{"-bmrm_loss_beta", "loss fbeta: weight of recall relative to precision", 1, 0, INFINITY}}, .lists = BMRM_LISTS(BMRMFbetaCut)};
