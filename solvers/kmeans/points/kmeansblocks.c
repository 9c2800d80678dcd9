/* Dense points that stay in host memory. They are cut into blocks of consecutive points, in the layout that the kernels read. Every pass visits all blocks: the
   device works on a block while later blocks are transferred. Labels, distances and all other arrays of the points are on the device. The sums of the clusters are integers, so that
   results do not depend on where the points are cut. */
#include "kmeansrows.h"
#include "device/gpfillers.h"

#include <petsctime.h>

#define KMEANS_STREAMING "streaming the points (a smaller -kmeans_stream_chunk or fewer -kmeans_stream_buffers take less memory)"

/* --- whether the points are streamed ------------------------------------------------------------------------------------------------- */

/* Returns the size in bytes of the device arrays that do not depend on the number of points: centroids and sums. On several ranks the sums are counted twice: the sums of this rank, and those of
   all ranks. */
static double KMeansSumBytes(KMeans km, const KMeansPoints *P)
{
  return (double)km->k * P->data.d * sizeof(double) + (P->ranks > 1 ? 2 : 1) * (double)KMeansTallySize(km->k, P->data.d, P->data.words) * sizeof(int64_t);
}

/* Returns the size in bytes of the device arrays with an entry for each point: labels, distances, weights, and `nearest` during a start. */
static double KMeansPointBytes(const KMeansPoints *P, PetscBool weights)
{
  return (double)P->data.n * (sizeof(int32_t) + (weights ? 3 : 2) * sizeof(double));
}

/* Sets *streams to whether the points are streamed, with the same result on all ranks. P has all sizes. */
PetscErrorCode KMeansBlocksChoose_Private(KMeans km, const KMeansRows *rows, PetscBool weights, const KMeansPoints *P, PetscBool *streams)
{
  const GpDev    dev       = P->data.dev;
  const MPI_Comm comm      = PetscObjectComm((PetscObject)km);
  const double   bytes     = (double)rows->nvalues * (P->data.single ? sizeof(float) : sizeof(double)) + KMeansPointBytes(P, weights) + KMeansSumBytes(km, P);
  size_t         available = 0;
  int            exceeds   = km->stream.mode == KMEANS_STREAM_ALWAYS;

  PetscFunctionBegin;
  *streams = PETSC_FALSE;
  PetscCheck(rows->dense || km->stream.mode != KMEANS_STREAM_ALWAYS, comm, PETSC_ERR_USER_INPUT, "-kmeans_stream always: the points are sparse, and only dense points are streamed; use -kmeans_stream auto, or a dense matrix");
  if (!rows->dense || km->stream.mode == KMEANS_STREAM_NEVER) PetscFunctionReturn(PETSC_SUCCESS);
  if (!exceeds) {
    PetscCallGp(dev, "getting the free device memory", GpStreamIsNeeded(dev, bytes, &exceeds, &available));
    if (exceeds) PetscCall(PetscInfo(km, "points and the arrays of k-means take %.0f bytes, and %zu are free on the device: the points are streamed\n", bytes, available));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &exceeds, 1, MPI_INT, MPI_MAX, comm));
  *streams = (PetscBool)exceeds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- set-up -------------------------------------------------------------------------------------------------------------------------- */

static size_t KMeansPointSize(const KMeansData *A)
{
  return (size_t)A->d * (A->single ? sizeof(float) : sizeof(double));
}

/* Number of points of block b. */
static int32_t KMeansBlockPoints(const KMeansPoints *P, PetscInt b)
{
  const int64_t left = P->data.n - (int64_t)b * P->blocks.points;

  return (int32_t)(left < P->blocks.points ? left : P->blocks.points);
}

typedef struct {
  const KMeansRows   *rows;
  const KMeansPoints *P;
} KMeansBlockSource;

/* Writes the values of a block in the precision of the points. Several threads call it at once. */
static GpErr KMeansBlockFill(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  const KMeansBlockSource *source = (const KMeansBlockSource *)context;
  const size_t             d      = (size_t)source->P->data.d;

  (void)why;
  (void)whylen;
  KMeansRowsFill_Private(source->rows, (size_t)item * (size_t)source->P->blocks.points * d, (size_t)KMeansBlockPoints(source->P, (PetscInt)item) * d, source->P->data.single, destination);
  return GP_SUCCESS;
}

/* Allocates, pins and fills the blocks. Threads fill blocks while this thread pins the next ones. */
static PetscErrorCode KMeansBlocksFill(KMeansBlockSource *source, GpFillers fillers, KMeansPoints *P)
{
  KMeansBlocks  *B = &P->blocks;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  for (PetscInt b = 0; b < B->n; b++) {
    GpFillJob job = {.fill = KMeansBlockFill, .context = source, .bytes = (size_t)KMeansBlockPoints(P, b) * KMeansPointSize(&P->data), .item = b};

    PetscCallGp(P->data.dev, "allocating host memory for streamed points", GpDevAllocHost(P->data.dev, job.bytes, &B->memory[b], &B->pinned[b]));
    job.destination = B->memory[b];
    (void)GpFillersPost(fillers, &job);
  }
  PetscCall(PetscTime(&end));
  B->pin_seconds = end - begin;
  for (PetscInt b = 0; b < B->n; b++) (void)GpFillersWait(fillers, b, -1); /* the jobs cannot fail */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the size in bytes of the device memory that is allocated after the blocks: centroids, sums, bounds and the arrays of a start. */
static double KMeansLaterBytes(KMeans km, const KMeansPoints *P)
{
  const PetscInt group = km->assign >= 0 ? KMeansAssignTable[km->assign].group : 0;

  return KMeansSumBytes(km, P) + (double)P->data.n * (sizeof(double) * (1 + (double)(group ? KMeansGroups(km->k, group) : 0)) + sizeof(int32_t));
}

/* Creates the pipeline and allocates its buffers. */
static PetscErrorCode KMeansBlocksCreateStream(KMeans km, int threads, KMeansPoints *P)
{
  KMeansBlocks   *B     = &P->blocks;
  const GpDev     dev   = P->data.dev;
  const double    point = (double)KMeansPointSize(&P->data);
  GpStreamOptions o     = {.buffers = (int)km->stream.buffers, .threads = threads};

  PetscFunctionBegin;
  PetscCallGp(dev, KMEANS_STREAMING, GpStreamGetBudget(dev, (double)km->stream.resident, point * P->data.n, point * B->points, o.buffers, KMeansLaterBytes(km, P), &o.resident));
  PetscCallGp(dev, KMEANS_STREAMING, GpStreamCreate(dev, &o, &B->stream));
  for (PetscInt b = 0; b < B->n; b++) {
    const GpStreamItem item = {.bytes = (size_t)KMeansBlockPoints(P, b) * KMeansPointSize(&P->data), .host = B->memory[b], .pinned = B->pinned[b]};

    PetscCallGp(dev, KMEANS_STREAMING, GpStreamAdd(B->stream, &item));
  }
  PetscCallGp(dev, KMEANS_STREAMING, GpStreamSetUp(B->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies dense rows to blocks in host memory. All other arrays of P must be on the device. After an error the caller must destroy P. */
PetscErrorCode KMeansBlocksCreate_Private(KMeans km, const KMeansRows *rows, KMeansPoints *P)
{
  KMeansBlocks     *B       = &P->blocks;
  KMeansBlockSource source  = {rows, P}; /* must exist until the threads are destroyed */
  const double      points  = (double)GpStreamGetItemBytes((double)km->stream.chunk) / (double)KMeansPointSize(&P->data);
  const int         threads = GpFillersCount((int)km->stream.threads);
  GpFillers         fillers;
  PetscErrorCode    err;
  int               code;

  PetscFunctionBegin;
  B->points = (int32_t)PetscClipInterval(points, 1, (double)PetscMax(P->data.n, 1));
  B->n      = (P->data.n + B->points - 1) / B->points;
  PetscCall(PetscCalloc2(B->n, &B->memory, B->n, &B->pinned));
  code = GpFillersCreate(threads > 1 ? threads : 0, (int)PetscMax(B->n, 1), &fillers);
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_SYS, "KMeans: %d threads that copy points to host memory cannot be started: %s; use fewer -kmeans_stream_threads", threads, strerror(code));
  err = KMeansBlocksFill(&source, fillers, P);
  GpFillersDestroy(&fillers);
  PetscCall(err);
  PetscCall(KMeansBlocksCreateStream(km, threads, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansBlocksDestroy_Private(KMeansPoints *P)
{
  KMeansBlocks *B = &P->blocks;

  PetscFunctionBegin;
  GpStreamDestroy(&B->stream);
  for (PetscInt b = 0; b < B->n && B->memory; b++)
    if (B->memory[b]) GpDevFreeHost(P->data.dev, &B->memory[b], B->pinned[b]);
  PetscCall(PetscFree2(B->memory, B->pinned));
  PetscCall(PetscMemzero(B, sizeof(*B)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- passes -------------------------------------------------------------------------------------------------------------------------- */

/* Restricts A to n points, from point `start` on: moves the pointers of all arrays that have an entry for each point. */
void KMeansSelectPoints_Private(KMeansData *A, size_t start, PetscInt n)
{
  const size_t size = A->single ? sizeof(float) : sizeof(double);

  A->n = (int32_t)n;
  if (A->row) A->row += start;
  else if (A->value) A->value = (const char *)A->value + start * A->d * size;
  if (A->column) A->column = (const char *)A->column + start * size;
  if (A->weight) A->weight += start;
  if (A->pointsquare) A->pointsquare += start;
  if (A->summed) A->summed += start;
  if (A->bounds.capacity) A->bounds.lower += start * (size_t)KMeansGroups(A->k, A->bounds.group);
  A->label += start;
  if (A->distance) A->distance += start;
}

typedef struct {
  const KMeansPoints *P;
  KMeansBlockFn       fn;
  const void         *ctx;
} KMeansBlockVisit;

static GpErr KMeansBlockUse(void *context, int64_t item, const void *device, void *result)
{
  const KMeansBlockVisit *visit = (const KMeansBlockVisit *)context;
  const int64_t           first = item * visit->P->blocks.points;
  KMeansData              block = visit->P->data;

  (void)result;
  KMeansSelectPoints_Private(&block, (size_t)first, KMeansBlockPoints(visit->P, (PetscInt)item));
  block.value = device;
  return visit->fn(&block, first, visit->ctx);
}

/* Calls a function for each block, in the order of the points. Returns before the device has finished. */
PetscErrorCode KMeansBlocksVisit_Private(KMeansPoints *P, const char what[], KMeansBlockFn fn, const void *ctx)
{
  KMeansBlockVisit visit = {P, fn, ctx};

  PetscFunctionBegin;
  PetscCallGp(P->data.dev, what, GpStreamVisit(P->blocks.stream, KMeansBlockUse, &visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Executes an assignment and, unless it is KMEANS_AUTO, an update. */
static GpErr KMeansAssignBlock(const KMeansData *A, int64_t first, const void *ctx)
{
  const PetscInt *variant = (const PetscInt *)ctx;
  GpErr           err     = KMeansAssignTable[variant[0]].run[GpDevKindOf(A->dev)](A);

  (void)first;
  if (!err && variant[1] != KMEANS_AUTO && !A->fuse) err = KMeansUpdateTable[variant[1]].run[GpDevKindOf(A->dev)](A);
  return err;
}

/* Assigns all points to the centroids on the device and, unless the update is KMEANS_AUTO, adds them to the tally. Returns before the device has finished. */
PetscErrorCode KMeansPointsAssign_Private(KMeansPoints *P, PetscInt assign, PetscInt update)
{
  const PetscInt variant[2] = {assign, update};

  PetscFunctionBegin;
  if (KMeansIsStreamed(P)) PetscCall(KMeansBlocksVisit_Private(P, "Assignment", KMeansAssignBlock, variant));
  else PetscCallGp(P->data.dev, "Assignment", KMeansAssignBlock(&P->data, 0, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the features of local point i. */
PetscErrorCode KMeansBlocksGetRow_Private(const KMeansPoints *P, PetscInt i, double x[])
{
  const KMeansData *A     = &P->data;
  const void       *block = P->blocks.memory[i / P->blocks.points];
  const size_t      from  = (size_t)(i % P->blocks.points) * A->d;

  PetscFunctionBegin;
  for (int32_t j = 0; j < A->d; j++) x[j] = A->single ? (double)((const float *)block)[from + j] : ((const double *)block)[from + j];
  PetscFunctionReturn(PETSC_SUCCESS);
}
