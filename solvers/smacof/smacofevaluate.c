/* Evaluation of stress and Guttman transform for the configurations of all paths that iterate. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

/* Gets or restores the arrays of a path that a pass reads and writes, on the device or on the host. */
static PetscErrorCode SMACOFPathGetArrays(SMACOF s, SMACOFPath *P, PetscErrorCode (*get)(GpDev, Vec, PetscBool, const double **), SMACOFPass *p)
{
  GpDev dev = s->device.dev;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < P->form.n; k++) PetscCall(get(dev, P->form.term[k], PETSC_FALSE, &p->form.term[k]));
  PetscCall(get(dev, P->next.x, (PetscBool)(P->form.n > 0), &p->x));
  PetscCall(get(dev, P->bx, PETSC_TRUE, (const double **)&p->bx));
  PetscCall(get(dev, P->next.stress, PETSC_TRUE, (const double **)&p->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFPathSetPass(SMACOF s, SMACOFPath *P, SMACOFPass *p)
{
  PetscFunctionBegin;
  *p = s->device.p;
  PetscCall(SMACOFPathGetArrays(s, P, SMACOFGetArray_Private, p));
  p->form.n = (int)P->form.n;
  PetscCall(PetscArraycpy(p->form.factor, P->form.factor, P->form.n));
  p->form.to = (double *)p->x;
  p->xrow    = p->x + s->D.first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of pairs that a pass reads on this rank. */
static double SMACOFCountReadPairs(SMACOF s)
{
  const SMACOFPass *p     = &s->device.p;
  double            pairs = s->D.start ? (double)s->D.start[p->rows] : 0;

  for (int k = 0; !s->D.start && k < p->nranges; k++) pairs += (double)(p->range[k].r1 - p->range[k].r0) * (p->range[k].c1 - p->range[k].c0) / (p->range[k].kind == PASS_TRIANGLE ? 2 : 1);
  return pairs;
}

/* Computes B(X) X and the stress of each point for n configurations, with one pass over the pairs, and sums them over the ranks.  Collective. */
PetscErrorCode SMACOFRunPass_Private(SMACOF s, PetscInt n, SMACOFPath *active[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(SMACOFPathSetPass(s, active[k], &s->pass[k]));
  if (s->regression.D) { /* SMACOFSetUp() allows only one path then, so n is 1 */
    SMACOFCombineTerms_Host(s->pass);
    s->pass->form.n = 0;
    PetscCall(SMACOFRegressionFit_Private(&s->regression, s->pass->x));
    s->pass->delta = s->regression.dhat;
  }
  PetscCall(PetscLogEventBegin(SMACOF_PassEvent, s, 0, 0, 0));
  PetscCall(SMACOFDevicePassRun_Private(&s->device, s->pass, n));
  PetscCall(PetscLogFlops((double)n * SMACOFCountReadPairs(s) * (double)(6 * s->dim + 5)));
  PetscCall(PetscLogEventEnd(SMACOF_PassEvent, s, 0, 0, 0));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(SMACOFPathGetArrays(s, active[k], SMACOFRestoreArray_Private, &s->pass[k]));
    s->sum[2 * k]     = active[k]->bx;
    s->sum[2 * k + 1] = active[k]->next.stress;
  }
  PetscCall(VecGPUSumRanks(s->D.comm, 2 * n, s->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the stress and rho of n configurations. */
static PetscErrorCode SMACOFWaitForSums(SMACOF s, PetscInt n, SMACOFPath *active[])
{
  PetscScalar sum[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    SMACOFConfiguration *c = &active[k]->next;

    PetscCall(SMACOFSumsEnd_Private(&active[k]->sums, 2, active[k]->sums.result, sum));
    c->sigma = 0.5 * PetscRealPart(sum[0]) / s->unit;
    c->rho   = PetscRealPart(sum[1]) / s->unit;
    PetscCheck(PetscIsNormalReal(c->sigma) || c->sigma < 1, s->D.comm, PETSC_ERR_FP, "The normalised stress of iteration %" PetscInt_FMT " is %g; scale the dissimilarities or the start", active[k]->at.it, (double)c->sigma);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Evaluates stress, B(X) X and Guttman transform of the next configurations of n active paths, with one pass over the pairs.  Coordinates stay in the memory of the vectors,
   except for fixed points, a transform with a KSP, and a sum over ranks whose GPUs NCCL does not connect.  Collective. */
PetscErrorCode SMACOFEvaluate_Private(SMACOF s, PetscInt n)
{
  const PetscBool accelerates = (PetscBool)(s->acceleration == SMACOF_ACCELERATION_ANDERSON), first = (PetscBool)(s->transform.ksp != NULL);

  PetscFunctionBegin;
  PetscCall(SMACOFRunPass_Private(s, n, s->active));
  for (PetscInt k = 0; k < n; k++) PetscCall(SMACOFSumsBegin_Private(&s->active[k]->sums, s->active[k]->next.x, s->active[k]->bx, s->active[k]->next.stress));
  if (first) PetscCall(SMACOFWaitForSums(s, n, s->active)); /* check that the stress is finite before the KSP is called */
  for (PetscInt k = 0; k < n; k++) {
    SMACOFPath *P = s->active[k];

    PetscCall(SMACOFTransformApply_Private(&s->transform, &P->bx, P->next.x, &P->next.g, &P->next.gfactor));
    if (accelerates) PetscCall(SMACOFDifferencesBegin_Private(&P->sums, &P->history, P->next.x, P->next.g, P->next.gfactor, SMACOFRescales(s) ? s->unit : 0));
  }
  if (!first) PetscCall(SMACOFWaitForSums(s, n, s->active)); /* wait only after all work for the GPU is launched */
  for (PetscInt k = 0; accelerates && k < n; k++) PetscCall(SMACOFDifferencesEnd_Private(&s->active[k]->sums, SMACOFHistoryCountPairs(&s->active[k]->history), s->active[k]->history.product));
  PetscFunctionReturn(PETSC_SUCCESS);
}
