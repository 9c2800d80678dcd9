/* Measure eigenvector: L x = r x for the largest eigenvalue r of the matrix L of the links. P. Bonacich, "Power and centrality", 1987. */
#include "networkimpl.h"

PetscErrorCode NetworkSolve_Eigenvector(Network nw)
{
  NetworkEigenpair pair;
  PetscBool        cycle = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(NetworkHasCycle_Private(nw, &cycle));
  if (!cycle) {
    PetscCall(VecSet(nw->x[0], 0.0));
    nw->reason = NETWORK_DIVERGED_ZERO;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NetworkFindEigenpair_Private(nw, NetworkMult_Private, nw->x[0], nw->tolerance, &pair));
  PetscCall(NetworkClip_Private(nw, nw->x[0]));
  nw->residual = pair.value > 0 ? pair.residual / pair.value : PETSC_MAX_REAL;
  nw->reason   = pair.converged ? NETWORK_CONVERGED_RESIDUAL : NETWORK_DIVERGED_ITS;
  PetscCall(NetworkAddQuantity_Private(nw, "eigenvalue", pair.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
