/* Probabilities of classes from scores. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsrbmrmpredict.h>

/* Overwrites k scores, m apart, by the probabilities that are proportional to exp(beta score). The largest exponent is zero, so that nothing overflows. */
static void BMRMProbabilitiesSoftmax(PetscInt k, PetscInt m, PetscReal beta, PetscScalar *p)
{
  PetscReal most = -PETSC_INFINITY, sum = 0;

  for (PetscInt c = 0; c < k; c++) most = PetscMax(most, beta * PetscRealPart(p[c * m]));
  for (PetscInt c = 0; c < k; c++) {
    p[c * m] = PetscExpReal(beta * PetscRealPart(p[c * m]) - most);
    sum += PetscRealPart(p[c * m]);
  }
  for (PetscInt c = 0; c < k; c++) p[c * m] /= sum;
}

/*@
  BMRMComputeProbabilities - Computes the probabilities of the classes from scores

  Collective

  Input Parameters:
+ k  - number of scores per example, see `BMRMGetClasses()`
. f  - the scores of `BMRMComputeScores()`
- ab - A and B, the result of `BMRMFitProbabilities()`, or -1/T and 0 with the result of `BMRMFitTemperature()`; `NULL` for A = -1 and B = 0, the probabilities of the losses `logistic` and `softmax`

  Output Parameter:
. p - with k = 1 the probability 1/(1 + exp(A f + B)) that the example is positive; with k > 1 the probabilities of all classes, proportional to exp(-A f),
      in the layout of the scores

  Level: beginner

  Note:
  Minimising the losses `logistic` and `softmax` maximises the likelihood of these probabilities. For all other losses they have no meaning without a fit.

.seealso: `BMRMComputeScores()`, `BMRMFitProbabilities()`, `BMRMFitTemperature()`
@*/
PetscErrorCode BMRMComputeProbabilities(PetscInt k, Vec f, const PetscReal ab[2], Vec *p)
{
  const PetscReal A = ab ? ab[0] : -1, B = ab ? ab[1] : 0;
  PetscScalar    *pa;
  PetscInt        m;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(f, VEC_CLASSID, 2);
  PetscCheck(k >= 1, PetscObjectComm((PetscObject)f), PETSC_ERR_ARG_OUTOFRANGE, "The number of scores per example is %" PetscInt_FMT ", it must be one or more", k);
  PetscCall(VecDuplicate(f, p));
  PetscCall(VecCopy(f, *p));
  PetscCall(VecGetLocalSize(*p, &m));
  m /= k;
  PetscCall(VecGetArray(*p, &pa));
  for (PetscInt i = 0; i < m; i++) {
    if (k > 1) BMRMProbabilitiesSoftmax(k, m, -A, pa + i);
    else pa[i] = 1 / (1 + PetscExpReal(A * PetscRealPart(pa[i]) + B));
  }
  PetscCall(VecRestoreArray(*p, &pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}
