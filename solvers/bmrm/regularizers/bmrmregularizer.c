/* The types of regularisers: registration, selection, options, and the factors of the weights. */
#include "solvers/bmrm/bmrmimpl.h"

PetscFunctionList BMRMRegularizerList = NULL;

#define REGULARIZER(name) PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_##name(BMRMRegularizer);
#include "solvers/bmrm/regularizers.def"
#undef REGULARIZER

/*@C
  BMRMRegularizerRegister - Registers a regulariser under a name for `BMRMSetRegularizerType()`

  Not Collective

  Input Parameters:
+ name   - the name for `BMRMSetRegularizerType()` and -bmrm_reg
- create - function that sets the operations of a new regulariser; for a sum over the weights `BMRMRegularizerSetSeparable()` does this

  Level: advanced

.seealso: `BMRMSetRegularizerType()`, `BMRMLossRegister()`
@*/
PetscErrorCode BMRMRegularizerRegister(const char name[], PetscErrorCode (*create)(BMRMRegularizer))
{
  PetscFunctionBegin;
  PetscCall(BMRMInitializePackage());
  PetscCall(PetscFunctionListAdd(&BMRMRegularizerList, name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMRegularizerRegisterAll_Private(void)
{
  PetscFunctionBegin;
#define REGULARIZER(name) PetscCall(BMRMRegularizerRegister(#name, BMRMRegularizerCreate_##name));
#include "solvers/bmrm/regularizers.def"
#undef REGULARIZER
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMRegularizerDestroy_Private(BMRMRegularizer *r)
{
  PetscFunctionBegin;
  if (!*r) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*r)->ops->destroy) PetscCall((*(*r)->ops->destroy)(*r));
  PetscCall(VecDestroy(&(*r)->weights));
  PetscCall(PetscFree(*r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the regulariser by a new one of the given type. */
static PetscErrorCode BMRMReplaceRegularizer(BMRM b, const char type[], PetscReal ratio)
{
  PetscErrorCode (*create)(BMRMRegularizer);
  BMRMRegularizer r;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(BMRMRegularizerList, type, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_UNKNOWN_TYPE, "There is no regulariser %s; -help lists the available regularisers", type);
  PetscCall(PetscNew(&r));
  r->free  = -1;
  r->ratio = ratio;
  PetscCall((*create)(r));
  PetscCall(BMRMRegularizerDestroy_Private(&b->reg));
  b->reg = r;
  if (type != b->regtype) PetscCall(PetscStrncpy(b->regtype, type, sizeof(b->regtype)));
  PetscCall(BMRMForget_Private(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetRegularizerType - Sets the regulariser

  Logically Collective

  Input Parameters:
+ b    - the solver
- type - l2 (the default, ||w||^2/2), l1 (sum of |w_j|), elasticnet, grouplasso (sum over groups of sqrt(n_g) ||w_g||), or a name registered by `BMRMRegularizerRegister()`

  Options Database Key:
. -bmrm_reg <type> - the regulariser

  Level: beginner

.seealso: `BMRMGetRegularizerType()`, `BMRMSetWeights()`, `BMRMSetElasticNetRatio()`, `BMRMSetGroups()`, `BMRMRegularizerRegister()`, `BMRMSetLambda()`
@*/
PetscErrorCode BMRMSetRegularizerType(BMRM b, const char type[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  PetscCall(BMRMReplaceRegularizer(b, type, b->reg ? b->reg->ratio : 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMGetRegularizerType - Gets the name of the regulariser

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. type - the name; the solver owns the string

  Level: beginner

.seealso: `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMGetRegularizerType(BMRM b, const char *type[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(type, 2);
  *type = b->regtype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetElasticNetRatio - Sets the weight of the absolute values in the elastic net: ratio ||w||_1 + (1 - ratio)/2 ||w||^2

  Logically Collective

  Input Parameters:
+ b     - the solver
- ratio - the weight, more than 0 and less than 1; 0.5 by default

  Options Database Key:
. -bmrm_reg_ratio <0.5> - the weight

  Level: intermediate

.seealso: `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMSetElasticNetRatio(BMRM b, PetscReal ratio)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, ratio, 2);
  PetscCheck(ratio > 0 && ratio < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The ratio is %g, it must be between 0 and 1; for 0 use the regulariser l2, for 1 the regulariser l1", (double)ratio);
  if (ratio != b->reg->ratio) PetscCall(BMRMReplaceRegularizer(b, b->regtype, ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetWeights - Sets the factors of the weights in the regulariser

  Collective

  Input Parameters:
+ b      - the solver
- factor - a vector with the layout of the columns of the data. Factors are positive; one may be zero, so that its weight, a bias, is free. `NULL` stands for ones

  Level: intermediate

  Notes:
  The vector is not copied. Do not change it afterwards. If examples have one score per class, the factor of a feature applies to its weights of all classes.

  If a weight is free, the lower bound holds for all points at which the absolute value of the free weight is at most 10,000 (1 + |value at the minimiser of the
  model|).

.seealso: `BMRMSetRegularizerType()`
@*/
PetscErrorCode BMRMSetWeights(BMRM b, Vec factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (factor) {
    PetscValidHeaderSpecific(factor, VEC_CLASSID, 2);
    PetscCheckSameComm(b, 1, factor, 2);
  }
  PetscCall(BMRMTake_Private(b, factor, &b->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetGroups - Sets the group of each feature, for the regulariser grouplasso

  Collective

  Input Parameters:
+ b     - the solver
- group - a vector with the layout of the columns of the data: the group of each feature, counted from 0. `NULL` makes groups of `BMRMSetGroupSize()` features

  Level: intermediate

  Notes:
  The vector is not copied. Do not change it afterwards. The features of a group need not be consecutive, and may be on several ranks.

  If examples have one score per class, the weights of a feature for all classes belong to its group.

.seealso: `BMRMSetRegularizerType()`, `BMRMSetGroupSize()`
@*/
PetscErrorCode BMRMSetGroups(BMRM b, Vec group)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (group) {
    PetscValidHeaderSpecific(group, VEC_CLASSID, 2);
    PetscCheckSameComm(b, 1, group, 2);
  }
  PetscCall(BMRMTake_Private(b, group, &b->groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetGroupSize - Sets the number of consecutive features in a group, for the regulariser grouplasso

  Logically Collective

  Input Parameters:
+ b - the solver
- n - the number, 1 by default; ignored after `BMRMSetGroups()`

  Options Database Key:
. -bmrm_reg_group_size <1> - the number

  Level: intermediate

.seealso: `BMRMSetRegularizerType()`, `BMRMSetGroups()`
@*/
PetscErrorCode BMRMSetGroupSize(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n >= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of features in a group is %" PetscInt_FMT ", it must be one or more", n);
  if (n != b->groupsize) PetscCall(BMRMForget_Private(b));
  b->groupsize = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
PetscErrorCode BMRMRegularizerSetFromOptions_Private(BMRM b, GpOptionItems PetscOptionsObject)
{
  char      type[BMRM_NAME_LEN];
  PetscInt  size  = b->groupsize;
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

/* Raises an error if a vector of factors or groups does not have the layout of the features. */
static PetscErrorCode BMRMCheckFeatureLayout(BMRM b, Vec v, const char what[])
{
  PetscInt n, m, N, M;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &N));
  PetscCall(MatGetSize(b->X, NULL, &M));
  PetscCheck(N == M, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " %s for %" PetscInt_FMT " features", N, what, M);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(MatGetLocalSize(b->X, NULL, &m));
  PetscCheck(n == m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " %s for %" PetscInt_FMT " features on this rank", n, what, m);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the factors of all weights: those of the features, repeated for each class. */
static PetscErrorCode BMRMSetRegularizerFactors(BMRM b)
{
  const PetscInt     k = b->loss->outputs;
  const PetscScalar *fa;
  PetscScalar       *wa;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&b->reg->weights));
  if (!b->factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMCheckFeatureLayout(b, b->factor, "factors"));
  PetscCall(VecGetLocalSize(b->factor, &n));
  if (k == 1) {
    PetscCall(PetscObjectReference((PetscObject)b->factor));
    b->reg->weights = b->factor;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(b->w, &b->reg->weights));
  PetscCall(VecGetArrayRead(b->factor, &fa));
  PetscCall(VecGetArrayWrite(b->reg->weights, &wa));
  for (PetscInt c = 0; c < k; c++) PetscCall(PetscArraycpy(wa + c * n, fa, n));
  PetscCall(VecRestoreArrayWrite(b->reg->weights, &wa));
  PetscCall(VecRestoreArrayRead(b->factor, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the factors, finds the free weight, and calls the setup of the type. */
PetscErrorCode BMRMRegularizerSetUp_Private(BMRM b)
{
  BMRMRegularizer r = b->reg;

  PetscFunctionBegin;
  r->free = -1;
  PetscCall(BMRMSetRegularizerFactors(b));
  if (r->weights) {
    const PetscScalar *fa;
    PetscInt           n, start, mine[3] = {0, 0, -1}, all[3]; /* number of zeros, number of invalid factors, index of the zero */

    PetscCall(VecGetLocalSize(r->weights, &n));
    PetscCall(VecGetOwnershipRange(r->weights, &start, NULL));
    PetscCall(VecGetArrayRead(r->weights, &fa));
    for (PetscInt j = 0; j < n; j++) {
      const PetscReal f = PetscRealPart(fa[j]);

      if (f == 0) {
        mine[0]++;
        mine[2] = start + j;
      } else if (!(f > 0) || PetscIsInfReal(f)) mine[1]++;
    }
    PetscCall(VecRestoreArrayRead(r->weights, &fa));
    PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)b)));
    PetscCallMPI(MPI_Allreduce(mine + 2, all + 2, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)b)));
    PetscCheck(!all[1], PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " factors of the regulariser are negative, infinite or not a number", all[1]);
    PetscCheck(all[0] <= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "%" PetscInt_FMT " factors of the regulariser are zero, but at most one weight can be free: give a bias of several classes a small factor", all[0]);
    r->free = all[2];
  }
  if (b->groups) PetscCall(BMRMCheckFeatureLayout(b, b->groups, "groups"));
  r->groups    = b->groups;
  r->groupsize = b->groupsize;
  r->outputs   = b->loss->outputs;
  if (r->ops->setup) PetscCall((*r->ops->setup)(r, b->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
