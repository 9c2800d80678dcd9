/* The main program of kmeans: reads the options and the points, runs the solver, writes the results. */
#include "kmeansrun.h"
#include "rows.h"
#include "app/output/appoutput.h"
#include "app/picture/appcanvas.h"
#include "mainoptions.h"
#include <petsctime.h>
#include <stddef.h>
#include <string.h>

/* The request of the command line, apart from the options of the solver. An empty file name means that the option is not set. */
typedef struct {
  PointSetOptions points, predict;
  PictureOptions  picture;
  char            weights[PETSC_MAX_PATH_LEN], start[PETSC_MAX_PATH_LEN];
  char            labels[PETSC_MAX_PATH_LEN], labels_binary[PETSC_MAX_PATH_LEN], centroids[PETSC_MAX_PATH_LEN], centroids_binary[PETSC_MAX_PATH_LEN], predictions[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  PetscInt        silhouette;
} KMeansRequest;

/* The options that are files. */
static const struct {
  const char   *option;
  GpAppFileRole role;
  size_t        offset; /* of the name in a KMeansRequest */
} Files[] = {
  {"-f", GP_APP_FILE_INPUT, offsetof(KMeansRequest, points.file)},
  {"-weights", GP_APP_FILE_INPUT, offsetof(KMeansRequest, weights)},
  {"-start_file", GP_APP_FILE_INPUT, offsetof(KMeansRequest, start)},
  {"-predict", GP_APP_FILE_INPUT, offsetof(KMeansRequest, predict.file)},
  {"-labels", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, labels)},
  {"-labels_binary", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, labels_binary)},
  {"-centroids", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, centroids)},
  {"-centroids_binary", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, centroids_binary)},
  {"-predictions", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, predictions)},
  {"-picture", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, picture.file)},
  {"-report", GP_APP_FILE_OUTPUT, offsetof(KMeansRequest, report)},
};

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
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Files); k++) {
    char *name = (char *)rq + Files[k].offset;

    PetscCall(PetscOptionsString(Files[k].option, KMeansGetOptionText(Files[k].option), "", name, name, PETSC_MAX_PATH_LEN, NULL));
  }
  PetscCall(PetscOptionsEnum("-format", KMeansGetOptionText("-format"), "", PointSetFormats, (PetscEnum)o->format, (PetscEnum *)&o->format, NULL));
  PetscCall(PetscOptionsString("-columns", KMeansGetOptionText("-columns"), "", o->columns, o->columns, sizeof(o->columns), NULL));
  o->ngenerate = 2;
  PetscCall(PetscOptionsIntArray("-generate", KMeansGetOptionText("-generate"), "", o->generate, &o->ngenerate, NULL));
  PetscCall(PetscOptionsInt("-generate_seed", KMeansGetOptionText("-generate_seed"), "", o->seed, &o->seed, NULL));
  rq->picture.ncolumns = 2;
  PetscCall(PetscOptionsIntArray("-picture_columns", KMeansGetOptionText("-picture_columns"), "", rq->picture.columns, &rq->picture.ncolumns, NULL));
  PetscCall(PetscOptionsInt("-silhouette", KMeansGetOptionText("-silhouette"), "", rq->silhouette, &rq->silhouette, NULL));
  PetscOptionsEnd();
  PetscCall(GpAppTableOptions(comm, &o->table));
  rq->predict.format = o->format;
  rq->predict.table  = o->table;
  PetscCall(PetscStrncpy(rq->predict.columns, o->columns, sizeof(rq->predict.columns)));
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

/* Whether other points are assigned to centroids of a file, without points to compute centroids from. */
static PetscBool KMeansIsPredictionAlone(const KMeansRequest *rq)
{
  return (PetscBool)(rq->predict.file[0] && rq->start[0] && !rq->points.file[0] && !rq->points.ngenerate);
}

/* Refuses options that need points to compute centroids from. */
static PetscErrorCode KMeansCheckPredictionAlone(MPI_Comm comm, const KMeansRequest *rq)
{
  static const char *const solver[] = {"-kmeans_checkpoint", "-kmeans_restart"};
  const char              *extra    = rq->silhouette ? "-silhouette" : NULL;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Files); k++) {
    const char *name = (const char *)rq + Files[k].offset;

    if (name[0] && name != rq->start && name != rq->predict.file && name != rq->predictions) extra = Files[k].option;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solver); k++) {
    PetscBool set;

    PetscCall(PetscOptionsHasName(NULL, NULL, solver[k], &set));
    if (set) extra = solver[k];
  }
  PetscCheck(!extra, comm, PETSC_ERR_USER_INPUT, "%s needs points to compute centroids from: -f <points>; -predict without -f writes -predictions only", extra);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansCheckRequest(MPI_Comm comm, void *context)
{
  const KMeansRequest   *rq                             = (const KMeansRequest *)context;
  const PointSetOptions *o                              = &rq->points;
  char                   checkpoint[PETSC_MAX_PATH_LEN] = "", restart[PETSC_MAX_PATH_LEN] = "", start[32] = "";
  PetscBool              given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kmeans_start", start, sizeof(start), NULL));
  PetscCall(PetscStrcasecmp(start, "given", &given));
  PetscCheck(!given || rq->start[0], comm, PETSC_ERR_USER_INPUT, "-kmeans_start given needs the first centroids: -start_file <file>");
  PetscCheck(given || !start[0] || !rq->start[0], comm, PETSC_ERR_USER_INPUT, "-start_file excludes -kmeans_start %s: omit one of them", start);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kmeans_checkpoint", checkpoint, sizeof(checkpoint), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kmeans_restart", restart, sizeof(restart), NULL));
  PetscCheck(!rq->predictions[0] || rq->predict.file[0], comm, PETSC_ERR_USER_INPUT, "-predictions needs new points: -predict <file>");
  PetscCheck(!rq->predict.file[0] || rq->predictions[0], comm, PETSC_ERR_USER_INPUT, "-predict needs a file for the clusters of the new points: -predictions <file>");
  if (KMeansIsPredictionAlone(rq)) PetscCall(KMeansCheckPredictionAlone(comm, rq));
  else PetscCheck((o->file[0] != 0) + (o->ngenerate != 0) == 1, comm, PETSC_ERR_USER_INPUT, "%s: give one of -f <points>, -generate <n,d>, -predict <points> with -start_file <centroids>", o->file[0] ? "several inputs" : "nothing to do");
  PetscCheck(!o->ngenerate || (o->ngenerate == 2 && o->generate[0] > 0 && o->generate[1] > 0), comm, PETSC_ERR_USER_INPUT, "-generate needs two positive numbers: points,features");
  PetscCheck(!rq->picture.ncolumns || rq->picture.ncolumns == 2, comm, PETSC_ERR_USER_INPUT, "-picture_columns needs two numbers: the columns of the horizontal and of the vertical axis");
  PetscCheck(!rq->picture.ncolumns || rq->picture.file[0], comm, PETSC_ERR_USER_INPUT, "-picture_columns needs a picture: -picture <file>");
  PetscCall(GpAppCanvasProbe(comm, rq->picture.file));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Files); k++) {
    const char *name = (const char *)rq + Files[k].offset;

    if (name != rq->picture.file || strcmp(name, "draw")) PetscCall(GpAppFilesAdd(Files[k].role, Files[k].option, name)); /* draw is no file, but a window */
  }
  PetscCall(GpAppFilesAdd(GP_APP_FILE_RESTART, "-kmeans_restart", restart));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_CHECKPOINT, "-kmeans_checkpoint", checkpoint));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses weights that are negative or missing, and weights that are all zero. Collective. */
static PetscErrorCode KMeansCheckWeights(const GpAppTable *T)
{
  GpAppComplaint wrong    = {0};
  PetscBool      positive = PETSC_FALSE, any;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < T->rows && !wrong.code; i++) {
    if (!(T->value[i] >= 0)) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, T->line[i], "the weight is negative, missing or NaN; give a number of at least 0");
    if (T->value[i] > 0) positive = PETSC_TRUE;
  }
  PetscCall(GpAppComplaintRaise(T->comm, T->file, &wrong));
  PetscCall(GpAppFindAny(T->comm, positive, &any));
  PetscCheck(any, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all weights are zero; at least one point must count", T->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one weight for each point. */
static PetscErrorCode KMeansReadWeights(MPI_Comm comm, const char file[], Mat X, Vec *w)
{
  GpAppTableSpec spec = {.nan_missing = PETSC_TRUE};
  GpAppTable     T;
  PetscInt       N, rows, cols;
  PetscScalar   *a;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, file, &spec, &T));
  PetscCall(MatGetSize(X, &N, NULL));
  rows = T.N;
  cols = T.cols;
  if (rows != N || cols != 1) PetscCall(GpAppTableDestroy(&T));
  PetscCheck(rows == N && cols == 1, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; %" PetscInt_FMT " points need one weight in each of %" PetscInt_FMT " lines", file, rows, cols, N, N);
  ierr = KMeansCheckWeights(&T);
  if (ierr) PetscCall(GpAppTableDestroy(&T));
  PetscCall(ierr);
  PetscCall(VecCreateMPI(comm, T.rows, T.N, w));
  PetscCall(VecGetArrayWrite(*w, &a));
  for (PetscInt i = 0; i < T.rows; i++) a[i] = T.value[i];
  PetscCall(VecRestoreArrayWrite(*w, &a));
  PetscCall(GpAppTableDestroy(&T));
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

/* Gives the solver the centroids of -start_file, which have d features. */
static PetscErrorCode KMeansReadStart(MPI_Comm comm, const char file[], KMeans km, PetscInt *d)
{
  PointSetOptions o = {.format = POINTS_AUTO, .all = PETSC_TRUE};
  PointSet        start;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.file, file, sizeof(o.file)));
  PetscCall(PointSetLoad(comm, &o, &start));
  PetscCall(MatGetSize(start.X, NULL, d));
  PetscCall(KMeansSetStartCentroids(km, start.X));
  PetscCall(PointSetDestroy(&start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the new points, for centroids with d features. */
static PetscErrorCode KMeansReadAdded(const KMeansRequest *rq, PetscInt d, KMeansRun *run)
{
  PointSetOptions o = rq->predict;
  PetscInt        mine;

  PetscFunctionBegin;
  o.features = d;
  PetscCall(PointSetLoad(run->comm, &o, &run->added));
  PetscCall(MatGetSize(run->added.X, NULL, &mine));
  PetscCheck(mine == d, run->comm, PETSC_ERR_USER_INPUT, "-predict %s: the points have %" PetscInt_FMT " features, the centroids %" PetscInt_FMT "; select the columns of the centroids by -columns", o.file, mine, d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns the new points to the centroids. */
static PetscErrorCode KMeansWritePredictions(const KMeansRun *run, const char file[])
{
  PetscInt N;
  IS       labels;

  PetscFunctionBegin;
  PetscCall(KMeansPredict(run->km, run->added.X, &labels));
  PetscCall(KMeansWriteLabels(run->comm, labels, run->added.names, file));
  PetscCall(MatGetSize(run->added.X, &N, NULL));
  PetscCall(PetscPrintf(run->comm, "new points: %" PetscInt_FMT ", %s\n", N, run->added.source));
  PetscCall(ISDestroy(&labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the silhouette of a sample of m points. */
static PetscErrorCode KMeansComputeSilhouette(PetscInt m, KMeansRun *run)
{
  IS              labels;
  const PetscInt *label;
  KMeansMetric    metric;
  PointRows       R;

  PetscFunctionBegin;
  PetscCall(KMeansGetMetric(run->km, &metric));
  PetscCall(PointRowsCreate(run->points.X, metric, &R));
  PetscCall(KMeansGetLabels(run->km, &labels));
  PetscCall(ISGetIndices(labels, &label));
  PetscCall(SilhouetteCompute(&R, metric, run->k, label, run->size, m, &run->silhouette));
  PetscCall(ISRestoreIndices(labels, &label));
  run->sample = PetscMin(m, R.N);
  PetscCall(PointRowsDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the points and solves. */
static PetscErrorCode KMeansSolveRequest(const KMeansRequest *rq, KMeansRun *run)
{
  PetscLogDouble begin, loaded, end;
  PetscInt       d;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PointSetLoad(run->comm, &rq->points, &run->points));
  PetscCall(MatGetSize(run->points.X, NULL, &d));
  if (rq->predict.file[0]) PetscCall(KMeansReadAdded(rq, d, run));
  for (PetscInt c = 0; c < rq->picture.ncolumns; c++)
    PetscCheck(rq->picture.columns[c] >= 0 && rq->picture.columns[c] < d, run->comm, PETSC_ERR_USER_INPUT, "-picture_columns %" PetscInt_FMT ",%" PetscInt_FMT ": the points have columns 0 to %" PetscInt_FMT, rq->picture.columns[0],
               rq->picture.columns[1], d - 1);
  PetscCall(KMeansSetPoints(run->km, run->points.X));
  if (rq->weights[0]) {
    PetscCall(KMeansReadWeights(run->comm, rq->weights, run->points.X, &run->weights));
    PetscCall(KMeansSpreadWeights(run->points.X, &run->weights));
    PetscCall(KMeansSetWeights(run->km, run->weights));
  }
  if (rq->start[0]) PetscCall(KMeansReadStart(run->comm, rq->start, run->km, &d));
  PetscCall(KMeansSetFromOptions(run->km));
  PetscCall(KMeansSetUp(run->km));
  PetscCall(PetscTime(&loaded));
  run->load = loaded - begin;
  PetscCall(KMeansPrintPoints(run));
  PetscCall(PetscTime(&loaded));
  PetscCall(KMeansSolve(run->km));
  PetscCall(PetscTime(&end));
  run->solve = end - loaded;
  PetscCall(KMeansCountPoints(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansWriteResults(const KMeansRequest *rq, const KMeansRun *run)
{
  IS labels;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(run->km, &labels));
  if (rq->labels[0]) PetscCall(KMeansWriteLabels(run->comm, labels, run->points.names, rq->labels));
  if (rq->labels_binary[0]) PetscCall(KMeansWriteLabelsBinary(run->comm, labels, rq->labels_binary));
  if (rq->centroids[0]) PetscCall(KMeansWriteCentroids(run, rq->centroids));
  if (rq->centroids_binary[0]) PetscCall(KMeansWriteCentroidsBinary(run, rq->centroids_binary));
  if (rq->picture.file[0]) PetscCall(KMeansWritePicture(run, &rq->picture));
  if (rq->report[0]) PetscCall(KMeansWriteReport(run, rq->report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansRunRequest(MPI_Comm comm, void *context, PetscBool *converged)
{
  const KMeansRequest  *rq  = (const KMeansRequest *)context;
  KMeansRun             run = {.comm = comm};
  KMeansConvergedReason reason;

  PetscFunctionBegin;
  *converged = PETSC_TRUE;
  PetscCall(KMeansCreate(comm, &run.km));
  if (KMeansIsPredictionAlone(rq)) {
    PetscInt d;

    PetscCall(KMeansReadStart(comm, rq->start, run.km, &d));
    PetscCall(KMeansReadAdded(rq, d, &run));
    PetscCall(KMeansSetFromOptions(run.km));
  } else {
    PetscCall(KMeansSolveRequest(rq, &run));
    if (rq->silhouette) PetscCall(KMeansComputeSilhouette(rq->silhouette, &run));
    PetscCall(KMeansPrintSummary(&run));
    PetscCall(KMeansWriteResults(rq, &run));
    PetscCall(KMeansGetConvergedReason(run.km, &reason));
    *converged = (PetscBool)(reason > 0);
  }
  if (rq->predict.file[0]) PetscCall(KMeansWritePredictions(&run, rq->predictions));
  PetscCall(PetscFree(run.size));
  PetscCall(VecDestroy(&run.weights));
  PetscCall(KMeansDestroy(&run.km));
  PetscCall(PointSetDestroy(&run.points));
  PetscCall(PointSetDestroy(&run.added));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static KMeansRequest rq;
  const GpAppProgram   program = {"kmeans", &manual, KMeansGetRequest, KMeansShowOptions, KMeansCheckRequest, KMeansRunRequest, &rq};

  return GpAppMain(argc, argv, &program);
}
