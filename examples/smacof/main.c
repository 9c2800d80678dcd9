/* The main program of smacof: reads the options and the input, runs the scaling, writes the results. */
#include "solvers/smacof/smacofimpl.h"
#include "app/program/appmain.h"
#include "mainoptions.h"
#include <gpucsr.h>
#include <petsctime.h>
#include <string.h>

/* all options; an empty file name means that the option is not set */
typedef struct {
  DissimOptions      dissim;
  ScaleOptions       scale;
  OutputOptions      output;
  char               start[PETSC_MAX_PATH_LEN], fixed[PETSC_MAX_PATH_LEN], labels[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN];
  InterpolateOptions interpolate;
} Request;

static const char prefix[] = "smacof_";

/* Returns the help text of an option. */
static const char *SmacofGetOptionText(const char name[])
{
  return GpAppOptionGetText(options, name);
}

/* Reads the options of the dissimilarities. */
static PetscErrorCode GetDissimOptions(MPI_Comm comm, DissimOptions *o)
{
  const char *const storages[] = {"single", "double"};
  PetscInt          storage    = 0;

  PetscFunctionBegin;
  o->single = PETSC_TRUE;
  PetscOptionsBegin(comm, NULL, "Dissimilarities of the smacof program", "SMACOF");
  PetscCall(PetscOptionsString("-f", SmacofGetOptionText("-f"), "", o->file, o->file, sizeof(o->file), NULL));
  PetscCall(PetscOptionsString("-pairs", SmacofGetOptionText("-pairs"), "", o->pairs, o->pairs, sizeof(o->pairs), NULL));
  PetscCall(PetscOptionsString("-features", SmacofGetOptionText("-features"), "", o->features, o->features, sizeof(o->features), NULL));
  PetscCall(PetscOptionsEList("-metric", SmacofGetOptionText("-metric"), "", Metrics, 3, Metrics[o->metric], &o->metric, NULL));
  PetscCall(PetscOptionsBool("-matrix_free", SmacofGetOptionText("-matrix_free"), "", o->matrix_free, &o->matrix_free, NULL));
  PetscCall(PetscOptionsString("-weights", SmacofGetOptionText("-weights"), "", o->weights, o->weights, sizeof(o->weights), NULL));
  PetscCall(PetscOptionsEnum("-missing", SmacofGetOptionText("-missing"), "", Missings, (PetscEnum)o->missing, (PetscEnum *)&o->missing, NULL));
  PetscCall(PetscOptionsBool("-symmetrize", SmacofGetOptionText("-symmetrize"), "", o->symmetrize, &o->symmetrize, NULL));
  PetscCall(PetscOptionsEList("-storage", SmacofGetOptionText("-storage"), "", storages, 2, storages[storage], &storage, NULL));
  PetscOptionsEnd();
  PetscCall(GpAppTableOptions(comm, &o->table));
  o->single = (PetscBool)(storage == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetScaleOptions(MPI_Comm comm, ScaleOptions *o)
{
  DisparityOptions *d = &o->disparity;

  PetscFunctionBegin;
  *o = (ScaleOptions){2, 1000, 1, 8, 0, 5, 1e-6, 1e-2, ACCELERATION_ANDERSON, START_AUTO, EIGENSOLVER_BLOCK, PETSC_FALSE, 0, "", {DISPARITY_RATIO, TIES_PRIMARY, 2, 4}};
  PetscOptionsBegin(comm, prefix, "Options of the scaling", "SMACOF");
  PetscCall(PetscOptionsInt("-dim", SmacofGetOptionText("-smacof_dim"), "", o->dim, &o->dim, NULL));
  PetscCall(PetscOptionsReal("-eps", SmacofGetOptionText("-smacof_eps"), "", o->eps, &o->eps, NULL));
  PetscCall(PetscOptionsInt("-max_it", SmacofGetOptionText("-smacof_max_it"), "", o->max_it, &o->max_it, NULL));
  PetscCall(PetscOptionsEnum("-acceleration", SmacofGetOptionText("-smacof_acceleration"), "", Accelerations, (PetscEnum)o->acceleration, (PetscEnum *)&o->acceleration, NULL));
  PetscCall(PetscOptionsInt("-anderson_history", SmacofGetOptionText("-smacof_anderson_history"), "", o->history, &o->history, NULL));
  PetscCall(PetscOptionsReal("-anderson_below", SmacofGetOptionText("-smacof_anderson_below"), "", o->anderson_below, &o->anderson_below, NULL));
  PetscCall(PetscOptionsEnum("-start", SmacofGetOptionText("-smacof_start"), "", Starts, (PetscEnum)o->start, (PetscEnum *)&o->start, NULL));
  PetscCall(PetscOptionsEnum("-eigensolver", SmacofGetOptionText("-smacof_eigensolver"), "", Eigensolvers, (PetscEnum)o->eigensolver, (PetscEnum *)&o->eigensolver, NULL));
  PetscCall(PetscOptionsInt("-starts", SmacofGetOptionText("-smacof_starts"), "", o->starts, &o->starts, NULL));
  PetscCall(PetscOptionsInt("-batch", SmacofGetOptionText("-smacof_batch"), "", o->batch, &o->batch, NULL));
  PetscCall(PetscOptionsInt("-seed", SmacofGetOptionText("-smacof_seed"), "", o->seed, &o->seed, NULL));
  PetscCall(PetscOptionsEnum("-disparity", SmacofGetOptionText("-smacof_disparity"), "", DisparityTypes, (PetscEnum)d->type, (PetscEnum *)&d->type, NULL));
  PetscCall(PetscOptionsEnum("-ties", SmacofGetOptionText("-smacof_ties"), "", TiesNames, (PetscEnum)d->ties, (PetscEnum *)&d->ties, NULL));
  PetscCall(PetscOptionsInt("-spline_degree", SmacofGetOptionText("-smacof_spline_degree"), "", d->degree, &d->degree, NULL));
  PetscCall(PetscOptionsInt("-spline_knots", SmacofGetOptionText("-smacof_spline_knots"), "", d->knots, &d->knots, NULL));
  PetscCall(PetscOptionsEnum("-arithmetic", SmacofGetOptionText("-smacof_arithmetic"), "", Arithmetics, (PetscEnum)o->device.arithmetic, (PetscEnum *)&o->device.arithmetic, NULL));
  PetscCall(PetscOptionsEnum("-reading", SmacofGetOptionText("-smacof_reading"), "", Readings, (PetscEnum)o->device.reading, (PetscEnum *)&o->device.reading, NULL));
  PetscCall(PetscOptionsBool("-monitor", SmacofGetOptionText("-smacof_monitor"), "", o->monitor, &o->monitor, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetRequest(MPI_Comm comm, void *context)
{
  Request       *rq    = (Request *)context;
  OutputOptions *o     = &rq->output;
  PetscInt       every = 100;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  PetscCall(GetDissimOptions(comm, &rq->dissim));
  PetscCall(GetScaleOptions(comm, &rq->scale));
  PetscOptionsBegin(comm, NULL, "Files of the smacof program", "SMACOF");
  PetscCall(PetscOptionsString("-start_file", SmacofGetOptionText("-start_file"), "", rq->start, rq->start, sizeof(rq->start), NULL));
  PetscCall(PetscOptionsString("-fixed", SmacofGetOptionText("-fixed"), "", rq->fixed, rq->fixed, sizeof(rq->fixed), NULL));
  PetscCall(PetscOptionsString("-coordinates", SmacofGetOptionText("-coordinates"), "", o->coordinates, o->coordinates, sizeof(o->coordinates), NULL));
  PetscCall(PetscOptionsString("-coordinates_binary", SmacofGetOptionText("-coordinates_binary"), "", o->binary, o->binary, sizeof(o->binary), NULL));
  PetscCall(PetscOptionsString("-stress_per_point", SmacofGetOptionText("-stress_per_point"), "", o->points, o->points, sizeof(o->points), NULL));
  PetscCall(PetscOptionsString("-report", SmacofGetOptionText("-report"), "", o->report, o->report, sizeof(o->report), NULL));
  PetscCall(PetscOptionsString("-labels", SmacofGetOptionText("-labels"), "", rq->labels, rq->labels, sizeof(rq->labels), NULL));
  PetscCall(PetscOptionsString("-map", SmacofGetOptionText("-map"), "", o->map, o->map, sizeof(o->map), NULL));
  PetscCall(PetscOptionsString("-shepard", SmacofGetOptionText("-shepard"), "", o->shepard, o->shepard, sizeof(o->shepard), NULL));
  PetscCall(PetscOptionsString("-shepard_data", SmacofGetOptionText("-shepard_data"), "", o->shepard_data, o->shepard_data, sizeof(o->shepard_data), NULL));
  PetscCall(PetscOptionsString("-interpolate", SmacofGetOptionText("-interpolate"), "", rq->interpolate.file, rq->interpolate.file, sizeof(rq->interpolate.file), NULL));
  PetscCall(PetscOptionsString("-map_file", SmacofGetOptionText("-map_file"), "", rq->interpolate.map, rq->interpolate.map, sizeof(rq->interpolate.map), NULL));
  PetscCall(PetscOptionsString("-checkpoint", SmacofGetOptionText("-checkpoint"), "", rq->scale.checkpoint, rq->scale.checkpoint, sizeof(rq->scale.checkpoint), NULL));
  PetscCall(PetscOptionsInt("-checkpoint_every", SmacofGetOptionText("-checkpoint_every"), "", every, &every, NULL));
  PetscCall(PetscOptionsString("-restart", SmacofGetOptionText("-restart"), "", rq->restart, rq->restart, sizeof(rq->restart), NULL));
  PetscOptionsEnd();
  rq->scale.checkpoint_every = rq->scale.checkpoint[0] ? every : 0;
  rq->interpolate.dim        = rq->scale.dim;
  rq->interpolate.metric     = rq->dissim.metric;
  rq->interpolate.max_it     = rq->scale.max_it;
  rq->interpolate.eps        = rq->scale.eps;
  rq->interpolate.table      = rq->dissim.table;
  PetscCall(PetscStrncpy(rq->interpolate.features, rq->dissim.features, sizeof(rq->interpolate.features)));
  if (rq->scale.disparity.type != DISPARITY_RATIO) rq->dissim.single = PETSC_FALSE; /* disparities are computed in double precision in every pass */
  if (rq->start[0] && rq->scale.start == START_AUTO) rq->scale.start = START_GIVEN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Registers all files of the run, so that no output overwrites another file of the run, and checks that the outputs can be written. */
static PetscErrorCode CheckFiles(MPI_Comm comm, const Request *rq)
{
  const DissimOptions *d = &rq->dissim;
  const OutputOptions *o = &rq->output;

  PetscFunctionBegin;
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-f", d->file));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-pairs", d->pairs));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-features", d->features));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-weights", d->weights));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-start_file", rq->start));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-fixed", rq->fixed));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-labels", rq->labels));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-interpolate", rq->interpolate.file));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-map_file", rq->interpolate.map));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_RESTART, "-restart", rq->restart));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_CHECKPOINT, "-checkpoint", rq->scale.checkpoint));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-coordinates", o->coordinates));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-coordinates_binary", o->binary));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-stress_per_point", o->points));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-report", o->report));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-shepard_data", o->shepard_data));
  if (strcmp(o->map, "draw")) PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-map", o->map));
  if (strcmp(o->shepard, "draw")) PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-shepard", o->shepard));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRequest(MPI_Comm comm, void *context)
{
  const Request       *rq = (const Request *)context;
  const DissimOptions *d  = &rq->dissim;
  const ScaleOptions  *s  = &rq->scale;

  PetscFunctionBegin;
  PetscCheck((rq->interpolate.file[0] != 0) == (rq->interpolate.map[0] != 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->interpolate.file[0] ? "-interpolate needs the finished map: -map_file <file>" : "-map_file needs new points: -interpolate <file>");
  PetscCheck(!rq->interpolate.file[0] || !(d->file[0] || d->pairs[0]), comm, PETSC_ERR_USER_INPUT, "-interpolate cannot be combined with -f or -pairs; use -features for the features of the points of the map");
  PetscCheck(!rq->interpolate.file[0] || !(rq->output.points[0] || rq->output.report[0] || rq->output.shepard[0] || rq->output.shepard_data[0] || rq->labels[0] || rq->fixed[0] || rq->restart[0] || s->checkpoint[0]), comm, PETSC_ERR_USER_INPUT,
             "-interpolate supports only the outputs -coordinates, -coordinates_binary and -map, and not -labels, -fixed, -checkpoint and -restart");
  PetscCheck(rq->interpolate.file[0] || (d->file[0] != 0) + (d->pairs[0] != 0) + (d->features[0] != 0) == 1, comm, PETSC_ERR_USER_INPUT, "%s: give one of -f <matrix>, -pairs <list>, -features <vectors>",
             d->file[0] || d->pairs[0] || d->features[0] ? "several inputs" : "nothing to do");
  PetscCheck(!d->matrix_free || d->features[0], comm, PETSC_ERR_USER_INPUT, "-matrix_free needs -features");
  PetscCheck(!d->weights[0] || !d->features[0], comm, PETSC_ERR_USER_INPUT, "-weights cannot be combined with -features; use -f or -pairs");
  PetscCheck(s->disparity.knots + s->disparity.degree < DISPARITY_MAX_FUNCTIONS, comm, PETSC_ERR_USER_INPUT, "-smacof_spline_knots %" PetscInt_FMT " and -smacof_spline_degree %" PetscInt_FMT ": their sum must be less than %d", s->disparity.knots,
             s->disparity.degree, DISPARITY_MAX_FUNCTIONS);
  PetscCheck((s->start == START_GIVEN) == (rq->start[0] != 0), comm, PETSC_ERR_USER_INPUT, rq->start[0] ? "-start_file cannot be combined with -smacof_start %s; leave one of them out" : "-smacof_start %s needs -start_file <file>", Starts[s->start]);
  PetscCall(CanvasProbe(comm, rq->output.map));
  PetscCall(CanvasProbe(comm, rq->output.shepard));
  PetscCall(CheckFiles(comm, rq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the initial configuration of start k. */
static PetscErrorCode SmacofSetStart(const Request *rq, const Scaler *S, PetscInt k, Vec start)
{
  const ScaleOptions *o     = &rq->scale;
  const Dissim       *D     = S->D;
  const Fixed        *fixed = S->fixed;
  PetscScalar        *x;

  PetscFunctionBegin;
  PetscCheck(k || o->start != START_TORGERSON || D->complete, D->comm, PETSC_ERR_USER_INPUT, "-smacof_start torgerson needs all pairs with weight 1, but some pairs are missing or have weights; use -smacof_start random");
  PetscCall(VecGetArrayWrite(start, &x));
  if (!k && o->start == START_GIVEN) PetscCall(CoordinatesRead(D->comm, rq->start, D->N, o->dim, D->names, x));
  else if (!k && o->start != START_RANDOM && D->complete) PetscCall(StartTorgerson(S, x));
  else PetscCall(StartRandom(o->seed + k, D->N, o->dim, x));
  for (PetscInt f = 0; fixed && f < fixed->n; f++)
    for (PetscInt c = 0; c < o->dim; c++) x[(size_t)c * D->N + fixed->point[f]] = fixed->x[f * o->dim + c];
  PetscCall(VecRestoreArrayWrite(start, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* results of a run in addition to those of the Scaler, for the screen and the report */
typedef struct {
  char          *labels;
  PetscLogDouble load, start, solve; /* seconds */
  PetscLogDouble crossed;            /* bytes copied between host and device during the iterations */
  GpAppRounding  rounding;           /* rounding errors of the Laplacian of the weights, if there is one */
} Outcome;

/* Returns the bytes copied between host and device so far. */
static double SmacofGetCopiedBytes(const Scaler *S)
{
  return S->device.dev ? S->device.dev->bytes_in + S->device.dev->bytes_out : 0;
}

/* Runs all starts, in batches of at most S->npaths. */
static PetscErrorCode SmacofRunStarts(const Request *rq, Scaler *S, Outcome *out)
{
  PetscLogDouble t0, t1, t2;
  PetscInt       n     = 0;
  PetscBool      begun = (PetscBool)(rq->restart[0] != 0);

  PetscFunctionBegin;
  if (begun) PetscCall(CheckpointRead(S, &n, rq->restart));
  for (PetscInt first = begun ? S->path[0].at.start : 0; first < rq->scale.starts; first += n) {
    PetscCall(PetscTime(&t0));
    if (!begun) {
      n = PetscMin(S->npaths, rq->scale.starts - first);
      for (PetscInt k = 0; k < n; k++) PetscCall(SmacofSetStart(rq, S, first + k, S->path[k].next.x));
      PetscCall(ScalerBegin(S, first, n));
    }
    begun = PETSC_FALSE;
    PetscCall(PetscTime(&t1));
    out->crossed -= SmacofGetCopiedBytes(S);
    PetscCall(ScalerSolve(S, n));
    out->crossed += SmacofGetCopiedBytes(S);
    PetscCall(PetscTime(&t2));
    out->start += t1 - t0;
    out->solve += t2 - t1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmacofPrint(const Request *rq, const Scaler *S, const Outcome *out)
{
  const Dissim   *D     = S->D;
  const Progress *R     = &S->outcome;
  const PetscReal sigma = S->best.sigma;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(D->comm, "dissimilarities: %" PetscInt_FMT " points, %" PetscInt64_FMT " pairs%s, %s, loaded in %.2g s\n", D->N, D->npairs, D->weight ? " with weights" : "",
                        D->stored ? (D->single ? "single precision" : "double precision") : "computed in every pass", out->load));
  PetscCall(GpAppRoundingPrint(D->comm, "", &out->rounding));
  PetscCall(PetscPrintf(D->comm, "SMACOF, dimension %" PetscInt_FMT ": %s after %" PetscInt_FMT " iterations, start %.3g s, iterations %.3g s\n", rq->scale.dim, ProgressReason(R), R->it, out->start, out->solve));
  PetscCall(PetscPrintf(D->comm, "stress-1 %.12g, normalised stress %.12g\n", (double)PetscSqrtReal(sigma), (double)sigma));
  if (!R->converged) PetscCall(PetscPrintf(D->comm, "The last step lowered the stress by -smacof_eps %g or more; raise -smacof_max_it to continue\n", (double)rq->scale.eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteReport(const Request *rq, const Scaler *S, const Outcome *out)
{
  const Dissim   *D     = S->D;
  const Progress *R     = &S->outcome;
  const PetscReal sigma = S->best.sigma;
  GpAppOutput     file;
  GpAppJSON       J;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  PetscCall(GpAppOutputOpen(D->comm, rq->output.report, &file));
  if (file.fp) {
    GpAppJSONBegin(&J, file.fp);
    GpAppJSONWriteInt(&J, "points", D->N);
    GpAppJSONWriteInt(&J, "pairs", D->npairs);
    GpAppJSONWriteBool(&J, "complete", D->complete);
    GpAppJSONWriteBool(&J, "weighted", (PetscBool)(D->weight != NULL));
    GpAppJSONWriteString(&J, "storage", D->stored ? (D->single ? "single" : "double") : "none");
    GpAppJSONWriteInt(&J, "dim", rq->scale.dim);
    GpAppJSONWriteString(&J, "acceleration", Accelerations[rq->scale.acceleration]);
    GpAppJSONWriteString(&J, "disparity", DisparityTypes[rq->scale.disparity.type]);
    GpAppJSONWriteString(&J, "reason", ProgressReason(R));
    GpAppJSONWriteBool(&J, "converged", R->converged);
    GpAppJSONWriteInt(&J, "iterations", R->it);
    GpAppJSONWriteInt(&J, "rejected", R->rejected);
    GpAppJSONWriteInt(&J, "starts", rq->scale.starts);
    GpAppJSONWriteInt(&J, "best_start", R->start);
    GpAppJSONWriteReal(&J, "stress1", (double)PetscSqrtReal(sigma));
    GpAppJSONWriteReal(&J, "stress_normalised", (double)sigma);
    GpAppJSONWriteReal(&J, "stress_raw", (double)(sigma * S->unit));
    GpAppJSONWriteReal(&J, "sum_of_squares", (double)D->sumsquares);
    GpAppJSONWriteInt(&J, "ksp_iterations", S->guttman.its);
    GpAppJSONWriteReal(&J, "seconds_load", out->load);
    GpAppJSONWriteReal(&J, "seconds_start", out->start);
    GpAppJSONWriteReal(&J, "seconds_solve", out->solve);
    GpAppJSONWriteReal(&J, "bytes_crossed", out->crossed);
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONWriteString(&J, "pass", S->device.dev && S->device.dev->kind == GP_DEV_CUDA ? (S->device.work.mixed ? "cuda, mixed" : "cuda") : "host");
    GpAppRoundingWrite(&J, &out->rounding);
    GpAppJSONWriteNames(&J, "names", D->N, D->names);
    GpAppJSONWriteNames(&J, "features", D->nfeatures, D->feature_names);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmacofWrite(const Request *rq, Scaler *S, const Outcome *out)
{
  const OutputOptions *o = &rq->output;
  const Dissim        *D = S->D;
  const PetscScalar   *x;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(S->best.x, &x));
  if (o->coordinates[0]) PetscCall(WriteCoordinates(D->comm, D->N, rq->scale.dim, x, D->names, o->coordinates));
  if (o->binary[0]) PetscCall(WriteBinary(D->comm, D->N, rq->scale.dim, x, o->binary));
  if (o->points[0]) PetscCall(WritePoints(S, o->points));
  if (o->map[0]) PetscCall(WriteMap(D->comm, D->N, rq->scale.dim, x, out->labels ? out->labels : D->names, o->map));
  PetscCall(VecRestoreArrayRead(S->best.x, &x));
  if (o->shepard[0] || o->shepard_data[0]) PetscCall(WriteShepard(S, o->shepard, o->shepard_data));
  if (o->report[0]) PetscCall(WriteReport(rq, S, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunScale(MPI_Comm comm, const Request *rq, PetscBool *converged)
{
  PetscLogDouble begin, end;
  PetscLogStage  load, solve;
  Outcome        out   = {0};
  Fixed          fixed = {0};
  Dissim         D;
  Scaler         S;

  PetscFunctionBegin;
  PetscCall(PetscLogStageRegister("Dissimilarities", &load));
  PetscCall(PetscLogStageRegister("SMACOF", &solve));
  PetscCall(PetscLogStagePush(load));
  PetscCall(PetscTime(&begin));
  PetscCall(DissimLoad(comm, &rq->dissim, &D));
  if (rq->fixed[0]) PetscCall(FixedRead(comm, rq->fixed, D.N, rq->scale.dim, D.names, &fixed));
  if (rq->labels[0]) PetscCall(LabelsRead(comm, rq->labels, D.N, &out.labels));
  PetscCall(ScalerCreate(&D, &rq->scale, rq->fixed[0] ? &fixed : NULL, prefix, &S));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  out.load = end - begin;
  PetscCall(PetscLogStagePush(solve));
  PetscCall(SmacofRunStarts(rq, &S, &out));
  if (S.guttman.its) {
    Mat V;

    PetscCall(KSPGetOperators(S.guttman.ksp, &V, NULL));
    PetscCall(GpAppRoundingAdd(V, &out.rounding));
  }
  PetscCall(PetscLogStagePop());
  PetscCall(SmacofPrint(rq, &S, &out));
  PetscCall(SmacofWrite(rq, &S, &out));
  *converged = S.outcome.converged;
  PetscCall(PetscFree(out.labels));
  PetscCall(ScalerDestroy(&S));
  PetscCall(FixedDestroy(&fixed));
  PetscCall(DissimDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places new points on a finished map. */
static PetscErrorCode RunInterpolate(MPI_Comm comm, const Request *rq, PetscBool *converged)
{
  const OutputOptions *o   = &rq->output;
  PetscReal            sum = 0;
  Interpolation        Q;

  PetscFunctionBegin;
  PetscCall(Interpolate(comm, &rq->interpolate, &Q));
  for (PetscInt i = 0; i < Q.n; i++) sum += Q.stress[i];
  PetscCall(PetscPrintf(comm, "%" PetscInt_FMT " new points on a map of %" PetscInt_FMT ": %s after %" PetscInt_FMT " iterations, raw stress %.12g\n", Q.n, Q.N, Q.converged ? "CONVERGED_STRESS" : "DIVERGED_ITS", Q.iterations, (double)sum));
  if (o->coordinates[0]) PetscCall(WriteCoordinates(comm, Q.n, Q.dim, Q.x, Q.names, o->coordinates));
  if (o->binary[0]) PetscCall(WriteBinary(comm, Q.n, Q.dim, Q.x, o->binary));
  if (o->map[0]) PetscCall(WriteMap(comm, Q.n, Q.dim, Q.x, Q.names, o->map));
  *converged = Q.converged;
  PetscCall(InterpolationDestroy(&Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmacofRun(MPI_Comm comm, void *context, PetscBool *converged)
{
  const Request *rq = (const Request *)context;

  PetscFunctionBegin;
  if (rq->interpolate.file[0]) PetscCall(RunInterpolate(comm, rq, converged));
  else PetscCall(RunScale(comm, rq, converged));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Request     rq;
  const GpAppProgram program = {"smacof", &manual, GetRequest, NULL, CheckRequest, SmacofRun, &rq};

  return GpAppMain(argc, argv, &program);
}
