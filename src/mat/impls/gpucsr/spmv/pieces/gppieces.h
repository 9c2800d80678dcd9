/* Rows in pieces: the part that formats bin, hub and panel have in common.

   A row is cut into pieces of at most `longest` nonzeros. Pieces of similar length are adjacent. 32 pieces are a slice, with one lane for each
   piece. The nonzeros of a slice are in two sections: first the hot ones, whose entries of x are staged in shared memory, then the cold ones.

   Column j of slice s begins at slot 32*(base[s]+j) of the values. Hot columns begin at 32*(hbase[s]+j) of the hot codes, cold ones at
   32*(base[s]-hbase[s]+j) of the cold codes. A code gives the position of the entry of x. Code 0 is padding: it reads a zero and no entry of x,
   which might be infinite.

   A row of one piece is finished by its lane. The pieces of other rows (spans) write partial sums, which a second kernel adds in order.

   If all nonzeros have one value, as in a graph without weights, it is stored once. This saves half of a product's bytes or more. */
#ifndef GPPIECES_H
#define GPPIECES_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_PIECE_LANES 32
#define GP_PIECE_IDLE  INT32_MIN /* value of `out` for a lane without a piece */
#define GP_PIECE_MOST  64        /* maximum number of nonzeros of a piece, the number of bits of a mask */
#define GP_PIECE_MANY  64        /* a row with more pieces than this is a long span */

typedef struct {
  int32_t   longest; /* maximum number of nonzeros of a piece */
  int32_t   npieces, nslices;
  int32_t   nspans, nshort;  /* number of spans, that is rows that are not one piece; how many of them have few pieces */
  int32_t   npanels;         /* number of column panels; each has its own slices and thread blocks */
  int32_t   nblocks;         /* number of thread blocks, if they stage x in shared memory */
  int32_t   columns;         /* number of columns of the matrix */
  int32_t   width;           /* number of columns in a panel; hot code 1 is the first column of the panel */
  int32_t   hot;             /* number of entries staged in shared memory, of which the first is zero; 0: none */
  int32_t   packed;          /* cold codes below `packed` are entries of xp; code packed + j is x[j] */
  int       codebytes;       /* bytes of a cold code: 2 or 4 */
  int       same;            /* 1 if all nonzeros have one value, which is val[0] */
  int64_t   slots, hotslots; /* slots of all values, and of hot ones */
  int32_t  *base, *hbase;    /* [nslices+1] slice columns before each slice: all, and hot ones */
  int32_t  *out;             /* [32*nslices] row of each lane; if the row has several pieces, ~position in part */
  int32_t  *from;            /* [32*nslices] first nonzero */
  int32_t  *shape;           /* [32*nslices] number of hot nonzeros, of cold ones << 8, distance between consecutive nonzeros << 16 */
  uint64_t *mask;            /* [32*nslices] bit e says that nonzero e of the piece is hot; NULL: all are hot, or none if `hot` is 0 */
  int32_t  *pslice;          /* [npanels+1] first slice of each panel */
  int32_t  *pblock;          /* [npanels+1] first thread block of each panel */
  int32_t  *span;            /* [3*nspans] row, first and last + 1 position in part; spans with many pieces come last */
  int32_t  *pack;            /* [packed] column of each entry of xp, or NULL; entry 0 holds zero */
  uint16_t *hotcode;         /* [hotslots] codes of hot nonzeros */
  void     *code;            /* [slots-hotslots] codes of cold nonzeros */
  void     *val;             /* [slots], or [1] if `same` is set */
  double   *xp;              /* [packed] the frequent entries of x, contiguous */
  double   *part;            /* [npieces] partial sums of spans */
} GpPieces;

#define GpPiecesValues(P) ((P)->same ? (size_t)1 : (size_t)(P)->slots)

#define GP_PIECE_ALIGN(bytes) (((size_t)(bytes) + 255) / 256 * 256) /* bytes rounded up to the alignment of arrays that share one allocation */

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
/* Builds the pieces. Panel p of row i holds the nonzeros begin[p*m+i] to end[p*m+i] - 1. map gives the code of every column; codes below P->hot
   are hot. If map is NULL, all nonzeros are hot, or none if P->hot is 0. The caller sets P->npanels, width, hot, packed, codebytes, pack and xp. */
GpErr  GpPiecesBuild_Host(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesBuild_CUDA(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map);
GpErr  GpPiecesRefill_Host(const GpPieces *P, const GpCsr *C); /* call after the values changed on the same pattern */
GpErr  GpPiecesRefill_CUDA(const GpPieces *P, const GpCsr *C);
GpErr  GpPiecesRefill(const GpPieces *P, const GpCsr *C);
GpErr  GpPiecesMakeLanes(GpPieces *P, GpDev dev, int masked); /* allocates the arrays of nslices slices and of their lanes */
GpErr  GpPiecesMakeSlots(GpPieces *P, const GpCsr *C);        /* allocates codes and values of slots, hotslots of which are hot */
void   GpPiecesDestroy(GpPieces *P, const GpCsr *C);
double GpPiecesBytes(const GpPieces *P, const GpCsr *C);
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C);
#if defined(__cplusplus)
}
#endif

#endif
