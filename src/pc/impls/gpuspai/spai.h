/* Rows of a sparse approximate inverse of a matrix that need not be symmetric.

   Row i of M has the pattern J.  Its values y minimise the norm of y'A(J,:) - e', where e is unit vector i.  M thus minimises the Frobenius norm of MA - I. */
#ifndef SPAI_H
#define SPAI_H

#include "pc/inverse/inverserows.h"

typedef struct {
  PetscInt  power;     /* the pattern is that of this power of A */
  PetscReal threshold; /* entries of A that are at most this fraction of sqrt(|a(i,i) a(j,j)|) are not used for the pattern; 0: all entries are used */
  PetscReal filter;    /* entries of M that are at most this fraction of the largest entry of their row are dropped; 0: none */
} GpSpaiOptions;

/* spairow.c: the row function.  Adds the squared norm of y'A(J,:) - e' to GpInvScratch.measure. */
PETSC_INTERN GpInvCode GpSpaiRow(GpInvScratch *, const void *options, PetscBool keep, PetscInt row, PetscInt *m);

#endif
