/* Static patterns of the rows of approximate inverses, and memory of row functions (inverserows.h). */
#include "pc/inverse/inverserows.h"

#include <math.h>
#include <stdlib.h>

GpInvCode GpInvReserve(GpInvScratch *s, size_t length, size_t area)
{
  if (length > s->length) {
    free(s->g);
    s->g      = (double *)malloc(2 * length * sizeof(*s->g));
    s->length = s->g ? 2 * length : 0;
  }
  if (area > s->area) {
    free(s->L);
    s->L    = (double *)malloc(2 * area * sizeof(*s->L));
    s->area = s->L ? 2 * area : 0;
  }
  return length <= s->length && area <= s->area ? GP_INV_SUCCESS : GP_INV_MEMORY;
}

GpInvCode GpInvReserveSums(GpInvScratch *s)
{
  const size_t n = (size_t)s->A->n + 1;

  if (!s->sum) s->sum = (double *)malloc(n * sizeof(*s->sum));
  if (!s->touched) s->touched = (PetscInt *)malloc(n * sizeof(*s->touched));
  return s->sum && s->touched ? GP_INV_SUCCESS : GP_INV_MEMORY;
}

static int GpInvCompareColumns(const void *a, const void *b)
{
  const PetscInt x = *(const PetscInt *)a, y = *(const PetscInt *)b;

  return (x > y) - (x < y);
}

/* Appends to list the columns of a row of A that are not in it.  Returns the new length. */
static PetscInt GpInvAppendRow(GpInvScratch *s, PetscReal threshold, PetscInt row, PetscInt m)
{
  const GpInvMatrix *A = s->A;

  for (PetscInt k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
    const PetscInt c = A->col[k];

    if (s->position[c] >= 0 || (threshold > 0 && fabs(A->val[k]) <= threshold * A->root[row] * A->root[c])) continue;
    s->position[c] = m;
    s->list[m++]   = c;
  }
  return m;
}

/* The pattern of a row of a power of A: the columns that can be reached from the row by at most that many entries.  lower: keeps only columns up to the diagonal, although paths may
   visit columns above it. */
PetscInt GpInvStaticPattern(GpInvScratch *s, PetscInt power, PetscReal threshold, PetscBool lower, PetscInt row)
{
  PetscInt begin = 0, end = 1, kept = 0;

  s->list[0]       = row;
  s->position[row] = 0;
  for (PetscInt step = 0; step < power && begin < end; step++) {
    PetscInt n = end;

    for (PetscInt a = begin; a < end; a++) n = GpInvAppendRow(s, threshold, s->list[a], n);
    begin = end;
    end   = n;
  }
  for (PetscInt a = 0; a < end; a++) {
    const PetscInt c = s->list[a];

    s->position[c] = -1;
    if (c <= row || !lower) s->list[kept++] = c;
  }
  qsort(s->list, (size_t)kept, sizeof(*s->list), GpInvCompareColumns);
  return kept;
}
