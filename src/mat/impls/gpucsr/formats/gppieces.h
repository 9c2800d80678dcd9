/* Rows in pieces: what the formats bin, hub and panel share.

   A row is cut into pieces of at most `longest` nonzeros, pieces of like length stand together, 32 of them a slice, one lane
   a piece.  The nonzeros of a slice stand in two sections: first those whose entries of x are staged in shared memory (hot),
   then the others (cold).  Column j of slice s begins at slot 32*(base[s]+j) of the values, hot columns at 32*(hbase[s]+j) of
   the hot codes, cold ones at 32*(base[s]-hbase[s]+j) of the cold codes.  A code says where the entry of x stands; 0 says
   that there is nothing, so that padding reads no entry of x (it may be infinite).

   A row in one piece is finished by its lane; the pieces of the others leave partial sums that a second step adds in order.

   When all nonzeros have one value, as in a graph without weights, it is kept once: half the bytes, and less, of a product. */
#ifndef GPPIECES_H
#define GPPIECES_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_PIECE_LANES 32
#define GP_PIECE_IDLE  INT32_MIN /* out of a lane without a piece */
#define GP_PIECE_MOST  64        /* nonzeros: a mask has as many bits */
#define GP_PIECE_MANY  64        /* a row of more pieces than this is a long span */

typedef struct {
  int32_t   longest; /* most nonzeros of a piece */
  int32_t   npieces, nslices;
  int32_t   nspans, nshort; /* rows that are not one piece; how many of them have few */
  int32_t   npanels;        /* sets of columns, each with slices and thread blocks of its own */
  int32_t   nblocks;        /* thread blocks, when they stage x in shared memory */
  int32_t   columns;        /* of the matrix */
  int32_t   width;          /* of them in a panel: hot code 1 is its first */
  int32_t   hot;            /* entries staged in shared memory, the first is zero; 0: none */
  int32_t   packed;         /* cold codes below mean entries of xp, code packed+j means x[j] */
  int       codebytes;      /* of a cold code: 2 or 4 */
  int       same;           /* do all nonzeros have the one value in val? */
  int64_t   slots, hotslots;
  int32_t  *base, *hbase; /* [nslices+1] */
  int32_t  *out;          /* [32*nslices] the row; ~place in part when the row has several pieces */
  int32_t  *from;         /* [32*nslices] first nonzero */
  int32_t  *shape;        /* [32*nslices] how many hot, how many cold << 8, distance between them << 16 */
  uint64_t *mask;         /* [32*nslices] or NULL: which nonzeros of the piece are hot; NULL: all, or with hot 0 none */
  int32_t  *pslice;       /* [npanels+1] first slice of a panel */
  int32_t  *pblock;       /* [npanels+1] first block of a panel */
  int32_t  *span;         /* [3*nspans] row, its first and its end in part; those with many pieces last */
  int32_t  *pack;         /* [packed] or NULL: the column in every place of xp; the first holds zero */
  uint16_t *hotcode;      /* [hotslots] */
  void     *code;         /* [slots-hotslots] */
  void     *val;          /* [slots], or [1] */
  double   *xp;           /* [packed] the entries of x that many nonzeros meet, side by side */
  double   *part;         /* [npieces] */
} GpPieces;

#define GpPiecesValues(P) ((P)->same ? (size_t)1 : (size_t)(P)->slots)

#define GP_PIECE_ALIGN(bytes) (((size_t)(bytes) + 255) / 256 * 256) /* arrays that share a piece of memory begin there */

/* most nonzeros of a piece: short enough for many more slices than warps, long enough for few partial sums */
static inline int32_t GpPieceLongest(int64_t nnz)
{
  int32_t longest = 8;

  while (longest < GP_PIECE_MOST && nnz >> 17 >= longest) longest *= 2;
  return longest;
}

#if defined(__cplusplus)
extern "C" {
#endif
/* Where the pieces come from: panel p of row i holds the nonzeros [begin[p*m+i], end[p*m+i]); map gives every column its
   code, of which those below P->hot are hot, or is NULL: all nonzeros are hot, or with P->hot 0 none.
   P->npanels, width, hot, packed, codebytes, pack and xp are set before. */
GpErr  GpPiecesBuild_Host(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesBuild_CUDA(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesRefill_Host(const GpPieces *P, const GpCsr *C); /* new values on the same pattern */
GpErr  GpPiecesRefill_CUDA(const GpPieces *P, const GpCsr *C);
GpErr  GpPiecesRefill(const GpPieces *P, const GpCsr *C);
GpErr  GpPiecesMakeLanes(GpPieces *P, GpDev dev, int masked); /* room for what a build finds: of nslices slices and their lanes */
GpErr  GpPiecesMakeSlots(GpPieces *P, const GpCsr *C);        /* of slots, hotslots of them hot */
void   GpPiecesDestroy(GpPieces *P, const GpCsr *C);
double GpPiecesBytes(const GpPieces *P, const GpCsr *C);
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C);
#if defined(__cplusplus)
}
#endif

#endif
