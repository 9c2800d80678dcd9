/* The device loop: power iterations and Gauss-Seidel sweeps whose scalars and stopping test stay on the device. An iteration consists of a product
   and one kernel, and a sweep of these two for each block. They are recorded as a CUDA graph, which repeats itself if the driver supports that. The
   loop requires one process, matrices of type gpucsr, and vectors on the device of the matrices. */
#include "pagerankimpl.h"
#include "pagerankstep.h"
#include <gpucsr.h>

enum {
  TURNS = 4 /* launches of a graph that does not repeat itself before the host reads the state */
};

struct Loop_ {
  GpDev        dev;
  PetscBool    sweeps; /* Gauss-Seidel sweeps, else power iterations */
  StepOperator op;
  Vec          work[3];      /* own the device arrays z[0], z[1] and y. Sweeps have no z[1]. */
  double      *z[2], *y;     /* device: input and result of the product. Power iterations alternate between z[0] and z[1]. */
  double      *partial;      /* device: partial sums of the reductions, followed by the state */
  StepState   *state, *look; /* state: device. look: copy of the state in pinned memory. */
  GpDevGraph   graph;        /* recorded work: two power iterations or one sweep. NULL: the backend has no graphs. */
  uint64_t     turn;         /* handle by which a kernel ends the repetition of the graph. 0: the graph does not repeat itself. */
};

/* Launches one sweep, or two power iterations. After two of these the newest vector is in z[0] again. */
static PetscErrorCode LoopLaunchIterations(const Google *g)
{
  Loop          *L      = g->loop;
  const PetscInt blocks = L->sweeps ? PetscMin(g->graph->blocks, g->graph->N) : 0; /* further blocks have no rows */

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

/* Initialises the state and z[0] from the ranks. */
static PetscErrorCode LoopStart(Loop *L, const PetscScalar *ranks, PetscReal target, PetscInt max_it, PetscBool look)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", StepKernelsOf(dev)->start(dev, &L->op, StepBegin((double)target, (int32_t)PetscMin(max_it, INT32_MAX), look, L->turn), L->state, L->partial, ranks, L->z[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the state to L->look and waits until all launched work is done. */
static PetscErrorCode LoopReadState(Loop *L)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", dev->ops->copy_out(dev, L->look, L->state, sizeof(*L->look)));
  PetscCallDevice(dev, "The iterations", dev->ops->sync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs LoopLaunchIterations() once, then records it as a graph. Both happen on the device's own stream, because CUDA cannot record every stream that
   PETSc may use. The first run is necessary because the first launch of a kernel loads its code, which is not allowed during a recording. */
static PetscErrorCode LoopRecordGraph(const Google *g)
{
  Loop       *L      = g->loop;
  const GpDev dev    = L->dev;
  void       *stream = dev->stream;

  PetscFunctionBegin;
  PetscCallDevice(dev, "The iterations", dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(LoopStart(L, L->op.out, 0, 2, PETSC_FALSE));
  PetscCall(LoopLaunchIterations(g));
  PetscCall(LoopReadState(L));
  if (dev->ops->graph_begin) {
    PetscCallDevice(dev, "The iterations", dev->ops->graph_begin(dev));
    GpDevUnsettle(dev); /* the first product of the graph must wait for the whole last step of the previous repetition, as the other products wait for the step before them */
    PetscCall(LoopLaunchIterations(g));
    PetscCallDevice(dev, "The iterations", dev->ops->graph_loop(dev, &L->graph, &L->turn));
    if (L->turn) PetscCall(PetscInfo(g->graph->A[0], "The CUDA graph of the iterations repeats itself on the device\n"));
    else PetscCall(PetscInfo(g->graph->A[0], "The host relaunches the CUDA graph of the iterations: %s\n", *dev->error ? dev->error : "the driver is older than CUDA 12.4"));
  }
  dev->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LoopGetOperator - Gets the operator as the kernels take it: pointers to the local entries, on the device or on the host

  Not Collective

  Input Parameters:
+ g   - the operator
- dev - the device of the vectors of g. NULL: the vectors are on the host

  Output Parameter:
. op - the operator. Release it with LoopRestoreOperator()
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

/* Allocates device memory for the partial sums, followed by the state. Sets the state to zero, since the reductions require a ticket of 0. */
PetscErrorCode LoopMakeRoom(GpDev dev, double **partial, StepState **state)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating the partial sums of the iterations (-mat_gpucsr_vec_type standard keeps them on the host)", ROOM, partial));
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
  LoopCreate - Creates g->loop, or leaves it NULL if the requirements of the device loop are not met

  Not Collective

  Input Parameters:
+ g      - the operator
- sweeps - true: Gauss-Seidel sweeps, false: power iterations
*/
PetscErrorCode LoopCreate(Google *g, PetscBool sweeps)
{
  PetscMPIInt size;
  PetscBool   ours;
  GpDev       dev;
  Loop       *L;
  double    **array[3];
  void       *pinned;

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
    if (sweeps && k == 1) continue; /* sweeps have one z */
    PetscCall(VecDuplicate(g->scale, &L->work[k]));
    PetscCall(VecGPUGetDeviceArrayWrite(L->work[k], array[k]));
  }
  PetscCall(LoopMakeRoom(dev, &L->partial, &L->state));
  PetscCallDevice(dev, "The iterations", dev->ops->alloc_pinned(dev, sizeof(*L->look), &pinned));
  L->look = (StepState *)pinned;
  for (PetscInt b = 0; b < g->graph->blocks; b++) PetscCall(MatGPUCSRUpload(g->graph->A[b]));
  PetscCall(LoopRecordGraph(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the iteration. It stops at the same iterate as the iteration that the host controls. */
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
  PetscCall(LoopStart(L, ranks, SolveTarget(g, o), o->max_it, o->warm));
  PetscCall(VecGPURestoreDeviceArrayRead(x, &ranks));
  PetscCall(VecGPUGetDeviceArrayWrite(x, &result));
  do {
    if (!L->graph) PetscCall(LoopLaunchIterations(g));
    for (int k = 0; L->graph && k < (L->turn ? 1 : TURNS); k++) PetscCallDevice(dev, "The iterations", dev->ops->graph_launch(dev, L->graph));
    PetscCallDevice(dev, "The iterations", StepKernelsOf(dev)->finish(dev, &L->op, L->state, L->z[0], L->z[L->sweeps ? 0 : 1], result));
    PetscCall(LoopReadState(L));
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
