/* The main program of kmeans: reads the options and the points, runs the solver, writes the results. */
#include "points.h"
#include "app/output/appoutput.h"
#include "app/report/appescape.h"
#include "app/report/appjson.h"
#include "mainoptions.h"
#include <gpucsr.h>
#include <gpucsrkmeans.h>
#include <petsctime.h>
#include <string.h>

/* all options of the program itself; those of the solver are read by KMeansSetFromOptions() */
typedef struct {
  PointSetOptions points;
  char            weights[PETSC_MAX_PATH_LEN], start[PETSC_MAX_PATH_LEN], labels[PETSC_MAX_PATH_LEN], centroids[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
} KMeansRequest;

/* A finished run. */
typedef struct {
  PointSet       points;
  KMeans         km;
  PetscLogDouble load, solve; /* seconds */
} KMeansRun;

static const char *KMeansGetOptionText(const char name[])
{
  return GpAppOptionGetText(options, name);
}

static PetscErrorCode KMeansGetRequest(MPI_Comm comm, void *context)
{
  KMeansRequest   *rq = (KMeansRequest *)context;
  PointSetOptions *o  = &rq->points;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  PetscOptionsBegin(comm, NULL, "Files of the kmeans program", "KMeans");
  PetscCall(PetscOptionsString("-f", KMeansGetOptionText("-f"), "", o->file, o->file, sizeof(o->file), NULL));
  PetscCall(PetscOptionsEnum("-format", KMeansGetOptionText("-format"), "", PointSetFormats, (PetscEnum)o->format, (PetscEnum *)&o->format, NULL));
  PetscCall(PetscOptionsString("-columns", KMeansGetOptionText("-columns"), "", o->columns, o->columns, sizeof(o->columns), NULL));
  o->ngenerate = 2;
  PetscCall(PetscOptionsIntArray("-generate", KMeansGetOptionText("-generate"), "", o->generate, &o->ngenerate, NULL));
  PetscCall(PetscOptionsInt("-generate_seed", KMeansGetOptionText("-generate_seed"), "", o->seed, &o->seed, NULL));
  PetscCall(PetscOptionsString("-weights", KMeansGetOptionText("-weights"), "", rq->weights, rq->weights, sizeof(rq->weights), NULL));
  PetscCall(PetscOptionsString("-start_file", KMeansGetOptionText("-start_file"), "", rq->start, rq->start, sizeof(rq->start), NULL));
  PetscCall(PetscOptionsString("-labels", KMeansGetOptionText("-labels"), "", rq->labels, rq->labels, sizeof(rq->labels), NULL));
  PetscCall(PetscOptionsString("-centroids", KMeansGetOptionText("-centroids"), "", rq->centroids, rq->centroids, sizeof(rq->centroids), NULL));
  PetscCall(PetscOptionsString("-report", KMeansGetOptionText("-report"), "", rq->report, rq->report, sizeof(rq->report), NULL));
  PetscOptionsEnd();
  PetscCall(GpAppTableOptions(comm, &o->table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the options of the solver for -help. */
static PetscErrorCode KMeansShowOptions(MPI_Comm comm, void *context)
{
  KMeans km;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansCheckRequest(MPI_Comm comm, void *context)
{
  const KMeansRequest   *rq                             = (const KMeansRequest *)context;
  const PointSetOptions *o                              = &rq->points;
  char                   checkpoint[PETSC_MAX_PATH_LEN] = "", restart[PETSC_MAX_PATH_LEN] = "";

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kmeans_checkpoint", checkpoint, sizeof(checkpoint), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kmeans_restart", restart, sizeof(restart), NULL));
  PetscCheck((o->file[0] != 0) + (o->ngenerate != 0) == 1, comm, PETSC_ERR_USER_INPUT, "%s: give one of -f <points>, -generate <n,d>", o->file[0] ? "several inputs" : "nothing to do");
  PetscCheck(!o->ngenerate || (o->ngenerate == 2 && o->generate[0] > 0 && o->generate[1] > 0), comm, PETSC_ERR_USER_INPUT, "-generate needs two positive numbers: points,features");
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-f", o->file));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-weights", rq->weights));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-start_file", rq->start));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-labels", rq->labels));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-centroids", rq->centroids));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-report", rq->report));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_RESTART, "-kmeans_restart", restart));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_CHECKPOINT, "-kmeans_checkpoint", checkpoint));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one weight for each point. */
static PetscErrorCode KMeansReadWeights(MPI_Comm comm, const char file[], Mat X, Vec *w)
{
  GpAppTableSpec spec = {0};
  GpAppTable     T;
  PetscInt       N, rows, cols;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  PetscCall(MatGetSize(X, &N, NULL));
  rows = T.N;
  cols = T.cols;
  PetscCall(VecCreateMPI(comm, T.rows, T.N, w));
  PetscCall(VecGetArrayWrite(*w, &a));
  for (PetscInt i = 0; i < T.rows; i++) a[i] = T.value[(size_t)i * T.cols];
  PetscCall(VecRestoreArrayWrite(*w, &a));
  PetscCall(GpAppTableDestroy(&T));
  PetscCheck(rows == N && cols == 1, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; %" PetscInt_FMT " points need one weight in each of %" PetscInt_FMT " lines", file, rows, cols, N, N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes weights like the rows of X. */
static PetscErrorCode KMeansSpreadWeights(Mat X, Vec *w)
{
  Vec        mine;
  VecScatter scatter;
  IS         is;
  PetscInt   start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(X, NULL, &mine));
  PetscCall(VecGetOwnershipRange(mine, &start, &end));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)X), end - start, start, 1, &is));
  PetscCall(VecScatterCreate(*w, is, mine, is, &scatter));
  PetscCall(VecScatterBegin(scatter, *w, mine, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, *w, mine, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&is));
  PetscCall(VecDestroy(w));
  *w = mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the cluster of each point, under its name or number. */
static PetscErrorCode KMeansWriteLabels(MPI_Comm comm, const KMeansRun *run, const char file[])
{
  IS              local, all;
  const PetscInt *label;
  const char     *name = run->points.names;
  PetscInt        n;
  GpAppOutput     out;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(run->km, &local));
  PetscCall(ISAllGather(local, &all));
  PetscCall(ISGetSize(all, &n));
  PetscCall(ISGetIndices(all, &label));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "point,cluster\n");
    for (PetscInt i = 0; i < n; i++) {
      if (name) {
        GpAppWriteCSV(out.fp, name);
        name += strlen(name) + 1;
      } else (void)fprintf(out.fp, "%" PetscInt_FMT, i);
      (void)fprintf(out.fp, ",%" PetscInt_FMT "\n", label[i]);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(ISRestoreIndices(all, &label));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansWriteCentroids(MPI_Comm comm, const KMeansRun *run, const char file[])
{
  Mat                M;
  const PetscScalar *m;
  PetscInt           k, d, lda;
  GpAppOutput        out;

  PetscFunctionBegin;
  PetscCall(KMeansGetCentroids(run->km, &M));
  PetscCall(MatGetSize(M, &k, &d));
  PetscCall(MatDenseGetLDA(M, &lda));
  PetscCall(MatDenseGetArrayRead(M, &m));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    for (PetscInt j = 0; j < d; j++) (void)fprintf(out.fp, "%sx%" PetscInt_FMT, j ? "," : "", j);
    (void)fputc('\n', out.fp);
    for (PetscInt c = 0; c < k; c++)
      for (PetscInt j = 0; j < d; j++) (void)fprintf(out.fp, "%s%.17g%s", j ? "," : "", m[c + (size_t)j * lda], j < d - 1 ? "" : "\n");
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the points of each cluster on all ranks. */
static PetscErrorCode KMeansCountPoints(KMeans km, PetscInt k, PetscInt64 count[])
{
  IS              labels;
  const PetscInt *label;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(count, k));
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(ISGetIndices(labels, &label));
  for (PetscInt i = 0; i < n; i++) count[label[i]]++;
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, (PetscMPIInt)k, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)km)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the result, and writes it as JSON if the request names a file. */
static PetscErrorCode KMeansReport(MPI_Comm comm, const KMeansRequest *rq, const KMeansRun *run)
{
  PetscReal             inertia;
  PetscInt              it, N, d, k;
  PetscInt64            distances, *count;
  KMeansConvergedReason reason;
  MatInfo               info;
  const char           *device;
  PetscMPIInt           size;
  Mat                   M;
  GpAppOutput           out;
  GpAppJSON             J;

  PetscFunctionBegin;
  PetscCall(KMeansGetInertia(run->km, &inertia));
  PetscCall(KMeansGetIterationNumber(run->km, &it));
  PetscCall(KMeansGetConvergedReason(run->km, &reason));
  PetscCall(KMeansGetDistances(run->km, &distances, NULL));
  PetscCall(KMeansGetCentroids(run->km, &M));
  PetscCall(MatGetSize(M, &k, &d));
  PetscCall(MatDestroy(&M));
  PetscCall(MatGetSize(run->points.X, &N, NULL));
  PetscCall(MatGetInfo(run->points.X, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(comm, "points: %" PetscInt_FMT " with %" PetscInt_FMT " features, %s, loaded in %.2g s\n", N, d, run->points.source, run->load));
  PetscCall(PetscPrintf(comm, "k-means, %" PetscInt_FMT " clusters: %s after %" PetscInt_FMT " iterations, %.3g s, on %s\ninertia %.12g\n", k, KMeansConvergedReasons[reason], it, run->solve, device, (double)inertia));
  if (!rq->report[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(k, &count));
  PetscCall(KMeansCountPoints(run->km, k, count));
  PetscCall(GpAppOutputOpen(comm, rq->report, &out));
  if (out.fp) {
    GpAppJSONBegin(&J, out.fp);
    GpAppJSONWriteInt(&J, "points", N);
    GpAppJSONWriteInt(&J, "features", d);
    GpAppJSONWriteInt(&J, "nnz", (PetscInt64)info.nz_used);
    GpAppJSONWriteInt(&J, "clusters", k);
    GpAppJSONWriteString(&J, "reason", KMeansConvergedReasons[reason]);
    GpAppJSONWriteBool(&J, "converged", (PetscBool)(reason > 0));
    GpAppJSONWriteInt(&J, "iterations", it);
    GpAppJSONWriteReal(&J, "inertia", (double)inertia);
    GpAppJSONOpen(&J, "sizes", '[', PETSC_FALSE);
    for (PetscInt c = 0; c < k; c++) GpAppJSONWriteInt(&J, NULL, count[c]);
    GpAppJSONClose(&J);
    GpAppJSONWriteInt(&J, "distances", distances);
    GpAppJSONWriteReal(&J, "seconds_load", run->load);
    GpAppJSONWriteReal(&J, "seconds_solve", run->solve);
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONWriteString(&J, "device", device);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansRunRequest(MPI_Comm comm, void *context, PetscBool *converged)
{
  const KMeansRequest  *rq  = (const KMeansRequest *)context;
  KMeansRun             run = {{0}};
  KMeansConvergedReason reason;
  PetscLogDouble        begin, loaded, end;
  Vec                   w = NULL;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PointSetLoad(comm, &rq->points, &run.points));
  PetscCall(KMeansCreate(comm, &run.km));
  PetscCall(KMeansSetPoints(run.km, run.points.X));
  if (rq->weights[0]) {
    PetscCall(KMeansReadWeights(comm, rq->weights, run.points.X, &w));
    PetscCall(KMeansSpreadWeights(run.points.X, &w));
    PetscCall(KMeansSetWeights(run.km, w));
  }
  if (rq->start[0]) {
    PointSetOptions o = {.format = POINTS_TABLE};
    PointSet        start;

    PetscCall(PetscStrncpy(o.file, rq->start, sizeof(o.file)));
    PetscCall(PointSetLoad(comm, &o, &start));
    PetscCall(KMeansSetStartCentroids(run.km, start.X));
    PetscCall(PointSetDestroy(&start));
  }
  PetscCall(KMeansSetFromOptions(run.km));
  PetscCall(KMeansSetUp(run.km));
  PetscCall(PetscTime(&loaded));
  PetscCall(KMeansSolve(run.km));
  PetscCall(PetscTime(&end));
  run.load  = loaded - begin;
  run.solve = end - loaded;
  PetscCall(KMeansReport(comm, rq, &run));
  if (rq->labels[0]) PetscCall(KMeansWriteLabels(comm, &run, rq->labels));
  if (rq->centroids[0]) PetscCall(KMeansWriteCentroids(comm, &run, rq->centroids));
  PetscCall(KMeansGetConvergedReason(run.km, &reason));
  *converged = (PetscBool)(reason > 0);
  PetscCall(VecDestroy(&w));
  PetscCall(KMeansDestroy(&run.km));
  PetscCall(PointSetDestroy(&run.points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static KMeansRequest rq;
  const GpAppProgram   program = {"kmeans", &manual, KMeansGetRequest, KMeansShowOptions, KMeansCheckRequest, KMeansRunRequest, &rq};

  return GpAppMain(argc, argv, &program);
}
