/* A text file, plain or compressed, cut into one piece of whole lines for every rank, to be read at once or block by block. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/text/apptext.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GP_APP_TEXT_BLOCK     ((size_t)1 << 20)
#define GP_APP_TEXT_BEGINNING ((size_t)4096) /* bytes read when a file is opened, for GpAppTextBeginning() */

/* Ends the input of this rank. An error of the source becomes an error of the text. */
static PetscErrorCode GpAppTextEnd(GpAppText *T)
{
  PetscFunctionBegin;
  if (T->source && !T->unreadable.code) T->unreadable = T->source->wrong;
  PetscCall(GpAppSourceClose(&T->source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a NUL byte among the last bytes read. Text has no such bytes, and string functions would silently stop there. */
static PetscErrorCode GpAppTextCheckNul(GpAppText *T, size_t got)
{
  const char *from = T->text + T->ahead - got, *nul = got ? (const char *)memchr(from, 0, got) : NULL;
  PetscInt64  line = T->lines + 1;

  PetscFunctionBegin;
  if (!nul) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *p = T->text; p < nul; p++) line += *p == '\n';
  GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_UNEXPECTED, line, "found a NUL byte: expected text in UTF-8 (the file may be binary, or text in UTF-16)");
  T->ahead = 0;
  PetscCall(GpAppTextEnd(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads on until `want` bytes lie ahead or the input ends. */
static PetscErrorCode GpAppTextFill(GpAppText *T, size_t want)
{
  PetscFunctionBegin;
  while (T->source && T->ahead < want) {
    size_t more, got = 0;

    if (T->ahead == T->capacity) {
      T->capacity = PetscMin(want, T->sized ? T->capacity + (size_t)T->left : PetscMax(2 * T->capacity, GP_APP_TEXT_BLOCK));
      PetscCall(PetscRealloc(T->capacity + 1, &T->text)); /* one more for a newline */
    }
    more = PetscMin(want, T->capacity) - T->ahead;
    if (T->sized) more = PetscMin(more, (size_t)T->left);
    if (more) PetscCall(GpAppSourceRead(T->source, T->text + T->ahead, more, &got));
    T->ahead += got;
    if (T->sized) T->left -= (PetscInt64)got;
    if (!got && more && T->sized && !T->source->wrong.code) GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_READ, 0, "the file has become shorter while it was read");
    if (!got || (T->sized && !T->left)) PetscCall(GpAppTextEnd(T));
    PetscCall(GpAppTextCheckNul(T, got));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the carriage return before every newline of the current lines. */
static void GpAppTextRemoveReturns(GpAppText *T)
{
  char *to = T->length ? (char *)memchr(T->text, '\r', T->length) : NULL, *end = T->text + T->length;

  if (!to) return;
  for (const char *p = to; p < end; p++) {
    if (*p != '\r' || p[1] != '\n') *to++ = *p; /* the last byte is a newline */
  }
  if (T->ahead) memmove(to, end, T->ahead);
  T->length = (size_t)(to - T->text);
}

/* Reads the next lines of this rank, about `block` bytes; (size_t)-1: all that remain. Not collective.
   T->text and T->length hold whole lines. A single line can be longer than a block. T->length is 0 at the end of the text, and after a read error, which GpAppTextRaise() reports. */
PetscErrorCode GpAppTextNext(GpAppText *T, size_t block)
{
  PetscFunctionBegin;
  if (T->ahead && T->length) memmove(T->text, T->text + T->length, T->ahead);
  for (T->length = 0; !T->length;) {
    PetscCall(GpAppTextFill(T, block));
    if (!T->source) break;
    for (T->length = T->ahead; T->length && T->text[T->length - 1] != '\n';) T->length--;
    block = block > (size_t)-1 / 2 ? (size_t)-1 : 2 * block; /* the block contains no end of a line */
  }
  if (!T->source) T->length = T->ahead;
  T->ahead -= T->length;
  if (T->length && T->text[T->length - 1] != '\n') T->text[T->length++] = '\n';
  GpAppTextRemoveReturns(T);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the first bytes of the file on the first rank: skips a byte-order mark of UTF-8, and refuses text that is not UTF-8. */
static PetscErrorCode GpAppTextBegin(GpAppText *T)
{
  const char *p;
  PetscBool   utf16, binary;

  PetscFunctionBegin;
  T->capacity = GP_APP_TEXT_BEGINNING;
  PetscCall(PetscCalloc1(T->capacity + 1, &T->text));
  PetscCall(GpAppTextFill(T, T->capacity));
  p      = T->text; /* bytes that were refused for a NUL byte are still here */
  utf16  = (PetscBool)(!memcmp(p, "\377\376", 2) || !memcmp(p, "\376\377", 2));
  binary = (PetscBool)(!memcmp(p, "\000\022\173", 3) || !memcmp(p, "\000\000\000\000\000\022\173", 7));
  if (utf16 || binary) {
    T->unreadable.code = 0;
    GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_UNEXPECTED, 0,
                       utf16 ? "the text is in UTF-16 or UTF-32: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)" : "PETSc's binary format, where text is expected; in that format only a matrix is read, from an uncompressed file and not from a pipe");
  } else if (T->ahead && !memcmp(p, "\357\273\277", 3)) {
    T->ahead -= 3;
    if (T->ahead) memmove(T->text, T->text + 3, T->ahead);
  }
  if (T->unreadable.code) {
    T->ahead = 0;
    PetscCall(GpAppTextEnd(T));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the offset of a rank's part before it is moved to the beginning of a line. Parts have equal sizes; the first one is large enough for any header. */
static PetscInt64 GpAppTextShare(PetscInt64 bytes, PetscMPIInt rank, PetscMPIInt size)
{
  return rank ? PetscMin(bytes, PetscMax(bytes / size * rank + bytes % size * rank / size, (PetscInt64)65536)) : 0;
}

static size_t GpAppTextCutAt(const char *text, size_t length, PetscMPIInt rank, PetscMPIInt size)
{
  const size_t share   = rank < size ? (size_t)GpAppTextShare((PetscInt64)length, rank, size) : length;
  const char  *newline = share && share < length ? (const char *)memchr(text + share - 1, '\n', length - share + 1) : NULL; /* the byte before tells whether a line begins here */

  if (!share) return 0;
  return newline ? (size_t)(newline - text) + 1 : length;
}

/* Sends every rank its part of the lines that the first rank has read. */
static PetscErrorCode GpAppTextScatter(GpAppText *T)
{
  const size_t most = (size_t)1 << 30; /* counts of MPI are int */
  PetscMPIInt  rank, size;
  PetscInt64   bytes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  for (PetscMPIInt r = 1; r < size && !rank; r++) {
    const size_t from = GpAppTextCutAt(T->text, T->length, r, size), to = GpAppTextCutAt(T->text, T->length, r + 1, size);

    bytes = (PetscInt64)(to - from);
    PetscCallMPI(MPI_Send(&bytes, 1, MPIU_INT64, r, 0, T->comm));
    for (size_t at = from; at < to; at += most) PetscCallMPI(MPI_Send(T->text + at, (PetscMPIInt)PetscMin(most, to - at), MPI_CHAR, r, 0, T->comm));
  }
  if (rank) {
    PetscCallMPI(MPI_Recv(&bytes, 1, MPIU_INT64, 0, 0, T->comm, MPI_STATUS_IGNORE));
    T->length = (size_t)bytes;
    PetscCall(PetscMalloc1(T->length + 1, &T->text));
    for (size_t at = 0; at < T->length; at += most) PetscCallMPI(MPI_Recv(T->text + at, (PetscMPIInt)PetscMin(most, T->length - at), MPI_CHAR, 0, 0, T->comm, MPI_STATUS_IGNORE));
  } else {
    T->length = GpAppTextCutAt(T->text, T->length, 1, size);
    PetscCall(PetscRealloc(T->length + 1, &T->text));
  }
  T->capacity = T->length;
  T->ahead    = T->length; /* GpAppTextNext() takes its lines from these bytes */
  T->length   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first position from `at` on where a line begins, or the end of the file; -1 after an error. */
static PetscInt64 GpAppTextLineStart(int fd, PetscInt64 at, PetscInt64 bytes)
{
  char buffer[4096];

  if (!at || at >= bytes) return PetscMin(at, bytes);
  at--; /* the byte before tells whether a line begins here */
  while (at < bytes) {
    const ssize_t got     = pread(fd, buffer, sizeof(buffer), (off_t)at);
    const char   *newline = got > 0 ? (const char *)memchr(buffer, '\n', (size_t)got) : NULL;

    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (newline) return at + (newline - buffer) + 1;
    if (!got) break;
    at += got;
  }
  return bytes;
}

/* Opens the file on this rank, which reads only its own lines. */
static PetscErrorCode GpAppTextOpenShare(GpAppText *T, PetscInt64 bytes)
{
  PetscMPIInt rank, size;
  PetscInt64  from, to;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  T->sized = PETSC_TRUE;
  if (rank) PetscCall(GpAppSourceOpen(T->file, &T->source));
  if (T->source->wrong.code) {
    PetscCall(GpAppTextEnd(T));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  from = GpAppTextLineStart(T->source->fd, GpAppTextShare(bytes, rank, size), bytes);
  to   = rank + 1 < size ? GpAppTextLineStart(T->source->fd, GpAppTextShare(bytes, rank + 1, size), bytes) : bytes;
  if (from < 0 || to < 0 || lseek(T->source->fd, (off_t)from, SEEK_SET) < 0) GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_READ, 0, "%s", strerror(errno));
  T->source->held = 0;
  T->left         = to - from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the file on the first rank, and tells all ranks whether each of them can read its own part: of an uncompressed regular file which is the same one for all.
   That excludes names such as /dev/stdin, which mean another file in every process. */
static PetscErrorCode GpAppTextExamine(GpAppText *T, const char file[], PetscBool *shared, PetscInt64 *bytes)
{
  struct stat st = {0};
  PetscInt64  mine[3], first[3];
  int         same, all;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  if (!rank) {
    PetscCall(GpAppSourceOpen(file, &T->source));
    if (!T->source->wrong.code && T->source->fd >= 0 && fstat(T->source->fd, &st)) GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_OPEN, 0, "%s", strerror(errno));
    if (T->source->wrong.code == PETSC_ERR_FILE_READ && !stat(file, &st) && S_ISDIR(st.st_mode)) GpAppComplainAbout(&T->unreadable, PETSC_ERR_FILE_OPEN, 0, "this is a directory: expected a file");
    if (T->source->wrong.code || T->unreadable.code) PetscCall(GpAppTextEnd(T));
    if (!T->source || T->source->program || !strcmp(file, "-") || !S_ISREG(st.st_mode)) st.st_size = 0; /* one of size 0 may still have contents, as those in /proc */
  } else if (stat(file, &st) || !S_ISREG(st.st_mode)) st.st_size = 0;
  mine[0] = first[0] = (PetscInt64)st.st_size;
  mine[1] = first[1] = (PetscInt64)st.st_ino;
  mine[2] = first[2] = (PetscInt64)st.st_mtime;
  PetscCallMPI(MPI_Bcast(first, 3, MPIU_INT64, 0, T->comm));
  same = first[0] > 0 && mine[0] == first[0] && mine[1] == first[1] && mine[2] == first[2];
  PetscCallMPI(MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, T->comm));
  *shared = (PetscBool)(all != 0);
  *bytes  = first[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppTextDestroy(GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppSourceClose(&T->source));
  PetscCall(PetscFree(T->text));
  T->length = T->capacity = T->ahead = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises the first error in a text on all ranks, if there is one; the text is then freed. C: the complaint of this rank, or NULL. Collective.
   All ranks below that of the complaint must have counted all their lines. A rank that could not read its part reports that instead of C. */
PetscErrorCode GpAppTextRaise(GpAppText *T, const GpAppComplaint *C)
{
  GpAppComplaint it = T->unreadable.code || !C ? T->unreadable : *C;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(T->comm, T->lines, &T->before, NULL));
  if (T->everywhere) T->before = 0;
  if (it.line) it.line += T->before;
  ierr = GpAppComplaintRaise(T->comm, T->file, &it);
  if (ierr) PetscCall(GpAppTextDestroy(T));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GpAppTextOpenAs(MPI_Comm comm, const char file[], PetscBool share, GpAppText *T)
{
  PetscInt64  bytes  = 0;
  PetscBool   shared = PETSC_FALSE;
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  memset(T, 0, sizeof(*T));
  T->comm = comm;
  PetscCall(PetscStrncpy(T->file, strcmp(file, "-") ? file : "standard input", sizeof(T->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(GpAppTextExamine(T, file, &shared, &bytes));
  PetscCall(GpAppTextRaise(T, NULL));
  if (share && shared) PetscCall(GpAppTextOpenShare(T, bytes));
  if (!rank && !T->unreadable.code) PetscCall(GpAppTextBegin(T));
  if (share && !shared && size > 1 && !rank) PetscCall(GpAppTextNext(T, (size_t)-1));
  PetscCall(GpAppTextRaise(T, NULL));
  if (share && !shared && size > 1) PetscCall(GpAppTextScatter(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens a text file or pipe for all ranks, `-` for standard input. Contents compressed by gzip, xz, bzip2 or zstd are decompressed by the programs of these names. Collective.
   All ranks read their own parts of a plain file. If the file is compressed or a pipe, or if another rank finds no such file, the first rank alone opens it: on one rank it is
   read as it comes, and on several ranks the first one reads all of it now, and distributes the lines. */
PetscErrorCode GpAppTextOpen(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextOpenAs(comm, file, PETSC_TRUE, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextOpenFirst - Opens a text file as GpAppTextOpen() does, all lines of which are for the first rank

  Collective
*/
PetscErrorCode GpAppTextOpenFirst(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextOpenAs(comm, file, PETSC_FALSE, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
