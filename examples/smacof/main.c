/* The main program of smacof: reads the options and the input, lets the solver work, writes the results. */
#include "smacof.h"
#include "app/program/appmain.h"
#include "mainoptions.h"
#include <gpucsr.h>
#include <petsctime.h>
#include <stddef.h>
#include <string.h>

/* the request of the command line, apart from the options of the solver; an empty file name means that the option is not set */
typedef struct {
  InputOptions       input;
  OutputOptions      output;
  InterpolateOptions interpolate;
  Scree              scree;
  char               start[PETSC_MAX_PATH_LEN], target[PETSC_MAX_PATH_LEN], fixed[PETSC_MAX_PATH_LEN], labels[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN], checkpoint[PETSC_MAX_PATH_LEN];
  PetscInt           checkpoint_every;
  SMACOF             solver;
} Request;

/* the options that are files */
static const struct {
  const char   *option;
  GpAppFileRole role;
  size_t        offset; /* of the name in a Request */
} Files[] = {
  {"-f", GP_APP_FILE_INPUT, offsetof(Request, input.file)},
  {"-pairs", GP_APP_FILE_INPUT, offsetof(Request, input.pairs)},
  {"-features", GP_APP_FILE_INPUT, offsetof(Request, input.features)},
  {"-weights", GP_APP_FILE_INPUT, offsetof(Request, input.weights)},
  {"-start_file", GP_APP_FILE_INPUT, offsetof(Request, start)},
  {"-target", GP_APP_FILE_INPUT, offsetof(Request, target)},
  {"-fixed", GP_APP_FILE_INPUT, offsetof(Request, fixed)},
  {"-labels", GP_APP_FILE_INPUT, offsetof(Request, labels)},
  {"-interpolate", GP_APP_FILE_INPUT, offsetof(Request, interpolate.file)},
  {"-map_file", GP_APP_FILE_INPUT, offsetof(Request, interpolate.map)},
  {"-restart", GP_APP_FILE_RESTART, offsetof(Request, restart)},
  {"-checkpoint", GP_APP_FILE_CHECKPOINT, offsetof(Request, checkpoint)},
  {"-coordinates", GP_APP_FILE_OUTPUT, offsetof(Request, output.coordinates)},
  {"-coordinates_binary", GP_APP_FILE_OUTPUT, offsetof(Request, output.binary)},
  {"-stress_per_point", GP_APP_FILE_OUTPUT, offsetof(Request, output.points)},
  {"-report", GP_APP_FILE_OUTPUT, offsetof(Request, output.report)},
  {"-shepard_data", GP_APP_FILE_OUTPUT, offsetof(Request, output.shepard_data)},
  {"-scree_plot", GP_APP_FILE_OUTPUT, offsetof(Request, output.scree)},
  {"-map", GP_APP_FILE_OUTPUT, offsetof(Request, output.map)},
  {"-shepard", GP_APP_FILE_OUTPUT, offsetof(Request, output.shepard)},
};

static PetscErrorCode SmacofGetRequest(MPI_Comm comm, void *context)
{
  static const char *const conversions[] = {"none", "corr", "reverse", "reciprocal", "ranks", "exp", "gaussian", "cooccurrence", "gravity", "confusion", "transition", "membership", "probability", "constant"};
  static const char *const missings[]    = {"none", "nan", "zero", "Missing", "", NULL};
  Request                 *rq            = (Request *)context;
  InputOptions            *o             = &rq->input;
  PetscInt                 bound[3] = {0, 0, 0}, n = 3;
  PetscBool                set;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->checkpoint_every = 100;
  PetscOptionsBegin(comm, NULL, "Options of the smacof program", "SMACOF");
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Files); k++) {
    char *name = (char *)rq + Files[k].offset;

    PetscCall(PetscOptionsString(Files[k].option, GpAppOptionGetText(options, Files[k].option), "", name, name, PETSC_MAX_PATH_LEN, NULL));
  }
  PetscCall(PetscOptionsEnum("-metric", GpAppOptionGetText(options, "-metric"), "SMACOFSetFeatures", SMACOFMetrics, (PetscEnum)o->metric, (PetscEnum *)&o->metric, NULL));
  PetscCall(PetscOptionsBool("-matrix_free", GpAppOptionGetText(options, "-matrix_free"), "SMACOFSetMatrixFree", o->matrix_free, &o->matrix_free, NULL));
  PetscCall(PetscOptionsEnum("-missing", GpAppOptionGetText(options, "-missing"), "SMACOFSetMissing", missings, (PetscEnum)o->missing, (PetscEnum *)&o->missing, NULL));
  o->constant = 1;
  PetscCall(PetscOptionsEList("-similarity", GpAppOptionGetText(options, "-similarity"), "SMACOFConvertSimilarities", conversions, PETSC_STATIC_ARRAY_LENGTH(conversions), conversions[0], &o->similarity, NULL));
  PetscCall(PetscOptionsReal("-similarity_constant", GpAppOptionGetText(options, "-similarity_constant"), "SMACOFConvertSimilarities", o->constant, &o->constant, &set));
  PetscCheck(!set || !strcmp(conversions[o->similarity], "constant"), comm, PETSC_ERR_USER_INPUT, "-similarity_constant needs -similarity constant");
  PetscCall(PetscOptionsBool("-symmetrize", GpAppOptionGetText(options, "-symmetrize"), "SMACOFSetSymmetrize", o->symmetrize, &o->symmetrize, NULL));
  PetscCall(PetscOptionsEnum("-storage", GpAppOptionGetText(options, "-storage"), "SMACOFSetStorage", SMACOFStorages, (PetscEnum)o->storage, (PetscEnum *)&o->storage, NULL));
  PetscCall(PetscOptionsInt("-checkpoint_every", GpAppOptionGetText(options, "-checkpoint_every"), "SMACOFSetCheckpoint", rq->checkpoint_every, &rq->checkpoint_every, NULL));
  PetscCall(PetscOptionsIntArray("-scree", GpAppOptionGetText(options, "-scree"), "SMACOFSetDimension", bound, &n, &set));
  PetscOptionsEnd();
  PetscCall(ScreeSetRange(comm, set ? n : 0, bound, &rq->scree));
  PetscCall(GpAppTableOptions(comm, &o->table));
  rq->interpolate.table = o->table;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the result of each start, if there are several. */
static PetscErrorCode SmacofMonitorStarts(SMACOF s, PetscInt start, PetscInt it, PetscReal stress, SMACOFConvergedReason reason, void *context)
{
  SMACOFInfo info;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  if (reason && info.starts > 1) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)s), "start %" PetscInt_FMT ": stress-1 %.10f, %s after %" PetscInt_FMT " iterations\n", start, (double)PetscSqrtReal(stress), SMACOFConvergedReasons[reason], it));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solver, which reads its own options. */
static PetscErrorCode SmacofCreateSolver(MPI_Comm comm, Request *rq)
{
  PetscFunctionBegin;
  PetscCall(SMACOFEigensolverRegister("slepc", EigensolveSLEPc));
  PetscCall(SMACOFCreate(comm, &rq->solver));
  PetscCall(SMACOFSetFromOptions(rq->solver));
  PetscCall(SMACOFSetCheckpoint(rq->solver, rq->checkpoint, rq->checkpoint_every));
  PetscCall(SMACOFSetRestart(rq->solver, rq->restart));
  PetscCall(SMACOFMonitorSet(rq->solver, SmacofMonitorStarts, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -help: shows the options of the solver. */
static PetscErrorCode SmacofShowHelp(MPI_Comm comm, void *context)
{
  Request *rq = (Request *)context;

  PetscFunctionBegin;
  PetscCall(SmacofCreateSolver(comm, rq));
  PetscCall(SMACOFDestroy(&rq->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the options of -scree, whose solves have other dimensions than the files of coordinates. */
static PetscErrorCode SmacofCheckScree(MPI_Comm comm, const Request *rq)
{
  PetscFunctionBegin;
  PetscCheck(!rq->output.scree[0] || rq->scree.low, comm, PETSC_ERR_USER_INPUT, "-scree_plot needs the dimensions: -scree <low>,<high>");
  PetscCheck(!rq->scree.low || !(rq->interpolate.file[0] || rq->fixed[0] || rq->start[0] || rq->restart[0] || rq->checkpoint[0]), comm, PETSC_ERR_USER_INPUT,
             "-scree cannot be combined with -interpolate, -fixed, -start_file, -checkpoint and -restart, which belong to one dimension; leave one of them out");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks combinations of options, and that no output overwrites another file of the run and all outputs can be written. */
static PetscErrorCode SmacofCheckRequest(MPI_Comm comm, void *context)
{
  Request            *rq = (Request *)context;
  const InputOptions *in = &rq->input;
  SMACOFInfo          info;

  PetscFunctionBegin;
  PetscCheck((rq->interpolate.file[0] != 0) == (rq->interpolate.map[0] != 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->interpolate.file[0] ? "-interpolate needs the finished map: -map_file <file>" : "-map_file needs new points: -interpolate <file>");
  PetscCheck(!rq->interpolate.file[0] || !(in->file[0] || in->pairs[0]), comm, PETSC_ERR_USER_INPUT, "-interpolate cannot be combined with -f or -pairs; use -features for the features of the points of the map");
  PetscCheck(!rq->interpolate.file[0] || !(rq->output.points[0] || rq->output.report[0] || rq->output.shepard[0] || rq->output.shepard_data[0] || rq->labels[0] || rq->fixed[0] || rq->target[0] || rq->restart[0] || rq->checkpoint[0]), comm,
             PETSC_ERR_USER_INPUT, "-interpolate supports only the outputs -coordinates, -coordinates_binary and -map, and not -labels, -fixed, -target, -checkpoint and -restart");
  PetscCheck(rq->interpolate.file[0] || (in->file[0] != 0) + (in->pairs[0] != 0) + (in->features[0] != 0) == 1, comm, PETSC_ERR_USER_INPUT, "%s: give one of -f <matrix>, -pairs <list>, -features <vectors>",
             in->file[0] || in->pairs[0] || in->features[0] ? "several inputs" : "nothing to do");
  PetscCheck(!in->matrix_free || in->features[0], comm, PETSC_ERR_USER_INPUT, "-matrix_free needs -features");
  PetscCheck(!in->similarity || !in->features[0], comm, PETSC_ERR_USER_INPUT, "-similarity cannot be combined with -features; use -f or -pairs");
  PetscCheck(!in->similarity || !rq->interpolate.file[0], comm, PETSC_ERR_USER_INPUT, "-similarity cannot be combined with -interpolate; give the dissimilarities of the new points");
  PetscCheck(!in->weights[0] || !in->features[0], comm, PETSC_ERR_USER_INPUT, "-weights cannot be combined with -features; use -f or -pairs");
  PetscCheck(!rq->target[0] || !rq->fixed[0], comm, PETSC_ERR_USER_INPUT, "-target cannot be combined with -fixed, whose points must not be rotated; leave one of them out");
  PetscCall(SmacofCheckScree(comm, rq));
  PetscCall(SmacofCreateSolver(comm, rq));
  PetscCall(SMACOFGetInfo(rq->solver, &info));
  PetscCheck(!rq->start[0] || info.start == SMACOF_START_AUTO || info.start == SMACOF_START_GIVEN, comm, PETSC_ERR_USER_INPUT, "-start_file cannot be combined with -smacof_start %s; leave one of them out", SMACOFStarts[info.start]);
  PetscCheck(rq->start[0] || info.start != SMACOF_START_GIVEN, comm, PETSC_ERR_USER_INPUT, "-smacof_start given needs -start_file <file>");
  PetscCall(GpAppCanvasProbe(comm, rq->output.map));
  PetscCall(GpAppCanvasProbe(comm, rq->output.shepard));
  PetscCall(GpAppCanvasProbe(comm, rq->output.scree));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Files); k++) {
    const char     *name    = (const char *)rq + Files[k].offset;
    const PetscBool picture = (PetscBool)(name == rq->output.map || name == rq->output.shepard || name == rq->output.scree);

    if (!picture || strcmp(name, "draw")) PetscCall(GpAppFilesAdd(Files[k].role, Files[k].option, name)); /* draw is no file, but a window */
  }
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the outputs of coordinates v of the points with these names. note: the result in a few words, for the picture. */
static PetscErrorCode SmacofWriteMap(SMACOF s, const OutputOptions *o, Vec v, const char names[], const char labels[], const char note[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s);
  SMACOFInfo     info;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  if (o->coordinates[0]) PetscCall(WriteCoordinates(comm, info.dim, v, names, o->coordinates));
  if (o->binary[0]) PetscCall(WriteBinary(comm, info.dim, v, o->binary));
  if (o->points[0]) PetscCall(WritePoints(s, names, o->points));
  if (o->map[0]) PetscCall(WriteMap(comm, info.dim, v, labels ? labels : names, note, o->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the input and sets the solver up. */
static PetscErrorCode SmacofLoad(const Request *rq, Points *P, char **labels, Vec *target)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)rq->solver);
  SMACOFInfo     info;
  Vec            start;

  PetscFunctionBegin;
  PetscCall(InputLoad(&rq->input, rq->solver, P));
  if (rq->fixed[0]) PetscCall(FixedRead(rq->solver, rq->fixed, P->N, P->names));
  if (rq->labels[0]) PetscCall(LabelsRead(comm, rq->labels, P->N, labels));
  PetscCall(SMACOFGetInfo(rq->solver, &info));
  if (rq->target[0]) PetscCall(TargetRead(comm, rq->target, P, info.dim, target));
  if (rq->start[0]) {
    PetscCall(CoordinatesRead(comm, rq->start, P->N, info.dim, P->names, &start));
    PetscCall(SMACOFSetStartConfiguration(rq->solver, start));
    PetscCall(VecDestroy(&start));
  }
  PetscCall(SMACOFSetUp(rq->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the map as a vector that the caller destroys.  With -target it is rotated to the target, which is read before the iterations. */
static PetscErrorCode SmacofGetMap(Request *rq, Vec target, Summary *sum, Vec *map)
{
  SMACOFInfo info;
  Vec        x;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(rq->solver, &info));
  PetscCall(SMACOFGetConfiguration(rq->solver, &x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, info.points * info.dim, map));
  PetscCall(VecCopy(x, *map));
  if (target) PetscCall(SMACOFProcrustes(info.dim, target, *map, &sum->dilation, &sum->correlation));
  sum->target = (PetscBool)(target != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds a map. */
static PetscErrorCode SmacofScale(MPI_Comm comm, Request *rq)
{
  const OutputOptions *o      = &rq->output;
  Summary              sum    = {0};
  char                *labels = NULL, note[128];
  PetscLogDouble       begin, end;
  PetscLogStage        load, solve;
  KSP                  ksp;
  Mat                  V;
  Vec                  x, target = NULL;

  PetscFunctionBegin;
  PetscCall(PetscLogStageRegister("Dissimilarities", &load));
  PetscCall(PetscLogStageRegister("SMACOF", &solve));
  PetscCall(PetscLogStagePush(load));
  PetscCall(PetscTime(&begin));
  PetscCall(SmacofLoad(rq, &sum.points, &labels, &target));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  sum.load = end - begin;
  PetscCall(PetscLogStagePush(solve));
  PetscCall(ScreeSolve(rq->solver, &rq->scree));
  PetscCall(SMACOFSolve(rq->solver));
  PetscCall(ScreeAddMap(rq->solver, &rq->scree));
  sum.scree = rq->scree;
  PetscCall(PetscLogStagePop());
  PetscCall(SMACOFGetKSP(rq->solver, &ksp));
  if (ksp) {
    PetscCall(KSPGetOperators(ksp, &V, NULL));
    PetscCall(GpAppRoundingAdd(V, &sum.rounding));
  }
  PetscCall(SmacofGetMap(rq, target, &sum, &x));
  PetscCall(SummaryPrint(rq->solver, &sum));
  PetscCall(PictureWriteStress(rq->solver, note, sizeof(note)));
  PetscCall(SmacofWriteMap(rq->solver, o, x, sum.points.names, labels, note));
  if (o->shepard[0] || o->shepard_data[0]) PetscCall(WriteShepard(rq->solver, o->shepard, o->shepard_data));
  if (o->scree[0]) PetscCall(WriteScree(rq->solver, &sum.scree, o->scree));
  if (o->report[0]) PetscCall(WriteReport(rq->solver, &sum, o->report));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&target));
  PetscCall(PetscFree(labels));
  PetscCall(PointsDestroy(&sum.points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places new points on a finished map. */
static PetscErrorCode SmacofInterpolate(MPI_Comm comm, Request *rq)
{
  SMACOF                s = rq->solver;
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscScalar           sum;
  PetscInt              it;
  Points                map, added;
  Mat                   known, data;
  Vec                   base, x, stress;
  char                  note[96];

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(InterpolateLoad(comm, &rq->interpolate, &rq->input, &known, &data, &map, &added));
  PetscCall(CoordinatesRead(comm, rq->interpolate.map, map.N, info.dim, map.names, &base));
  PetscCall(SMACOFInterpolate(s, base, known, data, rq->input.metric, &x, &stress));
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(SMACOFGetIterationNumber(s, &it));
  PetscCall(VecSum(stress, &sum));
  PetscCall(PetscPrintf(comm, "%" PetscInt_FMT " new points on a map of %" PetscInt_FMT ": %s after %" PetscInt_FMT " iterations, raw stress %.12g\n", added.N, map.N, SMACOFConvergedReasons[reason], it, (double)PetscRealPart(sum)));
  PetscCall(PetscSNPrintf(note, sizeof(note), "new points on a map of %" PetscInt_FMT ": raw stress %.4g", map.N, (double)PetscRealPart(sum)));
  PetscCall(SmacofWriteMap(s, &rq->output, x, added.names, NULL, note));
  PetscCall(MatDestroy(&known));
  PetscCall(MatDestroy(&data));
  PetscCall(VecDestroy(&base));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&stress));
  PetscCall(PointsDestroy(&map));
  PetscCall(PointsDestroy(&added));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmacofRun(MPI_Comm comm, void *context, PetscBool *converged)
{
  Request              *rq = (Request *)context;
  SMACOFConvergedReason reason;

  PetscFunctionBegin;
  if (rq->interpolate.file[0]) PetscCall(SmacofInterpolate(comm, rq));
  else PetscCall(SmacofScale(comm, rq));
  PetscCall(SMACOFGetConvergedReason(rq->solver, &reason));
  *converged = (PetscBool)(reason > 0);
  for (PetscInt d = rq->scree.low; d && d <= rq->scree.high; d++) *converged = (PetscBool)(*converged && rq->scree.converged[d]);
  PetscCall(SMACOFDestroy(&rq->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Request     rq;
  const GpAppProgram program = {"smacof", &manual, SmacofGetRequest, SmacofShowHelp, SmacofCheckRequest, SmacofRun, &rq};

  return GpAppMain(argc, argv, &program);
}
