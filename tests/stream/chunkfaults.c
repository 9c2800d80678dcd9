static char help[] = "Faults of files of chunks: full disks, wrong calls, and failed reads during a visit of a pipeline. The message has a remedy, and nothing half-written stays.\n\n";

#include "chunkfile.h"

#include <signal.h>
#include <sys/resource.h>

static const char File[] = "chunkfaults-test.chunks", Copy[] = "chunkfaults-copy.chunks";

/* --- writing --------------------------------------------------------------------------------------------------------------------------- */

/* Limits the size of files, so that a write fails at this offset, as on a full disk. The old file must stay. */
static PetscErrorCode CheckLimit(size_t limit, const Chunks *C, const Chunks *old, const char *words)
{
  struct rlimit whole, limited;
  char          why[GP_CHUNK_FILE_WHY] = "";
  GpErr         err;

  PetscFunctionBegin;
  Check(!getrlimit(RLIMIT_FSIZE, &whole), "the limit cannot be read");
  limited          = whole;
  limited.rlim_cur = (rlim_t)limit;
  Check(!setrlimit(RLIMIT_FSIZE, &limited), "the limit cannot be set");
  err = TryWrite(File, C, why);
  Check(!setrlimit(RLIMIT_FSIZE, &whole), "the limit cannot be restored");
  Check(err == GP_ERR_FILE && strstr(why, File) && strstr(why, words) && strstr(why, "free space on this disk"), "limit %zu: error %d, \"%s\" has no \"%s\"", limit, (int)err, why, words);
  PetscCall(CheckNoPart());
  PetscCall(CompareFile(File, old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFullDisk(void)
{
  const size_t head = sizeof(GpChunkFileHeader);
  Chunks       C, old;
  char         words[64];

  PetscFunctionBegin;
  (void)signal(SIGXFSZ, SIG_IGN);
  PetscCall(ChunksCreate(GP_F64, 0, 8, &C));
  PetscCall(ChunksCreate(GP_F32, 0, 9, &old));
  PetscCall(WriteChunks(File, &old));
  (void)snprintf(words, sizeof(words), "chunk 0 of %s: %zu bytes at offset %zu: ", File, C.bytes[0], head);
  PetscCall(CheckLimit(head, &C, &old, words)); /* nothing can be written */
  (void)snprintf(words, sizeof(words), "chunk 2 of %s: %zu bytes at", File, C.bytes[2] - 100);
  PetscCall(CheckLimit(head + C.bytes[0] + C.bytes[1] + 100, &C, &old, words)); /* a short write, after which the rest fails */
  (void)snprintf(words, sizeof(words), "the index of %s: %zu bytes at", File, sizeof(GpChunkHeader) * (size_t)C.chunks - 1);
  PetscCall(CheckLimit(head + C.total + 1, &C, &old, words));
  PetscCall(ChunksDestroy(&C));
  PetscCall(ChunksDestroy(&old));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "full disk: the old file stays\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the message of a refused call. */
#define CheckCall(call, words) Check((call) && strstr(why, words) && !strchr(why, '\n'), "\"%s\" has no \"%s\"", why, words)

static PetscErrorCode CheckWrongCalls(void)
{
  const size_t  len                    = GP_CHUNK_FILE_WHY;
  char          why[GP_CHUNK_FILE_WHY] = "", longname[600];
  Chunks        C;
  GpChunkWriter w;
  GpChunkFile   f;

  PetscFunctionBegin;
  PetscCall(ChunksCreate(GP_F64, 5, 10, &C));
  CheckCall(GpChunkWriterCreate("no-such-folder/a", GP_F64, 0, 1, &w, why, len) == GP_ERR_FILE && !w, "no-such-folder/a: No such file");
  CheckCall(GpChunkWriterCreate("/dev/full", GP_F64, 0, 1, &w, why, len) == GP_ERR_FILE && !w, "cannot create /dev/full: there is something");
  CheckCall(GpChunkWriterCreate(".", GP_F64, 0, 1, &w, why, len) == GP_ERR_FILE && !w, "cannot create .: Is a directory");
  memset(longname, 'x', sizeof(longname) - 1);
  memcpy(longname + sizeof(longname) - 6, "/last", 6);
  CheckCall(GpChunkWriterCreate(longname, GP_F64, 0, 1, &w, why, len) == GP_ERR_FILE && !w, "xx/last: File name too long; choose");
  CheckCall(GpChunkFileOpen("no-such-file", &f, why, len) == GP_ERR_FILE && !f, "cannot open no-such-file: No such file");
  CheckCall(GpChunkFileOpen("/dev/zero", &f, why, len) == GP_ERR_FILE && !f, "/dev/zero is not a regular file");
  Check(!GpChunkWriterCreate(Copy, GP_F64, C.first, C.n, &w, why, len), "%s", why);
  CheckCall(GpChunkWriterAppend(w, C.chunk[1], why, len) == GP_ERR_ARGUMENT, "must begin at row 5");
  Check(!GpChunkWriterAppend(w, C.chunk[0], why, len), "%s", why);
  CheckCall(GpChunkWriterAppend(w, C.chunk[0], why, len) == GP_ERR_ARGUMENT, "it begins at row 5 of 3000 columns");
  ((unsigned char *)C.chunk[1])[0]++;
  CheckCall(GpChunkWriterAppend(w, C.chunk[1], why, len) == GP_ERR_ARGUMENT, "does not begin with GPCHUNK1; encode it again");
  GpChunkWriterDiscard(&w);
  PetscCall(CheckNoPart());
  PetscCall(ChunksDestroy(&C));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "wrong calls: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- pipeline ---------------------------------------------------------------------------------------------------------------------------- */

/* A visit of a file, with a fault that begins at the use of item 2. */
typedef struct {
  GpDev          dev;
  const Chunks  *C;
  int            fault;           /* 0: none; 1: reads fail; 2: the file is cut; 3: a byte is damaged */
  int            fd, saved;       /* descriptor of the file, and a copy of it */
  size_t         size, at;        /* of the file, and where it is damaged */
  unsigned char *got, damaged[1]; /* memory for a chunk */
  int64_t        used;
} Visit;

/* Reads fail if the descriptor stands for a folder. */
static GpErr Break(Visit *v, int fd)
{
  const int folder = open(".", O_RDONLY);
  GpErr     err    = GP_SUCCESS;

  if (v->fault == 1) err = folder >= 0 && dup2(folder, v->fd) == v->fd ? GP_SUCCESS : GP_ERR_FILE;
  else if (v->fault == 2) err = ftruncate(fd, (off_t)v->at) ? GP_ERR_FILE : GP_SUCCESS;
  else if (v->fault == 3) err = pwrite(fd, v->damaged, 1, (off_t)v->at) == 1 ? GP_SUCCESS : GP_ERR_FILE;
  if (folder >= 0) (void)close(folder);
  return err;
}

static GpErr Use(void *context, int64_t item, const void *device, void *result)
{
  Visit *v   = (Visit *)context;
  int    fd  = item == 2 && v->fault ? open(File, O_WRONLY) : -1;
  GpErr  err = fd >= 0 ? Break(v, fd) : GP_SUCCESS;

  if (fd >= 0) (void)close(fd);
  if (!err) err = GpDevDownload(v->dev, v->got, device, v->C->bytes[item]);
  if (err) return err;
  if (item != v->used || memcmp(v->got, v->C->chunk[item], v->C->bytes[item])) return GP_ERR_NO_DEVICE; /* a code that nothing else returns here */
  v->used++;
  return GP_SUCCESS;
}

/* Visits the chunks of a file with a fault, and once more after the file is restored. */
static PetscErrorCode CheckFault(Visit *v, GpStream S, GpChunkFile f, const unsigned char *bytes)
{
  const char *words[] = {"", "Is a directory", "the file was shortened", "have another checksum"};
  const int   last    = v->C->chunks - 1;
  int         fd;
  char        item[64];
  GpErr       err;

  PetscFunctionBegin;
  v->used = 0;
  err     = GpStreamVisit(S, Use, v);
  (void)snprintf(item, sizeof(item), "chunk %d of %s", last, File);
  if (!v->fault) Check(!err && v->used == v->C->chunks, "error %d after %d chunks: %s", (int)err, (int)v->used, GpDevError(v->dev));
  else
    Check(err == GP_ERR_FILE && v->used > 2 && v->used <= last && strstr(GpDevError(v->dev), words[v->fault]) && strstr(GpDevError(v->dev), v->fault == 1 ? "a transfer buffer" : item), "fault %d: error %d after %d chunks: %s", v->fault, (int)err,
          (int)v->used, GpDevError(v->dev));
  Check(v->fault != 1 || dup2(v->saved, v->fd) == v->fd, "the descriptor cannot be restored");
  fd = open(File, O_WRONLY);
  Check(fd >= 0 && pwrite(fd, bytes, v->size, 0) == (ssize_t)v->size && !close(fd), "the file cannot be restored");
  v->fault = 0;
  v->used  = 0;
  Check(!GpStreamVisit(S, Use, v) && v->used == v->C->chunks, "after the fault: %s", GpDevError(v->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPipeline(GpDev dev)
{
  Chunks         C;
  char           why[GP_CHUNK_FILE_WHY];
  unsigned char *bytes;
  size_t         n;

  PetscFunctionBegin;
  PetscCall(ChunksCreate(GP_F64, 0, 12, &C));
  Check(C.chunks > 12, "the test needs more chunks than there are staging buffers");
  PetscCall(WriteChunks(File, &C));
  PetscCall(ReadBytes(File, &n, &bytes));
  for (int threads = 0; threads <= 3; threads++) {
    for (int fault = 0; fault <= 3; fault++) {
      const GpStreamOptions o = {.buffers = 2, .threads = threads};
      Visit                 v = {.dev = dev, .C = &C, .fault = fault, .size = n, .at = sizeof(GpChunkFileHeader) + C.total - 40};
      GpChunkFile           f;
      GpStream              S;

      v.fd = open("/dev/null", O_RDONLY); /* the file will have this descriptor, the lowest one that is free */
      (void)close(v.fd);
      Check(!GpChunkFileOpen(File, &f, why, sizeof(why)), "%s", why);
      v.saved      = dup(v.fd);
      v.damaged[0] = bytes[v.at] ^ 0x10;
      PetscCall(PetscMalloc1(C.largest, &v.got));
      PetscCallGp(dev, "pipeline", GpStreamCreate(dev, &o, &S));
      for (int c = 0; c < C.chunks; c++) {
        const GpStreamItem item = {.bytes = GpChunkFileGetChunk(f, c)->bytes, .fill = GpChunkFileFill, .context = f};

        PetscCallGp(dev, "pipeline", GpStreamAdd(S, &item));
      }
      PetscCall(CheckFault(&v, S, f, bytes));
      GpStreamDestroy(&S);
      GpChunkFileClose(&f);
      (void)close(v.saved);
      PetscCall(PetscFree(v.got));
    }
  }
  PetscCall(PetscFree(bytes));
  PetscCall(ChunksDestroy(&C));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "faults during a visit: errors; the next visit is complete\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(CheckFullDisk());
  PetscCall(CheckWrongCalls());
  PetscCall(CheckPipeline(dev));
  (void)unlink(File);
  (void)unlink(Copy);
  Check(GpDevBytesHeld(dev) == 0, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
