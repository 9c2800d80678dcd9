/* The pass over the dissimilarities: computes B(X) X and the stress of each point at a configuration X.  There is a host and a CUDA
   implementation.  This header does not include PETSc. */
#ifndef GPUCSR_SMACOF_PASS_H
#define GPUCSR_SMACOF_PASS_H

#include "sums.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define PASS_MAX_DIM    8
#define PASS_MAX_RANGES 4

enum {
  PASS_EUCLIDEAN,
  PASS_COSINE, /* 1 - cosine; the features of each point must have length 1 */
  PASS_MANHATTAN
};

enum {
  PASS_ROWS,    /* adds to the sums of the rows */
  PASS_BOTH,    /* adds to the sums of the rows and of the columns, which are other points; each pair is read once */
  PASS_TRIANGLE /* adds to the sums of the rows and of the columns, which are the points of the rows; only columns before the diagonal are read */
};

/* part of the matrix: columns c0 to c1 - 1 of the rows r0 to r1 - 1 */
typedef struct {
  int r0, r1, c0, c1, kind;
} PassRange;

/* a linear combination of configurations */
#define PASS_MAX_TERMS (2 + 2 * LOOK_MOST) /* enough for an extrapolation */
typedef struct {
  int           n;
  double        factor[PASS_MAX_TERMS];
  const double *term[PASS_MAX_TERMS]; /* [dim][N] each; none of them may be `to` */
  double       *to;                   /* [dim][N] output */
} PassForm;

/* With d = |x_i - x_j|, a pass adds over pairs of its rows i and columns j
     bx_i     = sum w (delta / d) (x_i - x_j)      row i of B(X) X; pairs of points that coincide contribute nothing
     stress_i = sum w (delta - d)^2
   The order of the additions depends only on the shape, and on a GPU also on its multiprocessors and their shared memory.  Rows are the points
   from `first` on.  For interpolation, rows are other points than the columns, and first is 0. */
typedef struct {
  int            N, rows, dim;
  int            first;          /* point of row 0 */
  int            single;         /* delta and weight are float arrays, else double */
  const double  *x;              /* [dim][N] coordinates of the columns */
  const double  *xrow;           /* coordinates of the rows: component c of row i is xrow[c * ldrow + i] */
  PassForm       form;           /* if form.n > 0, the pass first computes x from it */
  size_t         ldrow;          /* pitch of xrow and of frow */
  const void    *delta;          /* [rows][ld], or one for each listed pair; NULL: distances between features, computed in every pass */
  size_t         ld;             /* at least N; on a device a multiple of 4 */
  const double  *feature, *frow; /* features of the columns, [nfeature][N], and of the rows, with the pitch ldrow */
  int            nfeature, metric;
  const int64_t *start;   /* listed pairs: row offsets in CSR, with an entry in both rows of each pair; NULL: all pairs of the ranges */
  const int     *column;  /* listed pairs: column indices */
  const void    *weight;  /* listed pairs: weights; NULL: all weights are 1 */
  int            nranges; /* ranges that the pass reads, unless pairs are listed */
  PassRange      range[PASS_MAX_RANGES];
  double        *bx, *stress; /* output, [dim][ldsum] and [ldsum]: row i at first + i, column j at j; entries without contributions become 0 */
  size_t         ldsum;
} Pass;

/* Runs n passes over the same dissimilarities, with different coordinates and sums.  Each dissimilarity is read or computed once for all passes. */
void Pass_Host(const Pass *, int n);

/* Computes the coordinates from the linear combination, if there is one.  Pass_Host() does this itself. */
void PassForm_Host(const Pass *);

/* Computes the distances from row i to the columns c0 to c1 - 1 from the features. */
void PassDistances_Host(const Pass *, int i, int c0, int c1, double distance[]);

/* Computes y = sum of delta^2 v over the columns, for n vectors, from [n][N] to [n][rows].  The data must be complete. */
#define PASS_MAX_VECTORS (PASS_MAX_DIM + 2)
void PassSquares_Host(const Pass *, int n, const double *v, double *y);

/* Returns the pitch of stored distances to N points: rows start on a 128-byte boundary. */
static inline size_t PassStorePitch(int N)
{
  return ((size_t)N + 31) / 32 * 32;
}

/* Computes and stores the distances between features from all rows to all columns, with the precision p->single and the pitch p->ld. */
void PassStore_Host(const Pass *, void *delta);

/* arithmetic and workspace of the CUDA implementation */
typedef struct {
  int   mixed;  /* float arithmetic for each pair and double sums (pass_cuda.cu says where); else all arithmetic is double */
  void *memory; /* PassMemory_CUDA() bytes of device memory */
} PassWork;

/* In the CUDA implementation all pointers are device memory, and rows are points. */
size_t PassMemory_CUDA(GpDev, const Pass *);
GpErr  Pass_CUDA(GpDev, const Pass *, const PassWork *);
GpErr  PassListed_CUDA(GpDev, const Pass *);
GpErr  PassCheck_CUDA(GpDev, int code, const char *what); /* converts a cudaError_t to an error of the device */
GpErr  PassSquares_CUDA(GpDev, const Pass *, int n, const double *v, double *y);
GpErr  PassStore_CUDA(GpDev, const Pass *, void *delta);

#if defined(__cplusplus)
}
#endif
#endif
