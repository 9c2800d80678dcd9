/* The request of the command line: reads it, and refuses what cannot be done before the work begins. */
#include <gpucsr.h>
#include "request.h"
#include "mainoptions.h"

/* Returns the manual page and the options of the program. */
const GpAppManual *BMRMGetManual(void)
{
  return &manual;
}

/* Returns the text of an option, for -help. */
static const char *BMRMGetOptionText(const char name[])
{
  return GpAppOptionGetText(options, name);
}

PetscErrorCode BMRMGetRequest(MPI_Comm comm, void *context)
{
  const char *const forms[] = {"libsvm", "csv"};
  BMRMRequest      *rq      = (BMRMRequest *)context;
  PetscInt          form    = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->features = PETSC_DECIDE;
  PetscOptionsBegin(comm, NULL, "Options of the bmrm program", "BMRM");
  PetscCall(PetscOptionsString("-f", BMRMGetOptionText("-f"), "", rq->train, rq->train, sizeof(rq->train), NULL));
  PetscCall(PetscOptionsString("-save_binary", BMRMGetOptionText("-save_binary"), "", rq->save, rq->save, sizeof(rq->save), NULL));
  PetscCall(PetscOptionsString("-test", BMRMGetOptionText("-test"), "", rq->test, rq->test, sizeof(rq->test), NULL));
  PetscCall(PetscOptionsString("-predict", BMRMGetOptionText("-predict"), "", rq->predict, rq->predict, sizeof(rq->predict), NULL));
  PetscCall(PetscOptionsEList("-serve", BMRMGetOptionText("-serve"), "", forms, 2, forms[form], &form, &rq->serve));
  rq->table = (PetscBool)(form == 1);
  PetscCall(PetscOptionsString("-model", BMRMGetOptionText("-model"), "", rq->model, rq->model, sizeof(rq->model), NULL));
  PetscCall(PetscOptionsString("-predictions", BMRMGetOptionText("-predictions"), "", rq->predictions, rq->predictions, sizeof(rq->predictions), NULL));
  PetscCall(PetscOptionsBool("-scores", BMRMGetOptionText("-scores"), "", rq->scores, &rq->scores, NULL));
  PetscCall(PetscOptionsBool("-probabilities", BMRMGetOptionText("-probabilities"), "", rq->probabilities, &rq->probabilities, NULL));
  PetscCall(PetscOptionsBool("-quality", BMRMGetOptionText("-quality"), "", rq->quality, &rq->quality, NULL));
  PetscCall(PetscOptionsString("-report", BMRMGetOptionText("-report"), "", rq->report, rq->report, sizeof(rq->report), NULL));
  PetscCall(PetscOptionsString("-picture", BMRMGetOptionText("-picture"), "", rq->picture, rq->picture, sizeof(rq->picture), NULL));
  PetscCall(PetscOptionsString("-quality_picture", BMRMGetOptionText("-quality_picture"), "", rq->qualitypicture, rq->qualitypicture, sizeof(rq->qualitypicture), NULL));
  PetscCall(PetscOptionsString("-path_picture", BMRMGetOptionText("-path_picture"), "", rq->pathpicture, rq->pathpicture, sizeof(rq->pathpicture), NULL));
  PetscCall(PetscOptionsString("-label_column", BMRMGetOptionText("-label_column"), "", rq->label, rq->label, sizeof(rq->label), NULL));
  PetscCall(PetscOptionsInt("-features", BMRMGetOptionText("-features"), "", rq->features, &rq->features, NULL));
  PetscCall(PetscOptionsBool("-normalize", BMRMGetOptionText("-normalize"), "", rq->normalize, &rq->normalize, NULL));
  PetscCall(PetscOptionsBool("-scale", BMRMGetOptionText("-scale"), "", rq->scale, &rq->scale, NULL));
  PetscCall(PetscOptionsInt("-platt", BMRMGetOptionText("-platt"), "", rq->platt, &rq->platt, NULL));
  PetscCall(PetscOptionsReal("-bias", BMRMGetOptionText("-bias"), "", rq->bias, &rq->bias, &rq->biased));
  PetscCall(PetscOptionsReal("-bias_factor", BMRMGetOptionText("-bias_factor"), "BMRMSetWeights", rq->bias_factor, &rq->bias_factor, NULL));
  PetscCall(PetscOptionsString("-groups", BMRMGetOptionText("-groups"), "BMRMSetGroups", rq->groups, rq->groups, sizeof(rq->groups), NULL));
  PetscCall(PetscOptionsString("-example_weights", BMRMGetOptionText("-example_weights"), "BMRMSetExampleWeights", rq->weights, rq->weights, sizeof(rq->weights), NULL));
  PetscCall(PetscOptionsString("-class_weights", BMRMGetOptionText("-class_weights"), "BMRMSetExampleWeights", rq->classweights, rq->classweights, sizeof(rq->classweights), NULL));
  PetscCall(PetscOptionsInt("-cv", BMRMGetOptionText("-cv"), "", rq->folds, &rq->folds, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns a description of the first invalid combination of options, or NULL. */
static const char *BMRMFindConflict(const BMRMRequest *rq)
{
  if (!rq->train[0] && !rq->model[0]) return "nothing to do: give -f <file> to train, or -model <file> and one of -test <file>, -predict <file> and -serve libsvm|csv to predict";
  if (rq->serve && (rq->train[0] || rq->test[0] || rq->predict[0])) return "-serve answers lines of standard input with a trained model: leave out -f, -test and -predict";
  if (rq->serve && (rq->predictions[0] || rq->report[0] || rq->quality || rq->qualitypicture[0])) return "-serve writes its answers to standard output: leave out -predictions, -report, -quality and -quality_picture";
  if (!rq->serve && !rq->train[0] && !rq->test[0] && !rq->predict[0]) return "a model alone: give one of -test <file>, -predict <file> and -serve libsvm|csv with it, or -f <file> to train";
  if (rq->save[0] && !rq->train[0]) return "-save_binary needs the data of -f <LIBSVM file>";
  if (rq->picture[0] && !rq->train[0]) return "-picture shows the training with -f <LIBSVM file>";
  if (rq->test[0] && rq->predict[0]) return "-test and -predict exclude each other: give one of them";
  if (rq->predictions[0] && !rq->test[0] && !rq->predict[0]) return "-predictions needs -test or -predict <LIBSVM file>";
  if (rq->scores && !rq->predictions[0] && !rq->serve) return "-scores needs -predictions <file>";
  if (rq->probabilities && !rq->predictions[0] && !rq->serve) return "-probabilities needs -predictions <file>";
  if (rq->qualitypicture[0] && !rq->test[0] && !rq->predict[0]) return "-quality_picture needs -test or -predict with labelled data";
  if (rq->pathpicture[0] && !rq->train[0]) return "-path_picture shows the training with -f and -bmrm_path";
  if (rq->quality && !rq->test[0] && !rq->predict[0]) return "-quality needs -test or -predict with labelled data";
  if (rq->platt && !rq->train[0]) return "-platt belongs to the training with -f; a model knows its probabilities";
  if ((rq->normalize || rq->scale) && !rq->train[0]) return "-normalize and -scale belong to the training with -f; a model knows them";
  if (rq->groups[0] && !rq->train[0]) return "-groups belongs to the training with -f";
  if ((rq->weights[0] || rq->classweights[0]) && !rq->train[0]) return "-example_weights and -class_weights belong to the training with -f";
  if (rq->folds && !rq->train[0]) return "-cv belongs to the training with -f";
  if ((rq->bias != 0 || rq->bias_factor != 0) && !rq->train[0]) return "-bias belongs to the training with -f; a model knows its bias";
  return NULL;
}

/* Sets the bias that is used without -bias: 1 for labels that are classes or numbers. Ranks and areas do not depend on a bias, and with one the loss novelty
   would have a trivial solution. */
static PetscErrorCode BMRMSetDefaultBias(BMRMRequest *rq)
{
  const char *loss;
  PetscBool   area;

  PetscFunctionBegin;
  if (rq->biased) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMGetLossType(rq->solver, &loss));
  PetscCall(PetscStrcmp(loss, "rocarea", &area));
  rq->bias = !area && (rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_REGRESSION || rq->task == BMRM_TASK_MULTICLASS) ? 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads -cv_rule, whose default depends on -bmrm_path. */
static PetscErrorCode BMRMGetRule(MPI_Comm comm, BMRMRequest *rq)
{
  const char *const rules[] = {"best", "one_se"};
  PetscInt          rule    = rq->automatic;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Options of the path and its cross-validation", "BMRM");
  PetscCall(PetscOptionsEList("-cv_rule", BMRMGetOptionText("-cv_rule"), "BMRMCrossValidate", rules, 2, rules[rule], &rule, &rq->ruled));
  PetscOptionsEnd();
  rq->one_se = (PetscBool)(rule == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solver, which reads its own options, and reads the list of lambdas. */
static PetscErrorCode BMRMCreateSolver(MPI_Comm comm, void *context)
{
  BMRMRequest *rq = (BMRMRequest *)context;

  PetscFunctionBegin;
  PetscCall(BMRMCreate(comm, &rq->solver));
  PetscCall(BMRMSetFromOptions(rq->solver));
  PetscCall(BMRMGetTask(rq->solver, &rq->task));
  PetscCall(BMRMSetDefaultBias(rq));
  rq->nlambda = BMRM_MAX_PATH;
  PetscCall(BMRMPathGetLambdas(comm, &rq->nlambda, rq->lambda, &rq->automatic, &rq->together));
  PetscCall(BMRMGetRule(comm, rq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -help: shows the options of the solver. */
PetscErrorCode BMRMShowHelp(MPI_Comm comm, void *context)
{
  BMRMRequest *rq = (BMRMRequest *)context;

  PetscFunctionBegin;
  PetscCall(BMRMCreateSolver(comm, rq));
  PetscCall(BMRMDestroy(&rq->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the option that asks for the details of the quality. */
const char *BMRMGetQualityOption(const BMRMRequest *rq)
{
  return rq->quality ? "-quality" : "-quality_picture";
}

/* Refuses options that the loss does not support. */
static PetscErrorCode BMRMCheckTask(MPI_Comm comm, const BMRMRequest *rq)
{
  const char *loss;
  PetscBool   likely, compares;

  PetscFunctionBegin;
  PetscCall(BMRMGetLossType(rq->solver, &loss));
  PetscCall(PetscStrInList(loss, "logistic,softmax", ',', &likely));
  PetscCall(PetscStrInList(loss, "rocarea,fbeta,ordinal,preference,ndcg", ',', &compares));
  PetscCheck(rq->task != BMRM_TASK_MULTILABEL, comm, PETSC_ERR_USER_INPUT, "-bmrm_loss %s needs several labels an example, and the files of bmrm have one: call BMRMSetData() from a program, or choose another loss", loss);
  PetscCheck(!rq->platt || rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_MULTICLASS, comm, PETSC_ERR_USER_INPUT,
             "-platt gives probabilities of classes, which -bmrm_loss %s does not separate: leave out -platt, or choose a loss such as hinge or logistic", loss);
  PetscCheck((!rq->quality && !rq->qualitypicture[0]) || rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_MULTICLASS, comm, PETSC_ERR_USER_INPUT, "%s compares classes, and a model of the loss %s predicts none: leave out %s",
             BMRMGetQualityOption(rq), loss, BMRMGetQualityOption(rq));
  PetscCheck(!rq->pathpicture[0] || rq->nlambda, comm, PETSC_ERR_USER_INPUT, "-path_picture shows several lambdas: name them with -bmrm_path");
  PetscCheck(!rq->probabilities || rq->platt || likely, comm, PETSC_ERR_USER_INPUT, "-probabilities: -bmrm_loss %s gives scores without probabilities: add -platt <folds>, or choose the loss logistic or softmax", loss);
  PetscCheck(!compares || (!rq->weights[0] && !rq->classweights[0]), comm, PETSC_ERR_USER_INPUT, "-example_weights and -class_weights need a mean over the examples, and -bmrm_loss %s compares examples: leave them out, or choose a loss such as hinge",
             loss);
  PetscCheck(!rq->classweights[0] || rq->task == BMRM_TASK_CLASSIFICATION || rq->task == BMRM_TASK_MULTICLASS, comm, PETSC_ERR_USER_INPUT, "-class_weights needs classes, which -bmrm_loss %s does not have: use -example_weights", loss);
  PetscCheck(!rq->folds || rq->nlambda, comm, PETSC_ERR_USER_INPUT, "-cv chooses among several lambdas: name them with -bmrm_path");
  PetscCheck(!rq->ruled || rq->folds, comm, PETSC_ERR_USER_INPUT, "-cv_rule chooses by cross-validation: add -cv <folds>");
  PetscCheck(!rq->folds || rq->task != BMRM_TASK_NOVELTY, comm, PETSC_ERR_USER_INPUT, "-cv compares predictions with labels, and -bmrm_loss %s learns without labels: leave out -cv", loss);
  PetscCheck(!rq->folds || rq->task != BMRM_TASK_RANKING, comm, PETSC_ERR_USER_INPUT, "-cv compares predictions with labels, and -bmrm_loss %s predicts an order only: leave out -cv", loss);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Registers all files of the run, and checks that no output overwrites another file and that all outputs can be written. */
static PetscErrorCode BMRMCheckFiles(MPI_Comm comm, const BMRMRequest *rq)
{
  char  checkpoint[PETSC_MAX_PATH_LEN] = "", restart[PETSC_MAX_PATH_LEN] = "", labels[PETSC_MAX_PATH_LEN];
  char *market;

  PetscFunctionBegin;
  PetscCall(GpAppPlotProbe(comm, rq->picture));
  PetscCall(GpAppPlotProbe(comm, rq->qualitypicture));
  PetscCall(GpAppPlotProbe(comm, rq->pathpicture));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bmrm_checkpoint", checkpoint, sizeof(checkpoint), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bmrm_restart", restart, sizeof(restart), NULL));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-f", rq->train));
  PetscCall(PetscStrncpy(labels, rq->train, sizeof(labels) - 8));
  PetscCall(PetscStrrstr(labels, ".mtx", &market));
  if (market) { /* the labels of a Matrix Market file are in a second file */
    *market = 0;
    PetscCall(PetscStrlcat(labels, ".labels", sizeof(labels)));
    PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-f", labels));
  }
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-test", rq->test));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-predict", rq->predict));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-serve", rq->serve ? "-" : ""));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-groups", rq->groups));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-example_weights", rq->weights));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_RESTART, "-bmrm_restart", restart));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_CHECKPOINT, "-bmrm_checkpoint", checkpoint));
  PetscCall(GpAppFilesAdd(rq->train[0] ? GP_APP_FILE_OUTPUT : GP_APP_FILE_INPUT, "-model", rq->model));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-save_binary", rq->save));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-predictions", rq->predictions));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-picture", rq->picture));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-quality_picture", rq->qualitypicture));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-path_picture", rq->pathpicture));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-report", rq->report));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the request before the work: combinations of options, options that the loss does not support, and files. */
PetscErrorCode BMRMCheckRequest(MPI_Comm comm, void *context)
{
  BMRMRequest *rq        = (BMRMRequest *)context;
  const char  *complaint = BMRMFindConflict(rq);

  PetscFunctionBegin;
  PetscCheck(!complaint, comm, PETSC_ERR_USER_INPUT, "%s", complaint);
  if (rq->train[0]) {
    PetscCall(BMRMCreateSolver(comm, rq));
    PetscCall(BMRMCheckTask(comm, rq));
  }
  PetscCall(BMRMCheckFiles(comm, rq));
  PetscFunctionReturn(PETSC_SUCCESS);
}
