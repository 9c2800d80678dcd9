/* Measure katz: the solution x of x = alpha L x + 1, computed by a KSP of any type, with a bound on the relative error of every value.

   Let M = alpha L and r = 1 + M x - x for any vector x, and let e be the largest absolute value in r. If e < 1 and x > 0, then (I - M) x = 1 - r > 0.
   A nonnegative M with such a positive x has a spectral radius below 1, and the inverse of I - M is nonnegative. Therefore

       |x* - x| = |(I - M)^-1 r| <= (I - M)^-1 e 1 <= e / (1 - e) (I - M)^-1 (1 - r) = e / (1 - e) x     for every node.

   The bound does not include rounding errors of r. Therefore e is never taken smaller than the machine precision times the largest value in x: r is not
   known with a higher accuracy.

   If e < 1 but x has an entry that is not positive, then the spectral radius of M is at least 1: otherwise x = (I - M)^-1 (1 - r) would be positive.

   L. Katz, "A new status index derived from sociometric analysis", 1953. A. Berman, R. Plemmons, "Nonnegative Matrices in the Mathematical Sciences", 1979,
   chapter 6. */
#include "networkimpl.h"

static PetscErrorCode MatMult_NetworkKatz(Mat S, Vec x, Vec y)
{
  Network nw;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &nw));
  PetscCall(NetworkMult_Private(nw, x, y));
  PetscCall(VecAYPX(y, -nw->alpha, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  NetworkGetKSP - Gets the linear solver of the measure katz

  Collective

  Input Parameter:
. nw - the solver

  Output Parameter:
. ksp - the linear solver; do not destroy it

  Level: intermediate

  Note:
  The default is `KSPBCGS` without a preconditioner. The linear solver has the options prefix of the solver, for example `-network_ksp_type gmres`.

.seealso: `NetworkSetMeasure()`, `NETWORKKATZ`
@*/
PetscErrorCode NetworkGetKSP(Network nw, KSP *ksp)
{
  const char *prefix;
  PC          pc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(nw, NETWORK_CLASSID, 1);
  NetworkCheckPointer(ksp, 2);
  if (!nw->ksp) {
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)nw), &nw->ksp));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)nw->ksp, (PetscObject)nw, 1));
    PetscCall(PetscObjectGetOptionsPrefix((PetscObject)nw, &prefix));
    PetscCall(KSPSetOptionsPrefix(nw->ksp, prefix));
    PetscCall(KSPSetType(nw->ksp, KSPBCGS));
    PetscCall(KSPGetPC(nw->ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
  }
  *ksp = nw->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the residual and the bound for x. Sets the reason if the iteration is to stop. work: a work vector. */
static PetscErrorCode NetworkKatzCheck(Network nw, Vec x, Vec work)
{
  const PetscReal before = nw->residual;
  PetscReal       least, most, e;

  PetscFunctionBegin;
  PetscCall(NetworkMult_Private(nw, x, work));
  PetscCall(VecAXPBY(work, -1.0, nw->alpha, x));
  PetscCall(VecShift(work, 1.0));
  PetscCall(VecNorm(work, NORM_INFINITY, &nw->residual));
  PetscCall(VecMin(x, NULL, &least));
  PetscCall(VecNorm(x, NORM_INFINITY, &most));
  e         = PetscMax(nw->residual, PETSC_MACHINE_EPSILON * most);
  nw->bound = e < 1 && least > 0 ? e / (1 - e) : -1;
  PetscCall(NetworkMonitor_Private(nw, nw->it, nw->residual));
  if (nw->bound >= 0 && nw->bound <= nw->tolerance) nw->reason = NETWORK_CONVERGED_ERROR_BOUND;
  else if (nw->residual < 1 && least <= 0) nw->reason = NETWORK_DIVERGED_ALPHA;
  else if (nw->it >= nw->max_it) nw->reason = NETWORK_DIVERGED_ITS;
  else if (PetscIsInfOrNanReal(nw->residual) || (before >= 0 && nw->residual > 0.5 * before)) nw->reason = NETWORK_DIVERGED_STAGNATION;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NetworkKatzIterate(Network nw, Vec x)
{
  VecType  type;
  PetscInt its;
  KSP      ksp;
  Mat      S;
  Vec      b, work;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &work));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecCopy(b, x));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)nw), nw->n, nw->n, nw->N, nw->N, nw, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MatMult_NetworkKatz));
  PetscCall(MatShellSetVecType(S, type));
  PetscCall(NetworkGetKSP(nw, &ksp));
  PetscCall(KSPSetOperators(ksp, S, S));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  while (1) { /* KSP stops on another norm, so it is called until the bound is small enough */
    PetscCall(NetworkKatzCheck(nw, x, work));
    if (nw->reason) break;
    PetscCall(KSPSetTolerances(ksp, PetscMin(0.1, 0.5 * nw->tolerance / nw->residual), PETSC_DEFAULT, PETSC_DEFAULT, nw->max_it - nw->it));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    nw->it += its;
  }
  PetscCall(KSPReset(ksp));
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With alpha 0 the parameter is damping / r for an approximation of the largest eigenvalue r. The bound does not depend on its accuracy. */
PetscErrorCode NetworkSolve_Katz(Network nw)
{
  const PetscReal  given = nw->alpha;
  NetworkEigenpair pair;
  PetscBool        cycle = PETSC_TRUE;

  PetscFunctionBegin;
  if (given == 0) {
    PetscCall(NetworkHasCycle_Private(nw, &cycle));
    PetscCheck(cycle, PetscObjectComm((PetscObject)nw), PETSC_ERR_USER_INPUT, "Measure katz: the graph has no cycle, so that its largest eigenvalue is 0 and gives no alpha; set alpha by -alpha or NetworkSetAlpha()");
    PetscCall(NetworkFindEigenpair_Private(nw, NetworkMult_Private, nw->x[0], nw->tolerance, &pair));
    PetscCheck(pair.converged, PetscObjectComm((PetscObject)nw), PETSC_ERR_NOT_CONVERGED,
               "Measure katz: %" PetscInt_FMT " iterations did not find the largest eigenvalue, which gives alpha; increase -max_it, or set alpha by -alpha or NetworkSetAlpha()", nw->it);
    PetscCall(NetworkAddQuantity_Private(nw, "eigenvalue", pair.value));
    nw->alpha = nw->damping / pair.value;
  }
  PetscCall(NetworkAddQuantity_Private(nw, "alpha", nw->alpha));
  nw->it = 0; /* the iterations of the linear solver */
  PetscCall(NetworkKatzIterate(nw, nw->x[0]));
  nw->alpha = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}
