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
} SMACOFPassRange;

/* a linear combination of configurations */
#define PASS_MAX_TERMS (2 + 2 * SMACOF_HISTORY_LIMIT) /* enough for an extrapolation */
typedef struct {
  int           n;
  double        factor[PASS_MAX_TERMS];
  const double *term[PASS_MAX_TERMS]; /* [dim][N] each; none of them may be `to` */
  double       *to;                   /* [dim][N] output */
} SMACOFPassForm;

/* With d = |x_i - x_j|, a pass adds over pairs of its rows i and columns j
     bx_i     = sum w (delta / d) (x_i - x_j)      row i of B(X) X; pairs of points that coincide contribute nothing
     stress_i = sum w (delta - d)^2
   The order of the additions depends only on the shape, and on a GPU also on its multiprocessors and their shared memory.  Rows are the points
   from `first` on.  For interpolation, rows are other points than the columns, and first is 0. */
typedef struct {
  int             N, rows, dim;
  int             first;          /* point of row 0 */
  int             single;         /* delta and weight are float arrays, else double */
  const double   *x;              /* [dim][N] coordinates of the columns */
  const double   *xrow;           /* coordinates of the rows: component c of row i is xrow[c * ldrow + i] */
  SMACOFPassForm  form;           /* if form.n > 0, the pass first computes x from it */
  size_t          ldrow;          /* pitch of xrow and of frow */
  const void     *delta;          /* [rows][ld], or one for each listed pair; NULL: distances between features, computed in every pass */
  size_t          ld;             /* at least N; on a device a multiple of 4 */
  const double   *feature, *frow; /* features of the columns, [nfeature][N], and of the rows, with the pitch ldrow */
  int             nfeature, metric;
  int             as_stored; /* distances between features are stored in tiles (passtiles.h); products with their squares compute and round them as if they were stored in rows */
  const int64_t  *start;     /* listed pairs: row offsets in CSR, with an entry in both rows of each pair; NULL: all pairs of the ranges */
  const int      *column;    /* listed pairs: column indices */
  const void     *weight;    /* listed pairs: weights; NULL: all weights are 1 */
  int             nranges;   /* ranges that the pass reads, unless pairs are listed */
  SMACOFPassRange range[PASS_MAX_RANGES];
  double         *bx, *stress; /* output, [dim][ldsum] and [ldsum]: row i at first + i, column j at j; entries without contributions become 0 */
  size_t          ldsum;
} SMACOFPass;

/* Runs n passes over the same dissimilarities, with different coordinates and sums.  Each dissimilarity is read or computed once for all passes. */
void SMACOFRunPass_Host(const SMACOFPass *, int n);

/* The first part of a pass: evaluates the linear combinations and sets the sums to zero. */
void SMACOFBeginPass_Host(const SMACOFPass *, int n);

/* Computes the coordinates from the linear combination, if there is one.  SMACOFRunPass_Host() does this itself. */
void SMACOFCombineTerms_Host(const SMACOFPass *);

/* Computes the distances from row i to the columns c0 to c1 - 1 from the features. */
void SMACOFComputeDistances_Host(const SMACOFPass *, int i, int c0, int c1, double distance[]);

/* Computes y = sum of delta^2 v over the columns, for n vectors, from [n][N] to [n][rows].  The data must be complete. */
#define PASS_MAX_VECTORS (PASS_MAX_DIM + 2)
void SMACOFMultiplySquares_Host(const SMACOFPass *, int n, const double *v, double *y);

static inline SMACOF_HOST_DEVICE int SMACOFMin(int a, int b)
{
  return a < b ? a : b;
}

/* Returns entry k of a float or double array. */
static inline __attribute__((always_inline)) double SMACOFGetStored(const void *a, const int single, size_t k)
{
  return single ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

/* Returns the pitch of stored distances to N points: rows start on a 128-byte boundary. */
static inline size_t SMACOFGetStorePitch(int N)
{
  return ((size_t)N + 31) / 32 * 32;
}

/* Computes and stores the distances between features from all rows to all columns, with the precision p->single and the pitch p->ld. */
void SMACOFStoreDistances_Host(const SMACOFPass *, void *delta);

/* arithmetic and workspace of the CUDA implementation */
typedef struct {
  int   mixed;  /* float arithmetic for each pair and double sums (pass_cuda.cu says where); else all arithmetic is double */
  void *memory; /* SMACOFGetPassMemory_CUDA() bytes of device memory */
} SMACOFPassWork;

/* In the CUDA implementation all pointers are device memory, and rows are points. */
size_t SMACOFGetPassMemory_CUDA(GpDev, const SMACOFPass *);
GpErr  SMACOFRunPass_CUDA(GpDev, const SMACOFPass *, const SMACOFPassWork *);
GpErr  SMACOFBeginListed_CUDA(GpDev, const SMACOFPass *);
GpErr  SMACOFRunPassListed_CUDA(GpDev, const SMACOFPass *);
GpErr  SMACOFMultiplySquares_CUDA(GpDev, const SMACOFPass *, int n, const double *v, double *y);
GpErr  SMACOFStoreDistances_CUDA(GpDev, const SMACOFPass *, void *delta);

/* A build without CUDA compiles and drops the calls of CUDA implementations in branches with this condition. */
#define SMACOFIsOnGPU(dev) (GP_HAVE_CUDA && (dev) && GpDevKindOf(dev) == GP_DEV_CUDA)

#if defined(__cplusplus)
}
#endif
#endif
