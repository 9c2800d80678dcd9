/* Memory and graphs of recorded Krylov methods. */
#include "ksp/impls/gpukrylov/gpukrylov.h"

static PetscErrorCode KSPGPUFreeGraphs(KSP_GPU *g)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < g->graphs; k++) PetscCall(PetscGPUCSRGraphDestroy(&g->graph[k]));
  PetscCall(PetscFree(g->graph));
  g->graphs = 0;
  g->op     = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGPUFree_Private(KSP_GPU *g)
{
  PetscFunctionBegin;
  if (!g->dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUFreeGraphs(g));
  PetscCall(PetscGPUCSRDeviceFree(g->dev, (size_t)g->allocated * (size_t)g->n * sizeof(double), &g->vectors));
  PetscCall(PetscGPUCSRDeviceFree(g->dev, (size_t)g->allocatedsums * GP_DEV_PARTS * sizeof(double), &g->partial));
  PetscCall(PetscGPUCSRDeviceFree(g->dev, (size_t)g->allocatedextra * sizeof(double), &g->work));
  PetscCall(PetscGPUCSRDeviceFree(g->dev, sizeof(GpKrylovState), &g->state));
  PetscCall(PetscGPUCSRDeviceFree(g->dev, (size_t)g->ring * sizeof(double), &g->norms));
  PetscCall(PetscGPUCSRDeviceFreePinned(g->dev, &g->polled));
  PetscCall(PetscGPUCSRDeviceFreePinned(g->dev, &g->pollnorms));
  for (int k = 0; k < 2; k++) {
    if (g->copied[k]) GpDevEventDestroy(g->dev, g->copied[k]);
    g->copied[k] = NULL;
  }
  g->n = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUAllocateMemory(KSP_GPU *g, GpDev dev, PetscInt n)
{
  const char *what = "allocating memory for a Krylov method";

  PetscFunctionBegin;
  g->dev            = dev;
  g->n              = n;
  g->allocated      = g->count;
  g->ring           = g->batch + 1;
  g->allocatedsums  = g->sums;
  g->allocatedextra = g->extra;
  PetscCall(PetscGPUCSRDeviceMalloc(dev, what, (size_t)g->count * (size_t)n * sizeof(double), &g->vectors));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, what, (size_t)g->sums * GP_DEV_PARTS * sizeof(double), &g->partial));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, what, (size_t)g->extra * sizeof(double), &g->work));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, what, sizeof(GpKrylovState), &g->state));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, what, (size_t)g->ring * sizeof(double), &g->norms));
  PetscCall(PetscGPUCSRDeviceMallocPinned(dev, 2 * sizeof(GpKrylovState), &g->polled));
  PetscCall(PetscGPUCSRDeviceMallocPinned(dev, 2 * (size_t)g->ring * sizeof(double), &g->pollnorms));
  for (int k = 0; k < 2; k++) PetscCallGp(dev, "creating an event", GpDevEventCreate(dev, &g->copied[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the memory.  A failure frees everything, so that the next solve tries again. */
PetscErrorCode KSPGPUAllocate_Private(KSP_GPU *g, GpDev dev, PetscInt n)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  if (g->n == n && g->allocated >= g->count && g->allocatedsums >= g->sums && g->allocatedextra >= g->extra && g->ring > g->batch) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUFree_Private(g));
  err = KSPGPUAllocateMemory(g, dev, n);
  if (err) PetscCall(KSPGPUFree_Private(g));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches the iterations of the graph g->capturing. */
static PetscErrorCode KSPGPULaunchIterations(void *ctx)
{
  KSP_GPU       *g     = (KSP_GPU *)ctx;
  const PetscInt first = g->capturing * g->steps, last = g->period > 1 ? PetscMin(first + g->steps, g->period) : g->steps;

  PetscFunctionBegin;
  for (PetscInt k = first; k < last; k++) PetscCall((*g->method->iterate)(g, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool KSPGPUIsCaptured(const KSP_GPU *g, GpOp op, KSPGPUPCKind pc, PCSide side, const PCGPURecorded *recorded)
{
  if (!g->graphs || g->op != op || g->version != op->version || g->pc != pc || g->side != side || g->covered != g->period) return PETSC_FALSE;
  if (g->recordedexact != g->exact || g->exactversion != g->exact->version) return PETSC_FALSE;
  return (PetscBool)(pc != KSP_GPU_PC_RECORDED || (g->recorded.apply == recorded->apply && g->recorded.ctx == recorded->ctx && g->recorded.version == recorded->version));
}

/* Captures graphs of `batch` iterations, unless the existing ones are valid.  If the matrix is streamed, a graph has one iteration, because kernels that are launched after the last iteration stream the
   matrix too. */
PetscErrorCode KSPGPUCapture_Private(KSP_GPU *g, GpOp op, KSPGPUPCKind pc, PCSide side, const PCGPURecorded *recorded)
{
  PetscFunctionBegin;
  g->next = 0;
  if (KSPGPUIsCaptured(g, op, pc, side, recorded)) {
    g->recorded = *recorded; /* flops may differ */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGPUFreeGraphs(g));
  g->pc            = pc;
  g->side          = side;
  g->recorded      = *recorded;
  g->op            = op;
  g->version       = op->version;
  g->covered       = g->period;
  g->recordedexact = g->exact;
  g->exactversion  = g->exact->version;
  g->steps         = GpOpIsStreamed(op) ? 1 : g->batch;
  PetscCall(PetscCalloc1((g->period + g->steps - 1) / g->steps, &g->graph));
  for (PetscInt k = 0; k < (g->period + g->steps - 1) / g->steps; k++) {
    g->capturing = k;
    PetscCall(PetscGPUCSRGraphCreate(g->dev, PETSC_FALSE, KSPGPULaunchIterations, g, &g->graph[k]));
    g->graphs = k + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches the iterations of the next graph and the copy of the state to polled[turn].  norms: also copies the norms */
PetscErrorCode KSPGPULaunchBatch_Private(KSP_GPU *g, PetscBool norms, int turn)
{
  PetscFunctionBegin;
  g->capturing = g->next;
  PetscCall(PetscGPUCSRGraphLaunch(g->graph[g->next]));
  g->next = (g->next + 1) % g->graphs;
  PetscCall(PetscGPUCSRDeviceCopyOut(g->dev, g->polled + turn, g->state, sizeof(GpKrylovState)));
  if (norms) PetscCall(PetscGPUCSRDeviceCopyOut(g->dev, g->pollnorms + turn * g->ring, g->norms, (size_t)g->ring * sizeof(double)));
  PetscCallKrylov(g, GpDevEventRecord(g->dev, g->copied[turn]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Downloads the state and waits for it. */
PetscErrorCode KSPGPUDownloadState_Private(KSP_GPU *g, GpKrylovState *state)
{
  PetscFunctionBegin;
  PetscCallKrylov(g, GpDevCopyOut(g->dev, g->polled, g->state, sizeof(GpKrylovState)));
  PetscCallKrylov(g, GpDevSync(g->dev));
  *state = g->polled[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}
