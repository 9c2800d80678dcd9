/* A text file, plain or compressed, cut into one piece of whole lines for every rank. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/app.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* a failure of the first rank becomes everybody's */
static PetscErrorCode Raise(MPI_Comm comm, int failed, const char file[], char what[128])
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, comm));
  if (failed) PetscCallMPI(MPI_Bcast(what, 128, MPI_CHAR, 0, comm));
  PetscCheck(!failed, comm, failed, "%s: %s", file, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the command that decompresses a file which begins so, NULL for any other */
static const char *Decompressor(const unsigned char begin[6])
{
  if (!memcmp(begin, "\037\213", 2)) return "gzip";
  if (!memcmp(begin, "\3757zXZ", 6)) return "xz";
  if (!memcmp(begin, "BZh", 3)) return "bzip2";
  if (!memcmp(begin, "\050\265\057\375", 4)) return "zstd";
  return NULL;
}

/* reads all that a decompressor writes */
static PetscErrorCode ReadPipe(const char file[], const char program[], char **text, size_t *length, int *failed, char what[128])
{
  char   command[2 * PETSC_MAX_PATH_LEN + 32], *to;
  size_t capacity = (size_t)1 << 24, got;
  FILE  *fp;
  int    status;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s -dc -- '", program));
  to = command + strlen(command);
  for (const char *c = file; *c && to < command + sizeof(command) - 8; c++) {
    if (*c == '\'') {
      memcpy(to, "'\\''", 4);
      to += 4;
    } else *to++ = *c;
  }
  memcpy(to, "'", 2);
  PetscCall(PetscMalloc1(capacity + 1, text));
  fp = popen(command, "r");
  while (fp && (got = fread(*text + *length, 1, capacity - *length, fp)) > 0) {
    *length += got;
    if (*length < capacity) continue;
    capacity *= 2;
    PetscCall(PetscRealloc(capacity + 1, text));
  }
  status = fp ? pclose(fp) : -1;
  if (!status) PetscFunctionReturn(PETSC_SUCCESS);
  *failed = PETSC_ERR_FILE_READ;
  PetscCall(PetscSNPrintf(what, 128, "cannot be decompressed by %s -dc; is that program installed, and the file whole?", program));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the piece of a rank begins, but for the rest of a line: equal shares, of which the first is large enough for any header */
static PetscInt64 Share(PetscInt64 bytes, PetscMPIInt rank, PetscMPIInt size)
{
  return rank ? PetscMin(bytes, PetscMax(bytes / size * rank + bytes % size * rank / size, (PetscInt64)65536)) : 0;
}

static size_t CutAt(const char *text, size_t length, PetscMPIInt rank, PetscMPIInt size)
{
  const size_t share   = rank < size ? (size_t)Share((PetscInt64)length, rank, size) : length;
  const char  *newline = share && share < length ? (const char *)memchr(text + share - 1, '\n', length - share + 1) : NULL; /* the byte before tells whether a line begins here */

  if (!share) return 0;
  return newline ? (size_t)(newline - text) + 1 : length;
}

/* hands every rank its piece of what the first rank holds */
static PetscErrorCode Scatter(GpAppText *T, char **all, size_t length)
{
  const size_t most = (size_t)1 << 30; /* a message counts with an int */
  PetscMPIInt  rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  for (PetscMPIInt r = 1; r < size && !rank; r++) {
    const size_t from = CutAt(*all, length, r, size), to = CutAt(*all, length, r + 1, size);
    PetscInt64   bytes = (PetscInt64)(to - from);

    PetscCallMPI(MPI_Send(&bytes, 1, MPIU_INT64, r, 0, T->comm));
    for (size_t at = from; at < to; at += most) PetscCallMPI(MPI_Send(*all + at, (PetscMPIInt)PetscMin(most, to - at), MPI_CHAR, r, 0, T->comm));
  }
  if (rank) {
    PetscInt64 bytes;

    PetscCallMPI(MPI_Recv(&bytes, 1, MPIU_INT64, 0, 0, T->comm, MPI_STATUS_IGNORE));
    T->length = (size_t)bytes;
    PetscCall(PetscMalloc1(T->length + 1, &T->text));
    for (size_t at = 0; at < T->length; at += most) PetscCallMPI(MPI_Recv(T->text + at, (PetscMPIInt)PetscMin(most, T->length - at), MPI_CHAR, 0, 0, T->comm, MPI_STATUS_IGNORE));
  } else {
    T->length = size > 1 ? CutAt(*all, length, 1, size) : length;
    T->text   = *all; /* keeps its room */
    *all      = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first position from `at` on where a line begins, or the end of the file */
static PetscInt64 LineStart(FILE *fp, PetscInt64 at, PetscInt64 bytes)
{
  char buffer[4096];

  if (!at || at >= bytes) return PetscMin(at, bytes);
  if (fseeko(fp, (off_t)--at, SEEK_SET)) return bytes; /* the byte before tells whether a line begins here; reading fails likewise */
  for (size_t got; (got = fread(buffer, 1, sizeof(buffer), fp)) > 0; at += (PetscInt64)got) {
    const char *newline = (const char *)memchr(buffer, '\n', got);

    if (newline) return at + (newline - buffer) + 1;
  }
  return bytes;
}

/* every rank reads its own lines of a plain file */
static PetscErrorCode ReadShare(GpAppText *T, PetscInt64 bytes)
{
  PetscMPIInt rank, size;
  PetscInt64  from = 0, to = 0;
  FILE       *fp;
  int         failed = 0, any;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  fp = fopen(T->file, "rb");
  if (!fp) failed = errno;
  else {
    from = LineStart(fp, Share(bytes, rank, size), bytes);
    to   = rank + 1 < size ? LineStart(fp, Share(bytes, rank + 1, size), bytes) : bytes;
  }
  PetscCall(PetscMalloc1((size_t)(to - from) + 1, &T->text));
  if (fp) {
    T->length = fseeko(fp, (off_t)from, SEEK_SET) ? 0 : fread(T->text, 1, (size_t)(to - from), fp);
    if ((PetscInt64)T->length < to - from) failed = errno ? errno : EIO;
    (void)fclose(fp);
  }
  PetscCallMPI(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, T->comm));
  PetscCheck(!any, T->comm, PETSC_ERR_FILE_READ, "%s: %s", T->file, strerror(any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextRead - Reads a text file; every rank gets some of its lines

  Collective

  Input Parameters:
+ comm - the communicator
- file - the file; gzip, xz, bzip2 and zstd files are decompressed by the programs of these names

  Output Parameter:
. T - the lines, to be freed with GpAppTextDestroy()

  Note:
  All ranks read their own parts of a plain file.  The first rank alone decompresses, and holds the whole text meanwhile.
*/
PetscErrorCode GpAppTextRead(MPI_Comm comm, const char file[], GpAppText *T)
{
  unsigned char begin[6]  = {0};
  char          what[128] = "", *all = NULL;
  const char   *program = NULL;
  PetscInt64    bytes = 0, lines = 0;
  PetscMPIInt   rank;
  int           failed = 0, piped;
  size_t        length = 0;
  struct stat   st;

  PetscFunctionBegin;
  memset(T, 0, sizeof(*T));
  T->comm = comm;
  PetscCall(PetscStrncpy(T->file, file, sizeof(T->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    FILE *fp = fopen(file, "rb");

    if (!fp || fstat(fileno(fp), &st)) PetscCall(PetscStrncpy(what, strerror(errno), sizeof(what)));
    else if (!S_ISREG(st.st_mode)) PetscCall(PetscStrncpy(what, "not a regular file", sizeof(what)));
    else if (fread(begin, 1, sizeof(begin), fp) < sizeof(begin) && ferror(fp)) PetscCall(PetscStrncpy(what, strerror(errno), sizeof(what)));
    if (what[0]) failed = PETSC_ERR_FILE_OPEN;
    else bytes = (PetscInt64)st.st_size;
    if (fp) (void)fclose(fp);
    if (!failed) program = Decompressor(begin);
    if (program) PetscCall(ReadPipe(file, program, &all, &length, &failed, what));
  }
  if (failed) PetscCall(PetscFree(all));
  PetscCall(Raise(comm, failed, file, what));
  piped = program != NULL;
  PetscCallMPI(MPI_Bcast(&piped, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPIU_INT64, 0, comm));
  if (piped) PetscCall(Scatter(T, &all, length));
  else PetscCall(ReadShare(T, bytes));
  if (T->length && T->text[T->length - 1] != '\n') T->text[T->length++] = '\n'; /* both readers leave room for it */
  for (const char *p = T->text, *end = T->text + T->length; p < end; p++) {
    p = (const char *)memchr(p, '\n', (size_t)(end - p));
    lines++;
  }
  PetscCallMPI(MPI_Exscan(&lines, &T->before, 1, MPIU_INT64, MPI_SUM, comm));
  if (!rank) T->before = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppTextDestroy(GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(T->text));
  T->length = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* notes what was expected where the token begins; the first complaint stays */
void GpAppComplain(GpAppComplaint *C, PetscInt64 line, const char token[], const char end[], const char expected[])
{
  char quoted[32];
  int  n = 0;

  if (C->line) return;
  C->line = line;
  for (const char *c = token; c < end && !isspace((unsigned char)*c) && n < 24; c++) quoted[n++] = isprint((unsigned char)*c) ? *c : '?';
  quoted[n] = 0;
  if (n) (void)snprintf(C->what, sizeof(C->what), "%s, got '%s'", expected, quoted);
  else (void)snprintf(C->what, sizeof(C->what), "%s, got the end of the line", expected);
}

/* raises on all ranks the first complaint in the file, if there is one */
PetscErrorCode GpAppTextRaise(const GpAppText *T, const GpAppComplaint *C)
{
  PetscMPIInt    rank, size, mine, first;
  GpAppComplaint it = *C;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  if (it.line) it.line += T->before;
  mine = it.line ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, T->comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&it, (PetscMPIInt)sizeof(it), MPI_BYTE, first, T->comm));
  SETERRQ(T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: line %" PetscInt64_FMT ": %s", T->file, it.line, it.what);
}
