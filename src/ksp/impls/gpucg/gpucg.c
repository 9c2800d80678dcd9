/* The solver type KSPGPUCG: conjugate gradients whose whole loop, including scalars and stopping test, runs on the device.  The host launches
   a graph of several iterations and then reads the state of the method.  A solve that the loop does not support is left to KSPCG. */
/* MANSEC = KSP */
#include "ksp/impls/gpucg/gpucg.h"

static PetscErrorCode KSPGPUCGGetData(KSP ksp, KSP_GPUCG **cg)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, "KSPGPUCG", (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)ksp), PETSC_ERR_PLIB, "The data of KSP type gpucg are missing");
  PetscCall(PetscContainerGetPointer(container, (void **)cg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the operator of the factor of PC type gpufsai, with its transpose; NULL if the PC has another type.  why: what the loop does not support */
static PetscErrorCode KSPGPUCGGetFactor(PC pc, GpOp *factor, const char **why)
{
  PetscErrorCode (*get)(PC, Mat *);
  Mat G;

  PetscFunctionBegin;
  *factor = NULL;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGPUFSAIGetFactor_C", &get));
  if (!get) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc)); /* KSPSetUp() does nothing if only the values of the matrix have changed; PCApply() would then set up */
  PetscCall((*get)(pc, &G));
  if (!G || !MatGPUCSRIs_Private(G)) *why = "a preconditioner whose set-up has failed";
  else {
    PetscCall(MatGPUCSRGetOperator_Private(G, PETSC_TRUE, factor));
    if (GpOpIsStreamed(*factor)) *why = "a factor that is streamed";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out whether the loop on the device supports this solve.  why: NULL if it does, else what it does not support. */
static PetscErrorCode KSPGPUCGCheck(KSP ksp, KSP_GPUCG *cg, Mat A, const char **why, PetscBool *jacobi)
{
  PetscBool    none, fsai;
  PetscMPIInt  size;
  MatNullSpace nullspace, transposed;

  PetscFunctionBegin;
  *why = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCGPUFSAI, &fsai));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  if (size > 1) *why = "several ranks";
  else if (!MatGPUCSRIs_Private(A)) *why = "matrices of types other than gpucsr";
  else if (!none && !*jacobi && !fsai) *why = "preconditioners other than none, jacobi and gpufsai";
  else if (nullspace || transposed) *why = "null spaces";
  else if (ksp->numbermonitors) *why = "monitors";
  else if (ksp->res_hist || ksp->err_hist) *why = "a residual history";
  else if (ksp->calc_sings || ksp->calc_ritz) *why = "singular value estimates";
  else if (ksp->converged != KSPConvergedDefault) *why = "user-defined convergence tests";
  else if (ksp->chknorm > 0 || ksp->lagnorm || GpCompatGetMinIt(ksp) > 0) *why = "-ksp_check_norm_iteration, -ksp_lag_norm and -ksp_min_it";
  else if (ksp->pc_side == PC_RIGHT || ksp->transpose_solve) *why = "right preconditioning and transposed solves";
  else if (cg->radius || GpCompatGetNegCurve(ksp)) *why = "trust regions";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_GPUCG(KSP ksp)
{
  KSP_GPUCG *cg;
  Mat        A;
  GpOp       op, factor = NULL;
  PetscBool  jacobi = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGetData(ksp, &cg));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPGPUCGCheck(ksp, cg, A, &cg->why, &jacobi));
  if (!cg->why) PetscCall(KSPGPUCGGetFactor(ksp->pc, &factor, &cg->why));
  if (cg->why) {
    PetscCall(PetscInfo(ksp, "KSPCG solves this system: the loop on the device does not support %s\n", cg->why));
    PetscCall((*cg->solve)(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRGetOperator_Private(A, PETSC_FALSE, &op));
  PetscCall(KSPGPUCGRun_Private(ksp, cg, A, op, jacobi, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_GPUCG(KSP ksp, GpOptionItems PetscOptionsObject)
{
  KSP_GPUCG *cg;
  PetscInt   batch;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGetData(ksp, &cg));
  batch = cg->batch;
  PetscCall((*cg->setfromoptions)(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "gpucg options");
  PetscCall(PetscOptionsInt("-ksp_gpucg_batch", "Number of iterations after which the host reads the state from the device", "KSPGPUCG", batch, &batch, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(batch > 0 && batch <= 1000, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gpucg_batch %" PetscInt_FMT ": must be from 1 to 1000", batch);
  if (batch != cg->batch) cg->op = NULL; /* the graph must be recorded again */
  cg->batch = batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints which loop has run the last solve.  Before the first solve it prints the default, the loop on the device. */
static PetscErrorCode KSPView_GPUCG(KSP ksp, PetscViewer viewer)
{
  KSP_GPUCG *cg;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGetData(ksp, &cg));
  if (cg->view) PetscCall((*cg->view)(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->why) PetscCall(PetscViewerASCIIPrintf(viewer, "  KSPCG iterates, controlled by the host: the loop on the device does not support %s\n", cg->why));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  the whole loop runs on the device; the host reads its state after every %" PetscInt_FMT " iterations\n", cg->batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_GPUCG(KSP ksp)
{
  KSP_GPUCG *cg;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGGetData(ksp, &cg));
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
  PetscCall(KSPGPUCGGetData(ksp, &cg));
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
  PetscCall(KSPGPUCGGetData(ksp, &cg));
  cg->radius = (PetscBool)(radius != 0);
  PetscCall((*cg->setradius)(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  KSPGPUCG - KSPGPUCG = "gpucg" - The conjugate gradient method with its whole loop on the GPU: matrix product, vector updates,
  scalars and stopping test are recorded in a CUDA graph

  Options Database Keys:
+ -ksp_type gpucg          - sets the type
- -ksp_gpucg_batch <8>     - number of iterations of a graph, after which the host reads the state; more iterations need fewer launches, but more kernels are launched in vain after the method has stopped

  Level: intermediate

  Notes:
  The loop on the device supports one process, matrices of type `MATGPUCSR`, and the preconditioners `PCNONE`, `PCJACOBI` and `PCGPUFSAI`. The vectors may be of
  any type. The iterates are those of `KSPCG` up to rounding. Sums are added in a fixed order.

  In all other cases `KSPCG` solves, for example with monitors, a residual history, another preconditioner, null spaces, a user-defined
  convergence test, or several processes. Inner products on several processes need a reduction over the ranks, which only the host can start. With
  vectors of type `VECGPU`, `KSPCG` too copies only sums and the exchanged entries of products between host and device.

  `-ksp_view` and `-info` report which loop has run, and why. All options of `KSPCG` apply.

.seealso: `KSPCG`, `MATGPUCSR`
M*/
PetscErrorCode KSPCreate_GPUCG(KSP ksp)
{
  KSP_GPUCG     *cg;
  PetscContainer container;

  PetscFunctionBegin;
  /* KSPSetType() has destroyed the data of the former type but not its name.  If that is cg, setting KSPCG would have no effect. */
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
