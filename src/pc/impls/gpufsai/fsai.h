/* Rows of a factorised sparse approximate inverse.

   A is symmetric positive definite.  G is lower triangular, and G'G approximates the inverse of A.  Row i of G has the pattern J, whose last column is i.  It is the
   solution g of L'g = e, where A(J,J) = LL' and e is the last unit vector.  Hence the diagonal of GAG' is 1. */
#ifndef FSAI_H
#define FSAI_H

#include "pc/inverse/inverserows.h"

typedef struct {
  PetscBool adaptive;  /* PETSC_FALSE: the static pattern of the lower triangle of a power of A */
  PetscInt  power;     /* static: the power */
  PetscInt  steps;     /* adaptive: maximum number of times that a row grows */
  PetscInt  step_size; /* adaptive: maximum number of entries by which a row grows each time */
  PetscReal tolerance; /* adaptive: a row stops growing when a step reduces its functional by less than this fraction */
  PetscReal threshold; /* static: entries of A that are at most this fraction of sqrt(a(i,i) a(j,j)) are not used for the pattern; 0: all entries are used */
  PetscReal filter;    /* entries of G that are at most this fraction of the diagonal entry of their row, both scaled by the diagonal of A, are dropped; 0: none */
} GpFsaiOptions;

/* fsairow.c: the row function.  Adds log(g(i,i)^2 a(i,i)) to GpInvScratch.measure. */
PETSC_INTERN GpInvCode GpFsaiRow(GpInvScratch *, const void *options, PetscBool keep, PetscInt row, PetscInt *m);

/* fsaipattern.c: writes the columns of a row to list, and their values to g */
PETSC_INTERN GpInvCode GpFsaiAdaptiveRow(GpInvScratch *, const GpFsaiOptions *, PetscInt row, PetscInt *m);

/* Tells whether a pivot is positive and above its rounding error, which is m times the machine epsilon times the diagonal entry.  The result is false if the pivot is NaN or the diagonal is infinite. */
static inline PetscBool GpFsaiIsPivot(PetscReal pivot, PetscInt m, PetscReal diagonal)
{
  return (PetscBool)(pivot > m * PETSC_MACHINE_EPSILON * diagonal && diagonal > 0);
}

#endif
