/* What the tests of files of chunks share: the chunks of a matrix, and files of them. */
#ifndef GPUCSR_TESTS_CHUNKFILE_H
#define GPUCSR_TESTS_CHUNKFILE_H

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfilecode.h"
#include "sys/gpucsrsys.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 64 /* chunks of a file, at most */

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

/* The encoded chunks of a matrix. */
typedef struct {
  GpPrec  prec;
  int64_t first, m, nnz; /* first row in the matrix, rows, nonzeros */
  int32_t n;
  int     chunks;
  void   *chunk[MOST];
  size_t  bytes[MOST], largest, total;
} Chunks;

static inline PetscErrorCode ChunksCreate(GpPrec prec, int64_t first, uint64_t seed, Chunks *C)
{
  const int32_t m = 260, n = 3000;
  GpChunkSource A = {.start = first, .m = m, .n = n, .prec = prec, .rowbytes = 4, .colbytes = 4};
  BenchMatrix   M;
  char          why[GP_CHUNK_WHY];
  int64_t       chunks, *begin;

  PetscFunctionBegin;
  *C = (Chunks){.prec = prec, .first = first, .m = m, .n = n};
  BenchMatrixCreate(&M, m, n, 30 * m);
  for (int32_t i = 0, k = 0; i < m; i++) {
    for (int32_t c = (int32_t)(BenchRandom(&seed) % 20); c > 0; c--) {
      M.col[k] = (int32_t)(BenchRandom(&seed) % (uint64_t)n);
      M.val[k] = i < m / 2 ? BenchValue(&seed) : 1.0 / (1 + k % 7);
      k++;
    }
    M.rowptr[i + 1] = k;
  }
  A.rowptr = M.rowptr;
  A.col    = M.col;
  A.val    = M.val;
  C->nnz   = M.rowptr[m];
  Check(!GpChunkCut(&A, 1200, &chunks, &begin, why) && chunks <= MOST, "the test needs other chunks");
  for (; C->chunks < chunks; C->chunks++) {
    GpChunkPlan P;

    Check(!GpChunkPlanRows(&A, begin[C->chunks], begin[C->chunks + 1], &P, why), "%s", why);
    PetscCall(PetscMalloc(P.head.bytes, &C->chunk[C->chunks]));
    GpChunkEncode(&A, &P, C->chunk[C->chunks]);
    C->bytes[C->chunks] = P.head.bytes;
    C->largest          = PetscMax(C->largest, P.head.bytes);
    C->total += P.head.bytes;
  }
  free(begin);
  BenchMatrixDestroy(&M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ChunksDestroy(Chunks *C)
{
  PetscFunctionBegin;
  for (int c = 0; c < C->chunks; c++) PetscCall(PetscFree(C->chunk[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a file; if that fails, the reason is in `why`. */
static inline GpErr TryWrite(const char *file, const Chunks *C, char *why)
{
  GpChunkWriter w;
  GpErr         err = GpChunkWriterCreate(file, C->prec, C->first, C->n, &w, why, GP_CHUNK_FILE_WHY);

  if (err) return err;
  for (int c = 0; !err && c < C->chunks; c++) err = GpChunkWriterAppend(w, C->chunk[c], why, GP_CHUNK_FILE_WHY);
  if (err) GpChunkWriterDiscard(&w);
  else err = GpChunkWriterFinish(&w, why, GP_CHUNK_FILE_WHY);
  return err;
}

static inline PetscErrorCode WriteChunks(const char *file, const Chunks *C)
{
  char why[GP_CHUNK_FILE_WHY];

  PetscFunctionBegin;
  Check(!TryWrite(file, C, why), "%s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that all chunks of an open file are those of C. */
static inline PetscErrorCode CompareChunks(GpChunkFile f, const Chunks *C)
{
  const GpChunkFileHeader *h = GpChunkFileGetHeader(f);
  char                     why[GP_CHUNK_FILE_WHY];
  void                    *got;

  PetscFunctionBegin;
  Check(h->prec == C->prec && h->first == C->first && h->m == C->m && h->n == C->n && h->nnz == C->nnz && h->chunks == C->chunks, "the file has another header");
  PetscCall(PetscMalloc(C->largest + 1, &got));
  for (int c = C->chunks; c-- > 0;) { /* in any order */
    Check(GpChunkFileGetChunk(f, c)->bytes == C->bytes[c], "chunk %d has another size", c);
    Check(!GpChunkFileRead(f, c, got, why, sizeof(why)), "%s", why);
    Check(!memcmp(got, C->chunk[c], C->bytes[c]), "chunk %d differs", c);
    Check(!GpChunkVerify(got, C->bytes[c], why), "%s", why);
  }
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CompareFile(const char *file, const Chunks *C)
{
  char        why[GP_CHUNK_FILE_WHY];
  GpChunkFile f;

  PetscFunctionBegin;
  Check(!GpChunkFileOpen(file, &f, why, sizeof(why)), "%s", why);
  PetscCall(CompareChunks(f, C));
  GpChunkFileClose(&f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that no temporary file is left. */
static inline PetscErrorCode CheckNoPart(void)
{
  DIR           *d = opendir(".");
  struct dirent *e;

  PetscFunctionBegin;
  Check(d, "the folder cannot be read");
  while ((e = readdir(d))) Check(strncmp(e->d_name, "chunkf", 6) || !strstr(e->d_name, ".part"), "%s is left", e->d_name);
  (void)closedir(d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ReadBytes(const char *file, size_t *bytes, unsigned char **to)
{
  FILE       *fp = fopen(file, "rb");
  struct stat st;

  PetscFunctionBegin;
  Check(fp && !fstat(fileno(fp), &st), "%s cannot be read", file);
  *bytes = (size_t)st.st_size;
  PetscCall(PetscMalloc1(*bytes, to));
  Check(fread(*to, 1, *bytes, fp) == *bytes && !fclose(fp), "%s cannot be read", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
