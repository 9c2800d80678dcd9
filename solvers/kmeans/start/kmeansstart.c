/* Start centroids: given, drawn at random, or drawn by k-means++. */
#include "solvers/kmeans/kmeansimpl.h"

/* Refuses so many clusters and features that 32-bit integers cannot count the sums of an iteration. */
PetscErrorCode KMeansCheckSize_Private(MPI_Comm comm, PetscInt k, PetscInt d)
{
  const double size = (double)k * (1 + 2 * (double)d); /* as KMeansTallySize() with two words a sum */

  PetscFunctionBegin;
  PetscCheck(size < INT32_MAX - KMEANS_TALLY, comm, PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " clusters with %" PetscInt_FMT " features need %.3g sums, more than 32 bits can count; use fewer clusters or features", k, d, size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the given centroids to an array that is equal on all ranks. X: the points that are to be assigned to them. */
PetscErrorCode KMeansGetGiven_Private(KMeans km, Mat X, PetscInt *many, double **centroid)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)km);
  PetscInt       k, d, n, features, start, end;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCheck(km->given, comm, PETSC_ERR_ORDER, "KMeans: the start `given` needs centroids: call KMeansSetStartCentroids()");
  PetscCall(MatGetSize(km->given, &k, &d));
  PetscCall(MatGetSize(X, &n, &features));
  PetscCheck(d == features, comm, PETSC_ERR_USER_INPUT, "Start centroids: %" PetscInt_FMT " x %" PetscInt_FMT ", but the points have %" PetscInt_FMT " features; each centroid needs as many", k, d, features);
  PetscCall(KMeansCheckSize_Private(comm, k, d));
  *many = k;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)km->given), &size));
  PetscCall(PetscCalloc1(k * d, centroid));
  PetscCall(MatGetOwnershipRange(km->given, &start, &end));
  for (PetscInt c = start; c < end; c++) {
    const PetscInt    *col;
    const PetscScalar *value;
    double             square = 0;

    PetscCall(MatGetRow(km->given, c, &n, &col, &value));
    for (PetscInt e = 0; e < n; e++) {
      PetscCheck(!PetscIsInfOrNanScalar(value[e]), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "Start centroids: row %" PetscInt_FMT ", column %" PetscInt_FMT " is not a finite number", c, col[e]);
      (*centroid)[c * d + col[e]] = value[e];
      square += value[e] * value[e];
    }
    PetscCall(MatRestoreRow(km->given, c, &n, &col, &value));
    if (km->metric != KMEANS_METRIC_COSINE) continue;
    PetscCheck(square > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "Start centroids: row %" PetscInt_FMT " is zero and has no direction", c);
    for (PetscInt j = 0; j < d; j++) (*centroid)[c * d + j] /= sqrt(square);
  }
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, *centroid, (PetscMPIInt)(k * d), MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)km->given)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lowers `nearest` of the points of a block. */
static GpErr KMeansMeasureBlock(const KMeansData *A, int64_t first, const void *ctx)
{
  KMeansDrawArgs draw = *(const KMeansDrawArgs *)ctx;

  draw.first += first;
  draw.nearest += first;
  return GP_ON_DEVICE(A->dev, KMeansDraw, A, &draw);
}

/* Draws a point with a probability proportional to weight times nearest. Ranks agree on the least key and, if it occurs twice, on the lowest point. */
static PetscErrorCode KMeansDrawPoint(KMeans km, const KMeansDrawArgs *args, PetscInt *point)
{
  const KMeansData *A    = &km->points.data;
  const int64_t     none = INT64_MAX;
  int64_t           mine[2], key, number;
  const double      worst = PETSC_INFINITY;
  int64_t           infinity;
  KMeansDrawArgs    draw = *args;

  PetscFunctionBegin;
  mine[0] = mine[1] = none;
  if (draw.centroid >= 0 && KMeansIsStreamed(&km->points)) {
    PetscCall(KMeansBlocksVisit_Private(&km->points, "Start", KMeansMeasureBlock, &draw));
    draw.centroid = -1; /* the draw below then reads no values of the points */
  }
  PetscCallGp(A->dev, "Start", GpDevUpload(A->dev, draw.drawn, mine, sizeof(mine)));
  PetscCallGp(A->dev, "Start", GP_ON_DEVICE(A->dev, KMeansDraw, A, &draw));
  PetscCallGp(A->dev, "Start", GpDevDownload(A->dev, mine, draw.drawn, sizeof(mine)));
  PetscCallMPI(MPI_Allreduce(&mine[0], &key, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)km)));
  number = mine[0] == key ? mine[1] : none;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)km)));
  memcpy(&infinity, &worst, sizeof(infinity));
  *point = key < infinity ? (PetscInt)number : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a draw that found no point. c: the number of points drawn before. */
static PetscErrorCode KMeansCheckDrawn(KMeans km, PetscInt c, PetscInt point, PetscBool distances)
{
  PetscFunctionBegin;
  PetscCheck(point >= 0, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: there are only %" PetscInt_FMT " %s for %" PetscInt_FMT " clusters; ask for fewer clusters", c, distances ? "distinct points" : "points with positive weight",
             km->k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets km->centroid as KMeansStartDrawn_Private() does, without the host between the draws. `drawn` is false, and nothing is done, unless all points are on
   one GPU and not streamed. */
static PetscErrorCode KMeansStartOnDevice(KMeans km, PetscInt restart, PetscBool distances, PetscBool *drawn)
{
  const KMeansData *A = &km->points.data;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)km), &size));
  *drawn = (PetscBool)(size == 1 && GpDevKindOf(A->dev) == GP_DEV_CUDA && !KMeansIsStreamed(&km->points));
#if GP_HAVE_CUDA
  if (*drawn) {
    const size_t      numbers = (size_t)km->k * sizeof(int64_t), values = (size_t)km->k * A->d * sizeof(double);
    KMeansDrawAllArgs starts = {.many = (int32_t)km->k, .distances = distances, .first = km->points.first};
    uint64_t         *stream;
    int64_t          *point;

    PetscCall(PetscMalloc2(km->k, &stream, km->k, &point));
    for (PetscInt c = 0; c < km->k; c++) stream[c] = KMeansRandomStream(km, restart, c);
    starts.stream = stream;
    PetscCallGp(A->dev, "Start", GpDevAlloc(A->dev, values, &starts.centroid));
    PetscCallGp(A->dev, "Start", GpDevAlloc(A->dev, numbers, &starts.point));
    PetscCallGp(A->dev, "Start", KMeansDrawAll_CUDA(A, &starts));
    PetscCallGp(A->dev, "Start", GpDevDownload(A->dev, point, starts.point, numbers));
    PetscCallGp(A->dev, "Start", GpDevDownload(A->dev, km->centroid, starts.centroid, values));
    GpDevFree(A->dev, &starts.point, numbers);
    GpDevFree(A->dev, &starts.centroid, values);
    for (PetscInt c = 0; c < km->k; c++) PetscCall(KMeansCheckDrawn(km, c, (PetscInt)point[c], distances));
    PetscCall(PetscFree2(stream, point));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets km->centroid by the starts `random` and, with distances, k-means++. Without distances, `nearest` is 1 for a point until it is drawn. */
PetscErrorCode KMeansStartDrawn_Private(KMeans km, PetscInt restart, PetscBool distances)
{
  KMeansPoints     *P     = &km->points;
  const KMeansData *A     = &P->data;
  KMeansDrawArgs    draw  = {.centroid = -1, .first = P->first};
  const size_t      bytes = (size_t)A->n * sizeof(double);
  double           *ones, zero = 0;
  PetscBool         drawn = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KMeansStartOnDevice(km, restart, distances, &drawn));
  if (drawn) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(A->dev, "Start", GpDevAlloc(A->dev, bytes, &draw.nearest));
  PetscCallGp(A->dev, "Start", GpDevAlloc(A->dev, 2 * sizeof(int64_t), &draw.drawn));
  PetscCall(PetscMalloc1(A->n, &ones));
  for (int32_t i = 0; i < A->n; i++) ones[i] = 1;
  if (A->n) PetscCallGp(A->dev, "Start", GpDevUpload(A->dev, draw.nearest, ones, bytes));
  for (PetscInt c = 0; c < km->k; c++) {
    PetscInt point;

    draw.stream = KMeansRandomStream(km, restart, c);
    PetscCall(KMeansDrawPoint(km, &draw, &point));
    PetscCall(KMeansCheckDrawn(km, c, point, distances));
    PetscCall(KMeansPointsGetRow_Private(km, point, km->centroid + c * A->d));
    if (!distances) {
      if (point >= P->first && point < P->first + A->n) PetscCallGp(A->dev, "Start", GpDevUpload(A->dev, draw.nearest + (point - P->first), &zero, sizeof(zero)));
    } else if (c + 1 < km->k) { /* the next draw lowers `nearest` by the centroid that is new now */
      for (int32_t i = 0; i < A->n && c == 0; i++) ones[i] = PETSC_MAX_REAL;
      if (c == 0 && A->n) PetscCallGp(A->dev, "Start", GpDevUpload(A->dev, draw.nearest, ones, bytes));
      PetscCall(KMeansPointsSetCentroids_Private(P, 1, km->centroid + c * A->d));
      draw.centroid = 0;
    }
  }
  PetscCall(PetscFree(ones));
  GpDevFree(A->dev, &draw.nearest, bytes);
  GpDevFree(A->dev, &draw.drawn, 2 * sizeof(int64_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
