/* Sparse matrices on a device: the compressed rows that every format is built from, and the table of formats. */
#ifndef GPFORMAT_H
#define GPFORMAT_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* precision of the stored values; products and sums are double always */
typedef enum {
  GP_F32,
  GP_F64,
  GP_PRECISIONS
} GpPrec;

#define GpPrecBytes(prec) ((prec) == GP_F32 ? sizeof(float) : sizeof(double))

/* compressed sparse rows; all arrays are device memory */
typedef struct {
  GpDev    dev;
  GpPrec   prec;
  int32_t  m, n, nnz;
  int32_t *rowptr; /* [m+1] */
  int32_t *col;    /* [nnz] in the order of the source, ascending within a row of a transpose */
  void    *val;    /* [nnz] float or double */
} GpCsr;

/* what narrowing the values to the stored precision did to them */
typedef struct {
  double  worst;    /* largest |stored - value| / |value| */
  int64_t at;       /* the nonzero where that was; -1: nothing changed */
  int64_t overflow; /* the first nonzero that became infinite; -1: none */
  int64_t rounded;  /* nonzeros that changed; -1: not counted yet */
  int64_t lost;     /* nonzeros that changed by more than GP_LOST of themselves, to zero for example; -1: not counted yet */
} GpLoss;

#define GP_LOST 0.1 /* no decimal digit is correct any more */

GpErr  GpCsrCreate(GpDev dev, GpPrec prec, int32_t m, int32_t n, int32_t nnz, GpCsr *A);
void   GpCsrDestroy(GpCsr *A);
double GpCsrBytes(const GpCsr *A); /* held, and read by a product */

/* the transpose, rows in ascending order; perm[nnz] (device memory; NULL: not wanted) receives the source of every nonzero */
GpErr GpCsrTranspose(const GpCsr *A, GpCsr *At, int32_t *perm);
GpErr GpCsrTransposeValues(const GpCsr *A, const int32_t *perm, GpCsr *At); /* new values on the same pattern */

/* new values on the same pattern */
typedef enum {
  GP_UPDATE_SCALE,    /* factor * A */
  GP_UPDATE_DIAGONAL, /* row * A * column, as diagonal matrices; NULL: none */
  GP_UPDATE_SHIFT,    /* A + factor * I, of which every entry has a place in the pattern */
  GP_UPDATE_AXPY,     /* A + factor * other, which has A's pattern */
  GP_UPDATE_SET       /* values */
} GpCsrUpdateKind;

/* all arrays are device memory */
typedef struct {
  GpCsrUpdateKind kind;
  double          factor;
  const double   *row, *column;
  int             columnfirst; /* the order in which a value meets them */
  const double   *values;
  const void     *other; /* its values, in otherprec */
  GpPrec          otherprec;
} GpCsrUpdate;

GpErr GpCsrUpdateValues(GpCsr *A, const GpCsrUpdate *u, GpLoss *loss);                  /* after an overflow the values are unusable */
void  GpCsrAxpyHost(int64_t n, double a, const double x[], double y[]);                 /* GP_UPDATE_AXPY for the host's own arrays: the same bits */
GpErr GpCsrDiagonal(const GpCsr *A, double *diagonal);                                  /* [m] device memory; 0 where the pattern has no place */
GpErr GpCsrMultBlocks(const GpCsr *A, const int32_t *span, const double *x, double *y); /* y = D x; row i of D is that of A, of the columns span[2 i] to span[2 i + 1] alone */

GpErr GpCsrSame(const GpCsr *A, int *same); /* have all nonzeros one value, which is finite? */
GpErr GpCsrStillSame(const GpCsr *A);       /* GP_ERR_ARGUMENT if they no longer have */

#define GP_SAME_FIRST 4096 /* nonzeros that tell of most matrices that they have not */

GpErr GpCsrDiffers_Host(const GpCsr *A, int64_t n, int32_t *other); /* for twins, which wait for nothing: *other, device memory, becomes 1 if the first n have not */
GpErr GpCsrDiffers_CUDA(const GpCsr *A, int64_t n, int32_t *other);

/* assembly from entries in any order: nonzero k is the sum of the entries source[start[k]] ... source[start[k+1]-1], in that order */
typedef struct {
  GpDev    dev;
  int32_t  nnz, n;
  int32_t *start;  /* [nnz+1] device memory */
  int32_t *source; /* [n] device memory: of the entries, those that count */
} GpCoo;

GpErr GpCooCreate(GpDev dev, int32_t nnz, const int32_t start[], const int32_t source[], GpCoo *C); /* from host memory */
void  GpCooDestroy(GpCoo *C);
GpErr GpCooSum(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum); /* device memory; entry k is more[k - n] for k >= n */

typedef enum {
#define FORMAT(id, stem, help) GP_FMT_##id,
#include "mat/impls/gpucsr/formats/formats.def"
#undef FORMAT
  GP_FORMATS
} GpFmtId;

/* a matrix in one of the formats; what a format adds to the compressed rows stands in data */
typedef struct {
  GpFmtId      id;
  const GpCsr *csr;  /* borrowed: the rows it was built from and may go on using */
  void        *data; /* owned */
} GpFmt;

/* build: rowptr is the host's copy of csr->rowptr.  A format that keeps values of its own must offer refill. */
typedef struct {
  const char *name, *help;
  GpErr (*build)(GpFmt *, const int32_t rowptr[]);
  GpErr (*refill)(GpFmt *);
  void (*destroy)(GpFmt *);
  double (*bytes)(const GpFmt *);
  double (*traffic)(const GpFmt *);
} GpFmtRow;

extern const GpFmtRow GpFmtTable[GP_FORMATS];

GpErr  GpFmtBuild(GpFmt *A, GpFmtId id, const GpCsr *csr, const int32_t rowptr[]);
GpErr  GpFmtRefill(GpFmt *A); /* the values of csr changed, its pattern did not */
void   GpFmtDestroy(GpFmt *A);
double GpFmtBytes(const GpFmt *A);   /* beyond the compressed rows */
double GpFmtTraffic(const GpFmt *A); /* bytes of the matrix that a product must read, and of partial sums; vectors apart */

/* csrtile: tile t holds the nonzeros [start[t], start[t+1]), at most GP_TILE of them whatever rows they belong to, and at most
   GP_TILE_ROWS row starts.  A row inside one tile is finished there; a row that crosses a tile's end (a span) leaves partial
   sums that a second step adds in order. */
#define GP_TILE      2048
#define GP_TILE_ROWS 1024

typedef struct {
  int32_t  ntiles, nspans;
  int32_t *start;   /* [ntiles+1] first nonzero of the tile; start[ntiles] = nnz */
  int32_t *row;     /* [ntiles+1] first row that starts in the tile; row[ntiles] = m */
  int32_t *spanrow; /* [nspans] the rows that cross a tile's end */
  int32_t *spanend; /* [2*nspans] the tile where it starts, the tile where it ends */
  double  *head;    /* [ntiles] sum of the tile's nonzeros before its first row start */
  double  *tail;    /* [ntiles] sum of the tile's last row when that goes on */
} GpCsrTile;

/* tiles of other sizes, head and tail stay NULL.  rows 0: the tiles are equal pieces of the merge path, where a nonzero is a step and the
   end of a row is one */
GpErr GpCsrTileCreate(const GpCsr *A, const int32_t rowptr[], int32_t nonzeros, int32_t rows, GpCsrTile *T);
GpErr GpCsrTileSums(GpDev dev, GpCsrTile *T); /* room for head and tail */
void  GpCsrTileDestroy(GpDev dev, GpCsrTile *T);

/* csrflag: the same with tiles of exactly GP_FLAG_TILE nonzeros, in chunks of GP_FLAG_CHUNK.  Row starts are bits, so that a product
   reads no row pointers: rows that have entries are numbered, and the k-th bit that is set is the start of the k-th of them. */
#define GP_FLAG_EACH  8 /* neighbouring nonzeros that a lane adds up: their bits are a byte */
#define GP_FLAG_CHUNK (32 * GP_FLAG_EACH)
#define GP_FLAG_TILE  (8 * GP_FLAG_CHUNK)

typedef struct {
  GpCsrTile tile;
  int       same;  /* have all nonzeros one value? */
  int32_t   n;     /* rows that have entries */
  uint32_t *flag;  /* [ntiles * GP_FLAG_TILE / 32 + 1] bit k % 32 of flag[k / 32] for nonzero k; one more bit stands at nnz */
  int32_t  *rank;  /* [ntiles * (GP_FLAG_TILE / GP_FLAG_CHUNK) + 1] bits set before each chunk */
  int32_t  *row;   /* [n] the rows that have entries; NULL: all have */
  int32_t  *empty; /* [m-n] the others */
} GpCsrFlag;

/* csrlist: the rows that have entries */
typedef struct {
  int32_t  n;
  int32_t *row; /* [n] ascending */
} GpCsrList;

/* csrmerge: tiles of GP_MERGE steps of the merge path, so of at most as many nonzeros, and row starts */
#define GP_MERGE 2048

/* a format that is tiles and nothing else is built so, and does as csrtile in the rest */
GpErr  GpCsrTileBuild(GpFmt *A, const int32_t rowptr[], int32_t nonzeros, int32_t rows);
void   GpFmtDestroy_csrtile(GpFmt *A);
double GpFmtBytes_csrtile(const GpFmt *A);
double GpFmtTraffic_csrtile(const GpFmt *A);

/* csrpanel: the same for products with many vectors, in smaller tiles, for every nonzero is more work.  The work space holds
   vectors packed by rows and partial sums; it grows to what the largest product needed. */
#define GP_PANEL_TILE 1024
#define GP_PANEL_ROWS 128

typedef struct {
  GpCsrTile tile; /* without its sums */
  double   *work;
  size_t    nwork;
} GpCsrPanel;

GpErr GpCsrPanelWork(const GpFmt *A, size_t n, double **work); /* room for n doubles */

#if defined(__cplusplus)
}
#endif
#endif
