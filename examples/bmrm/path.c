/* The lambdas of -bmrm_path, the choice among them, and the table of their results. */
#include "app/text/appscan.h"
#include "model.h"
#include <math.h>

#define BMRM_AUTO_PATH 16 /* number of lambdas of -bmrm_path auto */

/* Parses positive numbers, separated by commas. Returns their number; -1 if there is anything else, and more than most if there are more. */
static PetscInt BMRMPathParse(const char text[], PetscInt most, PetscReal lambda[])
{
  for (PetscInt n = 0;; text++) {
    double v;

    text = GpAppScanReal(text, &v);
    if (!text || (*text && *text != ',') || !(v > 0) || PetscIsInfReal((PetscReal)v)) return -1;
    if (n == most) return most + 1;
    lambda[n++] = (PetscReal)v;
    if (!*text) return n;
  }
}

/* Reads -bmrm_path into a list in descending order, and -bmrm_path_together. *n is the capacity on entry, and the number of lambdas on return. *automatic: the
   list is to be filled by BMRMComputePath(). */
PetscErrorCode BMRMPathGetLambdas(MPI_Comm comm, PetscInt *n, PetscReal lambda[], PetscBool *automatic, PetscBool *together)
{
  char      text[4096] = "";
  PetscInt  count      = 0;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Options of the path over lambda", "BMRM");
  PetscCall(PetscOptionsString("-bmrm_path", "train for these lambdas, separated by commas, with one bundle; auto chooses them", "BMRMComputePath", text, text, sizeof(text), &set));
  *together = PETSC_FALSE;
  PetscCall(PetscOptionsBool("-bmrm_path_together", "train for all lambdas of the path, or of a fold with -cv, in step, so that a pass reads a gpucsr matrix once", "BMRMSolveMany", *together, together, NULL));
  PetscOptionsEnd();
  PetscCall(PetscStrcmp(text, "auto", automatic));
  if (*automatic) count = BMRM_AUTO_PATH;
  else if (set) count = BMRMPathParse(text, *n, lambda);
  PetscCheck(count >= 0, comm, PETSC_ERR_USER_INPUT, "-bmrm_path %s: expected numbers greater than 0, separated by commas, or auto", text);
  PetscCheck(count <= *n, comm, PETSC_ERR_USER_INPUT, "-bmrm_path: there are more than %" PetscInt_FMT " lambdas", *n);
  if (!*automatic) PetscCall(PetscSortReal(count, lambda));
  for (PetscInt k = 0; k < count / 2; k++) {
    const PetscReal low = lambda[k];

    lambda[k]             = lambda[count - 1 - k];
    lambda[count - 1 - k] = low;
  }
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the place of the best mean over the folds; with one_se that of the largest lambda whose mean is within one standard error of the best. The lambdas
   descend. accuracy: larger values are better. */
PetscInt BMRMPathChoose(PetscBool accuracy, PetscBool one_se, PetscInt n, const BMRMPathPoint point[])
{
  const PetscReal sign = accuracy ? -1 : 1;
  PetscInt        best = 0;

  for (PetscInt k = 1; k < n; k++) {
    if (sign * point[k].validation < sign * point[best].validation) best = k;
  }
  for (PetscInt k = 0; one_se && k < best; k++) {
    if (sign * point[k].validation <= sign * point[best].validation + point[best].deviation) return k;
  }
  return best;
}

/* Writes the table of a path as an array of objects; nothing if there is no path. best: the place of the model. */
void BMRMPathWrite(GpAppJSON *J, PetscInt best, PetscInt n, const BMRMPathPoint point[])
{
  if (!n) return;
  GpAppJSONOpen(J, "path", '[', PETSC_TRUE);
  for (PetscInt k = 0; k < n; k++) {
    const BMRMPathPoint *p = &point[k];

    GpAppJSONOpen(J, NULL, '{', PETSC_FALSE);
    GpAppJSONWriteReal(J, "lambda", (double)p->lambda);
    GpAppJSONWriteReal(J, "objective", (double)p->objective);
    GpAppJSONWriteReal(J, "lower_bound", (double)p->lower_bound);
    GpAppJSONWriteInt(J, "iterations", p->iterations);
    GpAppJSONWriteInt(J, "nonzero_weights", p->nonzeros);
    GpAppJSONWriteReal(J, "train", (double)p->train);
    GpAppJSONWriteReal(J, "validation", (double)p->validation);
    GpAppJSONWriteReal(J, "standard_error", (double)p->deviation);
    GpAppJSONWriteString(J, "reason", BMRMConvergedReasons[p->reason]);
    GpAppJSONWriteBool(J, "chosen", (PetscBool)(k == best));
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
}

/* Prints the table of a path; the row best is marked, none for -1. */
PetscErrorCode BMRMPathPrint(MPI_Comm comm, PetscBool classify, PetscInt best, PetscInt n, const BMRMPathPoint point[])
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "    lambda       objective     gap         passes  nonzero  %s train / validation (standard error)\n", classify ? "accuracy" : "error"));
  for (PetscInt k = 0; k < n; k++) {
    const BMRMPathPoint *p = &point[k];

    PetscCall(PetscPrintf(comm, "  %c %-11.4e  %.10f  %.4e  %6" PetscInt_FMT "  %7" PetscInt_FMT "  %.6f", k == best ? '*' : ' ', (double)p->lambda, (double)p->objective, (double)(p->objective - p->lower_bound), p->iterations, p->nonzeros,
                          (double)p->train));
    if (PetscIsInfOrNanReal(p->validation)) PetscCall(PetscPrintf(comm, " / -"));
    else PetscCall(PetscPrintf(comm, " / %.6f (%.6f)", (double)p->validation, (double)p->deviation));
    PetscCall(PetscPrintf(comm, "%s\n", p->reason > 0 ? "" : "  NOT CONVERGED"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
