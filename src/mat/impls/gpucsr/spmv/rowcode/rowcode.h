/* Row codes, for constant stencils. Rows with the same offsets of columns from the row, and the same values, share a pattern. A row is stored as
   the number of its pattern. */
#ifndef GPROWCODE_H
#define GPROWCODE_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

/* Grids for which the kernel has special code: columns of a plane, number of planes, and the bits of the entries that exist, plane by plane. */
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
#define GP_ROWGRID_OTHER   ((uint64_t)1 << 63) /* value of a mask: the pattern does not belong to the grid */
#define GP_ROWGRID_VALUES  ((uint64_t)1 << 62) /* bit of a mask: the values of the pattern differ from those of the grid */

typedef struct {
  double  value;
  int32_t offset; /* column minus row */
  int32_t unused;
} GpRowEntry;

/* The longest pattern, if it is a grid stencil: the same few columns in planes that are one stride apart. Rows near the faces of the grid lack
   some entries. Entry `columns * plane + column` has offset `offset[column] + plane * stride`. */
typedef struct {
  int32_t  columns, planes; /* columns of a plane and number of planes; 0: no grid */
  int32_t  whole;           /* number of the pattern that has all entries */
  int32_t  stride, offset[GP_ROWGRID_COLUMNS];
  uint64_t full;
  double   value[GP_ROWGRID_ENTRIES];
} GpRowGrid;

typedef struct {
  int32_t     npatterns, nentries, width; /* number of patterns, number of all their entries, bytes of a code (1 or 2) */
  void       *code;                       /* [m] code of each row */
  int32_t    *start;                      /* [npatterns+1] first entry of each pattern */
  GpRowEntry *entry;                      /* [nentries] entries of the patterns */
  GpRowGrid   grid;
  uint64_t   *mask;  /* [npatterns] the entries of the grid that a pattern has, or GP_ROWGRID_OTHER; NULL without a grid */
  double     *value; /* [npatterns * columns * planes] values of each pattern at the entries of the grid */
} GpRowCode;

#if defined(__cplusplus)
extern "C" {
#endif
int      GpRowGridFind(const GpRowEntry entry[], int32_t n, GpRowGrid *G);                       /* returns 0 if the pattern is none of the known grids */
uint64_t GpRowGridMask(const GpRowGrid *G, const GpRowEntry entry[], int32_t n, double value[]); /* mask of a pattern; value[] receives its values at the entries of the grid, other elements are not changed */
#if defined(__cplusplus)
}
#endif
#endif
