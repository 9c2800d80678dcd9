/* The choice of assignment and update. The choices of `auto` give the same labels, so that they affect the time alone. */
#include "solvers/kmeans/kmeansimpl.h"
#include "solvers/kmeans/assign/kmeansfew.h"

/* The choice for dense points on the host. Measured on one core (docs/performance/kmeans.md):

   - Euclidean metric: `direct` or `tiled` take the least time for 4 to 1000 clusters of 4 data sets with 9 to 784 features. Algorithms with lower bounds compute fewer
     distances, but one at a time.
   - Cosine metric: no algorithm computes scores in single precision. Of those with lower bounds `yinyang` took the least time with 16 features, and `elkan` with 784.
     The bounds of `elkan` take 8 n k bytes, which KMEANS_MOST_BOUNDS limits. */
#define KMEANS_MOST_BOUNDS ((double)(1 << 30)) /* largest number of bytes of all ranks together, so that all ranks make the same choice */

static PetscInt KMeansChooseOnHost(const KMeansPoints *P, const char **why)
{
  const KMeansData *A = &P->data;

  if (A->k <= 1) {
    *why = "there is one cluster";
    return KMEANS_ASSIGN_brute;
  }
  if (A->cosine) {
    if (A->d <= KMEANS_DIRECT || 8.0 * (double)P->N * A->k > KMEANS_MOST_BOUNDS) {
      *why = "the metric is cosine";
      return KMEANS_ASSIGN_yinyang;
    }
    *why = "the metric is cosine, and there are many features";
    return KMEANS_ASSIGN_elkan;
  }
  if (A->d <= KMEANS_DIRECT) {
    *why = "the points are dense, with few features";
    return KMEANS_ASSIGN_direct;
  }
  *why = "the points are dense, with many features";
  return KMEANS_ASSIGN_tiled;
}

/* The choice for dense points on a GPU. The least numbers of clusters for `tensor` were measured on an H200 (docs/performance/kmeans.md). With fewer clusters, `tensor`
   takes longer than `direct` or `tiled`: it splits the coordinates of each point, or computes the scores of 64 centroids together even if there are fewer. */
#define KMEANS_TENSOR_LEAST        64 /* least number of clusters with more than KMEANS_DIRECT features. The next macro has those with d features, up to KMEANS_DIRECT */
#define KMEANS_TENSOR_LEAST_FEW(d) ((d) <= 2 ? 512 : (d) <= 12 ? 160 : 256)

static PetscInt KMeansChooseOnGPU(const KMeansPoints *P, const char **why)
{
  const KMeansData *A   = &P->data;
  int               has = 0;

  if (!A->cosine && A->d <= KMEANS_DIRECT) {
    if (A->k >= KMEANS_TENSOR_LEAST_FEW(A->d) && !GP_ON_DEVICE(A->dev, KMeansHasTensor, A->dev, &has) && has) {
      *why = "the points are dense, with few features and many clusters, and the GPU has tensor cores";
      return KMEANS_ASSIGN_tensor;
    }
    *why = "the points are dense, with few features";
    return KMEANS_ASSIGN_direct;
  }
  if (!A->cosine) {
    if (A->k >= KMEANS_TENSOR_LEAST && !GP_ON_DEVICE(A->dev, KMeansHasTensor, A->dev, &has) && has) {
      *why = "the points are dense, with many features and clusters, and the GPU has tensor cores";
      return KMEANS_ASSIGN_tensor;
    }
    *why = "the points are dense, with many features";
    return KMEANS_ASSIGN_tiled;
  }
  if (A->k <= 1) {
    *why = "there is one cluster";
    return KMEANS_ASSIGN_brute;
  }
  *why = "the metric is cosine";
  return KMEANS_ASSIGN_yinyang;
}

/* Returns the assignment that `auto` chooses without mini-batches. `why` receives the reason. */
static PetscInt KMeansChooseAssign(const KMeansPoints *P, const char **why)
{
  if (P->data.row) {
    *why = "the points are sparse";
    return KMEANS_ASSIGN_sparse;
  }
  return GpDevKindOf(P->data.dev) == GP_DEV_HOST ? KMeansChooseOnHost(P, why) : KMeansChooseOnGPU(P, why);
}

PetscInt KMeansChooseOnce_Private(const KMeansPoints *P)
{
  const char    *why;
  const PetscInt assign = KMeansChooseAssign(P, &why);

  return KMeansAssignTable[assign].group ? KMEANS_ASSIGN_brute : assign;
}

/* `cells` replaces `direct` or `tensor` on a GPU if cells have few candidates. Their number grows with the expected number of centroids in the cell of a point, if centroids were
   distributed like points. With 4 features the cells are so large that `cells` took longer for 10 to 1000 clusters, measured on an H200 (docs/performance/kmeans.md). */
#define KMEANS_CELLS_AUTO    3                                /* largest number of features */
#define KMEANS_CELLS_LEAST   ((double)(1 << 22))              /* least number of points times clusters of a rank: listing the candidates takes about 5 us in every iteration */
#define KMEANS_CELLS_FROM(d) ((d) <= 2 ? KMEANS_FEW + 1 : 32) /* least number of clusters. With up to KMEANS_FEW, `direct` reads and assigns the points in less time */
#define KMEANS_CELLS_MOST(d) ((d) <= 2 ? 1.0 : 0.25)

static PetscErrorCode KMeansChooseCells(KMeans km, PetscInt *assign)
{
#if GP_HAVE_CUDA
  const MPI_Comm    comm  = PetscObjectComm((PetscObject)km);
  KMeansPoints     *P     = &km->points;
  const KMeansData *A     = &P->data;
  double            share = 0;

  PetscFunctionBegin;
  if (GpDevKindOf(A->dev) != GP_DEV_CUDA || (*assign != KMEANS_ASSIGN_direct && *assign != KMEANS_ASSIGN_tensor) || A->d > KMEANS_CELLS_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (km->k < KMEANS_CELLS_FROM(A->d) || km->k > KMEANS_CELLS_CLUSTERS || km->batch || KMeansIsStreamed(P) || (double)P->N * km->k < KMEANS_CELLS_LEAST * P->ranks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansPointsSetGrid_Private(comm, P));
  PetscCallGp(A->dev, "Grid", KMeansGridShare_CUDA(A, &share));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, comm)); /* so that all ranks make the same choice */
  if (share * km->k <= KMEANS_CELLS_MOST(A->d)) {
    *assign = KMEANS_ASSIGN_cells;
    km->why = "the points are dense, with few features, and evenly spread over the cells of a grid";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KMeansPointsFreeGrid_Private(P));
  km->why = *assign == KMEANS_ASSIGN_direct ? "the points are dense, with few features, but most of them are in few cells of a grid" : "the points are dense, with few features and many clusters, but most of them are in few cells of a grid";
#else
  PetscFunctionBegin;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether an assignment supports only dense points and the Euclidean metric. few: receives whether it supports only up to KMEANS_DIRECT features. */
static PetscBool KMeansNeedsDense(PetscInt assign, PetscBool *few)
{
  *few = PETSC_FALSE;
  switch (assign) {
  case KMEANS_ASSIGN_direct:
  case KMEANS_ASSIGN_cells:
  case KMEANS_ASSIGN_localpoints:
  case KMEANS_ASSIGN_localcentroids:
  case KMEANS_ASSIGN_columns:
  case KMEANS_ASSIGN_localcolumns:
    *few = PETSC_TRUE;
    return PETSC_TRUE;
  case KMEANS_ASSIGN_tiled:
  case KMEANS_ASSIGN_tensor:
  case KMEANS_ASSIGN_naive:
    return PETSC_TRUE;
  default:
    return PETSC_FALSE;
  }
}

/* Refuses an assignment that cannot handle the points. */
static PetscErrorCode KMeansCheckAssign(KMeans km, PetscInt assign)
{
  const KMeansData *A    = &km->points.data;
  const MPI_Comm    comm = PetscObjectComm((PetscObject)km);
  const char *const name = KMeansAssignTable[assign].name;
  int               has  = 1;
  PetscBool         few;
  const PetscBool   dense = KMeansNeedsDense(assign, &few);

  PetscFunctionBegin;
  PetscCheck(A->row || assign != KMEANS_ASSIGN_sparse, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign sparse: the points are a dense matrix; use -kmeans_assign auto");
  PetscCheck(!A->row || !dense, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign %s: the points are sparse, and this algorithm is for dense ones; use -kmeans_assign auto", name);
  PetscCheck(!A->cosine || !dense, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign %s: this algorithm is for -kmeans_metric euclidean; use -kmeans_assign auto", name);
  PetscCheck(!few || A->d <= KMEANS_DIRECT, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign %s: the points have %d features, more than %d; use -kmeans_assign tiled", name, (int)A->d, KMEANS_DIRECT);
  PetscCheck(assign != KMEANS_ASSIGN_cells || A->d <= KMEANS_CELLS_FEATURES, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign cells: the points have %d features, more than %d; use -kmeans_assign direct", (int)A->d, KMEANS_CELLS_FEATURES);
  PetscCheck(assign != KMEANS_ASSIGN_cells || km->k <= KMEANS_CELLS_CLUSTERS, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign cells: %" PetscInt_FMT " clusters, more than %d; use -kmeans_assign direct", km->k, KMEANS_CELLS_CLUSTERS);
  if (assign == KMEANS_ASSIGN_tensor && GpDevKindOf(A->dev) == GP_DEV_CUDA) PetscCallGp(A->dev, "Tensor cores", GP_ON_DEVICE(A->dev, KMeansHasTensor, A->dev, &has));
  PetscCheck(has, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign tensor: the GPU has compute capability below 8.0, or gpucsr was compiled for such GPUs only (CUDA_ARCHS); use -kmeans_assign tiled");
  PetscCheck(!KMeansIsStreamed(&km->points) || (assign != KMEANS_ASSIGN_columns && assign != KMEANS_ASSIGN_localcolumns), comm, PETSC_ERR_USER_INPUT,
             "-kmeans_assign %s: the points are streamed from host memory, and this algorithm needs a copy of them by columns on the device; use -kmeans_assign auto, or -kmeans_stream never", name);
  PetscCheck(!KMeansIsStreamed(&km->points) || assign != KMEANS_ASSIGN_cells, comm, PETSC_ERR_USER_INPUT,
             "-kmeans_assign cells: the points are streamed from host memory, and this algorithm needs the box of all of them; use -kmeans_assign auto, or -kmeans_stream never");
  PetscCheck(!km->batch || !KMeansAssignTable[assign].group, comm, PETSC_ERR_USER_INPUT, "-kmeans_assign %s: lower bounds need all points in every iteration; use -kmeans_assign auto with -kmeans_batch", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the variant of a stage: the one that the option asks for, or `standard` if the option is `auto`. */
static PetscErrorCode KMeansChooseVariant(KMeans km, const char option[], const KMeansVariant table[], PetscInt asked, PetscInt standard, PetscInt *chosen)
{
  PetscFunctionBegin;
  *chosen = asked == KMEANS_AUTO ? standard : asked;
  PetscCheck(table[*chosen].run[GpDevKindOf(km->points.data.dev)], PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "%s %s: this algorithm runs on the host only; add -gpucsr_device host, or use %s auto", option, table[*chosen].name, option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The update that `auto` chooses. */
static PetscInt KMeansChooseUpdate(KMeans km)
{
  const KMeansData *A = &km->points.data;

  if (KMeansIsStreamed(&km->points)) return GpDevKindOf(A->dev) == GP_DEV_HOST || KMeansFixedIsFastest(A) ? KMEANS_UPDATE_fixed : KMEANS_UPDATE_sort;
  if (GpDevKindOf(A->dev) == GP_DEV_HOST || A->row) return km->batch ? KMEANS_UPDATE_fixed : KMEANS_UPDATE_changed;
  if (!km->batch && GP_ON_DEVICE(A->dev, KMeansFuses, A, km->now[0])) return KMEANS_UPDATE_changed; /* the assignment itself adds the points whose labels change */
  if (KMeansFixedIsFastest(A)) return KMEANS_UPDATE_fixed;
  return km->batch ? KMEANS_UPDATE_sort : KMEANS_UPDATE_changed; /* `changed` adds all points by `sort` once, and then moves those whose labels change */
}

/* Refuses an update that cannot handle the points. */
static PetscErrorCode KMeansCheckUpdate(KMeans km, PetscInt update)
{
  const MPI_Comm    comm       = PetscObjectComm((PetscObject)km);
  const char *const name       = KMeansUpdateTable[update].name;
  const int         properties = KMeansUpdateTable[update].properties;

  PetscFunctionBegin;
  PetscCheck(!km->batch || !(properties & KMEANS_DIFFERENCES), comm, PETSC_ERR_USER_INPUT, "-kmeans_update %s needs all points in every iteration; use -kmeans_update auto with -kmeans_batch", name);
  PetscCheck(!KMeansIsStreamed(&km->points) || !(properties & (KMEANS_ON_HOST | KMEANS_FLOAT)), comm, PETSC_ERR_USER_INPUT,
             "-kmeans_update %s: the points are streamed from host memory, and this algorithm needs all of them at once; use -kmeans_update auto, or -kmeans_stream never", name);
  PetscCheck(!km->points.data.row || !(properties & KMEANS_DENSE), comm, PETSC_ERR_USER_INPUT, "-kmeans_update %s: the points are sparse, and this algorithm is for dense ones; use -kmeans_update auto", name);
  PetscCheck(km->k <= KMEANS_RANK_CLUSTERS || GpDevKindOf(km->points.data.dev) == GP_DEV_HOST || (update != KMEANS_UPDATE_rank && update != KMEANS_UPDATE_rankstable), comm, PETSC_ERR_USER_INPUT,
             "-kmeans_update %s: %" PetscInt_FMT " clusters, more than %d; use -kmeans_update auto", name, km->k, KMEANS_RANK_CLUSTERS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses the variants of assignment and update. */
PetscErrorCode KMeansChooseVariants_Private(KMeans km)
{
  PetscInt assign = KMeansChooseAssign(&km->points, &km->why);

  PetscFunctionBegin;
  km->change.before = KMEANS_AUTO;
  PetscCheck(!km->batch || (!KMeansIsStreamed(&km->points) && !KMeansIsStreamed(&km->batches.points)), PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT,
             "-kmeans_batch %" PetscInt_FMT ": the points are streamed from host memory, and mini-batches need them on the device; use -kmeans_batch 0, or -kmeans_stream never and more ranks", km->batch);
  if ((km->batch || KMeansIsStreamed(&km->points)) && KMeansAssignTable[assign].group) {
    assign  = KMEANS_ASSIGN_brute;
    km->why = km->batch ? "lower bounds need all points in every iteration" : "the points are streamed, and lower bounds take device memory";
  }
  if (km->assign == KMEANS_AUTO) PetscCall(KMeansChooseCells(km, &assign));
  PetscCall(KMeansChooseVariant(km, "-kmeans_assign", KMeansAssignTable, km->assign, assign, &km->now[0]));
  PetscCall(KMeansCheckAssign(km, km->now[0]));
  if (km->now[0] == KMEANS_ASSIGN_cells) {
    PetscCall(KMeansPointsSetGrid_Private(PetscObjectComm((PetscObject)km), &km->points));
    if (km->batch) PetscCall(KMeansPointsSetGrid_Private(PetscObjectComm((PetscObject)km), &km->batches.points));
  }
  PetscCall(KMeansChooseVariant(km, "-kmeans_update", KMeansUpdateTable, km->update, KMeansChooseUpdate(km), &km->now[1]));
  PetscCall(KMeansCheckUpdate(km, km->now[1]));
  if (KMeansUpdateTable[km->now[1]].properties & KMEANS_ON_HOST) {
    PetscCall(KMeansPointsKeepOnHost_Private(&km->points));
    if (km->batch) PetscCall(KMeansPointsKeepOnHost_Private(&km->batches.points));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Undoes the changes that the previous solve made, so that equal solves take the same steps. */
PetscErrorCode KMeansResetAssign_Private(KMeans km)
{
  PetscFunctionBegin;
  if (km->change.before != KMEANS_AUTO) km->now[0] = km->change.before;
  km->change.before      = KMEANS_AUTO;
  km->points.data.coarse = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the assignment after an iteration that is not the last one. If `auto` chose `tiled` or `tensor` and their error bounds exclude too few centroids, `yinyang` replaces
   them. The first iteration of `yinyang` evaluates every distance in double precision. Therefore the change is made only after the present restart has evaluated as many
   distances again. These must also be at least the fraction 1 / KMEANS_FEW_RECHECKED of all distances of these iterations.

   On a GPU `sparse` computes scores in half precision. If an iteration evaluates more distances again than 1 / KMEANS_MANY_RECHECKED times the number of points, the rest of the
   solve computes scores in single precision.

   Streamed points keep their assignment, because the bounds of `yinyang` take device memory.

   Labels do not depend on the assignment. The conditions depend on sums over all ranks alone, so that all ranks make the same decision. */
#define KMEANS_FEW_RECHECKED  16
#define KMEANS_MANY_RECHECKED 2

PetscErrorCode KMeansAdaptAssign_Private(KMeans km)
{
  KMeansAssignChange *change = &km->change;
  const double        all = (double)km->points.N * (double)km->kept, bounds = 8.0 * (double)km->points.N * (double)KMeansGroups(km->kept, KMeansAssignTable[KMEANS_ASSIGN_yinyang].group);

  PetscFunctionBegin;
  if (km->now[0] == KMEANS_ASSIGN_sparse && KMEANS_MANY_RECHECKED * (double)km->tally[KMEANS_RECHECK] > (double)km->points.N) km->points.data.coarse = 0;
  if (km->assign != KMEANS_AUTO || KMeansIsStreamed(&km->points) || (km->now[0] != KMEANS_ASSIGN_tiled && km->now[0] != KMEANS_ASSIGN_tensor)) PetscFunctionReturn(PETSC_SUCCESS);
  change->passes++;
  change->rechecked += km->tally[KMEANS_RECHECK];
  if (bounds > KMEANS_MOST_BOUNDS || (double)change->rechecked < all || KMEANS_FEW_RECHECKED * (double)change->rechecked < all * (double)change->passes) PetscFunctionReturn(PETSC_SUCCESS);
  change->before  = km->now[0];
  change->restart = km->done;
  change->it      = km->it + 1;
  km->now[0]      = KMEANS_ASSIGN_yinyang;
  PetscFunctionReturn(PETSC_SUCCESS);
}
