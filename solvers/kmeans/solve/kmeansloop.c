/* Iterations on a GPU without the host: a graph repeats assignment, sums and new centroids until a criterion stops it. With several ranks, NCCL adds the sums of their
   GPUs. All ranks get the same sums, compute the same centroids, and stop in the same iteration. On one rank a graph may iterate several solves of the same
   points together. */
#include "solvers/kmeans/kmeansimpl.h"
#include "solvers/kmeans/kmeanssteps.h"

#include <petsctime.h>

/* Number of iterations in the graph. It is above 1 because repeating the graph takes time too. After the
   stopping test has succeeded, the remaining iterations leave the centroids unchanged */
#define KMEANS_LOOP_ITERATIONS 8

#if GP_HAVE_CUDA
/* Sets *all to whether `mine` is true on all ranks. */
static PetscErrorCode KMeansLoopAgree(KMeans km, PetscBool mine, PetscBool *all)
{
  int least = mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)km)));
  *all = (PetscBool)least;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *possible to whether the GPUs of all ranks can iterate without the host. */
PetscErrorCode KMeansLoopIsPossible_Private(KMeans km, PetscBool *possible)
{
  KMeansData now;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&now, &km->points.data, sizeof(now)));
  now.k     = (int32_t)km->kept; /* a restart may have dropped clusters */
  *possible = (PetscBool)(KMeansCanReside_Private(km) && !KMeansIsStreamed(&km->points) && (km->points.ranks == 1 || km->reducing == KMEANS_REDUCE_NCCL));
  if (!*possible) PetscFunctionReturn(PETSC_SUCCESS); /* the conditions so far are the same on all ranks, so that none of them calls KMeansLoopAgree() */
  *possible = (PetscBool)(GpDevHasGraphs(now.dev) && (km->now[1] == KMEANS_UPDATE_fixed || km->now[1] == KMEANS_UPDATE_changed) && GP_ON_DEVICE(now.dev, KMeansFuses, &now, km->now[0]));
  PetscCall(KMeansLoopAgree(km, *possible, possible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches `count` iterations. */
static PetscErrorCode KMeansLoopLaunch(KMeansLooped *W, PetscInt count)
{
  const KMeansData *A = &W->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < count; i++) {
    PetscCallGp(A->dev, "Assignment", KMeansAssignTable[W->assign].run[GP_DEV_CUDA](A));
    PetscCall(KMeansReduceOnDevice_Private(W->km, A));
    PetscCallGp(A->dev, "Centroids", KMeansMove_CUDA(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansLoopCapture(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(KMeansLoopLaunch((KMeansLooped *)ctx, KMEANS_LOOP_ITERATIONS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the memory of the loop, and sets W->data. Destroys the graph if it was recorded for other arguments on any rank, so that all ranks launch equally many
   sums. */
static PetscErrorCode KMeansLoopSetUp(KMeans km, const KMeansData *A, KMeansLooped *W)
{
  const PetscInt solves = PetscMax(A->solves, 1);
  KMeansData     now;
  PetscBool      same;

  PetscFunctionBegin;
  if (W->solves != solves) {
    PetscCall(KMeansLoopedDestroy_Private(W));
    PetscCall(PetscMemcpy(&W->data, A, sizeof(*A)));
    W->km     = km;
    W->solves = solves;
    PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, (size_t)solves * sizeof(*W->loop), &W->loop));
    PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, (size_t)solves * A->d * sizeof(double), &W->frame.centre));
    PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, (size_t)solves * sizeof(*W->frame.numbers), &W->frame.numbers));
  }
  PetscCall(PetscMemcpy(&now, A, sizeof(now)));
  now.frame    = W->frame;
  now.fuse     = 1;
  now.distance = NULL; /* the last pass stores them */
  now.summed   = NULL; /* the previous labels say which sums contain a point */
  now.unsummed = 0;
  now.loop     = W->loop;
  PetscCall(KMeansLoopAgree(km, (PetscBool)(W->graph && W->assign == km->now[0] && !memcmp(&now, &W->data, sizeof(now))), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGraphDestroy(&W->graph));
  PetscCall(PetscMemcpy(&W->data, &now, sizeof(now)));
  W->assign = km->now[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the states before the first iteration on the GPU. Solves from number `count` on do nothing, as if they had stopped. */
static void KMeansLoopStart(KMeans km, PetscInt count, PetscReal previous, PetscInt solves, KMeansLoop state[])
{
  for (PetscInt s = 0; s < solves; s++) {
    state[s] = (KMeansLoop){
      .it = (int32_t)km->it, .max_it = (int32_t)PetscMin(km->max_it, INT32_MAX), .keep = km->empty == KMEANS_EMPTY_KEEP, .differences = km->now[1] == KMEANS_UPDATE_changed, .fresh = 1, .rtol = km->rtol, .stol = km->stol, .previous = previous};
    if (s >= count) state[s].reason = KMEANS_DIVERGED_MAX_IT;
  }
  state[0].running = (int32_t)count;
}

/* Iterates on the GPU from iteration km->it on, until the first `count` solves of A have stopped. A has their centroids, labels and zeroed tallies. previous: the
   inertia of the previous iteration. W: the memory of these iterations. state: [A->solves] receives the states after the iterations. */
PetscErrorCode KMeansLoopRun_Private(KMeans km, const KMeansData *A, PetscInt count, PetscReal previous, KMeansLooped *W, KMeansLoop state[])
{
  const PetscInt solves = PetscMax(A->solves, 1);
  const size_t   bytes  = (size_t)solves * sizeof(*state);
  uint64_t       loop;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PetscLogEventBegin(KMEANS_LoopEvent, km, 0, 0, 0));
  PetscCall(KMeansLoopSetUp(km, A, W));
  KMeansLoopStart(km, count, previous, solves, state);
  for (PetscInt s = 0; s < count && W->assign != KMEANS_ASSIGN_cells; s++) {
    const KMeansData one = KMeansOfSolve(&W->data, s);

    PetscCallGp(A->dev, "Iterations", KMeansFrameChoose(&one, &one.frame));
  }
  if (!W->graph) {
    PetscCallGp(A->dev, "Iterations", GpDevUpload(A->dev, W->loop, state, bytes));
    PetscCall(KMeansLoopLaunch(W, 1)); /* the first launch of a kernel may load its code, which no capture allows */
    PetscCall(PetscGPUCSRGraphCreate(A->dev, (PetscBool)(km->points.ranks == 1), KMeansLoopCapture, W, &W->graph));
    PetscCallGp(A->dev, "Iterations", GpDevDownload(A->dev, state, W->loop, bytes));
  }
  PetscCall(PetscGPUCSRGraphGetLoop(W->graph, &loop));
  for (PetscInt s = 0; s < solves; s++) state[s].loop = loop;
  PetscCallGp(A->dev, "Iterations", GpDevUpload(A->dev, W->loop, state, bytes));
  while (state[0].running) { /* once, if the graph repeats itself */
    PetscCall(PetscGPUCSRGraphLaunch(W->graph));
    PetscCallGp(A->dev, "Iterations", GpDevDownload(A->dev, state, W->loop, bytes));
  }
  PetscCall(PetscLogEventEnd(KMEANS_LoopEvent, km, 0, 0, 0));
  PetscCall(PetscTime(&end));
  km->statistics.assign += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Continues a solve where the iterations on the GPU have stopped. Afterwards km->it is the last iteration, and km->reason is the reason why it was the last one. If this
   iteration left clusters without points, km->reason is KMEANS_CONVERGED_ITERATING, and the host must repeat the iteration. */
PetscErrorCode KMeansLoopFinish_Private(KMeans km, const KMeansLoop *state, PetscReal *previous)
{
  PetscFunctionBegin;
  km->it      = state->it;
  km->inertia = state->inertia;
  *previous   = state->previous;
  km->distances += state->counted;
  km->rechecked += state->rechecked;
  km->reason = state->reason == KMEANS_LOOP_EMPTY ? KMEANS_CONVERGED_ITERATING : (KMeansConvergedReason)state->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates on the GPU from iteration km->it on, or does nothing if the GPU cannot iterate alone. previous: the inertia of the previous iteration.
   KMeansLoopFinish_Private() describes the result. */
PetscErrorCode KMeansLoop_Private(KMeans km, PetscReal *previous)
{
  KMeansPoints *P = &km->points;
  KMeansData   *A = &P->data;
  KMeansLoop    state;
  PetscBool     possible;

  PetscFunctionBegin;
  PetscCall(KMeansLoopIsPossible_Private(km, &possible));
  if (!possible) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansPointsSetCentroids_Private(P, km->kept, km->centroid));
  PetscCall(KMeansPointsClearTally_Private(P, PETSC_FALSE));
  PetscCall(KMeansLoopRun_Private(km, A, 1, *previous, &P->looped, &state));
  PetscCallGp(A->dev, "Centroids", GpDevDownload(A->dev, km->centroid, A->centroid, (size_t)A->k * A->d * sizeof(double)));
  PetscCall(KMeansLoopFinish_Private(km, &state, previous));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode KMeansLoop_Private(KMeans km, PetscReal *previous)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
