/* The points of a matrix on the device: the upload, the memory of centroids and bounds. */
#include "kmeansrows.h"
#include "device/gpupload.h"

/* Copies the weights to an array; refuses negative ones, NaN, and weights that are all zero. */
static PetscErrorCode KMeansWeightsCopy(KMeans km, Vec w, PetscInt n, const PetscInt order[], double **weight)
{
  const PetscScalar *a;
  PetscInt           local, start, bad = PETSC_MAX_INT;
  int                positive = 0, other;
  const MPI_Comm     comm     = PetscObjectComm((PetscObject)km);

  PetscFunctionBegin;
  *weight = NULL;
  if (!w) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(w, &local));
  other = local != n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!other, comm, PETSC_ERR_ARG_SIZ, "Weights: a rank has another number of weights than of points; distribute them like the rows of the points, for instance by MatCreateVecs()");
  PetscCall(VecGetOwnershipRange(w, &start, NULL));
  PetscCall(PetscMalloc1(PetscMax(n, 1), weight)); /* NULL means that all weights are 1, also on a rank without points */
  PetscCall(VecGetArrayRead(w, &a));
  for (PetscInt i = 0; i < n; i++) {
    (*weight)[i] = a[order ? order[i] : i];
    if (bad == PETSC_MAX_INT && !(a[i] >= 0 && a[i] <= PETSC_MAX_REAL)) bad = start + i;
    if (a[i] > 0) positive = 1;
  }
  PetscCall(VecRestoreArrayRead(w, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &positive, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(bad == PETSC_MAX_INT, comm, PETSC_ERR_USER_INPUT, "Weights: that of point %" PetscInt_FMT " is negative or not a finite number", bad);
  PetscCheck(positive, comm, PETSC_ERR_USER_INPUT, "Weights: all are zero; at least one point must count");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates device memory and copies an array to it; a NULL array gives uninitialised memory. */
static PetscErrorCode KMeansUpload(KMeansPoints *P, const char what[], size_t bytes, const void *from, void *to)
{
  PetscFunctionBegin;
  PetscCallGp(P->data.dev, what, GpDevAlloc(P->data.dev, bytes, to));
  if (from && bytes) PetscCallGp(P->data.dev, what, GpDevUploadByThreads(P->data.dev, 0, *(void **)to, bytes, NULL, (void *)(uintptr_t)from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr KMeansFillSingle(void *rows, size_t offset, size_t bytes, void *destination)
{
  KMeansRowsFill_Private((const KMeansRows *)rows, offset / sizeof(float), bytes / sizeof(float), 1, destination);
  return GP_SUCCESS;
}

static GpErr KMeansFillDouble(void *rows, size_t offset, size_t bytes, void *destination)
{
  KMeansRowsFill_Private((const KMeansRows *)rows, offset / sizeof(double), bytes / sizeof(double), 0, destination);
  return GP_SUCCESS;
}

/* Copies the values to the device. */
static PetscErrorCode KMeansPointsUploadValues(const KMeansRows *rows, KMeansPoints *P)
{
  KMeansData       *A     = &P->data;
  const size_t      bytes = rows->nvalues * (A->single ? sizeof(float) : sizeof(double));
  const char *const what  = rows->dense ? "Points (-kmeans_stream always keeps them in host memory)" : "Points (sparse points are not streamed; use more ranks)";

  PetscFunctionBegin;
  PetscCall(KMeansUpload(P, what, bytes, NULL, &A->value));
  if (bytes) PetscCallGp(A->dev, "Points", GpDevUploadByThreads(A->dev, 0, (void *)A->value, bytes, A->single ? KMeansFillSingle : KMeansFillDouble, (void *)(uintptr_t)rows));
  if (rows->dense) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansUpload(P, what, ((size_t)A->n + 1) * sizeof(int32_t), rows->row, &A->row));
  PetscCall(KMeansUpload(P, what, rows->nvalues * sizeof(int32_t), rows->col, &A->col));
  PetscCall(KMeansPointsSquare_Private(P, rows->row, rows->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansPointsUpload(KMeans km, const KMeansRows *rows, const double weight[], const KMeansFixed feature[], KMeansPoints *P)
{
  KMeansData *A = &P->data;
  PetscBool   streams;

  PetscFunctionBegin;
  PetscCall(KMeansBlocksChoose_Private(km, rows, (PetscBool) !!weight, P, &streams));
  if (!streams) PetscCall(KMeansPointsUploadValues(rows, P));
  if (weight) PetscCall(KMeansUpload(P, "Weights", (size_t)A->n * sizeof(double), weight, &A->weight));
  PetscCall(KMeansUpload(P, "Features", (size_t)A->d * sizeof(KMeansFixed), feature, &A->feature));
  PetscCall(KMeansUpload(P, "Labels", (size_t)A->n * sizeof(int32_t), NULL, &A->label));
  PetscCall(KMeansUpload(P, "Distances", (size_t)A->n * sizeof(double), NULL, &A->distance));
  if (streams) PetscCall(KMeansBlocksCreate_Private(km, rows, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the arrays whose sizes depend on the number of centroids. */
static PetscErrorCode KMeansPointsResetCentroids(KMeansPoints *P)
{
  KMeansData  *A = &P->data;
  const size_t k = (size_t)P->capacity, sums = (size_t)KMeansTallySize(k, A->d, A->words) * sizeof(int64_t);

  PetscFunctionBegin;
  GpDevFree(A->dev, &A->centroid, k * A->d * sizeof(double));
  GpDevFree(A->dev, &A->square, k * sizeof(double));
  if (A->reduced != A->tally) GpDevFree(A->dev, &A->reduced, sums);
  GpDevFree(A->dev, &A->tally, sums);
  A->reduced  = NULL;
  P->capacity = P->summed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies k centroids to the device. */
PetscErrorCode KMeansPointsSetCentroids_Private(KMeansPoints *P, PetscInt k, const double centroid[])
{
  KMeansData  *A    = &P->data;
  const size_t sums = (size_t)KMeansTallySize(k, A->d, A->words) * sizeof(int64_t);

  PetscFunctionBegin;
  if (k > P->capacity) {
    PetscCall(KMeansPointsResetCentroids(P));
    PetscCall(KMeansUpload(P, "Centroids", (size_t)k * A->d * sizeof(double), NULL, &A->centroid));
    PetscCall(KMeansUpload(P, "Centroids", (size_t)k * sizeof(double), NULL, &A->square));
    PetscCall(KMeansUpload(P, "Sums", sums, NULL, &A->tally));
    PetscCallGp(A->dev, "Sums", GpDevZero(A->dev, A->tally, sums));
    A->reduced = A->tally;
    if (P->ranks > 1) PetscCall(KMeansUpload(P, "Sums", sums, NULL, &A->reduced));
    P->capacity = k;
  }
  A->k = (int32_t)k;
  PetscCallGp(A->dev, "Centroids", GpDevUpload(A->dev, A->centroid, centroid, (size_t)k * A->d * sizeof(double)));
  if (A->row && !A->cosine) PetscCallGp(A->dev, "Centroids", GP_ON_DEVICE(A->dev, KMeansSquares, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansPointsFreeBounds(KMeansPoints *P)
{
  KMeansData   *A = &P->data;
  KMeansBounds *B = &A->bounds;
  const size_t  k = (size_t)B->capacity, groups = B->capacity ? (size_t)KMeansGroups(B->capacity, B->group) : 0;

  PetscFunctionBegin;
  GpDevFree(A->dev, &B->lower, groups * A->n * sizeof(double));
  GpDevFree(A->dev, &B->old, k * A->d * sizeof(double));
  GpDevFree(A->dev, &B->moved, k * sizeof(double));
  GpDevFree(A->dev, &B->groupmoved, groups * sizeof(double));
  GpDevFree(A->dev, &B->half, k * sizeof(double));
  GpDevFree(A->dev, &B->largest, B->capacity ? sizeof(double) : 0);
  B->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares lower bounds for the centroids on the device. group: number of centroids that share a bound; 0: the assignment has no bounds. The movement
   of the centroids since the last call corrects the bounds. If centroids were renumbered since then, the labels must have been forgotten. New bounds are 0, which
   holds for all labels that there are. */
PetscErrorCode KMeansPointsSetBounds_Private(KMeansPoints *P, PetscInt group)
{
  KMeansData   *A     = &P->data;
  KMeansBounds *B     = &A->bounds;
  const size_t  bytes = (size_t)A->k * A->d * sizeof(double);

  PetscFunctionBegin;
  if (!group) {
    if (B->capacity) PetscCall(KMeansPointsFreeBounds(P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (A->k > B->capacity || group != B->group) {
    const size_t k = (size_t)A->k, groups = (size_t)KMeansGroups(A->k, (int32_t)group);

    PetscCall(KMeansPointsFreeBounds(P));
    PetscCall(KMeansUpload(P, "Bounds", groups * A->n * sizeof(double), NULL, &B->lower));
    PetscCallGp(A->dev, "Bounds", GpDevZero(A->dev, B->lower, groups * A->n * sizeof(double)));
    PetscCall(KMeansUpload(P, "Bounds", k * A->d * sizeof(double), NULL, &B->old));
    PetscCall(KMeansUpload(P, "Bounds", k * sizeof(double), NULL, &B->moved));
    PetscCall(KMeansUpload(P, "Bounds", groups * sizeof(double), NULL, &B->groupmoved));
    PetscCall(KMeansUpload(P, "Bounds", k * sizeof(double), NULL, &B->half));
    PetscCall(KMeansUpload(P, "Bounds", sizeof(double), NULL, &B->largest));
    B->capacity = A->k;
    B->group    = (int32_t)group;
    PetscCallGp(A->dev, "Bounds", GpDevCopyWithin(A->dev, B->old, A->centroid, bytes));
  }
  PetscCallGp(A->dev, "Bounds", GP_ON_DEVICE(A->dev, KMeansMoveBounds, A));
  PetscCallGp(A->dev, "Bounds", GpDevCopyWithin(A->dev, B->old, A->centroid, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what KMeansLoopRun_Private() has allocated. */
PetscErrorCode KMeansLoopedDestroy_Private(KMeansLooped *W)
{
  const GpDev  dev    = W->data.dev;
  const size_t solves = (size_t)W->solves;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGraphDestroy(&W->graph));
  if (W->loop) GpDevFree(dev, &W->loop, solves * sizeof(*W->loop));
  if (W->frame.centre) GpDevFree(dev, &W->frame.centre, solves * W->data.d * sizeof(double));
  if (W->frame.numbers) GpDevFree(dev, &W->frame.numbers, solves * sizeof(*W->frame.numbers));
  PetscCall(PetscMemzero(W, sizeof(*W)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the points by columns on the device if an assignment reads them so. The copy is kept for later iterations. */
PetscErrorCode KMeansPointsSetColumns_Private(KMeansPoints *P, PetscInt assign)
{
  KMeansData *A = &P->data;

  PetscFunctionBegin;
  if (A->column || (assign != KMEANS_ASSIGN_columns && assign != KMEANS_ASSIGN_localcolumns)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansUpload(P, "Points by columns", P->values * (A->single ? sizeof(float) : sizeof(double)), NULL, &A->column));
  A->stride = A->n;
  PetscCallGp(A->dev, "Points by columns", GP_ON_DEVICE(A->dev, KMeansCopyColumns, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansPointsDestroy_Private(KMeansPoints *P)
{
  KMeansData  *A = &P->data;
  const size_t n = (size_t)A->n;

  PetscFunctionBegin;
  if (!A->dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansPointsResetCentroids(P));
  PetscCall(KMeansPointsFreeBounds(P));
  for (int e = 0; e < 2; e++)
    if (P->event[e]) GpDevEventDestroy(A->dev, P->event[e]);
  PetscCall(KMeansLoopedDestroy_Private(&P->looped));
  PetscCall(KMeansPointsFreeSums_Private(P));
  PetscCall(KMeansPointsFreeGrid_Private(P));
  PetscCall(KMeansBlocksDestroy_Private(P));
  GpDevFree(A->dev, &A->value, A->value ? P->values * (A->single ? sizeof(float) : sizeof(double)) : 0);
  GpDevFree(A->dev, &A->column, A->column ? P->values * (A->single ? sizeof(float) : sizeof(double)) : 0);
  if (A->row) GpDevFree(A->dev, &A->row, (n + 1) * sizeof(int32_t));
  if (A->col) GpDevFree(A->dev, &A->col, P->values * sizeof(int32_t));
  if (A->weight) GpDevFree(A->dev, &A->weight, n * sizeof(double));
  PetscCall(PetscFree(P->feature));
  GpDevFree(A->dev, &A->feature, (size_t)A->d * sizeof(KMeansFixed));
  GpDevFree(A->dev, &A->label, n * sizeof(int32_t));
  GpDevFree(A->dev, &A->distance, n * sizeof(double));
  PetscCall(PetscMemzero(P, sizeof(*P)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of X, with weights w or NULL, to the device. The caller frees rows and weight, and P after an error. */
static PetscErrorCode KMeansPointsCopy(KMeans km, Mat X, Vec w, const PetscInt order[], PetscInt many, const double outside[], KMeansRows *rows, double **weight, KMeansPoints *P)
{
  PetscFunctionBegin;
  PetscCall(KMeansRowsCreate_Private(km, X, order, rows));
  PetscCall(KMeansRowsRound_Private(km, rows, &P->data.single));
  PetscCall(KMeansWeightsCopy(km, w, rows->n, order, weight));
  PetscCall(MatGetSize(X, &P->N, NULL));
  PetscCall(MatGetOwnershipRange(X, &P->first, NULL));
  PetscCall(PetscGPUCSRGetDevice(&P->data.dev));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)km), &P->ranks));
  P->values      = rows->nvalues;
  P->data.n      = (int32_t)rows->n;
  P->data.d      = (int32_t)rows->d;
  P->data.cosine = km->metric == KMEANS_METRIC_COSINE;
  PetscCall(PetscMalloc1(rows->d, &P->feature));
  PetscCall(KMeansPointsScale_Private(km, rows, *weight, many, outside, P, P->feature));
  PetscCall(KMeansPointsUpload(km, rows, *weight, P->feature, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of X, with weights w or NULL, to the device. order: local numbers of the rows in the order on the device, or NULL. `outside` holds `many`
   centroids that need not lie between the points. An error leaves no points. */
PetscErrorCode KMeansPointsCreate_Private(KMeans km, Mat X, Vec w, const PetscInt order[], PetscInt many, const double outside[], KMeansPoints *P)
{
  KMeansRows     rows   = {0};
  Mat            full   = NULL;
  double        *weight = NULL;
  PetscBool      triangle;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &triangle, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (triangle) PetscCall(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &full)); /* MatGetRow() of a symmetric matrix gives the upper triangle */
  err = KMeansPointsCopy(km, full ? full : X, w, order, many, outside, &rows, &weight, P);
  PetscCall(MatDestroy(&full));
  PetscCall(PetscFree(weight));
  PetscCall(KMeansRowsDestroy_Private(&rows));
  if (err) PetscCall(KMeansPointsDestroy_Private(P));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the features of the point with a global number. All ranks get them. Collective. */
PetscErrorCode KMeansPointsGetRow_Private(KMeans km, PetscInt point, double x[])
{
  KMeansPoints     *P = &km->points;
  const KMeansData *A = &P->data;
  const PetscInt    i = point - P->first;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(x, A->d));
  if (i >= 0 && i < A->n && KMeansIsStreamed(P)) PetscCall(KMeansBlocksGetRow_Private(P, i, x));
  else if (i >= 0 && i < A->n) {
    int32_t      at[2] = {0, A->d}, *col = NULL;
    int64_t      from;
    const size_t size = A->single ? sizeof(float) : sizeof(double);
    char        *value;

    if (A->row) PetscCallGp(A->dev, "Point", GpDevDownload(A->dev, at, A->row + i, sizeof(at)));
    from = A->row ? at[0] : (int64_t)i * A->d;
    PetscCall(PetscMalloc2((size_t)(at[1] - at[0]) * size, &value, at[1] - at[0], &col));
    PetscCallGp(A->dev, "Point", GpDevDownload(A->dev, value, (const char *)A->value + from * size, (size_t)(at[1] - at[0]) * size));
    if (A->row) PetscCallGp(A->dev, "Point", GpDevDownload(A->dev, col, A->col + from, (size_t)(at[1] - at[0]) * sizeof(int32_t)));
    for (int32_t k = 0; k < at[1] - at[0]; k++) x[A->row ? col[k] : k] = A->single ? (double)((float *)value)[k] : ((double *)value)[k];
    PetscCall(PetscFree2(value, col));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, x, A->d, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)km)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
