/* Iterations on a GPU without the host: a CUDA graph repeats assignment, sums and new centroids until a criterion stops it. With several ranks, the graph contains sums over the
   ranks by NCCL. All ranks get the same sums, compute the same centroids, and stop in the same iteration. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petsctime.h>

/* Number of iterations in the graph. It is above 1 because repeating the graph takes time too. After the
   stopping test has succeeded, the remaining iterations leave the centroids unchanged */
#define KMEANS_LOOP_ITERATIONS 4

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
static PetscErrorCode KMeansLoopIsPossible(KMeans km, PetscBool *possible)
{
  const KMeansData *A = &km->points.data;

  PetscFunctionBegin;
  *possible = (PetscBool)(KMeansCanReside_Private(km) && (km->points.ranks == 1 || km->reducing == KMEANS_REDUCE_NCCL));
  if (!*possible) PetscFunctionReturn(PETSC_SUCCESS); /* the conditions so far are the same on all ranks, so that none of them calls KMeansLoopAgree() */
  *possible = (PetscBool)(GpDevHasGraphs(A->dev) && (km->now[1] == KMEANS_UPDATE_fixed || km->now[1] == KMEANS_UPDATE_changed) && GP_ON_DEVICE(A->dev, KMeansFuses, A, km->now[0]));
  PetscCall(KMeansLoopAgree(km, *possible, possible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches `count` iterations. */
static PetscErrorCode KMeansLoopLaunch(KMeans km, PetscInt count)
{
  const KMeansData *A = &km->points.looped;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < count; i++) {
    PetscCallGp(A->dev, "Assignment", KMeansAssignTable[km->now[0]].run[GP_DEV_CUDA](A));
    PetscCall(KMeansReduceOnDevice_Private(km, A));
    PetscCallGp(A->dev, "Centroids", KMeansMove_CUDA(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansLoopCapture(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(KMeansLoopLaunch((KMeans)ctx, KMEANS_LOOP_ITERATIONS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the memory of the loop, and sets P->looped. If the graph of any rank was recorded for other arguments, all ranks destroy theirs. They must record
   together, because recording launches sums over the ranks. */
static PetscErrorCode KMeansLoopSetUp(KMeans km)
{
  KMeansPoints *P = &km->points;
  KMeansData   *A = &P->data, now;
  PetscBool     same;

  PetscFunctionBegin;
  if (!P->loop) PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, sizeof(*P->loop), &P->loop));
  if (!P->frame.centre) PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, (size_t)A->d * sizeof(double), &P->frame.centre));
  if (!P->frame.numbers) PetscCallGp(A->dev, "Iterations", GpDevAlloc(A->dev, sizeof(*P->frame.numbers), &P->frame.numbers));
  PetscCall(PetscMemcpy(&now, A, sizeof(now)));
  now.frame    = P->frame;
  now.fuse     = 1;
  now.distance = NULL; /* the pass after the iterations stores the distances, unless no label changed */
  now.loop     = P->loop;
  PetscCall(KMeansLoopAgree(km, (PetscBool)(P->graph && P->assign == km->now[0] && !memcmp(&now, &P->looped, sizeof(now))), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGraphDestroy(&P->graph));
  PetscCall(PetscMemcpy(&P->looped, &now, sizeof(now)));
  P->assign = km->now[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates on the GPU from iteration km->it on. If the GPU cannot iterate without the host, does nothing. previous: the inertia of the previous iteration. Afterwards km->it
   is the last iteration, and km->reason is the reason why it was the last one. If this iteration left clusters without points, km->reason is
   KMEANS_CONVERGED_ITERATING, and the host must repeat the iteration. */
PetscErrorCode KMeansLoop_Private(KMeans km, PetscReal *previous)
{
  KMeansPoints  *P = &km->points;
  KMeansData    *A = &P->data;
  KMeansLoop     state;
  PetscLogDouble begin, end;
  PetscBool      possible;

  PetscFunctionBegin;
  PetscCall(KMeansLoopIsPossible(km, &possible));
  if (!possible) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&begin));
  PetscCall(PetscLogEventBegin(KMEANS_LoopEvent, km, 0, 0, 0));
  PetscCall(KMeansPointsSetCentroids_Private(P, km->kept, km->centroid));
  PetscCall(KMeansPointsClearTally_Private(P, PETSC_FALSE));
  PetscCall(KMeansLoopSetUp(km));
  state = (KMeansLoop){
    .it = (int32_t)km->it, .max_it = (int32_t)PetscMin(km->max_it, INT32_MAX), .keep = km->empty == KMEANS_EMPTY_KEEP, .differences = km->now[1] == KMEANS_UPDATE_changed, .fresh = 1, .rtol = km->rtol, .stol = km->stol, .previous = *previous};
  PetscCallGp(A->dev, "Iterations", KMeansFrameChoose(A, &P->frame));
  if (!P->graph) {
    PetscCallGp(A->dev, "Iterations", GpDevUpload(A->dev, P->loop, &state, sizeof(state)));
    PetscCall(KMeansLoopLaunch(km, 1)); /* the first launch of a kernel may load its code, which no capture allows */
    PetscCall(PetscGPUCSRGraphCreate(A->dev, (PetscBool)(P->ranks == 1), KMeansLoopCapture, km, &P->graph));
    PetscCallGp(A->dev, "Iterations", GpDevDownload(A->dev, &state, P->loop, sizeof(state)));
  }
  PetscCall(PetscGPUCSRGraphGetLoop(P->graph, &state.loop));
  PetscCallGp(A->dev, "Iterations", GpDevUpload(A->dev, P->loop, &state, sizeof(state)));
  while (!state.reason) { /* a single launch if the graph repeats itself */
    PetscCall(PetscGPUCSRGraphLaunch(P->graph));
    PetscCallGp(A->dev, "Iterations", GpDevDownload(A->dev, &state, P->loop, sizeof(state)));
  }
  PetscCallGp(A->dev, "Centroids", GpDevDownload(A->dev, km->centroid, A->centroid, (size_t)A->k * A->d * sizeof(double)));
  PetscCall(PetscLogEventEnd(KMEANS_LoopEvent, km, 0, 0, 0));
  PetscCall(PetscTime(&end));
  km->statistics.assign += end - begin;
  km->it      = state.it;
  km->inertia = state.inertia;
  *previous   = state.previous;
  km->distances += state.counted;
  km->rechecked += state.rechecked;
  km->reason = state.reason == KMEANS_LOOP_EMPTY ? KMEANS_CONVERGED_ITERATING : (KMeansConvergedReason)state.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode KMeansLoop_Private(KMeans km, PetscReal *previous)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
