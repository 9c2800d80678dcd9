/* The history of a training: objective and lower bound of every pass, and their picture. */
#include "model.h"

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

/* Writes objective, lower bound and gap over the passes as an SVG picture. */
PetscErrorCode BMRMHistoryWritePicture(MPI_Comm comm, const BMRMHistory *h, const char file[])
{
  const GpAppCurve curves[] = {{"objective", h->n, h->value[0], h->value[1]}, {"lower bound", h->n, h->value[0], h->value[2]}, {"gap", h->n, h->value[0], h->value[3]}};

  PetscFunctionBegin;
  PetscCall(GpAppPlotWrite(comm, file, "pass", PETSC_FALSE, "BMRM", 3, curves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMHistoryDestroy(BMRMHistory *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(h->value[k]));
  h->n = h->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
