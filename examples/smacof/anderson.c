/* Anderson's combination of iterates of a fixed point map: the one whose residual would be least if the map were linear.

   A combination goes twice as far along its residual as Anderson's: the eigenvalues of the Guttman transform lie between 0 and 1, those of
   a relaxed step, y = x + 2 f with the residual f = g - x, about 0.  So it is the relaxed steps that are combined.

   D. Anderson, "Iterative procedures for nonlinear integral equations", J. ACM 12 (1965). */
#include "smacof.h"

PetscErrorCode HistoryCreate(Vec like, PetscInt most, History *H)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(H, sizeof(*H)));
  H->most = most;
  PetscCall(HistoryForget(H));
  PetscCall(VecDuplicateVecs(like, most, &H->dy));
  PetscCall(VecDuplicateVecs(like, most, &H->df));
  PetscCall(VecDuplicate(like, &H->y));
  PetscCall(VecDuplicate(like, &H->f));
  PetscCall(PetscCalloc1(most * most, &H->gram));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an iterate and its image; the oldest difference gives way */
PetscErrorCode HistoryAdd(History *H, Vec x, Vec g)
{
  PetscScalar *row;

  PetscFunctionBegin;
  if (H->any) {
    H->newest = (H->newest + 1) % H->most;
    H->have   = PetscMin(H->have + 1, H->most);
    PetscCall(VecCopy(H->y, H->dy[H->newest]));
    PetscCall(VecCopy(H->f, H->df[H->newest]));
  }
  PetscCall(VecAXPBYPCZ(H->y, -1, 2, 0, x, g));
  PetscCall(VecWAXPY(H->f, -1, x, g));
  if (H->any) {
    PetscCall(VecAYPX(H->dy[H->newest], -1, H->y));
    PetscCall(VecAYPX(H->df[H->newest], -1, H->f));
    row = H->gram + H->newest * H->most;
    PetscCall(VecMDot(H->df[H->newest], H->have, H->df, row));
    for (PetscInt k = 0; k < H->have; k++) H->gram[k * H->most + H->newest] = row[k];
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

/* next = y - dY c, where c minimises |f - dF c|; by normal equations, from which what is nearly dependent is left out */
PetscErrorCode HistoryExtrapolate(const History *H, Vec next)
{
  const PetscInt m = H->have;
  PetscScalar   *matrix, *c;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m * m, &matrix, m, &c));
  for (PetscInt a = 0; a < m; a++) PetscCall(PetscArraycpy(matrix + a * m, H->gram + a * H->most, m));
  PetscCall(VecMDot(H->f, m, H->df, c));
  PetscCall(SolveSmall(m, matrix, c));
  for (PetscInt a = 0; a < m; a++) c[a] = -c[a];
  PetscCall(VecCopy(H->y, next));
  PetscCall(VecMAXPY(next, m, c, H->dy));
  PetscCall(PetscFree2(matrix, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HistoryDestroy(History *H)
{
  PetscFunctionBegin;
  if (H->dy) PetscCall(VecDestroyVecs(H->most, &H->dy));
  if (H->df) PetscCall(VecDestroyVecs(H->most, &H->df));
  PetscCall(VecDestroy(&H->y));
  PetscCall(VecDestroy(&H->f));
  PetscCall(PetscFree(H->gram));
  PetscFunctionReturn(PETSC_SUCCESS);
}
