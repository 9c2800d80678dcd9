/* One pass over the dissimilarities: what SMACOF needs of them at a configuration X.  No PETSc here; a twin for each runtime. */
#ifndef GPUCSR_SMACOF_PASS_H
#define GPUCSR_SMACOF_PASS_H

#include "look.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define PASS_MAX_DIM    8
#define PASS_MAX_RANGES 4

enum {
  PASS_EUCLIDEAN,
  PASS_COSINE, /* of features of length 1 */
  PASS_MANHATTAN
};

enum {
  PASS_ROWS,    /* adds to the sums of its rows */
  PASS_BOTH,    /* to those of its rows and of its columns, which are other points: a pair is met once */
  PASS_TRIANGLE /* likewise; the columns are the rows' own points, and those before the row's own count */
};

/* columns c0 to c1 - 1 of the rows r0 to r1 - 1 */
typedef struct {
  int r0, r1, c0, c1, kind;
} PassRange;

/* A sum of configurations */
#define PASS_MAX_TERMS (2 + 2 * LOOK_MOST) /* an extrapolation's */
typedef struct {
  int           n;
  double        factor[PASS_MAX_TERMS];
  const double *term[PASS_MAX_TERMS]; /* [dim][N] each; none of them is what the sum becomes */
  double       *to;
} PassForm;

/* For pairs of its rows i and columns j a pass adds up, with d = |x_i - x_j|,
     bx_i     = sum w (delta / d) (x_i - x_j)      row i of B(X) X; a pair of points that coincide adds nothing
     stress_i = sum w (delta - d)^2
   in double, in an order that depends on the shape, and on a GPU on its multiprocessors and their shared memory, alone.  Rows are the points from first on; or other points than the columns, and first is 0. */
typedef struct {
  int            N, rows, dim;
  int            first;          /* the point that row 0 is */
  int            single;         /* delta and weight are stored in float, else in double */
  const double  *x, *xrow;       /* coordinates: [dim][N], and those of the rows: component c of row i at xrow[c * ldrow + i] */
  PassForm       form;           /* what x becomes first, if there are terms */
  size_t         ldrow;          /* likewise for the features of the rows */
  const void    *delta;          /* [rows][ld], or one for each listed pair; NULL: distances between features, which are computed again in every pass */
  size_t         ld;             /* at least N; for the device a multiple of 4 */
  const double  *feature, *frow; /* [nfeature][N] */
  int            nfeature, metric;
  const int64_t *start; /* listed pairs, in compressed rows (a pair stands in both its rows); NULL: all pairs of the ranges */
  const int     *column;
  const void    *weight; /* of each listed pair; NULL: all 1 */
  int            nranges;
  PassRange      range[PASS_MAX_RANGES];
  double        *bx, *stress; /* [dim][ldsum], [ldsum], all of it written: row i at first + i, column j at j, 0 where the pass adds nothing */
  size_t         ldsum;
} Pass;

/* n passes over the same dissimilarities, which differ in coordinates and sums alone: what is stored is read, and what is not is computed, once for all */
void Pass_Host(const Pass *, int n);

/* the coordinates, if they are a sum: a pass does this itself */
void PassForm_Host(const Pass *);

/* distances from row i to the columns c0 to c1 - 1, from features */
void PassDistances_Host(const Pass *, int i, int c0, int c1, double distance[]);

/* y = sum of delta^2 v over the columns, of n vectors at once, [n][N] to [n][rows]; all pairs are there */
#define PASS_MAX_VECTORS (PASS_MAX_DIM + 2)
void PassSquares_Host(const Pass *, int n, const double *v, double *y);

/* the pitch of stored distances to N points: rows begin where the memory's lines do */
static inline size_t PassStorePitch(int N)
{
  return ((size_t)N + 31) / 32 * 32;
}

/* distances between features, from all rows to all columns, as a pass will read them: single, in the pitch ld */
void PassStore_Host(const Pass *, void *delta);

/* how the device twin works, and memory for it there */
typedef struct {
  int   mixed;  /* dissimilarities stored in float or computed are worked on in float, as far as that does no harm; else all arithmetic is double */
  void *memory; /* PassMemory_CUDA() bytes */
} PassWork;

/* all pointers are the device's; rows are points */
size_t PassMemory_CUDA(GpDev, const Pass *);
GpErr  Pass_CUDA(GpDev, const Pass *, const PassWork *);
GpErr  PassListed_CUDA(GpDev, const Pass *);
GpErr  PassCheck_CUDA(GpDev, int code, const char *what); /* a cudaError_t as an error of the device */
GpErr  PassSquares_CUDA(GpDev, const Pass *, int n, const double *v, double *y);
GpErr  PassStore_CUDA(GpDev, const Pass *, void *delta);

#if defined(__cplusplus)
}
#endif
#endif
