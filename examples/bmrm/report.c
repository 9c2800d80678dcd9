/* The report of a run: a summary on the terminal, and a JSON file for programs. */
#include "model.h"
#include <gpucsr.h>
#include <math.h>
#include <string.h>

/* Initialises a report, all of whose values are unknown. */
PetscErrorCode BMRMReportCreate(BMRMReport *r)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->lambda = r->objective = r->lower_bound = r->gap = (PetscReal)NAN;
  r->seconds_solve                                   = NAN;
  PetscCall(BMRMInitializeQuality(&r->train));
  PetscCall(BMRMInitializeQuality(&r->test));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the type of the matrix, its device, the rounding of its values, and its chunks if it is streamed. Called after the last product with it. */
PetscErrorCode BMRMReportSetMat(BMRMReport *r, Mat X)
{
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(X, &type));
  PetscCall(PetscStrncpy(r->mat_type, type, sizeof(r->mat_type)));
  r->rounding = (GpAppRounding){0};
  PetscCall(GpAppRoundingAdd(X, &r->rounding));
  r->streamed = (GpAppStreamed){0};
  PetscCall(GpAppStreamedAdd(X, &r->streamed));
  r->device = "cpu";
  if (r->rounding.storage) PetscCall(PetscGPUCSRGetDeviceName(&r->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints a number between separators; a number that is not defined, such as the recall of a class without examples, as a word. */
static PetscErrorCode BMRMReportPrintNumber(MPI_Comm comm, const char before[], PetscReal v)
{
  PetscFunctionBegin;
  if (PetscIsNanReal(v)) PetscCall(PetscPrintf(comm, "%s undefined", before));
  else PetscCall(PetscPrintf(comm, "%s %.4f", before, (double)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMReportPrintQuality(MPI_Comm comm, const char which[], const BMRMQuality *s)
{
  PetscFunctionBegin;
  if (!PetscIsInfOrNanReal(s->accuracy)) {
    PetscCall(PetscPrintf(comm, "%-5s accuracy   %.4f %% of %" PetscInt_FMT " examples\n", which, 100 * (double)s->accuracy, s->rows));
    if (s->tp < 0) PetscFunctionReturn(PETSC_SUCCESS); /* counts exist for two classes only */
    PetscCall(BMRMReportPrintNumber(comm, "                 precision", s->precision));
    PetscCall(BMRMReportPrintNumber(comm, ", recall", s->recall));
    PetscCall(BMRMReportPrintNumber(comm, ", F1", s->f1));
    PetscCall(BMRMReportPrintNumber(comm, ", MCC", s->mcc));
    PetscCall(BMRMReportPrintNumber(comm, ", AUC", s->auc));
    PetscCall(PetscPrintf(comm, "\n"));
    PetscCall(PetscPrintf(comm, "                 true positives %" PetscInt_FMT ", false positives %" PetscInt_FMT ", true negatives %" PetscInt_FMT ", false negatives %" PetscInt_FMT "\n", s->tp, s->fp, s->tn, s->fn));
  } else if (!PetscIsInfOrNanReal(s->rmse)) {
    PetscCall(PetscPrintf(comm, "%-5s error      %.6g root mean square, %.6g mean absolute, R2 %.4f, of %" PetscInt_FMT " examples\n", which, (double)s->rmse, (double)s->mae, (double)s->r2, s->rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the summary of a run. */
PetscErrorCode BMRMReportPrint(MPI_Comm comm, const BMRMReport *r, const BMRMModel *model)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "data             %" PetscInt_FMT " examples, %" PetscInt_FMT " features, %" PetscInt64_FMT " entries; read in %.3f s\n", r->rows, r->cols, r->nnz, r->seconds_load));
  PetscCall(PetscPrintf(comm, "matrix           %s on %s\n", r->mat_type, r->device));
  PetscCall(GpAppRoundingPrint(comm, "                 ", &r->rounding));
  PetscCall(GpAppStreamedPrint(comm, "                 ", &r->streamed));
  if (r->reason) {
    PetscCall(PetscPrintf(comm, "objective        %.10f at lambda %g, %s loss, %s\n", (double)r->objective, (double)r->lambda, r->loss, r->regularizer));
    PetscCall(PetscPrintf(comm, "certified gap    %.4e (lower bound %.10f)\n", (double)r->gap, (double)r->lower_bound));
    PetscCall(PetscPrintf(comm, "passes           %" PetscInt_FMT " in %.3f s, %s\n", r->iterations, r->seconds_solve, r->reason));
    PetscCall(PetscPrintf(comm, "weights          %" PetscInt_FMT " of %" PetscInt_FMT " are not zero\n", r->nonzeros, r->weights));
  }
  PetscCall(BMRMReportPrintQuality(comm, "train", &r->train));
  PetscCall(BMRMReportPrintQuality(comm, "test", &r->test));
  PetscCall(BMRMDetailsPrint(comm, &r->details, model->nclass ? model->label : model->classes, model->class_names));
  if (r->reason && strncmp(r->reason, "CONVERGED", 9))
    PetscCall(PetscPrintf(comm, "WARNING: NOT CONVERGED (%s). The gap above is the quality of this model; %s.\n", r->reason,
                          strcmp(r->reason, "DIVERGED_STAGNATED") ? "see -bmrm_max_it and -bmrm_eps" : "increase -bmrm_eps or, with many classes, use -bias_factor 0.01"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a number that is known only after training. */
static void BMRMReportWriteTrained(GpAppJSON *J, const BMRMReport *r, const char key[], PetscInt value)
{
  if (r->reason) GpAppJSONWriteInt(J, key, value);
  else GpAppJSONWriteNull(J, key);
}

static void BMRMReportWriteQuality(GpAppJSON *J, const char which[], const BMRMQuality *s)
{
  const char *const names[]  = {"accuracy", "precision", "recall", "f1", "mcc", "auc", "rmse", "mae", "r2"};
  const PetscReal   values[] = {s->accuracy, s->precision, s->recall, s->f1, s->mcc, s->auc, s->rmse, s->mae, s->r2};
  char              key[32];

  for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
    (void)snprintf(key, sizeof(key), "%s_%s", which, names[k]);
    GpAppJSONWriteReal(J, key, (double)values[k]);
  }
}

/* Writes the report as one JSON object. Unknown values are null. */
PetscErrorCode BMRMReportWrite(MPI_Comm comm, const BMRMReport *r, const BMRMModel *model, const char file[])
{
  GpAppOutput out;
  GpAppJSON   J;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    GpAppJSONBegin(&J, out.fp);
    GpAppJSONWriteInt(&J, "rows", r->rows);
    GpAppJSONWriteInt(&J, "cols", r->cols);
    GpAppJSONWriteInt(&J, "nnz", r->nnz);
    GpAppJSONWriteString(&J, "loss", r->loss);
    GpAppJSONWriteString(&J, "regularizer", r->regularizer[0] ? r->regularizer : NULL);
    GpAppJSONWriteReal(&J, "lambda", (double)r->lambda);
    GpAppJSONWriteReal(&J, "objective", (double)r->objective);
    GpAppJSONWriteReal(&J, "lower_bound", (double)r->lower_bound);
    GpAppJSONWriteReal(&J, "gap", (double)r->gap);
    BMRMReportWriteTrained(&J, r, "iterations", r->iterations);
    GpAppJSONWriteInt(&J, "matmults", r->matmults);
    BMRMReportWriteTrained(&J, r, "cuts", r->cuts);
    GpAppJSONWriteString(&J, "reason", r->reason);
    BMRMReportWriteTrained(&J, r, "nonzero_weights", r->nonzeros);
    BMRMReportWriteQuality(&J, "train", &r->train);
    BMRMReportWriteQuality(&J, "test", &r->test);
    BMRMPathWrite(&J, r->best, r->npath, r->path);
    BMRMDetailsWrite(&J, &r->details, model->nclass ? model->label : model->classes, model->class_names);
    GpAppJSONWriteReal(&J, "seconds_load", r->seconds_load);
    GpAppJSONWriteReal(&J, "seconds_solve", r->seconds_solve);
    GpAppJSONWriteString(&J, "mat_type", r->mat_type);
    GpAppJSONWriteString(&J, "device", r->device);
    GpAppRoundingWrite(&J, &r->rounding);
    GpAppStreamedWrite(&J, &r->streamed);
    GpAppJSONWriteNames(&J, "classes", model->nclass ? model->nclass : 2, model->class_names);
    GpAppJSONWriteNames(&J, "features", model->n, model->feature_names);
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
