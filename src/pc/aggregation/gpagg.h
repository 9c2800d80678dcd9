/* Algebraic multigrid by smoothed aggregation on one device: the steps of the set-up, and the kernels of the cycle.

   Matrices are compressed rows in double precision with ascending columns. The host and the CUDA implementation of the set-up give the same bits, and the aggregates are those of
   src/pc/impls/gpuamg/amg.h. Nodes, connections, aggregates and roots have the meaning described there. */
#ifndef GPAGG_H
#define GPAGG_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_AGG_BLOCK     8    /* maximum number of unknowns of a node */
#define GP_AGG_LONGEST   4096 /* maximum number of connections of a node */
#define GP_AGG_DOMINATED 0.2  /* a node needs no strong connection if the norms of its other blocks have a sum of at most this fraction of the norm of its diagonal block: the smoother reduces its error */

/* Indices of GpAggMeasure.bad, which counts rows with an error */
enum {
  GP_AGG_INFINITE, /* rows with an entry that is not finite */
  GP_AGG_NEGATIVE, /* rows that are not zero and whose diagonal entry is not positive */
  GP_AGG_UNSORTED, /* rows whose columns do not ascend */
  GP_AGG_FAULTS
};

/* Sums over the rows of a matrix. The arrays are device memory of the caller. */
typedef struct {
  double *diagonal, *near;    /* [m] the diagonal entry, 0 if it is not stored; the sum of the absolute values of the other entries */
  int32_t bad[GP_AGG_FAULTS]; /* set by GpAggMeasureRows() */
  double  norm;               /* set by GpAggMeasureRows(): the maximum norm of D^-1 A; D has ones in place of diagonal entries that are not positive */
} GpAggMeasure;

/* Disjoint sets of nodes. */
typedef struct {
  int32_t  n, count, listed; /* nodes; aggregates; nodes in aggregates */
  int32_t *of;               /* [n] device memory: number of the aggregate of each node; -1: the node is in no aggregate */
  int32_t *ptr;              /* [count + 1] device memory: first position of each aggregate in row */
  int32_t *row;              /* [n] device memory: the nodes of aggregate a are row[ptr[a]], ..., row[ptr[a + 1] - 1], ascending */
} GpAggAggregates;

GpErr GpAggMeasureRows(const GpCsr *A, GpAggMeasure *R);

/* Creates the graph of the strong connections: symmetric, without loops; the values are the weights. */
GpErr GpAggCreateGraph(const GpCsr *A, int32_t block, double threshold, GpCsr *graph);

/* Every node with a connection joins an aggregate. GP_ERR_ARGUMENT: a node has more than GP_AGG_LONGEST connections. */
GpErr GpAggAggregate(const GpCsr *graph, GpAggAggregates *a);
void  GpAggDestroyAggregates(GpDev, GpAggAggregates *a);

/* Creates the tentative prolongator P0. Its k columns of an aggregate are an orthonormal basis of the vectors B, [rows][k], on the aggregate. next: [count k][k] receives the vectors of the next level, and
   empty: [count k] whether a column of P0 is zero, because the vectors are linearly dependent on the aggregate. A row of P0 is empty if its node is in no aggregate or if near is zero. */
GpErr GpAggCreateTentative(GpDev, const GpAggAggregates *a, int32_t block, int32_t k, const double *near, const double *B, double *next, int32_t *empty, GpCsr *P0);
GpErr GpAggFillConstant(GpDev, int32_t n, int32_t k, double *B); /* sets B[i][v], i < n and v < k, to 1 if i modulo k is v, otherwise to 0 */

/* P holds A P0 and becomes (I - factor D^-1 A) P0. The pattern of P includes that of P0. */
GpErr GpAggSmooth(GpCsr *P, const GpCsr *P0, double factor, const double *diagonal);

/* Sets the diagonal entries of the rows marked in `empty` to the largest diagonal entry of their node, 1 if that is not positive. Every such entry is stored. */
GpErr GpAggFillEmpty(GpCsr *A, int32_t block, const int32_t *empty);

GpErr GpAggCount(GpDev, int32_t n, const int32_t *flags, int32_t *count);                              /* number of flags that are not 0 */
GpErr GpAggInvert(GpDev, int32_t n, const GpAggMeasure *R, double *inverse, double *root, double *l1); /* D^-1, D^(-1/2), and 1 divided by the sum of the absolute values of the row; each may be NULL */
GpErr GpAggNarrow(GpDev, int32_t n, const double *val, float *to, int32_t *overflow);                  /* converts to single precision; sets *overflow in device memory if a finite value becomes infinite */
GpErr GpAggWiden(GpDev, int32_t n, const float *val, double *to);                                      /* converts to double precision */
GpErr GpAggHashPattern(const GpCsr *A, uint64_t *hash);                                                /* a hash of the pattern */

/* --- Lanczos steps with D^(-1/2) A D^(-1/2) ---------------------------------------------------------------------------------------------------- */

#define GP_AGG_STEPS 100 /* maximum number of Lanczos steps */

typedef enum {
  GP_LANCZOS_RUNNING,
  GP_LANCZOS_DONE,       /* the Lanczos vectors span an invariant subspace */
  GP_LANCZOS_FAILED,     /* a number is not finite */
  GP_LANCZOS_UNSYMMETRIC /* the matrix is not symmetric */
} GpLanczosStatus;

/* The tridiagonal matrix, in device memory during the steps. beta[j] is in rows j and j + 1; the last one is the norm of the remaining vector. */
typedef struct {
  double   alpha[GP_AGG_STEPS], beta[GP_AGG_STEPS];
  double   scale;     /* largest absolute value in alpha and beta so far */
  double   norm;      /* norm of the vector that scale() divides by it */
  double   component; /* inner product of the last product and the previous Lanczos vector; it equals the previous beta if the matrix is symmetric */
  int32_t  steps, status;
  uint32_t ticket, unused; /* ticket: number of blocks that have finished their part of a reduction; unused: padding */
} GpLanczos;

/* Arguments of all Lanczos kernels. partial: [2 * GP_DEV_PARTS] workspace of reductions. The vectors have n entries. */
typedef struct {
  GpDev         dev;
  int32_t       n;
  const double *root; /* D^(-1/2) */
  double       *partial;
  GpLanczos    *state;
} GpLanczosWork;

typedef struct {
  GpErr (*start)(const GpLanczosWork *, double *v);                                                    /* sets v to numbers from -1 to 1 that depend on the position only, and computes its norm */
  GpErr (*scale)(const GpLanczosWork *, double *v, double *scaled);                                    /* divides v by its norm, and sets scaled to root v */
  GpErr (*product)(const GpLanczosWork *, int step, const double *v, const double *before, double *w); /* multiplies w = A scaled by root, and computes its inner products with v and before */
  GpErr (*orthogonalize)(const GpLanczosWork *, int step, const double *v, const double *before, double *w);
} GpLanczosKernels;

extern const GpLanczosKernels GpLanczosKernels_Host;
extern const GpLanczosKernels GpLanczosKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */

#define GpLanczosKernelsOf(dev) GpDevSelect(dev, GpLanczosKernels_Host, GpLanczosKernels_CUDA)

/* --- the cycle --------------------------------------------------------------------------------------------------------------------------------- */

#define GP_AGG_OFFSETS 256 /* maximum number of offsets, which are the distinct values of column - row */

/* Columns as codes: nonzero k of row i has the column i + offset[code[k]]. */
typedef struct {
  int32_t  count, nnz; /* count: number of offsets; 0: there are no codes, because there are too many offsets */
  int32_t *offset;     /* [count] device memory, ascending */
  uint8_t *code;       /* [nnz] device memory */
} GpAggCodes;

GpErr GpAggEncodeColumns(const GpCsr *A, GpAggCodes *codes);
void  GpAggDestroyCodes(GpDev, GpAggCodes *codes);

/* A matrix of the cycle. */
typedef struct {
  GpCsr      csr;
  int        lanes; /* number of threads for a row */
  GpAggCodes codes; /* used for vectors in single precision */
} GpCycleMatrix;

/* A vector in device memory, in single or double precision. */
typedef struct {
  void  *data;
  GpPrec prec;
} GpCycleVector;

/* The relaxation r computes y = r.x * x + r.before * r.previous + r.correction * r.inverse * (r.b - A x), entry by entry. The vectors r.b, r.inverse and r.previous have the precision of the vector x. */
typedef struct {
  double      x, before, correction;
  const void *b, *inverse, *previous; /* previous: NULL if before is 0 */
} GpCycleRelaxation;

/* In a product, the sum of a row has the precision of x. If A has double precision, so have x and y. If A has single precision, x and y may have any. */
typedef struct {
  GpErr (*start)(GpDev, int32_t n, double correction, GpCycleVector b, GpCycleVector inverse, GpCycleVector y,
                 void *copy); /* y = correction * inverse * b. inverse has the precision of y; y is not in double precision if b is in single precision. copy: receives b in the precision of y; NULL: no copy */
  GpErr (*relax)(const GpCycleMatrix *A, const GpCycleRelaxation *, GpCycleVector x, GpCycleVector y);        /* y may be previous if it has the precision of x */
  GpErr (*update)(GpDev, int32_t n, const GpCycleRelaxation *, const double *x, const double *ax, double *y); /* the same with the product ax = A x, all in double precision */
  GpErr (*residual)(const GpCycleMatrix *A, const void *b, GpCycleVector x, GpCycleVector r);                 /* r = b - A x; b has the precision of x */
  GpErr (*subtract)(GpDev, int32_t n, const double *b, const double *ax, double *r);                          /* r = b - ax; r may be ax */
  GpErr (*multiply)(const GpCycleMatrix *A, GpCycleVector x, GpCycleVector y);                                /* y = A x */
  GpErr (*add)(const GpCycleMatrix *A, GpCycleVector x, GpCycleVector y);                                     /* y += A x */
} GpCycleKernels;

extern const GpCycleKernels GpCycleKernels_Host;
extern const GpCycleKernels GpCycleKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */

#define GpCycleKernelsOf(dev) GpDevSelect(dev, GpCycleKernels_Host, GpCycleKernels_CUDA)

int GpCycleLanes(const GpCsr *A); /* number of threads for a row: a fixed rule by the mean number of nonzeros */

#if defined(__cplusplus)
}
#endif
#endif
