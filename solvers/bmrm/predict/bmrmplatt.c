/* Probabilities from scores: the fit of Platt's sigmoid. */
#include <gpucsrbmrmpredict.h>
#include <gpucsrcompat.h>
#include <math.h>

/* The fit at a point: cross-entropy, its gradient with respect to A and B, its second derivatives AA, AB, BB. */
typedef struct {
  PetscReal value, g[2], h[3];
} BMRMPlattPoint;

static PetscErrorCode BMRMPlattEvaluate(Vec f, Vec y, const PetscReal target[2], const PetscReal ab[2], BMRMPlattPoint *fit)
{
  const PetscScalar *fa, *ya;
  PetscReal          all[6] = {0, 0, 0, 0, 0, 0};
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal s = PetscRealPart(fa[i]), t = target[PetscRealPart(ya[i]) > 0], u = ab[0] * s + ab[1], e = PetscExpReal(-PetscAbsReal(u)), small = e / (1 + e), large = 1 / (1 + e), p = u >= 0 ? small : large; /* p = 1/(1 + exp(u)) */

    all[0] += (u >= 0 ? t * u : (t - 1) * u) + (PetscReal)log1p((double)e);
    all[1] += s * (t - p);
    all[2] += t - p;
    all[3] += s * s * small * large;
    all[4] += s * small * large;
    all[5] += small * large;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 6, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)f)));
  fit->value = all[0];
  PetscCall(PetscArraycpy(fit->g, all + 1, 2));
  PetscCall(PetscArraycpy(fit->h, all + 3, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMFitProbabilities - Fits A and B of the probability 1/(1 + exp(A f + B)) that an example of score f is positive

  Collective

  Input Parameters:
+ f - scores
- y - labels, +1 or -1

  Output Parameter:
. ab - A and B

  Level: intermediate

  Notes:
  A and B minimise the cross-entropy to targets slightly inside 0 and 1 (Platt, *Probabilistic Outputs for Support Vector Machines*, 1999), by
  Newton's method with backtracking, as H.-T. Lin, C.-J. Lin and R. C. Weng describe (*A Note on Platt's Probabilistic Outputs for Support
  Vector Machines*, Machine Learning 68, 2007).

  Scores of the training data are better than those of new examples, so that a fit to them gives probabilities too close to 0 and 1. Use scores of held-out folds
  (`BMRMComputeHeldOutScores()`).

.seealso: `BMRMComputeHeldOutScores()`, `BMRMComputeProbabilities()`
@*/
PetscErrorCode BMRMFitProbabilities(Vec f, Vec y, PetscReal ab[2])
{
  PetscScalar    sum;
  PetscReal      plus, minus, target[2];
  PetscInt       m;
  BMRMPlattPoint fit;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &m));
  PetscCall(VecSum(y, &sum));
  plus      = (m + PetscRealPart(sum)) / 2;
  minus     = m - plus;
  target[0] = 1 / (minus + 2);
  target[1] = (plus + 1) / (plus + 2);
  ab[0]     = 0;
  ab[1]     = PetscLogReal((minus + 1) / (plus + 1));
  PetscCall(BMRMPlattEvaluate(f, y, target, ab, &fit));
  for (PetscInt it = 0; it < 100 && PetscMax(PetscAbsReal(fit.g[0]), PetscAbsReal(fit.g[1])) > 1e-12 * m; it++) {
    const PetscReal a = fit.h[0] * (1 + 1e-12) + 1e-300, c = fit.h[2] * (1 + 1e-12) + 1e-300, det = a * c - fit.h[1] * fit.h[1]; /* the factor and the summand keep the matrix definite if all scores are equal */
    const PetscReal d[2] = {-(c * fit.g[0] - fit.h[1] * fit.g[1]) / det, -(a * fit.g[1] - fit.h[1] * fit.g[0]) / det}, slope = fit.g[0] * d[0] + fit.g[1] * d[1];
    PetscReal       step = 1, next[2];
    BMRMPlattPoint  trial;

    if (!(det > 0) || !(slope < 0)) break;
    for (; step > 1e-10; step /= 2) {
      next[0] = ab[0] + step * d[0];
      next[1] = ab[1] + step * d[1];
      PetscCall(BMRMPlattEvaluate(f, y, target, next, &trial));
      if (trial.value <= fit.value + 1e-4 * step * slope) break;
    }
    if (step <= 1e-10) break; /* rounding prevents further progress */
    ab[0] = next[0];
    ab[1] = next[1];
    fit   = trial;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
