/* Generalised additive Schwarz without copies of vectors: the type gasm.

   PETSc gathers the entries of all subdomains in a standard vector, and places parts of its host array in the vectors of the subdomains: each application copies two vectors to the host and two
   back.  Here the gathered vector is of type gpu, and the vectors of the subdomains are local vectors of it.  Everything else is PETSc's, also the application to vectors of other types, and
   with -pc_gasm_use_hierachical_partitioning, which renumbers the rows. */
#include "pc/impls/gasm/gpugasm.h"
#include "pc/gpupcblocks.h"
#include "pc/gpupcderived.h"
#include "vec/gpuvecimpl.h"

typedef struct {
  PCGASMType  type;
  PetscBool   gpu;          /* the members below exist, and all vectors are of type gpu; the same on all ranks */
  PCGPUBlocks blocks;       /* subdomains of this rank */
  Vec         gx, gy;       /* entries of the outer subdomains, one subdomain after the other */
  VecScatter  outer, inner; /* from a vector of the matrix to gx: all entries, those of inner subdomains */
} PC_GPUGASM;

static PetscErrorCode (*CreateGASM)(PC);              /* PETSc's constructor */
static PetscErrorCode (*SetTypeGASM)(PC, PCGASMType); /* PETSc's function of PCGASMSetType() */

static PetscErrorCode PCReset_GPUGASM(void *data)
{
  PC_GPUGASM *g = (PC_GPUGASM *)data;

  PetscFunctionBegin;
  PetscCall(PCGPUBlocksDestroy_Private(&g->blocks));
  PetscCall(VecDestroy(&g->gx));
  PetscCall(VecDestroy(&g->gy));
  PetscCall(VecScatterDestroy(&g->outer));
  PetscCall(VecScatterDestroy(&g->inner));
  g->gpu = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the vectors of the subdomains, and tells whether all of them, on all ranks, and those of the matrix are of type gpu. */
static PetscErrorCode PCGPUGASMCreateVecs(PC pc, PC_GPUGASM *g, Vec whole)
{
  PetscInt n;
  KSP     *ksp;
  int      here, all;

  PetscFunctionBegin;
  PetscCall(PCGASMGetSubKSP(pc, &n, NULL, &ksp));
  PetscCall(PCGPUBlocksCreate_Private(n, ksp, &g->blocks));
  here = g->blocks.gpu && VecGPUIs(whole);
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  g->gpu = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the scatter of the entries `from` of a vector of the matrix to the positions `to` of gx. */
static PetscErrorCode PCGPUGASMCreateScatter(PC pc, PC_GPUGASM *g, Vec whole, PetscInt n, const PetscInt from[], const PetscInt to[], VecScatter *scatter)
{
  IS is[2];

  PetscFunctionBegin;
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), n, from, PETSC_USE_POINTER, &is[0]));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), n, to, PETSC_USE_POINTER, &is[1]));
  PetscCall(VecScatterCreate(whole, is[0], g->gx, is[1], scatter));
  PetscCall(ISDestroy(&is[0]));
  PetscCall(ISDestroy(&is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUGASMScatter(VecScatter scatter, Vec from, Vec to, InsertMode mode, ScatterMode direction)
{
  PetscFunctionBegin;
  PetscCall(VecScatterBegin(scatter, from, to, mode, direction));
  PetscCall(VecScatterEnd(scatter, from, to, mode, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the entries of gx that belong to the inner subdomains, as PETSc does: the rows of a rank belong to its subdomains one after the other, in the sizes of the inner index sets. */
static PetscErrorCode PCGPUGASMFindInner(PC pc, PC_GPUGASM *g, const IS inner[], IS outer[], PetscBool inside[])
{
  PetscInt          *number, size, n, all = 0;
  PetscScalar       *value;
  const PetscScalar *found;
  Vec                owner, gathered;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->blocks.n, &number));
  PetscCall(PetscObjectsListGetGlobalNumbering(PetscObjectComm((PetscObject)pc), g->blocks.n, (PetscObject *)outer, NULL, number));
  for (PetscInt k = 0; k < g->blocks.n; k++) {
    PetscCall(ISGetLocalSize(inner[k], &size));
    all += size;
  }
  PetscCall(VecGetLocalSize(g->gx, &n));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)pc), all, PETSC_DETERMINE, &owner));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)pc), n, PETSC_DETERMINE, &gathered));
  PetscCall(VecGetArrayWrite(owner, &value));
  all = 0;
  for (PetscInt k = 0; k < g->blocks.n; k++) {
    PetscCall(ISGetLocalSize(inner[k], &size));
    for (PetscInt i = 0; i < size; i++) value[all++] = number[k];
  }
  PetscCall(VecRestoreArrayWrite(owner, &value));
  PetscCall(PCGPUGASMScatter(g->outer, owner, gathered, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(gathered, &found));
  all = 0;
  for (PetscInt k = 0; k < g->blocks.n; k++) {
    PetscCall(ISGetLocalSize(outer[k], &size));
    for (PetscInt i = 0; i < size; i++, all++) inside[all] = (PetscBool)(PetscRealPart(found[all]) == number[k]);
  }
  PetscCall(VecRestoreArrayRead(gathered, &found));
  PetscCall(VecDestroy(&owner));
  PetscCall(VecDestroy(&gathered));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates gx, gy and the scatters. */
static PetscErrorCode PCGPUGASMCreateScatters(PC pc, PC_GPUGASM *g, Vec whole)
{
  IS        *inner, *outer;
  PetscInt  *entry, *position, n = 0, all = 0, kept = 0, start, size;
  PetscBool *inside;

  PetscFunctionBegin;
  PetscCall(PCGASMGetSubdomains(pc, NULL, &inner, &outer));
  for (PetscInt k = 0; k < g->blocks.n; k++) {
    PetscCall(ISGetLocalSize(outer[k], &size));
    n += size;
  }
  PetscCall(VecCreate(PetscObjectComm((PetscObject)pc), &g->gx));
  PetscCall(VecSetSizes(g->gx, n, PETSC_DETERMINE));
  PetscCall(VecSetType(g->gx, VECGPU));
  PetscCall(VecDuplicate(g->gx, &g->gy));
  PetscCall(VecGetOwnershipRange(g->gx, &start, NULL));
  PetscCall(PetscMalloc3(n, &entry, n, &position, n, &inside));
  for (PetscInt k = 0; k < g->blocks.n; k++) {
    const PetscInt *indices;

    PetscCall(ISGetLocalSize(outer[k], &size));
    PetscCall(ISGetIndices(outer[k], &indices));
    for (PetscInt i = 0; i < size; i++, all++) {
      entry[all]    = indices[i];
      position[all] = start + all;
    }
    PetscCall(ISRestoreIndices(outer[k], &indices));
  }
  PetscCall(PCGPUGASMCreateScatter(pc, g, whole, n, entry, position, &g->outer));
  PetscCall(PCGPUGASMFindInner(pc, g, inner, outer, inside));
  for (PetscInt i = 0; i < n; i++) {
    if (!inside[i]) continue;
    entry[kept]      = entry[i];
    position[kept++] = position[i];
  }
  PetscCall(PCGPUGASMCreateScatter(pc, g, whole, kept, entry, position, &g->inner));
  PetscCall(PetscFree3(entry, position, inside));
  PetscCall(PetscFree(inner));
  PetscCall(PetscFree(outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUGASMSolveBlock(PC pc, int transpose, KSP ksp, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (transpose) PetscCall(KSPSolveTranspose(ksp, x, y));
  else PetscCall(KSPSolve(ksp, x, y));
  PetscCall(KSPCheckSolve(ksp, pc, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose exchanges restriction and interpolation. */
static PetscErrorCode PCGPUGASMApply(PC pc, PetscBool transpose, PetscErrorCode (*petscs)(PC, Vec, Vec), PC_GPUGASM *g, Vec x, Vec y)
{
  const PetscBool restricted   = (PetscBool)(g->type & (transpose ? PC_GASM_INTERPOLATE : PC_GASM_RESTRICT) ? PETSC_TRUE : PETSC_FALSE); /* gathers outer subdomains */
  const PetscBool interpolated = (PetscBool)(g->type & (transpose ? PC_GASM_RESTRICT : PC_GASM_INTERPOLATE) ? PETSC_TRUE : PETSC_FALSE); /* adds outer subdomains */

  PetscFunctionBegin;
  if (!g->gpu || !VecGPUIs(x) || !VecGPUIs(y)) {
    PetscCall((*petscs)(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!restricted) PetscCall(VecSet(g->gx, 0));
  PetscCall(PCGPUGASMScatter(restricted ? g->outer : g->inner, x, g->gx, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecSet(g->gy, 0));
  PetscCall(PCGPUBlocksApply_Private(pc, &g->blocks, PCGPUGASMSolveBlock, transpose, g->gx, g->gy));
  PetscCall(VecSet(y, 0));
  PetscCall(PCGPUGASMScatter(interpolated ? g->outer : g->inner, g->gy, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PC_GPU_GASM(Name, op, transpose) \
  static PetscErrorCode PC##Name##_GPUGASM(PC pc, Vec x, Vec y) \
  { \
    PC_GPUGASM          *g; \
    const struct _PCOps *petscs; \
\
    PetscFunctionBegin; \
    PetscCall(PCGPUDerivedGet_Private(pc, &g, &petscs)); \
    PetscCall(PCGPUGASMApply(pc, transpose, petscs->op, g, x, y)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
PC_GPU_GASM(Apply, apply, PETSC_FALSE)
PC_GPU_GASM(ApplyTranspose, applytranspose, PETSC_TRUE)

/* PETSc keeps the subdomains until PCReset(), so new values need nothing. */
static PetscErrorCode PCSetUp_GPUGASM(PC pc, void *data)
{
  PC_GPUGASM *g            = (PC_GPUGASM *)data;
  PetscBool   hierarchical = PETSC_FALSE;
  const char *prefix;
  Vec         whole;

  PetscFunctionBegin;
  if (!pc->setupcalled) {
    PetscCall(PCReset_GPUGASM(g));
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, prefix, "-pc_gasm_use_hierachical_partitioning", &hierarchical, NULL));
    PetscCall(MatCreateVecs(pc->pmat, &whole, NULL));
    if (!hierarchical) PetscCall(PCGPUGASMCreateVecs(pc, g, whole));
    if (g->gpu) PetscCall(PCGPUGASMCreateScatters(pc, g, whole));
    PetscCall(VecDestroy(&whole));
  }
  if (g->gpu) {
    pc->ops->apply = PCApply_GPUGASM;
    if (pc->ops->applytranspose) pc->ops->applytranspose = PCApplyTranspose_GPUGASM;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGASMSetType_GPUGASM(PC pc, PCGASMType type)
{
  PC_GPUGASM          *g;
  const struct _PCOps *petscs;

  PetscFunctionBegin;
  PetscCall((*SetTypeGASM)(pc, type));
  PetscCall(PCGPUDerivedGet_Private(pc, &g, &petscs));
  g->type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GPUGASM(PC pc)
{
  static const PCGPUDerivedOps ops = {PCSetUp_GPUGASM, PCReset_GPUGASM, sizeof(PC_GPUGASM)};
  PC_GPUGASM                  *g;
  const struct _PCOps         *petscs;

  PetscFunctionBegin;
  PetscCall((*CreateGASM)(pc));
  PetscCall(PCGPUDerive_Private(pc, &ops));
  PetscCall(PCGPUDerivedGet_Private(pc, &g, &petscs));
  g->type = PC_GASM_RESTRICT; /* PETSc's default */
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGASMSetType_C", &SetTypeGASM));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGASMSetType_C", PCGASMSetType_GPUGASM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPURegisterGASM_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCGPURegisterDerived_Private(PCGASM, &CreateGASM, PCCreate_GPUGASM));
  PetscFunctionReturn(PETSC_SUCCESS);
}
