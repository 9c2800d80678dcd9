/* Links that are sorted by row and column become compressed rows. */
#include "pagerank.h"

enum {
  DIGIT  = 11, /* bits: as many places to write to as the caches bear, for few passes */
  DIGITS = 1 << DIGIT
};

/* how many bits the numbers below n have; none when there are no such numbers */
static int Bits(PetscInt64 n)
{
  int bits = 0;

  while (bits < 63 && n > (PetscInt64)1 << bits) bits++;
  return bits;
}

/* Sorts keys of so many bits, and the weights with them if there are any, digit by digit from the last one on: equal keys stay in their
   order.  The second room of each kind is for the work; which[0] tells in which room the result is. */
static PetscErrorCode SortKeys(PetscInt64 n, int bits, uint64_t *key[2], PetscReal *weight[2], int *which)
{
  const int   passes = (bits + DIGIT - 1) / DIGIT;
  PetscInt64 *count;
  int         from = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(passes * DIGITS, &count));
  for (PetscInt64 k = 0; k < n; k++) {
    uint64_t rest = key[0][k];

    for (int p = 0; p < passes; p++, rest >>= DIGIT) count[p * DIGITS + (int)(rest % DIGITS)]++;
  }
  for (int p = 0; p < passes; p++, from = 1 - from) {
    const uint64_t *in = key[from];
    PetscInt64     *at = count + p * DIGITS, next = 0;

    for (int d = 0; d < DIGITS; d++) {
      const PetscInt64 many = at[d];

      at[d] = next;
      next += many;
    }
    for (PetscInt64 k = 0; k < n; k++) {
      const PetscInt64 to = at[(in[k] >> (p * DIGIT)) % DIGITS]++;

      key[1 - from][to] = in[k];
      if (weight[0]) weight[1 - from][to] = weight[from][k];
    }
  }
  PetscCall(PetscFree(count));
  *which = from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GraphCompress - Makes compressed rows of links, equal links made one

  Not Collective

  Input Parameters:
+ L     - links to the rows of this rank, which this frees
. N     - the number of columns
. first - the first row of this rank
- m     - how many rows it has

  Output Parameters:
+ i, j, a - the rows, columns ascending; j and a to be freed with PetscFree2()
. sums    - [N] on entry 0, the sums of the columns
- loops   - [m] on entry 0, the weights of links from a node to itself

  Note:
  A link is one number, row before column, so that the two rooms for the ends of links are all that sorting them needs.
*/
PetscErrorCode GraphCompress(Links *L, PetscInt N, PetscInt first, PetscInt m, PetscInt **i_, PetscInt **j_, PetscScalar **a_, PetscScalar sums[], PetscScalar loops[])
{
  const int      low = Bits(N), bits = low + Bits(m), ahead = 16; /* links, which hide the wait for memory */
  const uint64_t colmask = ((uint64_t)1 << low) - 1;
  uint64_t      *key[2] = {(uint64_t *)L->from, (uint64_t *)L->to}, last = 0;
  PetscReal     *weight[2] = {L->weight, NULL};
  PetscInt      *i, *j, nz = 0;
  PetscScalar   *a;
  int            in = 0;

  PetscFunctionBegin;
  PetscCheck(L->n <= PETSC_MAX_INT && bits <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More links on a rank than PetscInt counts: use more ranks or a PETSc with 64-bit indices");
  for (PetscInt64 k = 0; k < L->n; k++) key[0][k] = (uint64_t)(L->to[k] - first) << low | (uint64_t)L->from[k];
  if (L->weight) PetscCall(PetscMalloc1(L->n + 1, &weight[1]));
  PetscCall(SortKeys(L->n, bits, key, weight, &in));
  PetscCall(PetscCalloc1(m + 1, &i));
  PetscCall(PetscMalloc2(L->n + 1, &j, L->n + 1, &a));
  for (PetscInt64 k = 0; k < L->n; k++) {
    const uint64_t    link = key[in][k];
    const PetscInt    col  = (PetscInt)(link & colmask);
    const PetscScalar w    = L->weight ? weight[in][k] : 1.0;

    if (k + ahead < L->n) __builtin_prefetch(&sums[key[in][k + ahead] & colmask], 1);
    if (!nz || link != last) {
      i[(link >> low) + 1]++;
      j[nz]   = col;
      a[nz++] = w;
    } else if (L->weight) a[nz - 1] += w;
    else continue;
    sums[col] += w;
    if (col == first + (PetscInt)(link >> low)) loops[col - first] += w;
    last = link;
  }
  for (PetscInt r = 0; r < m; r++) i[r + 1] += i[r];
  PetscCall(PetscFree(weight[1]));
  PetscCall(GpAppLinksDestroy(L));
  *i_ = i;
  *j_ = j;
  *a_ = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}
