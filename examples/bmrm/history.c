/* The history of a training: objective and lower bound of every pass, and their picture. */
#include "model.h"

/* The monitor of a history. If there are several solves, their passes are numbered consecutively. */
static PetscErrorCode BMRMHistoryRecordPass(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  BMRMHistory *h = (BMRMHistory *)ctx;

  PetscFunctionBegin;
  if (h->n == h->room) {
    h->room = 2 * h->room + 64;
    PetscCall(PetscRealloc((size_t)h->room * sizeof(double), &h->pass));
    for (int k = 0; k < 3; k++) PetscCall(PetscRealloc((size_t)h->room * sizeof(double), &h->value[k]));
  }
  h->pass[h->n]       = (double)h->n;
  h->value[0][h->n]   = (double)J;
  h->value[1][h->n]   = (double)lower;
  h->value[2][h->n++] = (double)(J - lower);
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
  const GpAppCurve curves[] = {{"objective", h->n, h->pass, h->value[0]}, {"lower bound", h->n, h->pass, h->value[1]}, {"gap", h->n, h->pass, h->value[2]}};

  PetscFunctionBegin;
  PetscCall(GpAppPlotWrite(comm, file, "pass", PETSC_FALSE, "BMRM", 3, curves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMHistoryDestroy(BMRMHistory *h)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(h->pass));
  for (int k = 0; k < 3; k++) PetscCall(PetscFree(h->value[k]));
  h->n = h->room = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
