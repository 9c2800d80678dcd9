/* Rows of a matrix of points on the host. */
#ifndef KMEANSROWS_H
#define KMEANSROWS_H

#include "solvers/kmeans/kmeansimpl.h"

/* Rows on the host. Sparse rows have ascending columns. */
typedef struct {
  PetscInt  n, d;
  PetscBool dense;
  int32_t  *row, *col;
  double   *value;
  size_t    nvalues;
} KMeansRows;

PETSC_INTERN PetscErrorCode KMeansRowsCreate_Private(KMeans, Mat, const PetscInt order[], KMeansRows *);
PETSC_INTERN PetscErrorCode KMeansRowsRound_Private(KMeans, KMeansRows *, int *single);
PETSC_INTERN PetscErrorCode KMeansRowsDestroy_Private(KMeansRows *);

#endif
