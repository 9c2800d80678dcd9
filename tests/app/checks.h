/* What the tests of readers share: files with given bytes, the message of the last error, counted verdicts. */
#ifndef GPUCSR_TESTS_APP_CHECKS_H
#define GPUCSR_TESTS_APP_CHECKS_H

#include "app/app.h"
#include <stdio.h>
#include <string.h>

static char message[1024]; /* of the last error that was raised */
static int  wrong = 0;     /* cases that failed on this rank */

static inline PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(message, sizeof(message), "%s", mess);
  return n;
}

/* the first rank writes a file, all ranks may read it then */
static inline PetscErrorCode WriteFile(const char file[], const void *bytes, size_t n)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    FILE *fp = fopen(file, "wb");

    PetscCheck(fp && fwrite(bytes, 1, n, fp) == n && !fclose(fp), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode RemoveFile(const char file[])
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) (void)remove(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* compares what a reader returned with what it should: `words` of the error's message, of class `code`, or NULL for success */
static inline void Expect(const char name[], PetscErrorCode err, PetscErrorCode code, const char words[])
{
  if (words ? err == code && strstr(message, words) : !err) return;
  (void)fprintf(stderr, "%s: code %d, '%s'; expected %s\n", name, (int)err, err ? message : "", words ? words : "success");
  wrong++;
}

static inline void Verify(const char name[], PetscBool good)
{
  if (good) return;
  (void)fprintf(stderr, "%s: wrong\n", name);
  wrong++;
}

/* prints the verdict over all ranks */
static inline PetscErrorCode Conclude(const char what[])
{
  int all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, all ? "FAILED" : "all as expected"));
  wrong = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
