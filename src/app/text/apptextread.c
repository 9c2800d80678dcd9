/* Reads complete text files, and raises errors in their lines on all ranks. */
#define _POSIX_C_SOURCE 200809L
#include "app/text/appsource.h"
#include <ctype.h>
#include <string.h>

static void GpAppTextCountLines(GpAppText *T)
{
  for (const char *p = T->text, *end = p + T->length; p < end; p++) {
    p = (const char *)memchr(p, '\n', (size_t)(end - p));
    T->lines++;
  }
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
  GpAppTextCountLines(T);
  PetscCall(GpAppTextRaise(T, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextReadAll - Reads a text file at once; every rank gets all of its lines

  Collective

  Input Parameters:
+ comm - the communicator
- file - the file, as for GpAppTextOpen(); only the first rank opens it

  Output Parameter:
. T - the lines, to be freed with GpAppTextDestroy()

  Note:
  All ranks parse the same lines, so all of them find the same complaint; GpAppTextRaise() raises that of the first rank.
*/
PetscErrorCode GpAppTextReadAll(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscMPIInt rank;
  PetscInt64  bytes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GpAppTextOpenFirst(comm, file, T));
  if (!rank) PetscCall(GpAppTextNext(T, (size_t)-1));
  PetscCall(GpAppTextRaise(T, NULL));
  bytes = (PetscInt64)T->length;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPIU_INT64, 0, comm));
  T->length = (size_t)bytes;
  if (rank) PetscCall(PetscMalloc1(T->length + 1, &T->text));
  for (size_t at = 0, now; at < T->length; at += now) {
    now = PetscMin(T->length - at, (size_t)1 << 30);
    PetscCallMPI(MPI_Bcast(T->text + at, (PetscMPIInt)now, MPI_CHAR, 0, comm));
  }
  T->everywhere = PETSC_TRUE;
  GpAppTextCountLines(T);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTextBeginning - Gets the first bytes of a text on all ranks, for telling one format from another

  Collective

  Input Parameters:
+ T    - the text, just opened or read
- size - of begin in bytes, at least one

  Output Parameter:
. begin - the bytes that were read already, and a 0 after them: 4096 of them, or all of a smaller file
*/
PetscErrorCode GpAppTextBeginning(const GpAppText *T, char begin[], size_t size)
{
  const size_t n = PetscMin(size - 1, T->length + T->ahead);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(begin, size));
  if (n) PetscCall(PetscMemcpy(begin, T->text, n));
  PetscCallMPI(MPI_Bcast(begin, (PetscMPIInt)size, MPI_CHAR, 0, T->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the next line, cut where the destination ends, with the final 0 that sscanf() expects. */
void GpAppTextLine(const char p[], const char end[], char line[], size_t room)
{
  size_t n = 0;

  for (; p + n < end && p[n] != '\n' && n + 1 < room; n++) line[n] = p[n];
  line[n] = 0;
}

/* Records what was expected at the beginning of a token. Only the first complaint is kept. */
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

/* Records what was expected in a line, without the column. */
void GpAppComplain(GpAppComplaint *C, PetscInt64 line, const char token[], const char end[], const char expected[])
{
  GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, 0, token, end, expected);
}

/*
  GpAppTextRaise - Raises the first error in a text on all ranks, if there is one

  Collective

  Input Parameters:
+ T - the text; all ranks lower than the rank of the complaint must have counted all their lines
- C - the complaint of this rank, or NULL

  Note:
  A rank that could not read its part reports that instead of C. The text is freed before the error is raised.
*/
PetscErrorCode GpAppTextRaise(GpAppText *T, const GpAppComplaint *C)
{
  PetscMPIInt    rank, size, mine, first;
  GpAppComplaint it = T->unreadable.code || !C ? T->unreadable : *C;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  PetscCallMPI(MPI_Exscan(&T->lines, &T->before, 1, MPIU_INT64, MPI_SUM, T->comm));
  if (!rank || T->everywhere) T->before = 0;
  if (it.line) it.line += T->before;
  mine = it.code ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, T->comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&it, (PetscMPIInt)sizeof(it), MPI_BYTE, first, T->comm));
  PetscCall(GpAppTextDestroy(T));
  PetscCheck(it.line, T->comm, (PetscErrorCode)it.code, "%s: %s", T->file, it.what);
  PetscCheck(it.column, T->comm, (PetscErrorCode)it.code, "%s:%" PetscInt64_FMT ": %s", T->file, it.line, it.what);
  SETERRQ(T->comm, (PetscErrorCode)it.code, "%s:%" PetscInt64_FMT ":%" PetscInt64_FMT ": %s", T->file, it.line, it.column, it.what);
}
