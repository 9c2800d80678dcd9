/* Solves with a sparse triangle in device memory.

   Row i can be computed when the rows whose numbers are its columns have been computed. A level is a set of rows that depend on rows of earlier levels only. The
   analysis sorts the rows by level; the position of a row in this order is its slot. `lanes` threads of a warp add the products of a row. A slice has at most
   32 / lanes consecutive rows of one level. It is stored like a slice of sliced ELL, with slots as column indices: entry e of row r of a slice is stored at
   start + (e / lanes) * rows * lanes + r * lanes + e % lanes. The order of the additions is fixed, so results are reproducible.

   The diagonal is kept apart, in double precision and in the order of the slots. Vectors and sums are double; the other values are single or double.

   The host backend keeps the given order of the rows, each in a slice of its own, unless `lanes` asks for the layout of a GPU. */
#ifndef GPTRISOLVE_H
#define GPTRISOLVE_H

#include "device/gpdevice.h"
#include <stdlib.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_TRI_ALIGN     8 /* number of values to which the start of a slice is aligned in the layout of a GPU */
#define GP_TRI_TOO_LARGE "a value of the factor is too large for single precision; use -mat_gpucsr_factor_storage double"
#define GP_TRI_NONE      ((uint32_t)-1)     /* source of a stored position without an entry (padding) */
#define GP_TRI_MOST      ((int64_t)1 << 31) /* a factor must have fewer rows and fewer values than this, so that 32 bits hold their indices */
#define GP_TRI_LONG      1024               /* rows with at least this many entries count as equally long when a level is sorted */
#define GP_TRI_GRAIN     32768              /* number of rows that is worth a thread */

/* Allocates n 32-bit integers in host memory, also if n is 0. The caller uses free(). */
static inline int32_t *GpTriAllocate(size_t n)
{
  return (int32_t *)malloc((n + 1) * sizeof(int32_t));
}

/* The rows sorted by level, and within a level by descending length, so that the rows of a slice have similar lengths. */
typedef struct {
  int32_t  levels;
  int32_t *levelptr; /* [levels + 1] first slot of each level */
  int32_t *row;      /* [n] row of each slot */
  int32_t *slot;     /* [n] slot of each row */
} GpTriOrder;

/* The rows of a triangle without its diagonal, on the host. */
typedef struct {
  int32_t        n;       /* number of rows */
  int            reverse; /* 0: a row depends on rows before it; 1: on rows behind it */
  const int32_t *begin;   /* [n] position of the first entry of each row in col */
  const int32_t *end;     /* [n] position behind the last entry of each row */
  const int32_t *col;     /* columns */
  const int32_t *source;  /* index of each entry in the array of values; NULL: its position in col */

  const GpTriOrder *order; /* the order of the rows, if it is known; NULL: the analysis finds it */
} GpTriRows;

/* The transpose of rows. */
typedef struct {
  int32_t *begin;  /* [n + 1] */
  int32_t *col;    /* rows of the original, ascending */
  int32_t *source; /* position of each entry in the array `col` of the original */
} GpTriTransposed;

typedef struct {
  int32_t start; /* position of the first value, divided by the alignment of the layout */
  int32_t slot;  /* slot of the first row */
  int32_t rows;  /* number of rows */
  int32_t width; /* maximum number of entries of a row, divided by the number of lanes and rounded up */
} GpTriSlice;

/* The layout of a triangle, on the host. */
typedef struct {
  int32_t     n, slices;
  int32_t     levels; /* 0 on the host backend, which does not need them */
  int         lanes;  /* number of threads that compute a row: 1, 2, 4, 8 or 32 */
  int         align;  /* number of values to which the start of a slice is aligned */
  int64_t     nnz;    /* number of entries */
  int64_t     stored; /* number of stored positions, with padding */
  int32_t    *row;    /* [n] row of each slot */
  GpTriSlice *slice;  /* [slices]; NULL after the upload */
  int32_t    *col;    /* [stored] slot of each column, -1: no entry; NULL after the upload */
  uint32_t   *source; /* [stored] index of each entry in the array of values, or GP_TRI_NONE */
} GpTriLayout;

typedef struct {
  GpDev       dev;
  GpTriLayout layout; /* on the host */
  int         single; /* values are single precision */
  int         batch;  /* number of values that a thread loads at once: 4 or 8 */
  int32_t     blocks; /* number of thread blocks of a solve */
  GpTriSlice *slice;  /* [slices] in device memory, like all that follows */
  int32_t    *col;    /* [stored] */
  void       *val;    /* [stored] float or double */
  double     *diag;   /* [n] diagonal entry d of the row in each slot; NULL until values with a diagonal are set */
  uint32_t   *source; /* [stored] copy of layout.source; NULL until GpTriSetDeviceValues() is called on a GPU */
  int32_t    *row;    /* [n] copy of layout.row, made with source */
} GpTri;

/* How a solve uses the diagonal entry d of a row. b is the right-hand side of the row. s is the sum over the entries of the row: value times solution. */
typedef enum {
  GP_TRI_UNIT,        /* w = b - s */
  GP_TRI_AFTER,       /* w = (b - s) d */
  GP_TRI_BEFORE,      /* w = b d - s */
  GP_TRI_BEFORE_ROOT, /* w = b sqrt(d) - s */
  GP_TRI_OUT_ROOT     /* w = b - s, and the result is w sqrt(d) */
} GpTriDiagonal;

/* Vectors of a solve, in device memory. */
typedef struct {
  const double  *b;   /* right-hand side */
  const int32_t *in;  /* [n] index in b of each slot */
  double        *w;   /* [n] solution in the order of the slots; GpTriReset() must be called before each solve */
  double        *x;   /* result, NULL: only w is needed */
  const int32_t *out; /* [n] index in x of each slot */
  const double  *add; /* vector that is added to the result, in the order of x; NULL: none; may be x */
  GpTriDiagonal  diagonal;
} GpTriVectors;

/* Creates a triangle. lanes: number of threads that compute a row; 0 selects it. The triangle has no values until GpTriSetValues() is called. After an error T is empty and needs no
   GpTriDestroy(). */
GpErr GpTriCreate(GpDev dev, const GpTriRows *rows, int lanes, int single, GpTri *T);
void  GpTriDestroy(GpTri *T);

/* Sets the values: sign times values[source] for each entry, and diagonal[row] (NULL: no diagonal). */
GpErr GpTriSetValues(GpTri *T, const double values[], double sign, const double diagonal[]);

/* Uploads map[row] of each slot, or the rows themselves if map is NULL. The caller frees n 32-bit integers of device memory. */
GpErr GpTriUploadMap(const GpTri *T, const int32_t map[], int32_t **device);

void  GpTriGetSlots(const GpTri *T, int32_t slot[]);           /* the slot of each row */
GpErr GpTriReset(GpDev dev, double *w, int64_t n);             /* marks n entries of w as not yet computed */
GpErr GpTriSolve(const GpTri *T, const GpTriVectors *vectors); /* launches the solve */

/* gptrilayout.c: the analysis. GpTriAnalyse() sets the rows, the slices and the sources in the layout of a GPU, and writes the slots of the columns to a new array L->col. It returns 1 if host
   memory is exhausted. GpTriKeepRows() keeps the order of the rows, each in a slice of its own, and writes slices and columns to arrays of the caller. */
int  GpTriAnalyse(const GpTriRows *rows, GpTriLayout *L);
void GpTriKeepRows(const GpTriRows *rows, GpTriLayout *L, GpTriSlice slice[], int32_t col[]);
void GpTriFreeLayout(GpTriLayout *L);

/* gptrilevels.c. They return 1 if host memory is exhausted; nothing must be freed then. */
int  GpTriOrderRows(const GpTriRows *rows, GpTriOrder *order);
void GpTriFreeOrder(GpTriOrder *order);
int  GpTriTranspose(const GpTriRows *rows, GpTriTransposed *t);
void GpTriFreeTransposed(GpTriTransposed *t);

/* trisolve_cuda.cu: exists only if GP_HAVE_CUDA is set */
GpErr GpTriSolve_CUDA(const GpTri *T, const GpTriVectors *vectors);
GpErr GpTriReset_CUDA(GpDev dev, double *w, int64_t n);

#if defined(__cplusplus)
}
#endif
#endif
