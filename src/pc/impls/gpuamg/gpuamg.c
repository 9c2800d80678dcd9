/* The preconditioner type PCGPUAMG: set-up, application, view and creation. */
/* MANSEC = PC */
#include "pc/impls/gpuamg/gpuamg.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include <petsctime.h>

#include <math.h>

PetscLogEvent PC_GPUAMG_SetUp;

/* Tells whether the interpolation of the last set-up can be kept.  If the matrix is the same object, PETSc's flag tells whether its pattern has changed.  If it is another object, the patterns are
   compared. */
static PetscErrorCode PCGPUAMGCanRefill(PC pc, PetscBool *refill)
{
  PC_GPUAMG    *amg = (PC_GPUAMG *)pc->data;
  PetscObjectId id;
  uint64_t      pattern = 0;
  const char   *obstacle;
  PetscBool     plain;
  int           same;

  PetscFunctionBegin;
  *refill = (PetscBool)(amg->n && amg->options.reuse == PC_GPUAMG_REUSE_INTERPOLATION);
  if (*refill && amg->device) {
    PetscCall(PCGPUAMGDeviceGetObstacle_Private(pc, &obstacle));
    *refill = (PetscBool)!obstacle;
  }
  if (!*refill) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  if (id == amg->matrix) {
    *refill = (PetscBool)(pc->flag != DIFFERENT_NONZERO_PATTERN);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  if (amg->device) PetscCall(PCGPUAMGDeviceHashPattern_Private(pc->pmat, &pattern));
  else if (plain) PetscCall(PCGPUAMGHashPattern_Private(pc->pmat, &pattern));
  same = plain && pattern == amg->pattern;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  *refill = (PetscBool) !!same;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the cause of a failure to the Krylov method, or stops with an error if the user wants that. */
static PetscErrorCode PCGPUAMGFail(PC pc)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_CONV_FAILED, "PC type %s, %s; use another preconditioner", PCGPUAMG, amg->why);
  PetscCall(PetscInfo(pc, "The set-up has failed: %s\n", amg->why));
  PetscCall(PCReset_GPUAMG(pc));
  pc->failedreason = PC_SUBPC_ERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GPUAMG(PC pc)
{
  PC_GPUAMG     *amg = (PC_GPUAMG *)pc->data;
  PetscObjectId  id;
  PetscLogDouble begin, end;
  PetscBool      refill;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_SetUp, pc, 0, 0, 0));
  PetscCall(PetscTime(&begin));
  amg->why[0]      = 0;
  pc->failedreason = PC_NOERROR;
  PetscCall(PCGPUAMGCanRefill(pc, &refill));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  if (!refill) {
    PetscCall(PCReset_GPUAMG(pc));
    PetscCall(PCGPUAMGBuild_Private(pc));
    if (!amg->why[0] && !amg->device) PetscCall(PCGPUAMGHashPattern_Private(amg->level[0].A, &amg->pattern));
  } else {
    const Mat former = amg->level[0].A;

    PetscCall(PCGPUAMGRefill_Private(pc));
    if (amg->level[0].A != former) PetscCall(PCDestroy(&amg->mg)); /* the cycle keeps matrices of the former set-up */
  }
  amg->matrix = id;
  if (!amg->why[0] && !amg->device) PetscCall(PCGPUAMGSetUpCycle_Private(pc));
  if (amg->why[0]) PetscCall(PCGPUAMGFail(pc));
  PetscCall(PetscTime(&end));
  amg->seconds = end - begin;
  PetscCall(PetscLogEventEnd(PC_GPUAMG_SetUp, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the cycle or its transpose.  While PCSetReusePreconditioner() is in effect, the finest smoother keeps its own data, too. */
static PetscErrorCode PCGPUAMGApply(PC pc, PetscBool transpose, Vec x, Vec y)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;
  KSP        ksp;
  PC         inner;

  PetscFunctionBegin;
  if (amg->device) {
    PetscCall(PCGPUAMGDeviceApply_Private(pc, transpose, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!amg->mg) { /* the set-up has failed; infinite entries make the Krylov method stop */
    PetscCall(VecSet(y, HUGE_VAL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCMGGetSmoother(amg->mg, amg->n - 1, &ksp));
  PetscCall(KSPGetPC(ksp, &inner));
  PetscCall(PCSetReusePreconditioner(inner, pc->reusepreconditioner));
  PetscCall(PCSetReusePreconditioner(amg->mg, pc->reusepreconditioner));
  if (transpose) PetscCall(PCApplyTranspose(amg->mg, x, y));
  else PetscCall(PCApply(amg->mg, x, y));
  pc->failedreason = amg->mg->failedreason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_GPUAMG(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCGPUAMGApply(pc, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_GPUAMG(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCGPUAMGApply(pc, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUAMGViewOptions(const PCGPUAMGOptions *o, PetscViewer viewer)
{
  const PetscBool chebyshev = (PetscBool)(o->smoother == PC_GPUAMG_SMOOTHER_CHEBYSHEV || o->smoother == PC_GPUAMG_SMOOTHER_GPUFSAI);

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  smoothed aggregation, threshold %g, %s cycle\n", (double)o->threshold, o->cycle == PC_GPUAMG_CYCLE_W ? "W" : "V"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  smoother: %s, ", PCGPUAMGSmoothers[o->smoother]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (chebyshev) PetscCall(PetscViewerASCIIPrintf(viewer, "degree %" PetscInt_FMT ", eigenvalue ratio %g\n", o->sweeps, (double)o->ratio));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " iterations\n", o->sweeps));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  storage of the levels on the device: %s\n", MatGPUCSRStorages[o->storage]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  kept for new values: %s\n", PCGPUAMGReuses[o->reuse]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of bytes of a matrix in compressed rows with 32-bit columns. */
static PetscLogDouble PCGPUAMGGetBytes(PC_GPUAMG *amg, Mat A, PetscInt64 rows, PetscInt64 nonzeros)
{
  const int value = (amg->device || MatGPUCSRIs_Private(A)) && amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE ? 4 : 8;

  return (PetscLogDouble)nonzeros * (4 + value) + (PetscLogDouble)rows * 4;
}

/* Prints a table of the levels, and sums over them. */
static PetscErrorCode PCGPUAMGViewLevels(PC_GPUAMG *amg, PetscViewer viewer)
{
  PetscLogDouble rows = 0, nonzeros = 0, bytes = 0;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels: %" PetscInt_FMT "\n", amg->n));
  for (PetscInt level = 0; level < amg->n; level++) {
    const PCGPUAMGLevel *L = &amg->level[level];

    rows += (PetscLogDouble)L->rows;
    nonzeros += (PetscLogDouble)L->nonzeros;
    if (level) bytes += PCGPUAMGGetBytes(amg, L->A, L->rows, L->nonzeros);
    if (level + 1 < amg->n) bytes += 2 * PCGPUAMGGetBytes(amg, L->P, L->rows, L->pnonzeros);
    PetscCall(PetscViewerASCIIPrintf(viewer, "    level %" PetscInt_FMT ": %" PetscInt_FMT " rows, %" PetscInt64_FMT " nonzeros, block size %" PetscInt_FMT "\n", level, L->rows, L->nonzeros, L->block));
    if (L->high > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "      largest eigenvalue of D^-1 A: at most %g%s\n", (double)L->high, L->norm ? " (norm of a nonsymmetric matrix)" : ""));
    if (level + 1 < amg->n) PetscCall(PetscViewerASCIIPrintf(viewer, "      prolongator: %" PetscInt64_FMT " nonzeros\n", L->pnonzeros));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  operator complexity: %.4g, grid complexity: %.4g\n", amg->level[0].nonzeros ? nonzeros / amg->level[0].nonzeros : 1, amg->level[0].rows ? rows / amg->level[0].rows : 1));
  if (amg->exact) PetscCall(PetscViewerASCIIPrintf(viewer, "  coarsest level: inverse, dimension of the null space: %" PetscInt_FMT "\n", amg->dropped));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  coarsest level: smoother\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  memory: %.4g MB for prolongators, their transposes and coarse operators as compressed rows\n", bytes / 1e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_GPUAMG(PC pc, PetscViewer viewer)
{
  PC_GPUAMG        *amg = (PC_GPUAMG *)pc->data;
  PetscViewerFormat format;
  PetscBool         ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGViewOptions(&amg->options, viewer));
  if (!amg->mg && !amg->device) {
    if (amg->why[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  the set-up has failed: %s\n", amg->why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (amg->device) PetscCall(PetscViewerASCIIPrintf(viewer, "  place of the levels: device\n"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  place of the levels: matrices of PETSc%s%s\n", amg->obstacle ? ", because " : "", amg->obstacle ? amg->obstacle : ""));
  PetscCall(PCGPUAMGViewLevels(amg, viewer));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  set-ups: %" PetscInt_FMT ", %" PetscInt_FMT " of them kept the interpolation; last one: %.4g s\n", amg->setups, amg->refills, amg->seconds));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL && amg->mg) PetscCall(PCView(amg->mg, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GPUAMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_GPUAMG(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCGPUAMG - PCGPUAMG = "gpuamg" - Algebraic multigrid by smoothed aggregation, with a cycle that runs on the GPU

  Options Database Keys:
+ -pc_type gpuamg                                       - sets the type
. -pc_gpuamg_threshold <0.02>                           - connections of at most this strength are ignored on the finest level, half of it on the next, and so on
. -pc_gpuamg_levels <20>                                - maximum number of levels
. -pc_gpuamg_coarse_limit <200>                         - a level with at most this number of rows is solved by its inverse
. -pc_gpuamg_cycle <v,w>                                - the cycle
. -pc_gpuamg_smoother <chebyshev,l1jacobi,gpufsai,sor>  - the smoother
. -pc_gpuamg_sweeps <2>                                 - degree of the Chebyshev polynomial, or number of iterations, before and after each coarse-grid correction
. -pc_gpuamg_ratio <10>                                 - quotient of the largest and the smallest eigenvalue that a Chebyshev smoother damps
. -pc_gpuamg_lanczos_steps <10>                         - maximum number of Lanczos steps that estimate the largest eigenvalue of a level
. -pc_gpuamg_damping <1.3333>                           - factor w of the prolongator (I - w/h D^-1 A) P0; 0: the prolongator is not smoothed
. -pc_gpuamg_storage <single,double,auto>               - precision of prolongators, coarse operators and the coarsest inverse on the device
. -pc_gpuamg_hierarchy <auto,device,matrices>           - whether the levels are on the device only, or matrices of PETSc
- -pc_gpuamg_reuse <none,interpolation>                 - what is kept for new values with the same nonzero pattern

  Level: intermediate

  Notes:
  The matrix should be symmetric positive definite, or semidefinite with a right-hand side in its range. For a nonsymmetric matrix, the maximum norm of D^-1 A replaces the estimate of its largest eigenvalue, where D is the
  diagonal of the matrix A.

  A node is a block of unknowns; `MatSetBlockSize()` sets the size of the blocks. Aggregates are sets of nodes. The near-null space consists of the vectors of `MatSetNearNullSpace()`, by default one constant vector
  for each component of a block. For elasticity, set the rigid-body modes.

  The prolongator is (I - w/h D^-1 A) P0, where w is the value of -pc_gpuamg_damping and h is an upper bound of the eigenvalues of D^-1 A. The columns of P0 are orthonormal bases of the near-null space on the aggregates.

  The roots of the aggregates are a maximal independent set at distance 2. Aggregates do not depend on the order in which nodes are processed. All nodes of an aggregate are on one process.

  The matrix may have any type that `MatConvert()` converts to `MATAIJ`. With the type `MATGPUCSR`, the cycle copies no vectors of type `VECGPU` between host and device. On one process, the levels of a
  `MATGPUCSR` matrix are on the device and set up there, except for the inverse of the coarsest level (`PCGPUAMGSetHierarchy()` lists the conditions). Otherwise the levels are matrices of PETSc. Their connections, aggregates and
  bases of the near-null space are then computed on the host.

  The coarsest level is solved by a product with its dense inverse. Each process computes the inverse of the whole level. If the level is singular, its pseudo-inverse is used. If coarsening stops at more rows than the limit, the smoother
  replaces the inverse. -ksp_view prints which of the two is used.

  The set-up fails if an entry is not finite, if the diagonal entry of a row that is not zero is not positive, or if an eigenvalue is found to be negative. The solve then stops with `KSP_DIVERGED_PC_FAILED`. -ksp_view and -info print the reason.

  If the levels are matrices of PETSc, the cycle is a `PCMG` with the options prefix of the preconditioner followed by pc_gpuamg_. Such an option selects this place of the levels. For example, -pc_gpuamg_mg_levels_ksp_max_it and -pc_gpuamg_mg_levels_pc_type change the smoother of all levels except the coarsest one.

  For a `MATGPUCSR` operator, the smoother sor uses colours on all levels but the finest. The finest level is the operator itself: set -mat_gpucsr_sor multicolor for it.

  `PCGPUAMGSetThreshold()` and similar functions have no effect if the preconditioner has another type. Call `PCSetType()` first.

  References:
+ * - P. Vanek, J. Mandel and M. Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems, Computing 56 (1996)
- * - N. Bell, S. Dalton and L. N. Olson, Exposing fine-grained parallelism in algebraic multigrid methods, SIAM J. Sci. Comput. 34 (2012)

.seealso: `PCGPUAMGSetThreshold()`, `PCGPUAMGSetLevels()`, `PCGPUAMGSetCoarseLimit()`, `PCGPUAMGSetCycle()`, `PCGPUAMGSetSmoother()`, `PCGPUAMGSetSweeps()`, `PCGPUAMGSetRatio()`, `PCGPUAMGSetStorage()`, `PCGPUAMGSetHierarchy()`, `PCGPUAMGSetReuse()`, `PCGAMG`, `PCMG`
M*/
PetscErrorCode PCCreate_GPUAMG(PC pc)
{
  PC_GPUAMG *amg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&amg));
  PetscCall(PCGPUAMGSetDefaults_Private(&amg->options));
  pc->data                = amg;
  pc->ops->setup          = PCSetUp_GPUAMG;
  pc->ops->apply          = PCApply_GPUAMG;
  pc->ops->applytranspose = PCApplyTranspose_GPUAMG;
  pc->ops->setfromoptions = PCSetFromOptions_GPUAMG;
  pc->ops->view           = PCView_GPUAMG;
  pc->ops->reset          = PCReset_GPUAMG;
  pc->ops->destroy        = PCDestroy_GPUAMG;
  PetscFunctionReturn(PETSC_SUCCESS);
}
