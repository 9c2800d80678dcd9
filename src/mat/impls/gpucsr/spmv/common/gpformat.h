/* Sparse matrices on a device: the compressed rows from which every format is built, and the table of formats. */
#ifndef GPFORMAT_H
#define GPFORMAT_H

#include "device/gpsteps.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_WARP 32 /* lanes of a warp, and rows of a slice */

/* Precision of the stored values. Products and sums are always double. */
typedef enum {
  GP_F32,
  GP_F64,
  GP_PRECISIONS
} GpPrec;

#define GpPrecBytes(prec) ((prec) == GP_F32 ? sizeof(float) : sizeof(double))

/* Compressed sparse rows. All arrays are device memory. */
typedef struct {
  GpDev    dev;
  GpPrec   prec;
  int32_t  m, n, nnz;
  int32_t *rowptr; /* [m+1] */
  int32_t *col;    /* [nnz] in the order of the source; in a transpose ascending within a row */
  void    *val;    /* [nnz] float or double */
} GpCsr;

/* Rounding error of the conversion of values to the stored precision. */
typedef struct {
  double  worst;    /* largest |stored - value| / |value| */
  int64_t at;       /* the nonzero with the largest error; -1: no value changed */
  int64_t overflow; /* the first nonzero that overflowed; -1: none */
  int64_t rounded;  /* number of nonzeros that changed; -1: not counted yet */
  int64_t lost;     /* number of nonzeros with a relative change above GP_LOST, for example those that became zero; -1: not counted yet */
} GpLoss;

#define GP_LOST 0.1 /* with a larger relative error no decimal digit is correct */

GpErr  GpCsrCreate(GpDev dev, GpPrec prec, int32_t m, int32_t n, int32_t nnz, GpCsr *A);
void   GpCsrDestroy(GpCsr *A);
double GpCsrBytes(const GpCsr *A); /* bytes of all arrays, which a product reads */

/* Builds the transpose, with ascending columns in each row. perm[nnz] is device memory that receives the source of every nonzero, or NULL. */
GpErr  GpCsrTranspose(const GpCsr *A, GpCsr *At, int32_t *perm);
GpErr  GpCsrTransposeTo(const GpCsr *A, GpCsr *At);                          /* the caller has allocated the arrays of At; the host waits for nothing */
double GpCsrTransposeWorkspace(GpDev dev, double nnz);                       /* upper bound in bytes on the workspace that the two functions above borrow */
GpErr  GpCsrTransposeValues(const GpCsr *A, const int32_t *perm, GpCsr *At); /* refills the values of a transpose */

/* Operations that change values on the same pattern. */
typedef enum {
  GP_UPDATE_SCALE,    /* factor * A */
  GP_UPDATE_DIAGONAL, /* diag(row) * A * diag(column); either may be NULL */
  GP_UPDATE_SHIFT,    /* A + factor * I; the pattern contains the whole diagonal */
  GP_UPDATE_AXPY,     /* A + factor * other, which has the pattern of A */
  GP_UPDATE_SET       /* the array `values` */
} GpCsrUpdateKind;

/* Parameters of an operation on values. All arrays are device memory. */
typedef struct {
  GpCsrUpdateKind kind;
  double          factor;
  const double   *row, *column;
  int             columnfirst; /* 1: multiply by column[] before row[] */
  const double   *values;
  const void     *other; /* values of the other matrix, in precision otherprec */
  GpPrec          otherprec;
} GpCsrUpdate;

GpErr GpCsrUpdateValues(GpCsr *A, const GpCsrUpdate *u, GpLoss *loss);                  /* after an overflow the values are unusable */
void  GpCsrAxpyHost(int64_t n, double a, const double x[], double y[]);                 /* GP_UPDATE_AXPY on host arrays, with the same bits */
GpErr GpCsrDiagonal(const GpCsr *A, double *diagonal);                                  /* [m] device memory; 0 where the pattern has no diagonal entry */
GpErr GpCsrMultBlocks(const GpCsr *A, const int32_t *span, const double *x, double *y); /* y = D x; row i of D is row i of A, limited to columns span[2 i] to span[2 i + 1] - 1 */

GpErr GpCsrSame(const GpCsr *A, int *same); /* sets same to 1 if all nonzeros have one finite value */
GpErr GpCsrStillSame(const GpCsr *A);       /* GP_ERR_ARGUMENT if the nonzeros no longer have one value */

#define GP_SAME_FIRST 4096 /* number of nonzeros that are checked first; they suffice for most matrices */

GP_PAIR(GpCsrDiffers, const GpCsr *A, int64_t n, int32_t *other); /* does not wait; sets *other, in device memory, to 1 if the first n nonzeros differ */

/* Assembly from entries in any order. Nonzero k is the sum of the entries source[start[k]] to source[start[k+1]-1], in that order. */
typedef struct {
  GpDev    dev;
  int32_t  nnz, n;
  int32_t *start;  /* [nnz+1] device memory */
  int32_t *source; /* [n] device memory: indices of the entries that are used */
} GpCoo;

GpErr GpCooCreate(GpDev dev, int32_t nnz, const int32_t start[], const int32_t source[], GpCoo *C); /* start and source are host memory */
void  GpCooDestroy(GpCoo *C);
GpErr GpCooSum(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum); /* all arrays are device memory; entry k is more[k - n] for k >= n */

typedef enum {
#define FORMAT(id, stem, host, help) GP_FMT_##id,
#include "mat/impls/gpucsr/spmv/common/formats.def"
#undef FORMAT
  GP_FORMATS
} GpFmtId;

/* A matrix in one of the formats. */
typedef struct {
  GpFmtId      id;
  const GpCsr *csr;  /* compressed rows from which the format was built, and which it may use; not owned */
  void        *data; /* what the format adds to the compressed rows; owned */
} GpFmt;

/* Backends that build a format. */
typedef enum {
  GP_FMT_BOTH,
  GP_FMT_CUDA,  /* the CUDA backend; the host backend keeps the compressed rows */
  GP_FMT_VENDOR /* the CUDA backend only: a format of cuSPARSE */
} GpFmtWhere;

/* Functions of a format. build() gets a host copy of csr->rowptr. A format that stores its own copy of the values must implement refill(). */
typedef struct {
  const char *name, *help;
  GpFmtWhere  where;
  GpErr (*build)(GpFmt *, const int32_t rowptr[]);
  GpErr (*refill)(GpFmt *);
  void (*destroy)(GpFmt *);
  double (*bytes)(const GpFmt *);
  double (*traffic)(const GpFmt *);
  GpErr (*mult[GP_PRECISIONS])(const GpFmt *, const double *x, const double *z, double *y); /* product on the host (GpSpmvFn); all kernels of the format share it */
} GpFmtRow;

extern const GpFmtRow GpFmtTable[GP_FORMATS];

/* rowptr: the host's copy of csr->rowptr; NULL: there is none, and the row pointers are downloaded if the format is built from them on the host */
GpErr  GpFmtBuild(GpFmt *A, GpFmtId id, const GpCsr *csr, const int32_t rowptr[]);
GpErr  GpFmtRefill(GpFmt *A); /* call after the values of csr changed on the same pattern */
void   GpFmtDestroy(GpFmt *A);
double GpFmtBytes(const GpFmt *A);   /* bytes in addition to the compressed rows */
double GpFmtTraffic(const GpFmt *A); /* bytes of the matrix and of partial sums that a product moves, without vectors */

/* Tiles of format csrtile. Tile t holds the nonzeros start[t] to start[t+1] - 1, at most GP_TILE, and at most GP_TILE_ROWS row starts. A row
   within one tile is finished there. A row that crosses the end of a tile (a span) gets partial sums, which a second kernel adds in order. */
#define GP_TILE      2048
#define GP_TILE_ROWS 1024

typedef struct {
  int32_t  ntiles, nspans;
  int32_t *start;   /* [ntiles+1] first nonzero of the tile; start[ntiles] = nnz */
  int32_t *row;     /* [ntiles+1] first row that starts in the tile; row[ntiles] = m */
  int32_t *spanrow; /* [nspans] rows that cross the end of a tile */
  int32_t *spanend; /* [2*nspans] first and last tile of each span */
  double  *head;    /* [ntiles] sum of the tile's nonzeros before its first row start */
  double  *tail;    /* [ntiles] sum of the tile's last row, if that row continues in the next tile */
} GpCsrTile;

/* Builds tiles of at most `nonzeros` nonzeros and `rows` row starts; head and tail stay NULL. */
GpErr GpCsrTileCreate(const GpCsr *A, const int32_t rowptr[], int32_t nonzeros, int32_t rows, GpCsrTile *T);
void  GpCsrTileDestroy(GpDev dev, GpCsrTile *T);

/* Format csrlist: the nonempty rows. */
typedef struct {
  int32_t  n;
  int32_t *row; /* [n] nonempty rows, ascending */
} GpCsrList;

/* Format csrpanel: smaller tiles for products with several vectors, because every nonzero is more work. The workspace holds vectors packed by
   rows, and partial sums. It grows to the largest size that a product needed. */
#define GP_PANEL_TILE 1024
#define GP_PANEL_ROWS 128

typedef struct {
  GpCsrTile tile; /* head and tail are NULL */
  double   *work;
  size_t    nwork;
} GpCsrPanel;

GpErr GpCsrPanelWork(const GpFmt *A, size_t n, double **work); /* returns workspace for n doubles */

#if defined(__cplusplus)
}
#endif
#endif
