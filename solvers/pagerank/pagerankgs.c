/* Block Gauss-Seidel iteration. A sweep updates one block of rows after the other, and each block uses the new ranks of the blocks before it. If P
   has a diagonal entry, because the node links to itself or because the rank of a dangling node stays, the row is solved for its own unknown.

   A. Arasu, J. Novak, A. Tomkins, J. Tomlin, "PageRank computation and the structure of the web", WWW 2002, describe the iteration for single rows.

   A sweep changes the sum of the ranks, and correcting it would take most of the iterations. Therefore the iteration computes the ranks up to a
   factor: z holds the ranks times `level`. The column sums of P are known, so the level for which the entries of the residual sum to zero is known
   too: the sum of the unscaled ranks, plus damping/(1 - damping) times the part of them that is dropped. This is aggregation to a single unknown
   (F. Chatelin, W. Miranker, "Acceleration by aggregation of successive approximation methods", 1982). */
#include "pagerankimpl.h"
#include <gpucsr.h>

/* Context of an iteration that the host controls. The state is on the host; if the vectors are on a device, the kernels work on a copy there. */
typedef struct {
  GpDev              dev; /* device of the vectors. NULL: they are on the host. */
  const StepKernels *kernels;
  const VecAccess   *access;
  StepOperator       op;
  StepState          now, *there; /* now: state on the host. there: state that the kernels use; &now if the vectors are on the host. */
  double            *partial;     /* device: partial sums of the reductions */
  Vec               *y;           /* [blocks] product of each block */
} Lead;

/* Sets g->inverse, the inverse diagonal of I - damping P. It stays NULL if P has no diagonal entry. */
PetscErrorCode GaussSeidelSetUp(Google *g)
{
  const PetscBool stays = (PetscBool)(g->isdangling && !g->u);

  PetscFunctionBegin;
  if (!g->graph->loops && !stays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(g->scale, &g->inverse));
  if (g->graph->loops) PetscCall(VecPointwiseMult(g->inverse, g->scale, g->graph->loops));
  else PetscCall(VecSet(g->inverse, 0.0));
  if (stays) PetscCall(VecAXPY(g->inverse, 1.0, g->isdangling));
  PetscCall(VecScale(g->inverse, -g->damping));
  PetscCall(VecShift(g->inverse, 1.0));
  PetscCall(VecReciprocal(g->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GaussSeidelCreateContext(const Google *g, Lead *L)
{
  const Graph *G = g->graph;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(L, sizeof(*L)));
  PetscCall(VecGPUGetRuntime(g->scale, &L->dev));
  L->kernels = L->dev ? StepKernelsOf(L->dev) : &StepKernelsHost;
  L->access  = VecAccessOf(L->dev);
  L->there   = &L->now;
  PetscCall(LoopGetOperator(g, L->dev, &L->op));
  if (L->dev) PetscCall(LoopMakeRoom(L->dev, &L->partial, &L->there));
  PetscCall(PetscMalloc1(G->blocks, &L->y));
  for (PetscInt b = 0; b < G->blocks; b++) PetscCall(MatCreateVecs(G->A[b], NULL, &L->y[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GaussSeidelDestroyContext(const Google *g, Lead *L)
{
  PetscFunctionBegin;
  PetscCall(LoopRestoreOperator(g, L->dev, &L->op));
  if (L->dev) PetscCall(LoopFreeRoom(L->dev, &L->partial));
  for (PetscInt b = 0; b < g->graph->blocks; b++) PetscCall(VecDestroy(&L->y[b]));
  PetscCall(PetscFree(L->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps over all blocks, adds the sums of all processes, and updates the state. All processes compute the same state. */
static PetscErrorCode GaussSeidelSweep(Google *g, Lead *L)
{
  const GpDev dev = L->dev;

  PetscFunctionBegin;
  if (dev) PetscCallDevice(dev, "Gauss-Seidel iterations", dev->ops->copy_in(dev, L->there, &L->now, sizeof(L->now)));
  for (PetscInt b = 0; b < g->graph->blocks; b++) {
    const StepRows     rows = GraphBlockRows(L->op.n, g->graph->blocks, b, PETSC_FALSE);
    const PetscScalar *y;
    PetscScalar       *z;

    PetscCall(MatMult(g->graph->A[b], g->z, L->y[b]));
    if (!rows.n) continue;
    PetscCall(L->access->getread(L->y[b], &y));
    PetscCall(L->access->get(g->z, &z));
    PetscCallDevice(dev, "Gauss-Seidel iterations", L->kernels->sweep(dev, &L->op, L->there, L->partial, y, z, rows));
    PetscCall(L->access->restore(g->z, &z));
    PetscCall(L->access->restoreread(L->y[b], &y));
  }
  if (dev) {
    PetscCallDevice(dev, "Gauss-Seidel iterations", dev->ops->copy_out(dev, &L->now, L->there, sizeof(L->now)));
    PetscCallDevice(dev, "Gauss-Seidel iterations", dev->ops->sync(dev));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, L->now.gathered, STEP_SUMS, MPI_DOUBLE, MPI_SUM, g->graph->comm));
  StepAfterSweep(&L->op, &L->now);
  g->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Initialises the state and z from the ranks x. */
static PetscErrorCode GaussSeidelStart(Google *g, const SolveOptions *o, Vec x, Lead *L)
{
  const GpDev        dev = L->dev;
  const PetscScalar *ranks;
  PetscScalar       *z;

  PetscFunctionBegin;
  L->now = StepBegin((double)SolveTarget(g, o), (int32_t)PetscMin(o->max_it, INT32_MAX), o->warm, 0);
  PetscCall(L->access->getread(x, &ranks));
  PetscCall(L->access->get(g->z, &z));
  if (L->op.n) PetscCallDevice(dev, "Gauss-Seidel iterations", L->kernels->start(dev, &L->op, L->now, L->there, L->partial, ranks, z));
  PetscCall(L->access->restore(g->z, &z));
  PetscCall(L->access->restoreread(x, &ranks));
  if (dev && L->op.n) {
    PetscCallDevice(dev, "Gauss-Seidel iterations", dev->ops->copy_out(dev, &L->now, L->there, sizeof(L->now)));
    PetscCallDevice(dev, "Gauss-Seidel iterations", dev->ops->sync(dev));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &L->now.lost, 1, MPI_DOUBLE, MPI_SUM, g->graph->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts z to the ranks x. */
static PetscErrorCode GaussSeidelFinish(Google *g, Vec x, Lead *L)
{
  const PetscScalar *z;
  PetscScalar       *ranks;

  PetscFunctionBegin;
  if (L->dev) PetscCallDevice(L->dev, "Gauss-Seidel iterations", L->dev->ops->copy_in(L->dev, L->there, &L->now, sizeof(L->now)));
  PetscCall(L->access->getread(g->z, &z));
  PetscCall(L->access->get(x, &ranks));
  if (L->op.n) PetscCallDevice(L->dev, "Gauss-Seidel iterations", L->kernels->finish(L->dev, &L->op, L->there, z, z, ranks));
  PetscCall(L->access->restore(x, &ranks));
  PetscCall(L->access->restoreread(g->z, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual costs an additional product. It is computed only if the change of the last sweep suggests that the iteration has converged;
   StepAfterSweep() decides this. */
PetscErrorCode SolveGaussSeidel(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  Lead L;

  PetscFunctionBegin;
  if (g->loop) {
    PetscCall(LoopRun(g, o, x, R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GaussSeidelCreateContext(g, &L));
  PetscCall(GaussSeidelStart(g, o, x, &L));
  while (L.now.status == STEP_RUNNING) {
    const PetscBool look = (PetscBool)L.now.look;

    PetscCall(GaussSeidelSweep(g, &L));
    R->iterations = L.now.it;
    if (R->first == 0) R->first = (PetscReal)(look ? L.now.norm : L.now.moved) / (1 - g->damping);
    if (look) PetscCall(SolveCheck(g, o, (PetscReal)L.now.norm, R));
    else if (o->monitor) PetscCall(PetscPrintf(g->graph->comm, "%4" PetscInt_FMT " change %.6e\n", R->iterations, L.now.moved));
  }
  PetscCall(GaussSeidelFinish(g, x, &L));
  PetscCall(GaussSeidelDestroyContext(g, &L));
  PetscFunctionReturn(PETSC_SUCCESS);
}
