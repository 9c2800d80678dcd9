/* BMRMDuplicate(): a solver with the settings of another one, for several lambdas, classes or folds. */
#include "solvers/bmrm/bmrmimpl.h"

/*@
  BMRMDuplicate - Creates a solver with the settings and the data of another

  Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. newb - the new solver, without a solution

  Level: intermediate

  Notes:
  The matrix and the vectors of the data are shared. All settings (loss, regulariser, their parameters, lambda, tolerances and so on) are copied; later changes
  of one solver do not affect the other. The new solver has no monitors, neither reads nor writes checkpoints, and starts from zero.

.seealso: `BMRMSolveMany()`, `BMRMCreate()`, `BMRMSetLambda()`
@*/
PetscErrorCode BMRMDuplicate(BMRM b, BMRM *newb)
{
  BMRM        c;
  const char *prefix;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(newb, 2);
  PetscCall(BMRMCreate(PetscObjectComm((PetscObject)b), &c));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)b, &prefix));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)c, prefix));
  PetscCall(BMRMSetLossType(c, b->losstype));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) c->loss->value[k] = b->loss->value[k];
  c->loss->steps = b->loss->steps;
  PetscCall(BMRMSetRegularizerType(c, b->regtype));
  PetscCall(BMRMSetElasticNetRatio(c, b->reg->ratio));
  if (b->X) PetscCall(BMRMSetData(c, b->X, b->y));
  PetscCall(BMRMSetQueries(c, b->queries));
  PetscCall(BMRMSetWeights(c, b->factor));
  PetscCall(BMRMSetGroups(c, b->groups));
  c->classes                = b->classes;
  c->groupsize              = b->groupsize;
  c->ncut                   = b->ncut;
  c->warm                   = b->warm;
  c->lambda                 = b->lambda;
  c->eps                    = b->eps;
  c->eps_rel                = b->eps_rel;
  c->max_it                 = b->max_it;
  c->mu                     = b->mu;
  c->mu_adapt               = b->mu_adapt;
  c->line_search            = b->line_search;
  c->best_cut               = b->best_cut;
  c->idle_age               = b->idle_age;
  c->max_cuts               = b->max_cuts;
  c->qp_rtol                = b->qp_rtol;
  c->error_if_not_converged = b->error_if_not_converged;
  c->test                   = b->test;
  c->testctx                = b->testctx;
  *newb                     = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}
