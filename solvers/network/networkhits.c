/* Measure hits: the singular vectors of the matrix L of the links for its largest singular value. The authorities are the eigenvector of L L', the
   hubs that of L' L. J. Kleinberg, "Authoritative sources in a hyperlinked environment", 1999. */
#include "networkimpl.h"

/* y = L L' x. The second result, nw->x[1], is the work vector. */
static PetscErrorCode NetworkHITSMult(Network nw, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(NetworkMultTranspose_Private(nw, x, nw->x[1]));
  PetscCall(NetworkMult_Private(nw, nw->x[1], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a symmetric operator the sine of the angle between the computed and the exact eigenvector is at most the residual divided by the distance of the
   eigenvalue to the others. That distance is not known; the Ritz values estimate it. */
PetscErrorCode NetworkSolve_HITS(Network nw)
{
  NetworkEigenpair pair;
  PetscReal        norm;

  PetscFunctionBegin;
  PetscCall(NetworkFindEigenpair_Private(nw, NetworkHITSMult, nw->x[0], nw->tolerance, &pair));
  if (pair.value == 0) {
    for (PetscInt k = 0; k < 2; k++) PetscCall(VecSet(nw->x[k], 0.0));
    nw->reason = NETWORK_DIVERGED_ZERO;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NetworkClip_Private(nw, nw->x[0]));
  PetscCall(NetworkMultTranspose_Private(nw, nw->x[0], nw->x[1]));
  PetscCall(VecNorm(nw->x[1], NORM_2, &norm));
  PetscCall(VecScale(nw->x[1], 1 / norm));
  nw->residual = pair.residual / pair.value;
  nw->reason   = pair.converged ? NETWORK_CONVERGED_RESIDUAL : NETWORK_DIVERGED_ITS;
  PetscCall(NetworkAddQuantity_Private(nw, "singular_value", PetscSqrtReal(pair.value)));
  if (pair.second >= 0 && pair.second < pair.value) PetscCall(NetworkAddQuantity_Private(nw, "error_estimate", pair.residual / (pair.value - pair.second)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
