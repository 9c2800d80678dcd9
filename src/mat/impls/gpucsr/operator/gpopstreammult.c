/* Products with a matrix whose encoded chunks are streamed to the device. */
#include "mat/impls/gpucsr/operator/gpopstreamimpl.h"

#define GP_OP_PACKED ((size_t)256 << 20) /* upper bound in bytes on the packed columns; batches of GP_SEGMENT_WIDE or fewer vectors may exceed it */

typedef struct {
  GpOpStream           S;
  int                  kernel;     /* kernel of a product with one vector */
  const double        *z;          /* product with one vector: the vector to add, or NULL */
  int                  add;        /* products with several vectors: 1: the product is added to y */
  int                  transposed; /* 1: the product with the transpose, from the chunks of the matrix */
  int64_t              k, incx, incy;
  int64_t              batch; /* number of columns that a kernel multiplies at once */
  const double *const *x;
  double *const       *y;
} GpOpStreamProduct;

static int GpOpStreamIsSingle(const GpOpStreamProduct *P)
{
  return P->k == 1 && P->incx == 1 && P->incy == 1;
}

/* Allocates the workspace of the kernels for the largest chunk. All chunks multiply the same vectors; if one batch holds all vectors, they are packed once for the product. */
static GpErr GpOpStreamPrepare(GpOpStreamProduct *P)
{
  GpOpStream    S = P->S;
  GpCsrSegment *G = &S->segment;
  const int32_t n = P->transposed ? S->most_rows : (int32_t)S->chunks.n;

  P->kernel = (P->transposed ? &S->transposed_choice : &S->choice)->kernel;
  P->batch  = GP_SPMM_COLUMNS;
  while (P->batch > GP_SEGMENT_WIDE && (size_t)n * (size_t)P->batch * sizeof(double) > GP_OP_PACKED) P->batch /= 2;
  G->longest = P->transposed ? S->most_nonzeros : GpOpStreamCap(S->chunks.table.longest);
  G->keep    = !P->transposed && P->k <= P->batch;
  G->packed  = 0;
  if (GpDevKindOf(S->dev) == GP_DEV_HOST) return GP_SUCCESS; /* its products need no workspace */
  if (!GpOpStreamIsSingle(P)) return GpCsrSegmentReserve(S->dev, G, GpCsrSegmentSizeMany(G, S->most_nonzeros, n, (int32_t)(P->k < P->batch ? P->k : P->batch)));
  return GpKernelTable[P->kernel].format == GP_FMT_CSRSEGMENT ? GpCsrSegmentReserve(S->dev, G, GpCsrSegmentSize(G, S->most_nonzeros)) : GP_SUCCESS;
}

/* Multiplies by compressed rows A, which are rows `row` to row + A->m - 1 and columns `column` to column + A->n - 1 of the matrix of the product. If add is 1, the product is added
   to y. */
static GpErr GpOpStreamMultiply(const GpOpStreamProduct *P, const GpCsr *A, int64_t row, int64_t column, int add)
{
  const int        backend = GpDevKindOf(A->dev), single = GpOpStreamIsSingle(P);
  const GpSpmmRow *many = &GpSpmmTable[GP_SPMM_mmsegment16];
  const GpFmt      F    = {.id = single ? GpKernelTable[P->kernel].format : many->format, .csr = A, .data = &P->S->segment};
  GpErr            err  = GP_SUCCESS;

  if (single) {
    const double *z = add ? P->y[0] : P->z;

    return GpKernelTable[P->kernel].mult[backend][A->prec](&F, P->x[0] + column, z ? z + row : NULL, P->y[0] + row);
  }
  for (int64_t c = 0; !err && c < P->k; c += P->batch) {
    GpColumns C = {.k = (int32_t)(P->k - c < P->batch ? P->k - c : P->batch), .add = add, .incx = P->incx, .incy = P->incy};

    for (int32_t j = 0; j < C.k; j++) {
      C.x[j] = P->x[c + j] + column * P->incx;
      C.y[j] = P->y[c + j] + row * P->incy;
    }
    err = many->mult[backend][A->prec](&F, &C);
  }
  return err;
}

static size_t GpOpAlign(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* Computes the offsets in bytes of the columns and values of a transposed chunk, behind its row pointers. Returns the size of all three arrays. */
static size_t GpOpPlaceTransposed(const GpChunkHeader *h, size_t *col, size_t *val)
{
  *col = GpOpAlign(((size_t)h->n + 1) * sizeof(int32_t));
  *val = *col + GpOpAlign((size_t)h->nnz * sizeof(int32_t));
  return *val + GpOpAlign((size_t)h->nnz * GpPrecBytes((GpPrec)h->prec));
}

/* Transposes a chunk on the device. */
static GpErr GpOpStreamTransposeChunk(GpOpStream S, const GpCsr *C, GpCsr *T)
{
  const GpChunkHeader h  = {.n = C->n, .nnz = C->nnz, .prec = (uint8_t)C->prec};
  char               *at = (char *)S->transposed;
  size_t              col, val;

  (void)GpOpPlaceTransposed(&h, &col, &val);
  *T = (GpCsr){.dev = C->dev, .prec = C->prec, .m = C->n, .n = C->m, .nnz = C->nnz, .rowptr = (int32_t *)at, .col = (int32_t *)(at + col), .val = at + val};
  return GpCsrTransposeTo(C, T);
}

/* Decodes a chunk and multiplies by its rows, or transposes it and adds the product with the transpose to y. */
static GpErr GpOpStreamUseChunk(void *context, int64_t item, const void *device, void *result)
{
  const GpOpStreamProduct *P    = (const GpOpStreamProduct *)context;
  GpOpStream               S    = P->S;
  const GpChunkHeader     *head = &S->chunks.head[item];
  GpCsr                    C, T;
  GpErr                    err = GpChunkDecode(S->dev, head, device, S->work, &C);

  (void)result;
  if (err) return err;
  if (!P->transposed) return GpOpStreamMultiply(P, &C, head->first, 0, P->add);
  err = GpOpStreamTransposeChunk(S, &C, &T);
  return err ? err : GpOpStreamMultiply(P, &T, 0, head->first, 1);
}

static GpErr GpOpStreamRun(GpOpStreamProduct *P)
{
  GpErr err = GpOpStreamPrepare(P);

  return err ? err : GpStreamVisit(P->S->stream, GpOpStreamUseChunk, P);
}

GpErr GpOpStreamMult(GpOpStream S, const double *x, const double *z, double *y)
{
  GpOpStreamProduct P = {.S = S, .z = z, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};

  return GpOpStreamRun(&P);
}

GpErr GpOpStreamMultMany(GpOpStream S, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[])
{
  GpOpStreamProduct P = {.S = S, .add = add, .k = k, .incx = incx, .incy = incy, .x = x, .y = y};

  return k ? GpOpStreamRun(&P) : GP_SUCCESS;
}

/* Allocates memory for the largest transposed chunk, unless an earlier product has done so. */
static GpErr GpOpStreamAllocTransposed(GpOpStream S)
{
  size_t need = 0, col, val;
  GpErr  err;

  if (S->transposed) return GP_SUCCESS;
  for (int64_t c = 0; c < S->chunks.table.nchunks; c++) {
    const size_t bytes = GpOpPlaceTransposed(&S->chunks.head[c], &col, &val);

    need = bytes > need ? bytes : need;
  }
  S->transposed_bytes = need;
  S->sort_bytes       = (size_t)GpCsrTransposeWorkspace(S->dev, S->most_nonzeros);
  err                 = GpDevAlloc(S->dev, need, &S->transposed);
  if (err) S->transposed_bytes = 0;
  return err;
}

/* Allocates the workspace of the sort before a visit that transposes chunks. During the visit the allocation could fail, because only few resident chunks can be freed then. GpDevKeepWorkspace()
   keeps the workspace for the visit. An allocation that fails frees kept workspace, so everything else must be allocated before: the caller allocates the workspace of the kernels, and this
   function the device buffers. The caller must call GpDevDropWorkspace() after the visit, also after an error. */
static GpErr GpOpStreamKeepSort(GpOpStream S)
{
  void *sort = NULL;
  GpErr err;

  GpDevKeepWorkspace(S->dev);
  err = GpStreamSetUp(S->stream);
  if (!err) err = GpDevBorrow(S->dev, S->sort_bytes, &sort);
  GpDevReturn(S->dev, &sort, S->sort_bytes);
  return err;
}

static GpErr GpOpStreamRunTransposed(GpOpStreamProduct *P)
{
  GpErr err = GpOpStreamPrepare(P);

  if (err) return err;
  err = GpOpStreamKeepSort(P->S);
  if (!err) err = GpStreamVisit(P->S->stream, GpOpStreamUseChunk, P);
  GpDevDropWorkspace(P->S->dev);
  return err;
}

GpErr GpOpStreamMultTransposed(GpOpStream S, const double *x, const double *z, double *y)
{
  const size_t      bytes = (size_t)S->chunks.n * sizeof(double);
  GpOpStreamProduct P     = {.S = S, .transposed = 1, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};
  GpErr             err   = GpOpStreamAllocTransposed(S);

  if (!err && z != y) err = z ? GpDevCopyWithin(S->dev, y, z, bytes) : GpDevZero(S->dev, y, bytes);
  return err ? err : GpOpStreamRunTransposed(&P);
}

GpErr GpOpStreamMultManyTransposed(GpOpStream S, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[])
{
  const size_t      bytes = (size_t)S->chunks.n * (size_t)incy * sizeof(double);
  GpOpStreamProduct P     = {.S = S, .transposed = 1, .k = k, .incx = incx, .incy = incy, .x = x, .y = y};
  GpErr             err   = GpOpStreamAllocTransposed(S);

  for (int64_t c = 0; !err && !add && c < (incy == 1 ? k : 1); c++) err = GpDevZero(S->dev, y[c], bytes);
  return err || !k ? err : GpOpStreamRunTransposed(&P);
}

/* --- passes -------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GpOpStream    S;
  GpOpStreamUse use;
  void         *context;
} GpOpStreamPassContext;

static GpErr GpOpStreamPassChunk(void *context, int64_t item, const void *device, void *result)
{
  const GpOpStreamPassContext *P     = (const GpOpStreamPassContext *)context;
  const GpChunkHeader         *head  = &P->S->chunks.head[item];
  GpOpStreamChunk              chunk = {.S = P->S, .first = head->first, .m = head->m};
  const GpErr                  err   = GpChunkDecode(P->S->dev, head, device, P->S->work, &chunk.rows);

  (void)result;
  return err ? err : P->use(P->context, &chunk);
}

/* Before the visit, allocates the workspace for products with a chunk and with its transpose. */
GpErr GpOpStreamPass(GpOpStream S, GpOpStreamUse use, void *context)
{
  GpOpStreamPassContext C   = {S, use, context};
  GpErr                 err = GP_SUCCESS;

  for (int t = 0; !err && t < 2; t++) {
    GpOpStreamProduct P = {.S = S, .transposed = t, .k = 1, .incx = 1, .incy = 1};

    err = GpOpStreamPrepare(&P);
  }
  if (!err) err = GpOpStreamAllocTransposed(S);
  if (err) return err;
  err = GpOpStreamKeepSort(S);
  if (!err) err = GpStreamVisit(S->stream, GpOpStreamPassChunk, &C);
  GpDevDropWorkspace(S->dev);
  return err;
}

GpErr GpOpStreamChunkMult(GpOpStreamChunk *C, const double *x, double *y)
{
  GpOpStreamProduct P   = {.S = C->S, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};
  GpErr             err = GpOpStreamPrepare(&P);

  return err ? err : GpOpStreamMultiply(&P, &C->rows, 0, 0, 0);
}

GpErr GpOpStreamChunkMultTransposeAdd(GpOpStreamChunk *C, const double *x, double *y)
{
  GpOpStreamProduct P   = {.S = C->S, .transposed = 1, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};
  GpErr             err = GpOpStreamPrepare(&P);

  if (!err && !C->transposed) err = GpOpStreamTransposeChunk(C->S, &C->rows, &C->transpose);
  if (err) return err;
  C->transposed = 1;
  return GpOpStreamMultiply(&P, &C->transpose, 0, 0, 1);
}
