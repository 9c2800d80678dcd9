/* The preconditioner type PCGPUSPAI: set-up, application, view and creation. */
/* MANSEC = PC */
#include "pc/impls/gpuspai/gpuspai.h"

#include <math.h>

PetscLogEvent PC_GPUSPAI_SetUp;

static PetscErrorCode PCSetUp_GPUSPAI(PC pc)
{
  PC_GPUSPAI            *spai = (PC_GPUSPAI *)pc->data;
  const PCGPUInverseType type = {.type      = PCGPUSPAI,
                                 .failure   = "the rows of the matrix in the pattern of this row are linearly dependent, or none of them has a nonzero in the column with this number",
                                 .remedy    = "decrease -pc_gpuspai_power, or increase -pc_gpuspai_threshold",
                                 .row       = GpSpaiRow,
                                 .options   = &spai->options.rows,
                                 .distance  = spai->options.rows.power + 1,
                                 .threads   = spai->options.threads,
                                 .local     = spai->options.local,
                                 .lazy      = PETSC_TRUE,
                                 .storage   = spai->options.storage,
                                 .kind      = GP_BATCH_SPAI,
                                 .power     = spai->options.rows.power,
                                 .threshold = spai->options.rows.threshold,
                                 .byvalue   = spai->options.rows.filter > 0 ? "entries are dropped by their values" : NULL,
                                 .host      = spai->options.host};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUSPAI_SetUp, pc, 0, 0, 0));
  PetscCall(PCGPUInverseSetUp_Private(pc, &spai->inverse, &type));
  PetscCall(PetscLogEventEnd(PC_GPUSPAI_SetUp, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = M x */
static PetscErrorCode PCApply_GPUSPAI(PC pc, Vec x, Vec y)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseApply_Private(&spai->inverse, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_GPUSPAI(PC pc, Vec x, Vec y)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseApply_Private(&spai->inverse, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_GPUSPAI(PC pc, Mat X, Mat Y)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;

  PetscFunctionBegin;
  PetscCheck(spai->inverse.matrix, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The set-up of PC type gpuspai has failed: the matrix is singular on the pattern of a row; use another preconditioner");
  PetscCall(MatMatMult(spai->inverse.matrix, X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(MatProductClear(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_GPUSPAI(PC pc, PetscViewer viewer)
{
  PC_GPUSPAI          *spai = (PC_GPUSPAI *)pc->data;
  const GpSpaiOptions *o    = &spai->options.rows;
  PetscMPIInt          size;
  PetscBool            ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  pattern: A^%" PetscInt_FMT "\n", o->power));
  if (o->threshold > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  threshold for entries of A: %g\n", (double)o->threshold));
  if (o->filter > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  filter for entries of the inverse: %g\n", (double)o->filter));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PCGPUInverseViewOptions_Private(pc, "inverse", spai->options.local, spai->options.storage, viewer));
  if (!spai->inverse.matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUInverseView_Private(&spai->inverse, "approximate inverse M", viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  Frobenius norm of MA - I%s%s: %.4g\n", size > 1 && spai->options.local ? " for the diagonal blocks of A" : "", o->filter > 0 ? ", without the filter" : "", sqrt(spai->inverse.measure)));
  PetscCall(PCGPUInverseViewInfo_Private(&spai->inverse, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r */
static PetscErrorCode PCGPUSPAIApplyRecorded(void *ctx, const double r[], double z[])
{
  PetscFunctionBegin;
  PetscCall(GpOpMult(((PC_GPUSPAI *)ctx)->op, PETSC_FALSE, r, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offers the application to Krylov methods whose loop is recorded. */
static PetscErrorCode PCGPUSPAIGetRecorded_GPUSPAI(PC pc, PCGPURecorded *recorded)
{
  PC_GPUSPAI *spai = (PC_GPUSPAI *)pc->data;
  Mat         M    = spai->inverse.matrix;

  PetscFunctionBegin;
  if (!M || !MatGPUCSRIs_Private(M)) recorded->why = "a preconditioner whose set-up has failed";
  else {
    PetscCall(MatGPUCSRGetOperator_Private(M, PETSC_FALSE, &spai->op));
    if (GpOpIsStreamed(spai->op)) recorded->why = "an approximate inverse that is streamed";
  }
  if (recorded->why) PetscFunctionReturn(PETSC_SUCCESS);
  recorded->apply   = PCGPUSPAIApplyRecorded;
  recorded->ctx     = spai;
  recorded->version = spai->op->version;
  recorded->flops   = 2.0 * spai->op->side[0].csr.nnz - (PetscLogDouble)M->rmap->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GPUSPAI(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_GPUSPAI(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCGPUSPAI - PCGPUSPAI = "gpuspai" - A sparse approximate inverse for matrices that need not be symmetric: the preconditioner M, which minimises the Frobenius norm of
  MA - I on a static pattern, is applied by one product on the GPU

  Options Database Keys:
+ -pc_type gpuspai                         - sets the type
. -pc_gpuspai_power <1>                    - the power of A whose pattern M has
. -pc_gpuspai_threshold <0>                - entries a(i,j) of A with |a(i,j)| <= threshold sqrt(|a(i,i) a(j,j)|) are not used for the pattern
. -pc_gpuspai_filter <0>                   - entries of M that are at most this fraction of the largest entry of their row are dropped
. -pc_gpuspai_local <bool>                 - on several ranks, M is computed from the diagonal block of each rank (default)
. -pc_gpuspai_storage <single,double,auto> - precision of the values of M on the device
. -pc_gpuspai_host <bool>                  - the set-up runs on the host, also with a GPU
- -pc_gpuspai_threads <0>                  - number of threads of a set-up on the host; 0: one for each core, at most 8

  Level: intermediate

  Notes:
  M is a matrix of type `MATGPUCSR`. Each row of M is the solution of its own least-squares problem. For symmetric positive definite matrices use `PCGPUFSAI`: M is not symmetric, so `KSPCG` does not
  converge with it in general.

  If the rows of A whose numbers are in the pattern of a row of M are linearly dependent, `KSPSolve()` stops with `KSP_DIVERGED_PC_FAILED`, and -info names the row.

  The set-up runs on the GPU. Threads of the host compute it if a filter is set, if a row of M has more than 1024 entries, or if its least-squares problem has more than 2048 columns. Results do not depend on the number of threads. -ksp_view prints where the
  set-up ran. The application runs on the device and copies no vector of type `VECGPU`.

  If only the values of the matrix have changed, the pattern of M is kept, and its values are computed again. The threshold and the filter are not applied again.

  The matrix may have any type that `MatConvert()` converts to `MATAIJ`. M has the options prefix of the preconditioner followed by pc_gpuspai_.

  `PCGPUSPAISetPower()` and similar functions have no effect if the preconditioner has another type. Call `PCSetType()` first.

  References:
+ * - M. W. Benson and P. O. Frederickson, Iterative solution of large sparse linear systems arising in certain multidimensional approximation problems, Utilitas Mathematica 22 (1982)
- * - E. Chow, A priori sparsity patterns for parallel sparse approximate inverse preconditioners, SIAM J. Sci. Comput. 21 (2000)

.seealso: `PCGPUSPAISetPower()`, `PCGPUSPAISetThreshold()`, `PCGPUSPAISetFilter()`, `PCGPUSPAISetLocal()`, `PCGPUSPAISetStorage()`, `PCGPUFSAI`, `MATGPUCSR`
M*/
PetscErrorCode PCCreate_GPUSPAI(PC pc)
{
  PC_GPUSPAI *spai;

  PetscFunctionBegin;
  PetscCall(PetscNew(&spai));
  spai->options.rows.power = 1;
  spai->options.local      = PETSC_TRUE;
  spai->options.storage    = MAT_GPUCSR_STORAGE_SINGLE;
  pc->data                 = spai;
  pc->ops->setup           = PCSetUp_GPUSPAI;
  pc->ops->apply           = PCApply_GPUSPAI;
  pc->ops->applytranspose  = PCApplyTranspose_GPUSPAI;
  pc->ops->matapply        = PCMatApply_GPUSPAI;
  pc->ops->setfromoptions  = PCSetFromOptions_GPUSPAI;
  pc->ops->view            = PCView_GPUSPAI;
  pc->ops->reset           = PCReset_GPUSPAI;
  pc->ops->destroy         = PCDestroy_GPUSPAI;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, PCGPUSPAIGetRecorded_GPUSPAI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
