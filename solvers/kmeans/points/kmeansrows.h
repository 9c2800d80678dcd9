/* Rows of a matrix of points on the host. */
#ifndef KMEANSROWS_H
#define KMEANSROWS_H

#include "solvers/kmeans/kmeansimpl.h"

/* Rows on the host. Sparse rows have ascending columns. Dense rows for the Euclidean metric stay in the matrix, and are not copied. */
typedef struct {
  PetscInt           n, d;
  PetscBool          dense;
  int32_t           *row, *col;
  double            *value; /* NULL: the values are in the matrix */
  size_t             nvalues;
  Mat                X;     /* the matrix if the values are there, otherwise NULL. Row i is its local row order[i], or i if `order` is NULL */
  const PetscScalar *array; /* its local columns */
  PetscInt           lda;   /* distance of two columns */
  const PetscInt    *order;
  PetscBool          exact; /* no value changes if it is rounded to single precision */
  double            *range; /* [d][2] for each feature of X, -1 times its least value, and its largest value; rounded if the points will be stored in single precision */
} KMeansRows;

PETSC_INTERN PetscErrorCode KMeansRowsCreate_Private(KMeans, Mat, const PetscInt order[], KMeansRows *);
PETSC_INTERN PetscErrorCode KMeansRowsRound_Private(KMeans, KMeansRows *, int *single);
PETSC_INTERN PetscErrorCode KMeansRowsDestroy_Private(KMeansRows *);

/* kmeansdense.c */
PETSC_INTERN PetscErrorCode KMeansRowsScan_Private(KMeansRows *, PetscBool round, PetscInt *faulty, PetscInt *at); /* sets exact and range */
PETSC_INTERN void           KMeansRowsFill_Private(const KMeansRows *, size_t first, size_t count, int single, void *values);
PETSC_INTERN double         KMeansRowsGet_Private(const KMeansRows *, PetscInt i, PetscInt j); /* a value of X */

/* kmeansscale.c */
PETSC_INTERN PetscErrorCode KMeansPointsScale_Private(KMeans, const KMeansRows *, const double weight[], PetscInt many, const double outside[], KMeansPoints *, KMeansFixed feature[]);

/* kmeansblocks.c */
PETSC_INTERN PetscErrorCode KMeansBlocksChoose_Private(KMeans, const KMeansRows *, PetscBool weights, const KMeansPoints *, PetscBool *streams); /* collective */
PETSC_INTERN PetscErrorCode KMeansBlocksCreate_Private(KMeans, const KMeansRows *, KMeansPoints *);

#endif
