/* Formats of earlier work, kept for comparison: padded rows and x in constant memory of A. H. El Zein and A. P. Rendell, "Generating optimal CUDA
   sparse matrix-vector product implementations for evolving GPU hardware"; Balanced CSR and the CSR/ELL hybrid for power-law rows of Gunarathne
   et al. */
#ifndef GPSEEDS_H
#define GPSEEDS_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

/* Format csrpad: rows begin at multiples of four, so that a thread loads four nonzeros at once. */
#define GP_PAD 4

typedef struct {
  int64_t  slots;
  int32_t *start; /* [m+1] start of each padded row, in units of GP_PAD slots */
  int32_t *col;   /* [slots] */
  void    *val;   /* [slots] */
} GpCsrPad;

/* Format csrsmall: compressed rows of matrices whose x fits in constant memory. */
#define GP_SMALL_COLUMNS 8192

/* Format balanced: rows are packed into balanced rows of equal width. Slot j of balanced row r is at j*n+r. The upper bits of a column are marks:
   a row starts here and ends in this balanced row; a part of a row starts here; the rest of this balanced row is empty. */
#define GP_BALANCED_WIDTH  16
#define GP_BALANCED_ROW    0x80000000u
#define GP_BALANCED_PART   0x40000000u
#define GP_BALANCED_COLUMN 0x3fffffffu
#define GP_BALANCED_FILLER 0xffffffffu

typedef struct {
  int32_t   n; /* number of balanced rows */
  int32_t   nout, nspans, nparts;
  int32_t  *start; /* [m] start of each row: width * (balanced row) + slot */
  int32_t  *first; /* [n+1] index in out of the first start of each balanced row */
  int32_t  *out;   /* [nout] for each start: the row, or ~position in part */
  int32_t  *span;  /* [3*nspans] for each row in parts and each empty row: row, first and last + 1 position in part */
  uint32_t *col;   /* [width*n] */
  void     *val;   /* [width*n] */
  double   *part;  /* [nparts] partial sums */
} GpBalanced;

/* Format hybrid: rows of up to 4, 7 and 16 nonzeros are in one ELL array each. The other rows remain compressed. */
#define GP_HYBRID_CLASSES 4

typedef struct {
  int32_t  rows[GP_HYBRID_CLASSES];  /* number of rows of each class; the last class has the long rows */
  int32_t  width[GP_HYBRID_CLASSES]; /* 4, 7, 16, and 0 for the long rows */
  int64_t  at[GP_HYBRID_CLASSES];    /* first slot of each class */
  int32_t  shorts;                   /* number of nonzeros of the rows that are not long */
  int32_t *list;                     /* [m] rows, class by class */
  int32_t *col;                      /* [at[last]] slot j of row t of a class is at at + j*rows + t; -1: padding */
  void    *val;                      /* [at[last]] */
} GpHybrid;

#endif
