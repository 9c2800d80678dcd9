/* Row codes: rows that are alike but for their place share a pattern, the offsets of their columns from the row and their
   values; a row is the number of its pattern. */
#ifndef GPROWCODE_H
#define GPROWCODE_H

#include "mat/impls/gpucsr/formats/gpformat.h"

/* Grids whose stencils a kernel knows: columns of a plane, planes, and bit by bit the entries that there are, plane by plane */
#define GP_ROWGRIDS(GRID) \
  GRID(3, 3, 0xba)          /* 5 points on a rectangle, whose planes are lines */ \
  GRID(3, 3, 0x1ff)         /* 9 points */ \
  GRID(5, 3, 0x13e4)        /* 7 points on a box */ \
  GRID(9, 5, 0x10087fc2010) /* 13 points, a star of radius 2 */ \
  GRID(9, 3, 0x2ebfeba)     /* 19 points */ \
  GRID(9, 3, 0x7ffffff)     /* 27 points */

#define GP_ROWGRID_COLUMNS 9
#define GP_ROWGRID_PLANES  5
#define GP_ROWGRID_ENTRIES (GP_ROWGRID_COLUMNS * GP_ROWGRID_PLANES)
#define GP_ROWGRID_OTHER   ((uint64_t)1 << 63) /* in a mask: the pattern is none of the grid's */
#define GP_ROWGRID_VALUES  ((uint64_t)1 << 62) /* or its values are its own */

typedef struct {
  double  value;
  int32_t offset; /* column less row */
  int32_t unused;
} GpRowEntry;

/* The longest pattern, when it is that of a grid: the same few columns in planes one stride apart, of which rows near the
   grid's faces lack some.  Entry `columns * plane + column` is at `offset[column] + plane * stride` from the row. */
typedef struct {
  int32_t  columns, planes; /* 0: no grid */
  int32_t  whole;           /* the pattern that has all entries */
  int32_t  stride, offset[GP_ROWGRID_COLUMNS];
  uint64_t full;
  double   value[GP_ROWGRID_ENTRIES];
} GpRowGrid;

typedef struct {
  int32_t     npatterns, nentries, width; /* bytes of a code: 1 or 2 */
  void       *code;                       /* [m] */
  int32_t    *start;                      /* [npatterns+1] */
  GpRowEntry *entry;                      /* [nentries] */
  GpRowGrid   grid;
  uint64_t   *mask;  /* [npatterns] the grid's entries that a pattern has, or GP_ROWGRID_OTHER; NULL without a grid */
  double     *value; /* [npatterns * columns * planes] of the grid, by patterns: their values at its entries */
} GpRowCode;

#if defined(__cplusplus)
extern "C" {
#endif
int      GpRowGridFind(const GpRowEntry entry[], int32_t n, GpRowGrid *G);                       /* 0: this pattern is that of none of the grids */
uint64_t GpRowGridMask(const GpRowGrid *G, const GpRowEntry entry[], int32_t n, double value[]); /* of a pattern; its values where the grid has entries, the others are left */
#if defined(__cplusplus)
}
#endif
#endif
