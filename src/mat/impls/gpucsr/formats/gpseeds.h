/* The formats of the work this project follows: A. H. El Zein and A. P. Rendell, "Generating optimal CUDA sparse matrix-vector
   product implementations for evolving GPU hardware" (padded rows, x in constant memory), and Balanced CSR and the CSR/ELL
   hybrid for power-law rows of Gunarathne et al. */
#ifndef GPSEEDS_H
#define GPSEEDS_H

#include "mat/impls/gpucsr/formats/gpformat.h"

/* csrpad: rows begin at multiples of four, so that a thread loads four nonzeros at once */
#define GP_PAD 4

typedef struct {
  int64_t  slots;
  int32_t *start; /* [m+1] of the padded rows */
  int32_t *col;   /* [slots] */
  void    *val;   /* [slots] */
} GpCsrPad;

/* csrsmall: the rows themselves, of matrices whose x fits constant memory */
#define GP_SMALL_COLUMNS 8192

/* balanced: rows packed into balanced rows of equal width, slot j of balanced row r at j*n+r.  A column carries marks: a row
   starts here and ends in this balanced row, or a part of a row starts here; or nothing more stands in this balanced row. */
#define GP_BALANCED_WIDTH  16
#define GP_BALANCED_ROW    0x80000000u
#define GP_BALANCED_PART   0x40000000u
#define GP_BALANCED_COLUMN 0x3fffffffu
#define GP_BALANCED_FILLER 0xffffffffu

typedef struct {
  int32_t   n; /* balanced rows */
  int32_t   nout, nspans, nparts;
  int32_t  *start; /* [m] where a row starts: width*(balanced row) + slot */
  int32_t  *first; /* [n+1] the first start of the balanced row in out */
  int32_t  *out;   /* [nout] what a start begins: row, or ~place in part */
  int32_t  *span;  /* [3*nspans] a row in parts or without nonzeros, its first place in part and its last plus one */
  uint32_t *col;   /* [width*n] */
  void     *val;   /* [width*n] */
  double   *part;  /* [nparts] */
} GpBalanced;

/* hybrid: rows of up to 4, 7 and 16 nonzeros each in an ELL of their own, the others remain compressed rows */
#define GP_HYBRID_CLASSES 4

typedef struct {
  int32_t  rows[GP_HYBRID_CLASSES];  /* how many of every class; the last is that of the long ones */
  int32_t  width[GP_HYBRID_CLASSES]; /* 4, 7, 16, and 0 */
  int64_t  at[GP_HYBRID_CLASSES];    /* first slot of a class */
  int32_t  shorts;                   /* nonzeros of the rows that are not long */
  int32_t *list;                     /* [m] the rows, class by class */
  int32_t *col;                      /* [at[last]] slot j of the class's row t at at + j*rows + t; -1: none */
  void    *val;                      /* [at[last]] */
} GpHybrid;

/* coo: the row of every nonzero; a warp takes GP_COO_STRIP nonzeros and leaves the sums of its first and of its last row */
#define GP_COO_STRIP 256

typedef struct {
  int32_t  nstrips;
  int32_t *row;   /* [nnz] */
  double  *carry; /* [2*nstrips] */
} GpCooRows;

#endif
