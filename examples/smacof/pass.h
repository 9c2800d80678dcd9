/* One pass over the dissimilarities: what SMACOF needs of them at a configuration X.  No PETSc here: a runtime's twin is one function
   of this form. */
#ifndef GPUCSR_SMACOF_PASS_H
#define GPUCSR_SMACOF_PASS_H

#include <stddef.h>
#include <stdint.h>

#define PASS_MAX_DIM 8

enum {
  PASS_EUCLIDEAN,
  PASS_COSINE, /* of features of length 1 */
  PASS_MANHATTAN
};

/* For each of its rows i a pass adds up, over the other points j, with d = |x_i - x_j|,
     bx_i     = sum w (delta / d) (x_i - x_j)      row i of B(X) X; a pair of points that coincide adds nothing
     stress_i = sum w (delta - d)^2
   in double, in an order that depends on the shape alone.  Rows and columns are the same points, the rows being a range of them
   (square), or different ones. */
typedef struct {
  int            N, rows, dim;
  int            square, first;  /* rows are the points from first on; else other points than the columns */
  int            single;         /* delta and weight are stored in float, else in double */
  const double  *x, *xrow;       /* coordinates: [dim][N], and those of the rows: component c of row i at xrow[c * ldrow + i] */
  size_t         ldrow;          /* likewise for the features of the rows */
  const void    *delta;          /* [rows][N], or one for each listed pair; NULL: distances between features, which are computed again in every pass */
  const double  *feature, *frow; /* [nfeature][N] */
  int            nfeature, metric;
  const int64_t *start; /* listed pairs, in compressed rows (a pair stands in both its rows); NULL: all pairs */
  const int     *column;
  const void    *weight;      /* of each listed pair; NULL: all 1 */
  double        *bx, *stress; /* [dim][rows], [rows] */
} Pass;

/* n passes over the same dissimilarities, which differ in coordinates and sums alone: what is stored is read, and what is not is computed, once for all */
void Pass_Host(const Pass *, int n);

/* distances from row i to the columns c0 to c1 - 1, from features */
void PassDistances_Host(const Pass *, int i, int c0, int c1, double distance[]);

#endif
