/* Anderson's combination of iterates of a fixed point map: the one whose residual would be least if the map were linear.

   D. Anderson, "Iterative procedures for nonlinear integral equations", J. ACM 12 (1965). */
#include "smacof.h"

PetscErrorCode HistoryCreate(size_t n, PetscInt most, History *H)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(H, sizeof(*H)));
  H->n      = n;
  H->most   = most;
  H->newest = -1;
  PetscCall(PetscMalloc4(n * most, &H->dx, n * most, &H->df, n, &H->x, n, &H->f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an iterate and its image; the oldest difference gives way */
PetscErrorCode HistoryAdd(History *H, const double x[], const double g[])
{
  PetscFunctionBegin;
  if (H->any) {
    H->newest = (H->newest + 1) % H->most;
    H->have   = PetscMin(H->have + 1, H->most);
  }
  for (size_t k = 0; k < H->n; k++) {
    if (H->any) {
      H->dx[H->newest * H->n + k] = x[k] - H->x[k];
      H->df[H->newest * H->n + k] = g[k] - x[k] - H->f[k];
    }
    H->x[k] = x[k];
    H->f[k] = g[k] - x[k];
  }
  H->any = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* forgets all but the last iterate */
PetscErrorCode HistoryForget(History *H)
{
  PetscFunctionBegin;
  H->have   = 0;
  H->newest = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* next = g - (dX + dF) c, where c minimises |f - dF c|; by normal equations, from which what is nearly dependent is left out */
PetscErrorCode HistoryExtrapolate(const History *H, const double g[], double next[])
{
  const PetscInt m = H->have;
  PetscScalar   *matrix, *c;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m * m, &matrix, m, &c));
  for (PetscInt a = 0; a < m; a++) {
    for (PetscInt b = 0; b <= a; b++) {
      double sum = 0;

      for (size_t k = 0; k < H->n; k++) sum += H->df[a * H->n + k] * H->df[b * H->n + k];
      matrix[a * m + b] = matrix[b * m + a] = sum;
    }
    c[a] = 0;
    for (size_t k = 0; k < H->n; k++) c[a] += H->df[a * H->n + k] * H->f[k];
  }
  PetscCall(SolveSmall(m, matrix, c));
  PetscCall(PetscArraycpy(next, g, H->n));
  for (PetscInt a = 0; a < m; a++)
    for (size_t k = 0; k < H->n; k++) next[k] -= c[a] * (H->dx[a * H->n + k] + H->df[a * H->n + k]);
  PetscCall(PetscFree2(matrix, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HistoryDestroy(History *H)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(H->dx, H->df, H->x, H->f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
