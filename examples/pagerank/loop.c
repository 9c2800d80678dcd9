/* Power iterations and Gauss-Seidel sweeps whose scalars and stop test stay on the device: a product and one kernel for each, or for each block,
   recorded as a graph that repeats itself where the driver can.  For one process whose matrices are gpucsr ones and whose vectors are on their device. */
#include "pagerank.h"
#include "step.h"
#include <gpucsr.h>

enum {
  TURNS = 4 /* of a graph that does not repeat itself, between two looks of the host */
};

struct Loop_ {
  GpDev        dev;
  PetscBool    sweeps; /* not power iterations */
  StepOperator op;
  Vec          work[3];
  double      *z[2], *y;     /* on the device, those of work; z take turns */
  double      *partial;      /* on the device, the state behind it */
  StepState   *state, *look; /* on the device, and a pinned copy */
  GpDevGraph   graph;        /* of two iterations; NULL: this runtime does not record */
  uint64_t     turn;         /* by which the state stops the graph that repeats itself; 0: it does not */
};

/* a sweep; or two power iterations, after which z are where they were */
static PetscErrorCode Turn(const Google *g)
{
  Loop          *L      = g->loop;
  const PetscInt blocks = L->sweeps ? PetscMin(g->graph->blocks, g->graph->N) : 0; /* the others have no rows */

  PetscFunctionBegin;
  for (PetscInt b = 0; b < blocks; b++) {
    PetscCall(MatGPUCSRMultArray(g->graph->A[b], PETSC_FALSE, L->z[0], L->y));
    PetscCallDevice(L->dev, "The iterations", StepKernelsOf(L->dev)->sweep(L->dev, &L->op, L->state, L->partial, L->y, L->z[0], GraphBlockRows(L->op.n, g->graph->blocks, b, PETSC_TRUE)));
  }
  for (int k = 0; !L->sweeps && k < 2; k++) {
    PetscCall(MatGPUCSRMultArray(g->graph->A[0], PETSC_FALSE, L->z[k], L->y));
    PetscCallDevice(L->dev, "The iterations", StepKernelsOf(L->dev)->step(L->dev, &L->op, L->state, L->partial, L->y, L->z[k], L->z[1 - k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(Loop *L, const PetscScalar *ranks, PetscReal target, PetscInt max_it, PetscBool look)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", StepKernelsOf(dev)->start(dev, &L->op, StepBegin((double)target, (int32_t)PetscMin(max_it, INT32_MAX), look, L->turn), L->state, L->partial, ranks, L->z[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the state, when everything launched so far is done */
static PetscErrorCode Look(Loop *L)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", dev->ops->copy_out(dev, L->look, L->state, sizeof(*L->look)));
  PetscCallDevice(dev, "The iterations", dev->ops->sync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a turn and records the next one, both on the device's own stream, since PETSc's may be one that cannot be recorded.  A kernel's first
   launch loads it, which may not happen while one records. */
static PetscErrorCode Record(const Google *g)
{
  Loop       *L      = g->loop;
  const GpDev dev    = L->dev;
  void       *stream = dev->stream;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(Begin(L, L->op.out, 0, 2, PETSC_FALSE));
  PetscCall(Turn(g));
  PetscCall(Look(L));
  if (dev->ops->graph_begin) {
    PetscCallDevice(dev, "The iterations", dev->ops->graph_begin(dev));
    GpDevUnsettle(dev); /* the first product as the others: behind the whole step before it */
    PetscCall(Turn(g));
    PetscCallDevice(dev, "The iterations", dev->ops->graph_loop(dev, &L->graph, &L->turn));
    if (L->turn) PetscCall(PetscInfo(g->graph->A[0], "The graph of iterations repeats itself\n"));
    else PetscCall(PetscInfo(g->graph->A[0], "The host launches the graph of iterations again and again: %s\n", *dev->error ? dev->error : "the driver is older than CUDA 12.4"));
  }
  dev->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LoopGetOperator - The operator as kernels see it: the entries of this process, on the device or else on the host

  Not Collective

  Input Parameters:
+ g   - the operator
- dev - the device of its vectors; NULL: they are on the host

  Output Parameter:
. op - to be given to LoopRestoreOperator()
*/
PetscErrorCode LoopGetOperator(const Google *g, GpDev dev, StepOperator *op)
{
  PetscErrorCode (*const get)(Vec, const PetscScalar **) = VecAccessOf(dev)->getread;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(g->scale, &n));
  *op = (StepOperator){.n = (int32_t)n, .dangling = g->u ? STEP_MOVES : g->isdangling ? STEP_STAYS : STEP_DROPS, .damping = (double)g->damping, .everywhere = 1.0 / (double)g->graph->N};
  PetscCall(get(g->graph->out, &op->out));
  if (!g->anywhere) PetscCall(get(g->v, &op->v));
  if (g->u && g->dangling != DANGLING_UNIFORM && !(g->u == g->v && g->anywhere)) PetscCall(get(g->u, &op->u));
  if (g->inverse) PetscCall(get(g->inverse, &op->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoopRestoreOperator(const Google *g, GpDev dev, StepOperator *op)
{
  PetscErrorCode (*const restore)(Vec, const PetscScalar **) = VecAccessOf(dev)->restoreread;

  PetscFunctionBegin;
  PetscCall(restore(g->graph->out, &op->out));
  if (op->v) PetscCall(restore(g->v, &op->v));
  if (op->u) PetscCall(restore(g->u, &op->u));
  if (op->inverse) PetscCall(restore(g->inverse, &op->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ROOM (STEP_PARTIAL * sizeof(double) + sizeof(StepState))

/* on a device: room for the partial sums, and the state behind it, whose ticket begins with 0 */
PetscErrorCode LoopMakeRoom(GpDev dev, double **partial, StepState **state)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "making room for the sums of the iterations (-mat_gpucsr_vec_type standard keeps them on the host)", ROOM, partial));
  *state = (StepState *)(*partial + STEP_PARTIAL);
  PetscCallDevice(dev, "The iterations", dev->ops->zero(dev, *state, sizeof(**state)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoopFreeRoom(GpDev dev, double **partial)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceFree(dev, ROOM, partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LoopCreate - Makes g->loop, or leaves it NULL when the device has no place for these iterations

  Not Collective

  Input Parameters:
+ g      - the operator
- sweeps - of Gauss-Seidel iterations; else power iterations
*/
PetscErrorCode LoopCreate(Google *g, PetscBool sweeps)
{
  PetscMPIInt size;
  PetscBool   ours;
  GpDev       dev;
  Loop       *L;
  double    **array[3];
  void       *room;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->graph->comm, &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)g->graph->A[0], MATSEQAIJGPUCSR, &ours));
  PetscCall(VecGPUGetRuntime(g->scale, &dev));
  if (size > 1 || !ours || !dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&L));
  g->loop   = L;
  L->dev    = dev;
  L->sweeps = sweeps;
  array[0]  = &L->z[0];
  array[1]  = &L->z[1];
  array[2]  = &L->y;
  PetscCall(LoopGetOperator(g, dev, &L->op));
  for (int k = 0; k < 3; k++) {
    if (sweeps && k == 1) continue; /* they have one z */
    PetscCall(VecDuplicate(g->scale, &L->work[k]));
    PetscCall(VecGPUGetDeviceArrayWrite(L->work[k], array[k]));
  }
  PetscCall(LoopMakeRoom(dev, &L->partial, &L->state));
  PetscCallDevice(dev, "The iterations", dev->ops->alloc_pinned(dev, sizeof(*L->look), &room));
  L->look = (StepState *)room;
  for (PetscInt b = 0; b < g->graph->blocks; b++) PetscCall(MatGPUCSRUpload(g->graph->A[b]));
  PetscCall(Record(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the iterations that the host would lead, to the same stop */
PetscErrorCode LoopRun(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  Loop              *L      = g->loop;
  const GpDev        dev    = L->dev;
  void              *stream = dev->stream;
  const PetscScalar *ranks;
  PetscScalar       *result;

  PetscFunctionBegin;
  PetscCall(VecGPUGetDeviceArrayRead(x, &ranks));
  PetscCallDevice(dev, "The iterations", dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(Begin(L, ranks, SolveTarget(g, o), o->max_it, o->warm));
  PetscCall(VecGPURestoreDeviceArrayRead(x, &ranks));
  PetscCall(VecGPUGetDeviceArrayWrite(x, &result));
  do {
    if (!L->graph) PetscCall(Turn(g));
    for (int k = 0; L->graph && k < (L->turn ? 1 : TURNS); k++) PetscCallDevice(dev, "The iterations", dev->ops->graph_launch(dev, L->graph));
    PetscCallDevice(dev, "The iterations", StepKernelsOf(dev)->finish(dev, &L->op, L->state, L->z[0], L->z[L->sweeps ? 0 : 1], result));
    PetscCall(Look(L));
  } while (L->look->status == STEP_RUNNING);
  PetscCall(VecGPURestoreDeviceArrayWrite(x, &result));
  dev->stream   = stream;
  R->iterations = L->look->it;
  g->matmults += L->look->products;
  PetscCall(SolveCheck(g, o, (PetscReal)L->look->norm, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoopDestroy(Google *g)
{
  Loop        *L = g->loop;
  PetscScalar *array;

  PetscFunctionBegin;
  if (!L) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->graph) L->dev->ops->graph_destroy(L->dev, L->graph);
  PetscCall(LoopFreeRoom(L->dev, &L->partial));
  L->dev->ops->release_pinned(L->dev, L->look);
  PetscCall(LoopRestoreOperator(g, L->dev, &L->op));
  for (int k = 0; k < 3; k++) {
    if (!L->work[k]) continue;
    array = k < 2 ? L->z[k] : L->y;
    PetscCall(VecGPURestoreDeviceArrayWrite(L->work[k], &array));
    PetscCall(VecDestroy(&L->work[k]));
  }
  PetscCall(PetscFree(g->loop));
  PetscFunctionReturn(PETSC_SUCCESS);
}
