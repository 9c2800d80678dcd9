/* Numeric incomplete factorisations in device memory: ILU(k) and ICC(k) with a given pattern.

   The values have the layout of PETSc's factors. ILU: row i of L without its unit diagonal is at lower[i] to lower[i + 1]; row i of U without its diagonal is at begin[i] to end[i], and the
   inverse of the diagonal entry follows at end[i]. ICC: A = U' D U; row i holds the negative entries of the unit triangle U, and at end[i] the inverse of D.

   Each row subtracts multiples of earlier rows of U, its dependencies, in ascending order. Products and sums are rounded one by one. PETSc's ILU does the same, so the values have the bits of
   PETSc's factor. PETSc's ICC uses another order, and the values agree up to rounding.

   On a GPU, rows are sorted by levels as in a triangle (gptrisolve.h). `lanes` threads of a warp compute a row, and a warp computes the rows of a slice, which belong to one level. */
#ifndef GPTRIFACTOR_H
#define GPTRIFACTOR_H

#include "mat/impls/gpucsr/trisolve/gptrisolve.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_TRI_FACTOR_SHARED 1024 /* number of entries for which a warp has shared memory; longer rows use a workspace in device memory */

/* The pattern of a factor, on the host. Columns ascend in each row of L and of U. */
typedef struct {
  int32_t        n;
  int            icc; /* 0: ILU */
  int64_t        nnz; /* number of values, less than GP_TRI_MOST */
  const int32_t *begin, *end;
  const int32_t *lower; /* ILU only */
  const int32_t *col;   /* [nnz] columns; that of the diagonal entry is at end[i] */
} GpTriPattern;

/* What the analysis of a factor has found, for the analysis of its first triangle, which has the dependencies as its rows: L, or the transpose of U for ICC. */
typedef struct {
  GpTriTransposed transpose; /* of U, ICC only */
  GpTriOrder      order;     /* rows sorted by level; empty on the host backend */
} GpTriDeps;

/* When a pivot p is too small; s is the sum of the absolute values of the other entries of its row. The names are those of PETSc's shifts. */
typedef enum {
  GP_TRI_PIVOT_NONE,     /* |p| <= zero: the factorisation goes on */
  GP_TRI_PIVOT_NONZERO,  /* |p| <= zero s: the factor is useless */
  GP_TRI_PIVOT_POSITIVE, /* p <= zero s: the factor is useless */
  GP_TRI_PIVOT_INBLOCKS  /* |p| <= zero: `amount` is added to p */
} GpTriPivotRule;

typedef struct {
  GpTriPivotRule rule;
  double         zero, amount;
  double         shift; /* added to each diagonal entry of A */
} GpTriPivots;

/* Result of a factorisation. */
typedef struct {
  int32_t first, last; /* first and last row with a pivot that is too small; n and -1: there is none. After a useless factorisation only the first row is known. */
  int32_t count;       /* number of these rows; after a useless factorisation at least 1 */
  int32_t negative;    /* 1: a pivot is negative */
  int32_t tiny;        /* 1: a value of U is below the range of single precision and not negligible compared with the pivot of its row; ILU only */
  int32_t ticket;      /* number of slices that warps have taken */
} GpTriStatus;

/* Rows of a slice. */
typedef struct {
  int32_t slot, rows; /* first slot and number of rows */
  int32_t longest;    /* maximum number of entries of a row */
  int32_t scratch;    /* position of the workspace for rows that shared memory cannot hold; -1: shared memory is used */
} GpTriFactorSlice;

typedef struct {
  GpDev   dev;
  int     icc;
  int32_t n, levels;
  int64_t nnz, deps; /* numbers of values and of dependencies */
  double  flops;     /* of a factorisation */
  int     lanes;     /* number of threads that compute a row: 4, 8, 16 or 32; 0 on the host backend, which computes the rows in their order */
  int32_t slices;
  int32_t longest;   /* maximum number of entries of a row in shared memory */
  int64_t scratches; /* number of entries of the workspace for other rows */
  int32_t warps;     /* number of warps of a launch */

  GpTriFactorSlice *slice;   /* [slices] in device memory, as all that follows */
  int32_t          *row;     /* [n] row of each slot */
  int32_t          *first;   /* [n + 1] first dependency of each row */
  int32_t          *dep;     /* [deps] row of each dependency. ILU: the same memory as col, because the entries of L are the dependencies */
  int32_t          *segment; /* [deps] ICC: position of the entry of that row in the column of this row; NULL for ILU */
  int32_t          *upper;   /* [2 n] begin and end of each row of U */
  int32_t          *col;     /* [nnz] */
  int32_t          *from;    /* [nnz] index of each value in the values of A, -1: A has no such entry */
  double           *val;     /* [nnz] the factor */
  double           *pivot;   /* [n] inverse of the diagonal */
  double           *work;    /* [scratches] values, GPU only */
  int32_t          *place;   /* [scratches] columns, GPU only */
  GpTriStatus      *status;
} GpTriFactor;

/* Creates a factor without values. After an error F is empty and needs no GpTriFactorDestroy(). lanes: 0 selects the number. deps: receives what the analysis has found, and needs
   GpTriFreeDeps() unless there was an error; NULL: it is not needed. */
GpErr GpTriFactorCreate(GpDev dev, const GpTriPattern *pattern, int lanes, GpTriDeps *deps, GpTriFactor *F);
void  GpTriFactorDestroy(GpTriFactor *F);
void  GpTriFreeDeps(GpTriDeps *deps);

/* Sets the index of each value of the factor in the values of A; -1: A has no such entry. */
GpErr GpTriFactorSetSource(GpTriFactor *F, const int32_t from[]);

/* Computes the factor. values: values of A in device memory, float if `single` is set, else double. Waits for the result. If the factor is useless, its values must not be used. */
GpErr GpTriFactorCompute(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots, GpTriStatus *status);

/* Gets the pivot of a row whose pivot is too small. */
GpErr GpTriFactorGetPivot(const GpTriFactor *F, int32_t row, double *pivot);

/* Sets the values of a triangle on the device, as GpTriSetValues() does from the host. values and diagonal (NULL: none) are device memory. */
GpErr GpTriSetDeviceValues(GpTri *T, const double values[], double sign, const double diagonal[]);

/* gptrifactorhost.c: computes the factor on the host backend */
GpErr GpTriFactorCompute_Host(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots);

/* trifactor_cuda.cu: exist only if GP_HAVE_CUDA is set. They launch and do not wait. */
GpErr GpTriFactorCompute_CUDA(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots);
GpErr GpTriScatter_CUDA(const GpTri *T, const double values[], double sign, const double diagonal[], int32_t *infinite);

#if defined(__cplusplus)
}
#endif
#endif
