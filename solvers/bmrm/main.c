/* The bmrm program: trains a linear SVM on a LIBSVM file, saves it, tests it, predicts with it. */
static char help[] = "Trains a linear support vector machine by a bundle method with a certified gap, or predicts with a saved one.\n\
  bmrm -f <LIBSVM file> [-test <file>] [-bmrm_lambda 1e-5] [-bmrm_eps 1e-4] [-model <file>] [-report <json>]\n\
  bmrm -model <file> -test|-predict <LIBSVM file> [-predictions <file>] [-report <json>]\n\
Objective: lambda/2 ||w||^2 + (1/m) sum_i max(0, 1 - y_i <x_i, w>).\n\n";

#include <gpucsr.h>
#include <petsctime.h>
#include "bmrm.h"
#include "libsvm.h"
#include "model.h"

/* what the command line asks for; an empty name stands for nothing */
typedef struct {
  char      train[PETSC_MAX_PATH_LEN], test[PETSC_MAX_PATH_LEN], predict[PETSC_MAX_PATH_LEN];
  char      model[PETSC_MAX_PATH_LEN], predictions[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  PetscInt  features;
  PetscBool scores, help;
} Request;

/* the stages of -log_view */
typedef struct {
  PetscLogStage load, solve, predict;
} Stages;

static PetscErrorCode GetRequest(MPI_Comm comm, Request *rq)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->features = PETSC_DECIDE;
  PetscOptionsBegin(comm, NULL, "Options of the bmrm program", "BMRM");
  PetscCall(PetscOptionsString("-f", "LIBSVM file to train on", "", rq->train, rq->train, sizeof(rq->train), NULL));
  PetscCall(PetscOptionsString("-test", "LIBSVM file to test on, with the labels of the model", "", rq->test, rq->test, sizeof(rq->test), NULL));
  PetscCall(PetscOptionsString("-predict", "LIBSVM file to predict, with any labels", "", rq->predict, rq->predict, sizeof(rq->predict), NULL));
  PetscCall(PetscOptionsString("-model", "with -f the model to write, without the model to read", "", rq->model, rq->model, sizeof(rq->model), NULL));
  PetscCall(PetscOptionsString("-predictions", "write the predicted labels of the file of -test or -predict, one a line", "", rq->predictions, rq->predictions, sizeof(rq->predictions), NULL));
  PetscCall(PetscOptionsBool("-scores", "write the score after every predicted label", "", rq->scores, &rq->scores, NULL));
  PetscCall(PetscOptionsString("-report", "JSON file to write about the run", "", rq->report, rq->report, sizeof(rq->report), NULL));
  PetscCall(PetscOptionsInt("-features", "train with at least so many features; the default is the largest index", "", rq->features, &rq->features, NULL));
  PetscOptionsEnd();
  PetscCall(PetscOptionsHasHelp(NULL, &rq->help));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is wrong with the request as a whole, or NULL. */
static const char *Complaint(const Request *rq)
{
  if (!rq->train[0] && !rq->model[0]) return "nothing to do: give -f <LIBSVM file> to train, or -model <file> and -test or -predict <LIBSVM file> to predict";
  if (!rq->train[0] && !rq->test[0] && !rq->predict[0]) return "a model alone: give -test or -predict <LIBSVM file> with it, or -f <LIBSVM file> to train";
  if (rq->test[0] && rq->predict[0]) return "-test and -predict exclude each other";
  if (rq->predictions[0] && !rq->test[0] && !rq->predict[0]) return "-predictions needs -test or -predict <LIBSVM file>";
  if (rq->scores && !rq->predictions[0]) return "-scores needs -predictions <file>";
  if (rq->features != PETSC_DECIDE && (rq->features < 1 || !rq->train[0])) return "-features needs -f and a positive number";
  return NULL;
}

/* Shows the options of the parts that the program would use. */
static PetscErrorCode ShowHelp(MPI_Comm comm)
{
  BMRM b;

  PetscFunctionBegin;
  PetscCall(BMRMCreate(comm, &b));
  PetscCall(BMRMSetFromOptions(b));
  PetscCall(BMRMDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadTraining(MPI_Comm comm, const Request *rq, Mat *X, Vec *y, PetscReal classes[2], BMRMReport *r)
{
  BMRMExamples   ex;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMExamplesLoad(comm, rq->train, &ex));
  PetscCall(BMRMExamplesGetClasses(&ex, classes));
  PetscCall(BMRMExamplesCreateMat(&ex, rq->features == PETSC_DECIDE ? PETSC_DECIDE : PetscMax(rq->features, ex.N), MATGPUCSR, X));
  PetscCall(BMRMExamplesCreateLabels(&ex, classes, *X, y));
  r->nnz = ex.nnz;
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(MatGetSize(*X, &r->rows, &r->cols));
  PetscCall(PetscTime(&end));
  r->seconds_load = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Train(MPI_Comm comm, const Request *rq, const Stages *stages, BMRMModel *model, BMRMReport *r)
{
  BMRM                b;
  Mat                 X;
  Vec                 y, w, f;
  PetscReal           classes[2];
  BMRMConfusion       confusion;
  BMRMConvergedReason reason;
  PetscLogDouble      begin, end;

  PetscFunctionBegin;
  PetscCall(BMRMCreate(comm, &b));
  PetscCall(BMRMSetFromOptions(b)); /* before the file is read: a wrong option shows at once */
  PetscCall(PetscLogStagePush(stages->load));
  PetscCall(LoadTraining(comm, rq, &X, &y, classes, r));
  PetscCall(PetscLogStagePop());
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(PetscLogStagePush(stages->solve));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMSolve(b));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  r->seconds_solve = end - begin;
  PetscCall(BMRMGetLambda(b, &r->lambda));
  PetscCall(BMRMGetObjective(b, &r->objective, &r->lower_bound));
  r->gap = r->objective - r->lower_bound;
  PetscCall(BMRMGetIterationNumber(b, &r->iterations));
  PetscCall(BMRMGetMatMults(b, &r->matmults));
  PetscCall(BMRMGetCuts(b, NULL, &r->cuts));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  r->reason = BMRMConvergedReasons[reason];
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(BMRMGetScores(b, &f));
  PetscCall(BMRMConfusionCount(f, y, &confusion));
  r->train_accuracy = BMRMConfusionAccuracy(&confusion);
  PetscCall(BMRMReportSetMat(r, X));
  PetscCall(BMRMModelCreate(w, r->lambda, classes, model));
  if (rq->model[0]) PetscCall(BMRMModelWrite(comm, model, rq->model));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscCall(BMRMDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scores the file of -test or -predict; without training before, the report is about this data. */
static PetscErrorCode Predict(MPI_Comm comm, const Request *rq, const Stages *stages, const BMRMModel *model, BMRMReport *r)
{
  const char    *file = rq->test[0] ? rq->test : rq->predict;
  BMRMExamples   ex;
  Mat            X;
  Vec            y, f;
  PetscBool      known;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogStagePush(stages->load));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMExamplesLoad(comm, file, &ex));
  PetscCheck(ex.N <= model->n, comm, PETSC_ERR_ARG_SIZ, "%s has %" PetscInt_FMT " features but the model has %" PetscInt_FMT ": train with -features %" PetscInt_FMT ", or leave out the features that the model does not know", file, ex.N, model->n,
             ex.N);
  PetscCall(BMRMExamplesCheckClasses(&ex, model->classes, rq->test[0] ? NULL : &known));
  if (rq->test[0]) known = PETSC_TRUE;
  PetscCall(BMRMExamplesCreateMat(&ex, model->n, MATGPUCSR, &X));
  PetscCall(BMRMExamplesCreateLabels(&ex, model->classes, X, &y));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(stages->predict));
  PetscCall(BMRMModelScore(model, X, &f));
  if (known) {
    PetscCall(BMRMConfusionCount(f, y, &r->test));
    r->test_accuracy = BMRMConfusionAccuracy(&r->test);
    r->test_rows     = ex.M;
  }
  if (rq->predictions[0]) PetscCall(BMRMPredictionsWrite(f, model->classes, rq->scores, rq->predictions));
  PetscCall(PetscLogStagePop());
  if (!rq->train[0]) {
    r->rows         = ex.M;
    r->cols         = model->n;
    r->nnz          = ex.nnz;
    r->lambda       = model->lambda;
    r->matmults     = 1;
    r->seconds_load = end - begin;
    PetscCall(BMRMReportSetMat(r, X));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(MPI_Comm comm, const Request *rq)
{
  Stages     stages;
  BMRMModel  model;
  BMRMReport report;

  PetscFunctionBegin;
  PetscCall(PetscLogStageRegister("BMRM load", &stages.load));
  PetscCall(PetscLogStageRegister("BMRM solve", &stages.solve));
  PetscCall(PetscLogStageRegister("BMRM predict", &stages.predict));
  if (rq->train[0] && rq->model[0]) PetscCall(BMRMOutputProbe(comm, rq->model));
  if (rq->predictions[0]) PetscCall(BMRMOutputProbe(comm, rq->predictions));
  if (rq->report[0]) PetscCall(BMRMOutputProbe(comm, rq->report));
  PetscCall(BMRMReportCreate(&report));
  if (rq->train[0]) PetscCall(Train(comm, rq, &stages, &model, &report));
  else PetscCall(BMRMModelRead(comm, rq->model, &model));
  if (rq->test[0] || rq->predict[0]) PetscCall(Predict(comm, rq, &stages, &model, &report));
  PetscCall(BMRMReportPrint(comm, &report));
  if (rq->report[0]) PetscCall(BMRMReportWrite(comm, &report, rq->report));
  PetscCall(BMRMModelDestroy(&model));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Request     rq;
  const char *complaint;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(GetRequest(PETSC_COMM_WORLD, &rq));
  complaint = rq.help ? NULL : Complaint(&rq);
  if (rq.help) PetscCall(ShowHelp(PETSC_COMM_WORLD));
  else if (complaint) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "bmrm: %s (-help lists all options)\n", complaint));
  else PetscCall(Run(PETSC_COMM_WORLD, &rq));
  PetscCall(PetscFinalize());
  return complaint ? 2 : 0;
}
