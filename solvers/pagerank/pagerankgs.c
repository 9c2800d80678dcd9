/* Block Gauss-Seidel iteration. A sweep updates one block of rows after the other, and each block uses the new ranks of the blocks before it. If P
   has a diagonal entry, because the node links to itself or because the rank of a dangling node stays, the row is solved for its own unknown.

   A. Arasu, J. Novak, A. Tomkins, J. Tomlin, "PageRank computation and the structure of the web", WWW 2002, describe the iteration for single rows.

   A sweep changes the sum of the ranks, and correcting it would take most of the iterations. Therefore the iteration computes the ranks up to a
   factor: z holds the ranks times `level`. The column sums of P are known, so the level for which the entries of the residual sum to zero is known
   too: the sum of the unscaled ranks, plus damping/(1 - damping) times the part of them that is dropped. This is aggregation to a single unknown
   (F. Chatelin, W. Miranker, "Acceleration by aggregation of successive approximation methods", 1982). */
#include "pagerankimpl.h"
#include <gpucsr.h>

#define PageRankCallDevice(dev, ...) PetscCallGp(dev, "Gauss-Seidel iterations on the device", __VA_ARGS__)

/* An iteration that the host controls. If the vectors are on a device, the kernels work on a copy of the state there. */
typedef struct {
  PageRankKernels kernels;
  StepState       now; /* the state */
  Vec            *y;   /* [nblocks] product of each block */
} PageRankSweeps;

/* Sets pr->inverse, the inverse diagonal of I - damping P. It stays NULL if P has no diagonal entry. With one block a sweep is a power iteration. */
PetscErrorCode PageRankSetUp_GaussSeidel(PageRank pr)
{
  const PetscBool loops = (PetscBool)(pr->loops && pr->nblocks > 1), stays = (PetscBool)(pr->isdangling && !pr->u);

  PetscFunctionBegin;
  if (!loops && !stays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(pr->scale, &pr->inverse));
  if (loops) PetscCall(VecPointwiseMult(pr->inverse, pr->scale, pr->loops));
  else PetscCall(VecSet(pr->inverse, 0.0));
  if (stays) PetscCall(VecAXPY(pr->inverse, 1.0, pr->isdangling));
  PetscCall(VecScale(pr->inverse, -pr->damping));
  PetscCall(VecShift(pr->inverse, 1.0));
  PetscCall(VecReciprocal(pr->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the state to the device, or back to the host. */
static PetscErrorCode PageRankSweepsCopyState(PageRankSweeps *S, PetscBool back)
{
  const GpDev dev = S->kernels.dev;

  PetscFunctionBegin;
  if (!dev) PetscFunctionReturn(PETSC_SUCCESS);
  if (!back) PetscCall(PetscGPUCSRDeviceCopyIn(dev, S->kernels.state, &S->now, sizeof(S->now)));
  else {
    PetscCall(PetscGPUCSRDeviceCopyOut(dev, &S->now, S->kernels.state, sizeof(S->now)));
    PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps over all blocks, adds the sums of all processes, and updates the state. All processes compute the same state. */
static PetscErrorCode PageRankSweep(PageRank pr, PageRankSweeps *S)
{
  const PageRankKernels *K = &S->kernels;

  PetscFunctionBegin;
  PetscCall(PageRankSweepsCopyState(S, PETSC_FALSE));
  for (PetscInt b = 0; b < pr->nblocks; b++) {
    const StepRows     rows = PageRankGetRows_Private(pr, b, PETSC_FALSE);
    const PetscScalar *y;
    PetscScalar       *z;

    PetscCall(MatMult(pr->A[b], pr->z[0], S->y[b]));
    if (!rows.n) continue;
    PetscCall(K->access->getread(S->y[b], &y));
    PetscCall(K->access->get(pr->z[0], &z));
    PageRankCallDevice(K->dev, K->table->sweep(K->dev, &K->op, K->state, K->partial, y, z, rows));
    PetscCall(K->access->restore(pr->z[0], &z));
    PetscCall(K->access->restoreread(S->y[b], &y));
  }
  PetscCall(PageRankSweepsCopyState(S, PETSC_TRUE));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, S->now.gathered, STEP_SUMS, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pr)));
  StepAfterSweep(&K->op, &S->now);
  pr->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Initialises the state, and z from the ranks x. */
static PetscErrorCode PageRankSweepsStart(PageRank pr, Vec x, PageRankSweeps *S)
{
  const PageRankKernels *K = &S->kernels;
  const PetscScalar     *ranks;
  PetscScalar           *z;

  PetscFunctionBegin;
  S->now = StepBegin((double)PageRankGetTarget_Private(pr), (int32_t)PetscMin(pr->max_it, INT32_MAX), pr->nstart > 0, 0);
  PetscCall(K->access->getread(x, &ranks));
  PetscCall(K->access->get(pr->z[0], &z));
  if (pr->n) PageRankCallDevice(K->dev, K->table->start(K->dev, &K->op, S->now, K->state, K->partial, ranks, z));
  PetscCall(K->access->restore(pr->z[0], &z));
  PetscCall(K->access->restoreread(x, &ranks));
  if (pr->n) PetscCall(PageRankSweepsCopyState(S, PETSC_TRUE));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &S->now.lost, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pr)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts z to the ranks x. Processes without rows take part, so that the state of the vector, and with it the cache of its norms, is the same
   everywhere. */
static PetscErrorCode PageRankSweepsFinish(PageRank pr, Vec x, PageRankSweeps *S)
{
  const PageRankKernels *K = &S->kernels;
  const PetscScalar     *z;
  PetscScalar           *ranks;

  PetscFunctionBegin;
  PetscCall(PageRankSweepsCopyState(S, PETSC_FALSE));
  PetscCall(K->access->getread(pr->z[0], &z));
  PetscCall(K->access->get(x, &ranks));
  if (pr->n) PageRankCallDevice(K->dev, K->table->finish(K->dev, &K->op, K->state, z, z, ranks));
  PetscCall(K->access->restore(x, &ranks));
  PetscCall(K->access->restoreread(pr->z[0], &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual costs an additional product. It is computed only if the change of the last sweep suggests that the iteration has converged;
   StepAfterSweep() decides this. */
PetscErrorCode PageRankSolve_GaussSeidel(PageRank pr, Vec x)
{
  PageRankSweeps S;
  GpDev          dev;

  PetscFunctionBegin;
  if (pr->loop) {
    PetscCall(PageRankLoopRun_Private(pr, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUGetRuntime(pr->scale, &dev));
  PetscCall(PageRankKernelsCreate_Private(pr, dev, &S.kernels));
  if (!dev) S.kernels.state = &S.now;
  PetscCall(PetscMalloc1(pr->nblocks, &S.y));
  for (PetscInt b = 0; b < pr->nblocks; b++) PetscCall(MatCreateVecs(pr->A[b], NULL, &S.y[b]));
  PetscCall(PageRankSweepsStart(pr, x, &S));
  while (S.now.status == STEP_RUNNING) {
    const PetscBool look = (PetscBool)S.now.look;

    PetscCall(PageRankSweep(pr, &S));
    pr->it = S.now.it;
    if (look) PetscCall(PageRankCheckResidual_Private(pr, (PetscReal)S.now.norm));
    else PetscCall(PageRankMonitor_Private(pr, -1, (PetscReal)S.now.moved));
  }
  PetscCall(PageRankSweepsFinish(pr, x, &S));
  PetscCall(PageRankKernelsDestroy_Private(pr, &S.kernels));
  for (PetscInt b = 0; b < pr->nblocks; b++) PetscCall(VecDestroy(&S.y[b]));
  PetscCall(PetscFree(S.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
