/* Restarts that a GPU iterates together. One solve of few points keeps a small part of a GPU busy, and most of its time is that of launching kernels. The restarts share
   the points. Each has its own centroids, labels and tally, and takes the steps that it would take alone. So its result has the same bits.

   A restart that leaves clusters without points stops. KMeansIterate_Private() continues it alone, when its turn comes. */
#include "solvers/kmeans/kmeansimpl.h"

/*@
  KMeansSetRestartBatch - Sets how many restarts a GPU iterates together

  Logically Collective

  Input Parameters:
+ km   - the solver
- most - the largest number of restarts, or `PETSC_DECIDE`, the default: at most 16, and at most as many as a quarter of the free device memory holds

  Options Database Key:
. -kmeans_restart_batch <auto> - the largest number, or auto

  Level: advanced

  Notes:
  The result has the same bits with every number. The arrays of the restarts take at most a quarter of the free device memory with every number.

  A GPU iterates restarts together on one rank, if the assignment is `direct`, `tensor` or `cells`, the update is `fixed` or `changed`, and the points have up to 32 features. With
  mini-batches, a monitor or a checkpoint, restarts are iterated one after another, as on the host.

.seealso: `KMeansSetRestarts()`, `KMeansGetRestartBatch()`
@*/
PetscErrorCode KMeansSetRestartBatch(KMeans km, PetscInt most)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(km, most, 2);
  PetscCheck(most >= 1 || most == PETSC_DECIDE, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: batches of %" PetscInt_FMT " restarts; use at least 1, or PETSC_DECIDE", most);
  km->together = most == PETSC_DECIDE ? 0 : most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if GP_HAVE_CUDA
  #define KMEANS_RESTARTS_AUTO  16    /* largest number by default. On an H200, more restarts together gain nothing (docs/performance/kmeans.md) */
  #define KMEANS_RESTARTS_GRID  65535 /* largest number of rows of blocks in a grid, one for each restart */
  #define KMEANS_RESTARTS_SHARE 4     /* the arrays take at most this part of the free device memory: a quarter */

/* Sizes in bytes of the arrays of one restart. */
typedef struct {
  size_t centroid, label, tally, cells;
} KMeansRestartSize;

static KMeansRestartSize KMeansRestartsSize(const KMeansData *A)
{
  return (KMeansRestartSize){(size_t)A->k * A->d * sizeof(double), (size_t)A->n * sizeof(int32_t), (size_t)KMeansTallySize(A->k, A->d, A->words) * sizeof(int64_t), A->grid ? sizeof(*A->cells) : 0};
}

/* Sets *count to the number of restarts, at most `left`, that shall iterate together. 1: the restart iterates alone. */
static PetscErrorCode KMeansRestartsCount(KMeans km, PetscInt left, PetscInt *count)
{
  KMeansData        now;
  KMeansRestartSize size;
  PetscBool         possible;
  PetscInt          most = km->together, batches;
  size_t            available, total;

  PetscFunctionBegin;
  *count = 1;
  if (left == 1 || most == 1 || km->batch || km->points.ranks > 1) PetscFunctionReturn(PETSC_SUCCESS);
  km->kept = km->k; /* restarts begin with all clusters */
  PetscCall(KMeansLoopIsPossible_Private(km, &possible));
  if (!possible) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcpy(&now, &km->points.data, sizeof(now)));
  now.k = (int32_t)km->k;
  if (!most) most = KMEANS_RESTARTS_AUTO;
  size = KMeansRestartsSize(&now);
  PetscCallGp(now.dev, "Restarts", GpDevGetMemory(now.dev, &available, &total));
  most    = PetscMin(most, KMEANS_RESTARTS_GRID);
  most    = (PetscInt)PetscMin((size_t)most, available / KMEANS_RESTARTS_SHARE / (size.centroid + size.label + size.tally + size.cells));
  most    = PetscMax(most, 1);
  batches = (left - 1) / most + 1; /* of nearly equal sizes */
  *count  = (left - 1) / batches + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates arrays for `count` restarts, or keeps those for one more. */
static PetscErrorCode KMeansRestartsAllocate(KMeans km, PetscInt count)
{
  KMeansRestarts   *R = &km->ahead;
  KMeansData       *A = &R->data;
  KMeansRestartSize size;

  PetscFunctionBegin;
  if (A->solves == count || A->solves == count + 1) PetscFunctionReturn(PETSC_SUCCESS); /* the batches of a solve differ by at most one restart */
  PetscCall(KMeansRestartsDestroy_Private(R));
  PetscCall(PetscMemcpy(A, &km->points.data, sizeof(*A)));
  A->k        = (int32_t)km->k;
  A->solves   = (int32_t)count;
  A->centroid = NULL;
  A->label    = NULL;
  A->cells    = NULL;
  A->tally = A->reduced = NULL;
  size                  = KMeansRestartsSize(A);
  PetscCallGp(A->dev, "Restarts", GpDevAlloc(A->dev, count * size.centroid, &A->centroid));
  PetscCallGp(A->dev, "Restarts", GpDevAlloc(A->dev, count * size.label, &A->label));
  PetscCallGp(A->dev, "Restarts", GpDevAlloc(A->dev, count * size.tally, &A->tally));
  PetscCallGp(A->dev, "Restarts", GpDevAlloc(A->dev, count * size.cells, &A->cells));
  A->reduced = A->tally;
  PetscCall(PetscMalloc2((size_t)count * A->k * A->d, &R->centroid, count, &R->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether restart km->done is in the present batch. */
static PetscBool KMeansRestartsHold(KMeans km)
{
  const KMeansRestarts *R = &km->ahead;

  return (PetscBool)(km->done >= R->first && km->done - R->first < R->count);
}

/* Prepares restart km->done. *count becomes the number of restarts from this one on whose start centroids are needed now. If it is above 1,
   KMeansRestartsIterate_Private() iterates them together. It is 0 if this restart has been iterated. left: number of restarts from this one on. */
PetscErrorCode KMeansRestartsPrepare_Private(KMeans km, PetscInt left, PetscInt *count)
{
  KMeansRestarts *R = &km->ahead;

  PetscFunctionBegin;
  *count = 0;
  if (KMeansRestartsHold(km)) PetscFunctionReturn(PETSC_SUCCESS);
  R->count = 0;
  PetscCall(KMeansRestartsCount(km, left, count));
  R->most = PetscMax(R->most, *count);
  if (*count == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansRestartsAllocate(km, *count));
  R->first = km->done;
  R->count = *count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds start centroids, those of restart r of the batch. */
PetscErrorCode KMeansRestartsAdd_Private(KMeans km, PetscInt r)
{
  const size_t values = (size_t)km->ahead.data.k * km->ahead.data.d;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(km->ahead.centroid + r * values, km->centroid, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates the restarts of the batch from their start centroids. */
PetscErrorCode KMeansRestartsIterate_Private(KMeans km)
{
  KMeansRestarts         *R     = &km->ahead;
  KMeansData             *A     = &R->data;
  const KMeansRestartSize size  = KMeansRestartsSize(A);
  const size_t            count = (size_t)R->count;

  PetscFunctionBegin;
  PetscCallGp(A->dev, "Restarts", GpDevUpload(A->dev, A->centroid, R->centroid, count * size.centroid));
  PetscCallGp(A->dev, "Restarts", GpDevZero(A->dev, A->tally, count * size.tally));
  for (size_t r = 0; r < count; r++) {
    KMeansData labels = *A;

    labels.label += r * A->n;
    PetscCallGp(A->dev, "Labels", GP_ON_DEVICE(A->dev, KMeansForget, &labels));
  }
  km->it = 1;
  PetscCall(KMeansLoopRun_Private(km, A, R->count, PETSC_INFINITY, &R->looped, R->state));
  PetscCallGp(A->dev, "Restarts", GpDevDownload(A->dev, R->centroid, A->centroid, count * size.centroid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Continues restart km->done where the iterations of its batch have stopped, as KMeansLoopFinish_Private() describes. `taken` is false, and nothing is done, if the
   restart was in no batch, or has been continued already. */
PetscErrorCode KMeansRestartsTake_Private(KMeans km, PetscReal *previous, PetscBool *taken)
{
  KMeansRestarts         *R    = &km->ahead;
  const KMeansData       *A    = &R->data;
  const KMeansRestartSize size = KMeansRestartsSize(A);
  const PetscInt          r    = km->done - R->first;

  PetscFunctionBegin;
  *taken = (PetscBool)(km->it == 1 && KMeansRestartsHold(km));
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  km->kept = A->k;
  PetscCall(PetscArraycpy(km->centroid, R->centroid + r * A->k * A->d, A->k * A->d));
  PetscCallGp(A->dev, "Labels", GpDevCopyWithin(A->dev, km->points.data.label, A->label + (size_t)r * A->n, size.label));
  PetscCall(KMeansLoopFinish_Private(km, &R->state[r], previous));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the arrays of all restarts. */
PetscErrorCode KMeansRestartsDestroy_Private(KMeansRestarts *R)
{
  KMeansData             *A      = &R->data;
  const size_t            solves = (size_t)A->solves;
  const KMeansRestartSize size   = KMeansRestartsSize(A);
  const PetscInt          most   = R->most;

  PetscFunctionBegin;
  PetscCall(KMeansLoopedDestroy_Private(&R->looped));
  if (A->centroid) GpDevFree(A->dev, &A->centroid, solves * size.centroid);
  if (A->label) GpDevFree(A->dev, &A->label, solves * size.label);
  if (A->tally) GpDevFree(A->dev, &A->tally, solves * size.tally);
  if (A->cells) GpDevFree(A->dev, &A->cells, solves * size.cells);
  PetscCall(PetscFree2(R->centroid, R->state));
  PetscCall(PetscMemzero(R, sizeof(*R)));
  R->most = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode KMeansRestartsPrepare_Private(KMeans km, PetscInt left, PetscInt *count)
{
  PetscFunctionBegin;
  *count = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansRestartsAdd_Private(KMeans km, PetscInt r)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansRestartsIterate_Private(KMeans km)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansRestartsTake_Private(KMeans km, PetscReal *previous, PetscBool *taken)
{
  PetscFunctionBegin;
  *taken = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansRestartsDestroy_Private(KMeansRestarts *R)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
