/* Errors of the programs. The code of a PETSc error determines the exit code. An error that a user caused is one line on the standard error stream; any other error keeps PETSc's trace. */
#define _DEFAULT_SOURCE
#include "app/output/appoutput.h"
#include "app/program/appcommand.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
  const char        *program;
  const GpAppManual *manual;
  PetscBool          asking; /* options are being read, so that an argument that PETSc refuses comes from the command line */
  int                code;   /* of the last error */
  char               text[2048];
} error = {"gpucsr", NULL, PETSC_FALSE, 0, ""};

/* Whether a text begins with an option that the program has. */
static PetscBool ErrorNamesOption(const char text[])
{
  char name[64];

  (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, " :,"), text);
  return (PetscBool)(name[0] == '-' && error.manual && GpAppOptionIsKnown(error.manual, name));
}

/* The exit code for an error of a class, raised in the function fun. A text that begins with an option complains about that option. */
static int ErrorClassify(PetscErrorCode n, const char fun[], const char text[])
{
  if (fun && (!strcmp(fun, "PetscMallocAlign") || !strcmp(fun, "PetscReallocAlign"))) return GP_APP_MEMORY;            /* PETSc 3.18 raises another class there */
  if (fun && !strncmp(fun, "PetscOptions", 12) && n != PETSC_ERR_MEM && n != PETSC_ERR_FILE_OPEN) return GP_APP_USAGE; /* a value that PETSc cannot parse */
  switch ((int)n) {
  case PETSC_ERR_USER_INPUT:
  case PETSC_ERR_ARG_UNKNOWN_TYPE:
    return GP_APP_USAGE; /* only options contain names of types */
  case PETSC_ERR_FILE_OPEN:
  case PETSC_ERR_FILE_READ:
  case PETSC_ERR_FILE_UNEXPECTED:
    return GP_APP_INPUT;
  case PETSC_ERR_FILE_WRITE:
    return GP_APP_OUTPUT;
  case PETSC_ERR_MEM:
    return GP_APP_MEMORY;
  case PETSC_ERR_NOT_CONVERGED:
    return GP_APP_UNCONVERGED; /* raised for options such as -bmrm_error_if_not_converged */
  case PETSC_ERR_USER:
  case PETSC_ERR_ARG_WRONG:
  case PETSC_ERR_ARG_INCOMP:
  case PETSC_ERR_ARG_OUTOFRANGE:
  case PETSC_ERR_SUP:
  case PETSC_ERR_SUP_SYS:
  case PETSC_ERR_GPU:
    return error.asking || ErrorNamesOption(text) ? GP_APP_USAGE : GP_APP_INTERNAL;
  default:
    return GP_APP_INTERNAL;
  }
}

/* Keeps the text of an error that a user caused, and prints PETSc's trace of any other. PetscError() calls it once for every function that the error leaves. */
static PetscErrorCode ErrorHandle(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *context)
{
  if (p == PETSC_ERROR_INITIAL) {
    double bytes;

    error.code = ErrorClassify(n, fun, mess ? mess : "");
    if (error.code == GP_APP_MEMORY && mess && sscanf(mess, "Memory requested %lf", &bytes) == 1) (void)snprintf(error.text, sizeof(error.text), "out of memory: an allocation of %.0f bytes failed", bytes);
    else if (error.code == GP_APP_MEMORY && n != PETSC_ERR_MEM) (void)snprintf(error.text, sizeof(error.text), "out of memory (%s)", mess ? mess : "unknown function");
    else (void)snprintf(error.text, sizeof(error.text), "%s", mess ? mess : "unknown error");
  }
  if (error.code != GP_APP_INTERNAL) return n;
  return PetscTraceBackErrorHandler(comm, line, fun, file, n, p, mess, context);
}

/* Sets the program, whose name begins every message and whose options are errors of usage. */
void GpAppErrorSetProgram(const GpAppProgram *program)
{
  error.program = program->name;
  error.manual  = program->manual;
}

/* Sets an error that PETSc does not raise because it is not initialised. */
void GpAppErrorSet(int code, const char text[])
{
  error.code = code;
  (void)snprintf(error.text, sizeof(error.text), "%s", text);
}

/* Replaces PETSc's handling of errors. It stays for the life of the process. */
PetscErrorCode GpAppErrorPush(void)
{
  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(ErrorHandle, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name of the program, which opens every message. */
const char *GpAppErrorGetProgram(void)
{
  return error.program;
}

/* Sets whether the options are being read. */
void GpAppErrorSetAsking(PetscBool asking)
{
  error.asking = asking;
}

/* Prints a text as one line on the standard error stream, whatever bytes are in it. */
void GpAppErrorPrint(const char text[])
{
  char   line[sizeof(error.text) + 64];
  size_t n;

  (void)snprintf(line, sizeof(line) - 1, "%s: %s", error.program, text);
  for (n = strlen(line); n && (line[n - 1] == '\n' || line[n - 1] == ' '); n--) line[n - 1] = 0;
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = *c == '\n' || *c == '\t' ? ' ' : '?';
  line[n]     = '\n';
  line[n + 1] = 0;
  (void)fflush(stdout);
  (void)fputs(line, stderr); /* one call, so that lines of several processes do not mix */
  (void)fflush(stderr);
}

/* The exit code for the last error. */
int GpAppErrorGetExit(void)
{
  return error.code ? error.code : GP_APP_INTERNAL;
}

/* Agrees on the exit code of all ranks and on whether any failed, and prints the error of the lowest rank that has one. Collective.

   An error that all ranks raise brings all of them here, so that the job ends in an orderly way. If one rank alone failed, the others wait for it in another collective operation and never arrive. After
   two seconds the rank prints its own error and ends the job by MPI_Abort(). Higher ranks wait a little longer, so that one of several prints first. */
int GpAppErrorAgree(MPI_Comm comm, PetscBool *failed, int code)
{
  int         rank, mine[2], all[2], arrived = 0;
  double      patience;
  MPI_Request request;

  (void)MPI_Comm_rank(comm, &rank);
  mine[0] = *failed ? rank : INT_MAX;
  mine[1] = code;
  if (MPI_Iallreduce(mine, all, 1, MPI_2INT, MPI_MINLOC, comm, &request)) return GP_APP_INTERNAL;
  patience = MPI_Wtime() + 2 + 0.1 * rank;
  while (!arrived && (!*failed || MPI_Wtime() < patience)) {
    (void)MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
    if (!arrived) (void)usleep(1000);
  }
  if (*failed && (!arrived || all[0] == rank) && code != GP_APP_INTERNAL) GpAppErrorPrint(error.text);
  if (!arrived) GpAppTemporariesRemove();
  if (!arrived) (void)MPI_Abort(comm, code);
  *failed = (PetscBool)(all[0] != INT_MAX);
  return all[1];
}
