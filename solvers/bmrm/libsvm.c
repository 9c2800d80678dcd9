/* Reading a LIBSVM file in parallel: every rank takes the lines that begin in its part of the bytes. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "libsvm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* a window on the part of the file that this rank reads */
typedef struct {
  FILE      *fp;
  char      *buf;
  size_t     cap, len, pos; /* bytes of room, filled, consumed; one more byte is there for a sentinel */
  PetscInt64 offset;        /* where in the file buf begins */
  PetscInt64 end;           /* lines that begin here or later belong to others */
  PetscBool  eof;
} Window;

static PetscErrorCode Fail(BMRMFileError *err, int code, const char what[])
{
  PetscFunctionBegin;
  if (err->code) PetscFunctionReturn(PETSC_SUCCESS);
  err->code = code;
  err->line = err->column = 0;
  PetscCall(PetscStrncpy(err->what, what, sizeof(err->what)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads on, after moving what is not consumed to the front; makes room where one line fills all of it. */
static PetscErrorCode WindowFill(Window *win, BMRMFileError *err)
{
  size_t     want, got;
  PetscInt64 left;

  PetscFunctionBegin;
  if (win->pos) {
    memmove(win->buf, win->buf + win->pos, win->len - win->pos);
    win->offset += (PetscInt64)win->pos;
    win->len -= win->pos;
    win->pos = 0;
  }
  if (win->len == win->cap) {
    win->cap *= 2;
    PetscCall(PetscRealloc(win->cap + 1, &win->buf));
  }
  left = win->end - win->offset - (PetscInt64)win->len;
  want = win->cap - win->len;
  if (left > 0) want = (size_t)PetscMin((PetscInt64)want, left);
  else want = PetscMin(want, (size_t)65536); /* only the end of the last line is missing */
  got = fread(win->buf + win->len, 1, want, win->fp);
  win->len += got;
  if (got < want) {
    win->eof = PETSC_TRUE;
    if (ferror(win->fp)) PetscCall(Fail(err, PETSC_ERR_FILE_READ, strerror(errno)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next line of this rank, from line up to the newline (or sentinel) eol; NULL when there is none. */
static PetscErrorCode WindowNextLine(Window *win, BMRMFileError *err, const char **line, const char **eol)
{
  PetscFunctionBegin;
  *line = NULL;
  while (win->offset + (PetscInt64)win->pos < win->end && !err->code) {
    char *nl = win->len > win->pos ? (char *)memchr(win->buf + win->pos, '\n', win->len - win->pos) : NULL;

    if (!nl && win->eof) {
      if (win->pos == win->len) break;
      nl  = win->buf + win->len;
      *nl = '\n';
    }
    if (nl) {
      *line    = win->buf + win->pos;
      *eol     = nl;
      win->pos = PetscMin((size_t)(nl - win->buf) + 1, win->len);
      break;
    }
    PetscCall(WindowFill(win, err));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the file and finds the part of this rank; failures are noted in err. */
static PetscErrorCode WindowOpen(MPI_Comm comm, const char file[], Window *win, BMRMFileError *err)
{
  struct stat st;
  PetscMPIInt rank, size;
  PetscInt64  bytes = 0, begin;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  memset(win, 0, sizeof(*win));
  win->fp = fopen(file, "rb");
  if (!win->fp || fstat(fileno(win->fp), &st)) PetscCall(Fail(err, PETSC_ERR_FILE_OPEN, strerror(errno)));
  else if (!S_ISREG(st.st_mode)) PetscCall(Fail(err, PETSC_ERR_FILE_OPEN, "not a regular file"));
  else bytes = (PetscInt64)st.st_size;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPIU_INT64, 0, comm));
  begin    = bytes / size * rank + bytes % size * rank / size;
  win->end = bytes / size * (rank + 1) + bytes % size * (rank + 1) / size;
  win->cap = (size_t)PetscMax((PetscInt64)4096, PetscMin((PetscInt64)4194304, win->end - begin + 65536));
  PetscCall(PetscMalloc1(win->cap + 1, &win->buf));
  win->offset = begin ? begin - 1 : 0; /* the byte before tells whether a line begins here */
  if (!err->code && fseeko(win->fp, (off_t)win->offset, SEEK_SET)) PetscCall(Fail(err, PETSC_ERR_FILE_READ, strerror(errno)));
  if (!err->code && begin) {
    const char *line, *eol;

    if (begin < win->end) PetscCall(WindowNextLine(win, err, &line, &eol));
    else win->end = win->offset;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a compressed file begins with, where a bad token would be a poor message. */
static PetscErrorCode CheckCompressed(const Window *win, BMRMFileError *err)
{
  static const struct {
    const char *magic, *name;
  } known[] = {{"\037\213", "gzip"}, {"BZh", "bzip2"}, {"\3757zXZ", "xz"}, {"\050\265\057\375", "zstd"}};
  char what[128];

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
    const size_t n = strlen(known[k].magic);

    if (win->offset || win->len < n || memcmp(win->buf, known[k].magic, n)) continue;
    PetscCall(PetscSNPrintf(what, sizeof(what), "the file is compressed with %s; decompress it first", known[k].name));
    PetscCall(Fail(err, PETSC_ERR_FILE_UNEXPECTED, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first complaint in the file, by line, raised on every rank. */
static PetscErrorCode RaiseFirst(MPI_Comm comm, const char file[], BMRMParser *ps, PetscInt64 *linesbefore)
{
  PetscMPIInt   rank, size, mine, first;
  PetscInt64    before = 0;
  BMRMFileError err    = ps->err;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Exscan(&ps->lines, &before, 1, MPIU_INT64, MPI_SUM, comm));
  if (!rank) before = 0;
  *linesbefore = before;
  if (err.line) err.line += before;
  mine = err.code ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&err, (PetscMPIInt)sizeof(err), MPI_BYTE, first, comm));
  PetscCheck(err.line, comm, (PetscErrorCode)err.code, "%s: %s", file, err.what);
  SETERRQ(comm, (PetscErrorCode)err.code, "%s: line %" PetscInt64_FMT ", column %" PetscInt64_FMT ": %s", file, err.line, err.column, err.what);
}

/* Merges the lists of labels of the ranks into one, ascending, the same on all. */
static PetscErrorCode MergeClasses(BMRMExamples *ex, PetscInt64 linesbefore)
{
  const PetscMPIInt width = 2 * (BMRM_MAX_CLASSES + 1) + 1;
  PetscMPIInt       size;
  double           *mine, *all;
  PetscInt          n = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(ex->comm, &size));
  PetscCall(PetscMalloc2(width, &mine, (size_t)width * size, &all));
  PetscCall(PetscArrayzero(mine, width));
  mine[0] = (double)ex->nclass;
  for (PetscInt k = 0; k < ex->nclass; k++) {
    mine[1 + 2 * k] = ex->classes[k];
    mine[2 + 2 * k] = (double)(ex->classline[k] + linesbefore);
  }
  PetscCallMPI(MPI_Allgather(mine, width, MPI_DOUBLE, all, width, MPI_DOUBLE, ex->comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    const double *of = all + (size_t)r * width;

    for (PetscInt k = 0; k < (PetscInt)of[0]; k++) {
      const PetscReal label = of[1 + 2 * k];
      PetscInt        at    = 0, s;

      while (at < n && ex->classes[at] < label) at++;
      if ((at < n && ex->classes[at] == label) || n > BMRM_MAX_CLASSES) continue;
      for (s = n++; s > at; s--) {
        ex->classes[s]   = ex->classes[s - 1];
        ex->classline[s] = ex->classline[s - 1];
      }
      ex->classes[at]   = label;
      ex->classline[at] = (PetscInt64)of[2 + 2 * k];
    }
  }
  ex->nclass = n;
  PetscCall(PetscFree2(mine, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes over all ranks; an index or a number of rows beyond PetscInt shows here at the latest. */
static PetscErrorCode SumUp(BMRMExamples *ex, PetscInt nz)
{
  PetscInt64 mine[2], all[2];
  PetscInt   N = ex->N;

  PetscFunctionBegin;
  mine[0] = ex->m;
  mine[1] = nz;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT64, MPI_SUM, ex->comm));
  PetscCallMPI(MPI_Allreduce(&N, &ex->N, 1, MPIU_INT, MPI_MAX, ex->comm));
  PetscCheck(all[0] > 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no examples, expected lines of the form: <label> <index>:<value> ...", ex->file);
  PetscCheck(all[0] <= PETSC_MAX_INT, ex->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: %" PetscInt64_FMT " examples do not fit PetscInt: use a PETSc with 64-bit indices", ex->file, all[0]);
  ex->M   = (PetscInt)all[0];
  ex->nnz = all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ParseAll(MPI_Comm comm, const char file[], BMRMParser *ps)
{
  Window      win;
  const char *line, *eol;
  PetscBool   checked = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(WindowOpen(comm, file, &win, &ps->err));
  ps->mcap  = 1024;
  ps->nzcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, 1024 + PetscMax((PetscInt64)0, win.end - win.offset) / 5); /* most entries are longer */
  PetscCall(PetscMalloc1(ps->mcap, &ps->ex->i));
  PetscCall(PetscMalloc1(ps->mcap, &ps->ex->label));
  PetscCall(PetscMalloc1(ps->nzcap, &ps->ex->j));
  PetscCall(PetscMalloc1(ps->nzcap, &ps->ex->a));
  ps->ex->i[0] = 0;
  while (!ps->err.code) {
    PetscCall(WindowNextLine(&win, &ps->err, &line, &eol));
    if (!checked) PetscCall(CheckCompressed(&win, &ps->err));
    checked = PETSC_TRUE;
    if (!line || ps->err.code) break;
    PetscCall(BMRMParseLine(ps, line, eol));
  }
  PetscCall(PetscFree(win.buf));
  if (win.fp) (void)fclose(win.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesLoad - Reads a LIBSVM file, every rank a part of it

  Collective

  Input Parameters:
+ comm - the communicator
- file - a regular file that every rank can open

  Output Parameter:
. ex - the examples, to be freed with `BMRMExamplesDestroy()`; empty after an error

  Level: developer

  Note:
  A line holds a label and, in ascending order of the indices, features as <index>:<value>, counted from 1. Blank lines,
  comments from # to the end of a line, carriage returns and a qid:<number> after the label are ignored. Anything else is an error
  that names the line and the column, raised on all ranks.

.seealso: `BMRMExamplesCreateMat()`, `BMRMExamplesGetClasses()`
@*/
PetscErrorCode BMRMExamplesLoad(MPI_Comm comm, const char file[], BMRMExamples *ex)
{
  BMRMParser     ps;
  PetscInt64     before = 0;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  memset(ex, 0, sizeof(*ex));
  memset(&ps, 0, sizeof(ps));
  ex->comm = comm;
  ps.ex    = ex;
  PetscCall(PetscStrncpy(ex->file, file, sizeof(ex->file)));
  PetscCall(ParseAll(comm, file, &ps));
  ierr = RaiseFirst(comm, file, &ps, &before);
  if (!ierr) ierr = SumUp(ex, ps.nz);
  if (ierr) {
    PetscCall(BMRMExamplesDestroy(ex));
    PetscCall(ierr);
  }
  PetscCall(MergeClasses(ex, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesDestroy - Frees examples

  Not Collective

  Input Parameter:
. ex - the examples

  Level: developer

.seealso: `BMRMExamplesLoad()`
@*/
PetscErrorCode BMRMExamplesDestroy(BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ex->i));
  PetscCall(PetscFree(ex->j));
  PetscCall(PetscFree(ex->a));
  PetscCall(PetscFree(ex->label));
  ex->m = ex->M = ex->N = 0;
  ex->nnz               = 0;
  ex->nclass            = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
