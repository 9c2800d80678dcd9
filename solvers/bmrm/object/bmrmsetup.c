/* The BMRM object: what a solve needs is created by BMRMSetUp(), and freed or invalidated when data or settings change. */
#include "solvers/bmrm/bmrmimpl.h"
#include "app/text/appcollective.h"

/* Destroys the vectors and the matrix that BMRMSetUp() created for the present number of scores per example. */
static PetscErrorCode BMRMDestroyVectors(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&b->labels));
  PetscCall(VecDestroy(&b->w));
  PetscCall(VecDestroy(&b->d));
  PetscCall(VecDestroy(&b->f));
  PetscCall(VecDestroy(&b->e));
  PetscCall(VecDestroyVecs(b->nr, &b->r));
  PetscCall(VecDestroy(&b->rbest));
  PetscCall(VecDestroy(&b->gbest));
  PetscCall(PetscFree(b->order));
  b->nr    = 0;
  b->known = PETSC_FALSE;
  b->alike = BMRM_ALIKE_UNKNOWN;
  PetscCall(MatDestroy(&b->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMReset - Frees the bundle, the work vectors and the references to the data; keeps the settings

  Collective

  Input Parameter:
. b - the solver

  Level: advanced

.seealso: `BMRMSetData()`, `BMRMDestroy()`
@*/
PetscErrorCode BMRMReset(BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMBundleDestroy(&b->bundle));
  PetscCall(BMRMQPDestroy(&b->qp));
  PetscCall(BMRMPiecesDestroy_Private(&b->pieces));
  PetscCall(BMRMDestroyVectors(b));
  PetscCall(VecDestroy(&b->y));
  PetscCall(VecDestroy(&b->queries));
  PetscCall(VecDestroy(&b->importance));
  PetscCall(MatDestroy(&b->X));
  PetscCall(BMRMInvalidate_Private(b));
  b->reason = BMRM_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Invalidates what was set up and computed, because the loss, the regulariser or the data of either has changed. */
PetscErrorCode BMRMInvalidate_Private(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(BMRMModelReset_Private(b));
  b->setup   = PETSC_FALSE;
  b->started = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces a user's vector, or NULL, that the solver references, and invalidates what was computed with the old one. */
PetscErrorCode BMRMReplaceVec_Private(BMRM b, Vec v, Vec *kept)
{
  PetscFunctionBegin;
  if (v) {
    PetscValidHeaderSpecific(v, VEC_CLASSID, 2);
    PetscCheckSameComm(b, 1, v, 2);
    PetscCall(PetscObjectReference((PetscObject)v));
  }
  PetscCall(VecDestroy(kept));
  *kept = v;
  PetscCall(BMRMInvalidate_Private(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error if a label does not suit the loss, with the label and its example. Collective. */
static PetscErrorCode BMRMCheckLabels(BMRM b)
{
  const PetscScalar *ya;
  PetscInt           n, start, bad = PETSC_MAX_INT, first;
  PetscReal          label = 0, sum;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b->y, &n));
  PetscCall(VecGetOwnershipRange(b->y, &start, NULL));
  PetscCall(VecGetArrayRead(b->y, &ya));
  for (PetscInt i = n - 1; i >= 0; i--) {
    if (!(*b->loss->fits)(PetscRealPart(ya[i]))) bad = start + i;
  }
  PetscCallMPI(MPI_Allreduce(&bad, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)b)));
  if (first < PETSC_MAX_INT && first == bad) label = PetscRealPart(ya[first - start]);
  PetscCall(VecRestoreArrayRead(b->y, &ya));
  if (first == PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&label, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)b)));
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The label %g of example %" PetscInt_FMT ", counted from 0, does not suit the loss %s, which wants %s", (double)sum, first, b->losstype, b->loss->labels);
}

/* Gives the loss the weights of the examples. The risk becomes the weighted mean of the loss. Collective. */
static PetscErrorCode BMRMSetUpExampleWeights(BMRM b)
{
  BMRMLoss           l = b->loss;
  const PetscScalar *va;
  PetscScalar        sum;
  PetscReal          least;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PetscFree(l->weight));
  l->scale = (PetscReal)1 / b->m;
  if (!b->importance) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(l->weighable, PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "The loss %s accepts no weights of examples: use a loss that is a mean over the examples", b->losstype);
  PetscCall(VecMin(b->importance, NULL, &least));
  PetscCall(VecSum(b->importance, &sum));
  PetscCheck(least >= 0 && PetscRealPart(sum) > 0 && !PetscIsInfOrNanScalar(sum), PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE,
             "The weights of the examples have the sum %g and the minimum %g: they must be finite and not negative, and not all zero", (double)PetscRealPart(sum), (double)least);
  l->scale = 1 / PetscRealPart(sum);
  PetscCall(VecGetLocalSize(b->importance, &n));
  PetscCall(PetscMalloc1(n + 1, &l->weight)); /* not NULL on a rank without examples: all ranks must take the same decisions */
  PetscCall(VecGetArrayRead(b->importance, &va));
  for (PetscInt i = 0; i < n; i++) l->weight[i] = PetscRealPart(va[i]);
  PetscCall(VecRestoreArrayRead(b->importance, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the loss for the labels; afterwards the number of scores per example is known. */
static PetscErrorCode BMRMSetUpLoss(BMRM b)
{
  BMRMLoss l = b->loss;
  PetscInt n, m;

  PetscFunctionBegin;
  PetscCall(BMRMCheckLabels(b));
  PetscCall(BMRMSetUpExampleWeights(b));
  l->queries = b->queries;
  l->classes = b->set.classes;
  l->outputs = 1;
  PetscCall(MatGetLocalSize(b->X, &m, NULL));
  if (l->ops->setup) PetscCall((*l->ops->setup)(l, m, b->y));
  PetscCall(VecGetSize(b->y, &n));
  PetscCheck(n == b->m * (l->many ? l->outputs : 1), PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " labels for %" PetscInt_FMT " examples; the loss %s needs %s", n, b->m, b->losstype,
             l->many ? "one per example and class" : "one per example");
  PetscCheck(!l->parts || b->set.ncut <= l->parts, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cuts a pass, but the risk of the loss %s has %" PetscInt_FMT " part%s here: use fewer cuts", b->set.ncut, b->losstype,
             l->parts, l->parts == 1 ? "" : "s, one per query");
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
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)b), what, n, m, "use a vector with the layout of the columns of the data"));
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

/* Checks the factors, and finds the free weights, whose factors are zero. */
static PetscErrorCode BMRMFindFreeWeights(BMRM b)
{
  BMRMRegularizer    r = b->reg;
  const PetscScalar *fa;
  PetscInt           n, start, zeros = 0, bad = 0, *index;

  PetscFunctionBegin;
  PetscCall(BMRMFreeReset_Private(r));
  if (!r->weights) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(r->weights, &n));
  PetscCall(VecGetOwnershipRange(r->weights, &start, NULL));
  PetscCall(PetscMalloc1(n, &index));
  PetscCall(VecGetArrayRead(r->weights, &fa));
  for (PetscInt j = 0; j < n; j++) {
    const PetscReal f = PetscRealPart(fa[j]);

    if (f == 0) index[zeros++] = start + j;
    else if (!(f > 0) || PetscIsInfReal(f)) bad++;
  }
  PetscCall(VecRestoreArrayRead(r->weights, &fa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)b)));
  if (!bad) PetscCall(BMRMFreeSetUp_Private(r, b->w, zeros, index));
  PetscCall(PetscFree(index));
  PetscCheck(!bad, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " factors of the regulariser are negative, infinite or not a number", bad);
  PetscCheck(r->nfree <= BMRM_MAX_FREE, PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "%" PetscInt_FMT " factors of the regulariser are zero, but at most %d weights can be free: give the other weights small factors", r->nfree, BMRM_MAX_FREE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the largest absolute value of a sum of the entries of an example at the free weights. Overwrites d and e. */
static PetscErrorCode BMRMMeasureFree(BMRM b)
{
  PetscReal *ones;

  PetscFunctionBegin;
  b->freemax = 0;
  if (!b->reg->nfree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(b->reg->nfree, &ones));
  for (PetscInt c = 0; c < b->reg->nfree; c++) ones[c] = 1;
  PetscCall(VecSet(b->d, 0));
  PetscCall(BMRMFreeSet_Private(b->reg, ones, b->d));
  PetscCall(PetscFree(ones));
  PetscCall(MatMult(b->A, b->d, b->e));
  PetscCall(VecNorm(b->e, NORM_INFINITY, &b->freemax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the factors, and calls the setup of the type. */
static PetscErrorCode BMRMSetUpRegularizer(BMRM b)
{
  BMRMRegularizer r = b->reg;

  PetscFunctionBegin;
  PetscCall(BMRMSetRegularizerFactors(b));
  PetscCall(BMRMFindFreeWeights(b));
  PetscCall(BMRMMeasureFree(b));
  if (b->groups) PetscCall(BMRMCheckFeatureLayout(b, b->groups, "groups"));
  r->groups    = b->groups;
  r->groupsize = b->set.groupsize;
  r->outputs   = b->loss->outputs;
  if (r->ops->setup) PetscCall((*r->ops->setup)(r, b->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetUp - Checks the labels and creates the vectors that `BMRMSolve()` needs

  Collective

  Input Parameter:
. b - the solver, after `BMRMSetData()`

  Level: advanced

  Note:
  `BMRMSolve()` calls this function.

.seealso: `BMRMSolve()`, `BMRMSetData()`, `BMRMReset()`
@*/
PetscErrorCode BMRMSetUp(BMRM b)
{
  PetscInt m, nr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (b->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(b->X, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "No data to train on: call BMRMSetData() first");
  PetscCall(BMRMSetUpLoss(b));
  if (b->w) {
    PetscCall(MatGetSize(b->A, &m, NULL));
    if (m != b->m * b->loss->outputs) PetscCall(BMRMDestroyVectors(b));
  }
  if (!b->w) {
    if (b->loss->outputs > 1) PetscCall(BMRMBlocksCreate_Private(b->X, b->loss->outputs, &b->A));
    else {
      PetscCall(PetscObjectReference((PetscObject)b->X));
      b->A = b->X;
    }
    PetscCall(BMRMRowsSetUp(b));
    PetscCall(MatCreateVecs(b->A, &b->w, &b->f));
    PetscCall(VecDuplicate(b->w, &b->d));
    PetscCall(VecDuplicate(b->f, &b->e));
    if (b->loss->outputs > 1 && !b->loss->many) PetscCall(MatCreateVecs(b->X, NULL, &b->labels));
    else PetscCall(VecDuplicate(b->f, &b->labels)); /* in the memory space of the scores */
    PetscCall(VecCopy(b->y, b->labels));
  }
  b->pair = (PetscBool)(b->set.best_cut && b->rows && b->loss->steps && b->set.ncut == 1 && b->set.line_search);
  nr      = b->pair ? 2 : b->set.ncut;
  if (b->nr != nr) {
    PetscCall(VecDestroyVecs(b->nr, &b->r));
    PetscCall(VecDuplicateVecs(b->f, nr, &b->r));
    b->nr = nr;
  }
  if (b->pair && !b->rbest) {
    PetscCall(VecDuplicate(b->f, &b->rbest));
    PetscCall(VecDuplicate(b->w, &b->gbest));
  }
  PetscCall(BMRMSetUpRegularizer(b));
  b->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
