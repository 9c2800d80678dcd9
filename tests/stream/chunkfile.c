static char help[] = "Files of chunks: what is read is what was written; short, damaged, contradicting, replaced and changed files.\n\n\
  -every n : damages every n-th byte, and shortens the file to every n-th length\n\n";

#include "chunkfile.h"

static const char File[] = "chunkfile-test.chunks", Copy[] = "chunkfile-copy.chunks";

/* --- round trips ---------------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode CheckRoundTrips(void)
{
  Chunks C, none = {.prec = GP_F64, .first = 7, .n = 5};

  PetscFunctionBegin;
  for (int prec = 0; prec < GP_PRECISIONS; prec++) {
    PetscCall(ChunksCreate((GpPrec)prec, prec ? (int64_t)1 << 33 : 0, 3, &C));
    PetscCall(WriteChunks(File, &C)); /* the second file replaces the first one */
    PetscCall(CompareFile(File, &C));
    PetscCall(ChunksDestroy(&C));
  }
  PetscCall(WriteChunks(Copy, &none));
  PetscCall(CompareFile(Copy, &none));
  PetscCall(CheckNoPart());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "round trips: equal bytes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- damage --------------------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode PutBytes(const char *file, const void *from, size_t bytes)
{
  FILE *fp = fopen(file, "wb");

  PetscFunctionBegin;
  Check(fp && fwrite(from, 1, bytes, fp) == bytes && !fclose(fp), "%s cannot be written", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that a file is refused when it is opened, with a message of one line that has its name and these words. */
static PetscErrorCode CheckRefused(const char *file, const char *words)
{
  char        why[GP_CHUNK_FILE_WHY] = "";
  GpChunkFile f;

  PetscFunctionBegin;
  Check(GpChunkFileOpen(file, &f, why, sizeof(why)) == GP_ERR_FILE && !f, "%s is accepted, which must be refused: %s", file, words);
  Check(strstr(why, file) && strstr(why, words) && !strchr(why, '\n'), "\"%s\" has no \"%s\"", why, words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a file with one damaged byte. In header or index it must be refused; in a chunk only that chunk. */
static PetscErrorCode CheckDamagedByte(const Chunks *C, size_t at, size_t index)
{
  size_t      begin = sizeof(GpChunkFileHeader);
  char        why[GP_CHUNK_FILE_WHY], words[64];
  GpChunkFile f;
  void       *got;

  PetscFunctionBegin;
  if (at < begin || at >= index) {
    PetscCall(CheckRefused(Copy, at < sizeof(uint64_t) ? "check its name" : "create it again"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc(C->largest, &got));
  Check(!GpChunkFileOpen(Copy, &f, why, sizeof(why)), "%s", why);
  for (int c = 0; c < C->chunks; begin += C->bytes[c++]) {
    const int   mine = at >= begin && at < begin + C->bytes[c];
    const GpErr err  = GpChunkFileRead(f, c, got, why, sizeof(why));

    (void)snprintf(words, sizeof(words), "bytes at offset %zu have another checksum", begin);
    Check(err == (mine ? GP_ERR_FILE : GP_SUCCESS), "byte %zu is damaged: chunk %d gives error %d", at, c, (int)err);
    if (mine) Check(strstr(why, words) && strstr(why, Copy) && strstr(why, "restore it"), "\"%s\" has no \"%s\"", why, words);
  }
  GpChunkFileClose(&f);
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flips bits of every byte, and cuts the file at every length. */
static PetscErrorCode CheckDamage(PetscInt every)
{
  const unsigned char flips[] = {0x01, 0xff};
  Chunks              C;
  unsigned char      *bytes;
  size_t              n;

  PetscFunctionBegin;
  PetscCall(ChunksCreate(GP_F64, 11, 4, &C));
  PetscCall(WriteChunks(File, &C));
  PetscCall(ReadBytes(File, &n, &bytes));
  PetscCall(PutBytes(Copy, bytes, n));
  for (int k = 0; k < 2; k++) {
    const int fd = open(Copy, O_WRONLY);

    for (size_t at = 0; at < n; at += (size_t)every) {
      const unsigned char damaged = bytes[at] ^ flips[k];

      Check(pwrite(fd, &damaged, 1, (off_t)at) == 1, "the file cannot be damaged");
      PetscCall(CheckDamagedByte(&C, at, sizeof(GpChunkFileHeader) + C.total));
      Check(pwrite(fd, &bytes[at], 1, (off_t)at) == 1, "the file cannot be restored");
    }
    (void)close(fd);
  }
  for (size_t length = n; length-- > 0;) {
    if (length % (size_t)every) continue;
    Check(!truncate(Copy, (off_t)length), "the file cannot be shortened");
    PetscCall(CheckRefused(Copy, length < sizeof(GpChunkFileHeader) ? "the file ends there" : "that its header says"));
  }
  PetscCall(PetscFree(bytes));
  PetscCall(ChunksDestroy(&C));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "damaged and short files: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Headers whose checksums fit, but which contradict the chunks or this machine. */
static PetscErrorCode CheckContradictions(void)
{
  static const char *const words[] = {"other byte order", "has version 2", "precision or reserved", "size of the matrix", "size of the index", "entry 1 of the index", "entry 0 of the index", "other sizes", "other sizes", "precision or reserved"};
  Chunks                   C;
  unsigned char           *bytes;
  size_t                   n;

  PetscFunctionBegin;
  PetscCall(ChunksCreate(GP_F32, 0, 5, &C));
  PetscCall(WriteChunks(File, &C));
  PetscCall(ReadBytes(File, &n, &bytes));
  for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(words); k++) {
    GpChunkFileHeader h;
    GpChunkHeader     entry[2];

    memcpy(&h, bytes, sizeof(h));
    memcpy(entry, bytes + h.index, sizeof(entry));
    if (k == 0) h.magic = __builtin_bswap64(h.magic);
    if (k == 1) h.version = 2;
    if (k == 2) h.prec = GP_PRECISIONS;
    if (k == 3) h.m = -1;
    if (k == 4) h.chunks++;
    if (k == 5) entry[1].first++;
    if (k == 6) h.first++;
    if (k == 7) h.m++;
    if (k == 8) h.nnz--;
    if (k == 9) h.rest[3] = 1;
    PetscCall(PutBytes(Copy, bytes, n));
    {
      const int            fd    = open(Copy, O_RDWR);
      const size_t         index = (size_t)C.chunks * sizeof(GpChunkHeader);
      unsigned char *const all   = bytes + h.index;
      GpChunkHeader        kept[2];

      memcpy(kept, all, sizeof(kept));
      memcpy(all, entry, sizeof(entry));
      h.indexsum = GpChunkSum(all, index);
      h.checksum = 0;
      h.checksum = GpChunkSum(&h, sizeof(h));
      Check(pwrite(fd, all, index, (off_t)h.index) == (ssize_t)index && pwrite(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h), "the file cannot be changed");
      memcpy(all, kept, sizeof(kept));
      (void)close(fd);
    }
    PetscCall(CheckRefused(Copy, words[k]));
  }
  PetscCall(PetscFree(bytes));
  PetscCall(ChunksDestroy(&C));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "contradicting headers: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file that takes the name of an open one does not disturb its reader; a file that is changed in place is an error. */
static PetscErrorCode CheckReplaced(void)
{
  Chunks         A, B;
  GpChunkFile    f;
  unsigned char *bytes;
  char           why[GP_CHUNK_FILE_WHY];
  void          *got;
  size_t         n;

  PetscFunctionBegin;
  PetscCall(ChunksCreate(GP_F64, 0, 6, &A));
  PetscCall(ChunksCreate(GP_F64, 0, 7, &B));
  PetscCall(WriteChunks(File, &A));
  Check(!GpChunkFileOpen(File, &f, why, sizeof(why)), "%s", why);
  PetscCall(WriteChunks(File, &B));
  PetscCall(CompareChunks(f, &A));
  PetscCall(CompareFile(File, &B));
  GpChunkFileClose(&f);
  PetscCall(WriteChunks(Copy, &A));
  Check(!GpChunkFileOpen(Copy, &f, why, sizeof(why)), "%s", why);
  PetscCall(ReadBytes(File, &n, &bytes));
  PetscCall(PutBytes(Copy, bytes, n)); /* a valid chunk of another matrix has a valid checksum, but not that of the index */
  PetscCall(PetscMalloc(A.largest, &got));
  Check(GpChunkFileRead(f, 0, got, why, sizeof(why)) == GP_ERR_FILE && strstr(why, "was changed"), "a changed file is accepted");
  Check(GpChunkFileRead(f, A.chunks, got, why, sizeof(why)) == GP_ERR_ARGUMENT && GpChunkFileRead(f, -1, got, why, sizeof(why)) == GP_ERR_ARGUMENT, "a chunk is read that does not exist");
  GpChunkFileClose(&f);
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(bytes));
  PetscCall(ChunksDestroy(&A));
  PetscCall(ChunksDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "replaced files: read from the old file; changed files: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt every = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(CheckRoundTrips());
  PetscCall(CheckDamage(every));
  PetscCall(CheckContradictions());
  PetscCall(CheckReplaced());
  (void)unlink(File);
  (void)unlink(Copy);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
