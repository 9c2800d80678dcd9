/* Dense references of factorised sparse approximate inverses. */
#ifndef FSAIREFERENCE_H
#define FSAIREFERENCE_H

#include "grid.h"
#include "pc/impls/gpufsai/gpufsai.h"

/* Row `row` of G for the columns J, the last of which is `row`: y / sqrt(y_last), where A(J,J) y = e. */
static PetscErrorCode ReferenceRow(const Grid *g, PetscInt m, const PetscInt J[], PetscReal y[])
{
  PetscReal *M, scale;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(m * m, &M));
  for (PetscInt a = 0; a < m; a++) {
    y[a] = a == m - 1;
    for (PetscInt b = 0; b < m; b++) M[a * m + b] = GridValue(g, J[a], J[b]);
  }
  PetscCall(DenseSolve(m, M, y));
  scale = 1 / PetscSqrtReal(y[m - 1]);
  for (PetscInt a = 0; a < m; a++) y[a] *= scale;
  PetscCall(PetscFree(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops entries and scales the rest such that g'Ag = 1. */
static PetscErrorCode ReferenceFilter(const Grid *g, PetscReal filter, PetscInt *m, PetscInt J[], PetscReal y[])
{
  const PetscInt  last  = *m - 1;
  const PetscReal bound = filter * y[last] * PetscSqrtReal(GridValue(g, J[last], J[last]));
  PetscInt        kept  = 0;
  PetscReal       sum   = 0;

  PetscFunctionBeginUser;
  for (PetscInt a = 0; a <= last; a++) {
    if (a < last && filter > 0 && PetscAbsReal(y[a]) * PetscSqrtReal(GridValue(g, J[a], J[a])) <= bound) continue;
    J[kept]   = J[a];
    y[kept++] = y[a];
  }
  *m = kept;
  for (PetscInt a = 0; a < kept; a++) {
    for (PetscInt b = 0; b < kept; b++) sum += y[a] * y[b] * GridValue(g, J[a], J[b]);
  }
  for (PetscInt a = 0; a < kept; a++) y[a] /= PetscSqrtReal(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An adaptive row: columns with the largest gradient of Kaporin's functional, computed without any use of sparsity. */
static PetscErrorCode ReferenceAdaptive(const Grid *g, PetscInt steps, PetscInt step_size, PetscInt first, PetscInt row, PetscInt *m, PetscInt J[], PetscReal y[])
{
  PetscFunctionBeginUser;
  *m   = 1;
  J[0] = row;
  PetscCall(ReferenceRow(g, 1, J, y));
  for (PetscInt step = 0; step < steps; step++) {
    PetscReal *gradient;

    PetscCall(PetscCalloc1(g->size, &gradient));
    for (PetscInt j = first; j < row; j++) {
      for (PetscInt a = 0; a < *m; a++) gradient[j] += GridValue(g, j, J[a]) * y[a] / PetscSqrtReal(GridValue(g, j, j));
      gradient[j] = PetscAbsReal(gradient[j]);
    }
    for (PetscInt a = 0; a < *m; a++) gradient[J[a]] = 0;
    for (PetscInt k = 0; k < step_size; k++) {
      PetscInt best = -1;

      for (PetscInt j = first; j < row; j++) {
        if (gradient[j] > 1e-14 && (best < 0 || gradient[j] > gradient[best])) best = j;
      }
      if (best < 0) break;
      gradient[best] = 0;
      J[(*m)++]      = best;
    }
    PetscCall(PetscFree(gradient));
    PetscCall(PetscSortInt(*m, J));
    PetscCall(ReferenceRow(g, *m, J, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
