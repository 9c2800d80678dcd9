/* Details of the quality of predicted classes: as text, and in the report. */
#include "quality.h"
#include <string.h>

#define BMRM_PRINTED 12 /* largest number of classes whose confusion matrix is printed */

/* The scores of one class */
typedef struct {
  PetscInt64 examples; /* of this class */
  PetscReal  precision, recall, f1;
} BMRMClassScores;

/* Computes the scores of class c. As in the summary, a quotient without examples is NaN; f1 is 0 for a class of which no example is found. */
static BMRMClassScores BMRMDetailsGetScores(const BMRMDetails *de, PetscInt c)
{
  PetscReal       right = (PetscReal)de->confusion[c * de->k + c], predicted = 0;
  BMRMClassScores s = {0};

  for (PetscInt l = 0; l < de->k; l++) {
    s.examples += de->confusion[c * de->k + l];
    predicted += (PetscReal)de->confusion[l * de->k + c];
  }
  s.precision = right / predicted;
  s.recall    = right / (PetscReal)s.examples;
  s.f1        = 2 * right / (predicted + (PetscReal)s.examples);
  return s;
}

/* Means over the classes that have examples: recall, which is the balanced accuracy, and F1. */
static void BMRMDetailsGetMeans(const BMRMDetails *de, PetscReal mean[2])
{
  PetscInt n = 0;

  mean[0] = mean[1] = 0;
  for (PetscInt c = 0; c < de->k; c++) {
    const BMRMClassScores s = BMRMDetailsGetScores(de, c);

    if (!s.examples) continue;
    mean[0] += s.recall;
    mean[1] += s.f1;
    n++;
  }
  mean[0] /= n;
  mean[1] /= n;
}

/* Gets the name of a class, or its label in the buffer. *names advances to the next class. */
static const char *BMRMDetailsGetName(const char **names, PetscReal label, size_t size, char buffer[])
{
  const char *name = *names;

  (void)snprintf(buffer, size, "%.15g", (double)label);
  if (!name) return buffer;
  *names += strlen(name) + 1;
  return name;
}

/* Prints the scores of every class, the confusion matrix of few classes, and the calibration. label: labels of the classes; names: their names, or NULL. */
PetscErrorCode BMRMDetailsPrint(MPI_Comm comm, const BMRMDetails *de, const PetscReal label[], const char names[])
{
  const char *next = names;
  char        buffer[32];
  PetscReal   mean[2];

  PetscFunctionBegin;
  if (!de->k) PetscFunctionReturn(PETSC_SUCCESS);
  BMRMDetailsGetMeans(de, mean);
  PetscCall(PetscPrintf(comm, "quality on %s\n  balanced accuracy %.4f, mean F1 %.4f", de->file, (double)mean[0], (double)mean[1]));
  if (de->k == 2 && de->point && !PetscIsNanReal(de->average_precision)) PetscCall(PetscPrintf(comm, ", average precision %.4f", (double)de->average_precision));
  if (de->likely) PetscCall(PetscPrintf(comm, ", log loss %.4f, Brier score %.4f, calibration error %.4f", (double)de->log_loss, (double)de->brier, (double)de->calibration_error));
  PetscCall(PetscPrintf(comm, "\n  class                 examples  precision  recall      F1%s\n", de->k <= BMRM_PRINTED ? "  predicted as the classes in this order" : ""));
  for (PetscInt c = 0; c < de->k; c++) {
    const BMRMClassScores s = BMRMDetailsGetScores(de, c);

    PetscCall(PetscPrintf(comm, "  %-20.20s  %8" PetscInt64_FMT "  %9.4f  ", BMRMDetailsGetName(&next, label[c], sizeof(buffer), buffer), s.examples, (double)s.precision));
    if (PetscIsNanReal(s.recall)) PetscCall(PetscPrintf(comm, "     -")); /* a class without examples */
    else PetscCall(PetscPrintf(comm, "%6.4f", (double)s.recall));
    PetscCall(PetscPrintf(comm, "  %6.4f", (double)s.f1));
    for (PetscInt l = 0; de->k <= BMRM_PRINTED && l < de->k; l++) PetscCall(PetscPrintf(comm, " %7" PetscInt64_FMT, de->confusion[c * de->k + l]));
    PetscCall(PetscPrintf(comm, "\n"));
  }
  if (de->likely) PetscCall(PetscPrintf(comm, "  probability  examples    mean  %s\n", de->k == 2 ? "fraction of the larger label" : "fraction of right predictions"));
  for (PetscInt b = 0; de->likely && b < BMRM_BINS; b++) {
    const BMRMBin *bin = &de->bin[b];

    if (bin->count > 0) PetscCall(PetscPrintf(comm, "  %.1f to %.1f  %9.0f  %.4f  %.4f\n", (double)b / BMRM_BINS, (double)(b + 1) / BMRM_BINS, (double)bin->count, (double)(bin->probability / bin->count), (double)(bin->right / bin->count)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a curve as an array of pairs, at most BMRM_CURVE of its points and the last one. */
static void BMRMDetailsWriteCurve(GpAppJSON *J, const char key[], PetscBool roc, const BMRMDetails *de)
{
  const PetscInt step = (de->npoint + BMRM_CURVE - 1) / BMRM_CURVE;

  GpAppJSONOpen(J, key, '[', PETSC_FALSE);
  for (PetscInt i = 0; i < de->npoint; i++) {
    const BMRMCurvePoint *p = &de->point[i];

    if ((i + 1) % step && i + 1 < de->npoint) continue;
    GpAppJSONOpen(J, NULL, '[', PETSC_FALSE);
    GpAppJSONWriteReal(J, NULL, (double)p->threshold);
    GpAppJSONWriteReal(J, NULL, (double)(roc ? p->fpr : p->tpr));
    GpAppJSONWriteReal(J, NULL, (double)(roc ? p->tpr : p->precision));
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
}

static void BMRMDetailsWriteCalibration(GpAppJSON *J, const BMRMDetails *de)
{
  GpAppJSONOpen(J, "calibration", '[', PETSC_FALSE);
  for (PetscInt b = 0; b < BMRM_BINS; b++) {
    const BMRMBin *bin = &de->bin[b];

    if (!(bin->count > 0)) continue;
    GpAppJSONOpen(J, NULL, '{', PETSC_FALSE);
    GpAppJSONWriteInt(J, "examples", (PetscInt64)bin->count);
    GpAppJSONWriteReal(J, "probability", (double)(bin->probability / bin->count));
    GpAppJSONWriteReal(J, "fraction", (double)(bin->right / bin->count));
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
}

/* Writes the details as one member of a document. */
void BMRMDetailsWrite(GpAppJSON *J, const BMRMDetails *de, const PetscReal label[], const char names[])
{
  const char *next = names;
  char        buffer[32];
  PetscReal   mean[2];

  if (!de->k) return;
  BMRMDetailsGetMeans(de, mean);
  GpAppJSONOpen(J, "quality", '{', PETSC_TRUE);
  GpAppJSONWriteString(J, "file", de->file);
  GpAppJSONWriteReal(J, "balanced_accuracy", (double)mean[0]);
  GpAppJSONWriteReal(J, "mean_f1", (double)mean[1]);
  GpAppJSONWriteReal(J, "average_precision", (double)de->average_precision);
  GpAppJSONWriteReal(J, "log_loss", (double)de->log_loss);
  GpAppJSONWriteReal(J, "brier_score", (double)de->brier);
  GpAppJSONWriteReal(J, "calibration_error", (double)de->calibration_error);
  GpAppJSONOpen(J, "classes", '[', PETSC_TRUE);
  for (PetscInt c = 0; c < de->k; c++) {
    const BMRMClassScores s = BMRMDetailsGetScores(de, c);

    GpAppJSONOpen(J, NULL, '{', PETSC_FALSE);
    GpAppJSONWriteString(J, "class", BMRMDetailsGetName(&next, label[c], sizeof(buffer), buffer));
    GpAppJSONWriteInt(J, "examples", s.examples);
    GpAppJSONWriteReal(J, "precision", (double)s.precision);
    GpAppJSONWriteReal(J, "recall", (double)s.recall);
    GpAppJSONWriteReal(J, "f1", (double)s.f1);
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
  GpAppJSONOpen(J, "confusion", '[', PETSC_TRUE);
  for (PetscInt c = 0; c < de->k; c++) {
    GpAppJSONOpen(J, NULL, '[', PETSC_FALSE);
    for (PetscInt l = 0; l < de->k; l++) GpAppJSONWriteInt(J, NULL, de->confusion[c * de->k + l]);
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
  if (de->likely) BMRMDetailsWriteCalibration(J, de);
  if (de->npoint) BMRMDetailsWriteCurve(J, "roc", PETSC_TRUE, de);
  if (de->npoint) BMRMDetailsWriteCurve(J, "precision_recall", PETSC_FALSE, de);
  GpAppJSONClose(J);
}
