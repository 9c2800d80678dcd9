/* The device loop: power iterations and Gauss-Seidel sweeps whose scalars and stopping test stay on the device. An iteration consists of a product
   and one kernel, and a sweep of these two for each block. They are recorded as a CUDA graph, which repeats itself if the driver supports that. If a
   matrix is streamed from host memory, its products cannot be recorded: the host launches each iteration. The loop requires one process, matrices of
   type gpucsr, and vectors on the device of the matrices. */
#include "pagerankimpl.h"
#include <gpucsr.h>

#define PageRankCallDevice(dev, ...) PetscCallGp(dev, "The iterations on the device", __VA_ARGS__)

enum {
  LAUNCHES = 4 /* launches of a graph that does not repeat itself before the host reads the state */
};

struct _n_PageRankLoop {
  PageRankKernels  kernels;
  PetscBool        sweeps;   /* Gauss-Seidel sweeps, else power iterations */
  PetscBool        streams;  /* a matrix is streamed */
  int              newest;   /* power iterations: index of the array in z that the next launch reads */
  Vec              work[3];  /* own the device arrays z[0], z[1] and y. Sweeps have no z[1]. */
  double          *z[2], *y; /* device: input and result of the product. Power iterations alternate between z[0] and z[1]. */
  StepState       *now;      /* copy of the state in pinned memory */
  PetscGPUCSRGraph graph;    /* two power iterations or one sweep. NULL if a matrix is streamed. */
  int              launches; /* launches of the graph before the host reads the state */
  uint64_t         loop;     /* handle by which a kernel ends the repetition of the graph. 0: the graph does not repeat itself. */
};

#define WORKSPACE (STEP_PARTIAL * sizeof(double) + sizeof(StepState))

/* The rows of a block, as the sweep kernel takes them. leads: no other process takes part, so the kernel itself completes the state after the last
   block. */
StepRows PageRankGetRows_Private(PageRank pr, PetscInt block, PetscBool leads)
{
  const PetscInt first = pr->first[block], end = pr->first[block + 1], last = end == pr->n;

  return (StepRows){(int32_t)first, (int32_t)(end - first), (int32_t)pr->most, (int)last, (int)(last && leads)};
}

/*
  PageRankKernelsCreate_Private - Gets the kernels for vectors on a device or on the host, with the operator and memory for the reductions

  Not Collective

  Input Parameters:
+ pr  - the solver
- dev - the device of the vectors. NULL: the vectors are on the host

  Output Parameter:
. K - the kernels
*/
PetscErrorCode PageRankKernelsCreate_Private(PageRank pr, GpDev dev, PageRankKernels *K)
{
  static const PageRankAccess host   = {VecGetArray, VecRestoreArray, VecGetArrayRead, VecRestoreArrayRead};
  static const PageRankAccess device = {VecGPUGetDeviceArray, VecGPURestoreDeviceArray, VecGPUGetDeviceArrayRead, VecGPURestoreDeviceArrayRead};
  StepOperator               *op     = &K->op;

  PetscFunctionBegin;
  *K  = (PageRankKernels){.dev = dev, .table = dev ? StepKernelsOf(dev) : &StepKernelsHost, .access = dev ? &device : &host};
  *op = (StepOperator){.n = (int32_t)pr->n, .dangling = pr->u ? STEP_MOVES : pr->isdangling ? STEP_STAYS : STEP_DROPS, .damping = (double)pr->damping, .everywhere = 1.0 / (double)pr->N};
  PetscCall(K->access->getread(pr->out, &op->out));
  if (pr->v != pr->uniform) PetscCall(K->access->getread(pr->v, &op->v));
  if (pr->u && pr->u != pr->uniform) PetscCall(K->access->getread(pr->u, &op->u));
  if (pr->inverse) PetscCall(K->access->getread(pr->inverse, &op->inverse));
  if (!dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating the partial sums of the iterations (-mat_gpucsr_vec_type standard keeps them on the host)", WORKSPACE, &K->partial));
  K->state = (StepState *)(K->partial + STEP_PARTIAL);
  PetscCall(PetscGPUCSRDeviceZero(dev, K->state, sizeof(*K->state))); /* the reductions require a ticket of 0 */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankKernelsDestroy_Private(PageRank pr, PageRankKernels *K)
{
  StepOperator *op = &K->op;

  PetscFunctionBegin;
  PetscCall(K->access->restoreread(pr->out, &op->out));
  if (op->v) PetscCall(K->access->restoreread(pr->v, &op->v));
  if (op->u) PetscCall(K->access->restoreread(pr->u, &op->u));
  if (op->inverse) PetscCall(K->access->restoreread(pr->inverse, &op->inverse));
  if (K->dev) PetscCall(PetscGPUCSRDeviceFree(K->dev, WORKSPACE, &K->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches one sweep, or two power iterations. After two of these the newest vector is in z[0] again. If a matrix is streamed, it launches one power
   iteration, because the product of an iteration after the last one would stream the matrix in vain. */
static PetscErrorCode PageRankLoopLaunch(void *ctx)
{
  PageRank               pr = (PageRank)ctx;
  PageRankLoop           L  = pr->loop;
  const PageRankKernels *K  = &L->kernels;
  const int              n  = L->sweeps ? 0 : L->streams ? 1 : 2;

  PetscFunctionBegin;
  for (PetscInt b = 0; L->sweeps && b < pr->nblocks; b++) {
    const StepRows rows = PageRankGetRows_Private(pr, b, PETSC_TRUE);

    if (!rows.n) continue;
    PetscCall(MatGPUCSRMultArray(pr->A[b], PETSC_FALSE, L->z[0], L->y));
    PageRankCallDevice(K->dev, K->table->sweep(K->dev, &K->op, K->state, K->partial, L->y, L->z[0], rows));
  }
  for (int k = 0; k < n; k++, L->newest = 1 - L->newest) {
    PetscCall(MatGPUCSRMultArray(pr->A[0], PETSC_FALSE, L->z[L->newest], L->y));
    PageRankCallDevice(K->dev, K->table->step(K->dev, &K->op, K->state, K->partial, L->y, L->z[L->newest], L->z[1 - L->newest]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Initialises the state and z[0] from the ranks. */
static PetscErrorCode PageRankLoopStart(PageRankLoop L, const PetscScalar *ranks, PetscReal target, PetscInt max_it, PetscBool look)
{
  const PageRankKernels *K = &L->kernels;

  PetscFunctionBegin;
  L->newest = 0;
  PageRankCallDevice(K->dev, K->table->start(K->dev, &K->op, StepBegin((double)target, (int32_t)PetscMin(max_it, INT32_MAX), look, L->loop), K->state, K->partial, ranks, L->z[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the state to L->now and waits until all launched work is done. */
static PetscErrorCode PageRankLoopReadState(PageRankLoop L)
{
  const GpDev dev = L->kernels.dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, L->now, L->kernels.state, sizeof(*L->now)));
  PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the matrices, or encodes those that are streamed, and sets L->streams. */
static PetscErrorCode PageRankLoopUpload(PageRank pr)
{
  MatGPUCSRStreamInfo info;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < pr->nblocks; b++) {
    PetscCall(MatGPUCSRGetStreamInfo(pr->A[b], &info));
    if (info.streamed) pr->loop->streams = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs PageRankLoopLaunch() once, then captures it as a graph. The first run is necessary because the first launch of a kernel loads its code, which is
   not allowed during a capture. */
static PetscErrorCode PageRankLoopCapture(PageRank pr)
{
  PageRankLoop L   = pr->loop;
  const GpDev  dev = L->kernels.dev;
  PetscBool    captured;

  PetscFunctionBegin;
  PetscCall(PageRankLoopStart(L, L->kernels.op.out, 0, 2, PETSC_FALSE));
  PetscCall(PageRankLoopLaunch(pr));
  PetscCall(PageRankLoopReadState(L));
  PetscCall(PetscGPUCSRGraphCreate(dev, PETSC_TRUE, PageRankLoopLaunch, pr, &L->graph));
  PetscCall(PetscGPUCSRGraphGetLoop(L->graph, &L->loop));
  PetscCall(PetscGPUCSRGraphIsCaptured(L->graph, &captured));
  L->launches = L->loop || !captured ? 1 : LAUNCHES;
  if (L->loop) PetscCall(PetscInfo(pr, "The CUDA graph of the iterations repeats itself on the device\n"));
  else if (captured) PetscCall(PetscInfo(pr, "The host relaunches the CUDA graph of the iterations: %s\n", *GpDevError(dev) ? GpDevError(dev) : "the driver is older than CUDA 12.4"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the device loop of Gauss-Seidel sweeps or of power iterations, or leaves pr->loop NULL if its requirements are not met. */
PetscErrorCode PageRankLoopCreate_Private(PageRank pr, PetscBool sweeps)
{
  PetscMPIInt  size;
  PetscBool    ours;
  GpDev        dev;
  PageRankLoop L;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pr), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)pr->A[0], MATSEQAIJGPUCSR, &ours));
  PetscCall(VecGPUGetRuntime(pr->scale, &dev));
  if (size > 1 || !ours || !dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&L));
  pr->loop  = L;
  L->sweeps = sweeps;
  PetscCall(PageRankKernelsCreate_Private(pr, dev, &L->kernels));
  for (int k = 0; k < 3; k++) {
    if (L->sweeps && k == 1) continue;
    PetscCall(VecDuplicate(pr->scale, &L->work[k]));
    PetscCall(VecGPUGetDeviceArrayWrite(L->work[k], k < 2 ? &L->z[k] : &L->y));
  }
  PetscCall(PetscGPUCSRDeviceMallocPinned(dev, sizeof(*L->now), &L->now));
  L->launches = 1;
  PetscCall(PageRankLoopUpload(pr));
  if (L->streams) PetscCall(PetscInfo(pr, "The host launches each iteration: a matrix is streamed to the device\n"));
  else PetscCall(PageRankLoopCapture(pr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches the iterations from the ranks until they stop, and gets the new ranks. */
static PetscErrorCode PageRankLoopIterate(PageRank pr, Vec x)
{
  PageRankLoop           L = pr->loop;
  const PageRankKernels *K = &L->kernels;
  const PetscScalar     *ranks;
  PetscScalar           *result;

  PetscFunctionBegin;
  PetscCall(VecGPUGetDeviceArrayRead(x, &ranks));
  PetscCall(PageRankLoopStart(L, ranks, PageRankGetTarget_Private(pr), pr->max_it, (PetscBool)(pr->nstart > 0)));
  PetscCall(VecGPURestoreDeviceArrayRead(x, &ranks));
  PetscCall(VecGPUGetDeviceArrayWrite(x, &result));
  do {
    for (int k = 0; k < L->launches; k++) PetscCall(L->graph ? PetscGPUCSRGraphLaunch(L->graph) : PageRankLoopLaunch(pr));
    PageRankCallDevice(K->dev, K->table->finish(K->dev, &K->op, K->state, L->z[0], L->z[L->sweeps ? 0 : 1], result));
    PetscCall(PageRankLoopReadState(L));
  } while (L->now->status == STEP_RUNNING);
  PetscCall(VecGPURestoreDeviceArrayWrite(x, &result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the iteration. It stops at the same iterate as the iteration that the host controls. */
PetscErrorCode PageRankLoopRun_Private(PageRank pr, Vec x)
{
  PageRankLoop   L = pr->loop;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDevicePushStream(L->kernels.dev));
  err = PageRankLoopIterate(pr, x);
  PetscCall(PetscGPUCSRDevicePopStream(L->kernels.dev));
  PetscCall(err);
  pr->it = L->now->it;
  pr->matmults += L->now->products;
  PetscCall(PageRankCheckResidual_Private(pr, (PetscReal)L->now->norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankLoopDestroy_Private(PageRank pr)
{
  PageRankLoop L = pr->loop;

  PetscFunctionBegin;
  if (!L) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGraphDestroy(&L->graph));
  PetscCall(PetscGPUCSRDeviceFreePinned(L->kernels.dev, &L->now));
  PetscCall(PageRankKernelsDestroy_Private(pr, &L->kernels));
  for (int k = 0; k < 3; k++) {
    PetscScalar *array = k < 2 ? L->z[k] : L->y;

    if (L->work[k]) PetscCall(VecGPURestoreDeviceArrayWrite(L->work[k], &array));
    PetscCall(VecDestroy(&L->work[k]));
  }
  PetscCall(PetscFree(pr->loop));
  PetscFunctionReturn(PETSC_SUCCESS);
}
