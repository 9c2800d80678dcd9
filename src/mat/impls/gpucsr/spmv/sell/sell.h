/* Sliced rows: 32 rows are a slice, with one lane for each row, stored slice column by slice column. Values are stored in one of two ways.

   A slice has two kinds of slice columns, in this order:

   - `diagonals`: all nonzeros have the same offset from their row (column = row + base), so no index is stored.
   - `others`: column = base + index. Each slice column has its own base, so that the index fits 8 or 16 bits if the span of the slice column
     does, at any distance from the diagonal. They are sorted by index size: n8 of 8 bits, then n16 of 16 bits, then those of 32 bits.

   A mask says which rows a slice column contains. Four slice columns are a quad: their bases, masks and indices are adjacent, so that a lane
   reads four indices at once. The indices of a quad have the size that its widest slice column needs: one, two or four units of 128 bytes. The
   last quad of the diagonals and of the others may have fewer slice columns; their masks are zero. */
#ifndef GPSELL_H
#define GPSELL_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_SLICE 32 /* number of rows of a slice */

/* How the values are stored. */
typedef enum {
  GP_SELL_FULL, /* every value */
  GP_SELL_CODES /* 8-bit codes into a table of at most 256 values */
} GpSellKind;

#define GP_SELL_CODES_MOST 256

/* One slice. */
typedef struct {
  int32_t quad, column, unit; /* first quad of bases and masks, first slice column of values, and first unit of indices of this slice */
  int32_t diagonals;          /* number of slice columns with one offset */
  int32_t others, n8, n16;    /* number of slice columns with indices; how many of them have 8 and 16 bits */
  int32_t unused;
} GpSlice;

/* Memory of slices, in quads, slice columns of values, and units of indices. */
typedef struct {
  int32_t quads, columns, units;
} GpSellExtent;

typedef struct {
  GpSellKind   kind;
  int32_t      nslices;
  GpSellExtent total;
  GpSlice     *slice; /* [nslices] */
  int32_t     *head;  /* [8 quads] for each quad: the bases of its slice columns, then their masks; bit l of a mask: row l of the slice has a nonzero */
  uint8_t     *index; /* [128 units] */
  void        *value; /* FULL: [32 (columns + 3)] float or double; CODES: [128 quads] bytes, four for each lane */
  int32_t     *perm;  /* [m] row of each position, if rows were sorted by length within windows, else NULL */
  uint64_t    *bits;  /* CODES: [256] bit patterns of the distinct values, ascending */
  double      *table; /* CODES: [256] distinct values */
} GpSell;

/* Index in head of the base and of the mask of slice column c, where quad is the first quad of the slice. */
#define GpSliceBase(quad, c) (8 * ((int64_t)(quad) + (c) / 4) + (c) % 4)
#define GpSliceMask(quad, c) (GpSliceBase(quad, c) + 4)

/* Number of quads of the others whose indices have 8, 16 and 32 bits. */
#define GpSliceQuads(n)     (((n) + 3) / 4)
#define GpSliceUpTo(n, all) ((n) == (all) ? GpSliceQuads(n) : (n) / 4)
#define GpSliceQuads8(S)    GpSliceUpTo((S).n8, (S).others)
#define GpSliceQuads16(S)   (GpSliceUpTo((S).n8 + (S).n16, (S).others) - GpSliceQuads8(S))
#define GpSliceQuads32(S)   (GpSliceQuads((S).others) - GpSliceUpTo((S).n8 + (S).n16, (S).others))

/* Functions for formats of sliced rows. They return GP_ERR_ARGUMENT if the format does not suit the matrix. */
GpErr  GpSellBuild(GpFmt *A, GpSellKind kind);
GpErr  GpSellRefill(GpFmt *A);
void   GpSellDestroy(GpFmt *A);
double GpSellBytes(const GpFmt *A);
GpErr  GpSellTable(GpFmt *A); /* CODES: fills bits and table */

#if defined(__cplusplus)
}
#endif
#endif
