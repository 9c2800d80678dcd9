/* The loop of KSPGPUCG: memory, recording, launching ahead, and what the final state means for the KSP. */
#include "ksp/impls/gpucg/gpucg.h"

PetscLogEvent KSP_GPUCG_Loop;

PetscErrorCode KSPGPUCGFree_Private(KSP_GPUCG *cg)
{
  PetscFunctionBegin;
  if (cg->dev) {
    if (cg->graph) cg->dev->ops->graph_destroy(cg->dev, cg->graph);
    cg->graph = NULL;
    GpDevFree(cg->dev, &cg->vectors, VECTORS * (size_t)cg->n * sizeof(double));
    GpDevFree(cg->dev, &cg->partial, GP_CG_PARTIAL * sizeof(double));
    GpDevFree(cg->dev, &cg->state, sizeof(GpCgState));
    if (cg->look) cg->dev->ops->release_pinned(cg->dev, cg->look);
    for (int k = 0; k < 2; k++) {
      if (cg->looked[k]) cg->dev->ops->event_destroy(cg->dev, cg->looked[k]);
      cg->looked[k] = NULL;
    }
    cg->look = NULL;
    cg->op   = NULL;
    cg->n    = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGTake(KSP_GPUCG *cg, GpDev dev, PetscInt n)
{
  PetscFunctionBegin;
  cg->dev = dev;
  cg->n   = n;
  PetscCallGp(dev, "making room for conjugate gradients", GpDevAlloc(dev, VECTORS * (size_t)n * sizeof(double), &cg->vectors));
  PetscCallGp(dev, "making room for conjugate gradients", GpDevAlloc(dev, GP_CG_PARTIAL * sizeof(double), &cg->partial));
  PetscCallGp(dev, "making room for conjugate gradients", GpDevAlloc(dev, sizeof(GpCgState), &cg->state));
  PetscCallGp(dev, "making room for conjugate gradients", dev->ops->alloc_pinned(dev, 2 * sizeof(GpCgState), (void **)&cg->look));
  for (int k = 0; k < 2; k++) PetscCallGp(dev, "creating an event", dev->ops->event_create(dev, &cg->looked[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a failure leaves nothing, so that the next solve tries again */
static PetscErrorCode KSPGPUCGAllocate(KSP_GPUCG *cg, GpDev dev, PetscInt n)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  if (cg->n == n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUCGFree_Private(cg));
  err = KSPGPUCGTake(cg, dev, n);
  if (err) PetscCall(KSPGPUCGFree_Private(cg));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one iteration on the stream */
static PetscErrorCode KSPGPUCGStep(KSP_GPUCG *cg)
{
  const GpCgKernels *K = GpCgKernelsOf(cg->dev);
  double            *d = cg->jacobi ? VECTOR(cg, D) : NULL, *z = VECTOR(cg, cg->jacobi ? Z : R);
  const int32_t      n = (int32_t)cg->n;

  PetscFunctionBegin;
  PetscCallGp(cg->dev, "conjugate gradients", K->direction(cg->dev, n, cg->state, z, VECTOR(cg, P)));
  PetscCall(GpOpMult(cg->op, PETSC_FALSE, VECTOR(cg, P), NULL, VECTOR(cg, W)));
  PetscCallGp(cg->dev, "conjugate gradients", K->curvature(cg->dev, n, cg->state, cg->partial, VECTOR(cg, P), VECTOR(cg, W)));
  PetscCallGp(cg->dev, "conjugate gradients", K->update(cg->dev, n, cg->state, cg->partial, d, VECTOR(cg, P), VECTOR(cg, W), VECTOR(cg, X), VECTOR(cg, R), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGRecord(KSP_GPUCG *cg, GpOp op, PetscBool jacobi)
{
  GpDev dev = cg->dev;

  PetscFunctionBegin;
  if (cg->op == op && cg->version == op->version && cg->jacobi == jacobi && cg->graph) PetscFunctionReturn(PETSC_SUCCESS);
  cg->op      = op;
  cg->version = op->version;
  cg->jacobi  = jacobi;
  if (!dev->ops->graph_begin) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->graph) dev->ops->graph_destroy(dev, cg->graph);
  cg->graph = NULL;
  PetscCallGp(dev, "conjugate gradients", dev->ops->graph_begin(dev));
  for (PetscInt k = 0; k < cg->batch; k++) PetscCall(KSPGPUCGStep(cg));
  PetscCallGp(dev, "conjugate gradients", dev->ops->graph_end(dev, &cg->graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* puts several iterations and a copy of the state on the stream */
static PetscErrorCode KSPGPUCGLaunch(KSP_GPUCG *cg, int turn)
{
  GpDev dev = cg->dev;

  PetscFunctionBegin;
  if (cg->graph) PetscCallGp(dev, "conjugate gradients", dev->ops->graph_launch(dev, cg->graph));
  else
    for (PetscInt k = 0; k < cg->batch; k++) PetscCall(KSPGPUCGStep(cg));
  PetscCallGp(dev, "conjugate gradients", dev->ops->copy_out(dev, cg->look + turn, cg->state, sizeof(GpCgState)));
  PetscCallGp(dev, "conjugate gradients", dev->ops->event_record(dev, cg->looked[turn]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGLook(KSP_GPUCG *cg, GpCgState *state)
{
  PetscFunctionBegin;
  PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->copy_out(cg->dev, cg->look, cg->state, sizeof(GpCgState)));
  PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->sync(cg->dev));
  *state = cg->look[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGPut(KSP_GPUCG *cg, const GpCgState *state)
{
  PetscFunctionBegin;
  PetscCallGp(cg->dev, "conjugate gradients", GpDevUpload(cg->dev, cg->state, state, sizeof(*state)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a vector into, or out of, one of ours */
static PetscErrorCode KSPGPUCGCopy(KSP_GPUCG *cg, Mat A, Vec v, int which, PetscBool out)
{
  MatGPUCSRVec a, none;
  const size_t bytes = (size_t)cg->n * sizeof(double);

  PetscFunctionBegin;
  if (out) {
    PetscCall(MatGPUCSRVecGetResult_Private(A, 0, v, NULL, &a, &none));
    PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->copy_within(cg->dev, a.device, VECTOR(cg, which), bytes));
    PetscCall(MatGPUCSRVecRestoreResult_Private(A, v, NULL, &a, &none));
  } else {
    PetscCall(MatGPUCSRVecGetRead_Private(A, 0, v, &a));
    PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->copy_within(cg->dev, VECTOR(cg, which), a.device, bytes));
    PetscCall(MatGPUCSRVecRestoreRead_Private(v, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the diagonal that Jacobi multiplies by, whatever its options: what it makes of ones */
static PetscErrorCode KSPGPUCGGetJacobi(KSP ksp, KSP_GPUCG *cg, Mat A)
{
  Vec ones, d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(ksp->vec_rhs, &ones));
  PetscCall(VecDuplicate(ksp->vec_rhs, &d));
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp->pc, ones, d));
  PetscCall(KSPGPUCGCopy(cg, A, d, D, PETSC_FALSE));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble KSPGPUCGProductFlops(const KSP_GPUCG *cg)
{
  return 2.0 * cg->op->side[0].csr.nnz - (PetscLogDouble)(cg->op->side[0].csr.m - cg->op->side[0].features.empty);
}

static PetscErrorCode KSPGPUCGStart(KSP ksp, KSP_GPUCG *cg, Mat A, GpCgState *state)
{
  const GpCgNorm norms[] = {[KSP_NORM_NONE] = GP_CG_NORM_NONE, [KSP_NORM_PRECONDITIONED] = GP_CG_NORM_PRECONDITIONED, [KSP_NORM_UNPRECONDITIONED] = GP_CG_NORM_UNPRECONDITIONED, [KSP_NORM_NATURAL] = GP_CG_NORM_NATURAL};
  double        *ax      = NULL;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGCopy(cg, A, ksp->vec_rhs, B, PETSC_FALSE));
  if (ksp->guess_zero) PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->zero(cg->dev, VECTOR(cg, X), (size_t)cg->n * sizeof(double)));
  else {
    PetscCall(KSPGPUCGCopy(cg, A, ksp->vec_sol, X, PETSC_FALSE));
    ax = VECTOR(cg, W);
    PetscCall(PetscLogEventBegin(MAT_Mult, A, 0, 0, 0));
    PetscCall(GpOpMult(cg->op, PETSC_FALSE, VECTOR(cg, X), NULL, ax));
    PetscCall(PetscGPUCSRLogFlops_Private(cg->dev, KSPGPUCGProductFlops(cg)));
    PetscCall(PetscLogEventEnd(MAT_Mult, A, 0, 0, 0));
    PetscCall(PetscGPUCSRLogFlops_Private(cg->dev, 2.0 * cg->n));
  }
  PetscCall(PetscMemzero(state, sizeof(*state)));
  state->norm = norms[ksp->normtype];
  PetscCall(KSPGPUCGPut(cg, state));
  PetscCallGp(cg->dev, "conjugate gradients", GpCgKernelsOf(cg->dev)->start(cg->dev, (int32_t)cg->n, cg->state, cg->partial, cg->jacobi ? VECTOR(cg, D) : NULL, VECTOR(cg, B), ax, VECTOR(cg, R), VECTOR(cg, cg->jacobi ? Z : R)));
  PetscCall(KSPGPUCGLook(cg, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the products and the flops of all iterations that the graph has replayed. It is called while GPUCGLoop is open, so that this event has the flops together with
   their time. MatMult has the number of products only: its share of the time is not known. */
static PetscErrorCode KSPGPUCGLogIterations(KSP ksp, KSP_GPUCG *cg, Mat A, const GpCgState *state)
{
  const PetscLogDouble n = (PetscLogDouble)cg->n, pc = cg->jacobi ? n : 0;
  const PetscBool      norm     = (PetscBool)(ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_UNPRECONDITIONED);
  const PetscBool      unmult   = (PetscBool)(state->status == GP_CG_ZERO_BETA || state->status == GP_CG_INDEFINITE_PC); /* the last iteration stopped before its product */
  const PetscInt       products = state->it - (unmult && state->it ? 1 : 0);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < products; k++) {
    PetscCall(PetscLogEventBegin(MAT_Mult, A, 0, 0, 0));
    PetscCall(PetscLogEventEnd(MAT_Mult, A, 0, 0, 0));
  }
  /* an iteration has a product, two inner products, three vector updates, the preconditioner, and a norm unless it is one of the inner products */
  PetscCall(PetscGPUCSRLogFlops_Private(cg->dev, products * (KSPGPUCGProductFlops(cg) + (norm ? 12 : 10) * n + pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* launches ahead by one: while the host waits for one batch the next is in line, and does nothing if the first one stopped */
static PetscErrorCode KSPGPUCGLoop(KSP ksp, KSP_GPUCG *cg, Mat A, GpCgState *state)
{
  int turn = 0;

  PetscFunctionBegin;
  state->small  = (double)ksp->ttol;
  state->large  = (double)(ksp->divtol * ksp->rnorm0);
  state->max_it = (int32_t)ksp->max_it;
  PetscCall(KSPGPUCGPut(cg, state));
  PetscCall(PetscLogEventBegin(KSP_GPUCG_Loop, ksp, 0, 0, 0));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(cg->dev));
  PetscCall(KSPGPUCGLaunch(cg, turn));
  do {
    PetscCall(KSPGPUCGLaunch(cg, 1 - turn));
    PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->event_wait(cg->dev, cg->looked[turn]));
    *state = cg->look[turn];
    turn   = 1 - turn;
  } while (state->status == GP_CG_RUNNING);
  PetscCallGp(cg->dev, "conjugate gradients", cg->dev->ops->event_wait(cg->dev, cg->looked[turn])); /* the pinned copy is ours again */
  PetscCall(PetscGPUCSRLogTimeEnd_Private(cg->dev));
  PetscCall(KSPGPUCGLogIterations(ksp, cg, A, state));
  PetscCall(PetscLogEventEnd(KSP_GPUCG_Loop, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGReason(KSP ksp, const GpCgState *state)
{
  PetscFunctionBegin;
  ksp->its   = state->it;
  ksp->rnorm = (PetscReal)state->dp;
  switch (state->status) {
  case GP_CG_NORM:
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
    break;
  case GP_CG_ZERO_BETA:
    ksp->reason = KSP_CONVERGED_ATOL;
    break;
  case GP_CG_INDEFINITE_PC:
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
    break;
  case GP_CG_INDEFINITE:
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
    break;
  default: /* the test may call this convergence, for smoothers and the like */
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
    if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On our own stream: PETSc's may be the legacy one, which cannot be recorded.  The test for convergence may run PETSc's own
   operations, and with them bring back PETSc's stream. */
PetscErrorCode KSPGPUCGRun_Private(KSP ksp, KSP_GPUCG *cg, Mat A, GpOp op, PetscBool jacobi)
{
  GpDev     dev    = op->dev;
  void     *stream = dev->stream;
  GpCgState state;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGAllocate(cg, dev, A->rmap->n));
  if (jacobi) PetscCall(KSPGPUCGGetJacobi(ksp, cg, A));
  PetscCallGp(dev, "conjugate gradients", dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(KSPGPUCGRecord(cg, op, jacobi));
  PetscCall(KSPGPUCGStart(ksp, cg, A, &state));
  ksp->its   = 0;
  ksp->rnorm = (PetscReal)state.dp;
  PetscCall((*ksp->converged)(ksp, 0, ksp->rnorm, &ksp->reason, ksp->cnvP));
  dev->stream = dev->own_stream;
  if (!ksp->reason) {
    if (state.status == GP_CG_ZERO_BETA) state.it = 1; /* KSPCG sees it when the first iteration begins */
    else PetscCall(KSPGPUCGLoop(ksp, cg, A, &state));
    PetscCall(KSPGPUCGReason(ksp, &state));
    dev->stream = dev->own_stream;
  }
  PetscCall(KSPGPUCGCopy(cg, A, ksp->vec_sol, X, PETSC_TRUE));
  PetscCallGp(dev, "conjugate gradients", dev->ops->sync(dev));
  dev->stream = stream;
  if (jacobi) PetscCall(PetscGPUCSRLogFlops_Private(dev, (PetscLogDouble)cg->n)); /* of the start, before the loop */
  PetscFunctionReturn(PETSC_SUCCESS);
}
