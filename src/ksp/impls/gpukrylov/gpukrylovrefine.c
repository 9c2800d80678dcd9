/* Replacement of the residual: the iterations multiply by a matrix whose values single storage has rounded, and the residual is replaced by the one of the given matrix ("reliable updates", van der Vorst and Ye,
   SIAM J. Sci. Comput. 22 (2000), 835-852). */
#include "ksp/impls/gpukrylov/gpukrylov.h"

/* When the residual is replaced. The deviation is the norm of the difference between the residual of the iterations and its replacement. */
#define FRACTION 0.1  /* The residual is replaced when its norm has fallen to this fraction of the norm at the last replacement. */
#define INTERVAL 16   /* The residual is also replaced after this number of iterations. The number doubles each time. */
#define HARMLESS 0.03 /* The residual is not replaced if the deviation is expected to stay below this fraction of the tolerance. */

/* When single precision does not suffice. If the deviation exceeds UNFIT times the norm of the residual while this norm is above EARLY times the initial one, the solve starts again in double precision. If the
   deviation exceeds STALL times the norm of the residual later, the solve continues in double precision. */
#define EARLY 1e-2
#define UNFIT 1e-4
#define STALL 0.1

PetscErrorCode KSPGPUFreeExact_Private(KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCall(GpOpDestroy(&g->doubled));
  g->key   = (MatGPUCSRKey){0};
  g->exact = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the values in double precision, unless the matrix has not changed since the last upload. */
static PetscErrorCode KSPGPUUploadExact(KSP_GPU *g, Mat A, GpOp op)
{
  const MatGPUCSRKey old     = g->key;
  MatGPUCSRKey       key     = {.owner = A, .nonzerostate = A->nonzerostate};
  GpOpOptions        options = op->options;
  const GpOpPlace   *place   = &((Mat_SeqAIJGPUCSR *)A->spptr)->place;
  PetscScalar       *val;
  PetscBool          refill;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &key.state));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &key.rowptr, &key.col, &val, NULL));
  key.nnz = key.rowptr[A->rmap->n];
  refill  = (PetscBool)(g->doubled && old.owner == A && old.nonzerostate == key.nonzerostate && old.rowptr == key.rowptr && old.col == key.col && old.nnz == key.nnz);
  if (refill && old.state == key.state) PetscFunctionReturn(PETSC_SUCCESS);
  g->key            = (MatGPUCSRKey){0}; /* if the upload fails, the operator is invalid */
  options.prec      = GP_F64;
  options.kernel    = -1;
  options.exact     = PETSC_FALSE;
  options.lacked    = PETSC_FALSE;
  options.transpose = PETSC_FALSE;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!g->doubled) PetscCall(GpOpCreate(op->dev, &g->doubled));
  if (refill) PetscCall(GpOpRefill(g->doubled, key.rowptr, key.col, val, place));
  else PetscCall(GpOpSetUp(g->doubled, &options, A->rmap->n, A->cmap->n, key.rowptr, key.col, val, place));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  g->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether the solve replaces the residual, and gets the operator for it.  op: the operator of the iterations, on return that with double precision if the last solve has found that single precision does not suffice
   for this matrix */
PetscErrorCode KSPGPUSetUpExact_Private(KSP ksp, KSP_GPU *g, Mat A, GpOp *op)
{
  PetscObjectState state;

  PetscFunctionBegin;
  g->refining     = (PetscBool)(g->refine && (*op)->options.prec == GP_F32 && (*op)->loss.at >= 0 && ksp->normtype != KSP_NORM_NONE);
  g->exact        = *op;
  g->stalled      = PETSC_FALSE;
  g->again        = PETSC_FALSE;
  g->switched     = PETSC_FALSE;
  g->replacements = 0;
  g->noted        = 0;
  g->interval     = INTERVAL;
  if (!g->refining) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->key.owner != A || g->key.state != state || g->key.nonzerostate != A->nonzerostate) g->unfit = PETSC_FALSE;
  PetscCall(KSPGPUUploadExact(g, A, *op));
  g->exact = g->doubled;
  if (g->unfit) {
    PetscCall(PetscInfo(ksp, "The last solve has found that single precision does not suffice for this matrix: the solve uses the values in double precision\n"));
    *op         = g->exact;
    g->refining = PETSC_FALSE;
    g->switched = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPULaunchReplacement(KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCall((*g->method->replace)(g));
  g->replacements++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Judges a replacement whose result the host has read. Sets g->stalled and g->again if single precision does not suffice. */
static PetscErrorCode KSPGPUNoteReplacement(KSP_GPU *g, const GpKrylovState *state)
{
  PetscFunctionBegin;
  if (state->deviation > UNFIT * state->size && state->dp > EARLY * g->initial) g->stalled = g->again = PETSC_TRUE;
  else if (!(state->deviation <= STALL * state->size)) g->stalled = PETSC_TRUE;
  g->reference = state->reference;
  g->noted     = state->replacements;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches a replacement after the batches that have been launched, if one is due. */
PetscErrorCode KSPGPUReplaceOften_Private(KSP_GPU *g, const GpKrylovState *state)
{
  PetscBool late;

  PetscFunctionBegin;
  if (state->status != GP_KRYLOV_RUNNING || state->replacements < g->replacements) PetscFunctionReturn(PETSC_SUCCESS);
  if (state->replacements > g->noted) PetscCall(KSPGPUNoteReplacement(g, state));
  if (g->stalled || (g->noted && state->drift * g->reference < HARMLESS * state->small)) PetscFunctionReturn(PETSC_SUCCESS);
  late = (PetscBool)(state->it - state->replaced >= g->interval);
  if (late) g->interval *= 2;
  if (late || state->dp < FRACTION * g->reference) PetscCall(KSPGPULaunchReplacement(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes to the double-precision values. */
static PetscErrorCode KSPGPUSwitch(KSP ksp, KSP_GPU *g)
{
  const PCGPURecorded recorded = g->recorded;

  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "Single precision does not suffice at the norm %g: the solve %s with the values in double precision\n", (double)g->reference, g->again ? "starts again" : "continues"));
  PetscCall(KSPGPUCapture_Private(g, g->exact, g->pc, g->side, &recorded));
  g->unfit    = g->again;
  g->refining = PETSC_FALSE;
  g->switched = PETSC_TRUE;
  g->stalled  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a breakdown or divergence in a solve with rounded values, the solve starts again with the double-precision values.  *runs receives PETSC_TRUE if it must start again. */
PetscErrorCode KSPGPURescue_Private(KSP ksp, KSP_GPU *g, const GpKrylovState *state, PetscBool *runs)
{
  const PetscBool failed = (PetscBool)(state->status == GP_KRYLOV_BREAKDOWN || (state->status == GP_KRYLOV_NORM && state->dp >= state->large));

  PetscFunctionBegin;
  *runs = (PetscBool)(failed && (g->refining || (g->switched && !g->again && !g->unfit)));
  if (!*runs) PetscFunctionReturn(PETSC_SUCCESS);
  g->again = PETSC_TRUE;
  if (g->refining) PetscCall(KSPGPUSwitch(ksp, g));
  else PetscCall(PetscInfo(ksp, "The method has failed after a change to double precision: the solve starts again with the values in double precision\n"));
  g->unfit = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the residual after the method has stopped because its norm is small.  state: the current state, which is updated; runs: the method must continue */
PetscErrorCode KSPGPUVerify_Private(KSP ksp, KSP_GPU *g, GpKrylovState *state, PetscBool *runs)
{
  const PetscReal reference = g->reference;

  PetscFunctionBegin;
  *runs = PETSC_FALSE;
  if (state->status != GP_KRYLOV_RUNNING && !KSPGPUIsSmall(state)) PetscFunctionReturn(PETSC_SUCCESS);
  if (state->status == GP_KRYLOV_NORM && state->replaced == state->it) PetscFunctionReturn(PETSC_SUCCESS); /* the norm is that of a replacement */
  if (state->status != GP_KRYLOV_RUNNING || (g->stalled && !g->again)) {
    PetscCall(KSPGPULaunchReplacement(g));
    PetscCall(KSPGPUDownloadState_Private(g, state));
    PetscCall(KSPGPUNoteReplacement(g, state));
    if (!(state->dp <= 0.5 * reference)) g->stalled = PETSC_TRUE;
  }
  *runs = (PetscBool)(state->status == GP_KRYLOV_RUNNING);
  if (*runs && g->stalled) PetscCall(KSPGPUSwitch(ksp, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
