/* Rows of a sparse approximate inverse of a matrix that need not be symmetric.

   Row i of M has the pattern J.  Its values y minimise the norm of y'A(J,:) - e', where e is unit vector i.  M thus minimises the Frobenius norm of MA - I. */
#ifndef SPAI_H
#define SPAI_H

#include "pc/inverse/inverserows.h"

typedef struct {
  PetscInt  power;     /* the pattern is that of this power of A */
  PetscReal threshold; /* entries of A that are not larger, relative to the diagonal, are not used for the pattern; 0: all entries are used */
  PetscReal filter;    /* entries of a row of M that are not larger, relative to the largest one, are dropped; 0: none */
} GpSpaiOptions;

/* spairow.c: the row function.  Adds to the measure the squared norm of y'A(J,:) - e'. */
PETSC_INTERN GpInvCode GpSpaiRow(GpInvScratch *, const void *options, PetscBool keep, PetscInt row, PetscInt *m);

#endif
