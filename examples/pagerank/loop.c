/* Power iterations whose scalars and stop test stay on the device: a product and one kernel for each, recorded as a graph that repeats
   itself where the driver can.  For one process whose matrix is a gpucsr one and whose vectors are on its device. */
#include "pagerank.h"
#include "step.h"
#include <gpucsr.h>

enum {
  TURNS = 4 /* of a graph that does not repeat itself, between two looks of the host */
};

struct Loop_ {
  GpDev         dev;
  StepOperator  op;
  const double *out, *v, *u; /* on the device, those that op reads */
  Vec           work[3];
  double       *z[2], *y;     /* on the device, those of work; z take turns */
  double       *partial;      /* on the device, the state behind it */
  StepState    *state, *look; /* on the device, and a pinned copy */
  GpDevGraph    graph;        /* of two iterations; NULL: this runtime does not record */
  int           whole;        /* the graph repeats itself until the state says stop */
};

#define CallDevice(dev, ...) PetscCheck(!(__VA_ARGS__), PETSC_COMM_SELF, PETSC_ERR_LIB, "Power iterations on the device: %s", (dev)->error)

/* two iterations, after which z are where they were */
static PetscErrorCode Turn(const Google *g)
{
  Loop *L = g->loop;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGPUCSRMultArray(g->graph->A, PETSC_FALSE, L->z[k], L->y));
    CallDevice(L->dev, StepKernelsOf(L->dev)->step(L->dev, &L->op, L->state, L->partial, L->y, L->z[k], L->z[1 - k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(Loop *L, const PetscScalar *ranks, PetscReal target, PetscInt max_it)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  *L->look = (StepState){.target = (double)target, .max_it = (int32_t)PetscMin(max_it, INT32_MAX)};
  CallDevice(dev, dev->ops->copy_in(dev, L->state, L->look, sizeof(*L->look)));
  CallDevice(dev, StepKernelsOf(dev)->start(dev, &L->op, L->state, L->partial, ranks, L->z[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the state, when everything launched so far is done */
static PetscErrorCode Look(Loop *L)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  CallDevice(dev, dev->ops->copy_out(dev, L->look, L->state, sizeof(*L->look)));
  CallDevice(dev, dev->ops->sync(dev));
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
  CallDevice(dev, dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(Begin(L, L->out, 0, 2));
  PetscCall(Turn(g));
  PetscCall(Look(L));
  if (dev->ops->graph_begin) {
    CallDevice(dev, dev->ops->graph_begin(dev));
    PetscCall(Turn(g));
    CallDevice(dev, dev->ops->graph_loop(dev, &L->state->status, &L->graph, &L->whole));
    if (L->whole) PetscCall(PetscInfo(g->graph->A, "The graph of two iterations repeats itself\n"));
    else PetscCall(PetscInfo(g->graph->A, "The host launches the graph of two iterations again and again: %s\n", *dev->error ? dev->error : "the driver is older than CUDA 12.4"));
  }
  dev->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOperator(const Google *g)
{
  Loop *L = g->loop;

  PetscFunctionBegin;
  L->op = (StepOperator){.n = (int32_t)g->graph->N, .dangling = g->u ? STEP_MOVES : g->isdangling ? STEP_STAYS : STEP_DROPS, .damping = (double)g->damping, .everywhere = 1.0 / (double)g->graph->N};
  PetscCall(VecGPUGetDeviceArrayRead(g->graph->out, &L->out));
  if (!g->anywhere) PetscCall(VecGPUGetDeviceArrayRead(g->v, &L->v));
  if (g->u && g->dangling != DANGLING_UNIFORM && !(g->u == g->v && g->anywhere)) PetscCall(VecGPUGetDeviceArrayRead(g->u, &L->u));
  L->op.out = L->out;
  L->op.v   = L->v;
  L->op.u   = L->u;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LoopCreate - Makes g->loop, or leaves it NULL when the device has no place for these iterations

  Not Collective

  Input Parameter:
. g - the operator
*/
PetscErrorCode LoopCreate(Google *g)
{
  PetscMPIInt size;
  PetscBool   ours;
  GpDev       dev;
  Loop       *L;
  double    **array[3];
  void       *room;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->graph->comm, &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)g->graph->A, MATSEQAIJGPUCSR, &ours));
  PetscCall(VecGPUGetRuntime(g->scale, &dev));
  if (size > 1 || !ours || !dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&L));
  g->loop  = L;
  L->dev   = dev;
  array[0] = &L->z[0];
  array[1] = &L->z[1];
  array[2] = &L->y;
  PetscCall(GetOperator(g));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecDuplicate(g->scale, &L->work[k]));
    PetscCall(VecGPUGetDeviceArrayWrite(L->work[k], array[k]));
  }
  CallDevice(dev, dev->ops->alloc(dev, STEP_PARTIAL * sizeof(double) + sizeof(StepState), &room));
  L->partial = (double *)room;
  L->state   = (StepState *)(L->partial + STEP_PARTIAL);
  CallDevice(dev, dev->ops->alloc_pinned(dev, sizeof(*L->look), &room));
  L->look = (StepState *)room;
  PetscCall(MatGPUCSRUpload(g->graph->A));
  PetscCall(Record(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the iterations of -method power, to the same stop */
PetscErrorCode LoopRun(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  /* so far below the bound that rounding cannot part this test from that of SolveCheck() */
  const PetscReal    target = o->tolerance * (1 - g->damping) * (1 - 4 * PETSC_MACHINE_EPSILON);
  Loop              *L      = g->loop;
  const GpDev        dev    = L->dev;
  void              *stream = dev->stream;
  const PetscScalar *ranks;
  PetscScalar       *result;

  PetscFunctionBegin;
  PetscCall(VecGPUGetDeviceArrayRead(x, &ranks));
  CallDevice(dev, dev->ops->sync(dev));
  dev->stream = dev->own_stream;
  PetscCall(Begin(L, ranks, target, o->max_it));
  do {
    if (!L->graph) PetscCall(Turn(g));
    for (int k = 0; L->graph && k < (L->whole ? 1 : TURNS); k++) CallDevice(dev, dev->ops->graph_launch(dev, L->graph));
    PetscCall(Look(L));
  } while (L->look->status == STEP_RUNNING);
  dev->stream = stream;
  PetscCall(VecGPURestoreDeviceArrayRead(x, &ranks));
  PetscCall(VecGPUGetDeviceArrayWrite(x, &result));
  CallDevice(dev, StepKernelsOf(dev)->finish(dev, &L->op, L->z[L->look->it % 2], result));
  PetscCall(VecGPURestoreDeviceArrayWrite(x, &result));
  R->iterations = L->look->it;
  g->matmults += L->look->it + 1;
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
  L->dev->ops->release(L->dev, L->partial);
  L->dev->ops->release_pinned(L->dev, L->look);
  PetscCall(VecGPURestoreDeviceArrayRead(g->graph->out, &L->out));
  if (L->v) PetscCall(VecGPURestoreDeviceArrayRead(g->v, &L->v));
  if (L->u) PetscCall(VecGPURestoreDeviceArrayRead(g->u, &L->u));
  for (int k = 0; k < 3; k++) {
    array = k < 2 ? L->z[k] : L->y;
    PetscCall(VecGPURestoreDeviceArrayWrite(L->work[k], &array));
    PetscCall(VecDestroy(&L->work[k]));
  }
  PetscCall(PetscFree(g->loop));
  PetscFunctionReturn(PETSC_SUCCESS);
}
