/* Rows of approximate inverses, computed by a GPU: patterns of powers of a matrix, and batches of small dense problems, one for each row.

   Row i of the inverse has the pattern J. There are two kinds of rows:
   - GP_BATCH_FSAI: a factorised approximate inverse. J ends with i. The row solves L'g = e, where A(J,J) = LL' and e is the last unit vector.
   - GP_BATCH_SPAI: an approximate inverse. The row g minimises the norm of g'A(J,:) - e', where e is unit vector i.

   Rows are divided into classes by the size of their dense problem. Each class has a kernel. A plan holds the classes of a pattern and is kept for new values. Results do not depend on the order
   in which threads run. The component has no host implementation: src/pc/impls/ computes rows on the host. */
#ifndef GPBATCH_H
#define GPBATCH_H

#include "device/gpsteps.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_BATCH_CLASSES      8    /* maximum number of classes */
#define GP_BATCH_FSAI_MOST    1024 /* maximum number of entries of a row of kind GP_BATCH_FSAI */
#define GP_BATCH_SPAI_MOST    1024 /* maximum number of entries of a row of kind GP_BATCH_SPAI */
#define GP_BATCH_SPAI_COLUMNS 2048 /* maximum number of columns that the rows J of A have, for kind GP_BATCH_SPAI */
#define GP_BATCH_REACH        2048 /* maximum number of columns that the functions for patterns visit for a row */

typedef enum {
  GP_BATCH_FSAI,
  GP_BATCH_SPAI
} GpBatchKind;

/* Rows of A in device memory. Columns ascend within a row. */
typedef struct {
  GpDev          dev;
  int32_t        n;           /* number of rows and columns */
  int32_t        first, rows; /* rows first to first + rows - 1 of the inverse are computed */
  const int32_t *rowptr, *col;
  const void    *val;
  int            single;   /* val is float and not double */
  double        *diagonal; /* [n] set by GpBatchGetDiagonal() */
  double        *root;     /* [n] square roots of the absolute values of the diagonal, set by GpBatchGetDiagonal() */
} GpBatchMatrix;

/* Pattern of the rows of the inverse, in device memory. Columns have the numbers of GpBatchMatrix and ascend within a row. */
typedef struct {
  int32_t  rows, nnz;
  int32_t *rowptr, *col;
} GpBatchPattern;

/* Rows with dense problems of similar size. */
typedef struct {
  int32_t  count;
  int32_t *row; /* [count] in device memory; NULL: all rows in their order */
  int32_t  m;   /* maximum number of entries of a row */
  int32_t  k;   /* GP_BATCH_SPAI: maximum number of columns that the rows J of A have */
} GpBatchClass;

typedef struct {
  GpDev        dev;
  GpBatchKind  kind;
  GpBatchClass part[GP_BATCH_CLASSES];
  double       flops; /* number of floating-point operations of a computation */
} GpBatchPlan;

typedef struct {
  int32_t failed;  /* first row, counted from GpBatchMatrix.first, that cannot be computed; -1: none */
  int32_t range;   /* first row whose largest value single precision cannot store; -1: none */
  double  pivot;   /* the pivot of row `failed` that is too small */
  double  measure; /* GP_BATCH_FSAI: sum of log(g(i,i)^2 a(i,i)); GP_BATCH_SPAI: sum of the squared norms of g'A(J,:) - e' */
} GpBatchReport;

/* Returns 1 if the backend of the device computes rows. */
int GpBatchIsSupported(GpDev dev);

/* Sets diagonal and root. *missing and *unsorted are the first rows of the inverse, counted from A->first, whose row of A has no diagonal entry, or whose columns do not ascend; -1: none. */
GpErr GpBatchGetDiagonal(const GpBatchMatrix *A, int32_t *missing, int32_t *unsorted);

/* Creates the pattern of the rows of a power of A. lower: keeps only columns up to the diagonal, although paths may visit columns above it. Entries of A that are at most threshold times
   root[row] root[column] are not used, unless threshold is 0. GP_ERR_ARGUMENT: a row visits more than GP_BATCH_REACH columns, or there are more nonzeros than 32-bit indices can count. */
GpErr GpBatchCreatePattern(const GpBatchMatrix *A, int power, double threshold, int lower, GpBatchPattern *P);
void  GpBatchDestroyPattern(GpDev dev, GpBatchPattern *P);

/* Writes the number of columns that the rows J of A have, for each row, to device memory. GP_ERR_ARGUMENT: a row has more than GP_BATCH_REACH. */
GpErr GpBatchCountColumns(const GpBatchMatrix *A, const GpBatchPattern *P, int32_t *columns);

/* Creates a plan. rowptr: [rows + 1] of the pattern, columns: [rows] of GpBatchCountColumns(), NULL for GP_BATCH_FSAI; both on the host. GP_ERR_ARGUMENT: a row is too long. */
GpErr GpBatchCreatePlan(GpDev dev, GpBatchKind kind, int32_t rows, const int32_t rowptr[], const int32_t columns[], GpBatchPlan *plan);
void  GpBatchDestroyPlan(GpBatchPlan *plan);

/* Computes the values of all rows; val: [P->nnz] in device memory. If a row fails, the call succeeds, and val is not defined. */
GpErr GpBatchCompute(const GpBatchPlan *plan, const GpBatchMatrix *A, const GpBatchPattern *P, double *val, GpBatchReport *report);

#if defined(__cplusplus)
}
#endif
#endif
