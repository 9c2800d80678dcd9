/* Numbers that depend on nothing but their place, and a search that knows only convexity. */
#ifndef BMRM_NESTED_H
#define BMRM_NESTED_H

#include <petscsys.h>

#define GOLDEN 0.61803398874989484820

/* a number in [-1, 1) */
static inline PetscReal Value(PetscInt seed, PetscInt i, PetscInt k)
{
  PetscInt64 s = 4711 + 15485863 * (PetscInt64)seed + 7919 * (PetscInt64)i + 104729 * (PetscInt64)k;

  for (int r = 0; r < 5; r++) s = (s * 1103515245 + 12345) & 0x7fffffff;
  return (PetscReal)s / (PetscReal)0x40000000 - 1;
}

/* The least value of a function of w[0], ..., w[n-1] in a cube, to a width, by golden sections inside golden sections: no derivative, no model,
   only convexity. */
static inline PetscReal Least(PetscReal w[], PetscInt n, PetscReal range, PetscReal width, PetscReal (*f)(const void *), const void *ctx)
{
  PetscReal lo = -range, hi = range, at[2], J[2];

  if (!n) return (*f)(ctx);
  for (int s = 0; s < 2; s++) {
    at[s] = s ? lo + GOLDEN * (hi - lo) : hi - GOLDEN * (hi - lo);
    w[0]  = at[s];
    J[s]  = Least(w + 1, n - 1, range, width, f, ctx);
  }
  while (hi - lo > width) {
    const int s = J[0] < J[1]; /* the end that goes: s = 1 the upper one */

    if (s) hi = at[1];
    else lo = at[0];
    at[s]     = at[1 - s];
    J[s]      = J[1 - s];
    at[1 - s] = s ? hi - GOLDEN * (hi - lo) : lo + GOLDEN * (hi - lo);
    w[0]      = at[1 - s];
    J[1 - s]  = Least(w + 1, n - 1, range, width, f, ctx);
  }
  return PetscMin(J[0], J[1]);
}

#endif
