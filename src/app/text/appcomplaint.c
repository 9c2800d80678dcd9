/* Errors in input files. */
#include "app/text/appcomplaint.h"
#include "app/text/appcollective.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* Records an error, unless an earlier one is recorded. line 0: it concerns the whole file. format: what is wrong, as for printf(). */
void GpAppComplainAbout(GpAppComplaint *C, int code, PetscInt64 line, const char format[], ...)
{
  va_list args;

  if (C->code) return;
  C->code   = code;
  C->line   = line;
  C->column = 0;
  va_start(args, format);
  (void)vsnprintf(C->what, sizeof(C->what), format, args);
  va_end(args);
}

/* Records what was expected at the beginning of a token. */
void GpAppComplainAt(GpAppComplaint *C, int code, PetscInt64 line, PetscInt64 column, const char token[], const char end[], const char expected[])
{
  char quoted[32];
  int  n = 0;

  if (C->code) return;
  for (const char *c = token; c < end && !isspace((unsigned char)*c) && n < 24; c++) quoted[n++] = isprint((unsigned char)*c) ? *c : '?';
  quoted[n] = 0;
  if (n) GpAppComplainAbout(C, code, line, "%s, got '%s'", expected, quoted);
  else GpAppComplainAbout(C, code, line, "%s, got %s", expected, token < end ? "a blank" : "the end of the line");
  C->column = column;
}

/* Records what was expected in a line, without the column. */
void GpAppComplain(GpAppComplaint *C, PetscInt64 line, const char token[], const char end[], const char expected[])
{
  GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, 0, token, end, expected);
}

/* Raises the complaint of the lowest rank that has one on all ranks. Its line is counted over the whole file. Collective. */
PetscErrorCode GpAppComplaintRaise(MPI_Comm comm, const char file[], const GpAppComplaint *C)
{
  GpAppComplaint it = *C;
  PetscMPIInt    first;
  PetscBool      any;

  PetscFunctionBegin;
  PetscCall(GpAppFindFirst(comm, (PetscBool)(it.code != 0), &first, &any));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&it, (PetscMPIInt)sizeof(it), MPI_BYTE, first, comm));
  PetscCheck(it.line, comm, (PetscErrorCode)it.code, "%s: %s", file, it.what);
  PetscCheck(it.column, comm, (PetscErrorCode)it.code, "%s:%" PetscInt64_FMT ": %s", file, it.line, it.what);
  SETERRQ(comm, (PetscErrorCode)it.code, "%s:%" PetscInt64_FMT ":%" PetscInt64_FMT ": %s", file, it.line, it.column, it.what);
}
