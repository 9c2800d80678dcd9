/* Sliced rows: 32 rows make a slice, one lane a row, stored slice column by slice column, in two ways of keeping values.

   A slice has, in this order, `diagonals` slice columns whose nonzeros have one offset from their row (column = row + base, no
   index is stored), then `others`, whose nonzeros lie at column = base + index; each of these has a base of its own, so that the
   index fits 8 or 16 bits wherever the span of the slice column does, however far the slice column lies from the diagonal.
   Others are sorted by the bits they need: n8, then n16, then those of 32.  A mask tells which rows a slice column holds.

   Slice columns go by quads of four: bases, masks and indices of a quad lie together, so that a lane reads four indices at
   once.  A quad's index takes the bits of its widest slice column: one, two or four units of 128 bytes.  The last
   quad of the diagonals and of the others may be short; masks say so. */
#ifndef GPSELL_H
#define GPSELL_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_SLICE 32 /* rows */

/* how the values are kept */
typedef enum {
  GP_SELL_FULL, /* each */
  GP_SELL_CODES /* a byte each, into a table of at most 256 */
} GpSellKind;

#define GP_SELL_CODES_MOST 256

/* one slice, as plan and kernel see it */
typedef struct {
  int32_t quad, column, unit; /* the first of this slice: quad of bases and masks, slice column of values, unit of indices */
  int32_t diagonals;          /* slice columns with one offset */
  int32_t others, n8, n16;    /* slice columns with indices; those of 8, of 16 bits */
  int32_t unused;
} GpSlice;

/* what slices take */
typedef struct {
  int32_t quads, columns, units;
} GpSellExtent;

typedef struct {
  GpSellKind   kind;
  int32_t      nslices;
  GpSellExtent total;
  GpSlice     *slice; /* [nslices] */
  int32_t     *head;  /* [8 quads] of each slice column of a quad the base, then the mask: bit l: row l of the slice has a nonzero there */
  uint8_t     *index; /* [128 units] */
  void        *value; /* FULL: [32 (columns + 3)] float or double; CODES: [128 quads] bytes, four a lane */
  int32_t     *perm;  /* [m] the row of every place, when rows were sorted by length within windows; or NULL */
  uint64_t    *bits;  /* CODES: [256] the distinct values as ascending bit patterns */
  double      *table; /* CODES: [256] the distinct values */
} GpSell;

/* the place of slice column c of the slice whose first quad is given, in head */
#define GpSliceBase(quad, c) (8 * ((int64_t)(quad) + (c) / 4) + (c) % 4)
#define GpSliceMask(quad, c) (GpSliceBase(quad, c) + 4)

/* the quads of the others whose indices have 8, 16 and 32 bits */
#define GpSliceQuads(n)     (((n) + 3) / 4)
#define GpSliceUpTo(n, all) ((n) == (all) ? GpSliceQuads(n) : (n) / 4)
#define GpSliceQuads8(S)    GpSliceUpTo((S).n8, (S).others)
#define GpSliceQuads16(S)   (GpSliceUpTo((S).n8 + (S).n16, (S).others) - GpSliceQuads8(S))
#define GpSliceQuads32(S)   (GpSliceQuads((S).others) - GpSliceUpTo((S).n8 + (S).n16, (S).others))

/* what the formats made of slices share; GP_ERR_ARGUMENT: this matrix is none for it */
GpErr  GpSellBuild(GpFmt *A, GpSellKind kind);
GpErr  GpSellRefill(GpFmt *A);
void   GpSellDestroy(GpFmt *A);
double GpSellBytes(const GpFmt *A);
GpErr  GpSellTable(GpFmt *A); /* CODES: fills bits and table */

#if defined(__cplusplus)
}
#endif
#endif
