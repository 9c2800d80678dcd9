/* The history of a training: objective and lower bound of every pass, and their picture. */
#include "model.h"
#include <string.h>

/* The monitor of a history. If there are several solves, their passes are numbered consecutively. */
static PetscErrorCode BMRMHistoryRecordPass(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  BMRMHistory *h       = (BMRMHistory *)ctx;
  const double value[] = {(double)h->n, (double)J, (double)lower, (double)(J - lower)};

  PetscFunctionBegin;
  if (h->n == h->capacity) {
    h->capacity = 2 * h->capacity + 64;
    for (int k = 0; k < 4; k++) PetscCall(PetscRealloc((size_t)h->capacity * sizeof(double), &h->value[k]));
  }
  for (int k = 0; k < 4; k++) h->value[k][h->n] = value[k];
  h->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts recording objective and lower bound of every pass of the solver. The history must remain valid as long as the solver is used. */
PetscErrorCode BMRMHistoryStart(BMRMHistory *h, BMRM b)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(h, sizeof(*h)));
  PetscCall(BMRMMonitorSet(b, BMRMHistoryRecordPass, h, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a picture of objective, lower bound and gap over the passes, with the result of the training that the report describes. */
PetscErrorCode BMRMHistoryWritePicture(MPI_Comm comm, const BMRMHistory *h, const BMRMReport *r, const char file[])
{
  const GpAppCurve curves[] = {{"objective", h->n, h->value[0], h->value[1]}, {"lower bound", h->n, h->value[0], h->value[2]}, {"gap", h->n, h->value[0], h->value[3]}};
  GpAppPlot        plot     = {NULL, NULL, "pass", "objective, bound, gap", PETSC_FALSE, 3, curves};
  char             title[160], note[224], quality[64] = "";

  PetscFunctionBegin;
  if (!PetscIsInfOrNanReal(r->train.accuracy)) PetscCall(PetscSNPrintf(quality, sizeof(quality), "; training accuracy %.2f %%", 100 * (double)r->train.accuracy));
  else if (!PetscIsInfOrNanReal(r->train.rmse)) PetscCall(PetscSNPrintf(quality, sizeof(quality), "; training error %.4g root mean square", (double)r->train.rmse));
  PetscCall(PetscSNPrintf(title, sizeof(title), "BMRM, %s loss, lambda %.4g", r->loss, (double)r->lambda));
  PetscCall(PetscSNPrintf(note, sizeof(note), "objective %.6g, gap %.2g%s%s%s", (double)r->objective, (double)r->gap, r->reason && strncmp(r->reason, "CONVERGED", 9) ? ", not converged" : "", quality,
                          r->npath ? "; the curves show all trainings of the path" : ""));
  plot.title = title;
  plot.note  = note;
  PetscCall(GpAppPlotWrite(comm, file, &plot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMHistoryDestroy(BMRMHistory *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(h->value[k]));
  h->n = h->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
