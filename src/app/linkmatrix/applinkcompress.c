/* Sorts links by row and column, and converts them to compressed rows. */
#include "app/linkmatrix/applinkmatrix.h"

enum {
  DIGIT  = 11, /* bits of a digit of the radix sort: 2^11 output positions still fit the caches, and more bits mean fewer passes */
  DIGITS = 1 << DIGIT
};

/* Number of bits that the numbers 0 to n - 1 need. */
static int LinksCountBits(PetscInt64 n)
{
  int bits = 0;

  while (bits < 63 && n > (PetscInt64)1 << bits) bits++;
  return bits;
}

/* Stable radix sort of n keys, of which the lowest `bits` bits are used, together with the weights if weight[0] is not NULL. The least significant
   digit comes first. key[0] and weight[0] hold the input, key[1] and weight[1] are work arrays. The result is in key[which] and weight[which]. */
static PetscErrorCode LinksSortKeys(PetscInt64 n, int bits, uint64_t *key[2], PetscReal *weight[2], int *which)
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

/* Converts links whose rows belong to this process, m rows from `first` on, to compressed rows with ascending columns, and frees the links. Equal links
   count once if they have no weights. Otherwise their weights are added. The caller frees i with PetscFree(), j and a with PetscFree2().

   The row and the column of a link are packed into one 64-bit key, so that the two arrays of L suffice as input and work array of the sort. */
PetscErrorCode GpAppLinksCompress(GpAppLinks *L, PetscInt N, PetscInt first, PetscInt m, PetscInt **i_, PetscInt **j_, PetscScalar **a_)
{
  const int      low = LinksCountBits(N), bits = low + LinksCountBits(m);
  const uint64_t colmask = ((uint64_t)1 << low) - 1;
  uint64_t      *key[2] = {(uint64_t *)L->from, (uint64_t *)L->to}, last = 0;
  PetscReal     *weight[2] = {L->weight, NULL};
  PetscInt      *i, *j, nz = 0;
  PetscScalar   *a;
  int            in = 0;

  PetscFunctionBegin;
  PetscCheck(L->n <= PETSC_MAX_INT && bits <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The links of one process do not fit PetscInt: use more processes or a PETSc with 64-bit indices");
  for (PetscInt64 k = 0; k < L->n; k++) key[0][k] = (uint64_t)(L->to[k] - first) << low | (uint64_t)L->from[k];
  if (L->weight) PetscCall(PetscMalloc1(L->n + 1, &weight[1]));
  PetscCall(LinksSortKeys(L->n, bits, key, weight, &in));
  PetscCall(PetscCalloc1(m + 1, &i));
  PetscCall(PetscMalloc2(L->n + 1, &j, L->n + 1, &a));
  for (PetscInt64 k = 0; k < L->n; k++) {
    const uint64_t    link = key[in][k];
    const PetscInt    col  = (PetscInt)(link & colmask);
    const PetscScalar w    = L->weight ? weight[in][k] : 1.0;

    if (!nz || link != last) {
      i[(link >> low) + 1]++;
      j[nz]   = col;
      a[nz++] = w;
    } else if (L->weight) a[nz - 1] += w;
    else continue;
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
