/* The loop of KSPGPUCG on the device: memory, recording of the graph, launches, and the convergence reason. */
#include "ksp/impls/gpucg/gpucg.h"

PetscLogEvent KSP_GPUCG_Loop;

PetscErrorCode KSPGPUCGFree_Private(KSP_GPUCG *cg)
{
  PetscFunctionBegin;
  if (cg->dev) {
    PetscCall(PetscGPUCSRGraphDestroy(&cg->graph));
    PetscCall(PetscGPUCSRDeviceFree(cg->dev, VECTORS * (size_t)cg->n * sizeof(double), &cg->vectors));
    PetscCall(PetscGPUCSRDeviceFree(cg->dev, GP_CG_PARTIAL * sizeof(double), &cg->partial));
    PetscCall(PetscGPUCSRDeviceFree(cg->dev, sizeof(GpCgState), &cg->state));
    PetscCall(PetscGPUCSRDeviceFreePinned(cg->dev, &cg->polled));
    for (int k = 0; k < 2; k++) {
      if (cg->copied[k]) GpDevEventDestroy(cg->dev, cg->copied[k]);
      cg->copied[k] = NULL;
    }
    cg->op = NULL;
    cg->n  = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGAllocateMemory(KSP_GPUCG *cg, GpDev dev, PetscInt n)
{
  PetscFunctionBegin;
  cg->dev = dev;
  cg->n   = n;
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating memory for conjugate gradients", VECTORS * (size_t)n * sizeof(double), &cg->vectors));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating memory for conjugate gradients", GP_CG_PARTIAL * sizeof(double), &cg->partial));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating memory for conjugate gradients", sizeof(GpCgState), &cg->state));
  PetscCall(PetscGPUCSRDeviceMallocPinned(dev, 2 * sizeof(GpCgState), &cg->polled));
  for (int k = 0; k < 2; k++) PetscCallGp(dev, "creating an event", GpDevEventCreate(dev, &cg->copied[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the memory.  A failure frees everything, so that the next solve tries again. */
static PetscErrorCode KSPGPUCGAllocate(KSP_GPUCG *cg, GpDev dev, PetscInt n)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  if (cg->n == n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUCGFree_Private(cg));
  err = KSPGPUCGAllocateMemory(cg, dev, n);
  if (err) PetscCall(KSPGPUCGFree_Private(cg));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z = G'(G r) with the factor G, and the scalars that depend on z. */
static PetscErrorCode KSPGPUCGApplyFactor(KSP_GPUCG *cg, PetscBool starts)
{
  PetscFunctionBegin;
  PetscCall(GpOpMult(cg->factor, PETSC_FALSE, VECTOR(cg, R), NULL, VECTOR(cg, D)));
  PetscCall(GpOpMult(cg->factor, PETSC_TRUE, VECTOR(cg, D), NULL, VECTOR(cg, Z)));
  PetscCallGp(cg->dev, "conjugate gradients", GpCgKernelsOf(cg->dev)->residual(cg->dev, (int32_t)cg->n, cg->state, cg->partial, starts, VECTOR(cg, R), VECTOR(cg, Z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches the kernels of `batch` iterations. If the matrix is streamed, it launches one iteration, because kernels that are launched in vain stream the
   matrix too. */
static PetscErrorCode KSPGPUCGLaunchIterations(void *ctx)
{
  KSP_GPUCG         *cg = (KSP_GPUCG *)ctx;
  const GpCgKernels *K  = GpCgKernelsOf(cg->dev);
  double            *d = cg->jacobi ? VECTOR(cg, D) : NULL, *z = VECTOR(cg, cg->jacobi || cg->factor ? Z : R);
  const int32_t      n     = (int32_t)cg->n;
  const PetscInt     batch = GpOpIsStreamed(cg->op) ? 1 : cg->batch;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < batch; k++) {
    PetscCallGp(cg->dev, "conjugate gradients", K->direction(cg->dev, n, cg->state, z, VECTOR(cg, P)));
    PetscCall(GpOpMult(cg->op, PETSC_FALSE, VECTOR(cg, P), NULL, VECTOR(cg, W)));
    PetscCallGp(cg->dev, "conjugate gradients", K->curvature(cg->dev, n, cg->state, cg->partial, VECTOR(cg, P), VECTOR(cg, W)));
    PetscCallGp(cg->dev, "conjugate gradients", K->update(cg->dev, n, cg->state, cg->factor ? NULL : cg->partial, d, VECTOR(cg, P), VECTOR(cg, W), VECTOR(cg, X), VECTOR(cg, R), cg->factor ? VECTOR(cg, R) : z));
    if (cg->factor) PetscCall(KSPGPUCGApplyFactor(cg, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Captures a graph of `batch` iterations, unless the existing one is valid. */
static PetscErrorCode KSPGPUCGCapture(KSP_GPUCG *cg, GpOp op, PetscBool jacobi, GpOp factor)
{
  PetscFunctionBegin;
  if (cg->op == op && cg->version == op->version && cg->jacobi == jacobi && cg->factor == factor && (!factor || cg->factored == factor->version) && cg->graph) PetscFunctionReturn(PETSC_SUCCESS);
  cg->op       = op;
  cg->version  = op->version;
  cg->jacobi   = jacobi;
  cg->factor   = factor;
  cg->factored = factor ? factor->version : 0;
  PetscCall(PetscGPUCSRGraphDestroy(&cg->graph));
  PetscCall(PetscGPUCSRGraphCreate(cg->dev, PETSC_FALSE, KSPGPUCGLaunchIterations, cg, &cg->graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches `batch` iterations and the copy of the state to polled[turn]. */
static PetscErrorCode KSPGPUCGLaunchBatch(KSP_GPUCG *cg, int turn)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGraphLaunch(cg->graph));
  PetscCall(PetscGPUCSRDeviceCopyOut(cg->dev, cg->polled + turn, cg->state, sizeof(GpCgState)));
  PetscCallGp(cg->dev, "conjugate gradients", GpDevEventRecord(cg->dev, cg->copied[turn]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Downloads the state and waits for it. */
static PetscErrorCode KSPGPUCGDownloadState(KSP_GPUCG *cg, GpCgState *state)
{
  PetscFunctionBegin;
  PetscCallGp(cg->dev, "conjugate gradients", GpDevCopyOut(cg->dev, cg->polled, cg->state, sizeof(GpCgState)));
  PetscCallGp(cg->dev, "conjugate gradients", GpDevSync(cg->dev));
  *state = cg->polled[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a vector to (out: from) one of the vectors of the loop. */
static PetscErrorCode KSPGPUCGCopy(KSP_GPUCG *cg, Mat A, Vec v, int which, PetscBool out)
{
  MatGPUCSRVec a, none;

  PetscFunctionBegin;
  if (out) PetscCall(MatGPUCSRVecGetResult_Private(A, 0, v, NULL, &a, &none));
  else PetscCall(MatGPUCSRVecGetRead_Private(A, 0, v, &a));
  PetscCallGp(cg->dev, "conjugate gradients", GpDevCopyWithin(cg->dev, out ? a.device : VECTOR(cg, which), out ? VECTOR(cg, which) : a.device, (size_t)cg->n * sizeof(double)));
  if (out) PetscCall(MatGPUCSRVecRestoreResult_Private(A, v, NULL, &a, &none));
  else PetscCall(MatGPUCSRVecRestoreArray_Private(v, 'r', &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the diagonal of the Jacobi preconditioner by applying it to a vector of ones, which takes account of all its options. */
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

/* Number of flops of the preconditioner. */
static PetscLogDouble KSPGPUCGApplyFlops(const KSP_GPUCG *cg)
{
  if (cg->factor) return 4.0 * cg->factor->side[0].csr.nnz - 2.0 * (PetscLogDouble)cg->n;
  return cg->jacobi ? (PetscLogDouble)cg->n : 0;
}

/* Computes the initial residual and gets the state. */
static PetscErrorCode KSPGPUCGComputeResidual(KSP ksp, KSP_GPUCG *cg, Mat A, GpCgState *state)
{
  const GpCgNorm norms[] = {[KSP_NORM_NONE] = GP_CG_NORM_NONE, [KSP_NORM_PRECONDITIONED] = GP_CG_NORM_PRECONDITIONED, [KSP_NORM_UNPRECONDITIONED] = GP_CG_NORM_UNPRECONDITIONED, [KSP_NORM_NATURAL] = GP_CG_NORM_NATURAL};
  double        *ax      = NULL;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGCopy(cg, A, ksp->vec_rhs, B, PETSC_FALSE));
  if (ksp->guess_zero) PetscCallGp(cg->dev, "conjugate gradients", GpDevZero(cg->dev, VECTOR(cg, X), (size_t)cg->n * sizeof(double)));
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
  PetscCallGp(cg->dev, "conjugate gradients", GpDevUpload(cg->dev, cg->state, state, sizeof(*state)));
  PetscCallGp(cg->dev, "conjugate gradients", GpCgKernelsOf(cg->dev)->start(cg->dev, (int32_t)cg->n, cg->state, cg->factor ? NULL : cg->partial, cg->jacobi ? VECTOR(cg, D) : NULL, VECTOR(cg, B), ax, VECTOR(cg, R), VECTOR(cg, cg->jacobi ? Z : R)));
  if (cg->factor) PetscCall(KSPGPUCGApplyFactor(cg, PETSC_TRUE));
  PetscCall(KSPGPUCGDownloadState(cg, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the products and the flops of all iterations that the graph has replayed. It is called while GPUCGLoop is open, so that this event has the flops together with
   their time. MatMult has the number of products only: its share of the time is not known. */
static PetscErrorCode KSPGPUCGLogIterations(KSP ksp, KSP_GPUCG *cg, Mat A, const GpCgState *state)
{
  const PetscLogDouble n = (PetscLogDouble)cg->n, pc = KSPGPUCGApplyFlops(cg);
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

/* Iterates.  The next batch is always launched before the host waits for the current one, so that the device is never idle.  If the method
   stops in the current batch, the kernels of the next one return at once.  If the matrix is streamed, the host waits first: a batch that is launched in vain would stream the whole
   matrix, which takes far longer than the host's wait. */
static PetscErrorCode KSPGPUCGIterate(KSP ksp, KSP_GPUCG *cg, Mat A, GpCgState *state)
{
  const PetscBool ahead = (PetscBool)!GpOpIsStreamed(cg->op);
  int             turn  = 0;

  PetscFunctionBegin;
  state->small  = (double)ksp->ttol;
  state->large  = (double)(ksp->divtol * ksp->rnorm0);
  state->max_it = (int32_t)ksp->max_it;
  PetscCallGp(cg->dev, "conjugate gradients", GpDevUpload(cg->dev, cg->state, state, sizeof(*state)));
  PetscCall(PetscLogEventBegin(KSP_GPUCG_Loop, ksp, 0, 0, 0));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(cg->dev));
  PetscCall(KSPGPUCGLaunchBatch(cg, turn));
  do {
    if (ahead) PetscCall(KSPGPUCGLaunchBatch(cg, 1 - turn));
    PetscCallGp(cg->dev, "conjugate gradients", GpDevEventWait(cg->dev, cg->copied[turn]));
    *state = cg->polled[turn];
    turn   = 1 - turn;
    if (!ahead && state->status == GP_CG_RUNNING) PetscCall(KSPGPUCGLaunchBatch(cg, turn));
  } while (state->status == GP_CG_RUNNING);
  if (ahead) PetscCallGp(cg->dev, "conjugate gradients", GpDevEventWait(cg->dev, cg->copied[turn])); /* the batch that was launched in vain no longer writes to polled */
  PetscCall(PetscGPUCSRLogTimeEnd_Private(cg->dev));
  PetscCall(KSPGPUCGLogIterations(ksp, cg, A, state));
  PetscCall(PetscLogEventEnd(KSP_GPUCG_Loop, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the number of iterations, the residual norm and the convergence reason from the final state. */
static PetscErrorCode KSPGPUCGSetReason(KSP ksp, const GpCgState *state)
{
  const KSPConvergedReason reasons[] = {[GP_CG_ZERO_BETA] = KSP_CONVERGED_ATOL, [GP_CG_INDEFINITE_PC] = KSP_DIVERGED_INDEFINITE_PC, [GP_CG_INDEFINITE] = KSP_DIVERGED_INDEFINITE_MAT, [GP_CG_MAX_IT] = KSP_CONVERGED_ITERATING};

  PetscFunctionBegin;
  ksp->its    = state->it;
  ksp->rnorm  = (PetscReal)state->dp;
  ksp->reason = reasons[state->status];
  /* the test may report convergence at the maximum number of iterations too, for example in a smoother */
  if (!ksp->reason) PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason && state->status != GP_CG_NORM) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGSolveOnStream(KSP ksp, KSP_GPUCG *cg, Mat A, GpOp op, PetscBool jacobi, GpOp factor)
{
  GpCgState state;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGCapture(cg, op, jacobi, factor));
  PetscCall(KSPGPUCGComputeResidual(ksp, cg, A, &state));
  ksp->its   = 0;
  ksp->rnorm = (PetscReal)state.dp;
  PetscCall((*ksp->converged)(ksp, 0, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason) {
    if (state.status == GP_CG_ZERO_BETA) state.it = 1; /* KSPCG detects this in its first iteration */
    else PetscCall(KSPGPUCGIterate(ksp, cg, A, &state));
    PetscCall(KSPGPUCGSetReason(ksp, &state));
  }
  PetscCall(KSPGPUCGCopy(cg, A, ksp->vec_sol, X, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on the own stream of the device: PETSc's stream may be the legacy default stream, which cannot be captured in a graph. */
PetscErrorCode KSPGPUCGRun_Private(KSP ksp, KSP_GPUCG *cg, Mat A, GpOp op, PetscBool jacobi, GpOp factor)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGAllocate(cg, op->dev, A->rmap->n));
  if (jacobi) PetscCall(KSPGPUCGGetJacobi(ksp, cg, A));
  PetscCall(PetscGPUCSRDevicePushStream(cg->dev));
  err = KSPGPUCGSolveOnStream(ksp, cg, A, op, jacobi, factor);
  PetscCall(PetscGPUCSRDevicePopStream(cg->dev));
  PetscCall(err);
  PetscCall(PetscGPUCSRLogFlops_Private(cg->dev, KSPGPUCGApplyFlops(cg))); /* flops of the initial residual's preconditioning, before the loop */
  PetscFunctionReturn(PETSC_SUCCESS);
}
