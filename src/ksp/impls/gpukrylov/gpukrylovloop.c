/* A solve by a Krylov method whose loop runs on the device: start, launches, monitors, and the convergence reason. */
#include "ksp/impls/gpukrylov/gpukrylov.h"

PetscLogEvent KSP_GPU_Loop;

/* Copies a vector to vector `which` of the loop; if `out` is true, in the other direction. */
static PetscErrorCode KSPGPUCopy(KSP_GPU *g, Mat A, Vec v, int which, PetscBool out)
{
  MatGPUCSRVec a, none;

  PetscFunctionBegin;
  if (out) PetscCall(MatGPUCSRVecGetResult_Private(A, 0, v, NULL, &a, &none));
  else PetscCall(MatGPUCSRVecGetRead_Private(A, 0, v, &a));
  PetscCallKrylov(g, GpDevCopyWithin(g->dev, out ? a.device : KSP_GPU_VECTOR(g, which), out ? KSP_GPU_VECTOR(g, which) : a.device, (size_t)g->n * sizeof(double)));
  if (out) PetscCall(MatGPUCSRVecRestoreResult_Private(A, v, NULL, &a, &none));
  else PetscCall(MatGPUCSRVecRestoreArray_Private(v, 'r', &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the diagonal of the Jacobi preconditioner by applying it to a vector of ones, which takes account of all its options. */
static PetscErrorCode KSPGPUGetJacobi(KSP ksp, KSP_GPU *g, Mat A)
{
  Vec ones, d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(ksp->vec_rhs, &ones));
  PetscCall(VecDuplicate(ksp->vec_rhs, &d));
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp->pc, ones, d));
  PetscCall(KSPGPUCopy(g, A, d, KSP_GPU_D, PETSC_FALSE));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble KSPGPUProductFlops(GpOp op)
{
  return 2.0 * op->side[0].csr.nnz - (PetscLogDouble)(op->side[0].csr.m - op->side[0].features.empty);
}

/* Number of flops of the preconditioner. */
static PetscLogDouble KSPGPUApplyFlops(const KSP_GPU *g)
{
  if (g->pc == KSP_GPU_PC_RECORDED) return g->recorded.flops;
  return g->pc == KSP_GPU_PC_DIAGONAL ? (PetscLogDouble)g->n : 0;
}

/* Logs products that a graph has replayed, with their number but without time, which is not known for parts of a graph. */
static PetscErrorCode KSPGPULogProducts(Mat A, PetscInt products)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < products; k++) {
    PetscCall(PetscLogEventBegin(MAT_Mult, A, 0, 0, 0));
    PetscCall(PetscLogEventEnd(MAT_Mult, A, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the initial residual and gets the state. */
static PetscErrorCode KSPGPUStart(KSP ksp, KSP_GPU *g, Mat A, PetscBool norms, GpKrylovState *state)
{
  const GpKrylovNorm kinds[] = {[KSP_NORM_NONE] = GP_KRYLOV_NORM_NONE, [KSP_NORM_PRECONDITIONED] = GP_KRYLOV_NORM_PRECONDITIONED, [KSP_NORM_UNPRECONDITIONED] = GP_KRYLOV_NORM_UNPRECONDITIONED, [KSP_NORM_NATURAL] = GP_KRYLOV_NORM_NATURAL};
  double            *ax      = NULL;

  PetscFunctionBegin;
  PetscCall(KSPGPUCopy(g, A, ksp->vec_rhs, KSP_GPU_B, PETSC_FALSE));
  if (ksp->guess_zero) PetscCallKrylov(g, GpDevZero(g->dev, KSP_GPU_VECTOR(g, KSP_GPU_X), (size_t)g->n * sizeof(double)));
  else {
    PetscCall(KSPGPUCopy(g, A, ksp->vec_sol, KSP_GPU_X, PETSC_FALSE));
    ax = KSP_GPU_VECTOR(g, KSP_GPU_WORK);
    PetscCall(PetscLogEventBegin(MAT_Mult, A, 0, 0, 0));
    PetscCall(GpOpMult(g->exact, PETSC_FALSE, KSP_GPU_VECTOR(g, KSP_GPU_X), NULL, ax));
    PetscCall(PetscGPUCSRLogFlops_Private(g->dev, KSPGPUProductFlops(g->exact)));
    PetscCall(PetscLogEventEnd(MAT_Mult, A, 0, 0, 0));
    PetscCall(PetscGPUCSRLogFlops_Private(g->dev, 2.0 * g->n));
  }
  PetscCall(PetscMemzero(state, sizeof(*state)));
  state->norm  = kinds[ksp->normtype];
  state->norms = norms ? g->norms : NULL;
  state->ring  = (int32_t)g->ring;
  if (g->method->initialise) PetscCall((*g->method->initialise)(g, state));
  PetscCallKrylov(g, GpDevUpload(g->dev, g->state, state, sizeof(*state)));
  PetscCall((*g->method->start)(g, ax));
  PetscCall(KSPGPUDownloadState_Private(g, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the products and the flops of all iterations that graphs have replayed. It is called while GPUKSPLoop is open, so that this event has the flops together with
   their time. */
static PetscErrorCode KSPGPULogIterations(KSP ksp, KSP_GPU *g, Mat A, const GpKrylovState *state)
{
  const KSPGPUMethod  *m      = g->method;
  const PetscLogDouble n      = (PetscLogDouble)g->n;
  const PetscBool      norm   = (PetscBool)(ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_UNPRECONDITIONED);
  const PetscBool      unmult = (PetscBool)(state->status == GP_KRYLOV_ZERO_BETA || state->status == GP_KRYLOV_INDEFINITE_PC); /* the last iteration stopped before its product */
  const PetscInt       its    = state->it - (unmult && state->it ? 1 : 0);

  PetscFunctionBegin;
  PetscCall(KSPGPULogProducts(A, its * m->products + g->replacements));
  PetscCall(PetscGPUCSRLogFlops_Private(g->dev, its * (m->products * KSPGPUProductFlops(g->op) + (m->vectorflops + (norm ? m->normflops : 0)) * n + m->applications * KSPGPUApplyFlops(g)) + (m->getflops ? (*m->getflops)(g, its) : 0)));
  if (g->replacements) PetscCall(PetscGPUCSRLogFlops_Private(g->dev, g->replacements * (KSPGPUProductFlops(g->exact) + 11 * n + KSPGPUApplyFlops(g))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes the norms of iterations to the residual history and to the monitors.  ksp->its is the last iteration that was passed. */
static PetscErrorCode KSPGPUReport(KSP ksp, KSP_GPU *g, const GpKrylovState *state, int turn)
{
  const PetscInt unfinished = state->status == GP_KRYLOV_ZERO_BETA || state->status == GP_KRYLOV_INDEFINITE_PC || state->status == GP_KRYLOV_INDEFINITE ? 1 : 0; /* the last iteration has no norm */

  PetscFunctionBegin;
  while (ksp->its < state->it - unfinished) {
    ksp->its++;
    ksp->rnorm = (PetscReal)g->pollnorms[turn * g->ring + ksp->its % g->ring];
    PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
    PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches batches until the method stops.  The next batch is always launched before the host waits for the current one, so that the device is never idle.  If the method
   stops in the current batch, the kernels of the next one return at once.  If the matrix is streamed, the host waits first: a batch after the last iteration would stream the whole
   matrix, which takes far longer than the host's wait. */
static PetscErrorCode KSPGPURunBatches(KSP ksp, KSP_GPU *g, GpKrylovState *state)
{
  const PetscBool ahead = (PetscBool)!GpOpIsStreamed(g->op), norms = (PetscBool)(state->norms != NULL);
  int             turn = 0;

  PetscFunctionBegin;
  PetscCall(KSPGPULaunchBatch_Private(g, norms, turn));
  do {
    if (ahead) PetscCall(KSPGPULaunchBatch_Private(g, norms, 1 - turn));
    PetscCallKrylov(g, GpDevEventWait(g->dev, g->copied[turn]));
    *state = g->polled[turn];
    if (norms) PetscCall(KSPGPUReport(ksp, g, state, turn));
    turn = 1 - turn;
    if (g->refining && g->method->replaces) PetscCall(KSPGPUReplaceOften_Private(g, state));
    if (!ahead && state->status == GP_KRYLOV_RUNNING && !g->stalled) PetscCall(KSPGPULaunchBatch_Private(g, norms, turn));
  } while (state->status == GP_KRYLOV_RUNNING && !g->stalled);
  if (ahead) {
    PetscCallKrylov(g, GpDevEventWait(g->dev, g->copied[turn])); /* wait for the batch launched ahead, which writes to polled */
    *state = g->polled[turn];                                    /* a replacement before that batch may have continued the iteration */
    if (norms) PetscCall(KSPGPUReport(ksp, g, state, turn));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the state with the thresholds of the norm.  it: number of iterations so far */
static PetscErrorCode KSPGPUSetThresholds(KSP ksp, KSP_GPU *g, GpKrylovState *state, int32_t it)
{
  PetscFunctionBegin;
  state->small     = (double)ksp->ttol;
  state->large     = (double)(ksp->divtol * ksp->rnorm0);
  state->max_it    = (int32_t)ksp->max_it;
  state->it        = it;
  state->reference = state->dp;
  g->reference     = state->dp;
  g->initial       = state->dp;
  PetscCallKrylov(g, GpDevUpload(g->dev, g->state, state, sizeof(*state)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates until the method stops, and until the replaced residual meets the tolerance. */
static PetscErrorCode KSPGPUIterate(KSP ksp, KSP_GPU *g, Mat A, GpKrylovState *state)
{
  const PetscBool norms = (PetscBool)(state->norms != NULL);
  PetscBool       runs  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPGPUSetThresholds(ksp, g, state, 0));
  PetscCall(PetscLogEventBegin(KSP_GPU_Loop, ksp, 0, 0, 0));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(g->dev));
  do {
    PetscCall(KSPGPURunBatches(ksp, g, state));
    PetscCall(KSPGPURescue_Private(ksp, g, state, &runs));
    if (!runs && !g->refining) break;
    if (!runs) PetscCall(KSPGPUVerify_Private(ksp, g, state, &runs));
    if (runs && g->switched && g->again) {
      const int32_t it = state->it;

      g->next = 0;
      PetscCall(KSPGPUStart(ksp, g, A, norms, state));
      PetscCall(KSPGPUSetThresholds(ksp, g, state, it));
    }
  } while (runs);
  if (g->method->finish && state->status != GP_KRYLOV_NAN) {
    PetscCall((*g->method->finish)(g));
    PetscCall(KSPGPUDownloadState_Private(g, state));
  }
  PetscCall(PetscGPUCSRLogTimeEnd_Private(g->dev));
  PetscCall(KSPGPULogIterations(ksp, g, A, state));
  PetscCall(PetscLogEventEnd(KSP_GPU_Loop, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the number of iterations, the residual norm and the convergence reason from the final state. */
static PetscErrorCode KSPGPUSetReason(KSP ksp, const GpKrylovState *state)
{
  const KSPConvergedReason reasons[GP_KRYLOV_STATUSES] = {
    [GP_KRYLOV_ZERO_BETA] = KSP_CONVERGED_ATOL, [GP_KRYLOV_INDEFINITE_PC] = KSP_DIVERGED_INDEFINITE_PC, [GP_KRYLOV_INDEFINITE] = KSP_DIVERGED_INDEFINITE_MAT, [GP_KRYLOV_NAN] = KSP_DIVERGED_NANORINF, [GP_KRYLOV_BREAKDOWN] = KSP_DIVERGED_BREAKDOWN,
    [GP_KRYLOV_EXACT] = KSP_CONVERGED_RTOL,     [GP_KRYLOV_HAPPY] = KSP_CONVERGED_HAPPY_BREAKDOWN};

  PetscFunctionBegin;
  ksp->its    = state->it;
  ksp->rnorm  = (PetscReal)state->dp;
  ksp->reason = reasons[state->status];
  /* the test may report convergence at the maximum number of iterations too, for example in a smoother */
  if (!ksp->reason) PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason && state->status != GP_KRYLOV_NORM) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the solution from that of the right-preconditioned system: the initial guess, which ksp->vec_sol still has, plus M X. */
static PetscErrorCode KSPGPUUnwind(KSP ksp, KSP_GPU *g, Mat A)
{
  double *x = KSP_GPU_VECTOR(g, KSP_GPU_X), *work = KSP_GPU_VECTOR(g, KSP_GPU_WORK);

  PetscFunctionBegin;
  if (g->side != PC_RIGHT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUApply_Private(g, x, work));
  if (ksp->guess_zero) PetscCallKrylov(g, GpDevCopyWithin(g->dev, x, work, (size_t)g->n * sizeof(double)));
  else {
    PetscCall(KSPGPUCopy(g, A, ksp->vec_sol, KSP_GPU_X, PETSC_FALSE));
    PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->add(g->dev, (int32_t)g->n, work, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUSolveOnStream(KSP ksp, KSP_GPU *g, Mat A)
{
  const PetscBool norms = (PetscBool)(ksp->numbermonitors || ksp->res_hist);
  GpKrylovState   state;

  PetscFunctionBegin;
  PetscCall(KSPGPUStart(ksp, g, A, norms, &state));
  ksp->its   = 0;
  ksp->rnorm = (PetscReal)state.dp;
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  PetscCall(KSPMonitor(ksp, 0, ksp->rnorm));
  PetscCall((*ksp->converged)(ksp, 0, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason) {
    if (state.status == GP_KRYLOV_ZERO_BETA) state.it = 1; /* KSPCG detects this in its first iteration */
    else PetscCall(KSPGPUIterate(ksp, g, A, &state));
    PetscCall(KSPGPUSetReason(ksp, &state));
  }
  PetscCall(KSPGPUUnwind(ksp, g, A));
  PetscCall(KSPGPUCopy(g, A, ksp->vec_sol, KSP_GPU_X, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on the own stream of the device: PETSc's stream may be the legacy default stream, which cannot be captured in a graph. */
PetscErrorCode KSPGPURun_Private(KSP ksp, KSP_GPU *g, Mat A, GpOp op, KSPGPUPCKind pc, const PCGPURecorded *recorded)
{
  const PCSide   side = ksp->pc_side == PC_RIGHT && pc != KSP_GPU_PC_NONE ? PC_RIGHT : PC_LEFT;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(KSPGPUSetUpExact_Private(ksp, g, A, &op));
  PetscCall((*g->method->plan)(ksp, g));
  PetscCall(KSPGPUAllocate_Private(g, op->dev, A->rmap->n));
  if (pc == KSP_GPU_PC_DIAGONAL) PetscCall(KSPGPUGetJacobi(ksp, g, A));
  PetscCall(PetscGPUCSRDevicePushStream(g->dev));
  err = KSPGPUCapture_Private(g, op, pc, side, recorded);
  if (!err) err = KSPGPUSolveOnStream(ksp, g, A);
  PetscCall(PetscGPUCSRDevicePopStream(g->dev));
  PetscCall(err);
  PetscCall(PetscGPUCSRLogFlops_Private(g->dev, KSPGPUApplyFlops(g))); /* the preconditioner was also applied to the initial residual */
  PetscFunctionReturn(PETSC_SUCCESS);
}
