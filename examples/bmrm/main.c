/* The bmrm program: trains a linear model on a LIBSVM file, saves it, tests it, predicts with it. */
#include <gpucsr.h>
#include <gpucsrbmrm.h>
#include <petsctime.h>
#include "request.h"
#include "serve.h"
#include <math.h>

/* the stages of -log_view */
typedef struct {
  PetscLogStage load, solve, predict;
} Stages;

/* The data of the training */
typedef struct {
  Mat        X;
  Vec        y, factor, queries, groups; /* factor, queries, groups: NULL without a bias, without qid:, without -groups */
  Vec        weight;                     /* weights of the examples, NULL for ones */
  PetscInt   features;                   /* number of features without the bias */
  PetscInt   nclass;                     /* number of classes; 0: labels are not classes */
  PetscReal  classes[BMRM_MAX_CLASSES];
  PetscReal *scale; /* divisor of each feature; NULL without -scale */
  char      *class_names, *feature_names;
} Training;

static PetscErrorCode BMRMLoadTraining(MPI_Comm comm, const BMRMRequest *rq, Training *tr, BMRMReport *r)
{
  const PetscBool  two = (PetscBool)(rq->task == BMRM_TASK_CLASSIFICATION);
  const PetscReal *classes;
  const char      *loss;
  BMRMExamples     ex;
  PetscLogDouble   begin, end;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(tr, sizeof(*tr)));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMExamplesLoadAs(comm, rq->train, rq->label, (PetscBool)(rq->task == BMRM_TASK_NOVELTY), &ex));
  PetscCall(BMRMExamplesPrint(&ex));
  PetscCall(BMRMGetLossType(rq->solver, &loss));
  PetscCheck(!ex.class_names || two || rq->task == BMRM_TASK_MULTICLASS, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the labels are words, but -bmrm_loss %s needs numbers: choose another -label_column or loss", ex.file, loss);
  PetscCall(BMRMExamplesCheckFeatures(&ex, rq->features));
  if (!two && rq->task != BMRM_TASK_MULTICLASS) PetscCall(BMRMExamplesCheckLabels(&ex, rq->solver));
  if (rq->save[0]) PetscCall(BMRMExamplesSave(&ex, rq->save));
  if (two || rq->task == BMRM_TASK_MULTICLASS) {
    PetscCall(BMRMExamplesGetClasses(&ex, two, &tr->nclass, &classes));
    PetscCall(PetscArraycpy(tr->classes, classes, tr->nclass));
  }
  tr->features = PetscMax(rq->features, ex.N); /* PETSC_DECIDE is negative */
  if (rq->normalize) PetscCall(BMRMExamplesNormalizeRows(&ex));
  if (rq->scale) PetscCall(BMRMExamplesScaleColumns(&ex, tr->features, &tr->scale));
  if (rq->bias != 0) PetscCall(BMRMExamplesAppendFeature(&ex, tr->features, rq->bias));
  PetscCall(BMRMExamplesCreateMat(&ex, PetscMax(tr->features, ex.N), MATGPUCSR, &tr->X));
  PetscCall(BMRMExamplesCreateLabels(&ex, tr->nclass, tr->classes, two, tr->X, &tr->y));
  PetscCall(BMRMExamplesCreateQueries(&ex, tr->X, &tr->queries));
  if (rq->weights[0]) PetscCall(BMRMExampleWeightsLoad(rq->weights, tr->X, &tr->weight));
  if (rq->classweights[0]) PetscCall(BMRMClassWeightsApply(rq->classweights, tr->nclass, tr->classes, ex.class_names, two, tr->y, &tr->weight));
  if (rq->groups[0]) PetscCall(BMRMGroupsLoad(rq->groups, tr->X, tr->features, &tr->groups));
  r->nnz            = ex.nnz;
  tr->class_names   = ex.class_names; /* the model becomes the owner */
  tr->feature_names = ex.N == tr->features + (rq->bias != 0) ? ex.feature_names : NULL;
  ex.class_names    = NULL;
  if (tr->feature_names) ex.feature_names = NULL;
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(MatGetSize(tr->X, &r->rows, &r->cols));
  if (rq->bias != 0) {
    PetscInt start, last;

    PetscCall(MatCreateVecs(tr->X, &tr->factor, NULL));
    PetscCall(VecSet(tr->factor, 1));
    PetscCall(VecGetOwnershipRange(tr->factor, &start, &last));
    if (tr->features >= start && tr->features < last) PetscCall(VecSetValue(tr->factor, tr->features, rq->bias_factor, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(tr->factor));
    PetscCall(VecAssemblyEnd(tr->factor));
  }
  PetscCall(PetscTime(&end));
  r->seconds_load = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes the data of the training to the solver. */
static PetscErrorCode BMRMSetTraining(BMRM b, const Training *tr)
{
  PetscFunctionBegin;
  PetscCall(BMRMSetData(b, tr->X, tr->y));
  PetscCall(BMRMSetWeights(b, tr->factor));
  PetscCall(BMRMSetQueries(b, tr->queries));
  PetscCall(BMRMSetExampleWeights(b, tr->weight));
  PetscCall(BMRMSetGroups(b, tr->groups));
  if (tr->nclass) PetscCall(BMRMSetClasses(b, tr->nclass)); /* a fold need not contain every class */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for the lambda of -bmrm_lambda, or for all lambdas of -bmrm_path. The model is that of the best lambda with -cv, else that of the last one. */
static PetscErrorCode BMRMSolveRequest(MPI_Comm comm, const BMRMRequest *rq, const Training *tr, BMRMReport *r, PetscBool *converged)
{
  const BMRM          b        = rq->solver;
  const PetscInt      n        = rq->nlambda;
  const PetscBool     accuracy = (PetscBool)(rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_MULTICLASS);
  PetscReal           lambda[BMRM_MAX_PATH];
  PetscInt            m;
  BMRMConvergedReason reason;

  PetscFunctionBegin;
  *converged = PETSC_TRUE;
  r->npath   = n;
  r->best    = n - 1;
  PetscCall(BMRMSetTraining(b, tr));
  if (rq->automatic) PetscCall(BMRMComputePath(b, n, lambda));
  for (PetscInt k = 0; k < n; k++) {
    r->path[k].lambda     = rq->automatic ? lambda[k] : rq->lambda[k];
    r->path[k].validation = r->path[k].deviation = (PetscReal)NAN;
  }
  if (!n) PetscCall(BMRMSolve(b));
  else {
    PetscCall(MatGetSize(tr->X, &m, NULL));
    PetscCheck(rq->folds <= m, comm, PETSC_ERR_USER_INPUT, "-cv %" PetscInt_FMT ": there are only %" PetscInt_FMT " examples; give at most as many folds", rq->folds, m);
    if (rq->folds) PetscCall(BMRMCrossValidate(b, rq->folds, rq->together, n, r->path));
    PetscCall(BMRMSolvePath(b, rq->together, n, r->path));
    if (rq->folds) r->best = BMRMPathChoose(accuracy, rq->one_se, n, r->path);
    PetscCall(BMRMPathPrint(comm, accuracy, r->best, n, r->path));
    for (PetscInt k = 0; k < n; k++) *converged = (PetscBool)(*converged && r->path[k].reason > 0);
    if (r->best < n - 1) { /* from the start: the intercept may be one of many, and must not be that of another lambda */
      PetscCall(BMRMSetLambda(b, r->path[r->best].lambda));
      PetscCall(BMRMSetWarmStart(b, PETSC_FALSE));
      PetscCall(BMRMSolve(b));
    }
  }
  PetscCall(BMRMGetConvergedReason(b, &reason));
  *converged = (PetscBool)(*converged && reason > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the model of the solution, and adds the solution to the report. */
static PetscErrorCode BMRMCreateResults(const BMRMRequest *rq, const Training *tr, BMRMModel *model, BMRMReport *r)
{
  const BMRM          b    = rq->solver;
  const BMRMTask      task = rq->task;
  Vec                 w, f;
  BMRMConvergedReason reason;
  const char         *type;

  PetscFunctionBegin;
  PetscCall(BMRMGetLambda(b, &r->lambda));
  PetscCall(BMRMGetLossType(b, &type));
  PetscCall(PetscStrncpy(r->loss, type, sizeof(r->loss)));
  PetscCall(BMRMGetRegularizerType(b, &type));
  PetscCall(PetscStrncpy(r->regularizer, type, sizeof(r->regularizer)));
  PetscCall(BMRMGetObjective(b, &r->objective, &r->lower_bound));
  r->gap = r->objective - r->lower_bound;
  PetscCall(BMRMGetIterationNumber(b, &r->iterations));
  PetscCall(BMRMGetMatMults(b, &r->matmults));
  PetscCall(BMRMGetCuts(b, NULL, &r->cuts));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  r->reason = BMRMConvergedReasons[reason];
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(BMRMGetScores(b, &f));
  PetscCall(BMRMComputeQuality(task, tr->nclass, f, tr->y, &r->train));
  PetscCall(BMRMReportSetMat(r, tr->X));
  PetscCall(BMRMModelCreate(w, tr->features, task == BMRM_TASK_MULTICLASS ? tr->nclass : 0, tr->classes, model));
  for (PetscInt c = 0; c < model->nclass; c++) model->shift[c] *= rq->bias;
  PetscCall(PetscStrncpy(model->loss, r->loss, sizeof(model->loss)));
  model->lambda     = r->lambda;
  model->offset     = rq->bias != 0 ? rq->bias * model->offset : 0;
  model->classify   = (PetscBool)(task == BMRM_TASK_CLASSIFICATION || task == BMRM_TASK_NOVELTY);
  model->order      = (PetscBool)(task == BMRM_TASK_RANKING);
  model->classes[0] = tr->classes[0];
  model->classes[1] = tr->classes[1];
  if (task == BMRM_TASK_NOVELTY) { /* an example whose score is at least rho belongs to the class */
    PetscReal rho;

    PetscCall(BMRMGetLossParameter(b, "rho", &rho));
    model->classes[0] = -1;
    model->classes[1] = 1;
    model->offset -= rho;
  }
  model->unit_rows     = rq->normalize;
  model->class_names   = tr->class_names;
  model->feature_names = tr->feature_names;
  PetscCall(VecGetSize(w, &r->weights));
  for (PetscInt i = 0; i < model->n * PetscMax(1, model->nclass); i++) {
    if (tr->scale) model->w[i] /= tr->scale[i % model->n];
    r->nonzeros += model->w[i] != 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fits the probabilities of a model. Comes last, because it uses the solver for other problems. */
static PetscErrorCode BMRMCalibrate(const BMRMRequest *rq, const Training *tr, BMRMModel *model)
{
  const BMRM b = rq->solver;
  Vec        f, held;

  PetscFunctionBegin;
  PetscCall(BMRMGetScores(b, &f));
  PetscCall(VecDuplicate(f, &held));
  if (rq->platt == 1) PetscCall(VecCopy(f, held));
  else PetscCall(BMRMComputeHeldOutScores(b, rq->platt, held));
  if (model->nclass) PetscCall(BMRMFitTemperature(model->nclass, held, tr->y, &model->temperature));
  else PetscCall(BMRMFitProbabilities(held, tr->y, model->platt));
  PetscCall(VecDestroy(&held));
  model->probable = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMTrain(MPI_Comm comm, BMRMRequest *rq, const Stages *stages, BMRMModel *model, BMRMReport *r, PetscBool *converged)
{
  Training       tr;
  BMRMHistory    history;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  if (rq->picture[0]) PetscCall(BMRMHistoryStart(&history, rq->solver));
  PetscCall(PetscLogStagePush(stages->load));
  PetscCall(BMRMLoadTraining(comm, rq, &tr, r));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(stages->solve));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMSolveRequest(comm, rq, &tr, r, converged));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  r->seconds_solve = end - begin;
  PetscCall(BMRMCreateResults(rq, &tr, model, r));
  if (rq->picture[0]) {
    PetscCall(BMRMHistoryWritePicture(comm, &history, r, rq->picture));
    PetscCall(BMRMMonitorCancel(rq->solver));
    PetscCall(BMRMHistoryDestroy(&history));
  }
  if (rq->pathpicture[0]) PetscCall(BMRMPathWritePicture(comm, r, (PetscBool)(rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_MULTICLASS), rq->folds, rq->pathpicture));
  if (rq->platt) PetscCall(BMRMCalibrate(rq, &tr, model));
  if (rq->model[0]) PetscCall(BMRMModelWrite(comm, model, rq->model));
  PetscCall(PetscFree(tr.scale));
  PetscCall(VecDestroy(&tr.factor));
  PetscCall(VecDestroy(&tr.queries));
  PetscCall(VecDestroy(&tr.weight));
  PetscCall(VecDestroy(&tr.groups));
  PetscCall(VecDestroy(&tr.y));
  PetscCall(MatDestroy(&tr.X));
  PetscCall(BMRMDestroy(&rq->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the scores of the file of -test or -predict. Without training, the report describes this file. */
static PetscErrorCode BMRMPredict(MPI_Comm comm, const BMRMRequest *rq, const Stages *stages, const BMRMModel *model, BMRMReport *r)
{
  const char      *file    = rq->test[0] ? rq->test : rq->predict;
  const PetscReal *classes = model->nclass ? model->label : model->classes;
  const PetscInt   nclass  = model->nclass ? model->nclass : model->classify ? 2 : 0;
  const BMRMTask   task    = model->nclass ? BMRM_TASK_MULTICLASS : model->classify ? BMRM_TASK_CLASSIFICATION : model->order ? BMRM_TASK_RANKING : BMRM_TASK_REGRESSION;
  BMRMExamples     ex;
  Mat              X;
  Vec              y, f, p;
  PetscBool        known = PETSC_TRUE;
  PetscLogDouble   begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogStagePush(stages->load));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMModelCheckProbabilities(comm, model, rq->probabilities, rq->model));
  PetscCall(BMRMExamplesLoadAs(comm, file, rq->label, (PetscBool)!rq->test[0], &ex));
  PetscCall(BMRMExamplesPrint(&ex));
  PetscCall(BMRMExamplesMatchModel(&ex, model, (PetscBool)(rq->test[0] != 0)));
  PetscCall(BMRMExamplesCheckModel(&ex, model->n));
  if (nclass) PetscCall(BMRMExamplesCheckClasses(&ex, nclass, classes, rq->test[0] ? NULL : &known));
  if (model->unit_rows) PetscCall(BMRMExamplesNormalizeRows(&ex));
  PetscCall(BMRMExamplesCreateMat(&ex, model->n, MATGPUCSR, &X));
  PetscCall(BMRMExamplesCreateLabels(&ex, nclass, classes, model->classify, X, &y));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(stages->predict));
  PetscCall(BMRMModelComputeScores(model, X, &f));
  if (known && !ex.unlabelled) PetscCall(BMRMComputeQuality(task, nclass, f, y, &r->test));
  PetscCall(BMRMModelComputeProbabilities(model, f, &p));
  if (rq->quality || rq->qualitypicture[0]) {
    const char *option = BMRMGetQualityOption(rq);

    PetscCheck(nclass, comm, PETSC_ERR_USER_INPUT, "%s compares classes, and a model of the loss %s predicts none: leave out %s", option, model->loss, option);
    PetscCheck(known && !ex.unlabelled, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %s compares labels with predictions, and the labels are not those of the model: leave out %s", ex.file, option, option);
    PetscCall(BMRMDetailsCreate(file, model->classify, nclass, f, p, y, &r->details));
    if (rq->qualitypicture[0]) PetscCall(BMRMDetailsWritePicture(comm, &r->details, classes, model->class_names, rq->qualitypicture));
  }
  if (rq->predictions[0]) PetscCall(BMRMPredictionsWrite(f, rq->probabilities ? p : NULL, model, rq->scores, rq->predictions));
  PetscCall(PetscLogStagePop());
  if (!rq->train[0]) {
    r->rows   = ex.M;
    r->cols   = model->n;
    r->nnz    = ex.nnz;
    r->lambda = model->lambda;
    PetscCall(PetscStrncpy(r->loss, model->loss, sizeof(r->loss)));
    r->matmults     = 1;
    r->seconds_load = end - begin;
    PetscCall(BMRMReportSetMat(r, X));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRun(MPI_Comm comm, void *context, PetscBool *converged)
{
  BMRMRequest *rq = (BMRMRequest *)context;
  Stages       stages;
  BMRMModel    model;
  BMRMReport   report;

  PetscFunctionBegin;
  PetscCall(PetscLogStageRegister("BMRM load", &stages.load));
  PetscCall(PetscLogStageRegister("BMRM solve", &stages.solve));
  PetscCall(PetscLogStageRegister("BMRM predict", &stages.predict));
  PetscCall(BMRMReportCreate(&report));
  if (rq->train[0]) PetscCall(BMRMTrain(comm, rq, &stages, &model, &report, converged));
  else PetscCall(BMRMModelRead(comm, rq->model, &model));
  if (rq->serve) {
    PetscCall(BMRMServe(comm, rq, &model));
    PetscCall(BMRMModelDestroy(&model));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (rq->test[0] || rq->predict[0]) PetscCall(BMRMPredict(comm, rq, &stages, &model, &report));
  PetscCall(BMRMReportPrint(comm, &report, &model));
  if (rq->report[0]) PetscCall(BMRMReportWrite(comm, &report, &model, rq->report));
  PetscCall(BMRMDetailsDestroy(&report.details));
  PetscCall(BMRMModelDestroy(&model));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static BMRMRequest rq;
  const GpAppProgram program = {"bmrm", BMRMGetManual(), BMRMGetRequest, BMRMShowHelp, BMRMCheckRequest, BMRMRun, &rq};

  return GpAppMain(argc, argv, &program);
}
