/* A matrix whose encoded chunks are streamed to the device: its memory, the choice of its kernels, its properties. */
#include "mat/impls/gpucsr/operator/gpopstreamimpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GP_OP_LEAST ((size_t)4096) /* smallest size in bytes of chunks that is tried if device memory is too small */

/* --- setting up ---------------------------------------------------------------------------------------------------------------------- */

static int GpOpMultipliesChunks(const GpFeatures *F, int kernel)
{
  const GpKernelRow *row = &GpKernelTable[kernel];

  return row->byrow && (row->format == GP_FMT_CSR || row->format == GP_FMT_CSRSEGMENT) && row->mult[F->runtime][GP_F32];
}

/* Returns the first candidate of the fixed rule that can multiply chunks. csrsegment replaces csrsplit: both distribute the nonzeros evenly, but csrsplit cannot
   multiply chunks. */
static int GpOpChooseFixed(const GpFeatures *F, GpChoice *choice)
{
  const GpSelOptions fixed = {GP_SELECT_FIXED, -1, -1, 0};
  int                c     = 0;

  GpSelChoose(&fixed, F, choice);
  if (choice->candidate[0] == GP_SPMV_csrsplit) return GP_SPMV_csrsegment;
  while (c + 1 < choice->candidates && !GpOpMultipliesChunks(F, choice->candidate[c])) c++;
  return choice->candidate[c];
}

/* Chooses the kernels by the row lengths of the whole matrix, so that all chunks have the same kernel. The features T describe an average
   transposed chunk: its mean row length and an upper bound on its row lengths. */
static void GpOpStreamChoose(GpOpStream S, int kernel)
{
  const GpOpChunks *C    = &S->chunks;
  const int64_t     full = C->m - C->table.empty;
  GpFeatures       *F    = &S->features, T;
  size_t            used;

  *F                             = (GpFeatures){.runtime       = GpDevKindOf(S->dev),
                                                .compute_units = GpDevComputeUnits(S->dev),
                                                .cache         = GpDevCacheBytes(S->dev),
                                                .m             = GpOpStreamCap(C->m),
                                                .n             = GpOpStreamCap(C->n),
                                                .nnz           = GpOpStreamCap(C->table.nnz),
                                                .longest       = GpOpStreamCap(C->table.longest),
                                                .empty         = GpOpStreamCap(C->table.empty)};
  F->mean                        = full ? (double)C->table.nnz / (double)full : 0.0;
  T                              = (GpFeatures){.runtime = F->runtime, .compute_units = F->compute_units, .cache = F->cache, .m = F->n, .n = F->m, .longest = S->most_rows};
  T.mean                         = C->table.nchunks && C->n ? (double)C->table.nnz / (double)C->table.nchunks / (double)C->n : 0.0;
  S->choice.kernel               = GpOpChooseFixed(F, &S->choice);
  S->choice.runner_up            = -1;
  S->transposed_choice.kernel    = GpOpChooseFixed(&T, &S->transposed_choice);
  S->transposed_choice.runner_up = -1;
  if (S->transposed_choice.kernel == GP_SPMV_csrsegment) snprintf(S->transposed_choice.why, sizeof(S->transposed_choice.why), "the row lengths of transposed chunks are unknown");
  if (kernel < 0) return;
  if (GpOpMultipliesChunks(F, kernel)) {
    S->choice.kernel = kernel;
    snprintf(S->choice.why, sizeof(S->choice.why), "set by -mat_gpucsr_kernel");
    S->transposed_choice = S->choice;
    return;
  }
  used = strlen(S->choice.why);
  snprintf(S->choice.why + used, sizeof(S->choice.why) - used, "; not %s: it cannot multiply chunks of rows", GpKernelTable[kernel].name);
}

/* Computes the largest numbers of rows and of nonzeros of a chunk. */
static void GpOpStreamMeasure(GpOpStream S)
{
  S->most_rows = S->most_nonzeros = 0;
  for (int64_t c = 0; c < S->chunks.table.nchunks; c++) {
    const GpChunkHeader *h = &S->chunks.head[c];

    S->most_rows     = h->m > S->most_rows ? h->m : S->most_rows;
    S->most_nonzeros = h->nnz > S->most_nonzeros ? h->nnz : S->most_nonzeros;
  }
}

static GpErr GpOpStreamAllocate(GpOpStream S)
{
  const GpOpChunks *C = &S->chunks;
  GpStreamOptions   o = {.buffers = S->options.buffers, .threads = C->threads};
  GpErr             err;

  GpOpStreamMeasure(S);
  S->work_bytes = C->work;
  err           = GpDevAlloc(S->dev, S->work_bytes, &S->work);
  if (!err) err = GpStreamGetBudget(S->dev, S->options.resident, C->bytes, (double)C->largest, o.buffers, 0, &o.resident);
  if (!err) err = GpStreamCreate(S->dev, &o, &S->stream);
  for (int64_t c = 0; !err && c < C->table.nchunks; c++) {
    const GpStreamItem memory = {.bytes = C->head[c].bytes, .host = C->file ? NULL : C->chunk[c], .pinned = C->file ? 0 : C->pinned[c]};
    const GpStreamItem read   = {.bytes = C->head[c].bytes, .fill = GpChunkFileFill, .context = C->file};

    err = GpStreamAdd(S->stream, C->file ? &read : &memory);
  }
  return err ? err : GpStreamSetUp(S->stream);
}

static void GpOpStreamReset(GpOpStream S)
{
  GpStreamDestroy(&S->stream);
  GpDevFree(S->dev, &S->work, S->work_bytes);
  GpDevFree(S->dev, &S->transposed, S->transposed_bytes);
  S->transposed_bytes = 0;
  GpCsrSegmentFree(S->dev, &S->segment);
  GpOpChunksDestroy(&S->chunks);
}

/* Returns a smaller size of chunks. If all chunks had this size as compressed rows, the buffers and the workspace would fit the free device memory. */
static size_t GpOpReduceChunk(GpOpStream S, size_t bytes)
{
  const size_t parts     = 1 + (size_t)(S->options.buffers ? S->options.buffers : GP_STREAM_BUFFERS);
  size_t       available = 0, total = 0, fitting;

  fitting = GpDevGetMemory(S->dev, &available, &total) ? 0 : available / parts;
  if (fitting > bytes / 2) fitting = bytes / 2;
  return fitting < GP_OP_LEAST ? GP_OP_LEAST : fitting;
}

/* Encodes the matrix and allocates device memory. If device memory is too small, encodes smaller chunks and tries again. This is an error if the size is fixed, or if smaller chunks do not make
   the buffers smaller, because the largest chunk is one row. */
static GpErr GpOpStreamBuild(GpOpStream S, const GpRowSource *rows)
{
  const double chunk   = S->options.chunk;
  size_t       bytes   = GpStreamGetItemBytes(chunk);
  size_t       largest = SIZE_MAX;
  GpErr        err;

  while (1) {
    S->chunk_bytes = bytes;
    err            = GpOpChunksCreate(S->dev, rows, bytes, S->options.plain, S->options.threads, &S->chunks);
    if (err) return err;
    err = GpOpStreamAllocate(S);
    if (err != GP_ERR_MEMORY || chunk > 0 || S->options.fixed || bytes <= GP_OP_LEAST || S->chunks.largest >= largest) return err;
    largest = S->chunks.largest;
    GpOpStreamReset(S);
    bytes = GpOpReduceChunk(S, bytes);
  }
}

/* Uses the chunks of a file. The size of these chunks is not reduced; if device memory is too small for the buffers, this is an error. */
static GpErr GpOpStreamOpen(GpOpStream S, const GpOpFile *file)
{
  GpErr err;

  S->chunk_bytes = GpStreamGetItemBytes(S->options.chunk);
  err            = GpOpChunksOpen(S->dev, file, S->chunk_bytes, S->options.threads, &S->chunks);
  return err ? err : GpOpStreamAllocate(S);
}

GpErr GpOpStreamCreate(GpDev dev, const GpOpStreamOptions *options, int kernel, const GpRowSource *rows, const GpOpFile *file, GpOpStream *stream, GpLoss *loss)
{
  GpOpStream S = (GpOpStream)calloc(1, sizeof(*S));
  GpErr      err;

  *stream = NULL;
  *loss   = (GpLoss){.at = -1, .overflow = -1};
  if (!S) {
    if (file) GpChunkFileClose(&(GpChunkFile){file->file});
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for the state of a streamed matrix");
  }
  S->dev     = dev;
  S->options = *options;
  err        = file ? GpOpStreamOpen(S, file) : GpOpStreamBuild(S, rows);
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

/* Keeps the memory of the chunks after a refill in which no chunk has changed its size. The encodings may have changed and may need more workspace. */
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

/* --- properties ---------------------------------------------------------------------------------------------------------------------- */

void GpOpStreamGetInfo(GpOpStream S, GpOpStreamInfo *info)
{
  *info = (GpOpStreamInfo){.loss = S->chunks.loss, .chunk = (double)S->chunk_bytes, .row_bytes = GpOpChunksRowBytes(&S->chunks), .encode_seconds = S->chunks.encode_seconds, .pin_seconds = S->chunks.pin_seconds};
  GpStreamGetInfo(S->stream, &info->stream);
  info->device_bytes = info->stream.device_bytes + (double)S->work_bytes + (double)S->transposed_bytes + (double)S->segment.nwork * sizeof(double);
}

int64_t GpOpStreamGetNonzeros(GpOpStream S)
{
  return S->chunks.table.nnz;
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
  return &S->transposed_choice;
}
