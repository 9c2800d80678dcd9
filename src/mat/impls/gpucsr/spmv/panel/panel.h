/* Format panel: the columns are divided into panels whose part of x fits in shared memory. For long rows over many columns of similar frequency, such
   as the transpose of a bag-of-words matrix.

   The part of a row in a panel is cut into pieces of at most `longest` nonzeros. Pieces of similar length are adjacent. 32 pieces are a slice, with
   one lane for each piece. Column j of slice s begins at slot 32*(base[s]+j) of the values and of the codes. A code is 1 + the position of the column
   in its panel. Code 0 is padding: it reads a zero and no entry of x, which might be infinite.

   A row of one piece is finished by its lane. The pieces of other rows (spans) write partial sums, which a second kernel adds in order.

   If all nonzeros have one value, as in a graph without weights, it is stored once. This saves half of a product's bytes or more. */
#ifndef GPPANEL_H
#define GPPANEL_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_PIECE_IDLE INT32_MIN /* value of `out` for a lane without a piece */
#define GP_PIECE_MOST 64        /* maximum number of nonzeros of a piece */
#define GP_PIECE_MANY 64        /* a row with more pieces than this is a long span */

typedef struct {
  int32_t   longest; /* maximum number of nonzeros of a piece */
  int32_t   npieces, nslices;
  int32_t   nspans, nshort; /* number of spans, that is rows that are not one piece; how many of them have few pieces */
  int32_t   npanels;        /* number of panels; each has its own slices and thread blocks */
  int32_t   nblocks;        /* number of thread blocks */
  int32_t   columns;        /* number of columns of the matrix */
  int32_t   width;          /* number of columns in a panel */
  int       same;           /* 1 if all nonzeros have one value, which is val[0] */
  int64_t   slots;
  int32_t  *base;   /* [nslices+1] slice columns before each slice */
  int32_t  *out;    /* [32*nslices] row of each lane; if the row has several pieces, ~position in part */
  int32_t  *from;   /* [32*nslices] first nonzero */
  int32_t  *shape;  /* [32*nslices] number of nonzeros, distance between consecutive nonzeros << 16 */
  int32_t  *pslice; /* [npanels+1] first slice of each panel */
  int32_t  *pblock; /* [npanels+1] first thread block of each panel */
  int32_t  *span;   /* [3*nspans] row, first and last + 1 position in part; spans with many pieces come last */
  uint16_t *code;   /* [slots] */
  void     *val;    /* [slots], or [1] if `same` is set */
  double   *part;   /* [npieces] partial sums of spans */
} GpPanel;

#define GP_PANEL_ALIGN(bytes) (((size_t)(bytes) + 255) / 256 * 256) /* bytes rounded up to the alignment of arrays that share one allocation */

/* Returns the maximum number of nonzeros of a piece: small enough for many more slices than warps, large enough for few partial sums. */
static inline int32_t GpPieceLongest(int64_t nnz)
{
  int32_t longest = 8;

  while (longest < GP_PIECE_MOST && nnz >> 17 >= longest) longest *= 2;
  return longest;
}

#if defined(__cplusplus)
extern "C" {
#endif
/* Builds the pieces. The caller sets npanels and width. */
GP_PAIR(GpPanelBuild, GpPanel *P, const GpCsr *C);
GP_PAIR(GpPanelPutValues, const GpPanel *P, const GpCsr *C); /* fills in the values of the same pattern */
GpErr GpPanelAllocateLanes(GpPanel *P, GpDev dev);           /* allocates the arrays of nslices slices and of their lanes */
GpErr GpPanelAllocateSlots(GpPanel *P, const GpCsr *C);      /* allocates codes and values */
#if defined(__cplusplus)
}
#endif

#endif
