/* Measure components: weakly connected components. The direction of links is ignored. */
#include "networkimpl.h"

PetscErrorCode NetworkSolve_Components(Network nw)
{
  NetworkLocal G;
  PetscInt    *label;

  PetscFunctionBegin;
  PetscCall(NetworkLocalCreate_Private(nw, PETSC_FALSE, &G));
  PetscCall(PetscMalloc1(G.n + G.nghost, &label));
  PetscCall(NetworkConnect_Private(nw, &G, PETSC_FALSE, label));
  PetscCall(NetworkGroupsCreate_Private(nw, label, nw->x[0]));
  PetscCall(NetworkLocalDestroy_Private(&G));
  PetscCall(PetscFree(label));
  nw->reason = NETWORK_CONVERGED_EXACT;
  PetscCall(NetworkAddQuantity_Private(nw, "components", nw->groups.n));
  PetscCall(NetworkAddQuantity_Private(nw, "largest", nw->groups.n ? nw->groups.size[0] : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
