/* KSPGPUCG: conjugate gradients whose whole loop, scalars and stopping test included, runs on the device.  The host replays a
   recorded graph of several iterations and looks at the state afterwards; what the loop cannot do, KSPCG does. */
#include "ksp/impls/gpucg/gpucg.h"

static PetscErrorCode KSPGPUCGGet(KSP ksp, KSP_GPUCG **cg)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, "KSPGPUCG", (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)ksp), PETSC_ERR_PLIB, "KSP of type gpucg has lost its data");
  PetscCall(PetscContainerGetPointer(container, (void **)cg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the device do this solve?  If not, why (for -info). */
static PetscErrorCode KSPGPUCGCheck(KSP ksp, KSP_GPUCG *cg, Mat A, const char **why, PetscBool *jacobi)
{
  PetscBool    is, none;
  PetscMPIInt  size;
  MatNullSpace nullspace, transposed;

  PetscFunctionBegin;
  *why = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(MatGPUCSRIs_Private(A, &is));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, jacobi));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  if (size > 1) *why = "several ranks";
  else if (!is) *why = "a matrix of another type than gpucsr";
  else if (!none && !*jacobi) *why = "a preconditioner other than none and jacobi";
  else if (nullspace || transposed) *why = "a null space";
  else if (ksp->numbermonitors) *why = "a monitor";
  else if (ksp->res_hist || ksp->err_hist) *why = "a residual history";
  else if (ksp->calc_sings || ksp->calc_ritz) *why = "singular value estimates";
  else if (ksp->converged != KSPConvergedDefault) *why = "a convergence test of your own";
  else if (ksp->chknorm > 0 || ksp->lagnorm || GpCompatGetMinIt(ksp) > 0) *why = "a norm that is not tested in every iteration";
  else if (ksp->pc_side == PC_RIGHT || ksp->transpose_solve) *why = "a right preconditioner or a transposed solve";
  else if (cg->radius || GpCompatGetNegCurve(ksp)) *why = "a trust region";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_GPUCG(KSP ksp)
{
  KSP_GPUCG *cg;
  Mat        A;
  GpOp       op;
  PetscBool  jacobi = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPGPUCGCheck(ksp, cg, A, &cg->why, &jacobi));
  if (cg->why) {
    PetscCall(PetscInfo(ksp, "KSPCG solves this: the loop on the device has no place for %s\n", cg->why));
    PetscCall((*cg->solve)(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRGetOperator_Private(A, PETSC_FALSE, &op));
  PetscCall(KSPGPUCGRun_Private(ksp, cg, A, op, jacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_GPUCG(KSP ksp, GpOptionItems PetscOptionsObject)
{
  KSP_GPUCG *cg;
  PetscInt   batch;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  batch = cg->batch;
  PetscCall((*cg->setfromoptions)(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "gpucg options");
  PetscCall(PetscOptionsInt("-ksp_gpucg_batch", "Iterations on the device between two looks of the host at their state", "KSPGPUCG", batch, &batch, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(batch > 0 && batch <= 1000, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gpucg_batch %" PetscInt_FMT " must be 1 to 1000", batch);
  if (batch != cg->batch) cg->op = NULL; /* another graph */
  cg->batch = batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* who iterated in the last solve; before the first, who is meant to */
static PetscErrorCode KSPView_GPUCG(KSP ksp, PetscViewer viewer)
{
  KSP_GPUCG *cg;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  if (cg->view) PetscCall((*cg->view)(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->why) PetscCall(PetscViewerASCIIPrintf(viewer, "  iterated by the host as KSPCG does: the loop on the device has no place for %s\n", cg->why));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  whole loop on the device, %" PetscInt_FMT " iterations between two looks of the host\n", cg->batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_GPUCG(KSP ksp)
{
  KSP_GPUCG *cg;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  PetscCall(KSPGPUCGFree_Private(cg));
  cg->why = NULL;
  if (cg->reset) PetscCall((*cg->reset)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_GPUCG(KSP ksp)
{
  KSP_GPUCG *cg;
  PetscErrorCode (*destroy)(KSP);

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  destroy = cg->destroy;
  PetscCall(KSPGPUCGFree_Private(cg));
  PetscCall(PetscFree(cg));
  PetscCall(PetscObjectCompose((PetscObject)ksp, "KSPGPUCG", NULL));
  PetscCall((*destroy)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetRadius_GPUCG(KSP ksp, PetscReal radius)
{
  KSP_GPUCG *cg;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGet(ksp, &cg));
  cg->radius = (PetscBool)(radius != 0);
  PetscCall((*cg->setradius)(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  KSPGPUCG - KSPGPUCG = "gpucg" - The conjugate gradient method with its whole loop on the GPU: matrix product, vector updates,
  scalars and stopping test, replayed from a recorded graph

  Options Database Keys:
+ -ksp_type gpucg          - sets the type
- -ksp_gpucg_batch <8>     - iterations between two looks of the host at the state; more save launches, fewer save iterations done in vain after the last one

  Level: intermediate

  Notes:
  For one process, a matrix of type `MATGPUCSR` and the preconditioners `PCNONE` and `PCJACOBI`; the vectors may be of any type. The iterates are
  those of `KSPCG` up to rounding. Whatever has no place in the loop is solved by `KSPCG` itself: monitors, a residual history, another preconditioner,
  null spaces, tests for convergence of your own, and several processes: there a sum over all ranks stands between two kernels, for which the host is needed in any case.
  With vectors of type `VECGPU` that too moves nothing but sums and what the products exchange. `-ksp_view` and `-info` tell who iterated, and why.

  All `KSPCG` options apply. The sums are added in a fixed order.

.seealso: `KSPCG`, `MATGPUCSR`
M*/
PetscErrorCode KSPCreate_GPUCG(KSP ksp)
{
  KSP_GPUCG     *cg;
  PetscContainer container;

  PetscFunctionBegin;
  /* KSPSetType() has destroyed the data of the former type but left its name: if that is cg, setting KSPCG would do nothing */
  PetscCall(PetscObjectChangeTypeName((PetscObject)ksp, NULL));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(PetscNew(&cg));
  cg->batch          = 8;
  cg->n              = -1;
  cg->solve          = ksp->ops->solve;
  cg->setfromoptions = ksp->ops->setfromoptions;
  cg->view           = ksp->ops->view;
  cg->reset          = ksp->ops->reset;
  cg->destroy        = ksp->ops->destroy;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, cg));
  PetscCall(PetscObjectCompose((PetscObject)ksp, "KSPGPUCG", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  ksp->ops->solve          = KSPSolve_GPUCG;
  ksp->ops->setfromoptions = KSPSetFromOptions_GPUCG;
  ksp->ops->view           = KSPView_GPUCG;
  ksp->ops->reset          = KSPReset_GPUCG;
  ksp->ops->destroy        = KSPDestroy_GPUCG;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetRadius_C", &cg->setradius));
  if (cg->setradius) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetRadius_C", KSPCGSetRadius_GPUCG));
  PetscCall(PetscObjectChangeTypeName((PetscObject)ksp, KSPGPUCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
