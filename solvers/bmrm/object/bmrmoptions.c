/* The options of the solver. */
#include "solvers/bmrm/bmrmimpl.h"

/*@C
  BMRMSetOptionsPrefix - Sets the prefix of the solver's options

  Logically Collective

  Input Parameters:
+ b      - the solver
- prefix - the prefix of the names of all options, without a leading hyphen

  Level: advanced

.seealso: `BMRMSetFromOptions()`
@*/
PetscErrorCode BMRMSetOptionsPrefix(BMRM b, const char prefix[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)b, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Renames the options of the program bmrm-2.1 (Teo et al.) to those of this solver that have the same meaning. */
static PetscErrorCode BMRMRenameFormerOptions(BMRM b)
{
  static const char *const names[][2] = {{"-bmrm_epsilonTol", "-bmrm_eps"},       {"-bmrm_relEpsilonTol", "-bmrm_eps_rel"},   {"-bmrm_maxNumOfIter", "-bmrm_max_it"},
                                         {"-bmrm_gradIdleAge", "-bmrm_idle_age"}, {"-bmrm_maxGradSetSize", "-bmrm_max_cuts"}, {"-bmrm_checkpointInterval", "-bmrm_checkpoint_every"}};
  const PetscOptions       options    = ((PetscObject)b)->options;
  const char              *prefix;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)b, &prefix));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    const char *theirs = names[k][0], *ours = names[k][1], *value;
    char        full[PETSC_MAX_OPTION_NAME];
    PetscBool   set, both;

    PetscCall(PetscOptionsFindPair(options, prefix, theirs, &value, &set));
    if (!set) continue;
    PetscCall(PetscOptionsHasName(options, prefix, ours, &both));
    PetscCheck(!both, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_INCOMP, "%s and %s are two names of one option: give one of them", theirs, ours);
    PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", prefix ? prefix : "", ours + 1));
    PetscCall(PetscOptionsSetValue(options, full, value));
    PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", prefix ? prefix : "", theirs + 1));
    PetscCall(PetscOptionsClearValue(options, full));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
static PetscErrorCode BMRMSetLossFromOptions(BMRM b, GpOptionItems PetscOptionsObject)
{
  char      type[BMRM_NAME_LEN];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFList("-bmrm_loss", "loss", "BMRMSetLossType", BMRMLossList, b->losstype, type, sizeof(type), &set));
  if (set) PetscCall(BMRMSetLossType(b, type));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) {
    const BMRMLossParameter *p     = &b->loss->parameter[k];
    PetscReal                value = b->loss->value[k];
    char                    *tail  = NULL;

    PetscCall(PetscOptionsReal(p->option, p->help, "BMRMSetLossParameter", value, &value, &set));
    PetscCall(PetscStrrchr(p->option, '_', &tail));
    if (set) PetscCall(BMRMSetLossParameter(b, tail, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
static PetscErrorCode BMRMSetRegularizerFromOptions(BMRM b, GpOptionItems PetscOptionsObject)
{
  char      type[BMRM_NAME_LEN];
  PetscInt  size  = b->set.groupsize;
  PetscReal ratio = b->reg->ratio;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFList("-bmrm_reg", "regulariser", "BMRMSetRegularizerType", BMRMRegularizerList, b->regtype, type, sizeof(type), &set));
  if (set) PetscCall(BMRMSetRegularizerType(b, type));
  PetscCall(PetscOptionsReal("-bmrm_reg_ratio", "regulariser elasticnet: weight of the absolute values", "BMRMSetElasticNetRatio", ratio, &ratio, &set));
  if (set) PetscCall(BMRMSetElasticNetRatio(b, ratio));
  PetscCall(PetscOptionsInt("-bmrm_reg_group_size", "regulariser grouplasso: number of consecutive features in a group", "BMRMSetGroupSize", size, &size, &set));
  if (set) PetscCall(BMRMSetGroupSize(b, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetFromOptions - Sets the solver's settings from the options database

  Collective

  Input Parameter:
. b - the solver

  Options Database Keys:
+ -bmrm_loss <hinge>                   - loss
. -bmrm_reg <l2>                       - regulariser
. -bmrm_reg_ratio <0.5>                - elasticnet: weight of the absolute values
. -bmrm_reg_group_size <1>             - grouplasso: number of consecutive features in a group
. -bmrm_lambda <1e-5>                  - weight of the regulariser
. -bmrm_eps <1e-4>                     - absolute tolerance on the gap
. -bmrm_eps_rel <0>                    - relative tolerance on the gap
. -bmrm_max_it <10000>                 - maximum number of passes over the data
. -bmrm_line_search <true>             - line search of OCAS
. -bmrm_cuts <1>                       - cuts per pass
. -bmrm_warm_start <false>             - start from the bundle and the solution of the last solve
. -bmrm_mu <0.01>                      - position of the next cut between the best point and the minimiser of the model
. -bmrm_mu_adapt <true>                - adapt mu to the steps of the line search
. -bmrm_best_cut <true>                - take a second cut at the best point if it is cheap
. -bmrm_idle_age <20>                  - drop a cut after this many QP solutions without weight, 0 keeps all
. -bmrm_max_cuts <0>                   - maximum number of cuts, 0 for no limit
. -bmrm_qp_rtol <0.01>                 - tolerance of the inner QP as a fraction of the gap
. -bmrm_checkpoint <file>              - write a checkpoint to this file
. -bmrm_checkpoint_every <10>          - number of passes between two checkpoints
. -bmrm_restart <file>                 - start from this checkpoint
. -bmrm_error_if_not_converged <false> - raise an error if the gap does not reach a tolerance
. -bmrm_monitor [viewer]               - print one line per pass
. -bmrm_view [viewer]                  - view the solver after the solve
- -bmrm_converged_reason [viewer]      - print the reason why the solve stopped

  Level: beginner

  Note:
  For users of the program bmrm-2.1, -bmrm_epsilonTol, -bmrm_relEpsilonTol, -bmrm_maxNumOfIter, -bmrm_gradIdleAge, -bmrm_maxGradSetSize and
  -bmrm_checkpointInterval are accepted as other names of -bmrm_eps, -bmrm_eps_rel, -bmrm_max_it, -bmrm_idle_age, -bmrm_max_cuts and -bmrm_checkpoint_every.

.seealso: `BMRMCreate()`, `BMRMSolve()`
@*/
PetscErrorCode BMRMSetFromOptions(BMRM b)
{
  BMRMSettings s     = b->set;
  PetscInt     every = b->checkpoint_every;
  PetscBool    set;
  char         file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMRenameFormerOptions(b));
  PetscObjectOptionsBegin((PetscObject)b);
  PetscCall(BMRMSetLossFromOptions(b, PetscOptionsObject));
  PetscCall(BMRMSetRegularizerFromOptions(b, PetscOptionsObject));
  PetscCall(PetscOptionsReal("-bmrm_lambda", "weight of the regulariser", "BMRMSetLambda", s.lambda, &s.lambda, NULL));
  PetscCall(PetscOptionsReal("-bmrm_eps", "absolute tolerance on the certified gap; other name: -bmrm_epsilonTol", "BMRMSetTolerances", s.eps, &s.eps, NULL));
  PetscCall(PetscOptionsReal("-bmrm_eps_rel", "tolerance on the certified gap relative to the objective; other name: -bmrm_relEpsilonTol", "BMRMSetTolerances", s.eps_rel, &s.eps_rel, NULL));
  PetscCall(PetscOptionsInt("-bmrm_max_it", "maximum number of passes over the data; other name: -bmrm_maxNumOfIter", "BMRMSetTolerances", s.max_it, &s.max_it, NULL));
  PetscCall(PetscOptionsBool("-bmrm_line_search", "line search of OCAS; false is plain BMRM", "BMRMSetLineSearch", s.line_search, &s.line_search, NULL));
  PetscCall(PetscOptionsInt("-bmrm_cuts", "cuts per pass", "BMRMSetCuts", s.ncut, &s.ncut, NULL));
  PetscCall(PetscOptionsBool("-bmrm_warm_start", "start from the bundle and the solution of the last solve", "BMRMSetWarmStart", b->set.warm, &b->set.warm, NULL));
  PetscCall(PetscOptionsReal("-bmrm_mu", "position of the next cut between the best point (0) and the minimiser of the model (1)", "BMRMSetMu", s.mu, &s.mu, NULL));
  PetscCall(PetscOptionsBool("-bmrm_mu_adapt", "adapt mu to the steps of the line search", "BMRMSetMu", s.mu_adapt, &s.mu_adapt, NULL));
  PetscCall(PetscOptionsBool("-bmrm_best_cut", "take a second cut at the best point if it is cheap", "BMRMSetBestCut", s.best_cut, &s.best_cut, NULL));
  PetscCall(PetscOptionsInt("-bmrm_idle_age", "drop a cut after this many QP solutions without weight, 0 keeps all; other name: -bmrm_gradIdleAge", "BMRMSetIdleAge", s.idle_age, &s.idle_age, NULL));
  PetscCall(PetscOptionsInt("-bmrm_max_cuts", "maximum number of cuts, 0 for no limit; other name: -bmrm_maxGradSetSize", "BMRMSetMaxCuts", s.max_cuts, &s.max_cuts, NULL));
  PetscCall(PetscOptionsReal("-bmrm_qp_rtol", "tolerance of the inner QP as a fraction of the gap", "BMRMSetQPTolerance", s.qp_rtol, &s.qp_rtol, NULL));
  PetscCall(PetscOptionsBool("-bmrm_error_if_not_converged", "raise an error if the gap does not reach a tolerance", "BMRMSetErrorIfNotConverged", b->set.error_if_not_converged, &b->set.error_if_not_converged, NULL));
  PetscCall(PetscOptionsString("-bmrm_restart", "start from this checkpoint", "BMRMSetRestart", b->restart, file, sizeof(file), &set));
  if (set) PetscCall(BMRMSetRestart(b, file));
  PetscCall(PetscOptionsString("-bmrm_checkpoint", "write checkpoints to this file", "BMRMSetCheckpoint", b->checkpoint, file, sizeof(file), &set));
  if (!set) PetscCall(PetscStrncpy(file, b->checkpoint, sizeof(file)));
  PetscCall(PetscOptionsInt("-bmrm_checkpoint_every", "number of passes between two checkpoints; other name: -bmrm_checkpointInterval", "BMRMSetCheckpoint", every, &every, NULL));
  PetscCall(BMRMMonitorSetFromOptions_Private(b, PetscOptionsObject));
  PetscCall(PetscOptionsName("-bmrm_view", "view the solver after the solve", "BMRMView", &set));
  PetscCall(PetscOptionsName("-bmrm_converged_reason", "print the reason why the solve stopped", "BMRMGetConvergedReason", &set));
  PetscOptionsEnd();
  PetscCall(BMRMSetCheckpoint(b, file, every));
  PetscCall(BMRMSetCuts(b, s.ncut));
  PetscCall(BMRMSetMaxCuts(b, s.max_cuts));
  PetscCall(BMRMSetLambda(b, s.lambda));
  PetscCall(BMRMSetTolerances(b, s.eps, s.eps_rel, s.max_it));
  PetscCall(BMRMSetMu(b, s.mu, s.mu_adapt));
  PetscCall(BMRMSetLineSearch(b, s.line_search));
  PetscCall(BMRMSetBestCut(b, s.best_cut));
  PetscCall(BMRMSetIdleAge(b, s.idle_age));
  PetscCall(BMRMSetQPTolerance(b, s.qp_rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}
