/* Several classes, logistic: log sum_c exp(z_c) - z_y, the negative logarithm of the probability that the model gives to the class. */
#include "solvers/bmrm/bmrmclasses.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_softmax(BMRMLoss);

/* The probabilities are the slopes; their entropy is what the conjugate leaves. */
static void Cut(const BMRMExample *x, PetscReal u[], PetscReal *offset)
{
  PetscReal most = x->z[0], sum = 0;

  *offset = 0;
  for (PetscInt c = 1; c < x->k; c++) most = PetscMax(most, x->z[c]);
  for (PetscInt c = 0; c < x->k; c++) sum += u[c] = PetscExpReal(x->z[c] - most);
  for (PetscInt c = 0; c < x->k; c++) {
    u[c] /= sum;
    if (u[c] > 0) *offset -= u[c] * PetscLogReal(u[c]);
  }
  u[(PetscInt)x->y[0]]--;
}

static PetscReal Curvature(const BMRMExample *x, const PetscReal u[], const PetscReal e[])
{
  PetscReal mean = 0, square = 0;

  for (PetscInt c = 0; c < x->k; c++) mean += (u[c] + (c == x->y[0])) * e[c];
  for (PetscInt c = 0; c < x->k; c++) square += (u[c] + (c == x->y[0])) * (e[c] - mean) * (e[c] - mean);
  return square;
}

static const BMRMClasses loss = {.task = BMRM_TASK_MULTICLASS, .cut = Cut, .curvature = Curvature};

PetscErrorCode BMRMLossCreate_softmax(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetClasses(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
