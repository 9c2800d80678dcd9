/* Probabilities of several classes from scores: the fit of a temperature. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsrbmrmpredict.h>

#define BMRM_TEMPERATURE_MAX 1e6

/* Cross-entropy of the probabilities proportional to exp(beta f), and its two derivatives with respect to beta, summed over all examples. spread: part of each
   target that all classes share. */
static PetscErrorCode BMRMTemperatureEvaluate(PetscInt k, Vec f, Vec y, PetscReal spread, PetscReal beta, PetscReal d[3])
{
  const PetscScalar *fa, *ya;
  PetscInt           m;

  PetscFunctionBegin;
  d[0] = d[1] = d[2] = 0;
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; i++) {
    const PetscReal own  = PetscRealPart(fa[(PetscInt)PetscRealPart(ya[i]) * m + i]);
    PetscReal       most = -PETSC_INFINITY, sum = 0, mean = 0, square = 0, all = 0, target;

    for (PetscInt c = 0; c < k; c++) most = PetscMax(most, beta * PetscRealPart(fa[c * m + i]));
    for (PetscInt c = 0; c < k; c++) {
      const PetscReal x = PetscRealPart(fa[c * m + i]) - own, e = PetscExpReal(beta * PetscRealPart(fa[c * m + i]) - most);

      sum += e;
      mean += e * x;
      square += e * x * x;
      all += x;
    }
    mean /= sum;
    target = spread * all / k;
    d[0] += PetscLogReal(sum) + most - beta * (own + target);
    d[1] += mean - target;
    d[2] += square / sum - mean * mean;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, d, 3, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMFitTemperature - Fits the temperature T of the probabilities of several classes, which are proportional to exp(score / T)

  Collective

  Input Parameters:
+ k - number of classes, see `BMRMGetClasses()`
. f - scores, in the layout of `BMRMGetScores()`
- y - class of each example, counted from 0

  Output Parameter:
. T - the temperature, from 1e-6 to 1e6; above 1 for scores that are too certain as logarithms of probabilities

  Level: intermediate

  Notes:
  T minimises the cross-entropy (Guo, Pleiss, Sun, Weinberger, *On Calibration of Modern Neural Networks*, ICML 2017). As in Platt's fit, the targets lie slightly
  inside 0 and 1: all classes share the part k/(m + k) of each of the m targets. The predicted classes do not change.

  Use scores of held-out folds (`BMRMComputeHeldOutScores()`). With `BMRMComputeProbabilities()`, A is -1/T and B is ignored.

.seealso: `BMRMFitProbabilities()`, `BMRMComputeHeldOutScores()`, `BMRMComputeProbabilities()`
@*/
PetscErrorCode BMRMFitTemperature(PetscInt k, Vec f, Vec y, PetscReal *T)
{
  PetscReal spread, lo = 1 / BMRM_TEMPERATURE_MAX, hi = BMRM_TEMPERATURE_MAX, beta = 1, d[3];
  PetscInt  m;

  PetscFunctionBegin;
  BMRMCheckPointer(T, 4);
  PetscCall(VecGetSize(y, &m));
  spread = (PetscReal)k / (m + k);
  for (PetscInt it = 0; it < 200; it++) { /* Newton's method, safeguarded by the interval from lo to hi that holds the minimiser */
    PetscReal next;

    PetscCall(BMRMTemperatureEvaluate(k, f, y, spread, beta, d));
    if (d[1] > 0) hi = beta;
    else lo = beta;
    if (d[1] == 0 || hi - lo <= 4 * PETSC_MACHINE_EPSILON * hi) break;
    next = beta - d[1] / d[2];
    if (!(next > lo && next < hi)) next = PetscSqrtReal(lo * hi);
    if (PetscAbsReal(next - beta) <= 1e-14 * beta) break;
    beta = next;
  }
  *T = 1 / beta;
  PetscFunctionReturn(PETSC_SUCCESS);
}
