/* The options and the manual page of the program bmrm. Included by request.c alone. */
#ifndef BMRM_MAINOPTIONS_H
#define BMRM_MAINOPTIONS_H

#include "app/program/appoptions.h"

#define POINTWISE(name)                   "|" #name
#define CLASSES(name)                     "|" #name
#define GROUPED(name)                     "|" #name
#define REGULARIZER(name)                 "|" #name
#define SEPARABLE(name, square, absolute) "|" #name
static const char losses[] =
#include "solvers/bmrm/losses.def"
  ;
static const char regularizers[] =
#include "solvers/bmrm/regularizers.def"
  ;
#undef POINTWISE
#undef CLASSES
#undef GROUPED
#undef REGULARIZER
#undef SEPARABLE

static const GpAppOption options[] = {
  {"Files"},
  {"-f", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Training data. LIBSVM text, or a table with -label_column; PETSc's binary format; or Matrix Market x.mtx with labels in x.labels. Text may be compressed. - is standard input."},
  {"-model", GP_APP_TEXT, "file", NULL, NULL, PETSC_TRUE, "Model to write with -f, to read without -f."},
  {"-test", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Data with labels of the model, to measure the model's quality."},
  {"-predict", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Data to predict. Their labels are ignored where the model does not know them."},
  {"-predictions", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Predicted labels to write, one a line."},
  {"-serve", GP_APP_CHOICE, "libsvm|csv", NULL, NULL, PETSC_TRUE,
   "Answers each line of standard input with the prediction of -model. A line that cannot be read is answered by error: and what is wrong. It runs until the input ends. A model with names of features expects a heading line in csv."},
  {"-scores", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Writes the score after every predicted label."},
  {"-probabilities", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Writes the probability of the larger label as the last column, or those of several classes. The model was trained with the loss logistic or softmax, or with -platt."},
  {"-quality", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE,
   "Compares the classes of -test or -predict in detail. Prints and reports scores of each class, the confusion matrix, the ROC and precision-recall curves, and the calibration of probabilities."},
  {"-report", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Report of the run to write, in JSON."},
  {"-picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Picture to write, .svg, .pdf or .png: objective, lower bound and gap over the passes."},
  {"-quality_picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE,
   "Picture of the quality on the data of -test or -predict to write. It shows the confusion matrix and the calibration of probabilities, for two classes also the ROC and precision-recall curves."},
  {"-path_picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Picture of -bmrm_path to write. It shows the quality over lambda, with -cv also the standard errors, and the number of nonzero weights."},
  {"-save_binary", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Writes the data of -f in PETSc's binary format, which loads faster and which PETSc and petsc4py read."},
  {"Data"},
  {"-label_column", GP_APP_TEXT, "name", NULL, NULL, PETSC_TRUE, "Column of the labels in a table (CSV, TSV). Its heading, or its number counted from 1. Words are names of classes."},
  {"-features", GP_APP_INT, "n", "[1,inf)", NULL, PETSC_FALSE, "Trains with at least n features. Without it the largest index in the data counts. Data and models of n features are accepted, however few entries they hold."},
  {"-normalize", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Divides every example by its norm, in the training and in predictions with the model."},
  {"-scale", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Divides every feature by its largest absolute value. The weights of the model are for features as they are."},
  {"-bias", GP_APP_REAL, "value", NULL, NULL, PETSC_TRUE, "Adds a feature of this value, whose weight is the intercept. 0 adds none. Default: 1 for losses that predict classes or numbers, 0 for novelty, rocarea, ordinal, preference and ndcg."},
  {"-bias_factor", GP_APP_REAL, "factor", "[0,inf)", "0", PETSC_FALSE, "Factor of the weight of that feature in the regulariser. 0 leaves the weight free, also that of each of several classes."},
  {"-groups", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Number of the group of every feature, one a line, for -bmrm_reg grouplasso."},
  {"-example_weights", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Weight of every example in the mean loss, one a line."},
  {"-class_weights", GP_APP_TEXT, "weights", NULL, NULL, PETSC_TRUE, "Weights of the classes in the mean loss. balanced gives all classes the same influence, otherwise <label>:<weight>,... Classes that are not named have the weight 1."},
  {"Problem"},
  {"-bmrm_loss", GP_APP_CHOICE, losses + 1, NULL, "hinge", PETSC_TRUE, "Loss, the cost of an error, such as hinge or logistic."},
  {"-bmrm_reg", GP_APP_CHOICE, regularizers + 1, NULL, "l2", PETSC_TRUE, "Regulariser, the cost of weights."},
  {"-bmrm_lambda", GP_APP_REAL, "number", "(0,inf)", "1e-05", PETSC_TRUE, "Weight of the regulariser."},
  {"-bmrm_path", GP_APP_TEXT, "lambda,...|auto", NULL, NULL, PETSC_TRUE, "Trains for each of these lambdas with one bundle. auto chooses 16 of them, from the largest useful one."},
  {"-bmrm_path_together", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Trains for all of these lambdas in step, so that a gpucsr matrix is read once a pass for all."},
  {"-cv", GP_APP_INT, "folds", "[2,inf)", NULL, PETSC_TRUE, "Chooses the lambda of -bmrm_path by cross-validation. The folds are stratified: they have equal shares of the classes."},
  {"-cv_rule", GP_APP_CHOICE, "best|one_se", NULL, NULL, PETSC_FALSE, "Rule of that choice. best takes the best mean over the folds, one_se the largest lambda within one standard error of it. Default: one_se with -bmrm_path auto, otherwise best."},
  {"-platt", GP_APP_INT, "folds", "[0,inf)", "0", PETSC_TRUE, "Fits probabilities to the scores. Two classes get those of Platt, several classes a temperature. 1 fits to those of the training data, 2 or more to scores of that many held-out folds."},
  {"-bmrm_reg_ratio", GP_APP_REAL, "ratio", "[0,1]", "0.5", PETSC_FALSE, "Elastic net: the part of the absolute values."},
  {"-bmrm_reg_group_size", GP_APP_INT, "n", "[1,inf)", "1", PETSC_FALSE, "Group lasso: n consecutive features are a group."},
  {"-bmrm_loss_quantile", GP_APP_REAL, "tau", "(0,1)", "0.5", PETSC_FALSE, "Loss quantile: the quantile."},
  {"-bmrm_loss_epsilon", GP_APP_REAL, "epsilon", "(0,inf)", "0.1", PETSC_FALSE, "Losses epsilon and sqepsilon: the error without cost."},
  {"-bmrm_loss_huber", GP_APP_REAL, "h", "(0,inf)", "0.5", PETSC_FALSE, "Losses huber and huberhinge: half the width of the parabola."},
  {"-bmrm_loss_rho", GP_APP_REAL, "rho", "(0,inf)", "1", PETSC_FALSE, "Loss novelty: the score that an example of the class should reach."},
  {"-bmrm_loss_beta", GP_APP_REAL, "beta", "(0,inf)", "1", PETSC_FALSE, "Loss fbeta: weight of recall relative to precision."},
  {"-bmrm_loss_places", GP_APP_REAL, "k", "(0,inf)", "10", PETSC_FALSE, "Loss ndcg: the number of places that count."},
  {"-bmrm_loss_distance", GP_APP_REAL, "d", "[0,10)", "0", PETSC_FALSE, "Losses multiclass and slackmulticlass: a wrong class costs its distance from the right class to the power d."},
  {"Accuracy"},
  {"-bmrm_eps", GP_APP_REAL, "gap", "[0,inf)", "0.0001", PETSC_TRUE, "Stops at this certified gap."},
  {"-bmrm_eps_rel", GP_APP_REAL, "part", "[0,inf)", "0", PETSC_FALSE, "Stops at a certified gap of this part of the objective."},
  {"-bmrm_max_it", GP_APP_INT, "n", "[0,inf)", "10000", PETSC_TRUE, "Upper bound on the number of passes over the data."},
  {"-bmrm_error_if_not_converged", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Writes no results if the training did not converge."},
  {"Method"},
  {"-bmrm_line_search", GP_APP_BOOL, NULL, NULL, "true", PETSC_FALSE, "Searches the line to the model's minimiser exactly, as OCAS does. false is plain BMRM."},
  {"-bmrm_cuts", GP_APP_INT, "k", "[1,inf)", "1", PETSC_FALSE, "Cutting planes that a pass adds."},
  {"-bmrm_best_cut", GP_APP_BOOL, NULL, NULL, "true", PETSC_FALSE, "Takes a second cutting plane at the best point where it costs little."},
  {"-bmrm_mu", GP_APP_REAL, "mu", "[0,1]", "0.01", PETSC_FALSE, "Distance of the next cutting plane from the best point, as a part of the way to the model's minimiser."},
  {"-bmrm_mu_adapt", GP_APP_BOOL, NULL, NULL, "true", PETSC_FALSE, "Adapts mu to the steps of the line search."},
  {"-bmrm_idle_age", GP_APP_INT, "n", "[0,inf)", "20", PETSC_FALSE, "Drops a cutting plane after n solutions without weight. 0 keeps all."},
  {"-bmrm_max_cuts", GP_APP_INT, "n", "[0,inf)", "0", PETSC_FALSE, "Upper bound on the number of cutting planes. 0 sets no bound."},
  {"-bmrm_qp_rtol", GP_APP_REAL, "part", "[0,1]", "0.01", PETSC_FALSE, "Minimises the model to this part of the gap."},
  {"-bmrm_warm_start", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Starts from the bundle of the last solve."},
  {"Checkpoints and output"},
  {"-bmrm_checkpoint", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to write now and then."},
  {"-bmrm_checkpoint_every", GP_APP_INT, "n", "[1,inf)", "10", PETSC_FALSE, "Passes between checkpoints."},
  {"-bmrm_restart", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to continue from."},
  {"-bmrm_monitor", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_TRUE, "Prints objective, bound and gap after every pass."},
  {"-bmrm_view", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints the settings of the solver after the solve."},
  {"-bmrm_converged_reason", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints why the solver stopped."},
  {"Names of the program bmrm-2.1"},
  {"-bmrm_epsilonTol", GP_APP_REAL, "gap", "[0,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_eps."},
  {"-bmrm_relEpsilonTol", GP_APP_REAL, "part", "[0,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_eps_rel."},
  {"-bmrm_maxNumOfIter", GP_APP_INT, "n", "[0,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_max_it."},
  {"-bmrm_gradIdleAge", GP_APP_INT, "n", "[0,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_idle_age."},
  {"-bmrm_maxGradSetSize", GP_APP_INT, "n", "[0,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_max_cuts."},
  {"-bmrm_checkpointInterval", GP_APP_INT, "n", "[1,inf)", NULL, PETSC_FALSE, "Other name of -bmrm_checkpoint_every."},
  {NULL}};

static const GpAppManual manual = {.title       = "linear models by a bundle method with a certified gap",
                                   .synopsis    = "-f train.libsvm [-model file] [-test file] [options]\n-model file -test|-predict data.libsvm [-predictions file] [options]\n-model file -serve libsvm|csv [options]",
                                   .description = "bmrm trains a linear model, such as a support vector machine, a logistic regression or a lasso, and predicts with it.\n"
                                                  "It minimises the sum of a regulariser, weighted with lambda, and the mean loss over the examples. It proves how far its result is from the optimum at most: the certified gap.\n"
                                                  "Data are text in LIBSVM's format, a line an example: a label, then <feature>:<value> in ascending order of features that are counted from 1.",
                                   .files       = "Models, predictions and reports are text. The page bmrm.md of the documentation describes them.",
                                   .prefix      = "bmrm_",
                                   .nested      = "",
                                   .also        = ".BR pagerank (1),\n.BR smacof (1)",
                                   .example     = {{"-f train.libsvm -bmrm_loss logistic -model m", "Trains a logistic regression and writes the model m."},
                                                   {"-f train.libsvm -bmrm_path auto -cv 5 -model m", "Chooses lambda by cross-validation in five folds."},
                                                   {"-model m -predict new.libsvm -predictions labels.txt -probabilities", "Writes a label and its probability for every example of new.libsvm."}},
                                   .options     = options};

#endif
