/* Colouring of the rows of a square pattern, for SOR by colours and for the ordering multicolor. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* The pattern of the transpose. */
static PetscErrorCode MatGPUCSRColorTranspose(PetscInt n, const PetscInt rowptr[], const PetscInt col[], PetscInt **begin, PetscInt **row)
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 2, begin));
  PetscCall(PetscMalloc1(n ? rowptr[n] : 0, row));
  next = *begin + 1; /* next[j] is the next free place of column j, and in the end the first one of column j + 1 */
  for (PetscInt k = 0; n && k < rowptr[n]; k++) next[col[k] + 1]++;
  for (PetscInt j = 0; j < n; j++) next[j + 1] += next[j];
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++) (*row)[next[col[k]]++] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives each row, in their order, the smallest colour that no coupled row has.  Two rows are coupled if there is a nonzero in the row of one and the column of the other. */
static PetscErrorCode MatGPUCSRColorGreedy(PetscInt n, const PetscInt rowptr[], const PetscInt col[], PetscBool symmetric, PetscInt color[], PetscInt *colors)
{
  PetscInt *begin = NULL, *row = NULL, *taken; /* taken[c]: last row that found colour c at a coupled row */

  PetscFunctionBegin;
  if (!symmetric) PetscCall(MatGPUCSRColorTranspose(n, rowptr, col, &begin, &row));
  PetscCall(PetscMalloc1(n + 1, &taken));
  for (PetscInt i = 0; i <= n; i++) taken[i] = -1;
  *colors = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt c = 0;

    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++) {
      if (col[k] < i) taken[color[col[k]]] = i;
    }
    for (PetscInt k = symmetric ? 0 : begin[i]; !symmetric && k < begin[i + 1] && row[k] < i; k++) taken[color[row[k]]] = i;
    while (taken[c] == i) c++;
    color[i] = c;
    *colors  = PetscMax(*colors, c + 1);
  }
  PetscCall(PetscFree(taken));
  PetscCall(PetscFree(begin));
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRColorRows_Private(PetscInt n, const PetscInt rowptr[], const PetscInt col[], PetscBool symmetric, PetscInt *colors, PetscInt **start, PetscInt order[])
{
  PetscInt *color, *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &color));
  PetscCall(MatGPUCSRColorGreedy(n, rowptr, col, symmetric, color, colors));
  PetscCall(PetscCalloc1(*colors + 2, start));
  next = *start + 1; /* next[c] is the next free place of colour c, and in the end the first one of colour c + 1 */
  for (PetscInt i = 0; i < n; i++) next[color[i] + 1]++;
  for (PetscInt c = 0; c < *colors; c++) next[c + 1] += next[c];
  for (PetscInt i = 0; i < n; i++) order[next[color[i]]++] = i;
  PetscCall(PetscFree(color));
  PetscFunctionReturn(PETSC_SUCCESS);
}
