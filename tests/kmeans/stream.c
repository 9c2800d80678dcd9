static char help[] = "KMeans: points that are streamed from host memory give the bits of points on the device, whatever is resident; changes, refusals, faults.\n\n\
  -every n : tests every n-th combination of points and options, default 1, on a GPU 2; if n > 2, fewer points with too little memory\n\n";

#include "device/gpdeviceimpl.h"
#include <gpucsr.h>
#include <gpucsrdevice.h>
#include "results.h"

#include <string.h>

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

typedef struct {
  const char   *name;
  PetscInt      n, d, k, values; /* values: number of different values of a feature; 0: many */
  KMeansEmpty   empty;
  KMeansStart   start;
  KMeansStorage storage;
  KMeansMetric  metric;
  PetscBool     weights;
} Case;

/* How points are streamed. */
typedef struct {
  KMeansStream mode;
  PetscReal    chunk, resident; /* resident: fraction of the points of a rank */
  PetscInt     buffers, threads;
  PetscBool    refuse; /* pinning is refused */
} Way;

static GpDev           Device;
static GpDevOps        Ops; /* operations of the device, with those that tests replace */
static const GpDevOps *Real;
static PetscBool       OnHost;

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}

/* Makes the host backend keep device memory apart from host memory, so that blocks are copied as on a GPU. */
static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

static PetscErrorCode CreatePoints(const Case *test, Mat *X, Vec *w)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*X, i, j, test->values ? 1 + PetscFloorReal((PetscReal)test->values * Uniform(i, j)) : (float)(0.1 + Uniform(i, j) + Uniform(i % 7, j + test->d)), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  *w = NULL;
  if (test->weights) PetscCall(CreateWeights(*X, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the points of this rank. */
static PetscErrorCode GetBytes(const Case *test, Mat X, PetscReal *bytes)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &n, NULL));
  *bytes = (PetscReal)n * (PetscReal)test->d * (test->storage == KMEANS_STORAGE_DOUBLE ? 8 : 4);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetWay(KMeans km, const Case *test, Mat X, const Way *way)
{
  PetscReal bytes;

  PetscFunctionBegin;
  PetscCall(GetBytes(test, X, &bytes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD)); /* settings are equal on all ranks */
  Ops.pin = way->refuse ? RefusePin : Real->pin;
  PetscCall(KMeansSetStream(km, way->mode));
  PetscCall(KMeansSetStreamChunk(km, way->chunk));
  PetscCall(KMeansSetStreamResident(km, way->resident < 0 ? -1 : PetscFloorReal(way->resident * bytes)));
  PetscCall(KMeansSetStreamBuffers(km, way->buffers));
  PetscCall(KMeansSetStreamThreads(km, way->threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Case *test, Mat X, Vec w, const char assign[], const char update[], const Way *way, KMeans *km)
{
  PetscFunctionBegin;
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, km));
  PetscCall(KMeansSetPoints(*km, X));
  PetscCall(KMeansSetWeights(*km, w));
  PetscCall(KMeansSetClusters(*km, test->k));
  PetscCall(KMeansSetStorage(*km, test->storage));
  PetscCall(KMeansSetStart(*km, test->start));
  PetscCall(KMeansSetEmpty(*km, test->empty));
  PetscCall(KMeansSetMetric(*km, test->metric));
  PetscCall(KMeansSetTolerances(*km, 0, 0, 12));
  PetscCall(KMeansSetRestarts(*km, 2));
  PetscCall(KMeansSetAssign(*km, assign));
  PetscCall(KMeansSetUpdate(*km, update));
  PetscCall(KMeansSetFromOptions(*km)); /* -kmeans_monitor: on a GPU the host takes part in each iteration */
  PetscCall(SetWay(*km, test, X, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks what KMeansGetStreamInfo() reports after a solve. */
static PetscErrorCode CheckInfo(const char what[], KMeans km, const Case *test, Mat X, const Way *way)
{
  KMeansStreamInfo info;
  PetscReal        bytes;

  PetscFunctionBegin;
  PetscCall(KMeansGetStreamInfo(km, &info));
  PetscCall(GetBytes(test, X, &bytes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  Check(info.streamed == (way->mode == KMEANS_STREAM_ALWAYS), "%s: the points are %sstreamed", what, info.streamed ? "" : "not ");
  if (!info.streamed) PetscFunctionReturn(PETSC_SUCCESS);
  Check(info.bytes == bytes && info.passes > 2 && (way->chunk < 0 || bytes < 20000 || info.blocks > 1), "%s: %g of %g bytes in %g blocks, %g passes", what, info.bytes, bytes, (double)info.blocks, (double)info.passes);
  Check(info.pageable_bytes == (way->refuse ? bytes : 0), "%s: %g bytes are pageable", what, info.pageable_bytes);
  Check(info.resident_bytes + info.moved_last == bytes, "%s: %g resident and %g transferred bytes of %g", what, info.resident_bytes, info.moved_last, bytes);
  Check(way->resident <= 0 || way->resident >= 1 || bytes < 100000 || (info.resident_bytes > 0 && info.moved_last > 0), "%s: %g resident bytes and %g transferred", what, info.resident_bytes, info.moved_last);
  Check(way->resident < 1 || info.resident_bytes == bytes, "%s: %g resident bytes of %g", what, info.resident_bytes, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of the points by KMeansPredict(). */
static PetscErrorCode CheckPrediction(const char what[], KMeans km, Mat X)
{
  IS        labels, predicted;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(KMeansPredict(km, X, &predicted));
  PetscCall(ISEqual(labels, predicted, &same));
  Check(same, "%s: KMeansPredict() gives other labels", what);
  PetscCall(ISDestroy(&predicted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with one object in two or three ways, and compares with points on the device. The ways take turns, so that each meets each kind of points. */
static PetscErrorCode Compare(const Case *test, Mat X, Vec w, const char assign[], const char update[], PetscInt every, PetscInt *combination)
{
  static size_t    turn   = 0;
  static const Way ways[] = {{KMEANS_STREAM_ALWAYS, 16384, 0, 3, 2, PETSC_FALSE}, {KMEANS_STREAM_ALWAYS, 4096, 0.5, 2, 1, PETSC_FALSE}, {KMEANS_STREAM_ALWAYS, 5000, 0, 1, 0, PETSC_FALSE}, {KMEANS_STREAM_ALWAYS, 16384, 1, 0, 0, PETSC_FALSE},
                             {KMEANS_STREAM_ALWAYS, 4096, 0.5, 0, 3, PETSC_TRUE}, {KMEANS_STREAM_ALWAYS, -1, 0, 2, 0, PETSC_TRUE},      {KMEANS_STREAM_ALWAYS, -1, -1, 0, 0, PETSC_FALSE}};
  const Way        never  = {KMEANS_STREAM_NEVER, -1, -1, 0, 0, PETSC_FALSE};
  Result           first, now;
  KMeans           km;
  char             what[128];

  PetscFunctionBegin;
  if ((*combination)++ % every) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateSolver(test, X, w, assign, update, &never, &km));
  PetscCall(KMeansSolve(km));
  PetscCall(CheckInfo("not streamed", km, test, X, &never));
  PetscCall(GetResult(km, &first));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(ways); v++) {
    const Way *way = &ways[v];

    if ((v + turn) % 3) continue;
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s, way %d", test->name, assign, update, (int)v));
    PetscCall(SetWay(km, test, X, way));
    PetscCall(KMeansSolve(km));
    PetscCall(CheckInfo(what, km, test, X, way));
    PetscCall(GetResult(km, &now));
    PetscCall(CompareResults(what, &first, &now, OnHost)); /* on a GPU, iterations without the host keep the frame of the scores, so that other distances are evaluated again */
    PetscCall(ResultsDestroy(1, &now));
    if (v < 2) PetscCall(CheckPrediction(what, km, X));
  }
  if (turn++ % 4 == 0) {
    PetscCall(SetWay(km, test, X, &never));
    PetscCall(KMeansSolve(km));
    PetscCall(GetResult(km, &now));
    PetscCall(CompareResults("not streamed again", &first, &now, PETSC_TRUE));
    PetscCall(ResultsDestroy(1, &now));
  }
  PetscCall(ResultsDestroy(1, &first));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- sequences of calls, refusals, faults ---------------------------------------------------------------------------------------------- */

/* Changed points, a reset, and a solver that is destroyed before its first solve. */
static PetscErrorCode CheckSequences(void)
{
  const Case test    = {.name = "changes", .n = 9000, .d = 4, .k = 6, .start = KMEANS_START_PLUSPLUS};
  const Way  ways[2] = {{KMEANS_STREAM_ALWAYS, 4096, 0.5, 0, 0, PETSC_FALSE}, {KMEANS_STREAM_NEVER, -1, -1, 0, 0, PETSC_FALSE}};
  KMeans     km[2];
  Mat        X;
  Vec        w;
  Result     result[2];

  PetscFunctionBegin;
  PetscCall(CreatePoints(&test, &X, &w));
  for (int s = 0; s < 2; s++) PetscCall(CreateSolver(&test, X, w, "auto", "auto", &ways[s], &km[s]));
  for (int step = 0; step < 4; step++) {
    for (int s = 0; s < 2; s++) {
      if (step == 2) {
        PetscCall(KMeansReset(km[s]));
        PetscCall(KMeansSetPoints(km[s], X));
      }
      if (step == 3) PetscCall(KMeansSetClusters(km[s], 40)); /* the arrays of the centroids grow */
      PetscCall(KMeansSetSeed(km[s], step));
      PetscCall(KMeansSolve(km[s]));
      PetscCall(CheckInfo("changes", km[s], &test, X, &ways[s]));
      PetscCall(GetResult(km[s], &result[s]));
    }
    PetscCall(CompareResults("changes", &result[1], &result[0], OnHost));
    PetscCall(ResultsDestroy(2, result));
    PetscCall(MatScale(X, 4)); /* the solvers copy the points again */
  }
  for (int s = 0; s < 2; s++) PetscCall(KMeansDestroy(&km[s]));
  PetscCall(CreateSolver(&test, X, w, "auto", "auto", &ways[0], &km[0]));
  PetscCall(KMeansSetUp(km[0]));
  PetscCall(KMeansDestroy(&km[0]));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectError(KMeans km, PetscErrorCode expected, const char what[])
{
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = KMeansSolve(km);
  PetscCall(PetscPopErrorHandler());
  Check(err == expected, "%s: error %d and not %d", what, (int)err, (int)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is not streamed is refused, and the solver works afterwards. */
static PetscErrorCode CheckRefusals(void)
{
  const Case        test          = {.name = "refusals", .n = 5000, .d = 4, .k = 6};
  const Way         way           = {KMEANS_STREAM_ALWAYS, 16384, 0, 0, 0, PETSC_FALSE};
  const char *const variants[][2] = {{"columns", "auto"}, {"localcolumns", "auto"}, {"auto", "host"}, {"auto", "rank"}, {"auto", "rankstable"}, {"auto", "onehot"}};
  KMeans            km;
  Mat               X, sparse;
  Vec               w;

  PetscFunctionBegin;
  PetscCall(CreatePoints(&test, &X, &w));
  PetscCall(CreateSolver(&test, X, w, "auto", "auto", &way, &km));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    PetscCall(KMeansSetAssign(km, variants[v][0]));
    PetscCall(KMeansSetUpdate(km, variants[v][1]));
    PetscCall(ExpectError(km, PETSC_ERR_USER_INPUT, variants[v][0]));
  }
  PetscCall(KMeansSetAssign(km, "auto"));
  PetscCall(KMeansSetUpdate(km, "auto"));
  PetscCall(KMeansSetBatchSize(km, 100));
  PetscCall(ExpectError(km, PETSC_ERR_USER_INPUT, "mini-batches"));
  PetscCall(KMeansSetBatchSize(km, 0));
  PetscCall(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &sparse));
  PetscCall(KMeansSetPoints(km, sparse));
  PetscCall(ExpectError(km, PETSC_ERR_USER_INPUT, "sparse points"));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSolve(km));
  PetscCall(CheckInfo("after refusals", km, &test, X, &way));
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&sparse));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Too little memory for the buffers, points that do not fit, and resident blocks that are freed for other arrays. Bounds on the memory of a process. */
static PetscErrorCode CheckMemory(PetscInt every)
{
  const Case   test   = {.name = "memory", .n = !OnHost ? 400000 : every > 2 ? 10000 : 40000, .d = 8, .k = 6, .start = KMEANS_START_PLUSPLUS};
  const Way    never  = {KMEANS_STREAM_NEVER, -1, -1, 0, 0, PETSC_FALSE};
  const Way    ways[] = {{KMEANS_STREAM_AUTO, 16384, -1, 2, 0, PETSC_FALSE}, {KMEANS_STREAM_ALWAYS, 16384, 1, 2, 0, PETSC_FALSE}};
  const double before = GpDevBytesHeld(Device);
  PetscInt     n;
  PetscMPIInt  size;
  KMeans       km;
  Mat          X;
  Vec          w;
  Result       first, now;
  double       arrays;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreatePoints(&test, &X, &w));
  PetscCall(MatGetLocalSize(X, &n, NULL));
  PetscCall(CreateSolver(&test, X, w, "direct", "fixed", &never, &km));
  PetscCall(KMeansSolve(km));
  PetscCall(GetResult(km, &first));
  PetscCall(KMeansDestroy(&km));
  arrays = before + 20.0 * n + (OnHost ? 150000 : 1500000); /* labels, distances, `nearest`, and what a pass needs; a GPU has pinned buffers and workspace */
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(ways); v++) {
    KMeansStreamInfo info;

    GpDevSetMemoryLimit(Device, arrays + 10.0 * n);
    PetscCall(CreateSolver(&test, X, w, "direct", "fixed", &ways[v], &km));
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetStreamInfo(km, &info));
    Check(info.streamed && info.resident_bytes < info.bytes && info.moved_last > 0, "%g of %g bytes are resident, %g were transferred", info.resident_bytes, info.bytes, info.moved_last);
    PetscCall(GetResult(km, &now));
    PetscCall(CompareResults("a bound on the memory", &first, &now, OnHost));
    PetscCall(ResultsDestroy(1, &now));
    PetscCall(CheckPrediction("a bound on the memory", km, X)); /* frees resident blocks */
    PetscCall(KMeansDestroy(&km));
  }
  PetscCall(CreateSolver(&test, X, w, "direct", "fixed", &never, &km));
  GpDevSetMemoryLimit(Device, before + 12.0 * n + 2000);
  PetscCall(ExpectError(km, PETSC_ERR_MEM, "points that do not fit"));
  PetscCall(KMeansSetStream(km, KMEANS_STREAM_ALWAYS));
  PetscCall(KMeansSetStreamChunk(km, 400000));
  PetscCall(ExpectError(km, PETSC_ERR_MEM, "buffers that do not fit"));
  Check(strstr(GpDevError(Device), "3 buffers of") && strstr(GpDevError(Device), "bytes asked for"), "\"%s\"", GpDevError(Device));
  GpDevSetMemoryLimit(Device, 0);
  PetscCall(KMeansSolve(km));
  PetscCall(GetResult(km, &now));
  PetscCall(CompareResults("after failures", &first, &now, OnHost));
  PetscCall(ResultsDestroy(1, &now));
  PetscCall(ResultsDestroy(1, &first));
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const few[] = {"direct", "tensor", "tiled", "brute", "yinyang", "naive"}, *const wide[] = {"tensor", "tiled", "elkan"}, *const cosine[] = {"brute", "hamerly"};
  static const char *const updates[] = {"fixed", "changed", "sort"};
  static const Case        cases[]   = {{.name = "2 features", .n = 7000, .d = 2, .k = 24, .start = KMEANS_START_RANDOM},
                                        {.name = "5 features, double precision, weights", .n = 5000, .d = 5, .k = 9, .storage = KMEANS_STORAGE_DOUBLE, .weights = PETSC_TRUE, .start = KMEANS_START_PLUSPLUS},
                                        {.name = "9 features, k-means||", .n = 3000, .d = 9, .k = 30, .weights = PETSC_TRUE, .start = KMEANS_START_PARALLEL},
                                        {.name = "ranks without points", .n = 3, .d = 3, .k = 2, .start = KMEANS_START_PLUSPLUS},
                                        {.name = "70 features", .n = 1000, .d = 70, .k = 70, .start = KMEANS_START_PLUSPLUS},
                                        {.name = "cosine", .n = 3000, .d = 6, .k = 12, .storage = KMEANS_STORAGE_DOUBLE, .metric = KMEANS_METRIC_COSINE, .start = KMEANS_START_PLUSPLUS},
                                        {.name = "empty clusters farthest", .n = 9000, .d = 2, .k = 20, .values = 5, .start = KMEANS_START_RANDOM},
                                        {.name = "empty clusters split", .n = 9000, .d = 3, .k = 30, .values = 4, .weights = PETSC_TRUE, .empty = KMEANS_EMPTY_SPLIT, .start = KMEANS_START_RANDOM},
                                        {.name = "empty clusters drop", .n = 9000, .d = 3, .k = 30, .values = 4, .empty = KMEANS_EMPTY_DROP, .start = KMEANS_START_RANDOM}};
  PetscInt                 every, combination = 0;
  Mat                      X;
  Vec                      w;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&Device));
  OnHost = (PetscBool)(GpDevKindOf(Device) == GP_DEV_HOST);
  every  = OnHost ? 1 : 2; /* on a GPU, most of the time is the set-up of each solve */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  Real = Device->ops;
  Ops  = *Real;
  if (OnHost) Ops.holds = Holds;
  Device->ops = &Ops;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    const Case        *test    = &cases[c];
    const char *const *assigns = test->metric == KMEANS_METRIC_COSINE ? cosine : test->d > 32 ? wide : few;
    const size_t       many    = test->metric == KMEANS_METRIC_COSINE ? PETSC_STATIC_ARRAY_LENGTH(cosine) : test->d > 32 ? PETSC_STATIC_ARRAY_LENGTH(wide) : PETSC_STATIC_ARRAY_LENGTH(few);

    PetscCall(CreatePoints(test, &X, &w));
    for (size_t a = many > 3 ? c % 2 : 0; a<many; a += many> 3 ? 2 : 1) PetscCall(Compare(test, X, w, assigns[a], updates[(a + c) % 3], every, &combination));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal\n", test->name));
    PetscCall(MatDestroy(&X));
    PetscCall(VecDestroy(&w));
  }
  PetscCall(CheckSequences());
  PetscCall(CheckRefusals());
  PetscCall(CheckMemory(every));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "changes, refusals and faults: as expected\n"));
  Device->ops = Real;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1

   test:
     suffix: ranks
     nsize: {{2 4}}
     args: -every 2
     output_file: output/stream_1.out

TEST*/
