/* The preconditioner type PCGPUFSAI: set-up, application, view and creation. */
/* MANSEC = PC */
#include "pc/impls/gpufsai/gpufsai.h"
#include "vec/gpuvecimpl.h"

#include <math.h>

PetscLogEvent PC_GPUFSAI_SetUp;

static PetscErrorCode PCSetUp_GPUFSAI(PC pc)
{
  PC_GPUFSAI            *fsai = (PC_GPUFSAI *)pc->data;
  const GpFsaiOptions   *rows = &fsai->options.rows;
  const PCGPUInverseType type = {.type      = PCGPUFSAI,
                                 .failure   = "the matrix is not positive definite on the pattern of the row",
                                 .remedy    = rows->adaptive ? "decrease -pc_gpufsai_steps or -pc_gpufsai_step_size" : "decrease -pc_gpufsai_power, or increase -pc_gpufsai_threshold",
                                 .row       = GpFsaiRow,
                                 .options   = rows,
                                 .distance  = rows->adaptive ? rows->steps : rows->power,
                                 .threads   = fsai->options.threads,
                                 .local     = fsai->options.local,
                                 .diagonal  = PETSC_TRUE,
                                 .storage   = fsai->options.storage,
                                 .kind      = GP_BATCH_FSAI,
                                 .power     = rows->power,
                                 .threshold = rows->threshold,
                                 .lower     = PETSC_TRUE,
                                 .byvalue   = rows->adaptive   ? "rows grow by their values"
                                            : rows->filter > 0 ? "entries are dropped by their values"
                                                               : NULL,
                                 .host      = fsai->options.host};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUFSAI_SetUp, pc, 0, 0, 0));
  PetscCall(PCGPUInverseSetUp_Private(pc, &fsai->inverse, &type));
  PetscCall(PetscLogEventEnd(PC_GPUFSAI_SetUp, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the vector between the two products.  It has the type of the vectors if these are in device memory. */
static PetscErrorCode PCGPUFSAIGetWork(PC pc, Vec x)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;

  PetscFunctionBegin;
  if (fsai->work && VecGPUIs(x) && !VecGPUIs(fsai->work)) PetscCall(VecDestroy(&fsai->work));
  if (fsai->work) PetscFunctionReturn(PETSC_SUCCESS);
  if (VecGPUIs(x)) PetscCall(VecDuplicate(x, &fsai->work));
  else PetscCall(MatCreateVecs(fsai->inverse.matrix, &fsai->work, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = G x */
static PetscErrorCode PCApplySymmetricLeft_GPUFSAI(PC pc, Vec x, Vec y)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseApply_Private(&fsai->inverse, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = G'x */
static PetscErrorCode PCApplySymmetricRight_GPUFSAI(PC pc, Vec x, Vec y)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseApply_Private(&fsai->inverse, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_GPUFSAI(PC pc, Vec x, Vec y)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;

  PetscFunctionBegin;
  if (fsai->inverse.matrix) PetscCall(PCGPUFSAIGetWork(pc, x));
  PetscCall(PCApplySymmetricLeft_GPUFSAI(pc, x, fsai->inverse.matrix ? fsai->work : y));
  if (fsai->inverse.matrix) PetscCall(PCApplySymmetricRight_GPUFSAI(pc, fsai->work, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_GPUFSAI(PC pc, Mat X, Mat Y)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;
  Mat         W;

  PetscFunctionBegin;
  PetscCheck(fsai->inverse.matrix, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The set-up of PC type gpufsai has failed: the matrix is not positive definite; use another preconditioner");
  PetscCall(MatMatMult(fsai->inverse.matrix, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &W));
  PetscCall(MatTransposeMatMult(fsai->inverse.matrix, W, MAT_REUSE_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(MatProductClear(Y));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUFSAIViewPattern(const GpFsaiOptions *o, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (o->adaptive) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  adaptive pattern: at most %" PetscInt_FMT " steps of %" PetscInt_FMT " entries, tolerance %g\n", o->steps, o->step_size, (double)o->tolerance));
  } else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  static pattern: lower triangle of A^%" PetscInt_FMT "\n", o->power));
    if (o->threshold > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  threshold for entries of A: %g\n", (double)o->threshold));
  }
  if (o->filter > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  filter for entries of the factor: %g\n", (double)o->filter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_GPUFSAI(PC pc, PetscViewer viewer)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;
  PetscInt    n;
  PetscBool   ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUFSAIViewPattern(&fsai->options.rows, viewer));
  PetscCall(PCGPUInverseViewOptions_Private(pc, "factor", fsai->options.local, fsai->options.storage, viewer));
  if (!fsai->inverse.matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUInverseView_Private(&fsai->inverse, "factor", viewer));
  PetscCall(MatGetSize(fsai->inverse.matrix, &n, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  Kaporin's condition number: %.4g times that of Jacobi\n", n ? exp(-fsai->inverse.measure / n) : 1.));
  PetscCall(PCGPUInverseViewInfo_Private(&fsai->inverse, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = G'(G r) */
static PetscErrorCode PCGPUFSAIApplyRecorded(void *ctx, const double r[], double z[])
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)ctx;

  PetscFunctionBegin;
  PetscCall(GpOpMult(fsai->factor, PETSC_FALSE, r, NULL, fsai->between));
  PetscCall(GpOpMult(fsai->factor, PETSC_TRUE, fsai->between, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offers the application to Krylov methods whose loop is recorded. */
static PetscErrorCode PCGPUFSAIGetRecorded_GPUFSAI(PC pc, PCGPURecorded *recorded)
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;
  Mat         G    = fsai->inverse.matrix;

  PetscFunctionBegin;
  if (!G || !MatGPUCSRIs_Private(G)) recorded->why = "a preconditioner whose set-up has failed";
  else {
    PetscCall(MatGPUCSRGetOperator_Private(G, PETSC_TRUE, &fsai->factor));
    if (GpOpIsStreamed(fsai->factor)) recorded->why = "a factor that is streamed";
  }
  if (recorded->why) PetscFunctionReturn(PETSC_SUCCESS);
  if (fsai->between && fsai->entries != G->rmap->n) PetscCall(PetscGPUCSRDeviceFree(fsai->factor->dev, (size_t)fsai->entries * sizeof(double), &fsai->between));
  if (!fsai->between) PetscCall(PetscGPUCSRDeviceMalloc(fsai->factor->dev, "allocating a vector of PC type gpufsai", (size_t)G->rmap->n * sizeof(double), &fsai->between));
  fsai->entries     = G->rmap->n;
  fsai->dev         = fsai->factor->dev;
  recorded->apply   = PCGPUFSAIApplyRecorded;
  recorded->ctx     = fsai;
  recorded->version = fsai->factor->version;
  recorded->flops   = 4.0 * fsai->factor->side[0].csr.nnz - 2.0 * (PetscLogDouble)G->rmap->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GPUFSAI(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_GPUFSAI(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCGPUFSAI - PCGPUFSAI = "gpufsai" - A factorised sparse approximate inverse for symmetric positive definite matrices: the preconditioner G'G is applied by two
  products on the GPU

  Options Database Keys:
+ -pc_type gpufsai                         - sets the type
. -pc_gpufsai_pattern <static,adaptive>    - pattern of G: that of a power of A, or one that grows with the values
. -pc_gpufsai_power <1>                    - static: the power of A whose lower triangle is the pattern
. -pc_gpufsai_threshold <0>                - static: entries a(i,j) of A with |a(i,j)| <= threshold sqrt(a(i,i) a(j,j)) are not used for the pattern
. -pc_gpufsai_steps <5>                    - adaptive: maximum number of times that a row grows
. -pc_gpufsai_step_size <3>                - adaptive: maximum number of entries by which a row grows each time
. -pc_gpufsai_tolerance <1e-3>             - adaptive: a row stops growing when a step reduces its functional (see the notes) by less than this fraction
. -pc_gpufsai_filter <0>                   - entries g(i,j) of G with |g(i,j)| sqrt(a(j,j)) <= filter g(i,i) sqrt(a(i,i)) are dropped
. -pc_gpufsai_local <bool>                 - on several ranks, the pattern of a row stays on its rank (default)
. -pc_gpufsai_storage <single,double,auto> - precision of the values of G on the device
. -pc_gpufsai_host <bool>                  - the set-up runs on the host, also with a GPU
- -pc_gpufsai_threads <0>                  - number of threads of a set-up on the host; 0: one for each core, at most 8

  Level: intermediate

  Notes:
  G is a lower triangular matrix of type `MATGPUCSR`. Row i has the pattern J, whose last column is i. Let A(J,J) y = e, where e is the last unit vector. The row is y divided by the square root of
  its last entry. Among all matrices with this pattern and with a unit diagonal of GAG', G has the smallest Kaporin condition number of GAG': the mean of the eigenvalues divided by their
  geometric mean.

  The matrix must be symmetric positive definite; then the preconditioner is, too. The set-up does not check the symmetry. For a nonsymmetric matrix the preconditioner is
  useless. If a matrix A(J,J) is not positive definite, `KSPSolve()` stops with `KSP_DIVERGED_PC_FAILED`, and -info names the row. A must store its diagonal entries.

  The set-up runs on the GPU. Threads of the host compute it if the pattern is adaptive, if a filter is set, or if a row has more than 1024 entries. Results do not depend on the number of threads. -ksp_view prints where the
  set-up ran. The application runs on the device and copies no vector of type `VECGPU`.

  With an adaptive pattern, each row grows in steps. The functional of a row is the minimum of z'A(J,J)z over all z with the last entry 1. Each step adds the entries with the largest gradient of the functional.

  If only the values of the matrix have changed, the pattern of G is kept, and its values are computed again. The threshold, the filter and the adaptive steps are not applied again.

  The matrix may have any type that `MatConvert()` converts to `MATAIJ`. G has the options prefix of the preconditioner followed by pc_gpufsai_: for example, -pc_gpufsai_mat_gpucsr_kernel selects its
  kernel.

  `PCGPUFSAISetPower()` and similar functions have no effect if the preconditioner has another type. Call `PCSetType()` first.

  `PCApplySymmetricLeft()` multiplies by G, `PCApplySymmetricRight()` by G'.

  References:
+ * - L. Y. Kolotilina and A. Y. Yeremin, Factorized sparse approximate inverse preconditionings I: theory, SIAM J. Matrix Anal. Appl. 14 (1993)
- * - C. Janna and M. Ferronato, Adaptive pattern research for block FSAI preconditioning, SIAM J. Sci. Comput. 33 (2011)

.seealso: `PCGPUFSAISetPattern()`, `PCGPUFSAISetPower()`, `PCGPUFSAISetThreshold()`, `PCGPUFSAISetAdaptive()`, `PCGPUFSAISetFilter()`, `PCGPUFSAISetLocal()`, `PCGPUFSAISetStorage()`, `MATGPUCSR`
M*/
PetscErrorCode PCCreate_GPUFSAI(PC pc)
{
  PC_GPUFSAI *fsai;

  PetscFunctionBegin;
  PetscCall(PetscNew(&fsai));
  PetscCall(PCGPUFSAISetDefaults_Private(&fsai->options));
  pc->data                     = fsai;
  pc->ops->setup               = PCSetUp_GPUFSAI;
  pc->ops->apply               = PCApply_GPUFSAI;
  pc->ops->applytranspose      = PCApply_GPUFSAI;
  pc->ops->matapply            = PCMatApply_GPUFSAI;
  pc->ops->applysymmetricleft  = PCApplySymmetricLeft_GPUFSAI;
  pc->ops->applysymmetricright = PCApplySymmetricRight_GPUFSAI;
  pc->ops->setfromoptions      = PCSetFromOptions_GPUFSAI;
  pc->ops->view                = PCView_GPUFSAI;
  pc->ops->reset               = PCReset_GPUFSAI;
  pc->ops->destroy             = PCDestroy_GPUFSAI;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PC_GPU_GET_RECORDED, PCGPUFSAIGetRecorded_GPUFSAI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
