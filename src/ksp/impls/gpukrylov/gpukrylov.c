/* Functions that all KSP types of this directory except KSPGPU share: creation, options, view, and the decision between the loop on the device and the solve of PETSc's type. */
#include "ksp/impls/gpukrylov/gpukrylov.h"

PetscErrorCode KSPGPUGetData_Private(KSP ksp, KSP_GPU **g)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, "KSPGPU", (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)ksp), PETSC_ERR_PLIB, "The data of the KSP's loop on the device are missing");
  PetscCall(PetscContainerGetPointer(container, (void **)g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether all monitors use the residual norm only.  Others may build the solution. */
static PetscBool KSPGPUMonitorsNorms(KSP ksp)
{
  for (PetscInt k = 0; k < ksp->numbermonitors; k++)
    if ((void (*)(void))ksp->monitor[k] != (void (*)(void))KSPMonitorResidual) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Finds out whether the loop on the device supports this solve.  *why receives NULL, or the name of what the loop does not support. */
static PetscErrorCode KSPGPUCheck(KSP ksp, KSP_GPU *g, Mat A, const char **why)
{
  PetscMPIInt  size;
  MatNullSpace nullspace, transposed;

  PetscFunctionBegin;
  *why = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  if (size > 1) *why = "several ranks";
  else if (!MatGPUCSRIs_Private(A)) *why = "matrices of types other than gpucsr";
  else if (nullspace || transposed) *why = "null spaces";
  else if (!KSPGPUMonitorsNorms(ksp)) *why = "monitors other than that of the residual norm";
  else if (ksp->err_hist) *why = "an error history";
  else if (ksp->calc_sings || ksp->calc_ritz) *why = "singular value estimates";
  else if (ksp->converged != KSPConvergedDefault) *why = "user-defined convergence tests";
  else if (ksp->chknorm > 0 || ksp->lagnorm || GpCompatGetMinIt(ksp) > 0) *why = "-ksp_check_norm_iteration, -ksp_lag_norm and -ksp_min_it";
  else if (ksp->transpose_solve) *why = "transposed solves";
  else if (g->method->check) PetscCall((*g->method->check)(ksp, g, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_GPU(KSP ksp)
{
  KSP_GPU      *g;
  Mat           A;
  GpOp          op;
  KSPGPUPCKind  pc;
  PCGPURecorded recorded;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPGPUCheck(ksp, g, A, &g->why));
  if (!g->why) PetscCall(KSPGPUGetPC_Private(ksp, &pc, &recorded, &g->why));
  if (g->why) {
    PetscCall(PetscInfo(ksp, "KSP type %s of PETSc solves this system: the loop on the device does not support %s\n", g->method->base, g->why));
    PetscCall((*g->solve)(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRGetOperator_Private(A, PETSC_FALSE, &op));
  PetscCall(KSPGPURun_Private(ksp, g, A, op, pc, &recorded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_GPU(KSP ksp, GpOptionItems PetscOptionsObject)
{
  KSP_GPU  *g;
  PetscInt  batch;
  PetscBool refine;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  batch  = g->batch;
  refine = g->refine;
  if (g->setfromoptions) PetscCall((*g->setfromoptions)(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "Options of Krylov methods on the device");
  PetscCall(PetscOptionsInt("-ksp_gpu_batch", "Number of iterations after which the host reads the state from the device", g->method->type, batch, &batch, NULL));
  PetscCall(PetscOptionsBool("-ksp_gpu_refine", "Where single storage rounds values, replace the residual by one in double precision", g->method->type, refine, &refine, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(batch > 0 && batch <= 1000, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gpu_batch %" PetscInt_FMT ": must be from 1 to 1000", batch);
  if (batch != g->batch) g->op = NULL; /* the graphs must be recorded again */
  g->batch  = batch;
  g->refine = refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUViewRefine(const KSP_GPU *g, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (g->switched) PetscCall(PetscViewerASCIIPrintf(viewer, "  single precision does not suffice for this matrix: the solve used the values in double precision\n"));
  else if (g->refining) PetscCall(PetscViewerASCIIPrintf(viewer, "  single storage rounds values: the residual was replaced %" PetscInt_FMT " times by one in double precision\n", g->replacements));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints which loop has run the last solve.  Before the first solve it prints the default, the loop on the device. */
static PetscErrorCode KSPView_GPU(KSP ksp, PetscViewer viewer)
{
  KSP_GPU  *g;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  if (g->view) PetscCall((*g->view)(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->why) PetscCall(PetscViewerASCIIPrintf(viewer, "  KSP type %s of PETSc iterates, controlled by the host: the loop on the device does not support %s\n", g->method->base, g->why));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the whole loop runs on the device; the host reads its state after every %" PetscInt_FMT " iterations\n", g->graphs ? g->steps : g->batch));
    PetscCall(KSPGPUViewRefine(g, viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_GPU(KSP ksp)
{
  KSP_GPU *g;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  PetscCall(KSPGPUFree_Private(g));
  PetscCall(KSPGPUFreeExact_Private(g));
  g->why      = NULL;
  g->refining = PETSC_FALSE;
  g->switched = PETSC_FALSE;
  if (g->reset) PetscCall((*g->reset)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_GPU(KSP ksp)
{
  KSP_GPU *g;
  PetscErrorCode (*destroy)(KSP);

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  destroy = g->destroy;
  PetscCall(KSPGPUFree_Private(g));
  PetscCall(KSPGPUFreeExact_Private(g));
  PetscCall(PetscFree(g));
  PetscCall(PetscObjectCompose((PetscObject)ksp, "KSPGPU", NULL));
  PetscCall((*destroy)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the type of PETSc, and replaces some of its operations. */
PetscErrorCode KSPGPUCreate_Private(KSP ksp, const KSPGPUMethod *method)
{
  KSP_GPU       *g;
  PetscContainer container;

  PetscFunctionBegin;
  /* KSPSetType() has destroyed the data of the former type but not its name.  If that is the name of PETSc's type, setting that type would have no effect. */
  PetscCall(PetscObjectChangeTypeName((PetscObject)ksp, NULL));
  PetscCall(KSPSetType(ksp, method->base));
  PetscCall(PetscNew(&g));
  g->method         = method;
  g->batch          = 8;
  g->refine         = PETSC_TRUE;
  g->n              = -1;
  g->solve          = ksp->ops->solve;
  g->setfromoptions = ksp->ops->setfromoptions;
  g->view           = ksp->ops->view;
  g->reset          = ksp->ops->reset;
  g->destroy        = ksp->ops->destroy;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, g));
  PetscCall(PetscObjectCompose((PetscObject)ksp, "KSPGPU", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  ksp->ops->solve          = KSPSolve_GPU;
  ksp->ops->setfromoptions = KSPSetFromOptions_GPU;
  ksp->ops->view           = KSPView_GPU;
  ksp->ops->reset          = KSPReset_GPU;
  ksp->ops->destroy        = KSPDestroy_GPU;
  if (method->create) PetscCall((*method->create)(ksp, g));
  PetscCall(PetscObjectChangeTypeName((PetscObject)ksp, method->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
