/* Products with a matrix whose encoded chunks are streamed to the device. */
#include "mat/impls/gpucsr/operator/gpopstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _n_GpOpStream {
  GpDev             dev;
  GpOpStreamOptions options;
  GpOpChunks        chunks;
  GpFeatures        features;
  GpChoice          choice;
  GpStream          stream;
  void             *work; /* device memory in which a chunk is decoded; one suffices, because all work is on one stream */
  size_t            work_bytes;
  void             *turned; /* device memory for a transposed chunk; NULL before the first product with the transpose from the chunks of the matrix */
  size_t            turned_bytes;
  GpChoice          turned_choice; /* kernel that multiplies transposed chunks */
};

/* --- setting up ---------------------------------------------------------------------------------------------------------------------- */

static int32_t GpOpCap(int64_t n)
{
  return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

static int GpOpMultipliesChunks(const GpFeatures *F, int kernel)
{
  const GpKernelRow *row = &GpKernelTable[kernel];

  return row->byrow && row->format == GP_FMT_CSR && row->mult[F->runtime][GP_F32];
}

/* Returns the first candidate of the fixed rule that can multiply chunks. */
static int GpOpChooseFixed(const GpFeatures *F, GpChoice *choice)
{
  const GpSelOptions fixed = {GP_SELECT_FIXED, -1, -1, 0};
  int                c     = 0;

  GpSelChoose(&fixed, F, choice);
  while (c + 1 < choice->candidates && !GpOpMultipliesChunks(F, choice->candidate[c])) c++;
  return choice->candidate[c];
}

/* Chooses the kernels by the row lengths of the whole matrix, so that all chunks have the same kernel. T has the mean row length of a transposed chunk. */
static void GpOpStreamChoose(GpOpStream S, int kernel)
{
  const GpOpChunks *C    = &S->chunks;
  const int64_t     full = C->m - C->empty;
  GpFeatures       *F    = &S->features, T;
  size_t            used;

  *F = (GpFeatures){
    .runtime = GpDevKindOf(S->dev), .compute_units = GpDevComputeUnits(S->dev), .cache = GpDevCacheBytes(S->dev), .m = GpOpCap(C->m), .n = GpOpCap(C->n), .nnz = GpOpCap(C->nnz), .longest = GpOpCap(C->longest), .empty = GpOpCap(C->empty)};
  F->mean                    = full ? (double)C->nnz / (double)full : 0.0;
  T                          = (GpFeatures){.runtime = F->runtime, .compute_units = F->compute_units, .cache = F->cache, .m = F->n, .n = F->m, .mean = C->nchunks && C->n ? (double)C->nnz / (double)C->nchunks / (double)C->n : 0.0};
  S->choice.kernel           = GpOpChooseFixed(F, &S->choice);
  S->choice.runner_up        = -1;
  S->turned_choice.kernel    = GpOpChooseFixed(&T, &S->turned_choice);
  S->turned_choice.runner_up = -1;
  if (kernel < 0) return;
  if (GpOpMultipliesChunks(F, kernel)) {
    S->choice.kernel = kernel;
    snprintf(S->choice.why, sizeof(S->choice.why), "set by -mat_gpucsr_kernel");
    S->turned_choice = S->choice;
    return;
  }
  used = strlen(S->choice.why);
  snprintf(S->choice.why + used, sizeof(S->choice.why) - used, "; not %s: it cannot multiply chunks of rows", GpKernelTable[kernel].name);
}

/* Computes the upper bound on the bytes of resident chunks. */
static GpErr GpOpStreamBudget(GpOpStream S, size_t *resident)
{
  const double buffers   = (double)S->chunks.largest * (S->options.buffers ? S->options.buffers : GP_STREAM_BUFFERS);
  size_t       available = 0, total = 0;
  double       left;
  GpErr        err;

  *resident = 0;
  if (S->options.resident >= 0) {
    *resident = S->options.resident < (double)SIZE_MAX ? (size_t)S->options.resident : SIZE_MAX;
    return GP_SUCCESS;
  }
  if (!GpDevHasMemory(S->dev)) return GP_SUCCESS; /* the host backend multiplies chunks where they are and has no resident ones */
  err  = GpDevGetMemory(S->dev, &available, &total);
  left = 0.9 * (double)available;
  if (!err && S->chunks.bytes <= left) *resident = SIZE_MAX; /* all chunks are resident, so that no buffers are needed */
  else if (!err && left > buffers) *resident = (size_t)(left - buffers);
  return err;
}

static GpErr GpOpStreamAllocate(GpOpStream S)
{
  const GpOpChunks *C = &S->chunks;
  GpStreamOptions   o = {.buffers = S->options.buffers};
  GpErr             err;

  S->work_bytes = C->work;
  err           = GpDevAlloc(S->dev, S->work_bytes, &S->work);
  if (!err) err = GpOpStreamBudget(S, &o.resident);
  for (int64_t c = 0; c < C->nchunks && !o.threads; c++) o.threads = C->pinned[c] ? 0 : C->threads;
  if (!err) err = GpStreamCreate(S->dev, &o, &S->stream);
  for (int64_t c = 0; !err && c < C->nchunks; c++) {
    const GpStreamItem item = {.bytes = C->head[c].bytes, .host = C->chunk[c], .pinned = C->pinned[c]};

    err = GpStreamAdd(S->stream, &item);
  }
  return err ? err : GpStreamSetUp(S->stream);
}

static void GpOpStreamReset(GpOpStream S)
{
  GpStreamDestroy(&S->stream);
  GpDevFree(S->dev, &S->work, S->work_bytes);
  GpDevFree(S->dev, &S->turned, S->turned_bytes);
  S->turned_bytes = 0;
  GpOpChunksDestroy(&S->chunks);
}

static GpErr GpOpStreamBuild(GpOpStream S, const GpRowSource *rows)
{
  const double chunk = S->options.chunk;
  const size_t bytes = chunk <= 0 ? GP_CHUNK_BYTES : chunk < 1 ? 1 : chunk < 0x1p62 ? (size_t)chunk : (size_t)1 << 62;
  GpErr        err   = GpOpChunksCreate(S->dev, rows, bytes, S->options.plain, S->options.threads, &S->chunks);

  return err ? err : GpOpStreamAllocate(S);
}

GpErr GpOpStreamCreate(GpDev dev, const GpOpStreamOptions *options, int kernel, const GpRowSource *rows, GpOpStream *stream, GpLoss *loss)
{
  GpOpStream S = (GpOpStream)calloc(1, sizeof(*S));
  GpErr      err;

  *stream = NULL;
  *loss   = (GpLoss){.at = -1, .overflow = -1};
  if (!S) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory");
  S->dev     = dev;
  S->options = *options;
  err        = GpOpStreamBuild(S, rows);
  *loss      = S->chunks.loss;
  if (!err) GpOpStreamChoose(S, kernel);
  *stream = S;
  if (err) GpOpStreamDestroy(stream);
  return err;
}

void GpOpStreamDestroy(GpOpStream *stream)
{
  if (!*stream) return;
  GpOpStreamReset(*stream);
  free(*stream);
  *stream = NULL;
}

/* Keeps the memory of the chunks after a refill. New values can change the encodings of a chunk but not its size, and then need more workspace. */
static GpErr GpOpStreamKeep(GpOpStream S)
{
  GpStreamSourcesChanged(S->stream);
  if (S->chunks.work <= S->work_bytes) return GP_SUCCESS;
  GpDevFree(S->dev, &S->work, S->work_bytes);
  S->work_bytes = S->chunks.work;
  return GpDevAlloc(S->dev, S->work_bytes, &S->work);
}

/* If a chunk has another size than before, all memory is freed and allocated again. */
GpErr GpOpStreamRefill(GpOpStream S, const GpRowSource *rows, GpLoss *loss)
{
  int   same = 0;
  GpErr err  = GpStreamWait(S->stream);

  if (!err) err = GpOpChunksRefill(&S->chunks, rows, &same);
  *loss = S->chunks.loss;
  if (err) return err;
  if (same) return GpOpStreamKeep(S);
  GpOpStreamReset(S);
  err   = GpOpStreamBuild(S, rows);
  *loss = S->chunks.loss;
  return err;
}

/* --- products ------------------------------------------------------------------------------------------------------------------------ */

typedef struct {
  GpOpStream           S;
  const double        *z;      /* product with one vector: the vector to add, or NULL */
  int                  add;    /* products with several vectors: 1: the product is added to y */
  int                  turned; /* 1: the product with the transpose, from the chunks of the matrix */
  int64_t              k, incx, incy;
  const double *const *x;
  double *const       *y;
} GpOpStreamProduct;

/* Multiplies the rows of a chunk, of which `first` is the first, by column c. */
static GpErr GpOpStreamMultOne(const GpOpStreamProduct *P, const GpFmt *A, int64_t first, int64_t c, const double *z)
{
  const GpSpmvFn mult = GpKernelTable[P->S->choice.kernel].mult[GpDevKindOf(P->S->dev)][A->csr->prec];

  return mult(A, P->x[c], z ? z + first : NULL, P->y[c] + first);
}

/* Multiplies the rows of a chunk, of which `first` is the first, by columns c to c + k - 1. */
static GpErr GpOpStreamMultPanel(const GpOpStreamProduct *P, const GpFmt *A, int64_t first, int64_t c, int64_t k)
{
  GpColumns C = {.k = (int32_t)k, .add = P->add, .incx = P->incx, .incy = P->incy};

  for (int64_t j = 0; j < k; j++) {
    C.x[j] = P->x[c + j];
    C.y[j] = P->y[c + j] + first * P->incy;
  }
  return GpSpmmTable[GP_SPMM_mmscalar8].mult[GpDevKindOf(P->S->dev)][A->csr->prec](A, &C);
}

static size_t GpOpAlign(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* Transposes a chunk and adds the product to y. The first row of the chunk is row `first` of the matrix, so the product reads x from entry `first` on. */
static GpErr GpOpStreamAddTurned(const GpOpStreamProduct *P, const GpCsr *C, int64_t first)
{
  const size_t col = GpOpAlign(((size_t)C->n + 1) * sizeof(int32_t)), val = col + GpOpAlign((size_t)C->nnz * sizeof(int32_t));
  char        *at  = (char *)P->S->turned;
  GpCsr        T   = {.dev = C->dev, .prec = C->prec, .m = C->n, .n = C->m, .nnz = C->nnz, .rowptr = (int32_t *)at, .col = (int32_t *)(at + col), .val = at + val};
  GpFmt        A   = {.id = GP_FMT_CSR, .csr = &T};
  GpErr        err = GpCsrTransposeTo(C, &T);

  if (!err && P->k == 1 && P->incx == 1 && P->incy == 1) return GpKernelTable[P->S->turned_choice.kernel].mult[GpDevKindOf(C->dev)][C->prec](&A, P->x[0] + first, P->y[0], P->y[0]);
  for (int64_t c = 0; !err && c < P->k; c += GP_SPMM_COLUMNS) {
    GpColumns X = {.k = (int32_t)(P->k - c < GP_SPMM_COLUMNS ? P->k - c : GP_SPMM_COLUMNS), .add = 1, .incx = P->incx, .incy = P->incy};

    for (int32_t j = 0; j < X.k; j++) {
      X.x[j] = P->x[c + j] + first * P->incx;
      X.y[j] = P->y[c + j];
    }
    err = GpSpmmTable[GP_SPMM_mmscalar8].mult[GpDevKindOf(C->dev)][C->prec](&A, &X);
  }
  return err;
}

/* Decodes a chunk and multiplies by its rows, or by their transpose. */
static GpErr GpOpStreamUseChunk(void *context, int64_t item, const void *device, void *result)
{
  const GpOpStreamProduct *P     = (const GpOpStreamProduct *)context;
  const GpChunkHeader     *head  = &P->S->chunks.head[item];
  const int64_t            first = head->first;
  const int                one   = P->k == 1 && P->incx == 1 && P->incy == 1;
  GpCsr                    C;
  GpFmt                    A   = {.id = GP_FMT_CSR, .csr = &C};
  GpErr                    err = GpChunkDecode(P->S->dev, head, device, P->S->work, &C);

  (void)result;
  if (P->turned) return err ? err : GpOpStreamAddTurned(P, &C, first);
  if (one) return err ? err : GpOpStreamMultOne(P, &A, first, 0, P->add ? P->y[0] : P->z);
  for (int64_t c = 0; !err && c < P->k; c += GP_SPMM_COLUMNS) err = GpOpStreamMultPanel(P, &A, first, c, P->k - c < GP_SPMM_COLUMNS ? P->k - c : GP_SPMM_COLUMNS);
  return err;
}

GpErr GpOpStreamMult(GpOpStream S, const double *x, const double *z, double *y)
{
  GpOpStreamProduct P = {.S = S, .z = z, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};

  return GpStreamVisit(S->stream, GpOpStreamUseChunk, &P);
}

GpErr GpOpStreamMultMany(GpOpStream S, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[])
{
  GpOpStreamProduct P = {.S = S, .add = add, .k = k, .incx = incx, .incy = incy, .x = x, .y = y};

  return k ? GpStreamVisit(S->stream, GpOpStreamUseChunk, &P) : GP_SUCCESS;
}

/* Allocates memory for a transposed chunk. If there is too little, it frees resident chunks. */
static GpErr GpOpStreamAllocTurned(GpOpStream S)
{
  size_t need = 0;
  GpErr  err;

  for (int64_t c = 0; c < S->chunks.nchunks; c++) {
    const GpChunkHeader *h     = &S->chunks.head[c];
    const size_t         bytes = GpOpAlign(((size_t)h->n + 1) * sizeof(int32_t)) + GpOpAlign((size_t)h->nnz * sizeof(int32_t)) + GpOpAlign((size_t)h->nnz * GpPrecBytes((GpPrec)h->prec));

    need = bytes > need ? bytes : need;
  }
  if (need <= S->turned_bytes) return GP_SUCCESS;
  GpDevFree(S->dev, &S->turned, S->turned_bytes);
  S->turned_bytes = need;
  err             = GpDevAlloc(S->dev, need, &S->turned);
  if (err == GP_ERR_MEMORY && GpStreamRelease(S->stream, need)) err = GpDevAlloc(S->dev, need, &S->turned);
  if (err) S->turned_bytes = 0;
  return err;
}

GpErr GpOpStreamMultTransposed(GpOpStream S, const double *x, const double *z, double *y)
{
  const size_t      bytes = (size_t)S->chunks.n * sizeof(double);
  GpOpStreamProduct P     = {.S = S, .turned = 1, .k = 1, .incx = 1, .incy = 1, .x = &x, .y = &y};
  GpErr             err   = GpOpStreamAllocTurned(S);

  if (!err && z != y) err = z ? GpDevCopyWithin(S->dev, y, z, bytes) : GpDevZero(S->dev, y, bytes);
  return err ? err : GpStreamVisit(S->stream, GpOpStreamUseChunk, &P);
}

GpErr GpOpStreamMultManyTransposed(GpOpStream S, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[])
{
  const size_t      bytes = (size_t)S->chunks.n * (size_t)incy * sizeof(double);
  GpOpStreamProduct P     = {.S = S, .turned = 1, .k = k, .incx = incx, .incy = incy, .x = x, .y = y};
  GpErr             err   = GpOpStreamAllocTurned(S);

  for (int64_t c = 0; !err && !add && c < (incy == 1 ? k : 1); c++) err = GpDevZero(S->dev, y[c], bytes);
  return err || !k ? err : GpStreamVisit(S->stream, GpOpStreamUseChunk, &P);
}

/* --- properties ---------------------------------------------------------------------------------------------------------------------- */

void GpOpStreamGetInfo(GpOpStream S, GpOpStreamInfo *info)
{
  *info = (GpOpStreamInfo){.loss = S->chunks.loss, .row_bytes = GpOpChunksRowBytes(&S->chunks), .encode_seconds = S->chunks.encode_seconds, .pin_seconds = S->chunks.pin_seconds};
  GpStreamGetInfo(S->stream, &info->stream);
  info->device_bytes = info->stream.device_bytes + (double)S->work_bytes + (double)S->turned_bytes;
}

const GpFeatures *GpOpStreamGetFeatures(GpOpStream S)
{
  return &S->features;
}

const GpChoice *GpOpStreamGetChoice(GpOpStream S)
{
  return &S->choice;
}

const GpChoice *GpOpStreamGetTransposedChoice(GpOpStream S)
{
  return &S->turned_choice;
}
