static char help[] = "Times k-means on uniform points or on those of a file; prints CSV.\n\
  -cells n,d,k,...   points, features and clusters of each measurement; default 100000,4,100\n\
  -file name         points in the format of MineBench instead of uniform ones; n and d of all cells are those of the file\n\
  -matrix name       sparse points in PETSc's binary format; n and d of all cells are those of the file. Also times the product of the points and k vectors\n\
  -start name        first centroids in PETSc's binary format, sparse\n\
  -assign a,b,...    -kmeans_assign of each measurement; default auto\n\
  -update a,b,...    -kmeans_update of each measurement; default auto\n\
  -few n -many n     numbers of iterations of two runs whose difference is the time of an iteration; default 2 and 12\n\
  -repeats n         repetitions of both runs, of which the median counts; default 3\n\
  -write prefix      labels of the first 200,000 points (int32) and centroids (double) of each measurement: <prefix><number>.labels and .centroids\n\
The first centroids are the first points, or those of -kmeans_start. Options of the solver apply, for example -kmeans_empty.\n\n";

#include "device/gpupload.h"
#include "src/app/program/apphash.h"
#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrdevice.h>
#include <gpucsrkmeans.h>
#include <petsctime.h>

enum {
  MOST_CELLS    = 512,
  MOST_NAMES    = 32,
  MOST_REPEATS  = 100,
  MOST_POINTS   = 200000, /* number of labels that are written */
  PRODUCTS      = 20,     /* number of products that are timed */
  UPLOAD_TRIALS = 2       /* the first one pays for the pinned buffers */
};

typedef struct {
  PetscInt  cell[3 * MOST_CELLS], ncells;
  char     *assign[MOST_NAMES], *update[MOST_NAMES], file[PETSC_MAX_PATH_LEN], matrix[PETSC_MAX_PATH_LEN], start[PETSC_MAX_PATH_LEN], write[PETSC_MAX_PATH_LEN];
  PetscInt  nassigns, nupdates, few, many, repeats, written;
  PetscBool drawn; /* the start is that of -kmeans_start */
} Options;

/* Seconds; medians except for the first solve. */
typedef struct {
  PetscLogDouble setup, first, iteration, least, most, assign, update, solve;
} Times;

static PetscErrorCode GetOptions(Options *o)
{
  const PetscInt cell[3] = {100000, 4, 100};
  PetscBool      set;

  PetscFunctionBegin;
  o->ncells   = 3 * MOST_CELLS;
  o->nassigns = o->nupdates = MOST_NAMES;
  o->few                    = 2;
  o->many                   = 12;
  o->repeats                = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", o->cell, &o->ncells, &set));
  if (!set) {
    PetscCall(PetscArraycpy(o->cell, cell, 3));
    o->ncells = 3;
  }
  PetscCheck(o->ncells % 3 == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-cells needs triples n,d,k, not %" PetscInt_FMT " numbers", o->ncells);
  o->ncells /= 3;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-assign", o->assign, &o->nassigns, &set));
  if (!set) {
    PetscCall(PetscStrallocpy("auto", &o->assign[0]));
    o->nassigns = 1;
  }
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-update", o->update, &o->nupdates, &set));
  if (!set) {
    PetscCall(PetscStrallocpy("auto", &o->update[0]));
    o->nupdates = 1;
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-file", o->file, sizeof(o->file), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", o->matrix, sizeof(o->matrix), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-start", o->start, sizeof(o->start), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", o->write, sizeof(o->write), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-few", &o->few, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-many", &o->many, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &o->repeats, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-kmeans_start", &o->drawn));
  PetscCheck(o->few >= 1 && o->many > o->few && o->repeats >= 1 && o->repeats <= MOST_REPEATS, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-few %" PetscInt_FMT " -many %" PetscInt_FMT " -repeats %" PetscInt_FMT ": 1 <= few < many and 1 <= repeats <= %d are needed", o->few, o->many, o->repeats, (int)MOST_REPEATS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uniform points, the same numbers as those of kmeans -generate n,d. */
static PetscErrorCode GeneratePoints(PetscInt n, PetscInt d, Mat *X)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, d, NULL, X));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt j = 0; j < d; j++)
    for (PetscInt i = 0; i < n; i++) a[i + (size_t)j * n] = (double)(GpAppHash64(((uint64_t)i * (uint64_t)d + (uint64_t)j) * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24;
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads points in the format of MineBench: 32-bit numbers of rows and columns, then 32-bit floats, row by row. */
static PetscErrorCode ReadPoints(const char name[], Mat *X)
{
  FILE        *file;
  int32_t      size[2];
  float       *row;
  PetscScalar *a;

  PetscFunctionBegin;
  file = fopen(name, "rb");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-file %s: cannot be opened", name);
  PetscCheck(fread(size, sizeof(*size), 2, file) == 2 && size[0] > 0 && size[1] > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "-file %s: has no header", name);
  PetscCall(PetscMalloc1(size[1], &row));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, size[0], size[1], NULL, X));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt i = 0; i < size[0]; i++) {
    PetscCheck(fread(row, sizeof(*row), (size_t)size[1], file) == (size_t)size[1], PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "-file %s: is truncated", name);
    for (PetscInt j = 0; j < size[1]; j++) a[i + (size_t)j * size[0]] = row[j];
  }
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(row));
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sparse matrix in PETSc's binary format. */
static PetscErrorCode ReadMatrix(const char name[], Mat *A)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Median of the seconds of the product of a sparse matrix and k vectors, all in device memory. The first products are not counted. */
static PetscErrorCode TimeProduct(Mat X, PetscInt k, PetscReal *seconds)
{
  PetscReal value[PRODUCTS];
  GpDev     dev;
  Mat       A;
  Vec       x, y, *xs, *ys;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MatConvert(X, MATGPUCSR, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicateVecs(x, k, &xs));
  PetscCall(VecDuplicateVecs(y, k, &ys));
  for (PetscInt c = 0; c < k; c++) PetscCall(VecSet(xs[c], 1. / (1 + c)));
  for (int trial = -3; trial < PRODUCTS; trial++) {
    PetscLogDouble begin, end;

    PetscCheck(!GpDevSync(dev), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", GpDevError(dev));
    PetscCall(PetscTime(&begin));
    PetscCall(MatGPUCSRMultMany(A, PETSC_FALSE, k, xs, ys));
    PetscCheck(!GpDevSync(dev), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", GpDevError(dev));
    PetscCall(PetscTime(&end));
    if (trial >= 0) value[trial] = end - begin;
  }
  PetscCall(PetscSortReal(PRODUCTS, value));
  *seconds = value[PRODUCTS / 2];
  PetscCall(VecDestroyVecs(k, &xs));
  PetscCall(VecDestroyVecs(k, &ys));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first k points, or those of -start. */
static PetscErrorCode CreateStart(const Options *o, Mat X, PetscInt k, Mat *M)
{
  const PetscScalar *a;
  PetscScalar       *m;
  PetscInt           n, d;

  PetscFunctionBegin;
  if (o->start[0]) {
    PetscCall(ReadMatrix(o->start, M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(X, &n, &d));
  PetscCheck(k <= n, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%" PetscInt_FMT " clusters of %" PetscInt_FMT " points", k, n);
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, k, d, NULL, M));
  PetscCall(MatDenseGetArrayRead(X, &a));
  PetscCall(MatDenseGetArrayWrite(*M, &m));
  for (PetscInt j = 0; j < d; j++) PetscCall(PetscArraycpy(m + (size_t)j * k, a + (size_t)j * n, k));
  PetscCall(MatDenseRestoreArrayWrite(*M, &m));
  PetscCall(MatDenseRestoreArrayRead(X, &a));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr ConvertPiece(void *values, size_t offset, size_t bytes, void *destination)
{
  const double *from = (const double *)values + offset / sizeof(float);

  for (size_t v = 0; v < bytes / sizeof(float); v++) ((float *)destination)[v] = (float)from[v];
  return GP_SUCCESS;
}

/* Seconds to convert points to single precision and copy them to the device and to copy the labels back, through the same functions as the solver's. */
static PetscErrorCode TimeCopies(PetscInt n, PetscInt d, PetscLogDouble *up, PetscLogDouble *down)
{
  const size_t bytes = (size_t)n * d * sizeof(float), labels = (size_t)n * sizeof(int32_t);
  GpDev        dev;
  void        *device, *host;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscMalloc1(PetscMax(2 * bytes, labels), (char **)&host));
  for (size_t v = 0; v < (size_t)n * d; v++) ((double *)host)[v] = (double)v; /* memory that was never written takes no place in the caches */
  PetscCheck(!GpDevAlloc(dev, PetscMax(bytes, labels), &device), PETSC_COMM_SELF, PETSC_ERR_MEM, "No device memory for %zu bytes", PetscMax(bytes, labels));
  for (int trial = 0; trial < UPLOAD_TRIALS; trial++) {
    PetscLogDouble t[3];

    PetscCall(PetscTime(&t[0]));
    PetscCheck(!GpDevUploadByThreads(dev, 0, device, bytes, ConvertPiece, host) && !GpDevSync(dev), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", GpDevError(dev));
    PetscCall(PetscTime(&t[1]));
    PetscCheck(!GpDevDownloadByThreads(dev, 0, host, device, labels), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", GpDevError(dev));
    PetscCall(PetscTime(&t[2]));
    *up   = t[1] - t[0];
    *down = t[2] - t[1];
  }
  GpDevFree(dev, &device, PetscMax(bytes, labels));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with at most `most` iterations. Returns the number of iterations, and the seconds of the solve, of assignments and of updates. */
static PetscErrorCode Solve(KMeans km, PetscInt most, PetscInt *iterations, PetscLogDouble seconds[3])
{
  PetscLogDouble begin, end, start;

  PetscFunctionBegin;
  PetscCall(KMeansSetTolerances(km, 0, 0, most));
  PetscCall(PetscTime(&begin));
  PetscCall(KMeansSolve(km));
  PetscCall(PetscTime(&end));
  PetscCall(KMeansGetIterationNumber(km, iterations));
  PetscCall(KMeansGetTimes(km, &start, &seconds[1], &seconds[2]));
  seconds[0] = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Options *o, KMeans km, Times *t)
{
  PetscReal      value[4][MOST_REPEATS]; /* seconds of an iteration, its assignment, its update; seconds of the longer solve */
  PetscLogDouble begin, end, first[3], few[3], many[3];
  PetscInt       it[2];

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(KMeansSetUp(km));
  PetscCall(PetscTime(&end));
  t->setup = end - begin;
  PetscCall(Solve(km, o->few, &it[0], first));
  t->first = first[0];
  for (PetscInt r = 0; r < o->repeats; r++) {
    PetscCall(Solve(km, o->few, &it[0], few));
    PetscCall(Solve(km, o->many, &it[1], many));
    for (int v = 1; v < 3; v++) value[v][r] = (many[v] - few[v]) / PetscMax(it[1] - it[0], 1);
    value[0][r] = value[1][r] + value[2][r]; /* not by the seconds of the solves, which vary by the time to make an index set of the labels */
    value[3][r] = many[0];
  }
  for (int v = 0; v < 4; v++) PetscCall(PetscSortReal(o->repeats, value[v]));
  t->iteration = value[0][o->repeats / 2];
  t->least     = value[0][0];
  t->most      = value[0][o->repeats - 1];
  t->assign    = value[1][o->repeats / 2];
  t->update    = value[2][o->repeats / 2];
  t->solve     = value[3][o->repeats / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes labels and centroids for comparisons. */
static PetscErrorCode WriteResult(Options *o, KMeans km)
{
  char               name[PETSC_MAX_PATH_LEN];
  Mat                M;
  IS                 labels;
  const PetscInt    *label;
  const PetscScalar *m;
  PetscInt           n, k, d;
  FILE              *file;

  PetscFunctionBegin;
  if (!o->write[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(ISGetIndices(labels, &label));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%" PetscInt_FMT ".labels", o->write, o->written));
  file = fopen(name, "wb");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot be written", name);
  for (PetscInt i = 0; i < PetscMin(n, MOST_POINTS); i++) {
    const int32_t one = (int32_t)label[i];

    fwrite(&one, sizeof(one), 1, file);
  }
  fclose(file);
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCall(KMeansGetCentroids(km, &M));
  PetscCall(MatGetSize(M, &k, &d));
  PetscCall(MatDenseGetArrayRead(M, &m));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%" PetscInt_FMT ".centroids", o->write, o->written++));
  file = fopen(name, "wb");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot be written", name);
  for (PetscInt c = 0; c < k; c++)
    for (PetscInt j = 0; j < d; j++) fwrite(&m[c + (size_t)j * k], sizeof(double), 1, file);
  fclose(file);
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All variants with k clusters. A variant that refuses the points or the device is a line of its own. */
static PetscErrorCode RunCell(Options *o, Mat X, PetscInt k, PetscLogDouble up, PetscLogDouble down)
{
  PetscInt  n, d;
  PetscReal product = 0;
  Mat       M;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &n, &d));
  PetscCall(CreateStart(o, X, k, &M));
  if (o->matrix[0]) PetscCall(TimeProduct(X, k, &product));
  for (PetscInt v = 0; v < o->nassigns * o->nupdates; v++) {
    const char    *assign = o->assign[v / o->nupdates], *update = o->update[v % o->nupdates];
    KMeans         km;
    Times          t = {0};
    PetscInt       it;
    PetscInt64     distances, again;
    PetscReal      inertia;
    PetscErrorCode err;

    PetscCall(KMeansCreate(PETSC_COMM_SELF, &km));
    PetscCall(KMeansSetPoints(km, X));
    PetscCall(KMeansSetEmpty(km, KMEANS_EMPTY_KEEP));
    PetscCall(KMeansSetFromOptions(km));
    if (!o->drawn) PetscCall(KMeansSetStartCentroids(km, M));
    PetscCall(KMeansSetClusters(km, k));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = KMeansSetAssign(km, assign);
    if (!err) err = KMeansSetUpdate(km, update);
    if (!err) err = Measure(o, km, &t);
    PetscCall(PetscPopErrorHandler());
    if (err) printf("# %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%s: error %d\n", n, d, k, assign, update, (int)err);
    else {
      PetscCall(KMeansGetAssign(km, &assign));
      PetscCall(KMeansGetUpdate(km, &update));
      PetscCall(KMeansGetIterationNumber(km, &it));
      PetscCall(KMeansGetDistances(km, &distances, &again));
      PetscCall(KMeansGetInertia(km, &inertia));
      printf("%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%s,%s,%s,%" PetscInt_FMT ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%" PetscInt64_FMT ",%" PetscInt64_FMT ",%.17g,%.6g\n", n, d, k, o->assign[v / o->nupdates],
             o->update[v % o->nupdates], assign, update, it, up, down, t.setup, t.first, t.iteration, t.least, t.most, t.assign, t.update, t.solve, distances, again, (double)inertia, (double)product);
      PetscCall(WriteResult(o, km));
    }
    fflush(stdout);
    PetscCall(KMeansDestroy(&km));
  }
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Options        o = {.ncells = 0};
  Mat            X = NULL;
  PetscInt       n = 0, d = 0;
  PetscLogDouble up = 0, down = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(GetOptions(&o));
  printf("points,features,clusters,assign,update,assign_used,update_used,iterations,upload_s,download_s,setup_s,first_solve_s,iteration_s,least_s,most_s,assign_s,update_s,solve_s,distances,rechecked,inertia,product_s\n");
  for (PetscInt c = 0; c < o.ncells; c++) {
    if (!X || (!o.file[0] && !o.matrix[0] && (n != o.cell[3 * c] || d != o.cell[3 * c + 1]))) {
      PetscCall(MatDestroy(&X));
      if (o.file[0]) PetscCall(ReadPoints(o.file, &X));
      else if (o.matrix[0]) PetscCall(ReadMatrix(o.matrix, &X));
      else PetscCall(GeneratePoints(o.cell[3 * c], o.cell[3 * c + 1], &X));
      PetscCall(MatGetSize(X, &n, &d));
      if (!o.matrix[0]) PetscCall(TimeCopies(n, d, &up, &down));
    }
    PetscCall(RunCell(&o, X, o.cell[3 * c + 2], up, down));
  }
  PetscCall(MatDestroy(&X));
  for (PetscInt a = 0; a < o.nassigns; a++) PetscCall(PetscFree(o.assign[a]));
  for (PetscInt u = 0; u < o.nupdates; u++) PetscCall(PetscFree(o.update[u]));
  PetscCall(PetscFinalize());
  return 0;
}
