/* A text file, plain or compressed, cut into one piece of whole lines for every rank, to be read at once or block by block. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/app.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* notes what is wrong with the file as a whole */
static PetscErrorCode Unreadable(GpAppText *T, int code, const char what[])
{
  PetscFunctionBegin;
  if (T->unreadable.code) PetscFunctionReturn(PETSC_SUCCESS);
  T->unreadable.code = code;
  PetscCall(PetscStrncpy(T->unreadable.what, what, sizeof(T->unreadable.what)));
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

static PetscErrorCode OpenPipe(GpAppText *T, const char program[])
{
  char command[4 * PETSC_MAX_PATH_LEN + 32], *to;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s -dc -- '", program));
  to = command + strlen(command);
  for (const char *c = T->file; *c; c++) { /* at most four for one */
    if (*c == '\'') {
      memcpy(to, "'\\''", 4);
      to += 4;
    } else *to++ = *c;
  }
  memcpy(to, "'", 2);
  T->fp = popen(command, "r");
  if (!T->fp) PetscCall(Unreadable(T, PETSC_ERR_FILE_READ, strerror(errno)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the end of what can be read: a decompressor tells now whether all went well */
static PetscErrorCode Close(GpAppText *T)
{
  PetscFunctionBegin;
  if (!T->fp) PetscFunctionReturn(PETSC_SUCCESS);
  if (T->piped) {
    if (pclose(T->fp)) PetscCall(Unreadable(T, PETSC_ERR_FILE_READ, "cannot be decompressed: is the file whole, and are gzip, xz, bzip2 or zstd installed?"));
  } else (void)fclose(T->fp);
  T->fp = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* reads on until `want` bytes lie ahead or there is no more */
static PetscErrorCode Fill(GpAppText *T, size_t want)
{
  PetscFunctionBegin;
  while (T->fp && T->ahead < want) {
    size_t more, got;

    if (T->ahead == T->room) {
      T->room = PetscMin(want, T->piped ? PetscMax(2 * T->room, (size_t)1 << 20) : T->room + (size_t)T->left);
      PetscCall(PetscRealloc(T->room + 1, &T->text)); /* one more for a newline */
    }
    more = PetscMin(want, T->room) - T->ahead;
    if (!T->piped) more = PetscMin(more, (size_t)T->left);
    got = fread(T->text + T->ahead, 1, more, T->fp);
    T->ahead += got;
    if (!T->piped) T->left -= (PetscInt64)got;
    if (got < more && ferror(T->fp)) PetscCall(Unreadable(T, PETSC_ERR_FILE_READ, strerror(errno)));
    else if (got < more && !T->piped) PetscCall(Unreadable(T, PETSC_ERR_FILE_READ, "the file has become shorter while it was read"));
    if (got < more || (!T->piped && !T->left)) PetscCall(Close(T));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextNext - Reads the next lines of this rank

  Not Collective

  Input Parameters:
+ T     - the text
- block - about so many bytes; (size_t)-1 for all there are

  Note:
  T->text and T->length are whole lines, of which one alone can be longer than a block; none at the end, or where the file cannot be read any
  more, which GpAppTextRaise() tells.
*/
PetscErrorCode GpAppTextNext(GpAppText *T, size_t block)
{
  PetscFunctionBegin;
  if (T->ahead) memmove(T->text, T->text + T->length, T->ahead);
  for (T->length = 0; !T->length;) {
    PetscCall(Fill(T, block));
    if (!T->fp) break;
    for (T->length = T->ahead; T->length && T->text[T->length - 1] != '\n';) T->length--;
    block *= 2; /* where not even one line ends */
  }
  if (!T->fp) T->length = T->ahead;
  T->ahead -= T->length;
  if (T->length && T->text[T->length - 1] != '\n') T->text[T->length++] = '\n';
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

/* hands every rank its piece of the lines at hand on the first rank */
static PetscErrorCode Scatter(GpAppText *T)
{
  const size_t most = (size_t)1 << 30; /* a message counts with an int */
  PetscMPIInt  rank, size;
  PetscInt64   bytes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  for (PetscMPIInt r = 1; r < size && !rank; r++) {
    const size_t from = CutAt(T->text, T->length, r, size), to = CutAt(T->text, T->length, r + 1, size);

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
    T->length = CutAt(T->text, T->length, 1, size);
    PetscCall(PetscRealloc(T->length + 1, &T->text));
  }
  T->ahead  = T->length; /* GpAppTextNext() finds all of it */
  T->length = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first position from `at` on where a line begins, or the end of the file */
static PetscInt64 LineStart(FILE *fp, PetscInt64 at, PetscInt64 bytes)
{
  char buffer[4096];

  if (!at || at >= bytes) return PetscMin(at, bytes);
  if (fseeko(fp, (off_t)--at, SEEK_SET)) return bytes; /* the byte before tells whether a line begins here; the caller asks for errors */
  for (size_t got; (got = fread(buffer, 1, sizeof(buffer), fp)) > 0; at += (PetscInt64)got) {
    const char *newline = (const char *)memchr(buffer, '\n', got);

    if (newline) return at + (newline - buffer) + 1;
  }
  return bytes;
}

/* every rank finds its own lines of a plain file */
static PetscErrorCode OpenShare(GpAppText *T, PetscInt64 bytes)
{
  PetscMPIInt rank, size;
  PetscInt64  from, to;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  T->fp = fopen(T->file, "rb");
  if (T->fp) {
    from    = LineStart(T->fp, Share(bytes, rank, size), bytes);
    to      = rank + 1 < size ? LineStart(T->fp, Share(bytes, rank + 1, size), bytes) : bytes;
    T->left = to - from;
    if (!ferror(T->fp) && !fseeko(T->fp, (off_t)from, SEEK_SET)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Unreadable(T, PETSC_ERR_FILE_OPEN, strerror(errno)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the first rank finds: a regular file, its length, and what decompresses it */
static PetscErrorCode Examine(GpAppText *T, PetscInt64 *bytes, const char **program)
{
  unsigned char begin[6] = {0};
  FILE         *fp       = fopen(T->file, "rb");
  struct stat   st;

  PetscFunctionBegin;
  if (!fp || fstat(fileno(fp), &st)) PetscCall(Unreadable(T, PETSC_ERR_FILE_OPEN, strerror(errno)));
  else if (!S_ISREG(st.st_mode)) PetscCall(Unreadable(T, PETSC_ERR_FILE_OPEN, "not a regular file"));
  else if (fread(begin, 1, sizeof(begin), fp) < sizeof(begin) && ferror(fp)) PetscCall(Unreadable(T, PETSC_ERR_FILE_OPEN, strerror(errno)));
  else *bytes = (PetscInt64)st.st_size;
  if (fp) (void)fclose(fp);
  *program = Decompressor(begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextOpen - Opens a text file, to be read by all ranks

  Collective

  Input Parameters:
+ comm - the communicator
- file - the file; gzip, xz, bzip2 and zstd files are decompressed by the programs of these names

  Output Parameter:
. T - the text, without a line at hand; to be freed with GpAppTextDestroy()

  Note:
  All ranks read their own parts of a plain file, and a single rank what a decompressor writes, while it is being read.  For several ranks the
  first one decompresses the file now, and holds the whole text meanwhile.
*/
PetscErrorCode GpAppTextOpen(MPI_Comm comm, const char file[], GpAppText *T)
{
  const char *program = NULL;
  PetscInt64  bytes   = 0;
  PetscMPIInt rank, size;
  int         piped;

  PetscFunctionBegin;
  memset(T, 0, sizeof(*T));
  T->comm = comm;
  PetscCall(PetscStrncpy(T->file, file, sizeof(T->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (!rank) PetscCall(Examine(T, &bytes, &program));
  PetscCall(GpAppTextRaise(T, NULL));
  piped = program != NULL;
  PetscCallMPI(MPI_Bcast(&piped, 1, MPI_INT, 0, comm));
  T->piped = (PetscBool)piped;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPIU_INT64, 0, comm));
  if (!T->piped) PetscCall(OpenShare(T, bytes));
  else if (!rank) PetscCall(OpenPipe(T, program));
  if (T->piped && size > 1 && !rank) PetscCall(GpAppTextNext(T, (size_t)-1));
  PetscCall(GpAppTextRaise(T, NULL));
  if (T->piped && size > 1) PetscCall(Scatter(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextRead - Reads a text file at once; every rank gets some of its lines

  Collective

  Input Parameters:
+ comm - the communicator
- file - the file, as for GpAppTextOpen()

  Output Parameter:
. T - the lines, to be freed with GpAppTextDestroy()
*/
PetscErrorCode GpAppTextRead(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextOpen(comm, file, T));
  PetscCall(GpAppTextNext(T, (size_t)-1));
  for (const char *p = T->text, *end = p + T->length; p < end; p++) {
    p = (const char *)memchr(p, '\n', (size_t)(end - p));
    T->lines++;
  }
  PetscCall(GpAppTextRaise(T, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppTextDestroy(GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(Close(T));
  PetscCall(PetscFree(T->text));
  T->length = T->room = T->ahead = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the next line as far as there is room for it, with the end that sscanf() looks for and a text does not have */
void GpAppTextLine(const char p[], const char end[], char line[], size_t room)
{
  size_t n = 0;

  for (; p + n < end && p[n] != '\n' && n + 1 < room; n++) line[n] = p[n];
  line[n] = 0;
}

/* notes what was expected where the token begins; the first complaint stays */
void GpAppComplainAt(GpAppComplaint *C, int code, PetscInt64 line, PetscInt64 column, const char token[], const char end[], const char expected[])
{
  char quoted[32];
  int  n = 0;

  if (C->code) return;
  C->code   = code;
  C->line   = line;
  C->column = column;
  for (const char *c = token; c < end && !isspace((unsigned char)*c) && n < 24; c++) quoted[n++] = isprint((unsigned char)*c) ? *c : '?';
  quoted[n] = 0;
  if (n) (void)snprintf(C->what, sizeof(C->what), "%s, got '%s'", expected, quoted);
  else (void)snprintf(C->what, sizeof(C->what), "%s, got %s", expected, token < end ? "a blank" : "the end of the line");
}

/* the same for a line of the wrong form, whose number says enough */
void GpAppComplain(GpAppComplaint *C, PetscInt64 line, const char token[], const char end[], const char expected[])
{
  GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, 0, token, end, expected);
}

/*
  GpAppTextRaise - Raises on all ranks the first thing that is wrong in a text, if there is one

  Collective

  Input Parameters:
+ T - the text, of which every rank before that of the complaint has counted all its lines
- C - the complaint of this rank, or NULL

  Note:
  A rank that could not read its part has nothing to complain of in it.
*/
PetscErrorCode GpAppTextRaise(GpAppText *T, const GpAppComplaint *C)
{
  PetscMPIInt    rank, size, mine, first;
  GpAppComplaint it = T->unreadable.code || !C ? T->unreadable : *C;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  PetscCallMPI(MPI_Exscan(&T->lines, &T->before, 1, MPIU_INT64, MPI_SUM, T->comm));
  if (!rank) T->before = 0;
  if (it.line) it.line += T->before;
  mine = it.code ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, T->comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&it, (PetscMPIInt)sizeof(it), MPI_BYTE, first, T->comm));
  PetscCall(GpAppTextDestroy(T));
  PetscCheck(it.line, T->comm, (PetscErrorCode)it.code, "%s: %s", T->file, it.what);
  PetscCheck(it.column, T->comm, (PetscErrorCode)it.code, "%s: line %" PetscInt64_FMT ": %s", T->file, it.line, it.what);
  SETERRQ(T->comm, (PetscErrorCode)it.code, "%s: line %" PetscInt64_FMT ", column %" PetscInt64_FMT ": %s", T->file, it.line, it.column, it.what);
}
