/* Gauss-Seidel iterations by blocks of rows: a sweep takes one block after another, and each sees what those before it have just found.  Where
   a node's rank comes back to it at once, by a link or because it stays, the row is solved for it.

   A. Arasu, J. Novak, A. Tomkins, J. Tomlin, "PageRank computation and the structure of the web", WWW 2002, for single rows.

   A sweep does not keep the sum of ranks, and to mend that would take most of the iterations.  So ranks are known up to a factor: z holds them level times
   over, and the sum of the residual, which P's columns tell, is zero for level = their sum + damping/(1 - damping) times the part that is dropped.  This is
   aggregation to a single unknown (F. Chatelin, W. Miranker, "Acceleration by aggregation of successive approximation methods", 1982). */
#include "pagerank.h"
#include <gpucsr.h>

/* what leads the sweeps: a state on the host, and where vectors are on a device what its kernels work with */
typedef struct {
  GpDev              dev; /* NULL: vectors are on the host */
  const StepKernels *kernels;
  const VecAccess   *access;
  StepOperator       op;
  StepState          now, *there; /* there: what kernels see, now itself on the host */
  double            *partial;
  Vec               *y; /* [blocks] products */
} Lead;

/* the share of a node's rank that comes back to it at once */
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

static PetscErrorCode LeadCreate(const Google *g, Lead *L)
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

static PetscErrorCode LeadDestroy(const Google *g, Lead *L)
{
  PetscFunctionBegin;
  PetscCall(LoopRestoreOperator(g, L->dev, &L->op));
  if (L->dev) PetscCall(LoopFreeRoom(L->dev, &L->partial));
  for (PetscInt b = 0; b < g->graph->blocks; b++) PetscCall(VecDestroy(&L->y[b]));
  PetscCall(PetscFree(L->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one block after another; what it means for the next sweep all processes work out alike */
static PetscErrorCode Sweep(Google *g, Lead *L)
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

/* z and the state, from the ranks x; or back */
static PetscErrorCode Begin(Google *g, const SolveOptions *o, Vec x, Lead *L)
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

static PetscErrorCode End(Google *g, Vec x, Lead *L)
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

/* A look at the residual costs a product beside those of the sweeps, so there is one when the last change says that it may be the last. */
PetscErrorCode SolveGaussSeidel(Google *g, const SolveOptions *o, Vec x, SolveResult *R)
{
  Lead L;

  PetscFunctionBegin;
  if (g->loop) {
    PetscCall(LoopRun(g, o, x, R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LeadCreate(g, &L));
  PetscCall(Begin(g, o, x, &L));
  while (L.now.status == STEP_RUNNING) {
    const PetscBool look = (PetscBool)L.now.look;

    PetscCall(Sweep(g, &L));
    R->iterations = L.now.it;
    if (R->first == 0) R->first = (PetscReal)(look ? L.now.norm : L.now.moved) / (1 - g->damping);
    if (look) PetscCall(SolveCheck(g, o, (PetscReal)L.now.norm, R));
    else if (o->monitor) PetscCall(PetscPrintf(g->graph->comm, "%4" PetscInt_FMT " change %.6e\n", R->iterations, L.now.moved));
  }
  PetscCall(End(g, x, &L));
  PetscCall(LeadDestroy(g, &L));
  PetscFunctionReturn(PETSC_SUCCESS);
}
