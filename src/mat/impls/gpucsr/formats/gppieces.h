/* Rows in pieces: what the formats bin, hub and panel share.

   A row is cut into pieces of at most `longest` nonzeros, pieces of like length stand together, 32 of them a slice, one lane
   a piece: slot j of lane l of slice s is 32*(base[s]+j)+l.  A row in one piece is finished by its lane; the pieces of the
   others leave partial sums that a second step adds in order.  A column is written as a code: 0 says that there is nothing,
   so that padding reads no entry of x (it may be infinite). */
#ifndef GPPIECES_H
#define GPPIECES_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_SLICE      32
#define GP_PIECE_IDLE INT32_MIN /* out of a lane without a piece */

typedef struct {
  int32_t  longest;   /* most nonzeros of a piece */
  int32_t  npieces, nslices, nspans;
  int32_t  npanels;   /* sets of columns, each with slices and thread blocks of its own */
  int32_t  nblocks;   /* thread blocks, when they stage x in shared memory */
  int32_t  columns;   /* of the matrix */
  int32_t  width;     /* of them in a panel: code 1 is its first */
  int32_t  hot;       /* codes below are staged in shared memory */
  int32_t  packed;    /* codes below stand in xp, code packed+j is column j; hub: in order of falling frequency */
  int      codebytes; /* 2 or 4 */
  int64_t  slots;
  int32_t *base;   /* [nslices+1] */
  int32_t *out;    /* [32*nslices] the row; ~place in part when the row has several pieces */
  int32_t *from;   /* [32*nslices] first nonzero, for a refill */
  int32_t *shape;  /* [32*nslices] how many << 8 | distance between them */
  int32_t *pslice; /* [npanels+1] first slice of a panel */
  int32_t *pblock; /* [npanels+1] first block of a panel */
  int32_t *span;   /* [3*nspans] a row that is not one piece, its first and its end in part */
  int32_t *pack;   /* [packed] the column in every place of xp; the first holds zero */
  void    *code;   /* [slots] */
  void    *val;    /* [slots] */
  double  *xp;     /* [packed] the entries of x that many nonzeros meet, side by side */
  double  *part;   /* [npieces] */
} GpPieces;

#if defined(__cplusplus)
extern "C" {
#endif
/* Where the pieces come from: panel p of row i holds the nonzeros [begin[p*m+i], end[p*m+i]); map gives every column its
   code, or is NULL.  P->npanels, width, hot, packed and pack are set before. */
GpErr  GpPiecesBuild_Host(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesBuild_CUDA(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesRefill(const GpPieces *P, const GpCsr *C);
void   GpPiecesDestroy(GpPieces *P, const GpCsr *C);
double GpPiecesBytes(const GpPieces *P, const GpCsr *C);
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C);
#if defined(__cplusplus)
}
#endif

#endif
